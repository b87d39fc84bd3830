/* Where the cycles of a program's instructions went: reading a capture, adding up. See the header. Not for what the
 * instructions are (annotate_lines.c). */
#include "answers/annotate.h"

#include <stdlib.h>
#include <string.h>

/* An ELF file of the capture, by the number that frames name it by. */
typedef struct elf_entry {
    uint32_t slot, number;
    char *path, *source;
    uint8_t build_id[32];
    uint32_t build_id_size;
} elf_entry;

/* Which cores and launches a code has been seen in. */
typedef struct seen {
    uint32_t code;
    uint64_t core, launch;
} seen;

typedef struct reader {
    annotation *a;
    const annotate_options *o;
    elf_entry *elfs;
    size_t n_elfs, elfs_room;
    seen *seen;
    size_t n_seen, seen_room;
} reader;

static devlog_status no_memory(devlog_error *err)
{
    return dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for the cycles of a capture");
}

/* ---- Reading ------------------------------------------------------------------------------------------ */

/* Room for one more; false: no memory. */
static bool grow(void **items, size_t n, size_t *room, size_t size)
{
    if (n < *room) return true;
    size_t more = *room ? 2 * *room : 16;
    void *bigger = realloc(*items, more * size);
    if (!bigger) return false;
    *items = bigger;
    *room = more;
    return true;
}

static devlog_status on_elf(void *ctx, const dl_capture_elf *elf, devlog_error *err)
{
    reader *r = ctx;
    if (!grow((void **)&r->elfs, r->n_elfs, &r->elfs_room, sizeof *r->elfs)) return no_memory(err);
    elf_entry *e = &r->elfs[r->n_elfs++];
    *e = (elf_entry){.slot = elf->slot,
                     .number = elf->number,
                     .path = strdup(elf->path),
                     .source = strdup(elf->source),
                     .build_id_size = elf->build_id_size < sizeof e->build_id ? elf->build_id_size
                                                                              : (uint32_t)sizeof e->build_id};
    if (e->build_id_size) memcpy(e->build_id, elf->build_id, e->build_id_size);
    return e->path && e->source ? DEVLOG_OK : no_memory(err);
}

/* The last one of that number: a run that is appended numbers its files anew. */
static const elf_entry *elf_of(const reader *r, uint32_t slot, uint32_t number)
{
    for (size_t i = r->n_elfs; i > 0; i--)
        if (r->elfs[i - 1].slot == slot && r->elfs[i - 1].number == number) return &r->elfs[i - 1];
    return NULL;
}

/* TRISC_0 and TRISC0 are the same. */
static bool same_risc(const char *a, const char *b)
{
    for (;; a++, b++) {
        a += *a == '_';
        b += *b == '_';
        if (*a != *b) return false;
        if (!*a) return true;
    }
}

static bool wanted(const reader *r, const dl_capture_cycles *c)
{
    const annotate_options *o = r->o;
    return (!o->risc || same_risc(o->risc, c->risc)) && (!o->by_core || (c->x == o->x && c->y == o->y)) &&
           (!o->by_chip || c->slot == o->chip) && (!o->launch || c->launch == o->launch) &&
           (c->kernel || o->firmware);
}

static annotate_code *code_of(reader *r, const dl_capture_cycles *c, const elf_entry *e)
{
    annotation *a = r->a;
    for (size_t i = 0; i < a->n; i++) {
        annotate_code *code = &a->codes[i];
        if (code->kernel == c->kernel && strcmp(code->risc, c->risc) == 0 &&
            code->build_id_size == (e ? e->build_id_size : 0) &&
            (!e || memcmp(code->build_id, e->build_id, e->build_id_size) == 0))
            return code;
    }
    annotate_code *bigger = realloc(a->codes, (a->n + 1) * sizeof *bigger);
    if (!bigger) return NULL;
    a->codes = bigger;
    annotate_code *code = &bigger[a->n++];
    *code = (annotate_code){.kernel = c->kernel,
                            .risc = strdup(c->risc),
                            .path = strdup(e ? e->path : ""),
                            .source = strdup(e ? e->source : "")};
    if (e) {
        code->build_id_size = e->build_id_size;
        memcpy(code->build_id, e->build_id, sizeof code->build_id);
    }
    return code->risc && code->path && code->source ? code : NULL;
}

static void add(sim_cycles *to, const sim_cycles *from)
{
    to->count += from->count;
    to->cycles += from->cycles;
    for (int k = 0; k < SIM_STALLS; k++)
        to->stalled[k] += from->stalled[k];
}

static devlog_status on_cycles(void *ctx, const dl_capture_cycles *c, devlog_error *err)
{
    reader *r = ctx;
    r->a->any = true;
    if (!wanted(r, c)) return DEVLOG_OK;
    annotate_code *code = code_of(r, c, elf_of(r, c->slot, c->elf));
    if (!code) return no_memory(err);
    annotate_item *bigger = realloc(code->items, (code->n + c->n + 1) * sizeof *bigger);
    if (!bigger) return no_memory(err);
    code->items = bigger;
    for (size_t i = 0; i < c->n; i++)
        code->items[code->n++] = (annotate_item){.sum = c->items[i]};
    if (!grow((void **)&r->seen, r->n_seen, &r->seen_room, sizeof *r->seen)) return no_memory(err);
    r->seen[r->n_seen++] =
        (seen){(uint32_t)(code - r->a->codes), (uint64_t)c->slot << 32 | (uint32_t)c->y << 16 | c->x,
               (uint64_t)c->slot << 32 | c->launch};
    return DEVLOG_OK;
}

/* ---- Adding up ---------------------------------------------------------------------------------------- */

static int by_pc(const void *a, const void *b)
{
    uint32_t x = ((const annotate_item *)a)->sum.pc, y = ((const annotate_item *)b)->sum.pc;
    return (x > y) - (x < y);
}

static void merge(annotate_code *c)
{
    size_t n = 0;
    if (c->n) qsort(c->items, c->n, sizeof *c->items, by_pc);
    for (size_t i = 0; i < c->n; i++) {
        if (n && c->items[n - 1].sum.pc == c->items[i].sum.pc)
            add(&c->items[n - 1].sum, &c->items[i].sum);
        else
            c->items[n++] = c->items[i];
    }
    c->n = n;
}

static int by_core(const void *a, const void *b)
{
    const seen *x = a, *y = b;
    if (x->code != y->code) return x->code < y->code ? -1 : 1;
    return (x->core > y->core) - (x->core < y->core);
}

static int by_launch(const void *a, const void *b)
{
    const seen *x = a, *y = b;
    if (x->code != y->code) return x->code < y->code ? -1 : 1;
    return (x->launch > y->launch) - (x->launch < y->launch);
}

static void count_seen(reader *r)
{
    if (!r->n_seen) return;
    qsort(r->seen, r->n_seen, sizeof *r->seen, by_core);
    for (size_t i = 0; i < r->n_seen; i++)
        r->a->codes[r->seen[i].code].n_cores += i == 0 || by_core(&r->seen[i - 1], &r->seen[i]) != 0;
    qsort(r->seen, r->n_seen, sizeof *r->seen, by_launch);
    for (size_t i = 0; i < r->n_seen; i++)
        r->a->codes[r->seen[i].code].n_launches += i == 0 || by_launch(&r->seen[i - 1], &r->seen[i]) != 0;
}

/* Leaves the instructions of one function; those of unknown functions go too. */
static void choose_function(const annotation *a, annotate_code *c, const char *name)
{
    size_t n = 0;
    for (size_t i = 0; i < c->n; i++)
        if (strcmp(dl_intern_text(a->texts, c->items[i].function, NULL), name) == 0)
            c->items[n++] = c->items[i];
    c->n = n;
}

static int by_line(const void *a, const void *b)
{
    const annotate_item *x = a, *y = b;
    if (x->file != y->file) return x->file < y->file ? -1 : 1;
    if (x->line != y->line) return x->line < y->line ? -1 : 1;
    return (x->sum.pc > y->sum.pc) - (x->sum.pc < y->sum.pc);
}

static int by_cycles(const void *a, const void *b)
{
    const annotate_item *x = a, *y = b;
    if (x->sum.cycles != y->sum.cycles) return x->sum.cycles > y->sum.cycles ? -1 : 1;
    return by_line(a, b);
}

/* A line's count is that of the instruction of it that ran most often. */
static devlog_status make_lines(annotate_code *c, devlog_error *err)
{
    annotate_item *lines = malloc((c->n + 1) * sizeof *lines);
    if (!lines) return no_memory(err);
    if (c->n) memcpy(lines, c->items, c->n * sizeof *lines);
    if (c->n) qsort(lines, c->n, sizeof *lines, by_line);
    for (size_t i = 0; i < c->n; i++) {
        annotate_item *last = c->n_lines ? &lines[c->n_lines - 1] : NULL;
        if (last && last->file == lines[i].file && last->line == lines[i].line) {
            uint64_t count = last->sum.count > lines[i].sum.count ? last->sum.count : lines[i].sum.count;
            add(&last->sum, &lines[i].sum);
            last->sum.count = count;
        } else {
            lines[c->n_lines++] = lines[i];
        }
        add(&c->sum, &lines[i].sum);
    }
    if (c->n_lines) qsort(lines, c->n_lines, sizeof *lines, by_cycles);
    c->lines = lines;
    return DEVLOG_OK;
}

static int codes_by_cycles(const void *a, const void *b)
{
    const annotate_code *x = a, *y = b;
    if (x->sum.cycles != y->sum.cycles) return x->sum.cycles > y->sum.cycles ? -1 : 1;
    int risc = strcmp(x->risc, y->risc);
    return risc ? risc : strcmp(x->source, y->source);
}

static devlog_status add_up(reader *r, devlog_error *err)
{
    annotation *a = r->a;
    devlog_status status = DEVLOG_OK;
    count_seen(r);
    for (size_t i = 0; i < a->n && !status; i++) {
        merge(&a->codes[i]);
        status = annotate_resolve(a, &a->codes[i], r->o->elf_folder, err);
        if (!status && r->o->function) choose_function(a, &a->codes[i], r->o->function);
        if (!status) status = make_lines(&a->codes[i], err);
        if (!status) a->cycles += a->codes[i].sum.cycles;
    }
    if (!status && a->n) qsort(a->codes, a->n, sizeof *a->codes, codes_by_cycles);
    return status;
}

devlog_status annotate_read(annotation *out, const char *capture, const annotate_options *options,
                            dl_capture_state *state, devlog_error *err)
{
    enum { MOST_TEXTS = 1 << 22, MOST_BYTES = 1 << 28 };
    *out = (annotation){.texts = dl_intern_new(MOST_TEXTS, MOST_BYTES)};
    if (!out->texts) return no_memory(err);
    reader r = {.a = out, .o = options};
    const dl_capture_sink sink = {.ctx = &r, .elf = on_elf, .cycles = on_cycles};
    dl_input *in = NULL;
    const void *first;
    size_t n = DL_CAPTURE_MAGIC_BYTES;
    devlog_status status = dl_input_open(&in, capture, err);
    if (!status) status = dl_input_peek(in, &first, &n, err);
    if (!status && !dl_capture_is(first, n))
        status = dl_fail(err, DEVLOG_ERR_FORMAT,
                         "%s is no capture: the cycles of instructions are in the capture.devlog of a run",
                         capture);
    if (!status) status = dl_capture_read(in, &sink, false, state, err);
    if (!status) status = add_up(&r, err);
    for (size_t i = 0; i < r.n_elfs; i++) {
        free(r.elfs[i].path);
        free(r.elfs[i].source);
    }
    free(r.elfs);
    free(r.seen);
    dl_input_close(in);
    return status;
}

void annotate_free(annotation *a)
{
    for (size_t i = 0; i < a->n; i++) {
        annotate_code *c = &a->codes[i];
        free(c->path);
        free(c->source);
        free(c->risc);
        free(c->items);
        free(c->lines);
    }
    dl_intern_free(a->texts);
    free(a->codes);
    *a = (annotation){0};
}
