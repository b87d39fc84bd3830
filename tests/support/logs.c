/* Small device logs, and ways to damage them. See logs.h. */
#include "support/logs.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define PLACE  "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset]"
#define SOURCE "source line, source file"

static const char *const headers[TEST_LOG_KINDS] = {
    "",
    "Chip clock is at 1202 Mhz; ARCH: grayskull, CHIP_FREQ[MHz]: 1202;\n" PLACE "\n",
    "ARCH: grayskull, CHIP_FREQ[MHz]: 1202\n" PLACE "\n",
    "ARCH: grayskull, CHIP_FREQ[MHz]: 1202\n" PLACE ", stat value, Run ID, zone name, zone phase, " SOURCE
    "\n",
    "ARCH: grayskull, CHIP_FREQ[MHz]: 1202\n" PLACE
    ", stat value, run ID, run host ID, zone name, zone phase, " SOURCE "\n",
    "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000\n" PLACE ", data, run ID, run host ID, zone name, type, " SOURCE
    "\n",
    "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000\n" PLACE ", data, run ID, run host ID, zone name, type, " SOURCE
    ", meta data\n",
    "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000\n" PLACE ", data, run host ID,  zone name, type, " SOURCE
    ", meta data\n",
    "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000\n" PLACE
    ", data, run host ID, trace id, trace id counter, zone name, type, " SOURCE ", meta data\n",
    "ARCH: blackhole, CHIP_FREQ[MHz]: 1350, Max Compute Cores: 130\n" PLACE
    ", data, run host ID, trace id, trace id counter, zone name, type, " SOURCE ", meta data\n",
};

typedef struct place {
    int kind, core;
    const char *risc;
    unsigned launch;
} place;

/* The cells from data to the end of the line. */
static void rest(dl_str *out, const place *p, uint64_t data, const char *zone, bool end, const char *type,
                 const char *source, const char *meta)
{
    dl_str_fmt(out, ",%" PRIu64, data);
    if (p->kind >= 3 && p->kind <= 6) dl_str_fmt(out, ",%u", p->launch / 2);
    if (p->kind >= 4) dl_str_fmt(out, ",%u", 1024 * p->launch);
    bool traced = p->launch % 3 == 2;
    if (p->kind >= 8 && traced) dl_str_fmt(out, ",7,%u", p->launch);
    if (p->kind >= 8 && !traced) dl_str_add(out, ",,");
    if (p->kind == 3)
        dl_str_fmt(out, ",%-12s,%s,%s\n", zone, end ? "end  " : "begin", source);
    else if (p->kind == 4)
        dl_str_fmt(out, ",%s,%s,%s\n", zone, end ? "end" : "begin", source);
    else
        dl_str_fmt(out, ",%s,%s,%s%s%s\n", zone, type, source, p->kind >= 6 ? "," : "",
                   p->kind >= 6 ? meta : "");
}

static void row(dl_str *out, const place *p, unsigned timer, uint64_t time, uint64_t data, const char *zone,
                const char *type, const char *source, const char *meta)
{
    bool end = strcmp(type, "ZONE_END") == 0;
    const char *blank = p->kind <= 2 ? " " : "";
    dl_str_fmt(out, "%d,%s%d,%s%d,%s%s,%s", p->core / 4, blank, 1 + p->core % 2, blank, 1 + p->core / 2 % 2,
               blank, p->risc, blank);
    dl_str_fmt(out, p->kind == 3 ? "%-6u" : "%u", timer);
    dl_str_fmt(out, ",%s%" PRIu64, blank, time);
    if (p->kind <= 2)
        dl_str_char(out, '\n');
    else
        rest(out, p, data, zone, end, type, source, meta);
}

static void numbered(dl_str *out, const place *p, uint64_t t, uint64_t *seed)
{
    static const unsigned timers[] = {1, 2, 5, 6, 9997, 3, 4};
    for (size_t i = 0; i < sizeof timers / sizeof timers[0]; i++)
        row(out, p, timers[i], t += 10 + test_random(seed) % 500, 0, "", "", "", "");
}

static void named(dl_str *out, const place *p, uint64_t t, uint64_t *seed)
{
    static const char *const metas[] = {
        "", "{\"noc\":0;\"dst\":\"1-1\";\"bytes\":32}", "plain text", " blank before", "\"quoted; text\"",
    };
    static const char *const sums[] = {"", "{\"count\":3;\"min\":1;\"max\":70}", "{\"count\":x}",
                                       "{\"count\":1;\"min\":2}"};
    static const char *const texts[] = {"", "{\"text\":\"a line\"}", "{\"text\":\"one\\u002c two\\n\"}",
                                        "{\"text\""};
    static const char *const values_of[] = {"", "{\"counter\":1}"};
    static const uint64_t values[] = {0, 7, 3105098146250761, UINT64_MAX};
    char fw[32], kernel[32];
    int core_name = strncmp(p->risc, "TRISC", 5) == 0 ? 5 : 10;
    dl_str name = {0};
    dl_str_fmt(&name, "%.*s-FW", core_name, p->risc);
    strcpy(fw, name.text);
    dl_str_clear(&name);
    dl_str_fmt(&name, "%.*s-KERNEL", core_name, p->risc);
    strcpy(kernel, name.text);
    dl_str_free(&name);
    unsigned fw_end = p->kind == 3 ? 118963 : 53427, kernel_end = p->kind == 3 ? 90791 : 25255;
    char op[32] = "";
    if (p->launch % 2) snprintf(op, sizeof op, "{\"op\":%u}", p->launch);
    row(out, p, 53427, t, 0, fw, "ZONE_START", "315,hw/firmware/src/brisc.cc", op);
    row(out, p, fw_end, t + 9000, 0, fw, "ZONE_END", "315,hw/firmware/src/brisc.cc", "");
    row(out, p, 25255, t + 20, 0, kernel, "ZONE_START", "40,hw/firmware/src/brisck.cc", "");
    row(out, p, kernel_end, t + 8900, 0, kernel, "ZONE_END", "40,hw/firmware/src/brisck.cc", "");
    for (unsigned i = 0; i < 1 + test_random(seed) % 4; i++) {
        row(out, p, 36986, t += 30 + test_random(seed) % 500, 0, "a zone", "ZONE_START", "10,./kernel.cpp",
            "");
        if (p->kind >= 5) {
            const char *meta = metas[test_random(seed) % 5];
            row(out, p, 12345, t += 3, values[test_random(seed) % 4], "", "TS_DATA", "0,", meta);
            row(out, p, 77, t += 2, 0, "here", "TS_EVENT", "11,./kernel.cpp", texts[test_random(seed) % 4]);
            row(out, p, 78, t, 2 + i, "level", "TS_DATA_16B", "13,./kernel.cpp", values_of[i % 2]);
            row(out, p, 4711, t, test_random(seed) % 1000, "waits", "ZONE_TOTAL", "12,./kernel.cpp",
                sums[test_random(seed) % 4]);
        }
        row(out, p, 36986, t += 30 + test_random(seed) % 500, 0, "a zone", "ZONE_END", "10,./kernel.cpp", "");
    }
}

void test_log(dl_str *out, int kind, unsigned launches, uint64_t seed)
{
    static const char *const riscs[] = {"BRISC", "NCRISC", "TRISC_0", "TRISC_2", "ERISC"};
    dl_str_add(out, headers[kind]);
    uint64_t t = test_random(&seed) % 3 ? UINT64_C(1882735032214) : 900; /* the first stamps get longer */
    for (unsigned launch = 0; launch < launches; launch++, t += 40000) {
        for (int core = 0; core < 5; core += 1 + (int)(test_random(&seed) % 2)) {
            for (int r = 0; r < 5; r += 1 + (int)(test_random(&seed) % 3)) {
                const place p = {kind, core, riscs[r], launch};
                if (kind <= 2)
                    numbered(out, &p, t + test_random(&seed) % 50, &seed);
                else
                    named(out, &p, t + test_random(&seed) % 50, &seed);
            }
        }
    }
}

/* Replaces text[at..at + old) by `new_n` bytes, when there is room. */
static void replace(char *text, size_t *n, size_t cap, size_t at, size_t old, const char *with, size_t new_n)
{
    if (*n - old + new_n > cap) return;
    memmove(text + at + new_n, text + at + old, *n - at - old);
    memcpy(text + at, with, new_n);
    *n = *n - old + new_n;
}

static size_t line_start(const char *text, size_t at)
{
    while (at && text[at - 1] != '\n')
        at--;
    return at;
}

static size_t line_end(const char *text, size_t n, size_t at)
{
    while (at < n && text[at] != '\n')
        at++;
    return at < n ? at + 1 : n;
}

void test_damage(char *text, size_t *n, size_t cap, uint64_t *seed)
{
    static const char *const pieces[] = {
        ",",
        "\"",
        "\n",
        "\r",
        "\r\n",
        " ",
        "\t",
        "-",
        "0",
        "9",
        "99999999999999999999",
        "\xEF\xBB\xBF",
        "ARCH: x",
        ",,",
        "\"a, b\"",
        "{\"x\":1;\"y\":\"z\"}",
        "ZONE_END",
        "18446744073709551615",
        "4294967295",
        "1",
        "0000000000000000000001",
        "65536",
        ";",
        "timer_id",
    };
    if (*n < 2) return;
    size_t at = test_random(seed) % *n, from = line_start(text, at), to = line_end(text, *n, at);
    char copy[512];
    switch (test_random(seed) % 14) {
    case 0: text[at] ^= (char)(1 << test_random(seed) % 8); break;
    case 1: text[at] = (char)test_random(seed); break;
    case 2: text[at] = 0; break;
    case 3: *n = at; break;                                       /* cut */
    case 4: replace(text, n, cap, at, 1, "", 0); break;           /* a byte less */
    case 5: replace(text, n, cap, from, to - from, "", 0); break; /* a line less */
    case 6:                                                       /* a line twice */
        if (to - from > sizeof copy) break;
        memcpy(copy, text + from, to - from);
        replace(text, n, cap, at = line_start(text, test_random(seed) % *n), 0, copy, to - from);
        break;
    case 7: /* CRLF, in one line or all */
        if (test_random(seed) % 2) {
            replace(text, n, cap, to - 1, 0, "\r", 1);
            break;
        }
        for (size_t i = *n; i-- > 0;)
            if (text[i] == '\n') replace(text, n, cap, i, 0, "\r", 1);
        break;
    case 12: { /* a header of another writer, on a line of its own or within this one */
        const char *header = headers[1 + test_random(seed) % (TEST_LOG_KINDS - 1)];
        header = strchr(header, '\n') + 1; /* without its chip line */
        char line[512];
        const int k = snprintf(line, sizeof line, "%c%.*s", "\r\n"[test_random(seed) % 2],
                               (int)strcspn(header, "\n"), header);
        replace(text, n, cap, to - 1, 0, line, (size_t)k);
        break;
    }
    case 13: { /* the same in several lines: what is alike is learned */
        const char *piece = pieces[test_random(seed) % (sizeof pieces / sizeof pieces[0])];
        const size_t step = 1 + test_random(seed) % 8, back = 1 + test_random(seed) % 30;
        for (size_t k = 0; k < 5 * step && to < *n; k++) {
            if (k % step == 0 && to - from > back) replace(text, n, cap, to - back, 0, piece, strlen(piece));
            from = line_end(text, *n, from);
            to = line_end(text, *n, from);
        }
        break;
    }
    case 8: /* a digit more or less in a number */
        while (at < *n && (text[at] < '0' || text[at] > '9'))
            at++;
        if (at < *n) replace(text, n, cap, at, test_random(seed) % 2, "7", test_random(seed) % 2);
        break;
    default: {
        const char *piece = pieces[test_random(seed) % (sizeof pieces / sizeof pieces[0])];
        size_t old = test_random(seed) % 4;
        if (old > *n - at) old = 0;
        replace(text, n, cap, at, old, piece, strlen(piece));
        break;
    }
    }
}

size_t test_damaged_log(dl_str *out, unsigned long i, unsigned most, uint64_t *seed)
{
    test_log(out, (int)(i % TEST_LOG_KINDS), 1 + (unsigned)(i % 3), *seed);
    const size_t cap = 2 * out->len;
    size_t n = out->len;
    if (!dl_str_reserve(out, cap)) return n;
    for (uint64_t k = test_random(seed) % most; k-- > 0;)
        test_damage(out->text, &n, cap, seed);
    return n;
}
