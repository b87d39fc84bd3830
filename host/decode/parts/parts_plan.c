/* Where a log is cut into parts. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "decode/decode_internal.h"
#include "decode/log/packed_range.h"
#include "decode/parts/parts.h"
#include "decode/wire.h"

enum { LOOK = 64 * 1024, MOST_LOOKS = 256, MOST_BLOCKS = 4, PLACE_CELLS = 4 };

void dl_parts_free(dl_parts *parts)
{
    free(parts->sizes);
    free(parts->stored);
    free(parts->cuts);
    dl_str_free(&parts->learned);
    for (uint32_t i = 0; parts->index && i < parts->n_paths; i++)
        dl_capture_index_free(&parts->index[i]);
    free(parts->index);
    *parts = (dl_parts){0};
}

/* Why a packed log is not cut, or NULL. */
static const char *size_of_packed(const char *path, uint64_t *size, uint64_t *stored)
{
    dl_packed_range r;
    devlog_error unheard;
    const devlog_status status = dl_packed_range_open(&r, path, &unheard);
    *size = r.size;
    *stored = r.stored;
    dl_packed_range_close(&r);
    return status ? "is packed without a whole index" : NULL;
}

/* Why a file is not cut, or NULL. */
static const char *look_at(const char *path, uint64_t *size, uint64_t *stored, bool *capture,
                           devlog_status *status, devlog_error *err)
{
    dl_input *in;
    const char *why = NULL;
    struct stat st;
    *capture = false;
    if (!decode_is_file(path)) return "is no file";
    *status = dl_input_open(&in, path, err);
    if (*status) return NULL;
    const int fd = dl_input_plain_file(in);
    *capture = decode_is_capture(in);
    if (*capture)
        *size = *stored = stat(path, &st) == 0 ? (uint64_t)st.st_size : 0;
    else if (fd >= 0 && fstat(fd, &st) == 0)
        *size = *stored = (uint64_t)st.st_size;
    else if (dl_packed_range_is(path))
        why = size_of_packed(path, size, stored);
    else
        why = "is compressed";
    if (!why && !*capture && decode_is_disordered(in)) why = "is in disorder";
    dl_input_close(in);
    return why;
}

/* The cells of a row that say which RISC it is of: n bytes; 0: it is no row. */
static size_t place_of(const char *line, size_t n)
{
    size_t at = 0;
    if (!n || line[0] < '0' || line[0] > '9') return 0;
    for (int cells = 0; at < n; at++)
        if (line[at] == ',' && ++cells == PLACE_CELLS) return at;
    return 0;
}

/* Searches one piece of a file for the first row behind a row of another RISC, from the second line on; its place in the
 * piece, 0: there is none, and *seen is where the search goes on. */
static size_t find_in(const char *text, size_t n, bool line_start, size_t *seen)
{
    const char *before = NULL;
    size_t n_before = 0, at = 0;
    if (!line_start) {
        const char *end = memchr(text, '\n', n);
        at = end ? (size_t)(end - text) + 1 : n;
    }
    *seen = at;
    while (at < n) {
        const char *line = text + at, *end = memchr(line, '\n', n - at);
        if (!end) break;
        const size_t place = place_of(line, (size_t)(end - line));
        if (place && n_before && (place != n_before || memcmp(line, before, place) != 0)) return at;
        before = line;
        n_before = place;
        *seen = at; /* again: what follows is compared with it */
        at = (size_t)(end - text) + 1;
    }
    return 0;
}

/* The first place at or behind `from` where a file can be cut; its size when there is none, and 0 when none was found in
 * what was looked at: further on there may be one. */
static devlog_status find_cut(const char *path, uint64_t size, uint64_t from, uint64_t *cut,
                              devlog_error *err)
{
    char *text = malloc(LOOK);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    devlog_status status = DEVLOG_OK;
    *cut = 0;
    if (!text) status = dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    if (fd < 0 && !status) status = dl_fail_errno(err, errno, "cannot read %s", path);
    bool line_start = from == 0;
    for (int i = 0; i < MOST_LOOKS && from < size && !status; i++) {
        size_t seen;
        const ssize_t n = pread(fd, text, LOOK, (off_t)from);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) status = dl_fail_errno(err, errno, "cannot read %s", path);
        if (n <= 0) break;
        const size_t found = find_in(text, (size_t)n, line_start, &seen);
        const bool ends = from + (uint64_t)n >= size;
        if (found || ends) {
            *cut = found ? from + found : size;
            break;
        }
        line_start = seen < (size_t)n;
        if (!seen) break; /* a line that is longer */
        from += seen;
    }
    if (fd >= 0) close(fd);
    free(text);
    return status;
}

/* The same of a packed log. */
static devlog_status find_cut_packed(const char *path, uint64_t from, uint64_t *cut, devlog_error *err)
{
    dl_packed_range r;
    devlog_status status = dl_packed_range_open(&r, path, err);
    bool line_start = from == 0;
    *cut = 0;
    if (!status) dl_packed_range_set(&r, from, r.size);
    for (int i = 0; i < MOST_BLOCKS && from < r.size && !status; i++) {
        const char *text;
        size_t n, seen;
        status = dl_packed_range_text(&r, &text, &n, err);
        if (status || !n) break;
        const size_t found = find_in(text, n, line_start, &seen);
        if (found) {
            *cut = from + found;
            break;
        }
        line_start = text[n - 1] == '\n';
        from += n;
        if (from >= r.size) *cut = r.size;
    }
    dl_packed_range_close(&r);
    return status;
}

static bool is_behind(const dl_cut *a, const dl_cut *b)
{
    return a->file > b->file || (a->file == b->file && a->at > b->at);
}

/* The cut nearest behind so many bytes of all files; where none was found the beginning of the file. */
static devlog_status cut_at(const dl_parts *p, uint64_t bytes, dl_cut *cut, devlog_error *err)
{
    uint32_t file = 0;
    while (file + 1 < p->n_paths && bytes >= p->sizes[file])
        bytes -= p->sizes[file++];
    *cut = (dl_cut){.file = file};
    if (bytes == 0) return DEVLOG_OK;
    devlog_status status = dl_packed_range_is(p->paths[file])
                               ? find_cut_packed(p->paths[file], bytes, &cut->at, err)
                               : find_cut(p->paths[file], p->sizes[file], bytes, &cut->at, err);
    if (!status && cut->at >= p->sizes[file]) *cut = (dl_cut){.file = file + 1};
    return status;
}

/* Captures: behind a launch that is at or behind so many bytes of all; or where a file begins, the nearest one where files cannot be
 * cut. */
static dl_cut cut_capture(const dl_parts *p, uint64_t bytes)
{
    uint32_t file = 0;
    while (file < p->n_paths && bytes >= p->sizes[file])
        bytes -= p->sizes[file++];
    if (file == p->n_paths || !bytes) return (dl_cut){.file = file};
    const dl_capture_place *place = dl_capture_index_cut(&p->index[file], bytes);
    if (place && place->at < p->sizes[file])
        return (dl_cut){.file = file, .at = place->at, .frame = place->before};
    return (dl_cut){.file = file + (bytes > p->sizes[file] / 2)};
}

/* What is known of captures, which is read from all of them before any is decoded. */
static devlog_status learn(dl_parts *p, devlog_error *err)
{
    dl_decode *d;
    dl_wire w = {.out = &p->learned};
    devlog_status status = dl_decode_new(&d, NULL, err);
    if (!(p->index = calloc(p->n_paths, sizeof *p->index)) && !status)
        status = dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    for (uint32_t i = 0; i < p->n_paths && !status; i++) {
        dl_input *in;
        status = dl_input_open(&in, p->paths[i], err);
        if (!status) p->index[i].whole = dl_input_plain_file(in) < 0;
        if (!status) status = decode_learn(d, in, &p->index[i], err);
        dl_input_close(in);
    }
    if (!status) decode_learned_wire(d, &w);
    if (!status && w.bad) /* clocks without end */
        snprintf(p->why, sizeof p->why, "%.180s has clocks that cannot be told", p->paths[0]);
    dl_decode_free(d);
    return status ? status : dl_str_status(&p->learned, err);
}

devlog_status dl_parts_prepare(const dl_parts *p, dl_decode *d, devlog_error *err)
{
    dl_wire w = {.at = (const uint8_t *)p->learned.text,
                 .end = (const uint8_t *)p->learned.text + p->learned.len};
    if (!p->captures || d->prepared) return DEVLOG_OK;
    decode_learned_wire(d, &w);
    if (w.bad || w.at != w.end)
        return dl_fail(err, DEVLOG_ERR_FORMAT, "what was said of captures' clocks is damaged");
    d->prepared = true;
    return dl_chip_clocks_make(&d->clocks, err);
}

/* A part that begins within a file ends with it at the latest: its lines are counted from where the part begins. A cut that is not
 * behind the last one would have lines decoded twice. */
static void add_cut(dl_parts *p, dl_cut cut)
{
    const dl_cut *before = &p->cuts[p->n - 1], next = {.file = before->file + 1};
    if (!is_behind(&cut, before)) return;
    if (before->at && is_behind(&cut, &next)) p->cuts[p->n++] = next;
    if (cut.file < p->n_paths) p->cuts[p->n++] = cut;
}

devlog_status dl_parts_plan(dl_parts *p, char *const *paths, size_t n, uint32_t wanted, uint64_t least,
                            devlog_error *err)
{
    devlog_status status = DEVLOG_OK;
    uint64_t bytes = 0;
    *p = (dl_parts){.paths = paths, .n_paths = (uint32_t)n};
    p->sizes = calloc(n, sizeof *p->sizes);
    p->stored = calloc(n, sizeof *p->stored);
    p->cuts = malloc(((size_t)wanted * 2 + 2) * sizeof *p->cuts);
    if (!p->sizes || !p->stored || !p->cuts) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    p->cuts[0] = (dl_cut){0};
    p->n = 1;
    size_t n_captures = 0;
    for (size_t i = 0; i < n && !status && wanted > 1; i++) {
        bool capture;
        const char *why = look_at(paths[i], &p->sizes[i], &p->stored[i], &capture, &status, err);
        n_captures += capture;
        if (!why && n_captures && n_captures <= i)
            why = capture ? "is a capture, beside logs" : "is a log, beside captures";
        for (size_t k = 0; k < i && !why; k++)
            if (strcmp(paths[k], paths[i]) == 0) why = "is given twice";
        if (why && !p->why[0]) snprintf(p->why, sizeof p->why, "%.180s %s", paths[i], why);
        bytes += p->sizes[i];
    }
    p->captures = n_captures > 0 && !p->why[0];
    if (!status && p->captures) status = learn(p, err);
    if (!status && p->captures && !p->why[0] && n == 1 && !dl_capture_index_cut(&p->index[0], 1))
        snprintf(p->why, sizeof p->why, "%.180s is a capture that cannot be cut", paths[0]);
    if (!status && !p->why[0]) {
        if (least && bytes / least < wanted) wanted = bytes / least ? (uint32_t)(bytes / least) : 1;
        for (uint32_t i = 1; i < wanted && !status; i++) {
            dl_cut cut;
            const uint64_t at = (uint64_t)((double)bytes * i / wanted);
            if (p->captures)
                cut = cut_capture(p, at);
            else
                status = cut_at(p, at, &cut, err);
            if (!status) add_cut(p, cut);
        }
        if (!status) add_cut(p, (dl_cut){.file = (uint32_t)n});
    }
    p->cuts[p->n] = (dl_cut){.file = (uint32_t)n};
    return status;
}

devlog_status dl_parts_unchanged(const dl_parts *p, uint32_t i, devlog_error *err)
{
    for (uint32_t file = p->cuts[i].file; file < p->n_paths; file++) {
        struct stat st;
        if (file > p->cuts[i + 1].file || (file == p->cuts[i + 1].file && !p->cuts[i + 1].at)) break;
        if (stat(p->paths[file], &st) != 0)
            return dl_fail_errno(err, errno, "cannot read %s", p->paths[file]);
        if ((uint64_t)st.st_size != p->stored[file])
            return dl_fail(
                err, DEVLOG_ERR_IO,
                "%s has %llu bytes now, and had %llu when it was cut into parts: it grows, or is another file "
                "here; decode it when its program has ended, from a folder that all hosts share",
                p->paths[file], (unsigned long long)st.st_size, (unsigned long long)p->stored[file]);
    }
    return DEVLOG_OK;
}
