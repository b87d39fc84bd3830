/* devlog-mpi decode: files. Rank 0 writes the statistics, and of the rearranged table all but the stamps that others have, for which it
 * leaves room: how many bytes those take came with the parts. Then it tells each rank where its stamps go, and all write at the same time. The files have their names
 * when all have succeeded. */
#include <stdlib.h>
#include <string.h>

#include "cli/date.h"
#include "decode/wire.h"
#include "decode_job.h"
#include "report/rearranged.h"
#include "team_file.h"

/* A file of each kind; tar NULL: there is none. */
typedef struct targets {
    const char *table, *tar;
    uint64_t tar_at;
} targets;

/* Rank 0: what each rank is to write, as it is told. */
typedef struct places {
    decode_job *j;
    dl_str *of_rank;
    uint64_t n;
} places;

/* ---- Each rank ------------------------------------------------------------------------------------------- */

static devlog_status damaged(devlog_error *err)
{
    return dl_fail(err, DEVLOG_ERR_FORMAT, "what rank 0 said of files is damaged");
}

/* A part that is kept here: its streams by their numbers on rank 0. */
typedef struct part_streams {
    uint32_t *here, n;
} part_streams;

static bool map_streams(const dl_decode *d, dl_tables *theirs, part_streams *map)
{
    const dl_tables *t = dl_decode_tables((dl_decode *)d);
    const uint32_t n_theirs = theirs->n_streams;
    map->n = n_theirs;
    map->here = malloc(((size_t)n_theirs + 1) * sizeof *map->here);
    if (!map->here) return false;
    memset(map->here, 0xff, n_theirs * sizeof *map->here);
    for (uint32_t i = 0; i < t->n_streams; i++) {
        const dl_stream *s = &t->streams[i];
        const char *risc = dl_risc_text(t, i);
        const uint32_t there =
            dl_tables_stream(theirs, t->chips[s->chip].id, s->core_x, s->core_y, risc, strlen(risc));
        if (there < n_theirs) map->here[there] = i;
    }
    return true;
}

/* The stamps of a place, into both files. */
static devlog_status write_stamps(decode_job *j, const dl_stamp_column *c, const dl_stamp_place *p,
                                  const targets *to, team_file *table, team_file *tar, char *block,
                                  size_t size, devlog_error *err)
{
    dl_stamp_text text;
    uint64_t at = p->at, written;
    devlog_status status = DEVLOG_OK;
    dl_stamp_text_start(&text, c, p->first);
    for (;;) {
        const size_t n = dl_stamp_text_fill(&text, UINT64_MAX, block, size, &written);
        if (!written) return DEVLOG_OK;
        status = team_file_write(j->r, table, at, block, n, err);
        if (!status && tar) status = team_file_write(j->r, tar, to->tar_at + at, block, n, err);
        if (status) return status;
        at += n;
        j->bytes_written += tar ? 2 * n : n;
    }
}

static devlog_status write_place(decode_job *j, const part_streams *maps, const dl_stamp_place *p,
                                 const targets *to, team_file *table, team_file *tar, char *block,
                                 size_t size, devlog_error *err)
{
    for (uint32_t k = 0; k < j->n_kept; k++) {
        if (j->kept[k].first != p->part) continue;
        const uint32_t stream = p->stream < maps[k].n ? maps[k].here[p->stream] : DL_NONE;
        const dl_stamps *stamps = dl_parts_stamps_of(j->kept[k].decode);
        const dl_stamp_row *row = stream == DL_NONE ? NULL : dl_stamps_row(stamps, stream);
        if (!row) break;
        return write_stamps(j, &row->columns[p->column], p, to, table, tar, block, size, err);
    }
    return damaged(err);
}

static void wire_place(dl_wire *w, dl_stamp_place *p)
{
    dl_wire_u32(w, &p->part);
    dl_wire_u32(w, &p->stream);
    dl_wire_below(w, &p->column, DL_STAMP_COLUMNS);
    dl_wire_flag(w, &p->first);
    dl_wire_u64(w, &p->at);
}

/* What this rank has of the files, at the places that it has been told. */
static devlog_status write_mine(decode_job *j, const targets *to, dl_tables *theirs, const dl_str *told,
                                devlog_error *err)
{
    enum { BLOCK = 1024 * 1024 };
    team_file *table = NULL, *tar = NULL;
    devlog_status status = DEVLOG_OK;
    dl_wire w = {.at = (const uint8_t *)told->text, .end = (const uint8_t *)told->text + told->len};
    if (!told->len) return DEVLOG_OK;
    char *block = malloc(BLOCK);
    part_streams *maps = calloc((size_t)j->n_kept + 1, sizeof *maps);
    if (!block || !maps) status = decode_no_memory(err);
    for (uint32_t k = 0; k < j->n_kept && !status; k++)
        if (!map_streams(j->kept[k].decode, theirs, &maps[k])) status = decode_no_memory(err);
    if (!status) status = team_file_open(j->r, &table, to->table, err);
    if (!status && to->tar) status = team_file_open(j->r, &tar, to->tar, err);
    while (!status && w.at < w.end) {
        dl_stamp_place p = {0};
        wire_place(&w, &p);
        status = w.bad ? damaged(err) : write_place(j, maps, &p, to, table, tar, block, BLOCK, err);
    }
    status = team_file_close(j->r, table, status, err);
    status = team_file_close(j->r, tar, status, err);
    for (uint32_t k = 0; maps && k < j->n_kept; k++)
        free(maps[k].here);
    free(maps);
    free(block);
    return status;
}

static void wire_targets(dl_wire *w, targets *to)
{
    const char *const none = "";
    size_t n_table = dl_wire_reads(w) ? 0 : strlen(to->table) + 1;
    size_t n_tar = dl_wire_reads(w) || !to->tar ? 1 : strlen(to->tar) + 1;
    if (!dl_wire_reads(w) && !to->tar) to->tar = none;
    dl_wire_bytes(w, &to->table, &n_table);
    dl_wire_bytes(w, &to->tar, &n_tar);
    dl_wire_u64(w, &to->tar_at);
    if (!n_table || to->table[n_table - 1] || !n_tar || to->tar[n_tar - 1]) w->bad = true;
    if (w->bad || !to->tar[0]) to->tar = NULL;
}

void decode_hear_files(void *job, const char *bytes, size_t n)
{
    decode_job *j = job;
    dl_wire w = {.at = (const uint8_t *)bytes, .end = (const uint8_t *)bytes + n};
    targets to = {0};
    dl_tables theirs;
    dl_str told = {0};
    devlog_error err;
    wire_targets(&w, &to);
    devlog_status status = dl_tables_init(&theirs, &err);
    if (status) team_die(j->r, err.text);
    w.tables = &theirs;
    dl_parts_names(&w, &theirs);
    team_receive(j->r, 0, &told);
    status = w.bad ? damaged(&err) : write_mine(j, &to, &theirs, &told, &err);
    (void)team_outcome(j->r, status, &err);
    dl_tables_free(&theirs);
    dl_str_free(&told);
}

/* ---- Rank 0 ---------------------------------------------------------------------------------------------- */

static devlog_status note_place(void *ctx, const dl_stamp_place *p, devlog_error *err)
{
    places *all = ctx;
    dl_stamp_place place = *p;
    const decode_job *j = all->j;
    if (p->part >= j->parts.n) return damaged(err);
    const uint64_t rank = (uint64_t)p->part * (uint64_t)j->r->n / j->parts.n; /* decode_first_part */
    dl_wire w = {.out = &all->of_rank[rank]};
    wire_place(&w, &place);
    all->n++;
    return all->of_rank[rank].failed ? decode_no_memory(err) : DEVLOG_OK;
}

static devlog_status write_all(void *ctx, const char *table, const char *tar, uint64_t tar_at,
                               devlog_error *err)
{
    places *all = ctx;
    decode_job *j = all->j;
    targets to = {table, tar, tar_at};
    dl_str said = {0};
    dl_wire w = {.out = &said, .tables = dl_decode_tables(j->pieces[0].decode)};
    if (!all->n) return DEVLOG_OK; /* rank 0 has had all of it */
    wire_targets(&w, &to);
    dl_parts_names(&w, w.tables);
    devlog_status status = dl_str_status(&said, err);
    if (!status) {
        far_tell(&j->far, &said);
        for (int i = 1; i < j->r->n; i++)
            team_send(j->r, i, all->of_rank[i].text, all->of_rank[i].len);
        status = write_mine(j, &to, w.tables, &all->of_rank[0], err);
        status = team_outcome(j->r, status, err);
    }
    dl_str_free(&said);
    return status;
}

devlog_status decode_files(decode_job *j, dl_decode *d, dl_analyzer *analyzer, dl_artifacts **set,
                           devlog_status *written, devlog_error *err)
{
    char prefix[32] = "";
    places all = {.j = j, .of_rank = calloc((size_t)j->r->n, sizeof *all.of_rank)};
    const dl_artifacts_far far = {&all, note_place, write_all};
    const dl_artifacts_options options = {.folder = j->a.folder,
                                          .prefix = prefix,
                                          .suffix = j->a.suffix,
                                          .wanted = j->a.wanted,
                                          .analyzer = analyzer,
                                          .stamps = dl_parts_stamps_of(d),
                                          .far = &far,
                                          .tar = j->a.tar};
    devlog_status status = all.of_rank ? cli_date_prefix(j->a.date, prefix, err) : decode_no_memory(err);
    if (!status) status = dl_artifacts_new(set, d, &options, err);
    if (!status) *written = dl_artifacts_write(*set, err);
    for (int i = 0; all.of_rank && i < j->r->n; i++)
        dl_str_free(&all.of_rank[i]);
    free(all.of_rank);
    return status;
}
