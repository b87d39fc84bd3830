/* One op log, opened more than once: by the same process again, by its forked children with and without a log
 * of their own, by several programs of one run, by many at once, and by a Python script. All add up, no id is
 * given twice, nothing is erased; and a run that is another one begins anew. */
#include <dirent.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/process.h"
#include "base/run_file.h"
#include "ops/op_job.h"
#include "ops/op_text.h"
#include "support/cmocka_all.h"
#include "support/device.h"
#include "support/files.h"

static char folder[100];

static int fresh(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "%s", test_folder());
    unsetenv(DL_RUN_VARIABLE);
    return 0;
}

static devlog_ops *open_log(void)
{
    devlog_error err = {0};
    devlog_ops *ops = NULL;
    check_ok(
        devlog_ops_open(&(devlog_ops_options)DEVLOG_OPS_OPTIONS(.log_folder = folder, .profile = DEVLOG_ON),
                        &ops, &err),
        &err);
    return ops;
}

static void close_log(devlog_ops *ops)
{
    devlog_error err = {0};
    check_ok(devlog_ops_close(ops, &err), &err);
}

static void do_ops(devlog_ops *ops, const char *name, int n)
{
    for (int i = 0; i < n; i++) {
        devlog_op_start(ops, &(devlog_op){.name = name});
        devlog_op_input(ops, 0, &(devlog_tensor){.w = 1, .layout = "TILE"});
        devlog_op_end(ops, devlog_op_current(ops));
    }
}

/* A program that opens, does ops of this name, and closes. */
static pid_t program(const char *name, int n)
{
    pid_t pid = fork();
    if (pid) return pid;
    devlog_ops *ops = open_log();
    do_ops(ops, name, n);
    close_log(ops);
    _exit(0);
}

static void wait_for(pid_t pid)
{
    int code;
    assert_int_equal(waitpid(pid, &code, 0), pid);
    assert_true(WIFEXITED(code) && WEXITSTATUS(code) == 0);
}

typedef struct found {
    uint32_t ops, with_parent_thread;
    bool lost;
} found;

/* How many ops there are of a name; all of them are whole and have ids that differ. */
static uint32_t read_log(const char *name, bool lost, uint64_t all)
{
    static op_job job;
    devlog_error err = {0};
    dl_str text = {0};
    const op_job_options o = {.logs = folder, .output = folder, .name = "out", .no_tar = true};
    check_ok(op_job_run(&job, &o, &err), &err);
    op_job_describe(&job, false, &text);
    if (op_job_lost(&job) != lost || job.host.n_ops != all)
        fail_msg("%zu ops, %slost: %s", job.host.n_ops, op_job_lost(&job) ? "" : "not ", text.text);
    uint32_t n = 0;
    op_text said = {0};
    for (size_t i = 0; i < job.host.n_ops; i++) {
        const op_entry *op = &job.host.ops[i];
        assert_ptr_equal(op_log_find(&job.host, op->id), op);
        assert_int_equal(op->flags & ~OP_ELSEWHERE, OP_ENDED);
        op_text_read(&said, &job.host, op);
        n += said.name.len == strlen(name) &&
             memcmp(op_piece_text(&said, said.name), name, said.name.len) == 0;
        assert_int_equal(said.damaged, 0);
    }
    op_text_free(&said);
    dl_str_free(&text);
    op_job_free(&job);
    return n;
}

static void the_same_process_again(void **state)
{
    (void)state;
    uint64_t runs[3];
    for (int i = 0; i < 3; i++) {
        devlog_ops *ops = open_log();
        runs[i] = devlog_ops_run(ops);
        do_ops(ops, i == 1 ? "second" : "other", 2);
        close_log(ops);
    }
    assert_true(runs[0] == runs[1] && runs[1] == runs[2]);
    assert_int_equal(read_log("second", false, 6), 2);
    /* And two handles at once. */
    devlog_ops *a = open_log(), *b = open_log();
    do_ops(a, "a", 1);
    do_ops(b, "b", 1);
    close_log(b);
    do_ops(a, "a", 1);
    close_log(a);
    assert_int_equal(read_log("a", false, 9), 2);
}

static void a_forked_child_goes_on_with_its_parents_log(void **state)
{
    (void)state;
    devlog_ops *ops = open_log();
    uint32_t outer = devlog_op_start(ops, &(devlog_op){.name = "parent's"});
    pid_t pids[3];
    for (int i = 0; i < 3; i++) {
        pids[i] = fork();
        if (pids[i]) continue;
        do_ops(ops, "child's", 50);
        devlog_op_end(ops, outer); /* as the destructor of a guard does; it is its parent's to end */
        do_ops(ops, "child's", 50);
        if (i) close_log(ops);
        _exit(0);
    }
    do_ops(ops, "parent's", 100);
    for (int i = 0; i < 3; i++)
        wait_for(pids[i]);
    devlog_op_end(ops, outer);
    close_log(ops);
    assert_int_equal(read_log("child's", false, 401), 300);
}

static void a_forked_child_opens_a_log_of_its_own(void **state)
{
    (void)state;
    devlog_ops *ops = open_log();
    do_ops(ops, "parent", 3);
    pid_t pid = program("child", 4);
    do_ops(ops, "parent", 3);
    wait_for(pid);
    do_ops(ops, "parent", 3);
    close_log(ops);
    wait_for(program("late", 5)); /* its parent began the run, and lives */
    assert_int_equal(read_log("child", false, 18), 4);
    assert_int_equal(read_log("late", false, 18), 5);
}

/* ---- Ops inside those of another log --- */

static char *log_text(void)
{
    char path[200];
    size_t size;
    snprintf(path, sizeof path, "%s/" OP_LOG_NAME, folder);
    return read_bytes(path, &size);
}

/* A number in the start's line of the first op of a name; 0: it is not there. */
static uint32_t said(const char *text, const char *name, const char *key)
{
    char named[80], member[40];
    snprintf(named, sizeof named, "\"name\":\"%s\"", name);
    snprintf(member, sizeof member, "\"%s\":", key);
    const char *line = strstr(text, named);
    if (!line) fail_msg("no op %s in\n%s", name, text);
    while (line > text && line[-1] != '\n')
        line--;
    const char *at = strstr(line, member), *end = strchr(line, '\n');
    return at && at < end ? (uint32_t)strtoul(at + strlen(member), NULL, 10) : 0;
}

#define assert_inside(text, inner, outer)                                                                    \
    do {                                                                                                     \
        assert_int_equal(said(text, inner, "parent"), said(text, outer, "id"));                              \
        assert_int_equal(said(text, inner, "depth"), said(text, outer, "depth") + 1);                        \
    } while (0)

static void *of_another_thread(void *context)
{
    do_ops(context, "thread", 1);
    return NULL;
}

static void ops_of_several_logs_nest(void **state)
{
    (void)state;
    devlog_ops *a = open_log(), *b = open_log(), *c = open_log();
    uint32_t outer = devlog_op_start(a, &(devlog_op){.name = "a1"});
    uint32_t inner = devlog_op_start(b, &(devlog_op){.name = "b2"});
    assert_int_equal(devlog_op_current(a), outer); /* of its own log: what it may end */
    uint32_t innermost = devlog_op_start(a, &(devlog_op){.name = "a3"});
    do_ops(c, "c4", 1);
    devlog_op_append_meta_data(b, 0, "of a3");
    pthread_t thread;
    pthread_create(&thread, NULL, of_another_thread, b);
    pthread_join(thread, NULL);
    devlog_op_end(a, outer); /* before what is inside of it */
    do_ops(b, "b4", 1);
    devlog_op_end(a, innermost);
    do_ops(a, "a3 again", 1);
    devlog_op_end(b, inner);
    do_ops(c, "c1", 1);
    do_ops(a, "a1 again", 1);
    char *text = log_text(), meta[80];
    assert_inside(text, "b2", "a1");
    assert_inside(text, "a3", "b2");
    assert_inside(text, "c4", "a3");
    assert_inside(text, "b4", "a3");
    assert_inside(text, "a3 again", "b2");
    static const char *const alone[] = {"thread", "c1", "a1 again"};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(said(text, alone[i], "depth"), 1);
        assert_int_equal(said(text, alone[i], "parent"), 0);
    }
    /* One thread of the system is one thread of the report. */
    assert_int_equal(said(text, "b2", "thread"), said(text, "a1", "thread"));
    assert_int_equal(said(text, "c1", "thread"), said(text, "a1", "thread"));
    assert_int_not_equal(said(text, "thread", "thread"), said(text, "a1", "thread"));
    snprintf(meta, sizeof meta, "\"meta\",\"id\":%u,", innermost);
    assert_non_null(strstr(text, meta));
    free(text);
    close_log(a);
    close_log(b);
    close_log(c);
    assert_int_equal(read_log("a1", false, 9), 1);
}

/* What a program does that was started by another, which has an op open meanwhile. */
static void ops_of_a_program_inside_an_op_of_another(void **state)
{
    (void)state;
    devlog_ops *ops = open_log();
    uint32_t outer = devlog_op_start(ops, &(devlog_op){.name = "outer"});
    uint32_t inner = devlog_op_start(ops, &(devlog_op){.name = "inner"});
    wait_for(program("child", 2));
    pid_t shell = fork(); /* with a process between them that knows of no log */
    if (shell == 0) {
        wait_for(program("grandchild", 2));
        _exit(0);
    }
    wait_for(shell);
    devlog_op_end(ops, inner);
    devlog_op_end(ops, outer);
    wait_for(program("late", 2));
    /* A killed one leaves what it had open to nobody. */
    pid_t killed = fork();
    if (killed == 0) {
        devlog_ops *own = open_log();
        devlog_op_start(own, &(devlog_op){.name = "killed"});
        raise(SIGKILL);
    }
    waitpid(killed, NULL, 0);
    wait_for(program("after", 2));
    char *text = log_text();
    assert_inside(text, "child", "inner");
    assert_inside(text, "grandchild", "inner");
    assert_int_equal(said(text, "late", "depth"), 1);
    assert_int_equal(said(text, "after", "depth"), 1);
    assert_int_equal(said(text, "killed", "depth"), 1);
    free(text);
    close_log(ops);
}

/* More threads than there are places in the table, which killed processes have filled: ops are written, and nest in their own log. */
static void more_threads_than_places(void **state)
{
    (void)state;
    enum { LOGS = 2 * DL_RUN_THREADS };
    devlog_ops *first = open_log();
    pid_t full = fork();
    if (full == 0) {
        for (int i = 0; i < LOGS; i++)
            devlog_op_start(open_log(), &(devlog_op){.name = "fills"});
        raise(SIGKILL);
    }
    waitpid(full, NULL, 0);
    static devlog_ops *logs[LOGS];
    uint32_t ids[LOGS];
    for (int i = 0; i < LOGS; i++) {
        logs[i] = open_log();
        ids[i] = devlog_op_start(logs[i], &(devlog_op){.name = i ? "more" : "again"});
    }
    char *text = log_text();
    assert_int_equal(said(text, "again", "depth"), 1);
    assert_inside(text, "more", "again"); /* places of the dead were taken over */
    free(text);
    uint32_t inside = devlog_op_start(logs[LOGS - 1], &(devlog_op){.name = "inside"});
    text = log_text();
    assert_int_equal(said(text, "inside", "parent"), ids[LOGS - 1]);
    free(text);
    devlog_op_end(logs[LOGS - 1], inside);
    for (int i = LOGS - 1; i >= 0; i--) {
        devlog_op_end(logs[i], ids[i]);
        close_log(logs[i]);
    }
    close_log(first);
}

static void programs_of_one_run_add_up(void **state)
{
    (void)state;
    setenv(DL_RUN_VARIABLE, "1234abcd", 1);
    wait_for(program("first", 3));
    wait_for(program("second", 4));
    unsetenv(DL_RUN_VARIABLE);
    assert_int_equal(read_log("first", false, 7), 3);
    /* Another run begins anew, whether it has a name or not. */
    setenv(DL_RUN_VARIABLE, "77", 1);
    wait_for(program("third", 2));
    assert_int_equal(read_log("third", false, 2), 2);
    unsetenv(DL_RUN_VARIABLE);
    wait_for(program("fourth", 1));
    assert_int_equal(read_log("fourth", false, 1), 1);
    /* What is no id is refused, not taken for none. */
    static const char *const wrong[] = {"0", "xyz", "12345678123456789", "1 2"};
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        devlog_error err = {0};
        devlog_ops *ops;
        setenv(DL_RUN_VARIABLE, wrong[i], 1);
        assert_int_equal(devlog_ops_open(&(devlog_ops_options)DEVLOG_OPS_OPTIONS(.log_folder = folder,
                                                                                 .profile = DEVLOG_ON),
                                         &ops, &err),
                         DEVLOG_ERR_ARGUMENT);
        assert_non_null(strstr(err.text, DL_RUN_VARIABLE));
    }
}

static void many_at_once(void **state)
{
    (void)state;
    enum { PROGRAMS = 8, EACH = 150 };
    pid_t pids[PROGRAMS];
    setenv(DL_RUN_VARIABLE, "beef", 1);
    for (int i = 0; i < PROGRAMS; i++)
        pids[i] = program(i % 2 ? "odd" : "even", EACH);
    for (int i = 0; i < PROGRAMS; i++)
        wait_for(pids[i]);
    assert_int_equal(read_log("odd", false, PROGRAMS * EACH), PROGRAMS / 2 * EACH);
}

/* One of several is killed: its ops are there, and the report does not pretend that it ended. */
static void a_killed_program_among_others(void **state)
{
    (void)state;
    setenv(DL_RUN_VARIABLE, "beef", 1);
    wait_for(program("good", 2));
    pid_t pid = fork();
    if (pid == 0) {
        devlog_ops *ops = open_log();
        do_ops(ops, "killed", 3);
        raise(SIGKILL);
    }
    waitpid(pid, NULL, 0);
    wait_for(program("good", 2));
    assert_int_equal(read_log("killed", true, 7), 3);
}

/* A full disk is not taken for a kill. */
static void a_full_disk_is_said(void **state)
{
    (void)state;
    pid_t pid = fork();
    if (pid == 0) {
        devlog_ops *ops = open_log();
        do_ops(ops, "written", 3);
        struct rlimit small = {8192, 8192};
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &small);
        do_ops(ops, "perhaps", 100);
        devlog_error err = {0};
        _exit(devlog_ops_close(ops, &err) == DEVLOG_ERR_PARTIAL ? 0 : 1);
    }
    wait_for(pid);
    static op_job job;
    devlog_error err = {0};
    dl_str text = {0};
    const op_job_options o = {.logs = folder, .output = folder, .name = "out", .no_tar = true};
    check_ok(op_job_run(&job, &o, &err), &err);
    op_job_describe(&job, false, &text);
    assert_true(op_job_lost(&job));
    assert_true(job.host.found[OP_NOT_WRITTEN] > 100);
    assert_int_equal(job.host.found[OP_NOT_CLOSED], 0);
    /* The limit refuses a write, or takes a part of it, as a full disk does. */
    const bool said = strstr(text.text, "No space left on device") || strstr(text.text, "File too large");
    if (strstr(text.text, "killed") || !said) fail_msg("%s", text.text);
    dl_str_free(&text);
    op_job_free(&job);
}

/* Meta data of any length: there, or counted as not written. */
static void long_meta_data(void **state)
{
    (void)state;
    static const size_t sizes[] = {1000,        70000,           1024 * 1024 - 50,
                                   1024 * 1024, 5 * 1024 * 1024, 20 * 1024 * 1024};
    enum { SIZES = sizeof sizes / sizeof sizes[0] };
    devlog_ops *ops = open_log();
    for (int i = 0; i < SIZES; i++) {
        char *meta = malloc(sizes[i] + 1);
        memset(meta, 'a' + i, sizes[i]);
        meta[sizes[i]] = 0;
        uint32_t op = devlog_op_start(ops, &(devlog_op){.name = "long"});
        devlog_op_append_meta_data(ops, op, meta);
        devlog_op_end(ops, op);
        free(meta);
    }
    close_log(ops);
    assert_int_equal(read_log("long", false, SIZES), SIZES);
    char path[200];
    snprintf(path, sizeof path, "%s/out.csv", folder);
    size_t size, all = 0;
    char *csv = read_bytes(path, &size);
    for (int i = 0; i < SIZES; i++) {
        char *from = strchr(strchr(csv, '\n'), ',');
        size_t longest = 0, run = 0;
        for (const char *p = from; p < csv + size; p++) {
            run = *p == 'a' + i ? run + 1 : 0;
            longest = run > longest ? run : longest;
        }
        assert_int_equal(longest, sizes[i]);
        all += longest;
    }
    assert_true(size > all);
    free(csv);
    /* Beyond what a reader takes as one line it is refused, and said. */
    const size_t much = 65u * 1024 * 1024;
    char *meta = malloc(much + 1);
    memset(meta, 'x', much);
    meta[much] = 0;
    ops = open_log();
    uint32_t op = devlog_op_start(ops, &(devlog_op){.name = "too long"});
    devlog_op_append_meta_data(ops, op, meta);
    devlog_op_end(ops, op);
    devlog_error err = {0};
    assert_int_equal(devlog_ops_close(ops, &err), DEVLOG_ERR_PARTIAL);
    free(meta);
    assert_int_equal(read_log("too long", true, SIZES + 1), 1);
}

/* The Python of docs/op-reports.md, as it stands there. */
static char *recipe(void)
{
    size_t size;
    char *docs = read_bytes(source_path("docs/op-reports.md"), &size);
    char *from = strstr(docs, "```python\n");
    assert_non_null(from);
    from += strlen("```python\n");
    *strstr(from, "```") = 0;
    char *code = strdup(from);
    free(docs);
    return code;
}

static void python_beside_a_c_program(void **state)
{
    (void)state;
    char path[200], line[900], *code = recipe(), *dots = strstr(code, "\n...");
    assert_non_null(dots);
    for (int under_run = 0; under_run < 2; under_run++) {
        fresh(NULL);
        snprintf(path, sizeof path, "%s/app.py", folder);
        dl_str script = {0};
        dl_str_add_n(&script, code, (size_t)(dots + 1 - code));
        /* What the op does: programs that open logs of their own. */
        dl_str_fmt(&script,
                   "import subprocess\nfor name in 'ab':\n    subprocess.run([%s, name], check=True)\n",
                   "os.environ['THIS_TEST'], '--program'");
        dl_str_add(&script, dots + strlen("\n..."));
        write_text(path, script.text);
        dl_str_free(&script);
        char self[400];
        ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
        self[n > 0 ? n : 0] = 0;
        snprintf(line, sizeof line, "THIS_TEST=%s DEVLOG_OPS=1 DEVLOG_LOG_FOLDER=%s %s exec python3 %s", self,
                 folder, under_run ? DL_RUN_VARIABLE "=ab" : "", path);
        if (under_run) {
            devlog_error err = {0};
            check_ok(dl_run_file_begin(folder, 0xab, &err), &err);
        }
        const char *const argv[] = {"sh", "-c", line, NULL};
        for (int again = 0; again < 2 - under_run; again++) { /* by hand a second time begins anew */
            dl_output out;
            devlog_error err = {0};
            check_ok(dl_process_run(argv, &out, &err), &err);
            if (out.exit != 0) fail_msg("%s", out.text);
            free(out.text);
        }
        assert_int_equal(read_log("(torch) softmax", false, 7), 1);
        assert_int_equal(read_log("from C", false, 7), 6);
    }
    free(code);
}

/* `devlog run` in a folder in which a program still writes, whose ops count in a file that both have. */
static void a_run_that_begins_beside_a_program(void **state)
{
    (void)state;
    int code, ready[2];
    char byte;
    devlog_error err = {0};
    assert_int_equal(pipe(ready), 0);
    const pid_t pid = fork();
    if (pid == 0) {
        devlog_ops *ops = open_log();
        do_ops(ops, "beside", 1);
        if (write(ready[1], "", 1) != 1) _exit(1);
        for (;;)
            do_ops(ops, "beside", 1);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    for (uint64_t id = 1; id < 3000; id++)
        check_ok(dl_run_file_begin(folder, id, &err), &err);
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(waitpid(pid, &code, 0), pid);
    assert_true(WIFSIGNALED(code));
    assert_int_equal(WTERMSIG(code), SIGKILL); /* and not SIGBUS before it */
    close(ready[0]);
    close(ready[1]);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--program") == 0) {
        snprintf(folder, sizeof folder, "%s", getenv("DEVLOG_LOG_FOLDER"));
        devlog_ops *ops = open_log();
        do_ops(ops, "from C", 3);
        close_log(ops);
        return 0;
    }
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(the_same_process_again, fresh),
        cmocka_unit_test_setup(a_forked_child_goes_on_with_its_parents_log, fresh),
        cmocka_unit_test_setup(a_forked_child_opens_a_log_of_its_own, fresh),
        cmocka_unit_test_setup(ops_of_several_logs_nest, fresh),
        cmocka_unit_test_setup(ops_of_a_program_inside_an_op_of_another, fresh),
        cmocka_unit_test_setup(more_threads_than_places, fresh),
        cmocka_unit_test_setup(programs_of_one_run_add_up, fresh),
        cmocka_unit_test_setup(many_at_once, fresh),
        cmocka_unit_test_setup(a_killed_program_among_others, fresh),
        cmocka_unit_test_setup(a_full_disk_is_said, fresh),
        cmocka_unit_test_setup(long_meta_data, fresh),
        cmocka_unit_test_setup(python_beside_a_c_program, fresh),
        cmocka_unit_test_setup(a_run_that_begins_beside_a_program, fresh),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
