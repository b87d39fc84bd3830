/* Processes of two containers that write to one folder: they may have one number, and may have started at one time. Skipped where nobody
 * may make a container. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/run_threads.h"
#include "support/cmocka_all.h"

enum { MOST = 64, NO_CONTAINER = 77 };

static uint64_t met[2]; /* what processes whose number is 1 are known by; 0: nobody may make a container */

/* Makes a container, whose first process tells what it is known by, and ends when `end` is closed. */
static pid_t make_container(int tell, const int end[2])
{
    int how;
    char none;
    const pid_t maker = fork();
    if (maker != 0) return maker;
    close(end[1]);
    if (unshare(CLONE_NEWPID) != 0 && unshare(CLONE_NEWUSER | CLONE_NEWPID) != 0) _exit(NO_CONTAINER);
    const pid_t first = fork();
    if (first < 0) _exit(NO_CONTAINER);
    if (first == 0) {
        const uint64_t process = getpid() == 1 ? dl_run_process() : 0;
        if (write(tell, &process, sizeof process) != sizeof process) _exit(1);
        _exit(read(end[0], &none, 1) != 0);
    }
    _exit(waitpid(first, &how, 0) != first || how != 0);
}

/* Two at a time, for the system gives the number of a container that is gone to the next. */
static void make_two(void)
{
    int tell[2], end[2], how;
    pid_t makers[2];
    assert_int_equal(pipe(tell) | pipe(end), 0);
    for (int i = 0; i < 2; i++)
        makers[i] = make_container(tell[1], end);
    close(tell[1]);
    for (int i = 0; i < 2; i++)
        if (read(tell[0], &met[i], sizeof met[i]) != sizeof met[i]) met[i] = 0;
    close(end[1]);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(waitpid(makers[i], &how, 0), makers[i]);
        assert_true(WIFEXITED(how));
        assert_int_equal(WEXITSTATUS(how), met[i] ? 0 : NO_CONTAINER);
    }
    close(tell[0]);
    close(end[0]);
}

/* /proc is that of this container, where number 1 started at one time: only the container tells them apart. */
static void two_are_told_apart(void **state)
{
    (void)state;
    assert_int_not_equal(met[0], 0);
    assert_int_not_equal(met[1], 0);
    assert_true(met[0] != met[1]);
}

/* A place of a process in another container is not taken for that of one that has ended. */
static void places_of_others_stay(void **state)
{
    (void)state;
    static dl_run_file_shared shared;
    enum { TID = 7 };
    for (int i = 0; i < MOST && dl_run_thread_take(&shared, met[0], TID); i++)
        assert_int_not_equal(i, MOST - 1);
    assert_null(dl_run_thread_take(&shared, dl_run_process(), TID));
    static dl_run_file_shared own;
    const uint64_t ended = dl_run_process() ^ UINT64_C(1) << 30; /* another start */
    for (int i = 0; i < MOST && dl_run_thread_take(&own, ended, TID); i++)
        assert_int_not_equal(i, MOST - 1);
    assert_non_null(dl_run_thread_take(&own, dl_run_process(), TID));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(two_are_told_apart),
                                       cmocka_unit_test(places_of_others_stay)};
    make_two();
    if (!met[0]) {
        puts("SKIPPED: this process may not make a container");
        return NO_CONTAINER;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
