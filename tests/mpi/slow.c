/* Loaded before others: a rank whose file system is slow. Of rank DEVLOG_TEST_SLOW each read of a regular file takes half a second. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static void wait_for_it(int fd)
{
    const struct timespec half = {.tv_nsec = 500000000};
    const char *slow = getenv("DEVLOG_TEST_SLOW"), *rank = getenv("OMPI_COMM_WORLD_RANK");
    struct stat st;
    enum { LARGE = 200000 }; /* a log, and no library */
    if (slow && rank && strcmp(slow, rank) == 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
        st.st_size > LARGE)
        nanosleep(&half, NULL);
}

__attribute__((visibility("default"))) ssize_t read(int fd, void *to, size_t n)
{
    static ssize_t (*next)(int, void *, size_t);
    if (!next) *(void **)&next = dlsym(RTLD_NEXT, "read");
    wait_for_it(fd);
    return next(fd, to, n);
}

__attribute__((visibility("default"))) ssize_t pread(int fd, void *to, size_t n, off_t at)
{
    static ssize_t (*next)(int, void *, size_t, off_t);
    if (!next) *(void **)&next = dlsym(RTLD_NEXT, "pread");
    wait_for_it(fd);
    return next(fd, to, n, at);
}
