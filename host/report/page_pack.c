/* The page's columns of numbers, from the view; page_internal.h has the format. */
#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>

#include "report/page_internal.h"

enum { VARINT = 10 }; /* bytes at most */

static inline char *put_varint(char *to, uint64_t value)
{
    while (value >= 0x80) {
        *to++ = (char)(value | 0x80);
        value >>= 7;
    }
    *to++ = (char)value;
    return to;
}

void page_base64(dl_str *out, const void *bytes, size_t n)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *in = bytes;
    if (!dl_str_reserve(out, (n + 2) / 3 * 4)) return;
    char *to = out->text + out->len;
    size_t i = 0;
    char twelve[4096][2]; /* two digits of twelve bits at once */
    for (size_t k = 0; n > sizeof twelve && k < 4096; k++) {
        twelve[k][0] = digits[k >> 6];
        twelve[k][1] = digits[k & 63];
    }
    for (; n > sizeof twelve && i + 3 < n; i += 3, to += 4) {
        uint32_t four;
        memcpy(&four, in + i, sizeof four);
        four = __builtin_bswap32(four) >> 8;
        memcpy(to, twelve[four >> 12], 2);
        memcpy(to + 2, twelve[four & 4095], 2);
    }
    for (; i + 2 < n; i += 3) {
        const uint32_t three = (uint32_t)in[i] << 16 | (uint32_t)in[i + 1] << 8 | in[i + 2];
        *to++ = digits[three >> 18];
        *to++ = digits[three >> 12 & 63];
        *to++ = digits[three >> 6 & 63];
        *to++ = digits[three & 63];
    }
    if (i < n) {
        const uint32_t three = (uint32_t)in[i] << 16 | (i + 1 < n ? (uint32_t)in[i + 1] << 8 : 0);
        *to++ = digits[three >> 18];
        *to++ = digits[three >> 12 & 63];
        *to++ = i + 1 < n ? digits[three >> 6 & 63] : '=';
        *to++ = '=';
    }
    *to = '\0';
    out->len = (size_t)(to - out->text);
}

/* The number of a site in the page, given at its first use. */
static uint32_t site_number(page_pack *p, uint32_t site)
{
    if (p->site_numbers[site] == DL_NONE) {
        p->site_numbers[site] = p->n_sites;
        p->sites[p->n_sites++] = site;
    }
    return p->site_numbers[site];
}

/* The number of what a kernel printed, from 1; 0: the item is no text. */
static uint64_t text_number(page_pack *p, const dl_view_item *item)
{
    const uint32_t meta = item->meta & ~DL_META_TEXT;
    if (!(item->meta & DL_META_TEXT) || meta >= p->n_text_numbers) return 0;
    if (p->text_numbers[meta]) return p->text_numbers[meta];
    const char *said = dl_view_text(p->view, item, 0);
    if (!said || p->n_texts == PAGE_TEXTS) return 0;
    if (p->n_texts) dl_str_char(&p->texts, ',');
    dl_str_json(&p->texts, said, strlen(said));
    return p->text_numbers[meta] = ++p->n_texts;
}

/* Room for one number more in each column, for many items at once. */
static bool make_room(page_line *line)
{
    enum { ITEMS = 64 };
    for (int i = 0; i < PAGE_COLUMNS; i++)
        if (!dl_str_reserve(&line->columns[i], ITEMS * VARINT)) return false;
    line->room = ITEMS;
    return true;
}

static inline void varint(dl_str *out, uint64_t value)
{
    out->len = (size_t)(put_varint(out->text + out->len, value) - out->text);
}

/* `length` of points is what they say; `site` is as the column has it. */
static inline bool add_to_line(page_line *line, uint64_t cycle, uint64_t behind, uint64_t length,
                               uint64_t site, uint32_t of_launch)
{
    const int64_t launch = of_launch == DL_NONE ? -1 : (int64_t)of_launch, more = launch - line->launch;
    if (!line->room && !make_room(line)) return false;
    line->room--;
    varint(&line->columns[PAGE_GAPS], cycle - line->at);
    varint(&line->columns[PAGE_LENGTHS], length);
    varint(&line->columns[PAGE_SITES], site);
    varint(&line->columns[PAGE_LAUNCHES], more < 0 ? (uint64_t)(-more) * 2 - 1 : (uint64_t)more * 2);
    line->at = behind;
    line->launch = launch;
    line->n++;
    return true;
}

static bool add_item(page_pack *p, page_line *line, const dl_view_item *item, bool point)
{
    const uint64_t site = item->site == DL_NONE ? 0 : site_number(p, item->site);
    if (!point)
        return add_to_line(line, item->cycle, item->end_cycle, item->end_cycle - item->cycle, site,
                           item->launch);
    const uint64_t said = item->kind == DL_VIEW_POINT ? text_number(p, item) : item->data;
    return add_to_line(line, item->cycle, item->cycle, said, site * 8 + item->kind, item->launch);
}

static page_line *make_lines(page_pack *p, uint32_t level)
{
    if (level >= p->cap_lines) {
        uint32_t cap = level + 16;
        page_line *lines = realloc(p->lines, cap * sizeof *lines);
        if (!lines) return NULL;
        memset(lines + p->cap_lines, 0, (cap - p->cap_lines) * sizeof *lines);
        p->lines = lines;
        p->cap_lines = cap;
    }
    for (; p->n_lines <= level; p->n_lines++)
        p->lines[p->n_lines].at = p->base;
    return &p->lines[level];
}

static inline page_line *line_at(page_pack *p, uint32_t level)
{
    return level < p->n_lines ? &p->lines[level] : make_lines(p, level);
}

static void end_line(page_pack *p, page_line *line, uint32_t level, bool points, bool *more)
{
    if (line->n) {
        dl_str_fmt(&p->rows, "%s%u,%d,%u", *more ? "," : "", level, points, line->n);
        *more = true;
    }
    for (int i = 0; i < PAGE_COLUMNS; i++) {
        dl_str_add_n(&p->columns[i], line->columns[i].text ? line->columns[i].text : "",
                     line->columns[i].len);
        p->columns[i].failed |= line->columns[i].failed;
        dl_str_clear(&line->columns[i]);
    }
    line->n = 0;
    line->launch = 0;
}

/* [chip, x, y, name, base, [level, points, intervals, ...]], and for a clock that is aligned [time of the
 * base, cycles and time from there to the row's last marker]. Rows of launches, called "launches", and of
 * what the host called, "host", have no core: x is -1. */
static void end_row(page_pack *p)
{
    uint32_t n;
    if (p->track == DL_NONE) return;
    const dl_view_track *track = &dl_view_tracks(p->view, &n)[p->track];
    const dl_view_chip *chip = &dl_view_chips(p->view, &n)[track->chip];
    const dl_view_core *core = track->core == DL_NONE ? NULL : &dl_view_cores(p->view, &n)[track->core];
    dl_str_fmt(&p->rows, "%s[%u,%d,%d,", p->rows.len ? "," : "", track->chip, core ? core->x : -1,
               core ? core->y : -1);
    dl_str_json(&p->rows, track->name, strlen(track->name));
    dl_str_fmt(&p->rows, ",\"%llu\",[", (unsigned long long)p->base);
    bool more = false;
    for (uint32_t i = 0; i < p->n_lines; i++)
        end_line(p, &p->lines[i], i, false, &more);
    end_line(p, &p->points, p->n_lines, true, &more);
    dl_str_char(&p->rows, ']');
    if (chip->aligned)
        dl_str_fmt(&p->rows, ",[\"%llu\",%llu,%llu]", (unsigned long long)p->base_time,
                   (unsigned long long)(p->last - p->base),
                   (unsigned long long)(p->last_time - p->base_time));
    dl_str_char(&p->rows, ']');
}

static void begin_row(page_pack *p, uint32_t track, uint64_t cycle, uint64_t time)
{
    end_row(p);
    p->track = track;
    p->lane = 0;
    p->below = 0;
    p->n_lines = 0;
    p->base = p->points.at = p->last = cycle;
    p->base_time = p->last_time = time;
}

static devlog_status no_memory(devlog_error *err)
{
    return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory for the page's rows");
}

static devlog_status each(void *ctx, const dl_view_item *items, size_t n, devlog_error *err)
{
    page_pack *p = ctx;
    for (size_t i = 0; i < n; i++) {
        const dl_view_item *item = &items[i];
        bool left_out = item->launch != DL_NONE && item->launch >= p->launch_end;
        if (left_out || p->intervals >= p->max) {
            p->left_out += item->kind != DL_VIEW_LAUNCH;
            continue;
        }
        if (item->track != p->track) begin_row(p, item->track, item->cycle, item->start);
        if (item->end_cycle > p->last) {
            p->last = item->end_cycle;
            p->last_time = item->end;
        }
        bool point = item->kind != DL_VIEW_ZONE && item->kind != DL_VIEW_LAUNCH;
        if (!point && item->lane != p->lane) {
            p->lane = item->lane;
            p->below = p->n_lines;
        }
        page_line *line = point ? &p->points : line_at(p, p->below + item->depth);
        if (!line || !add_item(p, line, item, point)) return no_memory(err);
        p->intervals += item->kind != DL_VIEW_LAUNCH;
    }
    return DEVLOG_OK;
}

static devlog_status each_run(void *ctx, const view_run *run, uint32_t track, devlog_error *err)
{
    page_pack *p = ctx;
    const uint32_t n = run->shape->n,
                   shown = p->max - p->intervals < n ? (uint32_t)(p->max - p->intervals) : n;
    if ((run->launch != DL_NONE && run->launch >= p->launch_end) || !shown) {
        p->left_out += n;
        return DEVLOG_OK;
    }
    if (track != p->track) begin_row(p, track, run->start, dl_view_time(p->view, track, run->start));
    if (p->lane) {
        p->lane = 0;
        p->below = p->n_lines;
    }
    uint64_t last = p->last;
    for (const view_shape_item *item = run->shape->items, *end = item + shown; item < end; item++) {
        const uint64_t from = view_run_stamp(run, item->start), to = view_run_stamp(run, item->end);
        const uint64_t site = site_number(p, item->site);
        const bool point = item->kind != DL_EVENT_ZONE;
        page_line *line = point ? &p->points : line_at(p, p->below + item->depth);
        if (!line ||
            !add_to_line(line, from, to, to - from, point ? site * 8 + DL_VIEW_POINT : site, run->launch))
            return no_memory(err);
        if (to > last) last = to;
    }
    if (last > p->last) {
        p->last = last;
        p->last_time = dl_view_time(p->view, track, last);
    }
    p->intervals += shown;
    p->left_out += n - shown;
    return DEVLOG_OK;
}

/* How many items each launch has; in the last place, those of none. */
typedef struct launch_count {
    uint32_t *counts, n;
} launch_count;

static devlog_status count_launch(void *ctx, const dl_view_item *items, size_t n, devlog_error *err)
{
    launch_count *c = ctx;
    (void)err;
    for (size_t i = 0; i < n; i++)
        c->counts[items[i].launch < c->n ? items[i].launch : c->n] += items[i].kind != DL_VIEW_LAUNCH;
    return DEVLOG_OK;
}

static devlog_status count_run(void *ctx, const view_run *run, uint32_t track, devlog_error *err)
{
    launch_count *c = ctx;
    (void)track, (void)err;
    c->counts[run->launch < c->n ? run->launch : c->n] += run->shape->n;
    return DEVLOG_OK;
}

/* As many launches as fit, from the first on, so that each that is shown is whole. */
static devlog_status choose_launches(page_pack *p, devlog_error *err)
{
    launch_count c = {.n = dl_decode_launches(dl_view_decode(p->view))->count};
    p->launch_end = dl_view_end(p->view);
    if (dl_view_most(p->view) <= p->max) return DEVLOG_OK; /* so does what the view has chosen, mostly */
    c.counts = calloc((size_t)c.n + 1, sizeof *c.counts);
    if (!c.counts) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory for the page's launches");
    const dl_view_sink sink = {.ctx = &c, .items = count_launch, .run = count_run};
    devlog_status status = dl_view_run(p->view, DL_VIEW_BY_TRACK, sink, err);
    uint64_t kept = c.counts[c.n];
    uint32_t end = p->launch_end < c.n ? p->launch_end : c.n;
    for (uint32_t i = 0; i < end && !status; i++) {
        kept += c.counts[i];
        if (kept <= p->max) continue;
        p->launch_end = i ? i : 1; /* of one launch that does not fit, what fits */
        break;
    }
    free(c.counts);
    return status;
}

devlog_status page_pack_view(page_pack *p, dl_view *v, uint64_t max, devlog_error *err)
{
    uint32_t sites = dl_decode_tables(dl_view_decode(v))->n_sites;
    memset(p, 0, sizeof *p);
    p->view = v;
    p->max = max;
    p->track = DL_NONE;
    p->site_numbers = malloc((sites + 1u) * sizeof *p->site_numbers);
    p->sites = malloc((sites + 1u) * sizeof *p->sites);
    p->n_text_numbers = dl_intern_count(dl_decode_tables(dl_view_decode(v))->metas);
    p->text_numbers = calloc(p->n_text_numbers + 1u, sizeof *p->text_numbers);
    if (!p->site_numbers || !p->sites || !p->text_numbers)
        return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory for the page's zones");
    memset(p->site_numbers, 0xff, (sites + 1u) * sizeof *p->site_numbers);
    devlog_status status = choose_launches(p, err);
    const dl_view_sink sink = {.ctx = p, .items = each, .run = each_run};
    if (!status) status = dl_view_run(v, DL_VIEW_BY_TRACK, sink, err);
    if (status) return status;
    if (dl_view_end(v) < p->launch_end) p->launch_end = dl_view_end(v); /* there was no room for more */
    end_row(p);
    p->left_out += dl_view_left_out(v) + dl_view_unwanted(v);
    for (int i = 0; i < PAGE_COLUMNS && !status; i++)
        status = dl_str_status(&p->columns[i], err);
    return status;
}

/* As zlib would, for the browser to inflate. */
static devlog_status deflated(const void *bytes, size_t n, int level, dl_str *out, devlog_error *err)
{
    struct libdeflate_compressor *c = libdeflate_alloc_compressor(level);
    const size_t room = libdeflate_zlib_compress_bound(c, n);
    if (!c || !dl_str_reserve(out, room)) {
        libdeflate_free_compressor(c);
        return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory for packing the page");
    }
    out->len +=
        libdeflate_zlib_compress(c, bytes, n, out->text + out->len, room); /* there is room: it cannot fail */
    out->text[out->len] = '\0';
    libdeflate_free_compressor(c);
    return DEVLOG_OK;
}

devlog_status page_deflate(const page_pack *p, dl_str *out, devlog_error *err)
{
    /* Of columns of varints higher levels make no less: 1,996 KB at level 1, 2,010 KB at levels 2 and 3, which take 1.7 times as
     * long; zlib's level 1 made 2,001 KB in 2.1 times the time. */
    enum { LEVEL = 1 };
    dl_str all = {0};
    for (int i = 0; i < PAGE_COLUMNS; i++)
        dl_str_add_n(&all, p->columns[i].text, p->columns[i].len);
    devlog_status status = dl_str_status(&all, err);
    if (!status) status = deflated(all.text ? all.text : "", all.len, LEVEL, out, err);
    dl_str_free(&all);
    return status;
}

devlog_status page_deflate_text(const char *text, size_t n, dl_str *out, devlog_error *err)
{
    return deflated(text, n, 6, out, err);
}

void page_pack_free(page_pack *p)
{
    for (int i = 0; i < PAGE_COLUMNS; i++) {
        dl_str_free(&p->columns[i]);
        dl_str_free(&p->points.columns[i]);
        for (uint32_t k = 0; k < p->cap_lines; k++)
            dl_str_free(&p->lines[k].columns[i]);
    }
    dl_str_free(&p->rows);
    dl_str_free(&p->texts);
    free(p->text_numbers);
    free(p->lines);
    free(p->site_numbers);
    free(p->sites);
}
