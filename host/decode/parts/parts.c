/* A log in parts: decoding each, and putting one behind the other. */
#include "decode/parts/parts.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode/decode_internal.h"
#include "decode/log/packed_range.h"
#include "decode/pair/pair_absorb.h"
#include "decode/parts/parts_internal.h"

static devlog_status on_marks(void *ctx, dl_marks *m, bool all, uint32_t *taken, devlog_error *err)
{
    return dl_pair_marks(((dl_decode *)ctx)->pair, m, 0, m->n, all, false, taken, err);
}

static dl_parse_sink sink_of(dl_decode *d)
{
    return (dl_parse_sink){d, on_marks, decode_chip_line};
}

devlog_status parts_begin(dl_decode *d, const char *path, devlog_error *err)
{
    const char *name = decode_keep_name(d, path);
    if (!name) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    if (!d->blocks[0].buffer && !dl_block_init(&d->blocks[0], d->cap))
        return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    dl_pair_source(d->pair, name);
    dl_pair_begin_file(d->pair, d->part.first_head + d->losses.lines,
                       dl_tables_text(&d->tables, name, strlen(name)));
    dl_marks_clear(&d->marks);
    dl_parser_begin(d->parser, name);
    dl_parser_marks(d->parser, &d->marks);
    d->part.source = name;
    return DEVLOG_OK;
}

/* Bytes [from, to) of the text of a packed log; as decode_range. */
static devlog_status decode_packed_range(dl_decode *d, const char *path, uint64_t from, uint64_t to,
                                         bool last, devlog_error *err)
{
    dl_packed_range r;
    const dl_parse_sink sink = sink_of(d);
    devlog_status status = dl_packed_range_open(&r, path, err);
    if (!status && !d->packed && !(d->packed = dl_packed_new(d->cap)))
        status = dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    if (!status) {
        dl_packed_begin(d->packed);
        dl_packed_range_set(&r, from, to);
    }
    for (bool there = true; !status && there;) {
        pk_header h;
        const uint8_t *stored;
        const char *damage = NULL;
        status = dl_packed_range_next(&r, &h, &stored, &there, err);
        if (!status && there) status = dl_packed_block(d->packed, d->parser, &h, stored, &sink, &damage, err);
        if (!status && damage)
            status = dl_fail(err, DEVLOG_ERR_FORMAT,
                             "cannot unpack %s: a block: %s; \"devlog decode\" without -j reads on behind it",
                             path, damage);
    }
    if (!status && last) status = dl_packed_last(d->packed, d->parser, &sink, err);
    dl_packed_range_close(&r);
    return status;
}

/* Bytes [from, to) of a file, which has begun; `last`: they are its last. */
static devlog_status decode_range(dl_decode *d, const char *path, uint64_t from, uint64_t to, bool last,
                                  devlog_error *err)
{
    dl_input *in = NULL;
    dl_block *b = &d->blocks[0];
    const dl_parse_sink sink = sink_of(d);
    dl_parser_marks(d->parser, &d->marks);
    if (dl_packed_range_is(path)) return decode_packed_range(d, path, from, to, last, err);
    devlog_status status = dl_input_range(&in, path, from, to, err);
    if (status) return status;
    d->reader = (dl_block_reader){.in = in};
    do {
        dl_block_read(&d->reader, b);
        if (b->too_long) dl_parser_too_long(d->parser);
        if (b->broken) decode_lose_rest(d, &b->why);
        if (!b->last)
            status = dl_parser_block(d->parser, b->text, b->n, &sink, err);
        else if (last)
            status = dl_parser_last(d->parser, b->text, b->n, &sink, err);
    } while (!status && !b->last);
    dl_input_close(in);
    return status;
}

/* The beginning of a file's text, in the decoder's first block. */
static devlog_status read_first(dl_decode *d, const char *path, uint64_t end, devlog_error *err)
{
    dl_input *in = NULL;
    dl_block *b = &d->blocks[0];
    if (dl_packed_range_is(path)) {
        dl_packed_range r;
        const char *text;
        size_t n = 0;
        devlog_status status = dl_packed_range_open(&r, path, err);
        if (!status) {
            dl_packed_range_set(&r, 0, end < b->cap ? end : b->cap);
            status = dl_packed_range_text(&r, &text, &n, err);
        }
        b->text = b->buffer + DL_PARSE_BEFORE;
        b->n = n;
        if (n) memcpy(b->buffer + DL_PARSE_BEFORE, text, n);
        dl_packed_range_close(&r);
        return status;
    }
    devlog_status status = dl_input_range(&in, path, 0, end, err);
    if (status) return status;
    d->reader = (dl_block_reader){.in = in};
    dl_block_read(&d->reader, b);
    dl_input_close(in);
    return DEVLOG_OK;
}

/* Rows of another part: its decoder has them. */
static devlog_status drop_marks(void *ctx, dl_marks *m, bool all, uint32_t *taken, devlog_error *err)
{
    (void)ctx, (void)all, (void)err;
    *taken = m->n;
    return DEVLOG_OK;
}

/* What a file begins with tells of the rows of a part of it, too: all lines above the first that begins with a digit. Rows that
 * begin with something else may be among them. Nothing is counted. */
static devlog_status learn_head(dl_decode *d, const char *path, uint64_t end, devlog_error *err)
{
    dl_block *b = &d->blocks[0];
    const dl_parse_sink sink = {d, drop_marks, decode_chip_line};
    devlog_status status = read_first(d, path, end, err);
    if (status) return status;
    size_t n = 0;
    while (n < b->n && (b->text[n] < '0' || b->text[n] > '9')) {
        const char *line = memchr(b->text + n, '\n', b->n - n);
        n = line ? (size_t)(line - b->text) + 1 : b->n;
    }
    if (n) status = dl_parser_block(d->parser, b->text, n, &sink, err);
    if (!status) status = dl_parser_end_run(d->parser, &sink, err);
    dl_losses_free(&d->losses);
    return status;
}

/* Whether a chip line is above all rows of a file. */
static bool begins_with_chip(dl_decode *d, const char *path)
{
    enum { LINE = 512 };
    devlog_error unheard;
    dl_chip_line chip;
    const dl_block *b = &d->blocks[0];
    if (read_first(d, path, LINE, &unheard) != DEVLOG_OK) return false;
    const char *end = b->n ? memchr(b->text, '\n', b->n) : NULL;
    return end && dl_chip_line_read(&chip, b->text, (size_t)(end - b->text));
}

devlog_status dl_parts_decode(const dl_parts *p, uint32_t i, dl_decode *d, devlog_error *err)
{
    if (p->captures) {
        d->part.capture = true;
        d->part.middle = p->cuts[i].at != 0;
        d->part.chip_first = true; /* a chip is told before its first marks */
        return parts_captures(p, i, d, false, err);
    }
    const dl_cut from = p->cuts[i], to = p->cuts[i + 1];
    const dl_chip_line *line;
    devlog_status status = DEVLOG_OK;
    dl_decode_part *part = &d->part;
    for (uint32_t file = from.file; file < p->n_paths && !status; file++) {
        const uint64_t at = file == from.file ? from.at : 0;
        if (file > to.file || (file == to.file && !to.at)) break;
        status = parts_begin(d, p->paths[file], err);
        if (at && !status) status = learn_head(d, p->paths[file], at, err);
        part->head = at ? dl_parser_lines(d->parser) : 0;
        if (file == from.file && !status) {
            part->first_source = part->source;
            part->middle = at != 0;
            part->before = dl_parser_save(d->parser);
            part->first_head = part->head;
            part->headers = dl_pair_headers(d->pair, &line);
            part->chip = *line;
        } else {
            part->later_file = true;
        }
        const bool last = file < to.file;
        if (file == from.file && !at) part->chip_first = begins_with_chip(d, p->paths[file]);
        if (!at && !p->sizes[file]) dl_losses_empty(&d->losses, p->paths[file]);
        if (!status) status = decode_range(d, p->paths[file], at, last ? p->sizes[file] : to.at, last, err);
        d->losses.lines += dl_parser_lines(d->parser) - part->head;
    }
    return status;
}

devlog_status dl_parts_go_on(const dl_parts *p, uint32_t i, dl_decode *d, devlog_error *err)
{
    if (p->captures) {
        devlog_status status = parts_captures(p, i, d, true, err);
        return status ? status : parts_check_sets(d, err);
    }
    const dl_cut from = p->cuts[i], to = p->cuts[i + 1];
    devlog_status status = DEVLOG_OK;
    for (uint32_t file = from.file; file < p->n_paths && !status; file++) {
        const uint64_t at = file == from.file ? from.at : 0;
        if (file > to.file || (file == to.file && !to.at)) break;
        const bool last = file < to.file;
        if (!at) {
            status = parts_begin(d, p->paths[file], err);
            d->part.later_file = true;
            if (!p->sizes[file]) dl_losses_empty(&d->losses, p->paths[file]);
        }
        const uint64_t before = dl_parser_lines(d->parser);
        if (!status) status = decode_range(d, p->paths[file], at, last ? p->sizes[file] : to.at, last, err);
        d->losses.lines += dl_parser_lines(d->parser) - before;
    }
    return status;
}

/* ---- What goes along ------------------------------------------------------------------------------------- */

static devlog_status hand_to_both(void *ctx, const dl_run *runs, size_t n, devlog_error *err)
{
    const dl_decode_part *part = &((dl_decode *)ctx)->part;
    const dl_run_sink first = dl_analyzer_sink(part->analyzer), second = dl_stamps_sink(part->stamps);
    const devlog_status status = first.runs(first.ctx, runs, n, err);
    return status ? status : second.runs(second.ctx, runs, n, err);
}

static bool marks_of_both(const void *ctx, uint32_t stream, const dl_kind *kind)
{
    const dl_decode_part *part = &((const dl_decode *)ctx)->part;
    const dl_run_sink first = dl_analyzer_sink(part->analyzer), second = dl_stamps_sink(part->stamps);
    return dl_run_sink_wants(&first, stream, kind) || dl_run_sink_wants(&second, stream, kind);
}

devlog_status dl_parts_collect(dl_decode *d, const dl_analysis_list *list, bool stamps, devlog_error *err)
{
    dl_decode_part *part = &d->part;
    part->owns = true;
    devlog_status status = list ? dl_analyzer_new(&part->analyzer, d, list, err) : DEVLOG_OK;
    if (!status && stamps) status = dl_stamps_new(&part->stamps, d, dl_decode_scratch(d), err);
    if (status || (!list && !stamps)) return status;
    dl_run_sink sink = list ? dl_analyzer_sink(part->analyzer) : dl_stamps_sink(part->stamps);
    if (list && stamps) {
        const dl_run_sink second = dl_stamps_sink(part->stamps);
        sink = (dl_run_sink){.ctx = d,
                             .wants = sink.wants | second.wants,
                             .runs = hand_to_both,
                             .apart = sink.apart && second.apart,
                             .marks_of = marks_of_both};
    }
    return dl_decode_run_sink(d, sink, err);
}

void dl_parts_collected(dl_decode *d, dl_analyzer *analyzer, dl_stamps *stamps)
{
    d->part.analyzer = analyzer;
    d->part.stamps = stamps;
}

dl_analyzer *dl_parts_analyzer_of(const dl_decode *d)
{
    return d->part.analyzer;
}

dl_stamps *dl_parts_stamps_of(const dl_decode *d)
{
    return d->part.stamps;
}

/* ---- One behind the other -------------------------------------------------------------------------------- */

static void map_free(dl_absorb_map *map)
{
    free(map->chips);
    free(map->streams);
    free(map->sites);
    free(map->kinds);
    free(map->launches);
    dl_launch_join_free(&map->join);
}

/* Numbers in the order in which the part has given them: as if its lines had been read behind those before. False: there is
 * no memory, or no number left. */
static bool map_tables(dl_absorb_map *map)
{
    const dl_tables *from = map->from;
    dl_tables *to = map->to;
    map->chips = malloc((from->n_chips + 1) * sizeof *map->chips);
    map->streams = malloc((from->n_streams + 1) * sizeof *map->streams);
    map->sites = malloc((from->n_sites + 1) * sizeof *map->sites);
    map->kinds = malloc((from->n_kinds + 1) * sizeof *map->kinds);
    bool ok = map->chips && map->streams && map->sites && map->kinds;
    for (uint32_t i = 0; i < from->n_chips && ok; i++)
        ok = (map->chips[i] = dl_tables_chip(to, from->chips[i].id)) != DL_NONE;
    for (uint32_t i = 0; i < from->n_streams && ok; i++) {
        const dl_stream *s = &from->streams[i];
        const char *risc = dl_text(from, s->risc_name);
        map->streams[i] =
            dl_tables_stream(to, from->chips[s->chip].id, s->core_x, s->core_y, risc, strlen(risc));
        ok = map->streams[i] != DL_NONE;
    }
    for (uint32_t i = 0; i < from->n_sites && ok; i++) {
        const dl_site *s = &from->sites[i];
        const char *name = dl_text(from, s->name), *file = dl_text(from, s->file);
        map->sites[i] = dl_tables_site(to, name, strlen(name), file, strlen(file), s->line);
        ok = map->sites[i] != DL_NONE;
    }
    for (uint32_t i = 0; i < from->n_kinds && ok; i++) {
        dl_kind kind = from->kinds[i];
        kind.site = map->sites[kind.site];
        ok = (map->kinds[i] = dl_tables_kind(to, &kind)) != DL_NONE;
    }
    return ok && to->n_kinds < DL_MAX_KINDS / 2;
}

static bool same_chip_line(const dl_chip_line *a, const dl_chip_line *b)
{
    return strcmp(a->arch, b->arch) == 0 && a->freq_khz == b->freq_khz && a->max_cores == b->max_cores &&
           a->run == b->run && a->aiclk_khz == b->aiclk_khz && a->instructions == b->instructions &&
           a->ends == b->ends && a->beside == b->beside;
}

/* The streams of a part's first mark, and of its last, which may wait for more of their runs. */
static uint32_t first_of(const dl_decode *d)
{
    const uint32_t first = dl_pair_first_stream(d->pair);
    return first != DL_NONE || !d->marks.n ? first : dl_mark_stream(d->marks.items[0].code);
}

static uint32_t last_of(const dl_decode *d)
{
    return d->marks.n ? dl_mark_stream(d->marks.items[d->marks.n - 1].code) : dl_pair_last_stream(d->pair);
}

static bool same_stream(const dl_tables *t, uint32_t stream, const dl_tables *of_part, uint32_t in_part)
{
    const dl_stream *a = &t->streams[stream], *b = &of_part->streams[in_part];
    return t->chips[a->chip].id == of_part->chips[b->chip].id && a->core_x == b->core_x &&
           a->core_y == b->core_y && strcmp(dl_text(t, a->risc_name), dl_text(of_part, b->risc_name)) == 0;
}

/* Whether the part was told of the lines above it what they say. */
static const char *head_follows(const dl_decode *d, const dl_decode *part)
{
    const uint32_t first = first_of(part), last = last_of(d);
    const dl_chip_line *line;
    const uint32_t headers = dl_pair_headers(d->pair, &line);
    const dl_decode_part *how = &part->part;
    if (how->capture)
        return !how->chip_first && headers ? "marks of a chip of which nothing is said are behind the cut"
               : how->needs_before         ? "a RISC that recorded nothing is behind the cut"
               : first == DL_NONE || last == DL_NONE || !same_stream(&d->tables, last, &part->tables, first)
                   ? NULL
                   : "a RISC goes on behind the cut";
    if (how->middle && first == DL_NONE) return "no row is behind the cut";
    if (how->middle && last != DL_NONE && same_stream(&d->tables, last, &part->tables, first))
        return "a run goes on behind the cut";
    if (d->losses.stopped) return "the input broke off before the cut";
    if (dl_parser_save(part->parser).by_before) return "a last line has no line end behind the cut";
    if (!how->middle) {
        const bool any = dl_pair_headers(part->pair, &line) > 0 || first == DL_NONE;
        const bool own = any && part->part.chip_first;
        return own || !headers ? NULL : "a file without a chip line is behind one that has some";
    }
    const dl_parser_state now = dl_parser_save(d->parser);
    /* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison): padding that differs costs time, no more */
    if (memcmp(&now.header, &how->before.header, sizeof now.header) != 0) return "a header is above the cut";
    if (!now.ends_from != !how->before.ends_from || !headers != !how->headers ||
        (headers && !same_chip_line(line, &how->chip)))
        return "a run begins before the cut";
    return NULL;
}

/* Counted by the parser, whose lines have 64 bits. */
static bool is_parsers(int kind)
{
    static const dl_finding findings[] = {DL_FOUND_CORRUPT,    DL_FOUND_COLUMN_TWICE, DL_FOUND_NO_HEADER,
                                          DL_FOUND_NOT_CLOSED, DL_FOUND_CLOCK,        DL_FOUND_NO_LINE_END};
    for (size_t i = 0; i < sizeof findings / sizeof findings[0]; i++)
        if (kind == DL_SKIPS + (int)findings[i]) return true;
    return kind < DL_SKIPS;
}

/* "log.csv:17: ..." is line 17 of the part. */
static bool shift_line(char **detail, const char *source, uint64_t shift, bool wide)
{
    const size_t n = strlen(source);
    if (strncmp(*detail, source, n) != 0 || (*detail)[n] != ':') return true;
    char *end;
    uint64_t line = strtoull(*detail + n + 1, &end, 10);
    if (end == *detail + n + 1) return true;
    line += shift;
    if (!wide) line = (uint32_t)line;
    char *text;
    if (asprintf(&text, "%s:%llu%s", source, (unsigned long long)line, end) < 0) return false;
    free(*detail);
    *detail = text;
    return true;
}

static bool shift_lines(dl_losses *l, const char *source, uint64_t shift)
{
    bool ok = true;
    for (int kind = 0; kind < DL_SKIPS + DL_FINDINGS && shift; kind++)
        for (int i = 0; i < DL_DETAILS_PER_KIND && l->details[kind][i] && ok; i++)
            ok = shift_line(&l->details[kind][i], source, shift, is_parsers(kind));
    return ok;
}

/* The parser goes on where the part has ended. */
static devlog_status go_on_behind(dl_decode *d, const dl_decode *part, uint64_t shift, devlog_error *err)
{
    const dl_parser_state now = dl_parser_save(d->parser);
    dl_parser_state then = dl_parser_save(part->parser);
    then.by_before |= now.by_before;
    if (!part->part.later_file && part->part.middle) {
        then.lines += shift;
        then.end_line = then.end_line ? then.end_line + shift : now.end_line;
        then.ends_from = then.ends_from > part->part.first_head ? then.ends_from + shift
                         : then.ends_from                       ? now.ends_from
                                                                : 0;
    }
    if (strcmp(part->part.source, d->part.source ? d->part.source : "") != 0)
        d->part.source = decode_keep_name(d, part->part.source);
    if (!d->part.source) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    d->part.later_file |= part->part.later_file || !part->part.middle;
    dl_parser_restore(d->parser, d->part.source, &then);
    dl_pair_source(d->pair, d->part.source);
    return DEVLOG_OK;
}

bool dl_parts_may_add(const dl_decode *d, const dl_decode *part)
{
    return !d->part.middle || part->part.middle;
}

devlog_status dl_parts_add(dl_decode *d, dl_decode *part, bool launches, const char **why, devlog_error *err)
{
    dl_absorb_map map = {.from = &part->tables, .to = &d->tables};
    const uint64_t shift = part->part.middle ? dl_parser_lines(d->parser) - part->part.first_head : 0;
    const dl_absorb_part how = {.file = !part->part.middle,
                                .headers = part->part.middle ? part->part.headers : 0,
                                .line_shift = (uint32_t)shift,
                                .run_shift = d->part.first_head + d->losses.lines - part->part.first_head,
                                .launches = launches};
    dl_analyzer *analyzer = d->part.analyzer, *of_part = part->part.analyzer;
    devlog_status status = DEVLOG_OK;
    char *unpaired[DL_DETAILS_PER_KIND];
    *why = head_follows(d, part);
    if (*why) goto done;
    /* The run before the cut ends there, whatever else is found. */
    const dl_parse_sink sink = sink_of(d);
    status = dl_parser_end_run(d->parser, &sink, err);
    if (!status && !map_tables(&map)) *why = "there are more names than can be kept apart";
    if (!status && !*why) status = dl_pair_follows(d->pair, part->pair, &map, &how, why, err);
    if (!status && !*why && analyzer) *why = dl_analyzer_follows(analyzer, of_part, &map);
    if (status || *why) goto done;
    if (!shift_lines(&part->losses, part->part.first_source, shift)) {
        status = dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
        goto done;
    }
    char **details = part->losses.details[DL_SKIPS + DL_FOUND_UNPAIRED_START];
    memcpy(unpaired, details, sizeof unpaired);
    memset(details, 0, sizeof unpaired);
    status = dl_pair_absorb(d->pair, part->pair, &map, &how, unpaired, err);
    if (!status && analyzer) status = dl_analyzer_absorb(analyzer, of_part, &map, err);
    if (!status && d->part.stamps && !dl_stamps_absorb(d->part.stamps, part->part.stamps, &map))
        status = dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    dl_losses_merge(&d->losses, &part->losses);
    if (!status && !dl_absorb_marks(&map, &how, &part->marks))
        status = dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    const dl_marks waiting = d->marks; /* none */
    d->marks = part->marks;
    part->marks = waiting;
    if (!status) status = go_on_behind(d, part, shift, err);
    if (part->part.any) d->part.last_time = part->part.last_time;
    d->part.any |= part->part.any;
    if (part->part.sets.len) dl_str_add_n(&d->part.sets, part->part.sets.text, part->part.sets.len);
    if (!status && d->part.capture) status = parts_check_sets(d, err);
done:
    map_free(&map);
    return status;
}

/* ---- Threads --------------------------------------------------------------------------------------------- */

typedef struct worker {
    const dl_parts *parts;
    dl_decode *decode;
    uint32_t i;
    pthread_t thread;
    bool runs;
    devlog_status status;
    devlog_error err;
} worker;

static void *work(void *ctx)
{
    worker *w = ctx;
    w->status = dl_parts_decode(w->parts, w->i, w->decode, &w->err);
    return NULL;
}

devlog_status dl_parts_run(const dl_parts *p, dl_decode *d, const dl_decode_options *options, uint32_t *again,
                           const char **why, devlog_error *err)
{
    worker *workers = calloc(p->n, sizeof *workers);
    dl_decode_options how = *options;
    devlog_status status = DEVLOG_OK;
    how.threads = 1;
    how.progress = NULL;
    *again = 0;
    *why = NULL;
    if (!workers) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    for (uint32_t i = 0; i < p->n && !status; i++) {
        worker *w = &workers[i];
        *w = (worker){.parts = p, .i = i, .decode = i ? NULL : d};
        if (i) status = dl_decode_new(&w->decode, &how, err);
        if (i && !status)
            status = dl_parts_collect(w->decode, d->part.analyzer ? dl_analyzer_list(d->part.analyzer) : NULL,
                                      d->part.stamps != NULL, err);
        if (status || !i) continue;
        const int errnum = pthread_create(&w->thread, NULL, work, w);
        w->runs = errnum == 0;
        if (errnum) status = dl_fail_errno(err, errnum, "cannot start a thread");
    }
    if (!status) work(&workers[0]);
    for (uint32_t i = 0; i < p->n; i++) {
        worker *w = &workers[i];
        if (w->runs) pthread_join(w->thread, NULL);
        if (!status && w->status) {
            status = w->status;
            if (err) *err = w->err;
        }
        const char *reason = NULL;
        if (i && !status) status = dl_parts_add(d, w->decode, true, &reason, err);
        if (i) dl_decode_free(w->decode);
        w->decode = NULL;
        if (!reason) continue;
        if (!(*again)++) *why = reason;
        status = dl_parts_go_on(p, i, d, err);
    }
    free(workers);
    return status;
}
