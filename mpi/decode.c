/* devlog-mpi decode: device logs in parts, each decoded by a rank, put together in a tree. What rank 0 prints is what one process
 * prints (decode/parts.h says how that is exact). */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/settings.h"
#include "cli/cli.h"
#include "cli/cmd_mpi.h"
#include "cli/decode_print.h"
#include "cli/logs.h"
#include "decode/parts.h"
#include "decode/wire.h"
#include "far.h"
#include "mpi_commands.h"

/* Parts that have become one; without a decoder: to be decoded again. */
typedef struct piece {
    dl_decode *decode;
    uint32_t first, n;
} piece;

typedef struct job {
    team *r;
    cli_mpi_decode a;
    cli_args rest; /* rank 0 */
    char **paths;
    uint32_t n_paths;
    char *names; /* what they point into, where they came from rank 0 */
    dl_parts parts;
    dl_decode_options how;
    dl_str own;            /* the text of --analyses */
    bool defaults;         /* the default analyses, too */
    dl_analysis_list list; /* all of them; empty where nobody sees any */
    uint8_t leaves;        /* DL_WIRE_* */
    piece *pieces;
    uint32_t n;
    piece *kept; /* with the durations of this rank, which stay here */
    uint32_t n_kept;
    uint32_t again;
    const char *why;
    far_samples far;
} job;

static devlog_status no_memory(devlog_error *err)
{
    return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
}

/* ---- What is to be done -------------------------------------------------------------------------------- */

static uint32_t wanted_parts(const job *j)
{
    return j->a.parts ? (uint32_t)j->a.parts : (uint32_t)j->r->n;
}

/* Rank 0: which files, and where they are cut. */
static devlog_status plan(job *j, devlog_error *err)
{
    devlog_status status = cli_logs_of_folders("decode", &j->rest, false, err);
    if (status) return status;
    j->paths = j->rest.items;
    j->n_paths = (uint32_t)j->rest.n;
    status = dl_parts_plan(&j->parts, j->paths, j->n_paths, wanted_parts(j), j->a.least, err);
    if (!status && j->parts.why[0])
        fprintf(stderr, "devlog-mpi decode: %s: rank 0 decodes it as a whole\n", j->parts.why);
    return status;
}

static devlog_status list_analyses(job *j, const char *name, devlog_error *err)
{
    devlog_status status = j->defaults ? dl_analyses_defaults(&j->list, err) : DEVLOG_OK;
    return status || !j->own.len ? status : dl_analyses_parse(&j->list, name, j->own.text, err);
}

/* Rank 0: those that are printed. */
static devlog_status read_analyses(job *j, devlog_error *err)
{
    enum { MOST = 1024 * 1024 };
    const char *name = j->a.analyses;
    devlog_status status = name ? dl_file_read(name, MOST, &j->own, err) : DEVLOG_OK;
    if (!status && j->own.len && memchr(j->own.text, 0, j->own.len))
        status = dl_fail(err, DEVLOG_ERR_FORMAT, "%s: not JSON: it has NUL bytes", name);
    if (!status && name && !j->own.len) status = dl_analyses_parse(&j->list, name, "", err);
    j->defaults = j->a.defaults && (name || decode_wants_runs(j->a.format));
    return status ? status : list_analyses(j, name, err);
}

/* Rank 0 tells the others; `goes` is whether there is anything to do. */
static devlog_status tell(job *j, bool goes, dl_str *said, devlog_error *err)
{
    dl_wire w = {.out = said};
    dl_wire_flag(&w, &goes);
    if (!goes) return DEVLOG_OK;
    uint32_t leaves = j->leaves;
    dl_wire_below(&w, &leaves, DL_WIRE_TOTALS + 1);
    const char *own = j->own.len ? j->own.text : "";
    dl_wire_flag(&w, &j->defaults);
    dl_wire_bytes(&w, &own, &j->own.len);
    dl_wire_u32(&w, &j->n_paths);
    for (uint32_t i = 0; i < j->n_paths; i++) {
        const char *path = j->paths[i];
        size_t n = strlen(path) + 1;
        dl_wire_bytes(&w, &path, &n);
    }
    return dl_parts_plan_write(&j->parts, said, err);
}

static devlog_status listen(job *j, const dl_str *said, bool *goes, devlog_error *err)
{
    dl_wire w = {.at = (const uint8_t *)said->text, .end = (const uint8_t *)said->text + said->len};
    *goes = false;
    dl_wire_flag(&w, goes);
    if (!*goes && !w.bad) return DEVLOG_OK;
    uint32_t leaves = 0;
    dl_wire_below(&w, &leaves, DL_WIRE_TOTALS + 1);
    j->leaves = (uint8_t)leaves;
    const char *own = NULL;
    size_t n_own = 0;
    dl_wire_flag(&w, &j->defaults);
    dl_wire_bytes(&w, &own, &n_own);
    if (n_own) dl_str_add_n(&j->own, own, n_own);
    devlog_status status = j->own.failed ? no_memory(err) : list_analyses(j, "--analyses", err);
    if (status) return status;
    dl_wire_count(&w, &j->n_paths, UINT32_MAX, 2);
    j->names = malloc(said->len + 1);
    j->paths = calloc((size_t)j->n_paths + 1, sizeof *j->paths);
    if (!j->names || !j->paths) return no_memory(err);
    memcpy(j->names, said->text, said->len);
    for (uint32_t i = 0; i < j->n_paths && !w.bad; i++) {
        const char *path = NULL;
        size_t n = 0;
        dl_wire_bytes(&w, &path, &n);
        w.bad |= n == 0 || path[n - 1] != 0;
        if (!w.bad) j->paths[i] = j->names + (path - said->text);
    }
    if (w.bad) return dl_fail(err, DEVLOG_ERR_FORMAT, "what rank 0 said is damaged");
    return dl_parts_plan_read(&j->parts, j->paths, j->n_paths, w.at, (size_t)(w.end - w.at), err);
}

static devlog_status new_decode(const job *j, dl_decode **d, devlog_error *err)
{
    const devlog_status status = dl_decode_new(d, &j->how, err);
    return status || !j->list.n ? status : dl_parts_analyse(*d, &j->list, err);
}

/* ---- Decoding ------------------------------------------------------------------------------------------- */

/* Puts a piece behind those that are there: into the last one where it follows. */
static devlog_status add_piece(job *j, piece *p, devlog_error *err)
{
    piece *last = j->n ? &j->pieces[j->n - 1] : NULL;
    const char *why = "";
    if (last && last->decode && p->decode && dl_parts_may_add(last->decode, p->decode)) {
        devlog_status status = dl_parts_add(last->decode, p->decode, true, &why, err);
        if (status) return status;
    }
    if (why) {
        j->pieces[j->n++] = *p;
    } else {
        last->n += p->n;
        dl_decode_free(p->decode);
    }
    *p = (piece){0};
    return DEVLOG_OK;
}

static uint32_t first_part(const job *j, int rank)
{
    const uint64_t n_ranks = (uint64_t)j->r->n;
    return (uint32_t)((j->parts.n * (uint64_t)rank + n_ranks - 1) / n_ranks);
}

/* The parts of this rank. */
static devlog_status decode_parts(job *j, devlog_error *err)
{
    devlog_status status = DEVLOG_OK;
    const uint32_t end = first_part(j, j->r->rank + 1);
    for (uint32_t i = first_part(j, j->r->rank); i < end && !status; i++) {
        piece p = {.first = i, .n = 1};
        status = dl_parts_unchanged(&j->parts, i, err);
        if (!status) status = new_decode(j, &p.decode, err);
        if (!status) status = dl_parts_decode(&j->parts, i, p.decode, err);
        if (!status) status = dl_parts_unchanged(&j->parts, i, err);
        if (!status) status = add_piece(j, &p, err);
        dl_decode_free(p.decode);
    }
    return status;
}

/* What goes on to other ranks has names and totals only, but for what tables by launch are made of: durations stay here. */
static devlog_status leave_samples(job *j, devlog_error *err)
{
    dl_str bytes = {0};
    devlog_status status = DEVLOG_OK;
    j->kept = calloc((size_t)j->n + 1, sizeof *j->kept);
    if (!j->kept) return no_memory(err);
    for (uint32_t i = 0; i < j->n && !status; i++) {
        piece *p = &j->pieces[i];
        devlog_error unheard;
        dl_str_clear(&bytes);
        j->kept[j->n_kept++] = *p;
        p->decode = NULL; /* what cannot be handed on is decoded again */
        if (dl_parts_write(j->kept[j->n_kept - 1].decode, j->leaves, &bytes, &unheard)) {
            if (j->r->rank == 0 && i == 0) *p = j->kept[--j->n_kept]; /* the others come behind it as it is */
            continue;
        }
        status = new_decode(j, &p->decode, err);
        if (!status) status = dl_parts_read(p->decode, bytes.text, bytes.len, err);
        dl_parts_analyzer(j->kept[j->n_kept - 1].decode, NULL); /* all of it goes on */
    }
    dl_str_free(&bytes);
    return status;
}

/* What is one part. */
static devlog_status decode_whole(job *j, devlog_error *err)
{
    dl_decode *d;
    devlog_status status = new_decode(j, &d, err);
    if (status) return status;
    j->pieces[j->n++] = (piece){d, 0, 1};
    status = dl_decode_prepare(d, j->paths, j->n_paths, err);
    for (uint32_t i = 0; i < j->n_paths && !status; i++)
        status = dl_decode_file(d, j->paths[i], err);
    return status;
}

/* ---- Putting together ----------------------------------------------------------------------------------- */

static void send_pieces(job *j, int to)
{
    dl_str bytes = {0};
    dl_wire w = {.out = &bytes};
    devlog_error err;
    dl_wire_u32(&w, &j->n);
    team_send(j->r, to, bytes.text, bytes.len);
    for (uint32_t i = 0; i < j->n; i++) {
        piece *p = &j->pieces[i];
        dl_str_clear(&bytes);
        dl_wire_u32(&w, &p->first);
        dl_wire_u32(&w, &p->n);
        const size_t head = bytes.len;
        if (p->decode && dl_parts_write(p->decode, DL_WIRE_ALL, &bytes, &err) != DEVLOG_OK)
            bytes.len = head; /* then again */
        if (bytes.failed) team_die(j->r, "out of memory for what is sent");
        team_send(j->r, to, bytes.text, bytes.len);
        dl_decode_free(p->decode);
    }
    j->n = 0;
    dl_str_free(&bytes);
}

static devlog_status read_piece(job *j, const dl_str *bytes, piece *p, devlog_error *err)
{
    dl_wire w = {.at = (const uint8_t *)bytes->text, .end = (const uint8_t *)bytes->text + bytes->len};
    const uint32_t next = j->n ? j->pieces[j->n - 1].first + j->pieces[j->n - 1].n : 0;
    *p = (piece){0};
    dl_wire_below(&w, &p->first, j->parts.n);
    dl_wire_below(&w, &p->n, j->parts.n + 1);
    if (w.bad || p->n == 0 || p->first + p->n > j->parts.n || (j->n && p->first != next))
        return dl_fail(err, DEVLOG_ERR_FORMAT, "what another rank sent is damaged");
    if (w.at == w.end) return DEVLOG_OK;
    devlog_status status = new_decode(j, &p->decode, err);
    return status ? status : dl_parts_read(p->decode, w.at, (size_t)(w.end - w.at), err);
}

static void receive_pieces(job *j, int from)
{
    dl_str bytes = {0};
    devlog_error err;
    uint32_t n = 0;
    team_receive(j->r, from, &bytes);
    dl_wire w = {.at = (const uint8_t *)bytes.text, .end = (const uint8_t *)bytes.text + bytes.len};
    dl_wire_below(&w, &n, j->parts.n + 1);
    devlog_status status =
        w.bad ? dl_fail(&err, DEVLOG_ERR_FORMAT, "what another rank sent is damaged") : DEVLOG_OK;
    for (uint32_t i = 0; i < n && !status; i++) {
        piece p = {0};
        team_receive(j->r, from, &bytes);
        status = read_piece(j, &bytes, &p, &err);
        if (!status) status = add_piece(j, &p, &err);
        dl_decode_free(p.decode);
    }
    if (status) team_die(j->r, err.text);
    dl_str_free(&bytes);
}

/* Every rank hands what it has to the one below it, in the order of the parts, until rank 0 has all. */
static void merge(job *j)
{
    const int rank = j->r->rank, n = j->r->n;
    for (int step = 1; step < n; step *= 2) {
        if (rank % (2 * step)) {
            send_pieces(j, rank - step);
            return;
        }
        if (rank + step < n) receive_pieces(j, rank + step);
    }
}

/* Rank 0: what did not follow by itself is decoded behind what is before it. */
static devlog_status join(job *j, devlog_error *err)
{
    dl_decode *d = j->pieces[0].decode;
    devlog_status status = DEVLOG_OK;
    for (uint32_t i = 1; i < j->n && !status; i++) {
        piece *p = &j->pieces[i];
        const char *why = "a part is too large to be handed on";
        if (p->decode) status = dl_parts_add(d, p->decode, true, &why, err);
        dl_decode_free(p->decode);
        p->decode = NULL;
        if (status || !why) continue;
        if (!j->again) j->why = why;
        j->again += p->n;
        far_drop(&j->far, p->first, p->n);
        for (uint32_t k = 0; k < p->n && !status; k++) {
            status = dl_parts_go_on(&j->parts, p->first + k, d, err);
            if (!status) status = dl_parts_unchanged(&j->parts, p->first + k, err);
        }
    }
    return status;
}

/* ---- All of it ------------------------------------------------------------------------------------------- */

static devlog_status print(job *j, devlog_error *err)
{
    dl_decode *d = j->pieces[0].decode;
    const dl_analysis_list none = {0};
    dl_analyzer *own = dl_parts_analyzer_of(d), *made = NULL;
    devlog_status status = dl_losses_no_rows(dl_decode_losses(d), j->paths[0], j->n_paths, err);
    if (!status && !own && j->a.format != DECODE_TEXT) status = dl_analyzer_new(&made, d, &none, err);
    dl_analyzer *analyzer = own ? own : made;
    if (!status && analyzer) status = dl_analyzer_finish(analyzer, err);
    const decode_shown shown = {.format = j->a.format,
                                .sort = j->a.sort,
                                .tables = j->a.print,
                                .analyses = j->a.analyses != NULL,
                                .max_launches = j->a.max_launches,
                                .top = j->a.top,
                                .plain = true,
                                .analyzer = analyzer};
    if (!status) status = decode_print(d, &shown, err);
    dl_analyzer_free(made);
    return status;
}

static uint64_t bytes_of_parts(const job *j, int rank)
{
    uint64_t sum = 0;
    if (j->parts.n == 1) { /* the plan has no sizes then: rank 0 reads all */
        struct stat st;
        for (uint32_t i = 0; rank == 0 && i < j->n_paths; i++)
            sum += stat(j->paths[i], &st) == 0 ? (uint64_t)st.st_size : 0;
        return sum;
    }
    const dl_cut from = j->parts.cuts[first_part(j, rank)], to = j->parts.cuts[first_part(j, rank + 1)];
    for (uint32_t file = from.file; file < j->n_paths && file <= to.file; file++) {
        const uint64_t begin = file == from.file ? from.at : 0,
                       end = file == to.file ? to.at : j->parts.sizes[file];
        sum += end - begin;
    }
    return sum;
}

/* --stats: a line for each rank. */
static void tell_stats(job *j)
{
    struct rusage used;
    dl_str mine = {0}, *all = calloc((size_t)j->r->n, sizeof *all);
    if (!all) team_die(j->r, "out of memory");
    getrusage(RUSAGE_SELF, &used);
    dl_str_fmt(&mine,
               "rank %d: %u parts, %llu bytes read, %llu sent, %llu received, %.2f s of processor "
               "time, %.2f s of that in MPI, %ld MiB\n",
               j->r->rank, first_part(j, j->r->rank + 1) - first_part(j, j->r->rank),
               (unsigned long long)bytes_of_parts(j, j->r->rank), (unsigned long long)j->r->sent,
               (unsigned long long)j->r->received,
               (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                   1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec),
               1e-9 * (double)j->r->in_mpi, used.ru_maxrss / 1024);
    if (mine.failed) team_die(j->r, "out of memory");
    team_collect(j->r, &mine, all);
    for (int i = 0; i < j->r->n; i++) {
        if (j->r->rank == 0) fprintf(stderr, "devlog-mpi decode: %s", all[i].text);
        dl_str_free(&all[i]);
    }
    dl_str_free(&mine);
    free(all);
}

/* Rank 0, when it has all of it. */
static devlog_status report(job *j, int *exit_status, devlog_error *err)
{
    devlog_status status = join(j, err);
    dl_decode *d = j->pieces[0].decode;
    if (!status && j->again)
        fprintf(stderr, "devlog-mpi decode: %u of %u parts were decoded again, one behind the other: %s\n",
                j->again, j->parts.n, j->why);
    if (!status) status = dl_decode_finish(d, err);
    if (!status && j->n_kept) status = far_begin(&j->far, d, err);
    if (!status) status = print(j, err);
    if (!status && dl_losses_or_violations(dl_decode_losses(d))) *exit_status = CLI_PARTIAL;
    return status;
}

/* What all ranks do, and know. */
static int work(job *j)
{
    devlog_error err = {0};
    int exit_status = CLI_OK;
    const bool whole = j->parts.n == 1;
    const char *tmp = dl_setting_text(DL_SET_TMPDIR);
    j->how = (dl_decode_options){
        .threads = whole ? 0 : 1, .only_input = whole && j->n_paths == 1, .scratch = tmp ? tmp : "/tmp"};
    j->pieces = calloc((size_t)j->parts.n + 1, sizeof *j->pieces);
    devlog_status status = j->pieces ? DEVLOG_OK : no_memory(&err);
    if (!status && !whole) status = decode_parts(j, &err);
    if (!status && whole && j->r->rank == 0) status = decode_whole(j, &err);
    if (!status && !whole && j->r->n > 1) status = leave_samples(j, &err);
    if (team_agree(j->r, status, &err)) return CLI_FAILED;
    j->far.r = j->r;
    for (uint32_t i = 0; i < j->n_kept; i++)
        far_keep(&j->far, j->kept[i].decode, j->kept[i].first, j->kept[i].n);
    merge(j);
    if (j->r->rank) {
        far_serve(&j->far);
        return CLI_OK;
    }
    status = report(j, &exit_status, &err);
    if (j->r->n > 1) far_end(&j->far);
    if (!status) return exit_status;
    fprintf(stderr, "devlog-mpi decode: %s\n", err.text);
    return CLI_FAILED;
}

/* Rank 0 reads the command line, whose mistakes are told once. */
static bool begin(job *j, int argc, char **argv, int *exit_status)
{
    devlog_error err = {0};
    cli_mpi_decode *a = &j->a;
    *a = (cli_mpi_decode){
        .print = true, .defaults = true, .max_launches = 20, .top = 50, .least = DL_PARTS_LEAST};
    if (!cli_parse(&cmd_mpi_decode, argc, argv, a, &j->rest, exit_status)) return false;
    const bool by_launch = decode_wants_runs(a->format) || (a->print && a->max_launches);
    j->leaves = by_launch ? DL_WIRE_LAUNCHES : DL_WIRE_TOTALS;
    if (read_analyses(j, &err) == DEVLOG_OK && plan(j, &err) == DEVLOG_OK) return true;
    fprintf(stderr, "devlog-mpi decode: %s\n", err.text);
    *exit_status = CLI_FAILED;
    return false;
}

int mpi_decode(team *r, int argc, char **argv)
{
    job j = {.r = r};
    dl_str said = {0};
    devlog_error err = {0};
    int exit_status = CLI_OK;
    bool goes = r->rank == 0 && begin(&j, argc, argv, &exit_status), stats;
    devlog_status status = r->rank == 0 ? tell(&j, goes, &said, &err) : DEVLOG_OK;
    if (status) team_die(r, err.text);
    if (r->n > 1) {
        team_tell(r, &said);
        if (r->rank) status = listen(&j, &said, &goes, &err);
        if (status) team_die(r, err.text);
    }
    if (goes) exit_status = work(&j);
    stats = goes && team_worst(r, j.a.stats && exit_status != CLI_FAILED);
    if (stats) tell_stats(&j);
    for (uint32_t i = 0; i < j.n; i++)
        dl_decode_free(j.pieces[i].decode);
    for (uint32_t i = 0; i < j.n_kept; i++)
        dl_decode_free(j.kept[i].decode);
    free(j.pieces);
    free(j.kept);
    far_free(&j.far);
    dl_parts_free(&j.parts);
    dl_analyses_free(&j.list);
    dl_str_free(&j.own);
    if (r->rank) free(j.paths);
    free(j.names);
    cli_args_free(&j.rest);
    dl_str_free(&said);
    return exit_status;
}
