/* Exchanges of clocks (devlog_clock_exchange): two processes over a pair of sockets, one of which has a clock that the test knows to lie
 * elsewhere; what is in the file of who asks; and all that may go wrong on the way. Not for what devlog ranks makes of it
 * (tests/report/rank_clocks.py). */
#define PROFILE_HOST 1
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "decode/capture/capture.h"
#include "devlog/host.h"

#include "support/files.h"
#include "support/host_child.h"

enum { AHEAD = 1000 * 1000 * 1000, RECEIVED_AT = 16, ANSWERED_AT = 24 };

/* ---- Both ends ------------------------------------------------------------------------------------------------ */

/* A way to the other, on which something may happen. */
typedef struct way {
    int fd;
    int left;         /* messages that it will bring; < 0: all */
    bool garbage;     /* what it brings is none of it */
    int64_t ahead;    /* of the clock of who sends here, in answers */
    unsigned sent_us; /* it takes so long here */
    unsigned asks, answers;
} way;

static int send_all(void *context, const void *bytes, size_t n)
{
    way *w = context;
    uint8_t copy[256];
    uint64_t stamp;
    if (w->left >= 0 && !w->left--) return 7;
    memcpy(copy, bytes, n);
    if (w->garbage) memset(copy, 'x', n);
    *(n == 16 ? &w->asks : &w->answers) += 1;
    for (size_t at = RECEIVED_AT; n == 88 && at <= ANSWERED_AT; at += sizeof stamp) {
        memcpy(&stamp, copy + at, sizeof stamp);
        stamp += (uint64_t)w->ahead;
        memcpy(copy + at, &stamp, sizeof stamp);
    }
    if (w->sent_us) usleep(w->sent_us);
    return send(w->fd, copy, n, MSG_NOSIGNAL) == (ssize_t)n ? 0 : 1;
}

static int receive_all(void *context, void *bytes, size_t n)
{
    way *w = context;
    return recv(w->fd, bytes, n, MSG_WAITALL) == (ssize_t)n ? 0 : 1;
}

static devlog_clock_options options_of(way *w)
{
    const devlog_clock_options o = DEVLOG_CLOCK_OPTIONS(.peer = 3, .send = send_all, .receive = receive_all,
                                                        .context = w, .log_folder = host_folder);
    return o;
}

/* Runs the end that answers in a child; its exit status is what it returned. */
static pid_t answer_in_child(int fds[2], way w)
{
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    const pid_t child = fork();
    if (child == 0) {
        devlog_error err = {0};
        w.fd = fds[1];
        close(fds[0]);
        setenv("OMPI_COMM_WORLD_RANK", "3", 1);
        devlog_clock_options o = options_of(&w);
        o.answer = true;
        o.peer = 5;
        _exit((int)devlog_clock_exchange(&o, NULL, &err));
    }
    close(fds[1]);
    return child;
}

static int end_of(pid_t child)
{
    int how;
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_true(WIFEXITED(how));
    return WEXITSTATUS(how);
}

/* ---- What is in a file ------------------------------------------------------------------------------------------ */

typedef struct found {
    size_t exchanges, readings;
    uint32_t peer, chips, ends;
    char boot[64];
    devlog_clock_stamps stamps[64];
    uint64_t namespace_;
} found;

static devlog_status on_exchanges(void *ctx, const dl_capture_exchanges *x, devlog_error *err)
{
    found *f = ctx;
    (void)err;
    f->peer = x->peer;
    f->namespace_ = x->time_namespace;
    snprintf(f->boot, sizeof f->boot, "%s", x->boot);
    for (size_t i = 0; i < x->n && f->exchanges < 64; i++)
        f->stamps[f->exchanges++] = x->items[i];
    return DEVLOG_OK;
}

static devlog_status on_clocks(void *ctx, const dl_capture_host_clocks *c, devlog_error *err)
{
    found *f = ctx;
    (void)err;
    f->readings += c->n;
    for (size_t i = 0; i < c->n; i++) {
        struct timespec t;
        clock_gettime(CLOCK_REALTIME, &t);
        const uint64_t now = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
        assert_true(c->items[i].before <= c->items[i].after && c->items[i].after <= devlog_clock_now());
        assert_true(now - c->items[i].real < UINT64_C(3600) * 1000000000);
    }
    assert_int_equal(c->time_namespace, dl_clock_namespace());
    return DEVLOG_OK;
}

static devlog_status on_chip(void *ctx, const dl_capture_chip *chip, devlog_error *err)
{
    (void)err;
    assert_string_equal(chip->arch, "host");
    ((found *)ctx)->chips++;
    return DEVLOG_OK;
}

static found look_at(pid_t process)
{
    char path[128];
    found f = {0};
    dl_input *in;
    devlog_error err = {0};
    dl_capture_state state;
    const dl_capture_sink sink = {
        .ctx = &f, .chip = on_chip, .host_clocks = on_clocks, .exchanges = on_exchanges};
    snprintf(path, sizeof path, "%s/host_%ld.devlog", host_folder, (long)process);
    if (access(path, R_OK) != 0) return f;
    assert_int_equal(dl_input_open(&in, path, &err), DEVLOG_OK);
    assert_int_equal(dl_capture_read(in, &sink, false, &state, &err), DEVLOG_OK);
    assert_true(state.closed);
    assert_int_equal(state.damaged_bytes + state.unknown + state.cut_bytes + state.malformed, 0);
    dl_input_close(in);
    return f;
}

/* ---- Tests: each asks in a child of its own, because a process has one file ---------------------------------------- */

static int64_t lowest(const devlog_clock_stamps *s)
{
    return (int64_t)(s->answered - s->arrived);
}

static int64_t highest(const devlog_clock_stamps *s)
{
    return (int64_t)(s->received - s->sent);
}

static void asks_well(void)
{
    int fds[2];
    devlog_error err = {0};
    devlog_clock_stamps best;
    const pid_t other = answer_in_child(fds, (way){.left = -1, .ahead = AHEAD, .sent_us = 300});
    way w = {.fd = fds[0], .left = -1};
    devlog_clock_options o = options_of(&w);
    o.rounds = 25;
    o.most_ms = 60000;
    setenv("OMPI_COMM_WORLD_RANK", "5", 1);
    if (devlog_clock_exchange(&o, &best, &err)) fail_msg("%s", err.text);
    assert_int_equal(end_of(other), DEVLOG_OK);
    assert_int_equal(w.asks, 26); /* and that it was the last */
    assert_true(best.arrived > best.sent && best.answered >= best.received);
    assert_true(highest(&best) >= AHEAD && lowest(&best) <= AHEAD);
}

static void both_ends_are_kept(void **state)
{
    (void)state;
    int how;
    char *boot;
    size_t n;
    const pid_t p = host_run(asks_well, &how);
    assert_int_equal(how, 0);
    const found f = look_at(p);
    assert_int_equal(f.chips, 1);
    assert_int_equal(f.exchanges, 3);
    assert_int_equal(f.readings, 2);
    assert_int_equal(f.peer, 3);
    assert_int_equal(f.namespace_, dl_clock_namespace());
    boot = read_bytes("/proc/sys/kernel/random/boot_id", &n);
    assert_true(n > 0 && strncmp(boot, f.boot, strlen(f.boot)) == 0 && strlen(f.boot) == 36);
    free(boot);
    for (size_t i = 0; i < 3; i++) {
        assert_true(highest(&f.stamps[i]) >= AHEAD && lowest(&f.stamps[i]) <= AHEAD);
        /* The answer takes 300 us and more on its way, of which the other end knows nothing. */
        assert_true(f.stamps[i].arrived - f.stamps[i].sent >=
                    f.stamps[i].answered - f.stamps[i].received + 300000);
    }
    /* The shortest way, the least that is above the truth, the most that is below it. */
    assert_true(highest(&f.stamps[1]) <= highest(&f.stamps[0]));
    assert_true(lowest(&f.stamps[2]) >= lowest(&f.stamps[0]));
}

static void asks_until_it_breaks(void)
{
    int fds[2];
    devlog_error err = {0};
    const pid_t other = answer_in_child(fds, (way){.left = 4});
    way w = {.fd = fds[0], .left = -1};
    devlog_clock_options o = options_of(&w);
    assert_int_equal(devlog_clock_exchange(&o, NULL, &err), DEVLOG_ERR_TRANSPORT);
    assert_non_null(strstr(err.text, "round 5 with rank 3: `receive` returned 1"));
    assert_int_equal(end_of(other), DEVLOG_ERR_TRANSPORT);
}

static void what_came_before_it_broke_is_kept(void **state)
{
    (void)state;
    int how;
    const pid_t p = host_run(asks_until_it_breaks, &how);
    assert_int_equal(how, 0);
    assert_int_equal(look_at(p).exchanges, 3);
}

static void asks_for_a_short_time(void)
{
    int fds[2];
    devlog_error err = {0};
    const pid_t other = answer_in_child(fds, (way){.left = -1, .sent_us = 20000});
    way w = {.fd = fds[0], .left = -1};
    devlog_clock_options o = options_of(&w);
    o.most_ms = 1;
    o.rounds = 10000;
    assert_int_equal(devlog_clock_exchange(&o, NULL, &err), DEVLOG_OK);
    assert_int_equal(w.asks, 2); /* one, and that it was the last */
    assert_int_equal(end_of(other), DEVLOG_OK);
}

static void time_is_bounded(void **state)
{
    (void)state;
    int how;
    (void)host_run(asks_for_a_short_time, &how);
    assert_int_equal(how, 0);
}

static void asks_the_wrong_ones(void)
{
    int fds[2];
    devlog_error err = {0};
    way w = {.left = -1};
    devlog_clock_options o = options_of(&w);
    pid_t other = answer_in_child(fds, (way){.left = -1, .garbage = true});
    w.fd = fds[0];
    assert_int_equal(devlog_clock_exchange(&o, NULL, &err), DEVLOG_ERR_FORMAT);
    close(fds[0]);
    (void)end_of(other);
    other = answer_in_child(fds, (way){.left = -1});
    w.fd = fds[0];
    w.garbage = true;
    assert_int_equal(devlog_clock_exchange(&o, NULL, &err), DEVLOG_ERR_TRANSPORT);
    assert_int_equal(end_of(other), DEVLOG_ERR_FORMAT);
    close(fds[0]);
    w.garbage = false;
    other = answer_in_child(fds, (way){.left = -1});
    w.fd = fds[0];
    o.peer = 4;
    assert_int_equal(devlog_clock_exchange(&o, NULL, &err), DEVLOG_ERR_ARGUMENT);
    assert_non_null(strstr(err.text, "rank 3 is at the other end, not rank 4"));
    close(fds[0]);
    (void)end_of(other);
    /* Time that goes backwards there. */
    other = answer_in_child(fds, (way){.left = -1, .ahead = INT64_MIN});
    w.fd = fds[0];
    o.peer = 3;
    assert_int_equal(devlog_clock_exchange(&o, NULL, &err), DEVLOG_ERR_FORMAT);
    close(fds[0]);
    (void)end_of(other);
    /* What cannot be asked for. */
    assert_int_equal(devlog_clock_exchange(NULL, NULL, &err), DEVLOG_ERR_ARGUMENT);
    o.size = 0;
    assert_int_equal(devlog_clock_exchange(&o, NULL, &err), DEVLOG_ERR_ARGUMENT);
    o.size = sizeof o;
    o.rounds = 10001;
    assert_int_equal(devlog_clock_exchange(&o, NULL, &err), DEVLOG_ERR_ARGUMENT);
    o.rounds = 0;
    o.send = NULL;
    assert_int_equal(devlog_clock_exchange(&o, NULL, &err), DEVLOG_ERR_ARGUMENT);
}

static void what_is_wrong_is_told(void **state)
{
    (void)state;
    int how;
    const pid_t p = host_run(asks_the_wrong_ones, &how);
    assert_int_equal(how, 0);
    assert_int_equal(look_at(p).exchanges, 0);
}

static void keeps_its_own(void)
{
    devlog_error err = {0};
    const uint64_t now = devlog_clock_now();
    devlog_clock_stamps s[2] = {{now, 500, 600, now + 1000}, {now + 2000, 2500, 2600, now + 3000}};
    assert_int_equal(devlog_clock_keep(host_folder, 9, s, 2, &err), DEVLOG_OK);
    assert_int_equal(devlog_clock_keep(host_folder, 9, s, 0, &err), DEVLOG_OK);
    const devlog_clock_stamps bad[] = {{1000, 5, 4, 2000},
                                       {1000, 5, 6, 999},
                                       {1000, 5, 2000, 1100},
                                       {UINT64_MAX, 5, 6, UINT64_MAX},
                                       {1000, UINT64_MAX - 1, UINT64_MAX, 2000}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        s[1] = bad[i];
        assert_int_equal(devlog_clock_keep(host_folder, 9, s, 2, &err), DEVLOG_ERR_ARGUMENT);
        assert_non_null(strstr(err.text, "exchange 2 of 2 with rank 9 cannot have been"));
    }
    assert_int_equal(devlog_clock_keep("/proc/none", 9, s, 1, &err), DEVLOG_ERR_IO);
    assert_int_equal(devlog_clock_keep(host_folder, 9, s, 1, &err), DEVLOG_OK);
}

static void stamps_of_the_program_are_kept(void **state)
{
    (void)state;
    int how;
    const pid_t p = host_run(keeps_its_own, &how);
    assert_int_equal(how, 0);
    const found f = look_at(p);
    assert_int_equal(f.exchanges, 3);
    assert_int_equal(f.stamps[1].received, 2500);
    assert_int_equal(f.peer, 9);
    assert_string_equal(f.boot, "");
}

static void keeps_between_zones(void)
{
    devlog_error err = {0};
    const uint64_t now = devlog_clock_now();
    const devlog_clock_stamps s = {now, 500, 600, now + 1000};
    assert_int_equal(devlog_clock_keep(host_folder, 1, &s, 1, &err), DEVLOG_OK); /* none is recorded yet */
    host_start(0, 0);
    {
        DEVLOG_HOST_ZONE("first");
    }
    assert_int_equal(devlog_clock_keep("/nobody/asks/for/it", 1, &s, 1, &err), DEVLOG_OK);
    {
        DEVLOG_HOST_ZONE("second");
    }
    assert_int_equal(devlog_host_stop(&err), DEVLOG_OK);
    assert_int_equal(devlog_clock_keep(host_folder, 1, &s, 1, &err), DEVLOG_OK);
    /* A child has a file of its own. */
    const pid_t child = fork();
    if (child == 0) {
        if (devlog_clock_keep(host_folder, 2, &s, 1, &err)) _exit(1);
        const found f = look_at(getpid());
        _exit(f.exchanges == 1 && f.peer == 2 && f.chips == 1 ? 0 : 2);
    }
    assert_int_equal(end_of(child), 0);
}

static void zones_beside_it_stay(void **state)
{
    (void)state;
    int how;
    const pid_t p = host_run(keeps_between_zones, &how);
    assert_int_equal(how, 0);
    const found f = look_at(p);
    assert_int_equal(f.exchanges, 3);
    assert_int_equal(f.chips, 3);
    assert_int_equal(host_look(p, "first").zones, 1);
    assert_int_equal(host_look(p, "second").zones, 1);
    assert_int_equal(host_findings(p, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_ends_are_kept),
        cmocka_unit_test(what_came_before_it_broke_is_kept),
        cmocka_unit_test(time_is_bounded),
        cmocka_unit_test(what_is_wrong_is_told),
        cmocka_unit_test(stamps_of_the_program_are_kept),
        cmocka_unit_test(zones_beside_it_stay),
    };
    return cmocka_run_group_tests(tests, host_make_folder, host_remove_folder);
}
