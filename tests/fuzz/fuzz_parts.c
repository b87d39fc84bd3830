/* Parts of logs that come from another process, any bytes of them: read, put behind a log, with a log put behind them, handed on
 * again, and printed. Nothing but a refusal or a result. And logs of any bytes, which say the same in parts as whole. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "decode/parts/parts.h"
#include "decode/wire.h"
#include "fuzz/fuzz.h"
#include "report/decode_table.h"
#include "report/stats.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char head[] =
    "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000, Max Compute Cores: 64, Run: 77\n"
    "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, run host ID, "
    "trace id, trace id count, zone name, type, source line, source file, meta data\n";
static const char *const rows[] = {
    "0,0,1,BRISC,1,1000,0,1024,,,BRISC-FW,ZONE_START,10,run.h,\n0,0,1,BRISC,2,1010,0,1024,,,READ,ZONE_START,20,k.c,\n",
    "0,1,1,NCRISC,1,1005,0,1024,,,NCRISC-FW,ZONE_START,10,run.h,\n0,1,1,NCRISC,7,1006,5,1024,,,SUM,ZONE_TOTAL,10,run.h,\n0,1,1,NCRISC,8,1007,5,1024,,,POINT,TS_EVENT,10,run.h,a text\n0,1,1,NCRISC,1,1100,0,1024,,,NCRISC-FW,ZONE_END,10,run.h,\n",
    "0,0,1,BRISC,1,9000,0,2048,,,BRISC-FW,ZONE_START,10,run.h,\n0,0,1,BRISC,1,9100,0,2048,,,BRISC-FW,ZONE_END,10,run.h,\n"};

/* Analyses of every kind. */
static const dl_analysis_list *analyses(void)
{
    static dl_analysis_list list;
    static const char text[] =
        "{\"gap\": {\"across\": \"risc\", \"type\": \"adjacent\", \"start\": {\"role\": \"FW\", \"zone_phase\": \"ZONE_END\"}, "
        "\"end\": {\"role\": \"FW\"}},"
        "\"chip\": {\"across\": \"device\", \"type\": \"adjacent\", \"start\": {\"role\": \"FW\"}, "
        "\"end\": {\"role\": \"FW\", \"zone_phase\": \"ZONE_END\"}},"
        "\"session\": {\"across\": \"core\", \"type\": \"session_first_last\", \"start\": {\"timerID\": 0}, "
        "\"end\": {\"role\": \"FW\"}},"
        "\"launch\": {\"across\": \"risc\", \"type\": \"op_first_last\", \"start\": {\"role\": \"FW\"}, "
        "\"end\": {\"role\": \"FW\"}},"
        "\"op\": {\"across\": \"ops\", \"type\": \"op_first_last\", \"start\": {\"role\": \"FW\"}, "
        "\"end\": {\"role\": \"FW\"}},"
        "\"sum\": {\"across\": \"ops\", \"type\": \"sum\", \"marker\": {\"zone_name\": \"S*\"}},"
        "\"points\": {\"across\": \"risc\", \"type\": \"event\", \"marker\": {\"zone_name\": \"*\"}}}";
    if (!list.n && dl_analyses_parse(&list, "analyses", text, NULL) != DEVLOG_OK) abort();
    return &list;
}

static bool analysed, stamped; /* what comes has analyses, too; stamps */

static dl_decode *new_decode(void)
{
    dl_decode *d;
    const dl_decode_options how = {.threads = 1, .block = 4096};
    if (dl_decode_new(&d, &how, NULL) != DEVLOG_OK) abort();
    if (dl_parts_collect(d, analysed ? analyses() : NULL, stamped, NULL) != DEVLOG_OK) abort();
    return d;
}

/* A log whose parts begin at these places. */
typedef struct known {
    char path[64];
    char *paths[1];
    uint64_t sizes[1];
    dl_cut cuts[4];
    dl_parts parts;
} known;

static const known *known_log(void)
{
    static known k;
    if (k.parts.n) return &k;
    const int fd = memfd_create("log", 0);
    if (fd < 0 || write(fd, head, sizeof head - 1) != (ssize_t)sizeof head - 1) abort();
    uint64_t at = sizeof head - 1;
    for (uint32_t i = 0; i < 3; i++) {
        if (i) k.cuts[i] = (dl_cut){.at = at};
        if (write(fd, rows[i], strlen(rows[i])) != (ssize_t)strlen(rows[i])) abort();
        at += strlen(rows[i]);
    }
    k.cuts[3] = (dl_cut){.file = 1};
    k.sizes[0] = at;
    snprintf(k.path, sizeof k.path, "/proc/self/fd/%d", fd);
    k.paths[0] = k.path;
    k.parts = (dl_parts){
        .paths = k.paths, .n_paths = 1, .sizes = k.sizes, .stored = k.sizes, .cuts = k.cuts, .n = 3};
    return &k;
}

static dl_decode *known_part(uint32_t i)
{
    dl_decode *d = new_decode();
    devlog_error err;
    if (dl_parts_decode(&known_log()->parts, i, d, &err) != DEVLOG_OK) abort();
    return d;
}

static void walk(const dl_stamps *stamps, dl_str *out)
{
    for (uint32_t i = 0; stamps && i < dl_stamps_n(stamps); i++) {
        const dl_stamp_row *row = dl_stamps_row(stamps, i);
        for (int c = 0; row && c < DL_STAMP_COLUMNS; c++) {
            dl_stamp_walk w;
            uint64_t time, hash = 0;
            dl_stamp_walk_start(&w, &row->columns[c]);
            while (dl_stamp_walk_next(&w, &time))
                hash = dl_hash_u64(hash ^ time);
            dl_str_fmt(out, "%u %d %llx\n", i, c, (unsigned long long)hash);
        }
    }
}

static void print(dl_decode *d, dl_str *out)
{
    devlog_error err;
    const dl_table_options how = {.width = 100, .max_launches = 3};
    if (dl_decode_finish(d, &err) != DEVLOG_OK) return;
    if (analysed && dl_analyzer_finish(dl_parts_analyzer_of(d), &err) != DEVLOG_OK) return;
    (void)dl_report_stats(d, analysed ? dl_parts_analyzer_of(d) : NULL, out, &err);
    (void)dl_report_table(d, &how, out, &err);
    walk(dl_parts_stamps_of(d), out);
}

static dl_decode *read_part(const uint8_t *data, size_t size)
{
    dl_decode *d = new_decode();
    if (dl_parts_read(d, data, size, NULL) == DEVLOG_OK) return d;
    dl_decode_free(d);
    return NULL;
}

/* As from another process. */
static dl_decode *over_the_wire(dl_decode *d)
{
    dl_str bytes = {0};
    if (dl_parts_write(d, DL_WIRE_ALL, 0, &bytes, NULL) != DEVLOG_OK) abort();
    dl_decode *again = read_part((const uint8_t *)bytes.text, bytes.len);
    if (!again) abort();
    dl_str_free(&bytes);
    dl_decode_free(d);
    return again;
}

/* `later` behind `d`, and what comes of it behind bytes. */
static void put(dl_decode *d, dl_decode *later, uint32_t goes_on)
{
    const char *why = NULL;
    devlog_error err;
    dl_str bytes = {0}, printed = {0}, printed_again = {0};
    devlog_status status = dl_parts_add(d, later, true, &why, &err);
    if (!status && why && goes_on) status = dl_parts_go_on(&known_log()->parts, goes_on, d, &err);
    if (!status && dl_parts_write(d, DL_WIRE_ALL, 0, &bytes, &err) == DEVLOG_OK) {
        dl_decode *again = read_part((const uint8_t *)bytes.text, bytes.len);
        if (!again) abort();
        print(again, &printed_again);
        dl_decode_free(again);
        print(d, &printed);
        fuzz_same(&printed, &printed_again);
    }
    dl_str_free(&bytes);
    dl_str_free(&printed_again);
    dl_str_free(&printed);
    dl_decode_free(d);
    dl_decode_free(later);
}

/* A log in up to five parts, each decoded by itself, or behind those before it where it does not follow exactly. NULL: it says that
 * it cannot be decoded so. */
static dl_decode *in_parts(const dl_parts *parts, bool of_processes)
{
    devlog_error err;
    dl_decode *d = new_decode();
    devlog_status status = dl_parts_decode(parts, 0, d, &err);
    for (uint32_t i = 1; i < parts->n && !status; i++) {
        const char *why = NULL;
        dl_decode *part = new_decode();
        status = dl_parts_decode(parts, i, part, &err);
        if (!status && of_processes) part = over_the_wire(part);
        if (!status) status = dl_parts_add(d, part, true, &why, &err);
        dl_decode_free(part);
        if (!status && why) status = dl_parts_go_on(parts, i, d, &err);
    }
    if (!status) return d;
    dl_decode_free(d);
    if (status == DEVLOG_ERR_UNSUPPORTED || status == DEVLOG_ERR_FORMAT) return NULL; /* damaged captures */
    fprintf(stderr, "%s\n", err.text);
    abort();
}

static void compare(const uint8_t *data, size_t size)
{
    char path[64];
    char *const paths[] = {path};
    const int fd = memfd_create("log", 0);
    devlog_error err;
    dl_parts parts;
    dl_str expected = {0}, got = {0};
    if (fd < 0 || write(fd, data, size) != (ssize_t)size) abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    const bool planned = dl_parts_plan(&parts, paths, 1, 2 + size % 4, 0, &err) == DEVLOG_OK;
    if (planned && !parts.why[0]) {
        fuzz_got_inside();
        dl_decode *whole = new_decode(), *apart = in_parts(&parts, size / 4 % 2);
        if (dl_decode_file(whole, path, &err) != DEVLOG_OK) abort();
        if (apart) {
            print(whole, &expected);
            print(apart, &got);
            fuzz_same(&got, &expected);
            dl_decode_free(apart);
        }
        dl_decode_free(whole);
    }
    if (planned) dl_parts_free(&parts);
    close(fd);
    dl_str_free(&expected);
    dl_str_free(&got);
}

enum { KNOWN_FIRST = 1, THIRD = 2, ANALYSED = 8, STAMPED = 16, LOG = 32 }; /* of an input's first byte */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) return 0;
    analysed = data[0] & ANALYSED;
    stamped = data[0] & STAMPED;
    if (data[0] & LOG) {
        compare(data + 1, size - 1);
        return 0;
    }
    dl_decode *part = read_part(data + 1, size - 1);
    if (!part) return 0;
    fuzz_got_inside();
    const uint32_t which = data[0] & THIRD ? 2 : 1;
    if (data[0] & KNOWN_FIRST)
        put(known_part(0), part, 0);
    else
        put(part, known_part(which), which);
    return 0;
}

/* replay_parts --write FOLDER: the corpus, for when what parts are as bytes has changed. */
static void write_corpus(const char *folder)
{
    static const struct {
        uint8_t how, part;
    } all[] = {{0, 0}, {THIRD, 1}, {KNOWN_FIRST, 1}, {KNOWN_FIRST, 2}};
    for (uint8_t i = 0; i < 4 * sizeof all / sizeof all[0]; i++) {
        const uint8_t how = all[i / 4].how | (i & 1 ? ANALYSED : 0) | (i & 2 ? STAMPED : 0);
        char path[256];
        dl_str bytes = {0};
        analysed = how & ANALYSED;
        stamped = how & STAMPED;
        dl_decode *d = known_part(all[i / 4].part);
        if (dl_parts_write(d, DL_WIRE_ALL, 0, &bytes, NULL) != DEVLOG_OK) abort();
        dl_decode_free(d);
        snprintf(path, sizeof path, "%s/part_%u_%02x", folder, all[i / 4].part, how);
        FILE *f = fopen(path, "wb");
        if (!f || fputc(how, f) != how || fwrite(bytes.text, 1, bytes.len, f) != bytes.len || fclose(f) != 0)
            abort();
        dl_str_free(&bytes);
    }
}

int LLVMFuzzerInitialize(int *argc, char ***argv);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    if (*argc != 3 || strcmp((*argv)[1], "--write") != 0) return 0;
    write_corpus((*argv)[2]);
    exit(0);
}
