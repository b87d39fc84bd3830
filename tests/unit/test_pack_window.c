/* A part of a packed log by its index: what is decoded of it is what is decoded of the whole log, and the rest is not
 * read. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>
#include <zstd.h>

#include "decode/analysis/groups.h"
#include "decode/decode.h"
#include "pack/follow.h"
#include "pack/frame.h"
#include "support/cli.h"
#include "support/files.h"
#include "support/logs.h"
#include "support/packed.h"
#include "support/random.h"
#include "tt_metal/job.h"

enum { CORES = 8, RISCS = 3, LAUNCHES = 600, DUMP = 200, BLOCK = 6000, FIRST_LOOKS = 640 * 1024 };

static const char *const riscs[RISCS] = {"BRISC", "NCRISC", "TRISC_0"};

/* Core by core and RISC by RISC, dump by dump, on two chips; zones of some launches are cut by losses. */
static void make_log(dl_str *log, uint64_t seed, bool ids, bool counters)
{
    dl_str_add(
        log,
        "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000, Max Compute Cores: 64\n"
        "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, run host "
        "ID, trace id, trace id counter, zone name, type, source line, source file, meta data\n");
    for (unsigned chip = 0; chip < 2; chip++)
        for (unsigned from = 0; from < LAUNCHES; from += DUMP)
            for (unsigned core = 0; core < CORES; core++)
                for (unsigned risc = 0; risc < RISCS; risc++)
                    for (unsigned i = from; i < from + DUMP; i++) {
                        const uint64_t start = 100000 + 5000ull * i + 10 * core + risc;
                        const unsigned id = ids ? 1024 + i : 0;
                        const uint64_t noise = test_random(&seed);
                        const char *rows[] = {"FW,ZONE_START",  "KERNEL,ZONE_START", "INNER,ZONE_START",
                                              "INNER,ZONE_END", "KERNEL,ZONE_END",   "FW,ZONE_END"};
                        if (counters && chip == 0 && core == 0 && risc == 0)
                            dl_str_fmt(log,
                                       "0,0,1,BRISC,9090,%llu,0,%u,,,,TS_DATA_16B,0,,{\"counter "
                                       "type\":\"FPU_COUNTER\";\"ref cnt\":%u;\"value\":%u}\n",
                                       (unsigned long long)start - 1, id, 4000 + i, 100 + i);
                        for (unsigned k = 0; k < 6; k++) {
                            if (noise % 997 == 3 && k == 4) continue; /* an end is lost */
                            const uint64_t at = start + 40 * k + noise % 30 + (k == 5 ? noise % 4500 : 0);
                            dl_str_fmt(log, "%u,%u,1,%s,%u,%llu,0,%u,,,%s-%s,%u,k.cc,\n", chip, core,
                                       riscs[risc], 7 + k, (unsigned long long)at, id, riscs[risc], rows[k],
                                       10 + (k < 3 ? k : 5 - k)); /* a zone ends where it began */
                        }
                    }
}

static uint64_t bytes_read_so_far(void)
{
    unsigned long long n = 0;
    FILE *f = fopen("/proc/self/io", "r");
    if (!f || fscanf(f, "rchar: %llu", &n) != 1) n = 0;
    if (f) fclose(f);
    return n;
}

typedef struct outcome {
    dl_str text;
    uint64_t blocks, blocks_read, bytes;
    bool lost;
} outcome;

/* Zones with their statistics, and launches that have some, as text. */
static void decoded(outcome *out, const char *path, const dl_filter *filter, unsigned threads)
{
    dl_decode *d;
    devlog_error err = {0};
    const dl_decode_options o = {.filter = *filter, .threads = threads, .only_input = true};
    const uint64_t before = bytes_read_so_far();
    *out = (outcome){.bytes = 0};
    assert_int_equal(dl_decode_new(&d, &o, &err), DEVLOG_OK);
    assert_int_equal(dl_decode_file(d, path, &err), DEVLOG_OK);
    assert_int_equal(dl_decode_finish(d, &err), DEVLOG_OK);
    out->bytes = bytes_read_so_far() - before;
    const dl_losses *l = dl_decode_losses(d);
    const dl_tables *t = dl_decode_tables(d);
    out->blocks = l->blocks;
    out->blocks_read = l->blocks_read;
    out->lost = dl_losses_any(l);
    for (size_t i = 0; i < dl_decode_n_keys(d); i++) {
        const dl_key *k = dl_decode_key(d, i);
        const dl_stream *s = &t->streams[k->stream];
        if (!k->count) continue;
        dl_str_fmt(&out->text, "%u %u %u %u %s: %llu %llu %llu %llu\n", t->chips[s->chip].id, s->core_y,
                   s->core_x, s->risc, dl_site_text(t, k->site), (unsigned long long)k->count,
                   (unsigned long long)k->sum, (unsigned long long)k->min, (unsigned long long)k->max);
    }
    dl_groups g;
    assert_int_equal(dl_groups_by_launch(d, 0, &g, &err), DEVLOG_OK);
    for (size_t i = 0; i < g.n; i++) {
        const dl_launch *launch = &dl_decode_launches(d)->items[g.items[i].launch];
        if (i && g.items[i].launch == g.items[i - 1].launch) continue;
        dl_str_fmt(&out->text, "launch %u %llu %u: %llu to %llu\n", t->chips[launch->chip].id,
                   (unsigned long long)launch->run_host_id, launch->trace_counter,
                   (unsigned long long)launch->first_fw_start, (unsigned long long)launch->last_fw_end);
    }
    dl_groups_free(&g);
    dl_decode_free(d);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Zones come in the order in which they were met. */
static const char *sorted_lines(dl_str *text)
{
    char *lines[8192];
    size_t n = 0;
    dl_str out = {0};
    for (char *at = text->len ? strtok(text->text, "\n") : NULL; at && n < 8192; at = strtok(NULL, "\n"))
        lines[n++] = at;
    assert_true(n < 8192);
    if (n) qsort(lines, n, sizeof lines[0], by_text);
    dl_str_add(&out, "");
    for (size_t i = 0; i < n; i++)
        dl_str_fmt(&out, "%s\n", lines[i]);
    dl_str_free(text);
    *text = out;
    return out.text ? out.text : "";
}

/* Returns how many zones there are. */
static size_t is_the_same(const char *what, const dl_filter *f, uint64_t most_blocks)
{
    size_t zones = 0;
    outcome whole, part;
    for (unsigned threads = 1; threads <= 2; threads++) {
        decoded(&whole, in_scratch("log.csv"), f, threads);
        decoded(&part, in_scratch("log.pack"), f, threads);
        const char *a = sorted_lines(&whole.text), *b = sorted_lines(&part.text);
        size_t line = 0;
        for (size_t k = 0; a[k] && a[k] == b[k]; k++)
            if (a[k] == '\n') line = k + 1;
        if (strcmp(a, b) != 0)
            fail_msg("%s: of the log %.*s, of its part %.*s", what, (int)strcspn(a + line, "\n"), a + line,
                     (int)strcspn(b + line, "\n"), b + line);
        if (part.lost && !whole.lost) fail_msg("%s: a loss that is none", what);
        if (most_blocks && (!part.blocks || part.blocks_read > most_blocks))
            fail_msg("%s: %llu of %llu blocks were read", what, (unsigned long long)part.blocks_read,
                     (unsigned long long)part.blocks);
        zones = whole.text.len;
        dl_str_free(&whole.text);
        dl_str_free(&part.text);
    }
    return zones;
}

static void pack_log(const dl_str *log)
{
    dl_str packed = {0};
    assert_int_equal(test_pack(log->text, log->len, BLOCK, 1, &packed), DEVLOG_OK);
    write_bytes(in_scratch("log.csv"), log->text, log->len);
    write_bytes(in_scratch("log.pack"), packed.text, packed.len);
    dl_str_free(&packed);
}

static void a_part_is_as_of_the_whole(void **state)
{
    (void)state;
    const unsigned cases = test_cases(40);
    unsigned full = 0;
    uint64_t seed = 5;
    dl_str log = {0};
    make_log(&log, 3, true, false);
    pack_log(&log);
    for (unsigned i = 0; i < cases; i++) {
        char what[120];
        const uint64_t first = 1024 + test_random(&seed) % LAUNCHES, n = test_random(&seed) % 30;
        const dl_filter_range launches = {first, first + n < 1024 + LAUNCHES ? first + n : 1023 + LAUNCHES};
        const uint64_t from = 100000 + test_random(&seed) % (5000 * LAUNCHES),
                       to = from + test_random(&seed) % 90000;
        const dl_filter_range chip = {1, 1};
        dl_filter f = {.n_chips = i % 5 == 0, .chips = &chip};
        if (i % 2) {
            f.launches = &launches;
            f.n_launches = 1;
        }
        if (i % 2 == 0 || i % 7 == 0) {
            f.from = from;
            f.to = to;
        }
        snprintf(what, sizeof what, "case %u: launches %llu-%llu, cycles %llu-%llu", i,
                 (unsigned long long)launches.low, (unsigned long long)launches.high,
                 (unsigned long long)f.from, (unsigned long long)f.to);
        full += is_the_same(what, &f, 0) > 0;
    }
    assert_true(full * 2 > cases); /* a window of time may be between two launches */
    /* Ids that the host's files name. */
    const dl_filter_id picked[] = {
        {1030, 0, DL_FILTER_ANY}, {1330, 0, DL_FILTER_ANY}, {1030, 1, DL_FILTER_ANY}};
    assert_true(is_the_same("picked", &(dl_filter){.picks = true, .picked = picked, .n_picked = 3}, 220));
    dl_str_free(&log);
}

/* In proportion to the window, by blocks and by the bytes that the process has read. */
static void the_rest_is_not_read(void **state)
{
    (void)state;
    dl_str log = {0};
    outcome all, part;
    make_log(&log, 4, true, false);
    pack_log(&log);
    const dl_filter_range launches = {1040, 1043};
    const dl_filter of_launches = {.launches = &launches, .n_launches = 1},
                    of_time = {.from = 150000, .to = 160000};
    decoded(&all, in_scratch("log.pack"), &(dl_filter){.n_cores = 0}, 1);
    assert_int_equal(all.blocks, 0);
    const dl_filter *const filters[] = {&of_launches, &of_time};
    for (int i = 0; i < 2; i++) {
        decoded(&part, in_scratch("log.pack"), filters[i], 1);
        /* 4 of 200 launches of a dump, one of three dumps: a block or two of each RISC of a core of each chip. */
        if (!part.blocks || part.blocks_read * 4 > part.blocks)
            fail_msg("%llu of %llu blocks", (unsigned long long)part.blocks_read,
                     (unsigned long long)part.blocks);
        /* The log's beginning is looked at, and the index read, whatever is wanted. */
        if (all.bytes && part.bytes > FIRST_LOOKS + all.bytes / 4)
            fail_msg("%llu bytes of %llu", (unsigned long long)part.bytes, (unsigned long long)all.bytes);
        dl_str_free(&part.text);
    }
    dl_str_free(&all.text);
    dl_str_free(&log);
}

static int by_stamp(const void *a, const void *b)
{
    const char *const *x = a, *const *y = b;
    const long long at = atoll(*x), other = atoll(*y);
    return (at > other) - (at < other);
}

/* In the order of time, as a log of many cores is that was sorted: some launches last longer than many blocks are, with nothing
 * between their beginning and their end. */
static void make_long_launches(dl_str *log, uint64_t *seed)
{
    enum { N = 2800 };
    static char rows[2 * N][160];
    char *order[2 * N];
    dl_str_add(
        log,
        "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000, Max Compute Cores: 64\n"
        "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, run host "
        "ID, trace id, trace id counter, zone name, type, source line, source file, meta data\n");
    uint64_t at[6] = {0};
    for (unsigned i = 0; i < N; i++) {
        const unsigned core = (unsigned)(test_random(seed) % 6);
        const bool traced = i % 3 == 0, is_long = test_random(seed) % 300 == 0;
        const uint64_t start = 1000 + 100 * i > at[core] ? 1000 + 100 * i : at[core],
                       end = start + 1 + test_random(seed) % (is_long ? 30000 : 90);
        char ids[40];
        if (traced)
            snprintf(ids, sizeof ids, "%u,1,%u", 5 + i / 3 % 4, 1 + i / 12);
        else
            snprintf(ids, sizeof ids, "%u,,", 1024 + i);
        at[core] = end + 1;
        for (unsigned k = 0; k < 2; k++) {
            order[2 * i + k] = rows[2 * i + k];
            snprintf(rows[2 * i + k], sizeof rows[0],
                     "%llu:%u,%u,1,BRISC,7,%llu,0,%s,BRISC-FW,ZONE_%s,10,k.cc,\n",
                     (unsigned long long)(k ? end : start), core % 2, core,
                     (unsigned long long)(k ? end : start), ids, k ? "END" : "START");
        }
    }
    qsort(order, sizeof order / sizeof *order, sizeof *order, by_stamp);
    for (unsigned i = 0; i < 2 * N; i++)
        dl_str_add(log, strchr(order[i], ':') + 1);
}

static void launches_longer_than_blocks(void **state)
{
    (void)state;
    uint64_t seed = 77;
    unsigned any = 0, fewer = 0;
    for (unsigned i = 0; i < 3; i++) {
        dl_str log = {0};
        make_long_launches(&log, &seed);
        pack_log(&log);
        for (unsigned k = 0; k < 8; k++) {
            const uint64_t from = 1000 + test_random(&seed) % 250000, to = from + test_random(&seed) % 2000;
            const dl_filter f = {.from = from, .to = k % 4 ? to : 0};
            char what[80];
            snprintf(what, sizeof what, "log %u, from %llu to %llu", i, (unsigned long long)f.from,
                     (unsigned long long)f.to);
            any += is_the_same(what, &f, 0) > 0;
            outcome part;
            decoded(&part, in_scratch("log.pack"), &f, 1);
            fewer += part.blocks > 2 * part.blocks_read;
            dl_str_free(&part.text);
        }
        dl_str_free(&log);
    }
    assert_true(any > 20 && fewer > 14);
}

/* Ops of the host, one for each launch of chip 0, and signposts between hundreds of them. */
static void make_host(void)
{
    dl_str data = {0}, times = {0};
    dl_str_add(&data, "MessageName;total_ns\n");
    dl_str_add(
        &times,
        "name,src_file,src_line,zone_name,zone_text,ns_since_start,exec_time_ns,thread,special_parent_text\n");
    for (unsigned i = 0; i < LAUNCHES; i++) {
        if (i % 100 == 50) dl_str_fmt(&data, "`TT_SIGNPOST: hundred %u`;%u\n", i / 100, 999 + 1000 * i);
        dl_str_fmt(
            &data,
            "`TT_DNN_DEVICE_OP: \"Op%u\", %u, 0, false, %u ->\n{\"op_code\":\"Op%u\",\"global_call_count\":%u,"
            "\"device_id\":0,\"attributes\":{}}`;%u\n",
            i / 4, i + 1, 1024 + i, i / 4, 1024 + i, 1000 * i + 1000);
        dl_str_fmt(&times, "TT_DNN_DEVICE_OP,x.cpp,1,,id:%u,%u,500,1,\n", 1024 + i, 1000 * i + 1000);
    }
    write_bytes(in_scratch("tt/tracy_ops_data.csv"), data.text, data.len);
    write_bytes(in_scratch("tt/tracy_ops_times.csv"), times.text, times.len);
    dl_str_free(&data);
    dl_str_free(&times);
}

/* The report of what is selected, its words, and how many blocks were read of how many. */
static void report_of(const char *log, const op_selection *s, dl_str *report, dl_str *words,
                      uint64_t blocks[2], uint64_t *bytes)
{
    devlog_error err = {0};
    tt_files files = {0};
    tt_job job;
    size_t n;
    char *device_log = strdup(in_scratch(log)), *out = strdup(in_scratch("out"));
    assert_true(tt_files_find(&files, in_scratch("tt")));
    const tt_job_options o = {
        .files = &files, .device_log = device_log, .output = out, .name = "report", .selection = s};
    const uint64_t before = bytes_read_so_far();
    if (tt_job_run(&job, &o, &err)) fail_msg("%s", err.text);
    *bytes = bytes_read_so_far() - before;
    const dl_losses *l = dl_decode_losses(job.execs.decode);
    blocks[0] = l->blocks_read;
    blocks[1] = l->blocks;
    tt_job_describe(&job, false, words);
    char *text = read_bytes(job.report_path, &n);
    dl_str_add_n(report, text, n);
    free(text);
    tt_job_free(&job);
    tt_files_free(&files);
    free(device_log);
    free(out);
}

/* But for the file's name. */
static void without_name(char *text, const char *name)
{
    for (char *at; (at = strstr(text, name)) != NULL;)
        memmove(at + 3, at + strlen(name), strlen(at + strlen(name)) + 1);
}

/* Of `most_bytes` percent of what the whole report reads. */
static void check_op_report(bool counters, unsigned most_bytes)
{
    dl_str log = {0};
    const dl_filter_range launches = {1040, 1043};
    const dl_filter_range chip = {
        0, 0}; /* launches of the other are of no op, and have their places by the log */
    static const char *const ops[] = {"Op30"};
    const op_selection of_launches =
                           {.filter = {.launches = &launches, .n_launches = 1, .chips = &chip, .n_chips = 1}},
                       of_op = {.host = {.ops = ops, .n_ops = 1}},
                       of_signposts = {.host = {.from = "hundred 3", .to = "hundred 4"}};
    const op_selection *const selections[] = {&of_launches, &of_op, &of_signposts};
    make_log(&log, 4, true, counters);
    assert_true(mkdir(in_scratch("tt"), 0755) == 0 || errno == EEXIST);
    make_host();
    pack_log(&log);
    dl_str of_whole = {0}, whole_words = {0};
    uint64_t unused[2], whole_bytes;
    report_of("log.pack", NULL, &of_whole, &whole_words, unused, &whole_bytes);
    dl_str_free(&of_whole);
    dl_str_free(&whole_words);
    for (size_t i = 0; i < sizeof selections / sizeof selections[0]; i++) {
        dl_str of_log = {0}, of_part = {0}, words = {0}, part_words = {0};
        uint64_t blocks[2], bytes, all_bytes;
        report_of("log.csv", selections[i], &of_log, &words, blocks, &all_bytes);
        assert_int_equal(blocks[1], 0);
        report_of("log.pack", selections[i], &of_part, &part_words, blocks, &bytes);
        if (!blocks[1] || blocks[0] * 4 > blocks[1])
            fail_msg("%llu of %llu blocks", (unsigned long long)blocks[0], (unsigned long long)blocks[1]);
        if (whole_bytes && bytes * 100 > whole_bytes * most_bytes)
            fail_msg("%llu bytes of %llu", (unsigned long long)bytes, (unsigned long long)whole_bytes);
        assert_string_equal(of_part.text, of_log.text);
        without_name(part_words.text, "log.pack");
        without_name(words.text, "log.csv");
        assert_string_equal(part_words.text, words.text);
        assert_null(strstr(words.text, "without device data"));
        assert_null(strstr(of_part.text, "no device data"));
        assert_int_equal(strstr(of_part.text, "FPU Util") != NULL, counters);
        dl_str_free(&of_log);
        dl_str_free(&of_part);
        dl_str_free(&words);
        dl_str_free(&part_words);
    }
    dl_str_free(&log);
}

/* The log is read twice, for launches and for counters; where what is selected has counters, all of the log is read for them. */
static void an_op_report_reads_its_part(void **state)
{
    (void)state;
    check_op_report(false, 66);
    check_op_report(true, 90);
}

/* The n-th cell of a line without quotes. */
static unsigned cell(const char *line, size_t n)
{
    for (; n && (line = strchr(line, ',')) != NULL; n--)
        line++;
    return line ? (unsigned)strtoul(line, NULL, 10) : 0;
}

static size_t column(const char *header, const char *name)
{
    size_t n = 0;
    const char *at = strstr(header, name);
    assert_true(at && at < strchr(header, '\n'));
    while (at-- > header)
        n += *at == ',';
    return n;
}

/* The lines of a report of all that are of a trace and of its replays, and the header. */
static void lines_of(const char *all, const dl_filter *f, dl_str *out)
{
    const size_t trace = column(all, "METAL TRACE ID"),
                 session = column(all, "METAL TRACE REPLAY SESSION ID");
    for (const char *line = all, *end; *line; line = end) {
        end = strchr(line, '\n') + 1;
        if (line == all || (cell(line, session) && dl_filter_in(f->traces, f->n_traces, cell(line, trace)) &&
                            dl_filter_in(f->sessions, f->n_sessions, cell(line, session))))
            dl_str_add_n(out, line, (size_t)(end - line));
    }
}

/* A trace of three launches is replayed behind each launch, and another one now and then. */
static void make_replays(dl_str *log)
{
    dl_str_add(
        log,
        "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000, Max Compute Cores: 64\n"
        "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, run host "
        "ID, trace id, trace id counter, zone name, type, source line, source file, meta data\n");
    for (unsigned from = 0; from < LAUNCHES; from += DUMP)
        for (unsigned core = 0; core < CORES; core++)
            for (unsigned risc = 0; risc < RISCS; risc++)
                for (unsigned i = from; i < from + DUMP; i++)
                    for (unsigned k = 0; k < 5; k++) {
                        char ids[40];
                        const uint64_t at = 100000 + 5000ull * i + 900 * k + 10 * core + risc;
                        if (k == 0) snprintf(ids, sizeof ids, "%u,,", 1024 + i);
                        if (k > 0 && k < 4) snprintf(ids, sizeof ids, "%u,1,%u", 4 + k, i + 1);
                        if (k == 4 && i % 40) continue;
                        if (k == 4) snprintf(ids, sizeof ids, "900000,2,%u", i / 40 + 1);
                        dl_str_fmt(log,
                                   "0,%u,1,%s,7,%llu,0,%s,%s-FW,ZONE_START,10,k.cc,\n"
                                   "0,%u,1,%s,7,%llu,0,%s,%s-FW,ZONE_END,10,k.cc,\n",
                                   core, riscs[risc], (unsigned long long)at, ids, riscs[risc], core,
                                   riscs[risc], (unsigned long long)at + 300 + i % 50, ids, riscs[risc]);
                    }
}

/* Ids of replays come in every block, and a window of other launches is read without the blocks that have none of it. */
static void replays_hide_nothing(void **state)
{
    (void)state;
    dl_str log = {0};
    const dl_filter_range one = {1140, 1143}, two[] = {{1030, 1031}, {1500, 1500}}, replayed = {6, 6},
                          seldom = {900000, 900000}, session = {3, 4}, sessions = {77, 79}, trace = {2, 2};
    const dl_filter_id picked[] = {{1030, 0, DL_FILTER_ANY}, {1330, 0, DL_FILTER_ANY}},
                       replay[] = {{6, 0, 77}, {1030, 0, DL_FILTER_ANY}};
    const dl_filter
        of_one = {.launches = &one, .n_launches = 1},
        of_two = {.launches = two, .n_launches = 2},
        of_picked = {.picks = true, .picked = picked, .n_picked = 2},
        of_seldom = {.launches = &seldom, .n_launches = 1},
        of_replayed = {.launches = &replayed, .n_launches = 1},
        of_replay = {.picks = true, .picked = replay, .n_picked = 2},
        of_session = {.launches = &seldom, .n_launches = 1, .sessions = &session, .n_sessions = 1},
        of_window = {.launches = &replayed, .n_launches = 1, .sessions = &sessions, .n_sessions = 1},
        of_sessions = {.sessions = &sessions, .n_sessions = 1}, of_trace = {.traces = &trace, .n_traces = 1},
        of_both = {.traces = &trace, .n_traces = 1, .sessions = &session, .n_sessions = 1};
    make_replays(&log);
    pack_log(&log);
    outcome part;
    decoded(&part, in_scratch("log.pack"), &of_one, 1);
    const uint64_t blocks = part.blocks;
    dl_str_free(&part.text);
    assert_true(blocks > 100);
    /* One of three dumps, and of it a block or two of each RISC of a core. */
    const uint64_t of_a_launch = 2 * CORES * RISCS + 2;
    assert_true(of_a_launch * 3 < blocks);
    assert_true(is_the_same("a launch between replays", &of_one, of_a_launch));
    assert_true(is_the_same("two windows", &of_two, 2 * of_a_launch));
    assert_true(is_the_same("picked", &of_picked, 2 * of_a_launch));
    assert_true(is_the_same("a trace that is seldom replayed", &of_seldom, blocks * 2 / 3));
    assert_true(is_the_same("some of its replays", &of_session, blocks * 2 / 3));
    assert_true(is_the_same("a trace that is replayed everywhere", &of_replayed, 0));
    assert_true(is_the_same("one replay", &of_replay, 2 * of_a_launch));
    assert_true(is_the_same("three replays of a launch", &of_window, of_a_launch));
    assert_true(is_the_same("three replays", &of_sessions, of_a_launch));
    assert_true(is_the_same("a trace", &of_trace, blocks * 2 / 3));
    assert_true(is_the_same("a trace and two of its replays", &of_both, blocks / 2));
    /* A launch that is not there, where the least and the greatest would let it be. */
    char *err;
    assert_int_equal(devlog("decode log.pack --launches 1030,5000 -f json", NULL, &err), 1);
    assert_non_null(strstr(err, "--launches 5000: no such launch"));
    free(err);
    dl_str_free(&log);
}

/* Replays, of which some rows say it in other words, or not at all: what is read is what would be read of all. */
static void odd_rows(dl_str *log, uint64_t *seed, unsigned kind)
{
    static const char *const instead[] = {", 1,%u,", ",1,,", ",01,%u,", ",1,0,", "0,1,%u,", ",,%u,"};
    dl_str out = {0};
    dl_str_add(&out, "");
    for (char *at = log->text, *end; *at; at = end) {
        end = strchr(at, '\n') + 1;
        char *ids = memmem(at, (size_t)(end - at), ",1,", 3);
        while (ids && !strchr("0123456789", ids[3]))
            ids = memmem(ids + 1, (size_t)(end - ids - 1), ",1,", 3);
        if (!ids || test_random(seed) % 50) {
            dl_str_add_n(&out, at, (size_t)(end - at));
            continue;
        }
        char other[32];
        snprintf(other, sizeof other, instead[kind - 1], (unsigned)strtoul(ids + 3, NULL, 10));
        dl_str_add_n(&out, at, (size_t)(ids - at));
        dl_str_add(&out, other);
        ids = strchr(ids + 3, ',') + 1;
        dl_str_add_n(&out, ids, (size_t)(end - ids));
    }
    dl_str_free(log);
    *log = out;
}

static void parts_of_replays(void **state)
{
    (void)state;
    uint64_t seed = 23;
    unsigned any = 0, fewer = 0;
    for (unsigned kind = 0; kind < 7; kind++) {
        dl_str log = {0};
        make_replays(&log);
        if (kind) odd_rows(&log, &seed, kind);
        pack_log(&log);
        for (unsigned i = kind % 4; i < 8; i += kind ? 4 : 1) {
            char what[80];
            const uint64_t a = test_random(&seed) % LAUNCHES, b = test_random(&seed) % 3,
                           one = test_random(&seed) % 4;
            const dl_filter_range launches = {one ? 4 + one : 1024 + a, one ? 4 + one : 1025 + a},
                                  sessions = {a, a + b}, traces = {1 + b % 2, 2};
            const dl_filter_id picked[] = {
                {5, 0, (uint32_t)a}, {6, 0, (uint32_t)a + 1}, {1024 + a, 0, DL_FILTER_ANY}};
            dl_filter f = {.n_launches = i & 1, .launches = &launches};
            f.sessions = &sessions;
            f.n_sessions = i >> 1 & 1;
            f.traces = &traces;
            f.n_traces = i >> 2 & 1;
            if (i == 0) f.picks = true, f.picked = picked, f.n_picked = 3;
            snprintf(what, sizeof what, "kind %u, case %u", kind, i);
            any += is_the_same(what, &f, 0) > 0;
            outcome part;
            decoded(&part, in_scratch("log.pack"), &f, 1);
            fewer += part.blocks > 0;
            dl_str_free(&part.text);
        }
        dl_str_free(&log);
    }
    assert_true(any > 6 && fewer > 6);
}

static void host_op(dl_str *data, dl_str *times, unsigned id, unsigned at)
{
    dl_str_fmt(
        data,
        "`TT_DNN_DEVICE_OP: \"Op%u\", %u, 0, false, %u ->\n{\"op_code\":\"Op%u\",\"global_call_count\":%u,"
        "\"device_id\":0,\"op_hash\":%u,\"attributes\":{}}`;%u\n",
        id % 7, id % 7 + 1, id, id % 7, id, id % 7 + 1, at);
    dl_str_fmt(times, "TT_DNN_DEVICE_OP,x.cpp,1,,id:%u,%u,50,1,\n", id, at);
}

/* The host of make_replays. */
static void make_replaying_host(void)
{
    dl_str data = {0}, times = {0};
    dl_str_add(&data, "MessageName;total_ns\n`TT_METAL_TRACE_BEGIN: 0, 1`;10\n");
    dl_str_add(
        &times,
        "name,src_file,src_line,zone_name,zone_text,ns_since_start,exec_time_ns,thread,special_parent_text\n");
    for (unsigned id = 5; id < 8; id++)
        host_op(&data, &times, id, 100 * id);
    dl_str_add(&data, "`TT_METAL_TRACE_END: 0, 1`;2000\n`TT_METAL_TRACE_BEGIN: 0, 2`;2010\n");
    host_op(&data, &times, 900000, 2100);
    dl_str_add(&data, "`TT_METAL_TRACE_END: 0, 2`;3000\n");
    for (unsigned i = 0; i < LAUNCHES; i++) {
        host_op(&data, &times, 1024 + i, 10000 + 1000 * i);
        dl_str_fmt(&data, "`TT_METAL_TRACE_REPLAY: 0, 1`;%u\n", 10300 + 1000 * i);
        if (i % 40 == 0) dl_str_fmt(&data, "`TT_METAL_TRACE_REPLAY: 0, 2`;%u\n", 10600 + 1000 * i);
    }
    write_bytes(in_scratch("tt/tracy_ops_data.csv"), data.text, data.len);
    write_bytes(in_scratch("tt/tracy_ops_times.csv"), times.text, times.len);
    dl_str_free(&data);
    dl_str_free(&times);
}

/* Of traces, or some of their replays, alone: what stands before them is of no trace, or of another one. */
static void an_op_report_of_replays(void **state)
{
    (void)state;
    uint64_t seed = 31;
    const dl_filter_range session = {3, 4}, sessions = {77, 79}, trace = {2, 2}, last = {590, 600},
                          none = {9, 9};
    const struct {
        const char *what;
        op_selection selection;
        unsigned most; /* percent of the blocks */
    } asked[] = {
        {"a trace", {.filter = {.traces = &trace, .n_traces = 1}}, 67},
        {"three replays", {.filter = {.sessions = &sessions, .n_sessions = 1}}, 25},
        {"a trace and two of its replays",
         {.filter = {.traces = &trace, .n_traces = 1, .sessions = &session, .n_sessions = 1}},
         50},
        {"the last replays", {.filter = {.sessions = &last, .n_sessions = 1}}, 25},
    };
    assert_true(mkdir(in_scratch("tt"), 0755) == 0 || errno == EEXIST);
    make_replaying_host();
    for (unsigned kind = 0; kind < 7; kind++) {
        dl_str log = {0};
        make_replays(&log);
        if (kind) odd_rows(&log, &seed, kind);
        pack_log(&log);
        dl_str whole = {0}, all_words = {0};
        uint64_t unused[2], all_bytes;
        report_of("log.csv", NULL, &whole, &all_words, unused, &all_bytes);
        for (size_t i = kind % 4; i < sizeof asked / sizeof asked[0]; i += kind ? 4 : 1) {
            uint64_t blocks[2], bytes;
            dl_str part = {0}, words = {0}, of_all = {0};
            report_of("log.pack", &asked[i].selection, &part, &words, blocks, &bytes);
            lines_of(whole.text, &asked[i].selection.filter, &of_all);
            if (strcmp(part.text, of_all.text) != 0)
                fail_msg("%s, kind %u: %s\nand not\n%s", asked[i].what, kind, part.text, of_all.text);
            dl_str_free(&part);
            dl_str_free(&words);
            dl_str_free(&of_all);
            if (kind == 0 && (!blocks[1] || blocks[0] * 100 > blocks[1] * asked[i].most))
                fail_msg("%s: %llu of %llu blocks", asked[i].what, (unsigned long long)blocks[0],
                         (unsigned long long)blocks[1]);
        }
        dl_str_free(&whole);
        dl_str_free(&all_words);
        dl_str_free(&log);
    }
    /* One that there is not: what there is, is told of all of the log. */
    const op_selection of_none = {.filter = {.traces = &none, .n_traces = 1}};
    devlog_error err = {0};
    tt_files files = {0};
    tt_job job;
    char *packed = strdup(in_scratch("log.pack")), *out = strdup(in_scratch("out"));
    assert_true(tt_files_find(&files, in_scratch("tt")));
    const tt_job_options o = {
        .files = &files, .device_log = packed, .output = out, .name = "report", .selection = &of_none};
    assert_int_equal(tt_job_run(&job, &o, &err), DEVLOG_ERR_NOT_FOUND);
    if (!strstr(err.text, "1-2") && !strstr(err.text, "1, 2")) fail_msg("%s", err.text);
    tt_job_free(&job);
    tt_files_free(&files);
    free(packed);
    free(out);
}

/* A run that goes on with a file tells the ids of the blocks that it finds. */
static void a_file_that_goes_on(void **state)
{
    (void)state;
    dl_str log = {0};
    devlog_error err = {0};
    pk_followed followed;
    const dl_filter_range one = {1140, 1143};
    const dl_filter of_one = {.launches = &one, .n_launches = 1};
    const pk_follow_options o = {.text = BLOCK};
    char *csv = strdup(in_scratch("log.csv")), *packed = strdup(in_scratch("log.pack"));
    make_replays(&log);
    unlink(packed);
    for (int part = 1; part <= 2; part++) {
        write_bytes(csv, log.text, part == 1 ? log.len * 2 / 3 : log.len);
        assert_int_equal(pk_follow(csv, packed, &o, &followed, &err), DEVLOG_OK);
    }
    assert_true(followed.before > 0);
    assert_true(is_the_same("a launch of the part that was there", &of_one, 2 * CORES * RISCS + 2));
    free(csv);
    free(packed);
    dl_str_free(&log);
}

/* The packed file with an index as it was written before it had ids (1), or told those of traces apart (2). */
enum { KNOWN_AT = 24 + 12 };

static void make_old(const uint8_t *bytes, size_t n, uint8_t version, dl_str *out)
{
    const size_t one = version == 1 ? PK_OLD_ENTRY_BYTES : PK_OLD_ENTRY_BYTES + PK_IDS_BYTES;
    uint8_t head[PK_HEADER_BYTES], end[PK_END_BYTES];
    pk_header h;
    const size_t end_at = n - PK_HEADER_BYTES - PK_END_BYTES;
    memcpy(end, bytes + end_at + PK_HEADER_BYTES, sizeof end);
    const uint64_t index_at = pk_get64(end + 32);
    assert_true(pk_header_get(bytes + index_at, &h) && h.kind == PK_INDEX && h.version == PK_INDEX_VERSION);
    uint8_t *entries = malloc(h.size), *old = malloc(h.size);
    assert_int_equal(ZSTD_decompress(entries, h.size, bytes + index_at + PK_HEADER_BYTES, h.stored), h.size);
    const size_t blocks = h.size / PK_ENTRY_BYTES;
    for (size_t i = 0; i < blocks; i++)
        memcpy(old + i * one, entries + i * PK_ENTRY_BYTES, one);
    for (size_t i = 0; i < blocks; i++)
        memset(old + i * one + KNOWN_AT, 0, 4);
    h.version = version;
    h.plain = true;
    h.size = h.stored = (uint32_t)(blocks * one);
    h.text_check = XXH64(old, h.size, 0);
    dl_str_add_n(out, (const char *)bytes, index_at);
    pk_header_put(head, &h, old);
    dl_str_add_n(out, (const char *)head, sizeof head);
    dl_str_add_n(out, (const char *)old, h.stored);
    dl_str_add_n(out, (const char *)bytes + end_at, n - end_at);
    free(entries);
    free(old);
}

/* Of these the least and the greatest id of a block are known. */
static void an_index_without_ids(void **state)
{
    (void)state;
    dl_str log = {0}, old = {0};
    size_t n;
    const dl_filter_range one = {1140, 1143};
    const dl_filter of_one = {.launches = &one, .n_launches = 1};
    for (int k = 0; k < 3; k++) {
        const bool replays = k == 1; /* of these an index of version 2 had ranges that one of now has not */
        log.len = old.len = 0;
        if (replays)
            make_replays(&log);
        else
            make_log(&log, 4, true, false);
        pack_log(&log);
        char *packed = read_bytes(in_scratch("log.pack"), &n);
        make_old((const uint8_t *)packed, n, k == 2 ? 2 : 1, &old);
        write_bytes(in_scratch("log.pack"), old.text, old.len);
        free(packed);
        assert_true(is_the_same("an old index", &of_one, replays ? 0 : 220));
        free(devlog_ok("unpack log.pack -o back.csv", 0));
        char *back = read_bytes(in_scratch("back.csv"), &n);
        assert_int_equal(n, log.len);
        assert_memory_equal(back, log.text, n);
        free(back);
        unlink(in_scratch("back.csv"));
    }
    dl_str_free(&log);
    dl_str_free(&old);
}

/* Every id that was added is met, and what is met is not much more. */
static void ranges_of_ids(void **state)
{
    (void)state;
    uint64_t seed = 11;
    for (int k = 0; k < 2000; k++) {
        pk_ids ids = {0}, back;
        uint8_t bytes[PK_IDS_BYTES];
        uint64_t added[40];
        const size_t n = 1 + test_random(&seed) % 40, groups = 1 + test_random(&seed) % 12;
        for (size_t i = 0; i < n; i++) {
            added[i] = 1000 * (test_random(&seed) % groups) + test_random(&seed) % 50;
            if (k % 10 == 0 && i == 3) added[i] = UINT64_MAX - test_random(&seed) % 2;
            pk_ids_add(&ids, added[i]);
        }
        pk_ids_put(bytes, &ids);
        pk_ids_get(bytes, &back);
        assert_int_equal(back.n, ids.n);
        assert_true(ids.n > 0 && ids.n <= PK_ID_RANGES);
        for (size_t i = 0; i < n; i++)
            assert_true(pk_ids_meet(&back, added[i], added[i]));
        for (size_t i = 1; i < ids.n; i++)
            assert_true(ids.low[i] > ids.high[i - 1] + 1);
        if (groups <= 2) assert_false(pk_ids_meet(&back, 5000, 6000));
    }
    /* Far groups stay apart, whatever comes between them. */
    pk_ids ids = {0};
    for (uint64_t i = 0; i < 600; i++) {
        pk_ids_add(&ids, 100000 + 1024 * i);
        pk_ids_add(&ids, 5 + i % 6);
    }
    assert_false(pk_ids_meet(&ids, 11, 99999));
}

/* Where the index does not say enough, all is read. */
/* Where nothing is left, the same is said of the log and of a part of it that was read: what there is in all of it. */
static void nothing_is_left_of_a_part(void **state)
{
    (void)state;
    static const struct {
        const char *options, *says;
    } ways[] = {
        {"--launches 1100-1103 --zone CHIP0", "each filter leaves something"},
        {"--launches 1100-1103 --zone typo",
         "; the log has 'BRISC-FW', 'BRISC-KERNEL', 'BRISC-INNER', 'NCRISC-FW', "},
        {"--launches 1100-1103 --core 7,1 --riscs IDLE",
         "no such RISC; the log has 'BRISC', 'NCRISC', 'TRISC_0', 'ERISC'"},
        {"--launches 1100-1103 --min-cycles 100000", "the longest has 4"},
        {"--launches 1100-1103 --zone CHIP0 --min-cycles 1", "the other filters leave no zone"},
        {"--launches 1600 --zone CHIP0 --min-cycles 300", "the longest has 1 cycles"},
        {"--launches 1100-1103 --from 4000000", "the rows are of cycles 100002 to 3100039"},
        {"--from 150000 --until 160000 --launches 1600-1601", "each filter leaves something"},
        {"--from 150000 --until 160000 --chips 3", "no such chip; the log has 0-1"},
    };
    dl_str log = {0};
    make_log(&log, 6, true, false);
    /* On one core, at the end of the log. */
    for (unsigned i = 0; i < 40; i++)
        dl_str_fmt(&log, "1,7,9,ERISC,99,%u,0,1600,,,CHIP0,ZONE_%s,3,k.cc,\n", 3100000 + i,
                   i % 2 ? "END" : "START");
    pack_log(&log);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        char line[200], *of_log, *of_part;
        snprintf(line, sizeof line, "decode log.csv -f json %s", ways[i].options);
        assert_int_equal(devlog(line, NULL, &of_log), 1);
        snprintf(line, sizeof line, "decode log.pack -f json %s", ways[i].options);
        assert_int_equal(devlog(line, NULL, &of_part), 1);
        if (!strstr(of_log, ways[i].says)) fail_msg("%s: %s", ways[i].options, of_log);
        assert_string_equal(of_part, of_log);
        free(of_log);
        free(of_part);
    }
    /* A RISC that only others have is no mistake. */
    char *of_log = devlog_ok(
             "decode log.csv --launches 1100-1103 --riscs BRISC,ERISC --no-files --max-launches 0", 3),
         *of_part = devlog_ok(
             "decode log.pack --launches 1100-1103 --riscs BRISC,ERISC --no-files --max-launches 0", 0);
    const size_t tables = (size_t)(strstr(of_log, " rows in ") - of_log);
    assert_true(tables > 200);
    assert_memory_equal(of_log, of_part, tables - 20);
    free(of_log);
    free(of_part);
    dl_str_free(&log);
}

static void what_the_index_does_not_know(void **state)
{
    (void)state;
    dl_str log = {0};
    const dl_filter_range launches = {3, 5};
    make_log(&log, 4, false, false);
    pack_log(&log);
    assert_true(is_the_same("without ids", &(dl_filter){.launches = &launches, .n_launches = 1}, 0));
    dl_str_free(&log);
    make_log(&log, 4, true, false);
    pack_log(&log);
    char *err;
    assert_int_equal(devlog("decode log.pack --launches 1030,5000 -f json", NULL, &err), 1);
    assert_non_null(strstr(err, "--launches 5000: no such launch; the log has 1024-1623"));
    free(err);
    assert_int_equal(devlog("decode log.pack --from 90000000 -f json", NULL, &err), 1);
    assert_non_null(strstr(err, "nothing lies between --from and --until"));
    free(err);
    /* A packed log without its end has no index. */
    size_t n;
    char *packed = read_bytes(in_scratch("log.pack"), &n);
    write_bytes(in_scratch("cut.pack"), packed, n - 20);
    char *one = devlog_ok("decode log.csv --launches 1100-1103 --no-files --max-launches 0", 3);
    assert_int_equal(devlog("decode cut.pack --launches 1100-1103 --no-files --max-launches 0", NULL, &err),
                     3);
    free(err);
    free(one);
    /* A block of the part that is damaged is told; one that is not wanted is not read. */
    uint64_t seed = 9;
    unsigned told = 0;
    for (int i = 0; i < 30; i++) {
        const size_t at = 2000 + test_random(&seed) % (n / 2);
        packed[at] ^= 0x10;
        write_bytes(in_scratch("bad.pack"), packed, n);
        packed[at] ^= 0x10;
        char *said;
        const int status = devlog("decode bad.pack --launches 1100-1103 --no-files", &said, &err);
        assert_true(status == 0 || status == 3);
        told += strstr(said, "are lost") != NULL || strstr(said, "cannot unpack") != NULL;
        free(said);
        free(err);
    }
    assert_true(told > 0 && told < 30);
    free(packed);
    dl_str_free(&log);
}

/* Launches 1 to 300 as a writer of this kind writes them: of 2024, of now, and one whose columns stand in another order. */
static void rows_of_a_writer(dl_str *log, unsigned writer, unsigned from)
{
    static const char *const headers[] = {
        "timer_id, time[cycles since reset], stat value, run ID, run host ID, zone name, zone phase, source line, "
        "source file",
        "timer_id, time[cycles since reset], data, run host ID, trace id, trace id counter, zone name, type, source "
        "line, source file, meta data",
        "time[cycles since reset], timer_id, data, run host ID, trace id, trace id counter, zone name, type, source "
        "line, source file, meta data"};
    dl_str_fmt(
        log, "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000\nPCIe slot, core_x, core_y, RISC processor type, %s\n",
        headers[writer]);
    for (unsigned i = 0; i < 600; i++) {
        const unsigned at = from + 100 * i, id = i / 2 + 1, replay = 301 - id;
        const char *const type = i % 2 ? "END" : "START";
        dl_str_add(log, "0,1,1,BRISC,");
        if (writer == 0)
            dl_str_fmt(log, "7,%u,0,0,%u,BRISC-FW,%s,10,k.cc\n", at, id, i % 2 ? "end" : "begin");
        else
            dl_str_fmt(log, "%u,%u,0,%u,1,%u,BRISC-FW,ZONE_%s,10,k.cc,\n", writer == 1 ? 7 : at,
                       writer == 1 ? at : 200000 - at, id, replay, type);
    }
}

/* Where the index has an id or a stamp the log may have something else, when its columns are not the same all along. */
static void columns_that_move(void **state)
{
    (void)state;
    static const dl_filter_range launch = {100, 100}, replay = {2, 2};
    static const dl_filter_id picked[] = {{100, 0, 201}, {250, 0, DL_FILTER_ANY}};
    static const dl_filter filters[] = {{.launches = &launch, .n_launches = 1},
                                        {.sessions = &replay, .n_sessions = 1},
                                        {.from = 20000, .to = 20550},
                                        {.from = 80000, .to = 80550},
                                        {.picks = true, .picked = picked, .n_picked = 2}};
    for (unsigned way = 0; way < 14; way++) {
        dl_str log = {0};
        if (way < 9) {
            rows_of_a_writer(&log, way / 3, 1000);
            rows_of_a_writer(&log, way % 3, 70000);
        } else {
            rows_of_a_writer(&log, 1, 1000);
            char *const header = strchr(log.text, '\n') + 1, *const rows = strchr(header, '\n') + 1;
            if (way == 9) memcpy(header, "0,1,1,", 6); /* where a row would be, and the columns are guessed */
            if (way == 10) memcpy(strstr(header, "run host"), "rum", 3); /* an id without a name */
            if (way == 12) {                                             /* a header within a row's line */
                char *const at = strchr(log.text + log.len / 2, '\n');
                const size_t n = (size_t)(at - log.text);
                dl_str odd = {0};
                dl_str_fmt(
                    &odd,
                    "%.*s\rPCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since "
                    "reset], data, trace id, run host ID, trace id counter, zone name, type, source line, "
                    "source file, meta data%s",
                    (int)n, log.text, at);
                dl_str_free(&log);
                log = odd;
            }
            if (way == 11) { /* a chip line is no header, whatever else it has */
                dl_str odd = {0};
                dl_str_fmt(
                    &odd,
                    "ARCH: wormhole_b0, core_x, core_y, RISC processor type, timer_id, time[cycles since "
                    "reset], data, trace id, trace id counter, run host ID, zone name, type, source line, "
                    "source file, meta data, PCIe slot, CHIP_FREQ[MHz]: 1000\n%s",
                    rows);
                dl_str_free(&log);
                log = odd;
            }
        }
        pack_log(&log);
        for (size_t i = 0; i < sizeof filters / sizeof filters[0]; i++) {
            char what[60];
            snprintf(what, sizeof what, "way %u, filter %zu", way, i);
            /* Of now a part is enough; but of a window of time not where the same launches come twice: one of them may last from
             * here to there. */
            const bool of_time = filters[i].from != 0;
            is_the_same(what, &filters[i], (way == 13 && i != 3) || (way == 4 && !of_time) ? 8 : 0);
        }
        dl_str_free(&log);
    }
}

/* Two runs in one file without a line between them, and the second one's firmware is lost but for its first launch: a part does not
 * see that the clock begins anew. It cannot pair what is earlier then, and says so. */
static void a_restart_that_is_not_read(void **state)
{
    (void)state;
    static const dl_filter_range launch = {150, 150};
    const dl_filter filter = {.launches = &launch, .n_launches = 1};
    dl_str log = {0};
    outcome whole, part;
    rows_of_a_writer(&log, 1, 1000); /* for its head */
    log.len = (size_t)(strstr(log.text, "0,1,1,") - log.text);
    for (unsigned i = 0; i < 600; i++) {
        static const char *const rows[] = {"FW,ZONE_START,10", "KERNEL,ZONE_START,11", "KERNEL,ZONE_END,11",
                                           "FW,ZONE_END,10"};
        for (unsigned k = 0; k < 4; k++)
            if (i <= 300 || k == 1 || k == 2)
                dl_str_fmt(&log, "0,1,1,BRISC,%u,%u,0,%u,,,BRISC-%s,k.cc,\n", 7 + k % 2,
                           1000 + 100 * (i % 300) + 10 * k, 1 + i % 300, rows[k]);
    }
    pack_log(&log);
    decoded(&whole, in_scratch("log.csv"), &filter, 1);
    decoded(&part, in_scratch("log.pack"), &filter, 1);
    assert_non_null(strstr(whole.text.text, "BRISC-KERNEL: 2 20 10 10"));
    assert_non_null(strstr(part.text.text, "BRISC-KERNEL: 1 10 10 10"));
    assert_true(part.blocks_read < part.blocks && part.lost);
    dl_str_free(&whole.text);
    dl_str_free(&part.text);
    dl_str_free(&log);
}

/* Whatever a log is, or two of several writers in one file, its parts are as they are in the whole. */
static void damaged_logs(void **state)
{
    (void)state;
    const unsigned long cases = test_cases(40);
    uint64_t seed = 31;
    for (unsigned long i = 0; i < cases; i++) {
        dl_str log = {0}, packed = {0};
        char what[60];
        rows_of_a_writer(&log, i % 3, 1000);
        if (i % 4) rows_of_a_writer(&log, test_random(&seed) % 3, test_random(&seed) % 100000);
        const size_t cap = 2 * log.len;
        size_t n = log.len;
        assert_true(dl_str_reserve(&log, cap));
        for (uint64_t k = test_random(&seed) % 4; k-- > 0;)
            test_damage(log.text, &n, cap, &seed);
        const uint64_t low = 1 + test_random(&seed) % 300, time = test_random(&seed) % 130000;
        const dl_filter_range some = {low, low + test_random(&seed) % 3};
        const dl_filter_id picked[] = {{low, 0, DL_FILTER_ANY}, {301 - low, 0, low}};
        const dl_filter filters[] = {{.launches = &some, .n_launches = 1},
                                     {.sessions = &some, .n_sessions = 1},
                                     {.from = time, .to = time + 500},
                                     {.picks = true, .picked = picked, .n_picked = 2}};
        assert_int_equal(test_pack(log.text, n, 200 + test_random(&seed) % 8000, 1, &packed), DEVLOG_OK);
        write_bytes(in_scratch("log.csv"), log.text, n);
        write_bytes(in_scratch("log.pack"), packed.text, packed.len);
        for (size_t k = 0; k < sizeof filters / sizeof filters[0]; k++) {
            snprintf(what, sizeof what, "case %lu, filter %zu", i, k);
            is_the_same(what, &filters[k], 0);
        }
        dl_str_free(&packed);
        dl_str_free(&log);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_part_is_as_of_the_whole),
        cmocka_unit_test(the_rest_is_not_read),
        cmocka_unit_test(launches_longer_than_blocks),
        cmocka_unit_test(an_op_report_reads_its_part),
        cmocka_unit_test(nothing_is_left_of_a_part),
        cmocka_unit_test(what_the_index_does_not_know),
        cmocka_unit_test(columns_that_move),
        cmocka_unit_test(damaged_logs),
        cmocka_unit_test(a_restart_that_is_not_read),
        cmocka_unit_test(replays_hide_nothing),
        cmocka_unit_test(a_file_that_goes_on),
        cmocka_unit_test(parts_of_replays),
        cmocka_unit_test(an_op_report_of_replays),
        cmocka_unit_test(an_index_without_ids),
        cmocka_unit_test(ranges_of_ids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
