/* Zones of host code when the process forks: each has a file of its own, whoever else has its number, and a child waits for nothing
 * that only its parent's threads would end. Not for programs that do not fork (test_host_zones). */
#define PROFILE_HOST 1
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "devlog/host.h"

#include "support/files.h"
#include "support/host_child.h"

/* Which child there was, from the process that forked to the test. */
static void tell_child(pid_t child)
{
    char path[128], text[32];
    snprintf(path, sizeof path, "%s/child", host_folder);
    snprintf(text, sizeof text, "%ld", (long)child);
    write_text(path, text);
}

static pid_t told_child(void)
{
    char path[128];
    size_t n;
    snprintf(path, sizeof path, "%s/child", host_folder);
    char *text = read_bytes(path, &n);
    const pid_t child = (pid_t)strtol(text, NULL, 10);
    free(text);
    return child;
}

static void forks(void)
{
    host_start(0, 0);
    DEVLOG_HOST_ZONE("of both");
    {
        DEVLOG_HOST_ZONE("before");
    }
    pid_t child = fork();
    if (child == 0) {
        {
            DEVLOG_HOST_ZONE("of the child");
        }
        exit(0);
    }
    waitpid(child, NULL, 0);
    tell_child(child);
}

static void a_forked_child_has_a_file_of_its_own(void **state)
{
    (void)state;
    int how;
    const pid_t parent = host_run(forks, &how);
    assert_int_equal(how, 0);
    const pid_t child = told_child();
    assert_int_equal(host_look(parent, "before").zones, 1);
    assert_int_equal(host_look(parent, "of both").zones, 1);
    assert_int_equal(host_look(parent, "of the child").zones, 0);
    assert_int_equal(host_look(child, "of the child").zones, 1);
    assert_int_equal(host_look(child, "before").zones + host_look(child, "of both").zones, 0);
    assert_int_equal(host_findings(parent, NULL) + host_findings(child, NULL), 0);
}

/* The first zone of a process opens its file, between a call that failed and who looks why. */
static void fails_meanwhile(void)
{
    int how;
    char folder[128], moved[128];
    devlog_error err;
    snprintf(folder, sizeof folder, "%s/a folder", host_folder);
    snprintf(moved, sizeof moved, "%s/moved", host_folder);
    const devlog_host_options options = DEVLOG_HOST_OPTIONS(.folder = folder);
    if (devlog_host_start(&options, &err) || rename(folder, moved)) _exit(6);
    if (fork() == 0) { /* and makes its folder */
        errno = 77;
        DEVLOG_HOST_BEGIN(zone, "first");
        DEVLOG_HOST_VALUE("value", 1);
        DEVLOG_HOST_END(zone);
        exit(errno == 77 ? 0 : 9);
    }
    if (wait(&how) < 0) _exit(7);
    exit(how ? 8 : 0);
}

static void errno_stays_as_it_is(void **state)
{
    (void)state;
    int how;
    (void)host_run(fails_meanwhile, &how);
    assert_int_equal(how, 0);
}

/* A relative folder is that of the start, wherever a child goes. */
static void changes_folder(void)
{
    char path[128];
    devlog_error err;
    const devlog_host_options options = DEVLOG_HOST_OPTIONS(.folder = ".");
    snprintf(path, sizeof path, "%s/elsewhere", host_folder);
    if (mkdir(path, 0777) || chdir(host_folder) || devlog_host_start(&options, &err)) _exit(6);
    const pid_t child = fork();
    if (child == 0) {
        if (chdir(path)) _exit(7);
        {
            DEVLOG_HOST_ZONE("of the child");
        }
        exit(0);
    }
    waitpid(child, NULL, 0);
    tell_child(child);
}

static void a_folder_is_that_of_the_start(void **state)
{
    (void)state;
    int how;
    (void)host_run(changes_folder, &how);
    assert_int_equal(how, 0);
    const pid_t child = told_child();
    assert_int_equal(host_look(child, "of the child").zones, 1);
}

static void forks_of_forks(void)
{
    int how;
    host_start(0, 0);
    {
        DEVLOG_HOST_ZONE("first");
    }
    if (fork() == 0) {
        {
            DEVLOG_HOST_ZONE("second");
        }
        if (fork() == 0) {
            {
                DEVLOG_HOST_ZONE("third");
            }
            exit(0); /* what leaks is looked for */
        }
        if (wait(&how) < 0) _exit(7);
        exit(how ? 8 : 0);
    }
    if (wait(&how) < 0) _exit(7);
    exit(how ? 8 : 0);
}

static void rings_of_all_ancestors_stay_known(void **state)
{
    (void)state;
    int how;
    const pid_t p = host_run(forks_of_forks, &how);
    assert_int_equal(how, 0);
    assert_int_equal(host_look(p, "first").zones, 1);
}

/* ---- A thread that begins while the process forks ------------------------------------------------------ */

/* A library may hold a lock of its own while a thread begins, as the allocator of AddressSanitizer does: a child that was forked then
 * waits for it for ever, because the thread is not in the child. Here `held` stands for that lock. */
static atomic_bool held;
static bool slowly;

typedef struct routine {
    void *(*function)(void *);
    void *argument;
} routine;

static void *begin_slowly(void *given)
{
    const routine r = *(routine *)given;
    free(given);
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    atomic_store(&held, false);
    return r.function(r.argument);
}

/* In place of libc's, for the library too. */
int pthread_create(pthread_t *thread, const pthread_attr_t *how, void *(*function)(void *), void *argument)
{
    int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    *(void **)&create = dlsym(RTLD_NEXT, "pthread_create");
    routine *r = slowly ? malloc(sizeof *r) : NULL;
    if (!r) return create(thread, how, function, argument);
    *r = (routine){function, argument};
    atomic_store(&held, true);
    return create(thread, how, begin_slowly, r);
}

static void forks_at_once(void)
{
    int how;
    slowly = true;
    host_start(0, 0);
    DEVLOG_HOST_ZONE("forks");
    const pid_t child = fork();
    if (child == 0) _exit(atomic_load(&held) ? 9 : 0);
    if (waitpid(child, &how, 0) != child) _exit(7);
    exit(WIFEXITED(how) ? WEXITSTATUS(how) : 8);
}

static void a_fork_waits_until_the_writing_thread_has_begun(void **state)
{
    (void)state;
    int how;
    (void)host_run(forks_at_once, &how);
    assert_true(WIFEXITED(how));
    assert_int_equal(WEXITSTATUS(how), 0);
}

/* A process of another container with this one's number writes to the folder: as a child here, which has the lock that it would have. */
static void has_the_number_of_another(void)
{
    char path[128], byte;
    int ready[2], end[2];
    snprintf(path, sizeof path, "%s/host_%ld.devlog", host_folder, (long)getpid());
    if (pipe(ready) || pipe(end)) _exit(6);
    const pid_t other = fork();
    if (other == 0) {
        close(end[1]);
        const int fd = open(path, O_RDWR | O_CREAT, 0666);
        if (fd < 0 || flock(fd, LOCK_SH) || write(ready[1], "", 1) != 1) _exit(9);
        _exit(read(end[0], &byte, 1) != 0);
    }
    if (read(ready[0], &byte, 1) != 1) _exit(5);
    for (int i = 0; i < 2; i++) { /* the second time it goes on in its file */
        host_start(0, 0);
        {
            DEVLOG_HOST_ZONE("of one");
        }
        devlog_error err = {0};
        if (devlog_host_stop(&err)) _exit(4);
    }
    close(end[1]);
    waitpid(other, NULL, 0);
}

static void processes_of_one_number_are_told_apart(void **state)
{
    (void)state;
    int how;
    char path[128];
    struct stat st;
    const pid_t process = host_run(has_the_number_of_another, &how);
    assert_int_equal(how, 0);
    snprintf(path, sizeof path, "%s/host_%ld.devlog", host_folder, (long)process);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_size, 0);
    assert_int_equal(host_look(process + 10000000, "of one").zones, 2);
    assert_int_equal(host_findings(process + 10000000, NULL), 0);
}

/* A program that becomes another, or itself with other settings. */
static void becomes_another(void)
{
    host_start(0, 0);
    {
        DEVLOG_HOST_ZONE("before");
    }
    devlog_error err = {0};
    if (devlog_host_stop(&err)) _exit(4);
    char *const arguments[] = {"test_host_fork", host_folder, NULL};
    execv("/proc/self/exe", arguments);
    _exit(9);
}

static void has_become_another(void)
{
    host_start(0, 0);
    {
        DEVLOG_HOST_ZONE("behind");
    }
}

static void a_program_that_becomes_another_keeps_its_records(void **state)
{
    (void)state;
    int how;
    const pid_t process = host_run(becomes_another, &how);
    assert_int_equal(how, 0);
    assert_int_equal(host_look(process, "before").zones, 1);
    assert_int_equal(host_look(process, "behind").zones, 0);
    assert_int_equal(host_look(process + 10000000, "behind").zones, 1);
    assert_int_equal(host_findings(process, NULL) + host_findings(process + 10000000, NULL), 0);
}

int main(int n, char **arguments)
{
    if (n == 2) {
        snprintf(host_folder, sizeof host_folder, "%s", arguments[1]);
        has_become_another();
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(processes_of_one_number_are_told_apart),
        cmocka_unit_test(a_program_that_becomes_another_keeps_its_records),
        cmocka_unit_test(a_forked_child_has_a_file_of_its_own),
        cmocka_unit_test(rings_of_all_ancestors_stay_known),
        cmocka_unit_test(a_folder_is_that_of_the_start),
        cmocka_unit_test(errno_stays_as_it_is),
        cmocka_unit_test(a_fork_waits_until_the_writing_thread_has_begun),
    };
    return cmocka_run_group_tests(tests, host_make_folder, host_remove_folder);
}
