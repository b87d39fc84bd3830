/* What markers take of a kernel's slot: bytes of code each, and how many fit. What documents and messages say
 * of it stands here too, so that it is measured whenever it changes. Not for what markers cost in time
 * (test_marker_cost). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/cost.h"
#include "support/files.h"
#include "support/fixture.h"

#define HEAD "#include <devlog/kernel.h>\n#include <devlog/profile.h>\n"

/* ---- Bytes of each ---- */

static const struct size {
    const char *marker, *flags;
    uint32_t bytes;
    const char *row, *said; /* the row of docs/markers.md, and what stands in its last column */
} sizes[] = {
    {"DEVLOG_EVENT(\"e\")", NULL, 48, "| `DEVLOG_EVENT` |", "48"},
    {"DEVLOG_ZONE(\"z\")", NULL, 96, "| `DEVLOG_ZONE`,", "96"},
    {"DEVLOG_ZONE_COMPLETE(\"c\")", NULL, 56, "| `DEVLOG_ZONE_COMPLETE` |", "56"},
    {"DEVLOG_VALUE(\"v\",v)", NULL, 52, "| `DEVLOG_VALUE`,", "52"},
    {"DEVLOG_COUNTER(\"v\",v)", NULL, 52, NULL, NULL},
    {"DEVLOG_VALUE64(\"v\",v)", NULL, 56, "| `DEVLOG_VALUE64` |", "56"},
    {"DEVLOG_PRINTF(\"%u,%u\",v,v)", NULL, 64, "| `DEVLOG_PRINTF`,", "64"},
    {"DEVLOG_ZONE_SUM(\"s\")", NULL, 92, "| `DEVLOG_ZONE_SUM`,", "92"},
    {"DEVLOG_EVENT(\"e\")", "-DDEVLOG_STAMP32", 40, "| event / zone / complete zone, `-DDEVLOG_STAMP32`",
     "40 / 80 / 48"},
    {"DEVLOG_ZONE(\"z\")", "-DDEVLOG_STAMP32", 80, NULL, NULL},
    {"DEVLOG_ZONE_COMPLETE(\"c\")", "-DDEVLOG_STAMP32", 48, NULL, NULL},
    {"DEVLOG_EVENT(\"e\")", "-DDEVLOG_HW_STREAM", 8, "| event / zone, `-DDEVLOG_HW_STREAM`", "8 / 16"},
    {"DEVLOG_ZONE(\"z\")", "-DDEVLOG_HW_STREAM", 16, NULL, NULL},
};

static uint32_t bytes_of(const char *marker, const char *flags)
{
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        if (strcmp(sizes[i].marker, marker) == 0 &&
            strcmp(sizes[i].flags ? sizes[i].flags : "", flags ? flags : "") == 0)
            return sizes[i].bytes;
    return 0;
}

static void bytes_of_code(void **state)
{
    (void)state;
    devlog_error err = {0};
    devlog_device *device = open_device("wormhole_b0", NULL);
    int wrong = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        const cost_case c = {.source = source_path("tests/sim/kernels/cost.c"),
                             .flags = sizes[i].flags,
                             .marker = sizes[i].marker,
                             .classes = 1};
        cost got;
        check_ok(cost_measure(device, &c, &got, &err), &err);
        printf("%-28s %-18s %3u bytes of code (said: %u)\n", sizes[i].marker,
               sizes[i].flags ? sizes[i].flags : "", got.code_bytes, sizes[i].bytes);
        wrong += got.code_bytes != sizes[i].bytes;
    }
    check_ok(devlog_device_close(device, &err), &err);
    assert_int_equal(wrong, 0);
}

/* ---- How many fit ---- */

/* A kernel of `n` markers, `each` in a function. */
static const char *many(const char *marker, uint32_t n, uint32_t each)
{
    static char text[1 << 20], path[128];
    size_t at = (size_t)snprintf(text, sizeof text, HEAD "volatile uint32_t sink;\n");
    for (uint32_t i = 0; i < n; i++) {
        if (i % each == 0)
            at += (size_t)snprintf(text + at, sizeof text - at,
                                   "%sstatic __attribute__((noinline)) void f%u(void)\n{\n", i ? "}\n" : "",
                                   i / each);
        at += (size_t)snprintf(text + at, sizeof text - at, "    { %s(\"%u\"); }\n", marker, i);
    }
    at += (size_t)snprintf(text + at, sizeof text - at, "}\nvoid kernel_main(void)\n{\n");
    for (uint32_t i = 0; i < (n + each - 1) / each; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "    f%u();\n", i);
    snprintf(text + at, sizeof text - at, "}\n");
    snprintf(path, sizeof path, "%s/many.c", test_folder());
    write_text(path, text);
    return path;
}

/* Whether so many fit into the slot of `risc` when every RISC has a kernel, so that it is its own slot alone.
 */
static bool fits(const char *name, const char *marker, const char *flags, uint32_t n, uint32_t each)
{
    devlog_error err = {0};
    fixture f = {.device = open_device(name, NULL)};
    check_ok(devlog_program_create(f.device, &f.program, &err), &err);
    char small[128];
    snprintf(small, sizeof small, "%s/small.c", test_folder());
    write_text(small, HEAD "void kernel_main(void) {}\n");
    static const char *const riscs[] = {"BRISC", "NCRISC", "TRISC0", "TRISC1", "TRISC2"};
    bool alone = strcmp(name, "wormhole_b0") != 0;
    for (size_t i = 0; i < (alone ? 1 : 5); i++) {
        const devlog_kernel_options o = DEVLOG_KERNEL_OPTIONS(.source = i ? small : many(marker, n, each),
                                                              .risc = alone ? "HART0" : riscs[i],
                                                              .cores = one, .flags = i ? NULL : flags);
        check_ok(devlog_program_add_kernel(f.program, &o, NULL, &err), &err);
    }
    devlog_status status = devlog_compile_program(f.program, &err);
    if (status != DEVLOG_OK && !strstr(err.text, "does not fit") && !strstr(err.text, "WIDE_IDS"))
        fail_msg("%s", err.text);
    stop(&f);
    return status == DEVLOG_OK;
}

typedef struct room {
    const char *board, *slot, *marker, *flags;
    /* So many fit in one function, and in functions of ten. Rounded down, by less than LEFT, so that not
     * every instruction of the firmware's part changes what is said. */
    uint32_t one_function, tens;
} room;

enum { LEFT = 5 }; /* per cent */

static const room rooms[] = {
    {"fe310", "4 KiB, FE310", "DEVLOG_ZONE", NULL, 20, 20},
    {"fe310", NULL, "DEVLOG_ZONE_COMPLETE", NULL, 34, 34},
    {"fe310", NULL, "DEVLOG_EVENT", NULL, 40, 40},
    {"fe310", NULL, "DEVLOG_ZONE", "-DDEVLOG_STAMP32", 24, 24},
    {"gd32vf103", "4 KiB, GD32VF103", "DEVLOG_ZONE", NULL, 19, 19},
    {"gd32vf103", NULL, "DEVLOG_ZONE_COMPLETE", NULL, 33, 32},
    {"gd32vf103", NULL, "DEVLOG_EVENT", NULL, 38, 38},
    {"gd32vf103", NULL, "DEVLOG_ZONE", "-DDEVLOG_STAMP32", 23, 22},
    {"wormhole_b0", "32 KiB", "DEVLOG_ZONE", NULL, 289, 309},
    {"wormhole_b0", NULL, "DEVLOG_ZONE_COMPLETE", NULL, 500, 525},
    {"wormhole_b0", NULL, "DEVLOG_ZONE", "-DDEVLOG_STAMP32", 340, 370},
};

static void so_many_fit(void **state)
{
    (void)state;
    int wrong = 0;
    for (size_t i = 0; i < sizeof rooms / sizeof rooms[0]; i++) {
        for (int tens = 0; tens < 2; tens++) {
            const room *r = &rooms[i];
            uint32_t n = tens ? r->tens : r->one_function, each = tens ? 10 : n + 1;
            bool fit = fits(r->board, r->marker, r->flags, n, each);
            bool more = fits(r->board, r->marker, r->flags, n + n * LEFT / 100 + 1, tens ? 10 : 2 * n);
            if (fit && !more) continue;
            fprintf(stderr, "%s: %s %s: %u markers, %s: %s\n", r->board, r->marker, r->flags ? r->flags : "",
                    n, tens ? "ten in a function" : "one function", fit ? "more fit" : "they do not fit");
            wrong++;
        }
    }
    assert_int_equal(wrong, 0);
}

/* ---- What is said of it ---- */

static void documents_say_so(void **state)
{
    (void)state;
    size_t size;
    char *doc = read_bytes(source_path("docs/markers.md"), &size);
    char row[200] = "";
    for (size_t i = 0; i < sizeof rooms / sizeof rooms[0]; i++) {
        const room *r = &rooms[i];
        uint32_t low = r->tens < r->one_function ? r->tens : r->one_function;
        uint32_t high = r->tens + r->one_function - low;
        size_t at = strlen(row);
        if (r->slot) at = (size_t)snprintf(row, sizeof row, "| %s |", r->slot);
        /* The codes for events end before 32 KiB do. */
        if (r->flags && !strstr(row, "4 KiB"))
            at += (size_t)snprintf(row + at, sizeof row - at, " 512 (ids) |");
        if (low == high)
            snprintf(row + at, sizeof row - at, " %u |", low);
        else
            snprintf(row + at, sizeof row - at, " %u to %u |", low, high);
        if (r->flags && !strstr(doc, row)) fail_msg("docs/markers.md does not say '%s'", row);
    }
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        if (!sizes[i].row) continue;
        const char *at = strstr(doc, sizes[i].row);
        if (!at) fail_msg("docs/markers.md has no row '%s'", sizes[i].row);
        char end[32];
        snprintf(end, sizeof end, "| %s |\n", sizes[i].said);
        const char *line_end = strchr(at, '\n') + 1;
        if (strncmp(line_end - strlen(end), end, strlen(end)) != 0)
            fail_msg("docs/markers.md: '%s' does not end with '%s'", sizes[i].row, end);
    }
    free(doc);
}

/* The message about a full slot gives the same sizes. */
static void the_message_says_so(void **state)
{
    (void)state;
    char words[160];
    snprintf(words, sizeof words,
             "A zone takes %u bytes of code, a complete zone %u, with -DDEVLOG_STAMP32 %u and %u:",
             bytes_of("DEVLOG_ZONE(\"z\")", NULL), bytes_of("DEVLOG_ZONE_COMPLETE(\"c\")", NULL),
             bytes_of("DEVLOG_ZONE(\"z\")", "-DDEVLOG_STAMP32"),
             bytes_of("DEVLOG_ZONE_COMPLETE(\"c\")", "-DDEVLOG_STAMP32"));
    devlog_error err = {0};
    fixture f = {.device = open_device("fe310", NULL)};
    check_ok(devlog_program_create(f.device, &f.program, &err), &err);
    const devlog_kernel_options o =
        DEVLOG_KERNEL_OPTIONS(.source = many("DEVLOG_ZONE", 60, 10), .risc = "HART0", .cores = one);
    check_ok(devlog_program_add_kernel(f.program, &o, NULL, &err), &err);
    assert_int_equal(devlog_compile_program(f.program, &err), DEVLOG_ERR_COMPILE);
    if (!strstr(err.text, words)) fail_msg("'%s' does not say '%s'", err.text, words);
    stop(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_of_code),
        cmocka_unit_test(so_many_fit),
        cmocka_unit_test(documents_say_so),
        cmocka_unit_test(the_message_says_so),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
