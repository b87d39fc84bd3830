/* A part of a log as bytes, and back: names, losses, where the parser is, and the pairing (pair/pair_wire.c). */
#include <stdlib.h>
#include <string.h>

#include "decode/decode_internal.h"
#include "decode/pair/pair_wire.h"
#include "decode/parts/parts.h"

static const char magic[] = "devlog part 6";

/* A text that is copied when it is read, where the tables do not keep it. */
static void wire_name(dl_wire *w, dl_decode *d, const char **name)
{
    const char *text = *name ? *name : "";
    size_t n = strlen(text);
    dl_wire_bytes(w, &text, &n);
    if (!dl_wire_reads(w)) return;
    char *copy = !w->bad && strnlen(text, n) == n ? strndup(text, n) : NULL;
    *name = copy ? decode_keep_name(d, copy) : NULL;
    free(copy);
    if (!*name) w->bad = true;
}

/* ---- Tables ---------------------------------------------------------------------------------------------- */

static void wire_text_of(dl_wire *w, const char **text, size_t *n)
{
    dl_wire_bytes(w, text, n);
    if (dl_wire_reads(w) && memchr(*text, 0, *n)) w->bad = true;
    if (w->bad) *n = 0;
}

static void wire_chips(dl_wire *w, dl_tables *t)
{
    uint32_t n = t->n_chips;
    dl_wire_count(w, &n, DL_MAX_CHIPS, 6);
    for (uint32_t i = 0; i < n && !w->bad; i++) {
        dl_chip c = dl_wire_reads(w) ? (dl_chip){0} : t->chips[i];
        dl_wire_u32(w, &c.id);
        dl_wire_text(w, &c.arch);
        dl_wire_u64(w, &c.freq_khz);
        dl_wire_u32(w, &c.max_cores);
        dl_wire_u64(w, &c.aiclk_khz);
        dl_wire_flag(w, &c.instructions);
        if (!dl_wire_reads(w) || w->bad) continue;
        if (dl_tables_chip(t, c.id) == i)
            t->chips[i] = c;
        else
            w->bad = true;
    }
}

static void wire_streams(dl_wire *w, dl_tables *t)
{
    uint32_t n = t->n_streams;
    dl_wire_count(w, &n, DL_MAX_STREAMS, 4);
    for (uint32_t i = 0; i < n && !w->bad; i++) {
        dl_stream s = dl_wire_reads(w) ? (dl_stream){0} : t->streams[i];
        uint32_t x = s.core_x, y = s.core_y;
        const char *risc = dl_wire_reads(w) ? "" : dl_text(t, s.risc_name);
        size_t len = strlen(risc);
        dl_wire_below(w, &s.chip, t->n_chips);
        dl_wire_below(w, &x, UINT16_MAX + 1);
        dl_wire_below(w, &y, UINT16_MAX + 1);
        wire_text_of(w, &risc, &len);
        if (dl_wire_reads(w) && !w->bad &&
            dl_tables_stream(t, t->chips[s.chip].id, (uint16_t)x, (uint16_t)y, risc, len) != i)
            w->bad = true;
    }
}

static void wire_sites(dl_wire *w, dl_tables *t)
{
    uint32_t n = t->n_sites;
    dl_wire_count(w, &n, DL_MAX_SITES, 3);
    for (uint32_t i = 0; i < n && !w->bad; i++) {
        dl_site s = dl_wire_reads(w) ? (dl_site){0} : t->sites[i];
        const char *name = dl_wire_reads(w) ? "" : dl_text(t, s.name),
                   *file = dl_wire_reads(w) ? "" : dl_text(t, s.file);
        size_t name_len = strlen(name), file_len = strlen(file);
        wire_text_of(w, &name, &name_len);
        wire_text_of(w, &file, &file_len);
        dl_wire_u32(w, &s.line);
        if (dl_wire_reads(w) && !w->bad && dl_tables_site(t, name, name_len, file, file_len, s.line) != i)
            w->bad = true;
    }
}

static void wire_kinds(dl_wire *w, dl_tables *t)
{
    uint32_t n = t->n_kinds;
    dl_wire_count(w, &n, DL_MAX_KINDS, 6);
    for (uint32_t i = 0; i < n && !w->bad; i++) {
        dl_kind k = dl_wire_reads(w) ? (dl_kind){0} : t->kinds[i];
        uint32_t type = k.type, cost = k.cost, words = k.words, price = k.price;
        dl_wire_below(w, &k.site, t->n_sites);
        dl_wire_u32(w, &k.timer_id);
        dl_wire_below(w, &type, DL_ROW_TYPES);
        dl_wire_below(w, &cost, DL_COSTS);
        dl_wire_below(w, &words, UINT8_MAX + 1);
        dl_wire_below(w, &price, UINT16_MAX + 1);
        k.type = (uint8_t)type;
        k.cost = (uint8_t)cost;
        k.words = (uint8_t)words;
        k.price = (uint16_t)price;
        if (dl_wire_reads(w) && !w->bad && dl_tables_kind(t, &k) != i) w->bad = true;
    }
}

void dl_parts_names(dl_wire *w, dl_tables *t)
{
    if (!w->bad) wire_chips(w, t);
    if (!w->bad) wire_streams(w, t);
    if (!w->bad) wire_sites(w, t);
}

/* ---- Losses, and where the parser is ------------------------------------------------------------------- */

static void wire_detail(dl_wire *w, char **detail)
{
    const char *text = *detail ? *detail : "";
    size_t n = strlen(text);
    wire_text_of(w, &text, &n);
    if (dl_wire_reads(w) && !w->bad && !(*detail = strndup(text, n))) w->bad = true;
}

/* What captures say of the markers' own cost. */
static void wire_costs(dl_wire *w, dl_losses *l)
{
    dl_wire_u32(w, &l->devices);
    dl_wire_u32(w, &l->processes);
    dl_wire_flag(w, &l->cost_known);
    dl_wire_u64(w, &l->cost_of_kernels);
    dl_wire_u64(w, &l->cycles_of_kernels);
    dl_wire_u64(w, &l->cost_off_of_kernels);
    dl_wire_u64(w, &l->kernels_unpriced);
    dl_wire_u64(w, &l->kernels_unknown_cost);
    dl_wire_u64(w, &l->kernels_most_cost);
    for (size_t i = 0; l->cost_known && i < sizeof l->cost_sixteenths / sizeof l->cost_sixteenths[0]; i++)
        dl_wire_u32(w, &l->cost_sixteenths[i]);
}

/* But for what follows from clocks at the end. */
static void wire_losses(dl_wire *w, dl_losses *l)
{
    wire_costs(w, l);
    dl_wire_u64(w, &l->lines);
    dl_wire_u64(w, &l->rows);
    dl_wire_u64(w, &l->empty);
    dl_wire_flag(w, &l->stopped);
    dl_wire_flag(w, &l->end_unknown);
    dl_wire_flag(w, &l->instructions);
    for (int i = 0; i < DL_SKIPS; i++)
        dl_wire_u64(w, &l->skipped[i]);
    for (int i = 0; i < DL_FINDINGS; i++)
        dl_wire_u64(w, &l->found[i]);
    for (int kind = 0; kind < DL_SKIPS + DL_FINDINGS; kind++) {
        uint32_t n = 0;
        while (n < DL_DETAILS_PER_KIND && l->details[kind][n])
            n++;
        dl_wire_below(w, &n, DL_DETAILS_PER_KIND + 1);
        for (uint32_t i = 0; i < n && !w->bad; i++)
            wire_detail(w, &l->details[kind][i]);
    }
}

static void wire_header(dl_wire *w, dl_header *header)
{
    enum { NONE, GOOD, BAD, STATES };
    dl_columns *c = &header->columns;
    uint32_t state = header->state == DL_HEADER_GOOD ? GOOD : header->state == DL_HEADER_BAD ? BAD : NONE;
    uint32_t cells = c->n_cells;
    dl_wire_below(w, &state, STATES);
    if (dl_wire_reads(w)) memset(header, 0, sizeof *header); /* padding too: headers are compared as bytes */
    if (state == BAD) header->state = DL_HEADER_BAD;
    if (state != GOOD) return;
    header->state = DL_HEADER_GOOD;
    dl_wire_below(w, &cells, DL_MAX_CELLS + 1);
    for (int i = 0; i < DL_COLUMN_KINDS; i++) {
        uint32_t at = (uint32_t)(c->at[i] + 1);
        dl_wire_below(w, &at, DL_MAX_CELLS + 1);
        c->at[i] = (int8_t)((int)at - 1);
    }
    if (dl_wire_reads(w) && !dl_columns_make(c, cells)) w->bad = true;
}

static void wire_state(dl_wire *w, dl_parser_state *state)
{
    wire_header(w, &state->header);
    dl_wire_u64(w, &state->lines);
    dl_wire_u64(w, &state->ends_from);
    dl_wire_u64(w, &state->end_line);
    dl_wire_u64(w, &state->last_time);
    dl_wire_flag(w, &state->by_before);
}

static void wire_part(dl_wire *w, dl_decode *d)
{
    dl_decode_part *part = &d->part;
    dl_parser_state now = dl_parser_save(d->parser);
    dl_wire_flag(w, &part->middle);
    dl_wire_flag(w, &part->later_file);
    dl_wire_flag(w, &part->chip_first);
    dl_wire_u32(w, &part->headers);
    dl_wire_u64(w, &part->head);
    dl_wire_u64(w, &part->first_head);
    dl_chip_line_wire(&part->chip, w);
    wire_state(w, &part->before);
    wire_state(w, &now);
    wire_name(w, d, &part->first_source);
    wire_name(w, d, &part->source);
    dl_wire_flag(w, &part->capture);
    dl_wire_flag(w, &part->needs_before);
    dl_wire_flag(w, &part->any);
    dl_wire_u64(w, &part->last_time);
    const char *sets = part->sets.len ? part->sets.text : "";
    size_t n_sets = part->sets.len;
    dl_wire_bytes(w, &sets, &n_sets);
    if (dl_wire_reads(w) && n_sets) dl_str_add_n(&part->sets, sets, n_sets);
    if (part->sets.failed || n_sets % 16) w->bad = true;
    if (!dl_wire_reads(w) || w->bad) return;
    dl_parser_restore(d->parser, part->source, &now);
    dl_parser_marks(d->parser, &d->marks);
    dl_pair_source(d->pair, part->source);
}

static void wire_decode(dl_wire *w, dl_decode *d)
{
    const char *head = magic;
    size_t n = sizeof magic - 1;
    dl_wire_bytes(w, &head, &n);
    if (n != sizeof magic - 1 || memcmp(head, magic, n) != 0) w->bad = true;
    dl_parts_names(w, &d->tables);
    if (!w->bad) wire_kinds(w, &d->tables);
    if (!w->bad) wire_losses(w, &d->losses);
    if (!w->bad) wire_part(w, d);
    if (!w->bad) dl_pair_wire(d->pair, w);
    if (!w->bad) dl_marks_wire(&d->marks, w);
    bool analyses = d->part.analyzer != NULL;
    dl_wire_flag(w, &analyses);
    if (analyses != (d->part.analyzer != NULL)) w->bad = true;
    if (!w->bad && analyses) dl_analyzer_wire(d->part.analyzer, w);
    bool stamps = d->part.stamps != NULL;
    dl_wire_flag(w, &stamps);
    if (stamps != (d->part.stamps != NULL)) w->bad = true;
    if (!w->bad && stamps) dl_stamps_wire(d->part.stamps, w);
}

devlog_status dl_parts_write(dl_decode *d, uint8_t leaves, uint32_t part, dl_str *out, devlog_error *err)
{
    dl_wire w = {.out = out, .tables = &d->tables, .leaves = leaves, .part = part};
    /* Beyond that timer ids are not kept, and kinds are not what they were given as. */
    if (d->tables.n_kinds < DL_MAX_KINDS / 2)
        wire_decode(&w, d);
    else
        w.bad = true;
    if (w.bad)
        return dl_fail(err, DEVLOG_ERR_FORMAT,
                       "a part of a log has more samples or names than can be handed on");
    return dl_str_status(out, err);
}

void dl_parts_only_samples(dl_decode *d)
{
    (void)dl_decode_run_sink(d, (dl_run_sink){0}, NULL);
    if (d->part.owns) dl_analyzer_free(d->part.analyzer);
    d->part.analyzer = NULL;
    dl_pair_forget_launches(d->pair);
}

devlog_status dl_parts_read(dl_decode *d, const void *bytes, size_t n, devlog_error *err)
{
    dl_wire w = {.at = bytes, .end = (const uint8_t *)bytes + n, .tables = &d->tables};
    if (!d->blocks[0].buffer && !dl_block_init(&d->blocks[0], d->cap))
        return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    wire_decode(&w, d);
    if (!w.bad && w.at == w.end) return DEVLOG_OK;
    return dl_fail(err, DEVLOG_ERR_FORMAT, "a part of a log that came from another process is damaged");
}

/* ---- Where the parts are --------------------------------------------------------------------------------- */

static void wire_plan(dl_wire *w, dl_parts *p)
{
    uint32_t n_paths = p->n_paths;
    dl_wire_u32(w, &n_paths);
    dl_wire_count(w, &p->n, UINT32_MAX - 1, 2);
    if (n_paths != p->n_paths || !p->n) w->bad = true;
    if (dl_wire_reads(w) && !w->bad) {
        p->sizes = calloc((size_t)p->n_paths + 1, sizeof *p->sizes);
        p->stored = calloc((size_t)p->n_paths + 1, sizeof *p->stored);
        p->cuts = calloc((size_t)p->n + 1, sizeof *p->cuts);
        w->bad = !p->sizes || !p->stored || !p->cuts;
    }
    const char *learned = p->learned.text;
    size_t n_learned = p->learned.len;
    dl_wire_flag(w, &p->captures);
    dl_wire_bytes(w, &learned, &n_learned);
    if (dl_wire_reads(w)) dl_str_add_n(&p->learned, learned, n_learned);
    if (p->learned.failed) w->bad = true;
    if (dl_wire_reads(w) && p->captures && !w->bad && !(p->index = calloc(p->n_paths, sizeof *p->index)))
        w->bad = true;
    for (uint32_t i = 0; i < n_paths && p->captures && !w->bad; i++)
        dl_capture_index_wire(&p->index[i], w);
    for (uint32_t i = 0; i < n_paths && !w->bad; i++) {
        dl_wire_u64(w, &p->sizes[i]);
        dl_wire_u64(w, &p->stored[i]);
    }
    for (uint32_t i = 0; i <= p->n && !w->bad; i++) {
        dl_cut *c = &p->cuts[i];
        const dl_cut *before = i ? c - 1 : NULL;
        dl_wire_below(w, &c->file, n_paths + 1);
        dl_wire_u64(w, &c->at);
        if (p->captures) dl_wire_u64(w, &c->frame);
        if (before && (c->file < before->file || (c->file == before->file && c->at <= before->at)))
            w->bad = true;
        if (c->at && (c->file == n_paths || c->at > p->sizes[c->file])) w->bad = true;
    }
}

devlog_status dl_parts_plan_write(dl_parts *p, dl_str *out, devlog_error *err)
{
    dl_wire w = {.out = out};
    wire_plan(&w, p);
    return dl_str_status(out, err);
}

devlog_status dl_parts_plan_read(dl_parts *p, char *const *paths, size_t n, const void *bytes, size_t size,
                                 devlog_error *err)
{
    dl_wire w = {.at = bytes, .end = (const uint8_t *)bytes + size};
    *p = (dl_parts){.paths = paths, .n_paths = (uint32_t)n};
    wire_plan(&w, p);
    if (!w.bad && w.at == w.end) return DEVLOG_OK;
    dl_parts_free(p);
    return dl_fail(err, DEVLOG_ERR_FORMAT, "the plan of parts that came from another process is damaged");
}
