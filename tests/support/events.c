/* What closes in the runs that a decoder hands on. See events.h. */
#include "support/events.h"

#include "support/cmocka_all.h"

#include <stdlib.h>

typedef struct taker {
    struct taker *next;
    void *ctx;
    test_take_events *take;
} taker;

static taker *takers; /* of all decoders: nobody says when one is done with */

static devlog_status on_runs(void *ctx, const dl_run *runs, size_t n, devlog_error *err)
{
    const taker *t = ctx;
    devlog_status status = DEVLOG_OK;
    for (size_t i = 0; i < n && !status; i++)
        if (runs[i].n_events) status = t->take(t->ctx, runs[i].events, runs[i].n_events, err);
    return status;
}

void test_events_to(dl_decode *d, void *ctx, test_take_events *take)
{
    taker *t = calloc(1, sizeof *t);
    assert_non_null(t);
    *t = (taker){takers, ctx, take};
    takers = t;
    devlog_error err;
    assert_int_equal(
        dl_decode_run_sink(d, (dl_run_sink){.ctx = t, .wants = DL_WANT_EVENTS, .runs = on_runs}, &err),
        DEVLOG_OK);
}
