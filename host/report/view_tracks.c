/* Tracks of the view: the decoder's chips and streams as a tree, chip > core > RISC, in the order in which
 * people read them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/view_internal.h"

void view_free_tracks(dl_view *v)
{
    free(v->chips);
    free(v->cores);
    free(v->tracks);
    free(v->track_of_stream);
    free(v->chip_rank);
}

static int compare_u64(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int chip_order(const void *pa, const void *pb)
{
    const dl_view_chip *a = pa, *b = pb;
    return compare_u64(a->id, b->id);
}

/* While the tree is made: v->tracks holds the streams, chip as rank. */
static int track_order(const void *pa, const void *pb, void *ctx)
{
    const dl_view *v = ctx;
    const dl_view_track *a = pa, *b = pb;
    int c = compare_u64(a->chip, b->chip);
    if (c || a->stream == b->stream) return c;
    const dl_stream *sa = &v->tables->streams[a->stream], *sb = &v->tables->streams[b->stream];
    c = compare_u64(sa->core_y, sb->core_y);
    if (!c) c = compare_u64(sa->core_x, sb->core_x);
    if (!c) c = compare_u64(sa->risc, sb->risc);
    if (!c) c = strcmp(dl_text(v->tables, sa->risc_name), dl_text(v->tables, sb->risc_name));
    return c ? c : compare_u64(a->stream, b->stream);
}

static void make_chips(dl_view *v)
{
    const dl_tables *t = v->tables;
    for (uint32_t i = 0; i < t->n_chips; i++)
        v->chips[i] = (dl_view_chip){.chip = i, .id = t->chips[i].id};
    qsort(v->chips, t->n_chips, sizeof *v->chips, chip_order);
    v->n_chips = t->n_chips;
    for (uint32_t i = 0; i < v->n_chips; i++) {
        dl_view_chip *c = &v->chips[i];
        const dl_chip *chip = &t->chips[c->chip];
        const dl_view_clock *clock = &v->options.clock;
        v->chip_rank[c->chip] = i;
        c->aligned = clock->ns && clock->known && clock->known(clock->ctx, c->id, &c->residual_ns);
        c->has_ns = c->aligned || chip->freq_khz;
        char mhz[DL_GROUPED_SIZE], arch[64] = "unknown chip", aiclk[48] = "",
                                   frequency[40] = "clock unknown: times are cycles";
        if (chip->arch) snprintf(arch, sizeof arch, "%.60s", dl_text(t, chip->arch));
        for (char *p = arch; *p; p++)
            if ((unsigned char)*p < ' ' || (unsigned char)*p > '~') *p = '?';
        if (chip->freq_khz) snprintf(frequency, sizeof frequency, "%s MHz", dl_mhz_text(mhz, chip->freq_khz));
        if (chip->aiclk_khz)
            snprintf(aiclk, sizeof aiclk, ", AICLK %s MHz", dl_mhz_text(mhz, chip->aiclk_khz));
        char title[DL_CHIP_TITLE];
        dl_chip_title(title, c->id);
        if (dl_is_process(c->id))
            snprintf(c->name, sizeof c->name, "%s of the host", title);
        else
            snprintf(c->name, sizeof c->name, "%s (%s, %s%s%s)", title, arch, frequency, aiclk,
                     chip->instructions ? "; cycles are instructions" : "");
    }
}

/* Whether it is known when the host called, on a clock that the chip's can be compared with. */
static bool has_calls(const dl_view *v, const dl_view_chip *chip)
{
    const dl_launches *l = dl_decode_launches(v->decode);
    const dl_chip_clock *clock = dl_chip_clocks_of(dl_decode_clocks(v->decode), chip->id);
    if (!chip->aligned || !clock || !clock->fitted) return false;
    for (uint32_t i = 0; i < l->count; i++)
        if (l->items[i].chip == chip->chip && l->items[i].call_start) return true;
    return false;
}

/* Streams in their order; in front of each chip's first one, its launches. */
static void make_tree(dl_view *v, const dl_view_track *sorted, uint32_t n)
{
    uint32_t at = 0;
    for (uint32_t c = 0; c < v->n_chips; c++) {
        dl_view_chip *chip = &v->chips[c];
        chip->first_track = v->n_tracks;
        chip->first_core = v->n_cores;
        v->tracks[v->n_tracks++] =
            (dl_view_track){.chip = c, .core = DL_NONE, .stream = DL_NONE, .name = "launches"};
        chip->host_track = has_calls(v, chip) ? v->n_tracks : DL_NONE;
        if (chip->host_track != DL_NONE)
            v->tracks[v->n_tracks++] =
                (dl_view_track){.chip = c, .core = DL_NONE, .stream = DL_NONE, .name = "host"};
        for (; at < n && sorted[at].chip == c; at++) {
            const dl_stream *s = &v->tables->streams[sorted[at].stream];
            const dl_view_core *last = chip->n_cores ? &v->cores[v->n_cores - 1] : NULL;
            if (!last || last->x != s->core_x || last->y != s->core_y) {
                /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): the caller has made it */
                v->cores[v->n_cores++] =
                    (dl_view_core){.chip = c, .x = s->core_x, .y = s->core_y, .first_track = v->n_tracks};
                chip->n_cores++;
            }
            v->cores[v->n_cores - 1].n_tracks++;
            v->track_of_stream[sorted[at].stream] = v->n_tracks;
            v->tracks[v->n_tracks++] =
                (dl_view_track){.chip = c, .core = v->n_cores - 1, .stream = sorted[at].stream, .name = ""};
        }
        chip->n_tracks = v->n_tracks - chip->first_track;
    }
}

devlog_status view_make_tracks(dl_view *v, devlog_error *err)
{
    const dl_tables *t = v->tables;
    v->chips = calloc(t->n_chips + 1u, sizeof *v->chips);
    v->chip_rank = calloc(t->n_chips + 1u, sizeof *v->chip_rank);
    v->cores = calloc(t->n_streams + 1u, sizeof *v->cores);
    v->tracks = calloc(t->n_streams + 2 * t->n_chips + 1u, sizeof *v->tracks);
    v->track_of_stream = calloc(t->n_streams + 1u, sizeof *v->track_of_stream);
    dl_view_track *sorted = calloc(t->n_streams + 1u, sizeof *sorted);
    bool made = v->chips && v->chip_rank && v->cores && v->tracks && v->track_of_stream && sorted;
    if (!made) {
        free(sorted);
        return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory while making tracks");
    }
    make_chips(v);
    for (uint32_t i = 0; i < t->n_streams; i++)
        sorted[i] = (dl_view_track){.chip = v->chip_rank[t->streams[i].chip], .stream = i};
    qsort_r(sorted, t->n_streams, sizeof *sorted, track_order, v);
    make_tree(v, sorted, t->n_streams);
    free(sorted);
    return DEVLOG_OK;
}
