/* Bench of captures: records per second from the file to statistics, medians and files, beside reading and
 * unpacking alone. Of a capture of zones only whose names are not known, and of one with an ELF file, measured
 * costs of markers, and records of other kinds. One thread, the least CPU time of some rounds; and wall time on
 * one thread and on two.
 *
 *     capture [RECORDS]               measures captures of so many records (20,000,000)
 *     capture generate FOLDER RECORDS writes FOLDER/zones and FOLDER/named, folders with a capture each
 *     capture STEP FILE               does one step once, to count its instructions: names in the table below */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "decode/analysis/groups.h"
#include "decode/capture/capture.h"
#include "program/compile.h"

enum { PER_RISC = 1000, RISCS = 5, CORES = 16, MOST_WORDS = 3 * (PER_RISC + 50), ROUNDS = 3 };

static devlog_error err;

static void must(devlog_status status)
{
    if (status == DEVLOG_OK) return;
    fprintf(stderr, "bench: %s\n", err.text);
    exit(1);
}

static double now(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double cpu(void)
{
    return now(CLOCK_PROCESS_CPUTIME_ID);
}

static uint32_t chance(uint32_t below)
{
    static uint32_t random = 1;
    random = random * 1664525 + 1013904223;
    return (random >> 16) * below >> 16;
}

static uint32_t *put(uint32_t *w, uint32_t code, uint64_t time)
{
    w[0] = ((uint32_t)(time >> 32) << 12) + (code & 0x800 ? code - 0x1000u : code);
    w[1] = (uint32_t)time;
    return w + 2;
}

/* A kernel's loop: zones by number, each with its end, in the order in which they come; some other records.
 */
enum { START, END, COMPLETE, EVENT, VALUE, BODY };
static const struct {
    uint8_t what, zone;
} simple[] = {{START, 0}, {START, 1}, {END, 1},   {END, 0},   {START, 2}, {START, 3},
              {END, 3},   {END, 2},   {START, 4}, {START, 5}, {END, 5},   {END, 4}},
  mixed[] = {{START, 0}, {START, 1}, {END, 1}, {END, 0},      {START, 2}, {BODY, 3},  {END, 2},
             {START, 4}, {START, 5}, {END, 5}, {COMPLETE, 0}, {END, 4},   {VALUE, 0}, {EVENT, 0}};

static uint32_t *put_one(uint32_t *w, uint32_t what, uint32_t zone, uint64_t *time)
{
    *time += 40 + chance(256);
    switch (what) {
    case START: return put(w, DEVLOG_CODE_ZONE + 2 * zone, *time);
    case END: return put(w, DEVLOG_CODE_ZONE + 2 * zone + 1, *time);
    case EVENT: return put(w, DEVLOG_CODE_EVENT, *time);
    case COMPLETE: w = put(w, DEVLOG_CODE_COMPLETE, *time); break;
    default: w = put(w, DEVLOG_CODE_VALUE32, *time); break;
    }
    *w = what == COMPLETE ? (uint32_t)*time - chance(40) : chance(4096);
    return w + 1;
}

/* The records of one RISC and launch; returns their words. */
static uint32_t records_of(uint32_t *words, bool is_mixed, uint64_t *time)
{
    uint32_t *w = words;
    size_t n = is_mixed ? sizeof mixed / sizeof mixed[0] : sizeof simple / sizeof simple[0];
    for (uint32_t done = 0; done < PER_RISC;) {
        for (size_t i = 0; i < n; i++) {
            uint32_t what = is_mixed ? mixed[i].what : simple[i].what;
            uint32_t zone = is_mixed ? mixed[i].zone : simple[i].zone;
            /* The inner loop of the body goes round once to three times. */
            for (uint32_t rounds = what == BODY ? 1 + chance(3) : 0; rounds; rounds--, done += 2) {
                w = put_one(w, START, zone, time);
                w = put_one(w, END, zone, time);
            }
            if (what == BODY) continue;
            w = put_one(w, what, zone, time);
            done++;
        }
    }
    return (uint32_t)(w - words);
}

/* 16 cores of five RISCs, launch after launch. */
static void generate(const char *folder, uint64_t records, const dl_capture_elf *elf)
{
    static const char *const names[RISCS] = {"BRISC", "NCRISC", "TRISC0", "TRISC1", "TRISC2"};
    dl_capture *c;
    must(dl_capture_open(&c, folder, DL_CAPTURE_NAME, false, &err));
    const dl_capture_chip chip = {.freq_khz = 1000000, .max_cores = CORES, .arch = "wormhole_b0"};
    must(dl_capture_put_chip(c, &chip, &err));
    if (elf) must(dl_capture_put_elf(c, elf, &err));
    uint64_t time = 1000000, done = 0;
    for (uint32_t launch = 1; done < records; launch++) {
        for (uint16_t core = 0; core < CORES; core++) {
            dl_capture_risc riscs[RISCS];
            static uint32_t words[RISCS][MOST_WORDS];
            record_span spans[RISCS];
            for (uint32_t r = 0; r < RISCS; r++) {
                uint64_t at = time + 200;
                uint32_t n = records_of(words[r], elf != NULL, &at);
                spans[r] = (record_span){words[r], n};
                riscs[r] = (dl_capture_risc){.name = names[r],
                                             .index = r,
                                             .elf = elf ? elf->number : 0,
                                             .spans = &spans[r],
                                             .n_spans = 1};
                devlog_control *k = &riscs[r].control;
                k->launch = launch;
                k->marks = 15;
                for (int kind = 0; elf && kind < 10; kind++)
                    k->cost[kind] = 12 * 16;
                const uint64_t marks[4] = {time, time + 100, at + 100, at + 200};
                for (int m = 0; m < 4; m++) {
                    k->stamps[2 * m] = (uint32_t)marks[m];
                    k->stamps[2 * m + 1] = (uint32_t)(marks[m] >> 32);
                }
            }
            const dl_capture_core core_of = {
                .x = core % 4, .y = core / 4, .n_riscs = RISCS, .riscs = riscs, .events_from = time};
            must(dl_capture_put_core(c, &core_of, &err));
            done += PER_RISC * RISCS;
        }
        must(dl_capture_commit(c, &err));
        time += 400000;
    }
    must(dl_capture_put_end(c, 0, &err));
    must(dl_capture_commit(c, &err));
    dl_capture_close(c);
}

static devlog_status count_words(void *ctx, const dl_capture_core *core, devlog_error *e)
{
    uint64_t *words = ctx;
    (void)e;
    for (uint32_t r = 0; r < core->n_riscs; r++)
        for (uint32_t s = 0; s < core->riscs[r].n_spans; s++)
            *words += core->riscs[r].spans[s].n;
    return DEVLOG_OK;
}

typedef struct decoding {
    uint64_t records, sum;
    record_losses losses;
} decoding;

static devlog_status count_event(void *ctx, const record_event *event, devlog_error *e)
{
    decoding *d = ctx;
    (void)e;
    d->records++;
    d->sum += event->time;
    return DEVLOG_OK;
}

static devlog_status decode_core(void *ctx, const dl_capture_core *core, devlog_error *e)
{
    decoding *d = ctx;
    for (uint32_t r = 0; r < core->n_riscs; r++) {
        const record_input in = {.spans = core->riscs[r].spans, .n_spans = core->riscs[r].n_spans};
        devlog_status status = records_decode(&in, count_event, d, &d->losses, e);
        if (status) return status;
    }
    return DEVLOG_OK;
}

/* Reads once; returns how long it took. */
static double read_with(const char *path, const dl_capture_sink *sink)
{
    double start = cpu();
    dl_input *in;
    dl_capture_state state;
    must(dl_input_open(&in, path, &err));
    must(dl_capture_read(in, sink, false, &state, &err));
    dl_input_close(in);
    return cpu() - start;
}

static void line(const char *name, double seconds, uint64_t records)
{
    printf("  %-46s %8.3f s %8.1f M records/s %7.1f ns each\n", name, seconds,
           (double)records / seconds / 1e6, seconds * 1e9 / (double)records);
}

static devlog_status take_runs(void *ctx, const dl_run *runs, size_t n, devlog_error *e)
{
    (void)e;
    for (size_t i = 0; i < n; i++)
        *(uint64_t *)ctx += runs[i].n_events;
    return DEVLOG_OK;
}

/* Everything that `devlog decode` does before it prints. Returns how long it took by `clock`. */
static double decode(const char *path, bool samples, bool events, unsigned threads, clockid_t clock)
{
    dl_decode *d;
    dl_groups groups;
    uint64_t n_events = 0;
    const dl_decode_options options = {.no_samples = !samples, .threads = threads};
    double start = now(clock);
    must(dl_decode_new(&d, &options, &err));
    if (events)
        must(dl_decode_run_sink(
            d, (dl_run_sink){.ctx = &n_events, .wants = DL_WANT_EVENTS | DL_WANT_MARKS, .runs = take_runs},
            &err));
    must(dl_decode_file(d, path, &err));
    must(dl_decode_finish(d, &err));
    must(dl_groups_by_risc(d, &groups, &err));
    double seconds = now(clock) - start;
    const dl_losses *l = dl_decode_losses(d);
    if (l->found[DL_FOUND_UNPAIRED_START] || l->found[DL_FOUND_UNPAIRED_END] || l->found[DL_FOUND_CORRUPT])
        printf("  something was lost!\n");
    dl_groups_free(&groups);
    dl_decode_free(d);
    return seconds;
}

static double least(double a, double b)
{
    return a < b ? a : b;
}

/* ---- Steps ------------------------------------------------------------------------------------------------ */

static uint64_t n_words;
static decoding decoded;
static char program[4096], out_folder[64]; /* devlog, and where it puts files */

static double unpack(const char *path)
{
    return read_with(path, &(dl_capture_sink){.ctx = &n_words, .core = count_words});
}

static double records(const char *path)
{
    decoded = (decoding){0};
    return read_with(path, &(dl_capture_sink){.ctx = &decoded, .core = decode_core});
}

static double statistics(const char *path)
{
    return decode(path, false, false, 1, CLOCK_PROCESS_CPUTIME_ID);
}

static double medians(const char *path)
{
    return decode(path, true, false, 1, CLOCK_PROCESS_CPUTIME_ID);
}

static double events(const char *path)
{
    return decode(path, true, true, 1, CLOCK_PROCESS_CPUTIME_ID);
}

/* What `devlog decode` takes altogether, with what it writes. */
static double with_files(const char *path, const char *option)
{
    struct rusage before, after;
    getrusage(RUSAGE_CHILDREN, &before);
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
        cpu_set_t one; /* and so one thread: two wait for each other with loops */
        CPU_ZERO(&one);
        const int here = sched_getcpu();
        CPU_SET(here > 0 ? (size_t)here : 0, &one);
        sched_setaffinity(0, sizeof one, &one);
        if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr)) _exit(1);
        execl(program, program, "decode", "-o", out_folder, path, option, (char *)NULL);
        _exit(127);
    }
    int status = 0;
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status) || WEXITSTATUS(status) > 3) {
        fprintf(stderr, "bench: %s decode %s fails\n", program, path);
        exit(1);
    }
    getrusage(RUSAGE_CHILDREN, &after);
    const struct timeval *from[2] = {&before.ru_utime, &before.ru_stime},
                         *to[2] = {&after.ru_utime, &after.ru_stime};
    double seconds = 0;
    for (int i = 0; i < 2; i++)
        seconds +=
            (double)(to[i]->tv_sec - from[i]->tv_sec) + (double)(to[i]->tv_usec - from[i]->tv_usec) * 1e-6;
    return seconds;
}

static double all_files(const char *path)
{
    return with_files(path, NULL);
}

static double no_page(const char *path)
{
    return with_files(path, "--no-page");
}

static double one_thread(const char *path)
{
    return decode(path, true, false, 1, CLOCK_MONOTONIC);
}

static double two_threads(const char *path)
{
    return decode(path, true, false, 2, CLOCK_MONOTONIC);
}

static const struct {
    const char *name, *says;
    double (*takes)(const char *path);
} steps[] = {
    {"unpack", "reading and unpacking", unpack},
    {"records", "  + records, one by one", records},
    {"statistics", "devlog decode: zones and sums", statistics},
    {"medians", "devlog decode, with exact medians", medians},
    {"events", "  and with a consumer of every event and mark", events},
    {"no-page", "devlog decode, all files but the page", no_page},
    {"files", "devlog decode, all files", all_files},
    {"one", "with medians, wall time, one thread", one_thread},
    {"two", "with medians, wall time, two threads", two_threads},
};

enum { STEPS = sizeof steps / sizeof steps[0] };

/* In a process of its own, as users run it: what the steps before left of the heap changes how long memory takes. */
static double alone(double (*takes)(const char *path), const char *path)
{
    int ends[2], status = 0;
    double seconds = 0;
    fflush(NULL);
    if (pipe(ends) != 0) exit(1);
    const pid_t child = fork();
    if (child == 0) {
        seconds = takes(path);
        fflush(NULL);
        _exit(write(ends[1], &seconds, sizeof seconds) == sizeof seconds ? 0 : 1);
    }
    close(ends[1]);
    const bool told = child > 0 && read(ends[0], &seconds, sizeof seconds) == sizeof seconds;
    close(ends[0]);
    if (!told || waitpid(child, &status, 0) != child || status) {
        fprintf(stderr, "bench: a step fails\n");
        exit(1);
    }
    return seconds;
}

static void measure(const char *folder, const char *title, uint64_t wanted, const dl_capture_elf *elf)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, DL_CAPTURE_NAME);
    double start = cpu(), best[STEPS];
    generate(folder, wanted, elf);
    double seconds = cpu() - start;
    records(path);
    const uint64_t n = decoded.records;
    struct stat st;
    if (stat(path, &st) != 0) exit(1);
    printf("%s: %.2f bytes a record\n", title, (double)st.st_size / (double)n);
    line("generating and writing", seconds, n);
    for (int i = 0; i < STEPS; i++)
        best[i] = 1e9;
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < STEPS; i++)
            best[i] = least(best[i], alone(steps[i].takes, path));
    for (int i = 0; i < STEPS; i++)
        line(steps[i].says, best[i], n);
    printf("  against reading and unpacking:");
    for (int i = 1; i < STEPS - 2; i++)
        printf(" %s %.2f%s", steps[i].name, best[i] / best[0], i < STEPS - 3 ? "," : "\n");
    printf("  two threads: %.2f times as fast as one\n", best[STEPS - 2] / best[STEPS - 1]);
    unlink(path);
}

int main(int argc, char **argv)
{
    char folder[256] = "/tmp/devlog-bench-XXXXXX", kept[300];
    uint64_t n = 20000000;
    const char *slash = strrchr(argv[0], '/');
    snprintf(program, sizeof program, "%.*s/devlog", slash ? (int)(slash - argv[0]) : 1,
             slash ? argv[0] : ".");
    snprintf(out_folder, sizeof out_folder, "/tmp/devlog-bench-%ld", (long)getpid());
    for (size_t i = 0; argc == 3 && i < STEPS; i++) {
        if (strcmp(argv[1], steps[i].name) != 0) continue;
        line(steps[i].says, steps[i].takes(argv[2]), 1);
        return 0;
    }
    const bool keep = argc == 4 && strcmp(argv[1], "generate") == 0;
    if (argc > 1) n = strtoull(argv[argc - 1], NULL, 10);
    if (n == 0 || (argc > 2 && !keep)) {
        fprintf(stderr, "usage: %s [RECORDS] | generate FOLDER RECORDS | STEP FILE\n", argv[0]);
        return 2;
    }
    if (keep)
        snprintf(folder, sizeof folder, "%s", argv[2]);
    else if (!mkdtemp(folder))
        return 1;
    snprintf(kept, sizeof kept, "%s/zones", folder);
    if (keep)
        generate(kept, n, NULL);
    else
        measure(folder, "nested zones without names", n, NULL);

    static board b;
    const char *home = getenv("DEVLOG_HOME");
    char source[4096], path[COMPILE_PATH];
    dl_elf elf = {0};
    snprintf(source, sizeof source, "%s/bench/capture/kernels/body.c", home ? home : ".");
    const compile_job job = {.board = &b, .profile = true, .source = source};
    if (board_load("wormhole_b0", &b, &err) == DEVLOG_OK && compile(&job, path, &err) == DEVLOG_OK &&
        dl_elf_read(path, &elf, &err) == DEVLOG_OK) {
        const dl_capture_elf named = {.number = 1,
                                      .path = path,
                                      .source = source,
                                      .build_id = elf.build_id,
                                      .build_id_size = elf.build_id_size};
        snprintf(kept, sizeof kept, "%s/named", folder);
        if (keep)
            generate(kept, n, &named);
        else
            measure(folder, "zones, complete zones, events, values, with names and costs", n, &named);
        dl_elf_free(&elf);
    } else {
        printf("(not measured with names: %s)\n", err.text);
    }
    if (keep) return 0;
    struct rusage usage;
    getrusage(RUSAGE_CHILDREN, &usage);
    printf("peak memory %ld KiB\n", usage.ru_maxrss);
    rmdir(folder);
    return 0;
}
