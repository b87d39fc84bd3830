/* devlog-mpi decode: device logs in parts, each decoded by a rank, put together in a tree. What rank 0 prints is what one process
 * prints (decode/parts/parts.h says how that is exact). */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/settings.h"
#include "cli/cli.h"
#include "cli/decode_print.h"
#include "decode/wire.h"
#include "decode_job.h"
#include "mpi_commands.h"

typedef decode_job job;
typedef decode_piece piece;

static devlog_status new_decode(const job *j, dl_decode **d, devlog_error *err)
{
    devlog_status status = dl_decode_new(d, &j->how, err);
    if (!status) status = dl_parts_prepare(&j->parts, *d, err);
    return status ? status : dl_parts_collect(*d, j->list.n ? &j->list : NULL, j->stamps, err);
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

static void free_piece(piece *p)
{
    dl_decode_free(p->decode);
    dl_str_free(&p->bytes);
    *p = (piece){0};
}

uint32_t decode_first_part(const job *j, int rank)
{
    const uint64_t n_ranks = (uint64_t)j->r->n;
    return (uint32_t)((j->parts.n * (uint64_t)rank + n_ranks - 1) / n_ranks);
}

/* Bytes of a file up to this place of its text: of a packed one its share. */
static uint64_t in_file(const job *j, uint32_t file, uint64_t at)
{
    const uint64_t size = j->parts.sizes[file], stored = j->parts.stored[file];
    return size == stored ? at : (uint64_t)((double)at / (double)size * (double)stored);
}

/* Bytes of the inputs in parts [first, end). */
static uint64_t bytes_between(const job *j, uint32_t first, uint32_t end_part)
{
    uint64_t sum = 0;
    const dl_cut from = j->parts.cuts[first], to = j->parts.cuts[end_part];
    for (uint32_t file = from.file; file < j->n_paths && file <= to.file; file++) {
        const uint64_t begin = file == from.file ? from.at : 0,
                       end = file == to.file ? to.at : j->parts.sizes[file];
        sum += in_file(j, file, end) - in_file(j, file, begin);
    }
    return sum;
}

/* A part is decoded, and kept if that is wanted. */
static devlog_status decode_part(job *j, uint32_t i, dl_decode *d, devlog_error *err)
{
    devlog_status status =
        dl_parts_unchanged(&j->parts, i, err); /* a packed log that grows has no index where it was */
    if (!status) status = dl_parts_decode(&j->parts, i, d, err);
    if (!status) status = dl_parts_unchanged(&j->parts, i, err);
    devlog_error unkept;
    if (!status && j->kept_files.folder && kept_write(&j->kept_files, &j->parts, i, d, &unkept))
        fprintf(stderr, "devlog-mpi decode: rank %d: %s: its parts are not kept from part %u on\n",
                j->r->rank, unkept.text, i);
    return status;
}

/* The parts of this rank. */
static devlog_status decode_parts(job *j, devlog_error *err)
{
    devlog_status status = DEVLOG_OK;
    const uint32_t end = decode_first_part(j, j->r->rank + 1);
    for (uint32_t i = decode_first_part(j, j->r->rank); i < end && !status; i++) {
        piece p = {.first = i, .n = 1};
        bool known = false;
        status = dl_parts_unchanged(&j->parts, i, err);
        if (!status) status = new_decode(j, &p.decode, err);
        if (!status && j->kept_files.folder) {
            known = kept_read(&j->kept_files, &j->parts, i, p.decode);
            if (known) j->bytes_kept += bytes_between(j, i, i + 1);
            if (!known) {
                dl_decode_free(p.decode);
                p.decode = NULL;
                status = new_decode(j, &p.decode, err);
            }
        }
        if (!status && !known) status = decode_part(j, i, p.decode, err);
        if (!status) status = add_piece(j, &p, err);
        dl_decode_free(p.decode);
    }
    return status;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* How long this process has run, or waited for a processor, in s; -1: the system does not say. */
static double ran(void)
{
    unsigned long long runs = 0, waits = 0;
    struct rusage used;
    FILE *f = fopen("/proc/self/schedstat", "r");
    const bool known = f && fscanf(f, "%llu %llu", &runs, &waits) == 2;
    if (f) fclose(f);
    getrusage(RUSAGE_SELF, &used);
    return known ? (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                       1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) + 1e-9 * (double)waits
                 : -1;
}

/* A rank that mostly waited for its files is told, with the cure. */
static void tell_slow_files(job *j)
{
    enum { LEAST = 2 /* s */ };
    char host[256] = "";
    dl_str mine = {0}, *all = calloc((size_t)j->r->n, sizeof *all);
    if (!all) team_die(j->r, "out of memory");
    gethostname(host, sizeof host - 1);
    const double bytes =
        (double)bytes_between(j, decode_first_part(j, j->r->rank), decode_first_part(j, j->r->rank + 1));
    if (j->waited > LEAST && j->waited > j->took / 2)
        dl_str_fmt(
            &mine,
            "rank %d on %s waited for its files for %.0f of %.0f s (%.1f MB/s): their file system is slow; copy them to a "
            "disk of that host, or pack them (devlog pack)",
            j->r->rank, host, j->waited, j->took, 1e-6 * bytes / j->took);
    if (mine.failed) team_die(j->r, "out of memory");
    team_collect(j->r, &mine, all);
    for (int i = 0; i < j->r->n; i++) {
        if (j->r->rank == 0 && all[i].len) fprintf(stderr, "devlog-mpi decode: %s\n", all[i].text);
        dl_str_free(&all[i]);
    }
    dl_str_free(&mine);
    free(all);
}

/* --resume: what was there, in one line. */
static void tell_kept(job *j)
{
    uint64_t sums[] = {j->kept_files.known, j->kept_files.damaged, j->kept_files.strange};
    team_sum(j->r, sums, 3);
    if (j->r->rank || !(sums[0] + sums[1] + sums[2])) return;
    fprintf(stderr, "devlog-mpi decode: %s: %llu of %u parts were there", j->kept_files.folder,
            (unsigned long long)sums[0], j->parts.n);
    if (sums[1]) fprintf(stderr, "; damaged, and decoded again: %llu", (unsigned long long)sums[1]);
    if (sums[2])
        fprintf(stderr, "; of other parts, inputs or another devlog-mpi, and decoded again: %llu",
                (unsigned long long)sums[2]);
    fputc('\n', stderr);
}

/* Ranks that others hand something to: every so manieth. */
enum { HANDED_TO = 8 };

/* What goes on to other ranks has names and totals only, but for what tables by launch are made of: durations stay here. */
static devlog_status leave_samples(job *j, devlog_error *err)
{
    devlog_status status = DEVLOG_OK;
    const bool hands_on_only = j->r->rank % HANDED_TO != 0;
    j->kept = calloc((size_t)j->n + 1, sizeof *j->kept);
    if (!j->kept) return decode_no_memory(err);
    for (uint32_t i = 0; i < j->n && !status; i++) {
        piece *p = &j->pieces[i], *kept = &j->kept[j->n_kept];
        devlog_error unheard;
        if (j->r->rank == 0 && i == 0 && !j->stamps) continue; /* the others come behind it as it is */
        *kept = *p;
        j->n_kept++;
        p->decode = NULL; /* what cannot be handed on is decoded again */
        if (j->stamps) dl_stamps_part(dl_parts_stamps_of(kept->decode), p->first);
        if (dl_parts_write(kept->decode, j->leaves, p->first, &p->bytes, &unheard)) {
            dl_str_free(&p->bytes);
            if (j->r->rank == 0 && i == 0) *p = j->kept[--j->n_kept];
            continue;
        }
        dl_parts_only_samples(kept->decode);
        if (hands_on_only) continue;
        status = new_decode(j, &p->decode, err);
        if (!status) status = dl_parts_read(p->decode, p->bytes.text, p->bytes.len, err);
        dl_str_free(&p->bytes);
    }
    return status;
}

/* What is one part. */
static devlog_status decode_whole(job *j, devlog_error *err)
{
    dl_decode *d;
    devlog_status status = new_decode(j, &d, err);
    if (status) return status;
    j->pieces[j->n++] = (piece){.decode = d, .n = 1};
    if (!j->parts.captures)
        status = dl_decode_prepare(d, j->paths, j->n_paths, err); /* of captures it knows all */
    for (uint32_t i = 0; i < j->n_paths && !status; i++)
        status = dl_decode_file(d, j->paths[i], err);
    return status;
}

/* ---- Putting together ----------------------------------------------------------------------------------- */

static void send_pieces(job *j, int to)
{
    dl_str head = {0};
    dl_wire w = {.out = &head};
    devlog_error err;
    dl_wire_u32(&w, &j->n);
    for (uint32_t i = 0; i < j->n; i++) {
        dl_wire_u32(&w, &j->pieces[i].first);
        dl_wire_u32(&w, &j->pieces[i].n);
    }
    if (head.failed) team_die(j->r, "out of memory for what is sent");
    team_send(j->r, to, head.text, head.len);
    for (uint32_t i = 0; i < j->n; i++) {
        piece *p = &j->pieces[i];
        if (p->decode && dl_parts_write(p->decode, DL_WIRE_ALL, 0, &p->bytes, &err) != DEVLOG_OK)
            dl_str_clear(&p->bytes); /* then again */
        if (p->bytes.failed) team_die(j->r, "out of memory for what is sent");
        team_send(j->r, to, p->bytes.text, p->bytes.len);
        free_piece(p);
    }
    j->n = 0;
    dl_str_free(&head);
}

static devlog_status read_piece(job *j, dl_wire *head, piece *p, devlog_error *err)
{
    const uint32_t next = j->n ? j->pieces[j->n - 1].first + j->pieces[j->n - 1].n : 0;
    dl_wire_below(head, &p->first, j->parts.n);
    dl_wire_below(head, &p->n, j->parts.n + 1);
    if (head->bad || p->n == 0 || p->first + p->n > j->parts.n || (j->n && p->first != next))
        return dl_fail(err, DEVLOG_ERR_FORMAT, "what another rank sent is damaged");
    if (!p->bytes.len) return DEVLOG_OK;
    devlog_status status = new_decode(j, &p->decode, err);
    return status ? status : dl_parts_read(p->decode, p->bytes.text, p->bytes.len, err);
}

static void receive_pieces(job *j, int from)
{
    dl_str said = {0};
    devlog_error err;
    uint32_t n = 0;
    team_receive(j->r, from, &said);
    dl_wire head = {.at = (const uint8_t *)said.text, .end = (const uint8_t *)said.text + said.len};
    dl_wire_below(&head, &n, j->parts.n + 1);
    devlog_status status =
        head.bad ? dl_fail(&err, DEVLOG_ERR_FORMAT, "what another rank sent is damaged") : DEVLOG_OK;
    for (uint32_t i = 0; i < n && !status; i++) {
        piece p = {0};
        team_receive(j->r, from, &p.bytes);
        status = read_piece(j, &head, &p, &err);
        dl_str_free(&p.bytes);
        if (!status) status = add_piece(j, &p, &err);
        free_piece(&p);
    }
    if (status) team_die(j->r, err.text);
    dl_str_free(&said);
}

/* Every rank hands what it has to the first of eight, in the order of the parts, those to the first of sixty-four, ... until rank 0 has all.
 * What is handed on is written and read once on each level: with eight there are few. */
static void merge(job *j)
{
    const int rank = j->r->rank, n = j->r->n;
    for (int step = 1; step < n; step *= HANDED_TO) {
        const int place = rank / step % HANDED_TO;
        if (place) {
            send_pieces(j, rank - place * step);
            return;
        }
        for (int i = 1; i < HANDED_TO && rank + i * step < n; i++)
            receive_pieces(j, rank + i * step);
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

/* Files, if any are wanted, and what is printed, whatever has happened to them. */
static devlog_status show(job *j, devlog_error *err)
{
    dl_decode *d = j->pieces[0].decode;
    const dl_analysis_list none = {0};
    dl_analyzer *own = dl_parts_analyzer_of(d), *made = NULL;
    dl_artifacts *set = NULL;
    devlog_status written = DEVLOG_OK;
    devlog_status status = dl_losses_no_rows(dl_decode_losses(d), j->paths[0], j->n_paths, err);
    if (!status && !own && j->a.format != DECODE_TEXT) status = dl_analyzer_new(&made, d, &none, err);
    dl_analyzer *analyzer = own ? own : made;
    if (!status && analyzer) status = dl_analyzer_finish(analyzer, err);
    if (!status && j->a.folder) status = decode_files(j, d, analyzer, &set, &written, err);
    const char *files[DL_ARTIFACT_KINDS + 2] = {NULL};
    for (size_t i = 0; set && i <= DL_ARTIFACT_KINDS; i++)
        files[i] = dl_artifacts_path(set, i);
    const decode_shown shown = {.format = j->a.format,
                                .sort = j->a.sort,
                                .tables = j->a.print,
                                .analyses = j->a.analyses != NULL,
                                .max_launches = j->a.max_launches,
                                .top = j->a.top,
                                .plain = true,
                                .analyzer = analyzer,
                                .files = files};
    devlog_error unheard;
    if (!status) status = decode_print(d, &shown, written ? &unheard : err);
    dl_artifacts_free(set);
    dl_analyzer_free(made);
    return written ? written : status;
}

/* What this rank has read. */
static uint64_t bytes_read(const job *j)
{
    const int rank = j->r->rank;
    if (j->parts.n > 1)
        return bytes_between(j, decode_first_part(j, rank), decode_first_part(j, rank + 1)) - j->bytes_kept;
    uint64_t sum = 0; /* the plan has no sizes then: rank 0 reads all */
    struct stat st;
    for (uint32_t i = 0; rank == 0 && i < j->n_paths; i++)
        sum += stat(j->paths[i], &st) == 0 ? (uint64_t)st.st_size : 0;
    return sum;
}

static uint64_t filed_by(const dl_decode *d)
{
    const dl_stamps *stamps = dl_parts_stamps_of(d);
    return dl_decode_samples_filed(d) + (stamps ? dl_stamps_filed(stamps) : 0);
}

/* Bytes of durations, and stamps, that this rank has put on its disk. */
static uint64_t bytes_filed(const job *j)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < j->n_kept; i++)
        sum += filed_by(j->kept[i].decode);
    for (uint32_t i = 0; i < j->n; i++)
        if (j->pieces[i].decode) sum += filed_by(j->pieces[i].decode);
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
               "rank %d: %u parts, %llu bytes read, %llu sent, %llu received, %.3f s of processor "
               "time, %.3f s of that in MPI, %ld MiB, %llu bytes of durations%s on the disk",
               j->r->rank, decode_first_part(j, j->r->rank + 1) - decode_first_part(j, j->r->rank),
               (unsigned long long)bytes_read(j), (unsigned long long)j->r->sent,
               (unsigned long long)j->r->received,
               (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                   1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec),
               1e-9 * (double)j->r->in_mpi, used.ru_maxrss / 1024, (unsigned long long)bytes_filed(j),
               j->stamps ? " and stamps" : "");
    if (j->stamps) dl_str_fmt(&mine, ", %llu bytes of files written", (unsigned long long)j->bytes_written);
    dl_str_char(&mine, '\n');
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
    if (!status && j->parts.n > 1 && j->r->n > 1) status = far_begin(&j->far, d, err);
    if (!status) status = show(j, err);
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
    devlog_status status = j->pieces ? DEVLOG_OK : decode_no_memory(&err);
    const double began = now(), before = ran();
    if (!status && !whole) status = decode_parts(j, &err);
    j->took = now() - began;
    j->waited = before < 0 ? 0 : j->took - (ran() - before);
    if (!status && whole && j->r->rank == 0) status = decode_whole(j, &err);
    if (!status && !whole && j->r->n > 1) status = leave_samples(j, &err);
    if (team_agree(j->r, status, &err)) return CLI_FAILED;
    if (j->kept_files.folder && !whole) tell_kept(j);
    if (!whole) tell_slow_files(j);
    j->far.r = j->r;
    j->far.hear = decode_hear_files;
    j->far.ctx = j;
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

int mpi_decode(team *r, int argc, char **argv)
{
    job j = {.r = r};
    dl_str said = {0};
    devlog_error err = {0};
    int exit_status = CLI_OK;
    bool goes = r->rank == 0 && decode_begin(&j, argc, argv, &exit_status), stats;
    devlog_status status = r->rank == 0 ? decode_tell(&j, goes, &said, &err) : DEVLOG_OK;
    if (status) team_die(r, err.text);
    if (r->n > 1) {
        team_tell(r, &said);
        if (r->rank) status = decode_listen(&j, &said, &goes, &err);
        if (status) team_die(r, err.text);
    }
    if (goes) exit_status = work(&j);
    stats = goes && team_worst(r, j.a.stats && exit_status != CLI_FAILED);
    if (stats) tell_stats(&j);
    for (uint32_t i = 0; i < j.n; i++)
        free_piece(&j.pieces[i]);
    for (uint32_t i = 0; i < j.n_kept; i++)
        dl_decode_free(j.kept[i].decode);
    free(j.pieces);
    free(j.kept);
    far_free(&j.far);
    dl_parts_free(&j.parts);
    dl_analyses_free(&j.list);
    dl_str_free(&j.own);
    dl_str_free(&j.kept_files.key);
    if (r->rank) free(j.paths);
    free(j.names);
    cli_args_free(&j.rest);
    dl_str_free(&said);
    return exit_status;
}
