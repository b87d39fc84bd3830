/* Tables for people: nothing runs together, a line is no longer than the terminal, into a pipe all is whole,
 * and no cell gives the terminal a command. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grid.h"
#include "support/cmocka_all.h"

static const dl_grid_column columns[] = {
    {"RISC", DL_GRID_LEFT, 0},
    {"zone", DL_GRID_NAME, 0},
    {"total", DL_GRID_RIGHT, 0},
    {"min", DL_GRID_RIGHT, 2},
    {"ns", DL_GRID_RIGHT | DL_GRID_RULE, 1},
};

static char *printed(const char *zone, uint64_t number, unsigned width)
{
    dl_grid g = DL_GRID(columns);
    dl_str out = {0};
    for (int i = 0; i < 2; i++) {
        dl_grid_text(&g, "BRISC");
        dl_grid_text(&g, zone);
        dl_grid_u64(&g, number);
        dl_grid_u64(&g, number / 2);
        dl_grid_number(&g, (double)number);
    }
    dl_grid_note(&g, "... and 5 more");
    dl_grid_print(&g, width, &out);
    assert_false(out.failed);
    return out.text;
}

static void columns_fit_what_is_in_them(void **state)
{
    (void)state;
    char *text = printed("a zone", 12345, 0);
    assert_string_equal(text, "RISC   zone     total    min  |     ns\n"
                              "BRISC  a zone  12,345  6,172  | 12,345\n"
                              "BRISC  a zone  12,345  6,172  | 12,345\n"
                              "... and 5 more\n");
    free(text);
}

/* What can be spared is left out, and that is said; then names are shortened. */
static void a_narrow_terminal_has_less(void **state)
{
    (void)state;
    char *text = printed("a zone of some length", 12345, 46);
    assert_non_null(strstr(text, "(no room for: min)\n"));
    free(text);
    text = printed("a zone of some length that goes on", 12345, 30);
    assert_string_equal(text, "RISC   zone              total\n"
                              "BRISC  a zone \xE2\x80\xA6"
                              "goes on  12,345\n"
                              "BRISC  a zone \xE2\x80\xA6"
                              "goes on  12,345\n"
                              "... and 5 more\n"
                              "(no room for: min, ns)\n");
    free(text);
}

static void commands_to_the_terminal_are_written_out(void **state)
{
    (void)state;
    char *text = printed("\033[2J a\nb\xFF \xC2\x9B", 1, 0);
    assert_non_null(strstr(text, "\\x1b[2J a\\nb\\xff \\x9b"));
    assert_null(strchr(text, '\033'));
    free(text);
}

static uint64_t random_u64(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '|';
}

/* What two blanks or more stand before, and what the line begins with. */
static unsigned cells_of(const char *line, size_t n)
{
    unsigned cells = n > 0;
    for (size_t i = 2; i < n; i++)
        cells += is_blank(line[i - 2]) && is_blank(line[i - 1]) && !is_blank(line[i]);
    return cells;
}

static void nothing_runs_together(void **state)
{
    (void)state;
    static const char *const letters[] = {"a", "\xC3\xA4", "\xE6\xBC\xA2", "b", "_", "\xF0\x9F\x8C\x8D"};
    uint64_t seed = 99;
    for (int round = 0; round < 3000; round++) {
        char name[400] = "";
        unsigned n = 1 + (unsigned)(random_u64(&seed) % 90), width = (unsigned)(random_u64(&seed) % 140);
        for (unsigned i = 0; i < n; i++)
            strcat(name, letters[random_u64(&seed) % 6]);
        uint64_t number = random_u64(&seed) >> random_u64(&seed) % 60;
        char *text = printed(name, number, width), *line = text;
        for (int k = 0; k < 3; k++) {
            size_t len = strcspn(line, "\n");
            unsigned cells = cells_of(line, len);
            if (cells < 3 || (width == 0 && cells != 5))
                fail_msg("%u cells at width %u:\n%s", cells, width, text);
            /* 6 + 2 + 8 + 2 and the longest number are what a line cannot go below. */
            if (width >= 45 && dl_text_columns(line, len) > width)
                fail_msg("longer than %u:\n%s", width, text);
            line += len + 1;
        }
        if (width == 0) assert_non_null(strstr(text, name));
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_fit_what_is_in_them),
        cmocka_unit_test(a_narrow_terminal_has_less),
        cmocka_unit_test(commands_to_the_terminal_are_written_out),
        cmocka_unit_test(nothing_runs_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
