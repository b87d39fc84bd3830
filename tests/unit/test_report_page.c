/* device_perf.html: the columns hold what was decoded, nothing in a log becomes a program, what is left out
 * is counted, and the bytes depend on the log alone. How it looks and works is tested in a browser
 * (test_page_browser.c). */
#include "support/cmocka_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "report/page.h"
#include "report/page_internal.h"
#include "support/text.h"

#define HEADER                                                                                               \
    "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000\n"                                                              \
    "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, run host "    \
    "ID, "                                                                                                   \
    "zone name, type, source line, source file, meta data\n"

typedef void (*look)(const page_pack *p);

/* The page of a log; `at` looks at what was packed. */
static dl_str page_of(const char *log, uint32_t max_intervals, look at)
{
    devlog_error err = {0};
    dl_decode *d;
    dl_view *v;
    dl_str html = {0};
    const dl_page_options options = {.title = "a <b>log</b>", .max_intervals = max_intervals};
    assert_int_equal(dl_decode_new(&d, NULL, &err), DEVLOG_OK);
    assert_int_equal(dl_view_new(&v, d, &(dl_view_options){0}, &err), DEVLOG_OK);
    assert_int_equal(dl_decode_run_sink(d, dl_view_runs(v), &err), DEVLOG_OK);
    assert_int_equal(dl_decode_memory(d, "log", log, strlen(log), &err), DEVLOG_OK);
    assert_int_equal(dl_decode_finish(d, &err), DEVLOG_OK);
    assert_int_equal(dl_view_ready(v, &err), DEVLOG_OK);
    assert_int_equal(dl_page_text(v, &options, &html, &err), DEVLOG_OK);
    if (at) {
        page_pack p;
        assert_int_equal(page_pack_view(&p, v, max_intervals ? max_intervals : 1000, &err), DEVLOG_OK);
        at(&p);
        page_pack_free(&p);
    }
    dl_view_free(v);
    dl_decode_free(d);
    return html;
}

static int base64_digit(char c)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const char *at = c ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) : -1;
}

/* The columns of a page, inflated: read as the browser reads them. */
static size_t columns_of(const dl_str *html, unsigned char *out, size_t size)
{
    const char *at = strstr(html->text, "id=\"columns\">");
    assert_non_null(at);
    at += strlen("id=\"columns\">");
    unsigned char packed[65536];
    size_t n = 0;
    for (; *at != '<'; at += 4) {
        int v[4];
        for (int i = 0; i < 4; i++)
            v[i] = base64_digit(at[i]);
        assert_true(v[0] >= 0 && v[1] >= 0);
        packed[n++] = (unsigned char)(v[0] << 2 | v[1] >> 4);
        if (v[2] >= 0) packed[n++] = (unsigned char)(v[1] << 4 | v[2] >> 2);
        if (v[3] >= 0) packed[n++] = (unsigned char)(v[2] << 6 | v[3]);
        assert_true(n + 3 < sizeof packed);
    }
    uLongf got = size;
    assert_int_equal(uncompress(out, &got, packed, n), Z_OK);
    return got;
}

static uint64_t varint(const unsigned char **at)
{
    uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
        value |= (uint64_t)(**at & 127) << shift;
        if (*(*at)++ < 128) return value;
    }
}

static const char nested[] = HEADER "0,1,2,BRISC,1,1000,0,7,BRISC-FW,ZONE_START,1,fw.c,\n"
                                    "0,1,2,BRISC,2,1100,0,7,inner,ZONE_START,5,k.c,\n"
                                    "0,1,2,BRISC,3,1150,18446744073709551615,7,value,TS_DATA,6,k.c,\n"
                                    "0,1,2,BRISC,2,1300,0,7,inner,ZONE_END,5,k.c,\n"
                                    "0,1,2,BRISC,2,1300,0,7,inner,ZONE_START,5,k.c,\n"
                                    "0,1,2,BRISC,2,1500,0,7,inner,ZONE_END,5,k.c,\n"
                                    "0,1,2,BRISC,1,2000,0,7,BRISC-FW,ZONE_END,1,fw.c,\n";

static void columns_hold_what_was_decoded(void **state)
{
    (void)state;
    dl_str html = page_of(nested, 0, NULL);
    unsigned char bytes[4096];
    size_t n = columns_of(&html, bytes, sizeof bytes);
    const unsigned char *at = bytes;
    /* Lines: the launch, firmware, two zones inside, the value. Gaps, lengths, sites, launches. */
    const uint64_t expected[] = {
        0, 0, 100, 0, 150, 1000, 1000, 200, 200, UINT64_MAX, 0, 0, 1, 1, 2 * 8 + DL_VIEW_VALUE,
        0, 0, 0,   0, 0};
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
        assert_int_equal(varint(&at), expected[i]);
    assert_ptr_equal(at, bytes + n);
    assert_non_null(strstr(html.text, "\"rows\":[[0,-1,-1,\"launches\",\"1000\",[0,0,1]],"
                                      "[0,1,2,\"BRISC\",\"1000\",[0,0,1,1,0,2,2,1,1]]]"));
    assert_non_null(strstr(html.text, "[\"inner\",\"k.c\",5,0]"));
    assert_non_null(strstr(html.text, "\"lost\":false"));
    dl_str_free(&html);
}

static void same_log_same_bytes(void **state)
{
    (void)state;
    dl_str a = page_of(nested, 0, NULL), b = page_of(nested, 0, NULL);
    assert_int_equal(a.len, b.len);
    assert_memory_equal(a.text, b.text, a.len);
    dl_str_free(&a);
    dl_str_free(&b);
}

static void names_never_become_markup(void **state)
{
    (void)state;
    const char *log = HEADER "0,1,2,BRISC,1,1000,0,7,</script><script>alert(1)</script>,ZONE_START,1,<!--,\n"
                             "0,1,2,BRISC,1,1010,0,7,</script><script>alert(1)</script>,ZONE_END,1,<!--,\n"
                             "0,1,2,BRISC,2,1020,0,7,\xff\xfe\"\\\xc3,ZONE_START,1,k.c,\n"
                             "0,1,2,BRISC,2,1030,0,7,\xff\xfe\"\\\xc3,ZONE_END,1,k.c,\n";
    dl_str plain = page_of(nested, 0, NULL), html = page_of(log, 0, NULL);
    assert_int_equal(text_count(html.text, "<script"), text_count(plain.text, "<script"));
    assert_int_equal(text_count(html.text, "</script"), text_count(plain.text, "</script"));
    assert_null(strstr(html.text, "<script>alert"));
    assert_null(strstr(html.text, "a <b>log"));
    assert_non_null(strstr(html.text, "\\u003c/script>\\u003cscript>alert(1)"));
    assert_null(strchr(html.text, '\xff'));
    assert_non_null(strstr(html.text, "default-src 'none'"));
    dl_str_free(&plain);
    dl_str_free(&html);
}

/* Two lines, in none of which a zone begins before the one before it has ended. */
static void look_at_overlaps(const page_pack *p)
{
    assert_int_equal(p->intervals, 4);
    assert_int_equal(p->left_out, 0);
    assert_non_null(strstr(p->rows.text, "\"BRISC\",\"1000\",[0,0,3,1,0,1]]"));
    const unsigned char *at = (const unsigned char *)p->columns[PAGE_GAPS].text;
    const uint64_t expected[] = {0, 100, 10, 100};
    for (size_t i = 0; i < 4; i++)
        assert_int_equal(varint(&at), expected[i]);
}

static void zones_that_overlap_get_lines_of_their_own(void **state)
{
    (void)state;
    const char *log = HEADER "0,1,2,BRISC,1,1000,0,7,a,ZONE_START,1,k.c,\n"
                             "0,1,2,BRISC,2,1100,0,7,b,ZONE_START,2,k.c,\n"
                             "0,1,2,BRISC,1,1200,0,7,a,ZONE_END,1,k.c,\n"
                             "0,1,2,BRISC,2,1300,0,7,b,ZONE_END,2,k.c,\n"
                             "0,1,2,BRISC,3,1300,0,7,c,ZONE_START,3,k.c,\n"
                             "0,1,2,BRISC,3,1340,0,7,c,ZONE_END,3,k.c,\n"
                             "0,1,2,BRISC,3,1350,0,7,c,ZONE_START,3,k.c,\n"
                             "0,1,2,BRISC,3,1350,0,7,c,ZONE_END,3,k.c,\n";
    dl_str html = page_of(log, 0, look_at_overlaps);
    dl_str_free(&html);
}

static void look_at_a_page_cut_short(const page_pack *p)
{
    assert_true(p->intervals >= 20 && p->intervals <= 40);
    assert_int_equal(p->intervals + p->left_out, 100);
    assert_int_equal(p->intervals, p->launch_end);
}

static void later_launches_are_left_out_and_counted(void **state)
{
    (void)state;
    dl_str log = {0};
    dl_str_add(&log, HEADER);
    for (int launch = 0; launch < 100; launch++)
        for (int end = 0; end < 2; end++)
            dl_str_fmt(&log, "0,1,2,BRISC,1,%d,0,%d,BRISC-FW,%s,1,fw.c,\n", 1000 + launch * 20 + end * 10,
                       launch + 1, end ? "ZONE_END" : "ZONE_START");
    dl_str html = page_of(log.text, 40, look_at_a_page_cut_short);
    assert_non_null(strstr(html.text, "\"left_out\":60,"));
    assert_non_null(strstr(html.text, "[0,\"BRISC\",\"BRISC-FW\",1,100,1000,")); /* statistics are of all */
    dl_str_free(&html);
    dl_str_free(&log);
}

static void a_log_without_rows_gives_a_page(void **state)
{
    (void)state;
    dl_str html = page_of(HEADER, 0, NULL);
    assert_non_null(strstr(html.text, "\"rows\":[]"));
    assert_non_null(strstr(html.text, "There is no zone to show"));
    dl_str_free(&html);
}

/* The policy names the hash of exactly the text that stands in the page; a browser would run nothing
 * otherwise. The hash itself is checked by the browser's test; here, that each part is there once. */
static void parts_are_embedded(void **state)
{
    (void)state;
    dl_str html = page_of(nested, 0, NULL);
    assert_non_null(strstr(html.text, page_script_hash));
    assert_non_null(strstr(html.text, page_style_hash));
    assert_int_equal(strlen(page_script_hash), strlen("'sha256-'") + 44);
    const char *script =
        strstr(html.text, (const char *)page_script); /* has no NUL in it, and one behind it */
    assert_non_null(script);
    assert_null(strstr(script + 1, (const char *)page_script));
    assert_true(page_script_size > 10000);
    assert_null(strstr(html.text, "http://"));
    dl_str_free(&html);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_hold_what_was_decoded),
        cmocka_unit_test(same_log_same_bytes),
        cmocka_unit_test(names_never_become_markup),
        cmocka_unit_test(zones_that_overlap_get_lines_of_their_own),
        cmocka_unit_test(later_launches_are_left_out_and_counted),
        cmocka_unit_test(a_log_without_rows_gives_a_page),
        cmocka_unit_test(parts_are_embedded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
