/* Bad input of every kind that has been seen, or that one would make to do harm: what can be read is decoded,
 * what cannot is counted under its name, and memory stays bounded. */
#include "support/cmocka_all.h"

#include <lzma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "support/digest.h"
#include "support/events.h"
#include "support/logs.h"

#define CHIP "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000\n"
#define HEADER                                                                                               \
    "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, run host "    \
    "ID, "                                                                                                   \
    "zone name, type, source line, source file, meta data\n"
#define START "0,1,1,BRISC,7,1000,0,1,z,ZONE_START,3,k.cpp,\n"
#define END   "0,1,1,BRISC,7,1500,0,1,z,ZONE_END,3,k.cpp,\n"

static dl_decode *decode(const char *text, size_t n, unsigned threads)
{
    devlog_error err;
    dl_decode *d;
    const dl_decode_options options = {.threads = threads};
    assert_int_equal(dl_decode_new(&d, &options, &err), DEVLOG_OK);
    assert_int_equal(dl_decode_memory(d, "log.csv", text, n, &err), DEVLOG_OK);
    assert_int_equal(dl_decode_finish(d, &err), DEVLOG_OK);
    return d;
}

static uint64_t zones(const dl_decode *d)
{
    uint64_t n = 0;
    for (size_t i = 0; i < dl_decode_n_keys(d); i++)
        n += dl_decode_key(d, i)->count;
    return n;
}

typedef struct bad_case {
    const char *what, *text;
    uint64_t zones;
    dl_skip skip;       /* DL_SKIP_NONE: none is skipped */
    dl_finding finding; /* DL_FINDINGS: none */
    bool whole;         /* nothing is lost */
    const char *detail; /* in the first detail; NULL: any */
} bad_case;

/* A launch of one RISC. */
#define LAUNCH(id, from, to)                                                                                 \
    "0,1,1,BRISC,7," #from ",0," #id ",BRISC-FW,ZONE_START,3,k.cpp,\n"                                       \
    "0,1,1,BRISC,7," #to ",0," #id ",BRISC-FW,ZONE_END,3,k.cpp,\n"

#define OVER_A_WRAP LAUNCH(1, 17592186044016, 17592186044216) LAUNCH(2, 100, 200) LAUNCH(3, 300, 400)

static const bad_case cases[] = {
    {"a launch once more", CHIP HEADER LAUNCH(1, 10, 20) LAUNCH(2, 1000, 1500) LAUNCH(2, 1000, 1500), 3,
     DL_SKIP_NONE, DL_FOUND_REPEATED, false, "log.csv:7: chip 0 core 1,1 BRISC: stamp 1000"},
    {"a log appended to itself",
     CHIP HEADER LAUNCH(1, 10, 20) LAUNCH(2, 1000, 1500) CHIP HEADER LAUNCH(1, 10, 20) LAUNCH(2, 1000, 1500),
     4, DL_SKIP_NONE, DL_FOUND_REPEATED, false, "log.csv:9: chip 0 core 1,1 BRISC: stamp 10"},
    {"launches from the middle once more",
     CHIP HEADER LAUNCH(1, 10, 20) LAUNCH(2, 1000, 1500) LAUNCH(3, 2000, 2500) LAUNCH(4, 3000, 3500)
         LAUNCH(2, 1000, 1500) LAUNCH(3, 2000, 2500),
     6, DL_SKIP_NONE, DL_FOUND_REPEATED, false, "log.csv:11: chip 0 core 1,1 BRISC: stamp 1000"},
    {"a log over a wrap of the clock, appended to itself", CHIP HEADER OVER_A_WRAP OVER_A_WRAP, 6,
     DL_SKIP_NONE, DL_FOUND_REPEATED, false, "log.csv:9: chip 0 core 1,1 BRISC: stamp 17592186044016"},
    {"launches behind a wrap once more", CHIP HEADER OVER_A_WRAP LAUNCH(2, 100, 200), 4, DL_SKIP_NONE,
     DL_FOUND_REPEATED, false, "log.csv:9: chip 0 core 1,1 BRISC: stamp 100"},
    /* Of firmware's ends that are 2^32 late: with the clock's low word near its end they are torn, when the next launch tells. */
    {"an end that is 2^32 late",
     CHIP HEADER LAUNCH(1, 21474835000, 25769803000) LAUNCH(2, 21474836000, 21474836400), 2, DL_SKIP_NONE,
     DL_FOUND_TORN, true, "stamp 25769803000 was 2^32 too high"},
    {"the last one", CHIP HEADER LAUNCH(1, 21474835000, 21474835400) LAUNCH(2, 21474835600, 25769803000), 2,
     DL_SKIP_NONE, DL_FOUND_AMBIGUOUS, false, "stamp 25769803000 may be 2^32 too high"},
    {"one that no read explains", CHIP HEADER LAUNCH(1, 1000000, 4295968000) LAUNCH(2, 1002000, 1003000), 2,
     DL_SKIP_NONE, DL_FOUND_AMBIGUOUS, false, "stamp 4295968000 may be 2^32 too high"},
    {"a long launch, and another run of the clock",
     CHIP HEADER LAUNCH(1, 1000000, 5295968000) LAUNCH(2, 1002000, 1003000), 2, DL_SKIP_NONE,
     DL_FOUND_CLOCK_RESTART, true, NULL},
    {"a long launch", CHIP HEADER LAUNCH(1, 1000000, 5295968000), 1, DL_SKIP_NONE, DL_FINDINGS, true, NULL},
    {"another run with the same stamps", CHIP HEADER LAUNCH(1, 1000, 1500) LAUNCH(2, 1000, 1500), 2,
     DL_SKIP_NONE, DL_FOUND_CLOCK_RESTART, true, NULL},
    {"another run with the same ids", CHIP HEADER LAUNCH(1, 1000, 1500) LAUNCH(1, 1001, 1500), 2,
     DL_SKIP_NONE, DL_FOUND_CLOCK_RESTART, true, NULL},
    {"empty", "", 0, DL_SKIP_NONE, DL_FOUND_EMPTY, false, "log.csv"},
    {"blank lines only", "\n\n\r\n  \n", 0, DL_SKIP_NONE, DL_FINDINGS, true, NULL},
    {"header only", CHIP HEADER, 0, DL_SKIP_NONE, DL_FINDINGS, true, NULL},
    {"header and blank lines", CHIP HEADER "\n \n", 0, DL_SKIP_NONE, DL_FINDINGS, true, NULL},
    {"chip line only", CHIP, 0, DL_SKIP_NONE, DL_FINDINGS, true, NULL},
    {"rows, and the head of another run", CHIP HEADER START END CHIP HEADER, 1, DL_SKIP_NONE, DL_FINDINGS,
     true, NULL},
    {"blank lines", CHIP "\n" HEADER "\n" START "\n\n" END "\n", 1, DL_SKIP_NONE, DL_FINDINGS, true, NULL},
    {"byte order mark", "\xEF\xBB\xBF" CHIP HEADER START END, 1, DL_SKIP_NONE, DL_FINDINGS, true, NULL},
    {"a comma in the name of a zone",
     CHIP HEADER "0,1,1,BRISC,7,1000,0,1,wait, then go,ZONE_START,3,k.cpp,\n"
                 "0,1,1,BRISC,7,1500,0,1,wait, then go,ZONE_END,3,k.cpp,\n",
     1, DL_SKIP_NONE, DL_FINDINGS, true, NULL},
    {"commas in the names of a zone and of its file",
     CHIP HEADER "0,1,1,BRISC,7,1000,0,1,a,b,c,ZONE_START,3,/a,b/k.cpp,{\"op\":3}\n"
                 "0,1,1,BRISC,7,1500,0,1,a,b,c,ZONE_END,3,/a,b/k.cpp,\n",
     1, DL_SKIP_NONE, DL_FINDINGS, true, NULL},
    {"a comma in the name of a file",
     CHIP HEADER "0,1,1,BRISC,7,1000,0,1,z,ZONE_START,3,/a,b/k.cpp,\n"
                 "0,1,1,BRISC,7,1500,0,1,z,ZONE_END,3,/a,b/k.cpp,{\"a\":1}\n",
     1, DL_SKIP_NONE, DL_FINDINGS, true, NULL},
    {"a row with more cells and no type", CHIP HEADER START "0,1,1,BRISC,7,1400,0,1,a,b,c,d,3,k.cpp,,,\n" END,
     1, DL_SKIP_TOO_MANY_CELLS, DL_FINDINGS, false, "log.csv:4"},
    {"CRLF",
     "ARCH: x, CHIP_FREQ[MHz]: 1000\r\n"
     "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset]\r\n"
     "0, 1, 1, BRISC, 1, 1000\r\n0, 1, 1, BRISC, 4, 1500\r\n",
     1, DL_SKIP_NONE, DL_FINDINGS, true, NULL},
    {"no header, newest columns", START END, 1, DL_SKIP_NONE, DL_FOUND_NO_HEADER, true, "log.csv:1"},
    {"no header, unknown columns", "0,1,1,BRISC,7,1000,5,6\n", 0, DL_SKIP_NO_HEADER, DL_FINDINGS, false,
     "log.csv:1"},
    {"a column is missing", CHIP "core_x, core_y, RISC processor type, timer_id\n0,1,BRISC,5\n", 0,
     DL_SKIP_BAD_HEADER, DL_FOUND_CORRUPT, false, "log.csv:3"},
    {"a column comes twice",
     CHIP "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], timer_id\n"
          "0,1,1,BRISC,1,1000,9\n0,1,1,BRISC,4,1500,9\n",
     1, DL_SKIP_NONE, DL_FOUND_COLUMN_TWICE, true, "log.csv:2"},
    {"another order of columns",
     CHIP "time[cycles since reset], timer_id, RISC processor type, core_y, core_x, PCIe slot\n"
          "1000,1,BRISC,1,1,0\n1500,4,BRISC,1,1,0\n",
     1, DL_SKIP_NONE, DL_FINDINGS, true, NULL},
    {"quotes inside meta data",
     CHIP HEADER "0,1,1,BRISC,7,1000,0,1,z,ZONE_START,3,k.cpp,{\"a\":\"b\";\"c\":1}\n"
                 "0,1,1,BRISC,7,1500,0,1,z,ZONE_END,3,k.cpp,\"quoted, with a comma\"\n",
     1, DL_SKIP_NONE, DL_FINDINGS, true, NULL},
    {"an open quote", CHIP HEADER START "0,1,1,BRISC,7,1400,0,1,\"z,ZONE_END,3,k.cpp,\n" END, 1,
     DL_SKIP_TOO_FEW_CELLS, DL_FINDINGS, false, "log.csv:4"},
    {"a number too big",
     CHIP HEADER START "0,1,1,BRISC,7,99999999999999999999999,0,1,z,ZONE_END,3,k.cpp,\n" END, 1,
     DL_SKIP_TOO_BIG, DL_FINDINGS, false, "log.csv:4"},
    {"a core too far", CHIP HEADER START "0,65536,1,BRISC,7,1200,0,1,z,ZONE_END,3,k.cpp,\n" END, 1,
     DL_SKIP_TOO_BIG, DL_FINDINGS, false, "log.csv:4"},
    {"a negative number", CHIP HEADER START "0,1,1,BRISC,7,-5,0,1,z,ZONE_END,3,k.cpp,\n" END, 1,
     DL_SKIP_NEGATIVE, DL_FINDINGS, false, "log.csv:4"},
    {"no number", CHIP HEADER START "0,1,1,BRISC,7,12x0,0,1,z,ZONE_END,3,k.cpp,\n" END, 1,
     DL_SKIP_NOT_A_NUMBER, DL_FINDINGS, false, "log.csv:4"},
    {"an unknown type", CHIP HEADER START "0,1,1,BRISC,7,1200,0,1,z,ZONE_MIDDLE,3,k.cpp,\n" END, 1,
     DL_SKIP_UNKNOWN_TYPE, DL_FINDINGS, false, "log.csv:4"},
    {"no RISC", CHIP HEADER START "0,1,1,,7,1200,0,1,z,ZONE_END,3,k.cpp,\n" END, 1, DL_SKIP_NO_RISC,
     DL_FINDINGS, false, "log.csv:4"},
    {"an unknown RISC",
     CHIP HEADER "0,1,1,QUASAR_9,7,1000,0,1,z,ZONE_START,3,k.cpp,\n"
                 "0,1,1,QUASAR_9,7,1500,0,1,z,ZONE_END,3,k.cpp,\n",
     1, DL_SKIP_NONE, DL_FINDINGS, true, NULL},
    {"too few cells", CHIP HEADER START "0,1,1,BRISC\n" END, 1, DL_SKIP_TOO_FEW_CELLS, DL_FINDINGS, false,
     "log.csv:4"},
    {"too many cells", CHIP HEADER START "0,1,1,BRISC,7,1500,0,1,z,ZONE_END,3,k.cpp,,,,\n", 1, DL_SKIP_NONE,
     DL_FOUND_EXTRA_CELLS, true, "log.csv:4"},
    {"something else", CHIP HEADER START "Traceback (most recent call last):\n" END, 1, DL_SKIP_NOT_A_ROW,
     DL_FINDINGS, false, "log.csv:4"},
    {"a start without an end", CHIP HEADER START, 0, DL_SKIP_NONE, DL_FOUND_UNPAIRED_START, false,
     "log.csv:3"},
    {"an end without a start", CHIP HEADER END, 0, DL_SKIP_NONE, DL_FOUND_UNPAIRED_END, false, "log.csv:3"},
};

static void every_case_is_told(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const bad_case *c = &cases[i];
        for (unsigned threads = 1; threads <= 2; threads++) {
            dl_decode *d = decode(c->text, strlen(c->text), threads);
            const dl_losses *l = dl_decode_losses(d);
            const char *detail = l->details[c->finding < DL_FINDINGS ? DL_SKIPS + c->finding : c->skip][0];
            bool right = zones(d) == c->zones && dl_losses_any(l) == !c->whole;
            right = right && dl_losses_skipped(l) == (c->skip != DL_SKIP_NONE);
            right = right && (c->skip == DL_SKIP_NONE || l->skipped[c->skip] == 1);
            right = right && (c->finding == DL_FINDINGS || l->found[c->finding] == 1);
            if (c->skip != DL_SKIP_NONE) detail = l->details[c->skip][0];
            right = right && (!c->detail || (detail && strstr(detail, c->detail)));
            if (!right)
                fail_msg("%s: %d zones, %d lines skipped, %d expected ones, '%s'", c->what, (int)zones(d),
                         (int)dl_losses_skipped(l), (int)l->skipped[c->skip], detail ? detail : "");
            dl_decode_free(d);
        }
    }
}

static void nul_bytes_cost_their_line_only(void **state)
{
    (void)state;
    static const char text[] = CHIP HEADER START "0,1,1,BRISC,7,1200,0,1,z\0z,ZONE_END,3,k.cpp,\n" END;
    dl_decode *d = decode(text, sizeof text - 1, 1);
    assert_int_equal(zones(d), 1);
    assert_int_equal(dl_decode_losses(d)->skipped[DL_SKIP_NUL], 1);
    dl_decode_free(d);
}

static void no_frequency_no_nanoseconds(void **state)
{
    (void)state;
    static const char *const heads[] = {"ARCH: x, CHIP_FREQ[MHz]: 0\n", "ARCH: x\n", ""};
    for (size_t i = 0; i < 3; i++) {
        char text[1024];
        snprintf(text, sizeof text, "%s%s", heads[i], HEADER START END);
        dl_decode *d = decode(text, strlen(text), 1);
        assert_int_equal(zones(d), 1);
        assert_int_equal(dl_decode_key(d, 0)->min, 500);
        assert_int_equal(dl_decode_tables(d)->chips[0].freq_khz, 0);
        dl_decode_free(d);
    }
}

static void lines_of_ten_megabytes(void **state)
{
    (void)state;
    enum { LONG = 10 * 1000 * 1000 };
    dl_str text = {0};
    dl_str_add(&text, CHIP HEADER START);
    assert_true(dl_str_reserve(&text, LONG + 1000));
    memset(text.text + text.len, 'x', LONG); /* no comma at all */
    text.len += LONG;
    dl_str_add(&text, "\n0,1,1,BRISC,7,1200,0,1,z,ZONE_END,3,k.cpp,");
    for (int i = 0; i < LONG / 8; i++)
        dl_str_add(&text, ",,\"a\",1,");
    dl_str_add(&text, "\n" END);
    for (unsigned threads = 1; threads <= 2; threads++) {
        dl_decode *d = decode(text.text, text.len, threads);
        assert_int_equal(zones(d), 1);
        assert_int_equal(dl_decode_losses(d)->skipped[DL_SKIP_TOO_LONG], 2);
        assert_int_equal(dl_decode_losses(d)->lines, 6);
        dl_decode_free(d);
    }
    dl_str_free(&text);
}

static void what_cannot_be_opened_is_said(void **state)
{
    (void)state;
    devlog_error err;
    dl_decode *d;
    char folder[] = "/tmp/devlog-test-XXXXXX", path[64];
    assert_non_null(mkdtemp(folder));
    assert_int_equal(dl_decode_new(&d, NULL, &err), DEVLOG_OK);
    assert_int_not_equal(dl_decode_file(d, folder, &err), DEVLOG_OK);
    assert_non_null(strstr(err.text, folder));
    snprintf(path, sizeof path, "%s/log.csv", folder);
    assert_int_equal(dl_decode_file(d, path, &err), DEVLOG_ERR_NOT_FOUND);
    assert_non_null(strstr(err.text, path));
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fclose(out);
    chmod(path, 0);
    chmod(folder, 0755);
    /* Root may read everything, so for a moment this is another. */
    const bool root = geteuid() == 0;
    if (!root || seteuid(65534) == 0) {
        assert_int_not_equal(dl_decode_file(d, path, &err), DEVLOG_OK);
        assert_non_null(strstr(err.text, "Permission denied"));
        assert_non_null(strstr(err.text, path));
    }
    assert_true(!root || seteuid(0) == 0);
    unlink(path);
    rmdir(folder);
    dl_decode_free(d);
}

/* What AddressSanitizer keeps back of what is freed, up to 256 MiB unless told, would be counted, and up to 2 KiB around each block. */
__attribute__((visibility("default"))) const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "quarantine_size_mb=1:max_redzone=64";
}

/* Peak memory of this process in MiB. */
static long peak(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss / 1024;
}

/* By how many MiB memory grows for a log of `n` rows, each made by `row`; in a process of its own, whose peak nothing else has moved. */
static long growth(void (*row)(dl_str *out, unsigned i), unsigned n)
{
    int ends[2], how;
    long grown = -1;
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
        dl_str text = {0};
        dl_str_add(&text, CHIP HEADER);
        for (unsigned i = 0; i < n; i++)
            row(&text, i);
        const long before = peak();
        dl_decode *d = decode(text.text, text.len, 1);
        grown = peak() - before;
        dl_decode_free(d);
        dl_str_free(&text);
        _exit(write(ends[1], &grown, sizeof grown) != sizeof grown);
    }
    close(ends[1]);
    assert_int_equal(read(ends[0], &grown, sizeof grown), sizeof grown);
    close(ends[0]);
    assert_int_equal(waitpid(child, &how, 0), child);
    assert_int_equal(how, 0);
    return grown;
}

static void grows_less(const char *what, void (*row)(dl_str *out, unsigned i), unsigned n, long limit)
{
    const long grown = growth(row, n);
    print_message("%s: %ld MiB of %ld\n", what, grown, limit);
    if (grown > limit) fail_msg("%s: memory grew by %ld MiB, more than %ld", what, grown, limit);
}

static void every_core(dl_str *out, unsigned i)
{
    dl_str_fmt(out, "%u,%u,%u,R%u,7,1000,0,1,z,ZONE_START,3,k.cpp,\n", i % 1500, i, i / 3, i);
}

static void every_zone(dl_str *out, unsigned i)
{
    dl_str_fmt(out, "0,1,1,BRISC,%u,%u,0,1,zone %u,ZONE_START,%u,file%u.cpp,\n", i, 1000 + i, i, i, i);
}

static void every_launch(dl_str *out, unsigned i)
{
    dl_str_fmt(out, "0,1,1,BRISC,7,%u,0,%u,BRISC-FW,ZONE_START,3,k.cpp,\n", 1000 + i, i);
}

/* Sixty thousand RISCs, and each launch id twice on the last of them: bookkeeping per launch and RISC. */
static void launches_times_riscs(dl_str *out, unsigned i)
{
    if (i < 60000)
        dl_str_fmt(out, "0,%u,%u,BRISC,7,1000,0,1,BRISC-FW,ZONE_START,3,k.cpp,\n", i % 300, i / 300);
    else
        dl_str_fmt(out, "0,299,199,BRISC,7,%u,0,%u,BRISC-FW,ZONE_START,3,k.cpp,\n", 1000 + i, i / 2);
}

static void always_deeper(dl_str *out, unsigned i)
{
    dl_str_fmt(out, "0,%u,1,BRISC,7,%u,0,1,z,ZONE_START,3,k.cpp,\n", i / 300, 1000 + i);
}

static void hostile_numbers_do_not_eat_memory(void **state)
{
    (void)state;
    grows_less("cores", every_core, 100000, 128);
    grows_less("zones", every_zone, 100000, 64);
    grows_less("launches", every_launch, 100000, 64);
    grows_less("launches of many RISCs", launches_times_riscs, 80000, 384);
    grows_less("depth", always_deeper, 60000, 32);
}

static devlog_status fails_late(void *ctx, const dl_event *events, size_t n, devlog_error *err)
{
    (void)events;
    uint64_t *seen = ctx;
    *seen += n;
    return *seen > 1000 ? dl_fail(err, DEVLOG_ERR_IO, "no room after %d events", 1000) : DEVLOG_OK;
}

static void a_failing_consumer_stops_the_decoder(void **state)
{
    (void)state;
    dl_str log = {0};
    test_log(&log, 9, 200, 3);
    for (unsigned threads = 1; threads <= 2; threads++) {
        devlog_error err = {0};
        dl_decode *d;
        uint64_t seen = 0;
        const dl_decode_options options = {.threads = threads, .block = 4096};
        assert_int_equal(dl_decode_new(&d, &options, &err), DEVLOG_OK);
        test_events_to(d, &seen, fails_late);
        assert_int_equal(dl_decode_memory(d, "log.csv", log.text, log.len, &err), DEVLOG_ERR_IO);
        assert_string_equal(err.text, "no room after 1000 events");
        assert_true(seen < 1200); /* and nothing more was handed to it */
        dl_decode_free(d);
    }
    dl_str_free(&log);
}

/* A packed log that breaks off, and one with damage inside: decoded as far as it goes, alike on one thread
 * and two. */
static void a_broken_archive_is_read_as_far_as_it_goes(void **state)
{
    (void)state;
    dl_str log = {0};
    test_log(&log, 8, 400, 4);
    uLongf n = compressBound(log.len) + 64;
    Bytef *packed = malloc(n);
    assert_non_null(packed);
    z_stream z = {
        .next_in = (Bytef *)log.text, .avail_in = (uInt)log.len, .next_out = packed, .avail_out = (uInt)n};
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    n = z.total_out;
    deflateEnd(&z);
    for (int damage = 0; damage < 3; damage++) {
        uint64_t rows[2];
        size_t size = damage == 1 ? n / 2 : n;
        if (damage == 2) packed[n / 2] ^= 0x55;
        for (unsigned threads = 1; threads <= 2; threads++) {
            dl_decode *d = decode((char *)packed, size, threads);
            const dl_losses *l = dl_decode_losses(d);
            rows[threads - 1] = l->rows;
            assert_int_equal(l->stopped, damage != 0);
            assert_int_equal(l->found[DL_FOUND_CORRUPT], damage != 0);

            assert_int_equal(dl_losses_any(l), damage != 0 || l->found[DL_FOUND_UNPAIRED_START] != 0);
            dl_decode_free(d);
        }
        assert_true(rows[0] > 100);
        assert_int_equal(rows[0], rows[1]);
    }
    free(packed);
    dl_str_free(&log);
}

/* Logs packed by zstd and xz: whole, two frames in one file, cut off, and with damage inside or behind. */
static void zstd_and_xz_logs_are_read_as_far_as_they_go(void **state)
{
    (void)state;
    dl_str log = {0};
    test_log(&log, 8, 400, 4);
    size_t cap = ZSTD_compressBound(log.len) + log.len / 2 + 4096;
    char *packed = malloc(2 * cap);
    assert_non_null(packed);
    dl_decode *plain = decode(log.text, log.len, 1);
    const uint64_t rows = dl_decode_losses(plain)->rows;
    dl_decode_free(plain);
    for (int xz = 0; xz < 2; xz++) {
        size_t n = 0;
        if (xz)
            assert_int_equal(lzma_easy_buffer_encode(6, LZMA_CHECK_CRC64, NULL, (const uint8_t *)log.text,
                                                     log.len, (uint8_t *)packed, &n, cap),
                             LZMA_OK);
        else
            n = ZSTD_compress(packed, cap, log.text, log.len, 3);
        assert_true(n > 1000 && n < cap);
        for (unsigned threads = 1; threads <= 2; threads++) {
            dl_decode *d = decode(packed, n, threads);
            assert_int_equal(dl_decode_losses(d)->rows, rows);
            assert_int_equal(dl_decode_losses(d)->found[DL_FOUND_CORRUPT], 0);
            dl_decode_free(d);
            d = decode(packed, n / 2, threads); /* what came before the end is there */
            assert_in_range(dl_decode_losses(d)->rows, xz ? 100 : 0, rows - 1);
            assert_true(dl_decode_losses(d)->stopped && dl_decode_losses(d)->found[DL_FOUND_CORRUPT]);
            dl_decode_free(d);
        }
        for (size_t i = 1; i < 10; i++) {
            size_t at = 16 + i * (n - 32) / 10;
            packed[at] ^= 0x55;
            dl_decode *d = decode(packed, n, 1);
            if (xz)
                assert_int_equal(dl_decode_losses(d)->found[DL_FOUND_CORRUPT], 1); /* zstd has no checksum */
            dl_decode_free(d);
            packed[at] ^= 0x55;
        }
        memcpy(packed + n, packed, n);
        dl_decode *twice = decode(packed, 2 * n, 1);
        assert_int_equal(dl_decode_losses(twice)->rows, 2 * rows);
        assert_int_equal(dl_decode_losses(twice)->found[DL_FOUND_CORRUPT], 0);
        dl_decode_free(twice);
        memcpy(packed + n, "garbage", 7);
        dl_decode *behind = decode(packed, n + 7, 1);
        assert_int_equal(dl_decode_losses(behind)->found[DL_FOUND_CORRUPT], 1);
        assert_int_equal(dl_decode_losses(behind)->rows, rows);
        dl_decode_free(behind);
    }
    free(packed);
    dl_str_free(&log);
}

/* One byte that is wrong, wherever: the stream may end too early, go on as something else, or only have
 * another checksum. And what is behind the end of an archive. */
static void every_damage_of_a_gzip_log_is_told(void **state)
{
    (void)state;
    dl_str log = {0};
    test_log(&log, 8, 6, 4);
    uLongf cap = compressBound(log.len) + 64;
    Bytef *packed = malloc(2 * cap);
    assert_non_null(packed);
    z_stream z = {
        .next_in = (Bytef *)log.text, .avail_in = (uInt)log.len, .next_out = packed, .avail_out = (uInt)cap};
    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    const size_t n = z.total_out;
    deflateEnd(&z);
    for (size_t i = 0; i < 300; i++) {
        size_t at = 10 + i * (n - 10) / 300; /* the head has bytes that mean nothing */
        packed[at] ^= (Bytef)(1 + i % 255);
        dl_decode *d = decode((char *)packed, n, 1);
        if (!dl_decode_losses(d)->found[DL_FOUND_CORRUPT]) fail_msg("byte %zu of %zu", at, n);
        dl_decode_free(d);
        packed[at] ^= (Bytef)(1 + i % 255);
    }
    static const struct {
        const char *behind;
        size_t n;
        bool corrupt;
    } ends[] = {{"", 0, false}, {"\0\0\0\0", 4, false}, {"garbage", 7, true}};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        memcpy(packed + n, ends[i].behind, ends[i].n);
        dl_decode *d = decode((char *)packed, n + ends[i].n, 1);
        assert_int_equal(dl_decode_losses(d)->found[DL_FOUND_CORRUPT], ends[i].corrupt);
        dl_decode_free(d);
    }
    dl_decode *once = decode((char *)packed, n, 1);
    memcpy(packed + n, packed, n); /* two archives in one file are one log */
    dl_decode *twice = decode((char *)packed, 2 * n, 1);
    assert_int_equal(dl_decode_losses(twice)->found[DL_FOUND_CORRUPT], 0);
    assert_int_equal(dl_decode_losses(twice)->rows, 2 * dl_decode_losses(once)->rows);
    dl_decode_free(once);
    dl_decode_free(twice);
    free(packed);
    dl_str_free(&log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_case_is_told),
        cmocka_unit_test(nul_bytes_cost_their_line_only),
        cmocka_unit_test(no_frequency_no_nanoseconds),
        cmocka_unit_test(lines_of_ten_megabytes),
        cmocka_unit_test(what_cannot_be_opened_is_said),
        cmocka_unit_test(a_failing_consumer_stops_the_decoder),
        cmocka_unit_test(a_broken_archive_is_read_as_far_as_it_goes),
        cmocka_unit_test(zstd_and_xz_logs_are_read_as_far_as_they_go),
        cmocka_unit_test(every_damage_of_a_gzip_log_is_told),
        cmocka_unit_test(hostile_numbers_do_not_eat_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
