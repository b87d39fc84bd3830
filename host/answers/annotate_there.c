/* What there is in a capture, said to who asked devlog annotate for something that is not. Not for reading cycles (annotate.c). */
#include "answers/annotate.h"

#include <stdlib.h>
#include <string.h>

#include "base/sort.h"
#include "decode/input.h"

enum { MOST_NAMES = 12, MOST_RISCS = 64 };

/* Each number once, as ranges. */
typedef struct numbers {
    uint64_t *items;
    size_t n, room;
} numbers;

typedef struct found {
    char riscs[MOST_RISCS][32];
    size_t n_riscs;
    numbers cores, launches; /* cores: y and x, so that they sort by rows */
} found;

static bool keep(numbers *to, uint64_t value)
{
    if (to->n && to->items[to->n - 1] == value) return true;
    if (to->n == to->room) {
        const size_t room = to->room ? 2 * to->room : 64;
        uint64_t *bigger = realloc(to->items, room * sizeof *bigger);
        if (!bigger) return false;
        to->items = bigger;
        to->room = room;
    }
    to->items[to->n++] = value;
    return true;
}

static devlog_status on_cycles(void *ctx, const dl_capture_cycles *c, devlog_error *err)
{
    found *f = ctx;
    size_t i = 0;
    if (!c->kernel) return DEVLOG_OK;
    while (i < f->n_riscs && strncmp(f->riscs[i], c->risc, sizeof f->riscs[i] - 1) != 0)
        i++;
    if (i == f->n_riscs && i < MOST_RISCS) strncpy(f->riscs[f->n_riscs++], c->risc, sizeof f->riscs[i] - 1);
    if (keep(&f->cores, (uint64_t)c->y << 32 | c->x) && keep(&f->launches, c->launch)) return DEVLOG_OK;
    return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
}

static size_t distinct(numbers *n)
{
    size_t kept = 0;
    dl_sort_u64(n->items, n->n);
    for (size_t i = 0; i < n->n; i++)
        if (!kept || n->items[kept - 1] != n->items[i]) n->items[kept++] = n->items[i];
    return n->n = kept;
}

static void add_cores(numbers *cores, dl_str *out)
{
    const size_t n = distinct(cores);
    for (size_t i = 0; i < n && i < MOST_NAMES; i++)
        dl_str_fmt(out, "%s%u,%u", i ? " " : "; cores ", (unsigned)(uint32_t)cores->items[i],
                   (unsigned)(cores->items[i] >> 32));
    if (n > MOST_NAMES) dl_str_fmt(out, " and %zu more", n - MOST_NAMES);
}

static void add_launches(numbers *launches, dl_str *out)
{
    const size_t n = distinct(launches);
    size_t shown = 0;
    for (size_t i = 0, to; i < n; i = to) {
        for (to = i + 1; to < n && launches->items[to] == launches->items[to - 1] + 1; to++)
            ;
        if (shown++ == MOST_NAMES) {
            dl_str_add(out, " and more");
            break;
        }
        dl_str_fmt(out, "%s%llu", shown == 1 ? "; launches " : ", ", (unsigned long long)launches->items[i]);
        if (to > i + 1) dl_str_fmt(out, "-%llu", (unsigned long long)launches->items[to - 1]);
    }
}

static devlog_status say_places(const char *capture, dl_str *out, devlog_error *err)
{
    found f = {0};
    dl_input *in = NULL;
    dl_capture_state state;
    const dl_capture_sink sink = {.ctx = &f, .cycles = on_cycles};
    devlog_status status = dl_input_open(&in, capture, err);
    if (!status) status = dl_capture_read(in, &sink, false, &state, err);
    for (size_t i = 0; i < f.n_riscs && !status; i++)
        dl_str_fmt(out, "%s%s", i ? ", " : "RISCs ", f.riscs[i]);
    if (!status) add_cores(&f.cores, out);
    if (!status) add_launches(&f.launches, out);
    dl_input_close(in);
    free(f.cores.items);
    free(f.launches.items);
    return status;
}

/* Functions of all that the other options let through. */
static void say_functions(const annotation *a, dl_str *out)
{
    size_t n = 0;
    dl_intern *met = dl_intern_new(1 << 16, 1 << 24);
    for (size_t i = 0; i < a->n && met; i++)
        for (size_t k = 0; k < a->codes[i].n; k++) {
            size_t size;
            const char *name = dl_intern_text(a->texts, a->codes[i].items[k].function, &size);
            if (!size || dl_intern_find(met, name, size) != DL_NO_STRING) continue;
            if (dl_intern_add(met, name, size) == DL_NO_STRING) break;
            if (n++ < MOST_NAMES) dl_str_fmt(out, "%s%.60s", n > 1 ? ", " : "functions ", name);
        }
    if (n > MOST_NAMES) dl_str_fmt(out, " and %zu more", n - MOST_NAMES);
    if (!n) dl_str_add(out, "no function that is known");
    dl_intern_free(met);
}

devlog_status annotate_there(const char *capture, const annotate_options *options, dl_str *out,
                             devlog_error *err)
{
    annotate_options others = *options;
    annotation a = {0};
    dl_capture_state state;
    if (!options->function) return say_places(capture, out, err);
    others.function = NULL;
    devlog_status status = annotate_read(&a, capture, &others, &state, err);
    const bool any = a.cycles > 0;
    if (!status && any) say_functions(&a, out);
    annotate_free(&a);
    return status || any ? status : say_places(capture, out, err);
}
