/* An application that is killed at random points leaves a report of everything that had finished: a cheap one
 * that only has ops, at many points, and one with launches, at a few. */
#include <cJSON.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ops/op_job.h"
#include "support/device.h"
#include "support/files.h"

enum { POINTS = 150, DEVICE_POINTS = 4 };

/* Shared with the application. */
typedef struct progress {
    atomic_uint begun, ended;
} progress;

static void work(devlog_ops *ops, progress *p)
{
    char meta[300];
    memset(meta, 'x', sizeof meta - 1);
    meta[sizeof meta - 1] = 0;
    for (unsigned i = 0;; i++) {
        uint32_t outer = devlog_op_start(ops, &(devlog_op){.name = "outer"});
        devlog_op_input(ops, 0, &(devlog_tensor){.w = 1, .layout = "TILE"});
        uint32_t inner = devlog_op_start(ops, &(devlog_op){.name = "inner"});
        atomic_store(&p->begun, inner);
        devlog_op_append_meta_data(ops, inner, meta + i % 256);
        devlog_op_end(ops, inner);
        devlog_op_end(ops, outer);
        atomic_store(&p->ended, inner); /* both */
    }
}

static void nap(long us)
{
    nanosleep(&(struct timespec){0, us * 1000}, NULL);
}

static void ops_of_a_killed_application(void **state)
{
    (void)state;
    progress *p = mmap(NULL, sizeof *p, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(p != MAP_FAILED);
    char folder[300];
    snprintf(folder, sizeof folder, "%s", test_folder());
    srandom(1);
    unsigned with_open = 0;
    for (int point = 0; point < POINTS; point++) {
        devlog_error err = {0};
        atomic_store(&p->begun, 0);
        atomic_store(&p->ended, 0);
        pid_t pid = fork();
        if (pid == 0) {
            devlog_ops *ops;
            if (devlog_ops_open(
                    &(devlog_ops_options)DEVLOG_OPS_OPTIONS(.log_folder = folder, .profile = DEVLOG_ON), &ops,
                    &err))
                _exit(1);
            work(ops, p);
        }
        while (atomic_load(&p->begun) == 0)
            nap(50);
        nap(random() % 1500);
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        unsigned begun = atomic_load(&p->begun), ended = atomic_load(&p->ended);

        static op_job job;
        const op_job_options o = {.logs = folder, .output = folder, .name = "out", .no_tar = true};
        check_ok(op_job_run(&job, &o, &err), &err);
        assert_true(job.host.n_ops >= begun);
        unsigned open = 0;
        for (size_t i = 0; i < job.host.n_ops; i++) {
            const op_entry *op = &job.host.ops[i];
            assert_int_equal(op->id, i + 1);
            if (op->flags & OP_ENDED)
                assert_true(op->end >= op->start);
            else
                open++;
            if (op->id <= ended) assert_true(op->flags & OP_ENDED);
        }
        assert_true(open <= 2);
        with_open += open > 0;
        assert_int_equal(job.host.found[OP_OPEN], open);
        assert_int_equal(job.counts.ops, job.host.n_ops);
        assert_int_equal(job.host.found[OP_BAD_LINE] + job.host.found[OP_NO_OP], 0);
        assert_true(job.host.opens == 1 && job.host.closes == 0);
        assert_int_equal(job.host.found[OP_NOT_CLOSED], 1); /* even when it was killed between two ops */
        assert_true(op_job_lost(&job));
        op_job_free(&job);
    }
    assert_true(with_open > POINTS / 4); /* it was killed in the middle, not between */
    munmap(p, sizeof *p);
}

static pid_t start_nn(const char *folder)
{
    char program[600];
    const char *bin = getenv("DEVLOG_BIN");
    snprintf(program, sizeof program, "%.*s/nn", (int)(strrchr(bin, '/') - bin), bin);
    pid_t pid = fork();
    if (pid == 0) {
        setenv("DEVLOG_OPS", "1", 1);
        setenv("TT_METAL_DEVICE_PROFILER", "1", 1);
        setenv("DEVLOG_LOG_FOLDER", folder, 1);
        execl(program, program, "1000", (char *)NULL);
        _exit(127);
    }
    return pid;
}

/* Every op that had ended has the device data of all of its launches. */
static void launches_of_a_killed_application(void **state)
{
    (void)state;
    char folder[300];
    snprintf(folder, sizeof folder, "%s", test_folder());
    for (int point = 0; point < DEVICE_POINTS; point++) {
        devlog_error err = {0};
        op_log log;
        char path[400];
        snprintf(path, sizeof path, "%s/" OP_LOG_NAME, folder);
        unlink(path);
        pid_t pid = start_nn(folder);
        for (size_t ops = 0; ops < 12;) { /* once the kernels are compiled */
            nap(20000);
            ops = op_log_read(&log, path, &err) == DEVLOG_OK ? log.n_ops : 0;
            op_log_free(&log);
            if (waitpid(pid, NULL, WNOHANG) == pid) fail_msg("nn ended by itself");
        }
        nap(random() % 200000);
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        static op_job job;
        const op_job_options o = {.logs = folder, .output = folder, .name = "out", .no_tar = true};
        check_ok(op_job_run(&job, &o, &err), &err);
        unsigned with_data = 0;
        for (size_t i = 0; i < job.stitch.n_rows; i++) {
            const op_row *row = &job.stitch.rows[i];
            const op_entry *op = row->op == DL_NONE ? NULL : &job.host.ops[row->op];
            if (!op || !op->launch || !(op->flags & OP_ENDED)) continue;
            assert_int_equal(row->notes, 0);
            assert_non_null(op_stitch_cycles(&job.stitch, row));
            with_data++;
        }
        assert_true(with_data >= 5);
        assert_true(op_job_lost(&job)); /* the report does not pretend that the run has ended */
        op_job_free(&job);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ops_of_a_killed_application),
        cmocka_unit_test(launches_of_a_killed_application),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
