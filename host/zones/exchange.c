/* What this rank and another see of one another's clocks: the exchange itself, over whatever the program has to send by, and keeping it.
 * Not for what follows from it (ranks/). */
#include <stdio.h>
#include <stdlib.h>

#include "base/file.h"
#include "base/options.h"
#include "base/settings.h"
#include "base/term.h"
#include "zones/zones_internal.h"

enum {
    MAGIC = 0x4B434C44, /* "DLCK" */
    ASKS = 1,
    IS_DONE = 0,
    ASK_BYTES = 16,
    ANSWER_BYTES = 88,
    ANSWERED_AT = 24,
    BOOT_BYTES = ANSWER_BYTES - 40,
    ROUNDS = 10,
    MOST_ROUNDS = 10000,
    MOST_MS = 100,
    KEPT = 3, /* of a call: the shortest way, and those that say most of each side */
    NO_RANK = -1
};

uint64_t devlog_clock_now(void)
{
    return dl_now_ns();
}

/* ---- What is sent: numbers of 32 and 64 bits, the lowest byte first --------------------------------------- */

static void put(uint8_t *to, uint64_t value, int n)
{
    for (int i = 0; i < n; i++)
        to[i] = (uint8_t)(value >> 8 * i);
}

static uint64_t get(const uint8_t *from, int n)
{
    uint64_t value = 0;
    for (int i = 0; i < n; i++)
        value |= (uint64_t)from[i] << 8 * i;
    return value;
}

/* 0: magic, 4: whether it asks, 8: round, 12: rank. */
typedef struct ask {
    uint32_t what, round, rank;
} ask;

static void put_ask(uint8_t to[ASK_BYTES], const ask *a)
{
    put(to, MAGIC, 4);
    put(to + 4, a->what, 4);
    put(to + 8, a->round, 4);
    put(to + 12, a->rank, 4);
}

static bool get_ask(const uint8_t from[ASK_BYTES], ask *a)
{
    *a = (ask){(uint32_t)get(from + 4, 4), (uint32_t)get(from + 8, 4), (uint32_t)get(from + 12, 4)};
    return get(from, 4) == MAGIC && a->what <= ASKS;
}

/* 0: magic, 4: round, 8: rank, 16: received, ANSWERED_AT: answered, 32: time namespace, 40: boot. */
typedef struct answer_to {
    uint32_t round, rank;
    uint64_t received, answered, time_namespace;
    char boot[BOOT_BYTES];
} answer_to;

/* All but when it was answered. */
static void put_answer(uint8_t to[ANSWER_BYTES], const answer_to *a)
{
    put(to, MAGIC, 4);
    put(to + 4, a->round, 4);
    put(to + 8, a->rank, 4);
    put(to + 12, 0, 4);
    put(to + 16, a->received, 8);
    put(to + 32, a->time_namespace, 8);
    memcpy(to + 40, a->boot, BOOT_BYTES);
}

static bool get_answer(const uint8_t from[ANSWER_BYTES], answer_to *a)
{
    a->round = (uint32_t)get(from + 4, 4);
    a->rank = (uint32_t)get(from + 8, 4);
    a->received = get(from + 16, 8);
    a->answered = get(from + ANSWERED_AT, 8);
    a->time_namespace = get(from + 32, 8);
    memcpy(a->boot, from + 40, BOOT_BYTES);
    a->boot[BOOT_BYTES - 1] = 0;
    return get(from, 4) == MAGIC;
}

/* ---- Keeping ------------------------------------------------------------------------------------------------ */

/* How long both ways took; below 0: that cannot be, beyond what two clocks run apart in that time. */
static int64_t way_of(const devlog_clock_stamps *s)
{
    return (int64_t)(s->arrived - s->sent) - (int64_t)(s->answered - s->received);
}

static bool can_be(const devlog_clock_stamps *s)
{
    enum { A_THOUSANDTH = 1000 };
    return s->arrived >= s->sent && s->answered >= s->received && s->arrived <= INT64_MAX &&
           s->answered <= INT64_MAX && way_of(s) >= -(int64_t)((s->answered - s->received) / A_THOUSANDTH);
}

static devlog_status keep(const char *folder, dl_capture_exchanges *put_, devlog_error *err)
{
    if (!folder) folder = dl_setting_text(DL_SET_LOG_FOLDER);
    if (!folder) folder = "generated/profiler/logs";
    zones_lock_all();
    const devlog_status status = zones_file_exchanges(folder, put_, err);
    zones_unlock_all();
    return status;
}

devlog_status devlog_clock_keep(const char *log_folder, uint32_t peer, const devlog_clock_stamps *stamps,
                                size_t n, devlog_error *err)
{
    for (size_t i = 0; i < n; i++)
        if (!can_be(&stamps[i]))
            return dl_fail(err, DEVLOG_ERR_ARGUMENT,
                           "exchange %zu of %zu with rank %u cannot have been: sent %llu, received %llu, "
                           "answered %llu, arrived %llu; sent and arrived are of devlog_clock_now here, the "
                           "others of devlog_clock_now there",
                           i + 1, n, peer, (unsigned long long)stamps[i].sent,
                           (unsigned long long)stamps[i].received, (unsigned long long)stamps[i].answered,
                           (unsigned long long)stamps[i].arrived);
    if (!n) return DEVLOG_OK;
    return keep(log_folder, &(dl_capture_exchanges){.peer = peer, .boot = "", .items = stamps, .n = n}, err);
}

/* ---- The exchange ------------------------------------------------------------------------------------------- */

static uint32_t own_rank(void)
{
    uint32_t rank;
    const char *by;
    return dl_setting_rank(&rank, &by) ? rank : (uint32_t)NO_RANK;
}

static devlog_status could_not(const devlog_clock_options *o, const char *what, uint32_t round, int said,
                               devlog_error *err)
{
    return dl_fail(err, DEVLOG_ERR_TRANSPORT, "clocks: round %u with rank %u: `%s` returned %d", round + 1,
                   o->peer, what, said);
}

static devlog_status no_exchange(const devlog_clock_options *o, uint32_t round, devlog_error *err)
{
    return dl_fail(err, DEVLOG_ERR_FORMAT,
                   "clocks: round %u with rank %u: what came is not of such an exchange; does the other call "
                   "devlog_clock_exchange, one with `answer` and one without?",
                   round + 1, o->peer);
}

static devlog_status is_other(const devlog_clock_options *o, uint32_t rank, devlog_error *err)
{
    if (rank == (uint32_t)NO_RANK || rank == o->peer) return DEVLOG_OK;
    return dl_fail(err, DEVLOG_ERR_ARGUMENT, "clocks: rank %u is at the other end, not rank %u", rank,
                   o->peer);
}

static devlog_status answer(const devlog_clock_options *o, devlog_error *err)
{
    uint8_t asked[ASK_BYTES], said[ANSWER_BYTES];
    dl_str boot = {0};
    answer_to a = {.rank = own_rank(), .time_namespace = dl_clock_namespace()};
    devlog_status status = dl_file_read("/proc/sys/kernel/random/boot_id", 256, &boot, err);
    if (boot.text) snprintf(a.boot, sizeof a.boot, "%.*s", (int)strcspn(boot.text, "\n"), boot.text);
    dl_str_free(&boot);
    for (uint32_t round = 0; !status; round++) {
        ask q;
        int said_no = o->receive(o->context, asked, sizeof asked);
        a.received = dl_now_ns();
        if (said_no) return could_not(o, "receive", round, said_no, err);
        if (!get_ask(asked, &q) || round > MOST_ROUNDS) return no_exchange(o, round, err);
        status = is_other(o, q.rank, err);
        if (status || q.what == IS_DONE) break;
        a.round = q.round;
        put_answer(said, &a);
        put(said + ANSWERED_AT, dl_now_ns(), 8); /* at last */
        said_no = o->send(o->context, said, sizeof said);
        if (said_no) return could_not(o, "send", round, said_no, err);
    }
    return status;
}

/* A round: 1 there, 1 back. */
static devlog_status ask_once(const devlog_clock_options *o, uint32_t round, uint32_t rank, answer_to *a,
                              devlog_clock_stamps *s, devlog_error *err)
{
    uint8_t asked[ASK_BYTES], said[ANSWER_BYTES];
    put_ask(asked, &(ask){ASKS, round, rank});
    s->sent = dl_now_ns();
    int said_no = o->send(o->context, asked, sizeof asked);
    if (said_no) return could_not(o, "send", round, said_no, err);
    said_no = o->receive(o->context, said, sizeof said);
    s->arrived = dl_now_ns();
    if (said_no) return could_not(o, "receive", round, said_no, err);
    if (!get_answer(said, a) || a->round != round) return no_exchange(o, round, err);
    s->received = a->received;
    s->answered = a->answered;
    if (!can_be(s)) return no_exchange(o, round, err);
    return is_other(o, a->rank, err);
}

/* Of all rounds those that no other says more than: the shortest way, and the ends of what the others' clock may be ahead by. */
static void choose(devlog_clock_stamps kept[KEPT], size_t *n, const devlog_clock_stamps *s)
{
    if (!*n)
        for (*n = 0; *n < KEPT; ++*n)
            kept[*n] = *s;
    if (way_of(s) < way_of(&kept[0])) kept[0] = *s;
    if ((int64_t)(s->received - s->sent) < (int64_t)(kept[1].received - kept[1].sent)) kept[1] = *s;
    if ((int64_t)(s->answered - s->arrived) > (int64_t)(kept[2].answered - kept[2].arrived)) kept[2] = *s;
}

static devlog_status ask_all(const devlog_clock_options *o, devlog_clock_stamps *best, devlog_error *err)
{
    const uint32_t rounds = o->rounds ? o->rounds : ROUNDS, rank = own_rank();
    const uint64_t most = (o->most_ms ? o->most_ms : MOST_MS) * UINT64_C(1000000), from = dl_now_ns();
    devlog_clock_stamps kept[KEPT], s;
    answer_to a = {0}, last = {0};
    size_t n = 0;
    devlog_status status = DEVLOG_OK;
    for (uint32_t i = 0; i < rounds && !status && (!i || dl_now_ns() - from < most); i++) {
        status = ask_once(o, i, rank, &a, &s, err);
        if (status) break;
        choose(kept, &n, &s);
        last = a;
    }
    if (!status) {
        uint8_t done[ASK_BYTES];
        put_ask(done, &(ask){IS_DONE, 0, rank});
        const int said_no = o->send(o->context, done, sizeof done);
        if (said_no) status = could_not(o, "send", rounds, said_no, err);
    }
    if (!n) return status;
    if (best) *best = kept[0];
    /* What was exchanged before something went wrong is as true as ever. */
    devlog_error second = {0};
    dl_capture_exchanges put_ = {
        .peer = o->peer, .boot = last.boot, .time_namespace = last.time_namespace, .items = kept, .n = n};
    const devlog_status written = keep(o->log_folder, &put_, &second);
    if (status || !written) return status;
    return dl_fail(err, written, "%s", second.text);
}

devlog_status devlog_clock_exchange(const devlog_clock_options *options, devlog_clock_stamps *best,
                                    devlog_error *err)
{
    devlog_clock_options o;
    devlog_status status = dl_options_take(&o, sizeof o, options, "devlog_clock_options", err);
    if (status) return status;
    if (best) *best = (devlog_clock_stamps){0};
    if (!o.send || !o.receive)
        return dl_fail(err, DEVLOG_ERR_ARGUMENT, "devlog_clock_options: `send` and `receive` are needed");
    if (o.rounds > MOST_ROUNDS)
        return dl_fail(err, DEVLOG_ERR_ARGUMENT, "devlog_clock_options.rounds = %u: %d at most", o.rounds,
                       MOST_ROUNDS);
    return o.answer ? answer(&o, err) : ask_all(&o, best, err);
}
