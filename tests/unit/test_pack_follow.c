/* Packing logs that grow: whoever packs is killed at any point, and nothing that was read is lost, also when
 * the log's disk space goes; logs that are truncated, written anew or replaced are noticed. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pack/follow.h"
#include "support/cli.h"
#include "support/files.h"
#include "support/logs.h"
#include "support/packed.h"
#include "support/random.h"

enum { BLOCK = 3000, STEP = 16000, CANNOT_TRACE = 90 };

/* What the log will be when it is complete, and how far it is. */
typedef struct growing {
    dl_str text;
    size_t written;
    int fd;
} growing;

static void begin(growing *g, unsigned launches)
{
    *g = (growing){0};
    test_log(&g->text, 9, launches, 21);
    unlink(in_scratch("log.csv"));
    unlink(in_scratch("log.pack"));
    g->fd = open(in_scratch("log.csv"), O_WRONLY | O_CREAT | O_APPEND, 0644);
    assert_true(g->fd >= 0);
}

static void grow(growing *g, size_t n)
{
    const size_t left = g->text.len - g->written;
    if (n > left) n = left;
    assert_true(write(g->fd, g->text.text + g->written, n) == (ssize_t)n);
    g->written += n;
}

static void end(growing *g)
{
    close(g->fd);
    dl_str_free(&g->text);
}

static void unpacked(dl_str *out, uint64_t *findings)
{
    size_t n;
    char *bytes = read_bytes(in_scratch("log.pack"), &n);
    pk_damage damage = {0};
    devlog_status status = test_unpack(bytes, n, 1, out, &damage);
    assert_true(status == DEVLOG_OK || (status == DEVLOG_ERR_FORMAT && n < PK_MAGIC_BYTES));
    *findings = damage.findings;
    free(bytes);
}

/* All that was written is in the packed file or, where that ends, in the log. */
static void nothing_is_lost(const growing *g)
{
    dl_str packed = {0};
    uint64_t findings;
    size_t n;
    if (access(in_scratch("log.pack"), F_OK) == 0) unpacked(&packed, &findings);
    char *log = read_bytes(in_scratch("log.csv"), &n);
    assert_true(n == g->written && packed.len <= n);
    if (packed.len) assert_memory_equal(packed.text, g->text.text, packed.len);
    assert_memory_equal(log + packed.len, g->text.text + packed.len, n - packed.len);
    free(log);
    dl_str_free(&packed);
}

static void all_is_packed(const growing *g)
{
    dl_str packed = {0};
    uint64_t findings;
    unpacked(&packed, &findings);
    assert_true(findings == 0);
    assert_true(packed.len == g->text.len);
    assert_memory_equal(packed.text, g->text.text, packed.len);
    dl_str_free(&packed);
}

static bool flag_is_set(void *ctx)
{
    return *(volatile bool *)ctx;
}

/* Runs pk_follow in a process of its own, which is killed at its system call number `kill_at`, while the log
 * grows. Returns how many it made; *done: it ended by itself. */
static unsigned long run_killed(growing *g, unsigned long kill_at, bool *complete, bool *done)
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        devlog_error err = {0};
        pk_followed followed;
        const pk_follow_options options = {.follow = true,
                                           .drop_read = true,
                                           .stop = flag_is_set,
                                           .ctx = complete,
                                           .text = BLOCK,
                                           .drop_step = STEP,
                                           .poll_ms = 1};
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0) _exit(CANNOT_TRACE);
        raise(SIGSTOP);
        devlog_status status =
            pk_follow(in_scratch("log.csv"), in_scratch("log.pack"), &options, &followed, &err);
        if (status) fprintf(stderr, "%s\n", err.text);
        _exit(status ? 1 : 0);
    }
    unsigned long calls = 0;
    int status;
    assert_true(waitpid(pid, &status, 0) == pid);
    *done = false;
    while (WIFSTOPPED(status)) {
        if (calls == kill_at) kill(pid, SIGKILL);
        if (calls++ % 4 == 0) grow(g, 701);
        *complete = g->written == g->text.len;
        if (ptrace(PTRACE_SYSCALL, pid, NULL, NULL) != 0 && errno != ESRCH)
            fail_msg("ptrace: %s", strerror(errno));
        assert_true(waitpid(pid, &status, 0) == pid);
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == CANNOT_TRACE) return 0;
    if (WIFEXITED(status)) assert_int_equal(WEXITSTATUS(status), 0);
    *done = WIFEXITED(status);
    return calls;
}

static void nothing_is_lost_when_it_is_killed(void **state)
{
    (void)state;
    const unsigned long points = test_cases(30); /* by hand: 200 and more */
    bool *complete = mmap(NULL, sizeof *complete, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(complete != MAP_FAILED);
    uint64_t seed = 77;
    growing g;
    bool done;
    begin(&g, 12);
    const unsigned long calls = run_killed(&g, ULONG_MAX, complete, &done);
    if (!calls) {
        fprintf(stderr, "SKIPPED: this system does not let a process be traced\n");
        skip();
    }
    assert_true(done);
    all_is_packed(&g);
    end(&g);
    unsigned long killed = 0;
    while (killed < points) {
        begin(&g, 12);
        *complete = false;
        for (done = false; !done;) {
            /* Mostly soon, so that one log sees many deaths. */
            const unsigned long at = test_random(&seed) % (calls / (1 + test_random(&seed) % 8) + 1);
            run_killed(&g, killed < points ? at : ULONG_MAX, complete, &done);
            killed += !done;
            nothing_is_lost(&g);
        }
        if (g.written < g.text.len) fail_msg("it ended at %zu of %zu", g.written, g.text.len);
        all_is_packed(&g);
        struct stat st;
        assert_int_equal(fstat(g.fd, &st), 0);
        assert_true((size_t)st.st_size == g.text.len);
        assert_true((size_t)st.st_blocks * 512 <= PK_KEPT + 3 * 4096);
        end(&g);
    }
    munmap(complete, sizeof *complete);
}

/* Does something to the log when its end has been seen for the first time. */
typedef struct trick {
    growing *g;
    int way, calls;
} trick;

/* As a program that opens its log again does; write_text makes another file. */
static void write_anew(const char *path, const char *text)
{
    FILE *out = fopen(path, "wb");
    assert_non_null(out);
    assert_true(fputs(text, out) >= 0);
    assert_int_equal(fclose(out), 0);
}

enum { TRUNCATE, TRUNCATE_TO_NOTHING, WRITE_ANEW, WRITE_LONGER, REPLACE, REMOVE, WAYS };

static bool play(void *ctx)
{
    trick *t = ctx;
    const char *log = in_scratch("log.csv");
    if (t->calls++) return t->calls > 20;
    dl_str other = {0};
    test_log(&other, 8, 12, 5);
    switch (t->way) {
    case TRUNCATE: assert_int_equal(truncate(log, (off_t)t->g->text.len - 1), 0); break;
    case TRUNCATE_TO_NOTHING: assert_int_equal(truncate(log, 0), 0); break;
    case WRITE_ANEW: other.text[t->g->text.len] = 0; /* fallthrough */
    case WRITE_LONGER: write_anew(log, other.text); break;
    case REPLACE:
        write_text(in_scratch("other.csv"), other.text);
        assert_int_equal(rename(in_scratch("other.csv"), log), 0);
        break;
    case REMOVE: assert_int_equal(unlink(log), 0); break;
    }
    dl_str_free(&other);
    return false;
}

static void logs_that_change_are_noticed(void **state)
{
    (void)state;
    static const char *const says[WAYS] = {"was truncated", "was truncated", "written anew",
                                           "written anew",  "was replaced",  ""};
    for (int i = 0; i < 2 * WAYS; i++) {
        growing g;
        devlog_error err = {0};
        pk_followed followed;
        trick t = {.g = &g, .way = i / 2};
        const pk_follow_options options = {
            .follow = true, .stop = play, .ctx = &t, .text = i & 1 ? BLOCK : 0, .poll_ms = 1};
        begin(&g, 6);
        grow(&g, g.text.len);
        assert_int_equal(pk_follow(in_scratch("log.csv"), in_scratch("log.pack"), &options, &followed, &err),
                         DEVLOG_OK);
        if (!strstr(followed.changed, says[t.way])) fail_msg("%d: %s", t.way, followed.changed);
        assert_true(t.way != REMOVE || !followed.changed[0]);
        all_is_packed(&g); /* what came before */
        if (t.way != REMOVE && t.way != REPLACE) {
            assert_int_equal(
                pk_follow(in_scratch("log.csv"), in_scratch("log.pack"), &options, &followed, &err),
                DEVLOG_ERR_ARGUMENT);
            assert_non_null(strstr(err.text, "another log"));
            all_is_packed(&g);
        }
        end(&g);
    }
}

static void another_file_is_left_alone(void **state)
{
    (void)state;
    growing g;
    devlog_error err = {0};
    pk_followed followed;
    const pk_follow_options options = {.text = BLOCK, .drop_read = true};
    begin(&g, 8);
    grow(&g, g.text.len);
    write_text(in_scratch("log.pack"), "important");
    assert_int_equal(pk_follow(in_scratch("log.csv"), in_scratch("log.pack"), &options, &followed, &err),
                     DEVLOG_ERR_ARGUMENT);
    size_t n;
    char *text = read_bytes(in_scratch("log.pack"), &n);
    assert_string_equal(text, "important");
    free(text);
    unlink(in_scratch("log.pack"));
    assert_int_equal(pk_follow(in_scratch("log.csv"), in_scratch("log.pack"), &options, &followed, &err),
                     DEVLOG_OK);
    assert_true(followed.dropped > 0);
    /* A log with a hole is not packed once more, as if it were zeros. */
    assert_int_equal(rename(in_scratch("log.pack"), in_scratch("kept.pack")), 0);
    assert_int_equal(pk_follow(in_scratch("log.csv"), in_scratch("log.pack"), &options, &followed, &err),
                     DEVLOG_ERR_ARGUMENT);
    assert_non_null(strstr(err.text, "taken out"));
    /* Damage in the packed file is not written over. */
    text = read_bytes(in_scratch("kept.pack"), &n);
    text[200] ^= 1;
    FILE *out = fopen(in_scratch("log.pack"), "wb");
    assert_non_null(out);
    assert_true(fwrite(text, 1, n, out) == n);
    assert_int_equal(fclose(out), 0);
    free(text);
    assert_int_equal(pk_follow(in_scratch("log.csv"), in_scratch("log.pack"), &options, &followed, &err),
                     DEVLOG_ERR_FORMAT);
    struct stat st;
    assert_int_equal(stat(in_scratch("log.pack"), &st), 0);
    assert_true((size_t)st.st_size == n);
    end(&g);
}

static void the_command_follows(void **state)
{
    (void)state;
    growing g;
    begin(&g, 8);
    grow(&g, g.text.len / 2);
    free(devlog_ok("pack --follow --idle 1 log.csv -o log.pack", 0));
    grow(&g, g.text.len);
    char *said = devlog_ok("pack --drop-read log.csv -o log.pack", 0);
    assert_non_null(strstr(said, "log.pack: "));
    free(said);
    all_is_packed(&g);
    devlog_fails("pack --follow - -o log.pack <log.csv", 2, "a file to read");
    devlog_fails("pack --idle 3 log.csv", 2, "--follow");
    devlog_fails("pack --follow no.csv", 1, "no.csv");
    end(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_lost_when_it_is_killed),
        cmocka_unit_test(logs_that_change_are_noticed),
        cmocka_unit_test(another_file_is_left_alone),
        cmocka_unit_test(the_command_follows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
