/* Logs whose parts are asked for, packed and not, and what is decoded of a part beside what is decoded of the whole. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode/analysis/groups.h"
#include "decode/decode.h"
#include "support/cli.h"
#include "support/files.h"
#include "support/packed.h"
#include "support/parts.h"
#include "support/random.h"

static const char *const riscs[PART_RISCS] = {"BRISC", "NCRISC", "TRISC_0"};

/* Core by core and RISC by RISC, dump by dump, on two chips; zones of some launches are cut by losses. */
void make_dumps(dl_str *log, uint64_t seed, bool ids, bool counters)
{
    dl_str_add(
        log,
        "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000, Max Compute Cores: 64\n"
        "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, run host "
        "ID, trace id, trace id counter, zone name, type, source line, source file, meta data\n");
    for (unsigned chip = 0; chip < 2; chip++)
        for (unsigned from = 0; from < PART_LAUNCHES; from += PART_DUMP)
            for (unsigned core = 0; core < PART_CORES; core++)
                for (unsigned risc = 0; risc < PART_RISCS; risc++)
                    for (unsigned i = from; i < from + PART_DUMP; i++) {
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

/* A trace of three launches is replayed behind each launch, and another one now and then. */
void make_replays(dl_str *log)
{
    dl_str_add(
        log,
        "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000, Max Compute Cores: 64\n"
        "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, run host "
        "ID, trace id, trace id counter, zone name, type, source line, source file, meta data\n");
    for (unsigned from = 0; from < PART_LAUNCHES; from += PART_DUMP)
        for (unsigned core = 0; core < PART_CORES; core++)
            for (unsigned risc = 0; risc < PART_RISCS; risc++)
                for (unsigned i = from; i < from + PART_DUMP; i++)
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

/* Replays, of which some rows say it in other words, or not at all: what is read is what would be read of all. */
void reword_rows(dl_str *log, uint64_t *seed, unsigned kind)
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

void pack_log(const dl_str *log)
{
    dl_str packed = {0};
    assert_int_equal(test_pack(log->text, log->len, PART_BLOCK, 1, &packed), DEVLOG_OK);
    write_bytes(in_scratch("log.csv"), log->text, log->len);
    write_bytes(in_scratch("log.pack"), packed.text, packed.len);
    dl_str_free(&packed);
}

uint64_t bytes_read_so_far(void)
{
    unsigned long long n = 0;
    FILE *f = fopen("/proc/self/io", "r");
    if (!f || fscanf(f, "rchar: %llu", &n) != 1) n = 0;
    if (f) fclose(f);
    return n;
}

/* Zones with their statistics, and launches that have some, as text. */
void decode_as_text(part_outcome *out, const char *path, const dl_filter *filter, unsigned threads)
{
    dl_decode *d;
    devlog_error err = {0};
    const dl_decode_options o = {.filter = *filter, .threads = threads, .only_input = true};
    const uint64_t before = bytes_read_so_far();
    *out = (part_outcome){.bytes = 0};
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
size_t part_is_the_same(const char *what, const dl_filter *f, uint64_t most_blocks)
{
    size_t zones = 0;
    part_outcome whole, part;
    for (unsigned threads = 1; threads <= 2; threads++) {
        decode_as_text(&whole, in_scratch("log.csv"), f, threads);
        decode_as_text(&part, in_scratch("log.pack"), f, threads);
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
