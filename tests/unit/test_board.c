/* Boards: every shipped board loads; what is wrong in a board file is said with the name of the file and of
 * the member; RISC names are found however they are written. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/board_gen.h"
#include "device/board_grid.h"
#include "support/device.h"
#include "support/files.h"

static void shipped_boards_load(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        uint32_t cores, mhz;
    } boards[] = {{"wormhole_b0", 80, 1000}, {"grayskull", 120, 1202}, {"blackhole", 140, 1350}};
    for (size_t i = 0; i < sizeof boards / sizeof boards[0]; i++) {
        board b;
        devlog_error err = {0};
        check_ok(board_load(boards[i].name, &b, &err), &err);
        assert_string_equal(b.name, boards[i].name);
        assert_int_equal(b.n_columns * b.n_rows, boards[i].cores);
        assert_int_equal(b.mhz, boards[i].mhz);
        assert_int_equal(b.n_riscs, 5);
    }
}

static void unknown_board_is_named(void **state)
{
    (void)state;
    board b;
    devlog_error err = {0};
    assert_int_equal(board_load("warmhole", &b, &err), DEVLOG_ERR_NOT_FOUND);
    assert_non_null(strstr(err.text, "unknown board 'warmhole'"));
    assert_int_equal(board_load("../boards/wormhole_b0", &b, &err), DEVLOG_ERR_ARGUMENT);
    assert_int_equal(board_load("/nowhere/x.json", &b, &err), DEVLOG_ERR_NOT_FOUND);
}

/* The text of a shipped board with the first `from` replaced by `to`. */
static char *edited(const char *from, const char *to)
{
    char *text = read_bytes(source_path("boards/wormhole_b0.json"), NULL);
    char *at = strstr(text, from);
    assert_non_null(at);
    char *out = malloc(strlen(text) + strlen(to) + 1);
    assert_non_null(out);
    size_t before = (size_t)(at - text);
    memcpy(out, text, before);
    strcpy(out + before, to);
    strcat(out, at + strlen(from));
    free(text);
    return out;
}

static void what_is_wrong_is_said(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to, *message;
    } cases[] = {
        {"\"mhz\": 1000", "\"mhz\": 0", "\"mhz\" must not be 0"},
        {"\"mhz\": 1000,", "", "\"mhz\" is missing"},
        {"\"0x2000\", \"size\": \"0x1000\"", "\"0x2000\", \"size\": \"0x8000\"",
         "overlaps the region \"mailbox\""},
        {"\"base\": \"0x14000\"", "\"base\": \"0x15800\"", "\"profiler\" must be aligned"},
        {"\"0x48000\"", "\"0x1480000\"", "outside the RAM"},
        {"\"segment_bits\": 11", "\"segment_bits\": 40", "\"segment_bits\" must be from 9 to 16"},
        {"\"role\": \"manager\"", "\"role\": \"boss\"", "\"role\" must be"},
        {"\"windows\": \"wormhole\"", "\"windows\": \"x\"", "\"windows\" must be"},
        {"\"columns\": [1", "\"columns\": [100", "\"columns\" must hold coordinates"},
        {"\"rows\": [1", "\"rows\": [-1", "\"rows\" must hold coordinates"},
        {"\"reset_bit\": 11", "\"reset_bit\": 47", "\"reset_bit\" must be from 0 to 31"},
        {"\"reset_bit\": 11,", "", "\"reset_bit\" is for every RISC"},
        {"\"name\": \"NCRISC\"", "\"name\": \"N C\"", "not made of letters, digits and _"},
        {"\"name\": \"NCRISC\"", "\"name\": \"BRISC\"", "have the same name twice"},
        {"\"local_size\": 4096", "\"local_size\": 100",
         "\"local_size\" must be a multiple of 4, and at least 512"},
        {"\"high\": \"0xFFB121F4\"", "\"high\": \"0xFFB221F4\"", "\"high\" must be within the 4 KiB"},
        {"\"columns\": [1", "\"columns\": [10", "\"columns\" lie outside"},
        {"\"bits\": 20", "\"bits\": 276", "\"bits\" of a window class must be from 16 to 28"},
        {"[0, 5]", "[0, 5, 2]", "the third number of a place is the NoC"},
        {"[0, 5]", "[0, 64]", "\"dram\" must be a list of [x, y], from 0 to 63"},
        {"\"router\": [[0, 2]", "\"router\": [[0, 12]", "\"tiles\" must be lists of [x, y] inside"},
        {"\"router\": [[0, 2]", "\"router\": [[0]", "\"tiles\" must be lists of [x, y] inside"},
        {"\"router\":", "\"rooter\":", "\"tiles\" must have lists with the names"},
        {"\"arch\":", "arch", "x.json:13: not a JSON object"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        board b;
        devlog_error err = {0};
        char *text = edited(cases[i].from, cases[i].to);
        assert_int_equal(board_parse(text, "x.json", &b, &err), DEVLOG_ERR_FORMAT);
        assert_non_null(strstr(err.text, "x.json"));
        if (!strstr(err.text, cases[i].message))
            fail_msg("'%s' does not say '%s'", err.text, cases[i].message);
        free(text);
    }
}

/* Of each place of the chips whose descriptors name all: one kind, and a compute tile or none. */
static void every_tile_has_one_kind(void **state)
{
    (void)state;
    static const char *const names[] = {"wormhole_b0", "blackhole", "grayskull"};
    for (size_t i = 0; i < 3; i++) {
        board b;
        chip_grid g;
        devlog_error err = {0};
        check_ok(board_load(names[i], &b, &err), &err);
        b.dead_rows = 1 << 1;
        board_grid(&b, true, &g);
        assert_true(g.off_known && g.off_rows == 2 && g.off_columns == 0);
        b.dead_rows = 0;
        board_grid(&b, false, &g);
        assert_true(chip_grid_valid(&g) && !g.off_known);
        unsigned kinds[64][64] = {{0}};
        for (uint32_t x = 0; x < g.n_columns; x++)
            for (uint32_t y = 0; y < g.n_rows; y++)
                kinds[g.columns[x]][g.rows[y]]++;
        for (uint32_t k = 0; k < g.n_tiles; k++)
            kinds[g.tiles[k].x][g.tiles[k].y]++;
        for (unsigned x = 0; x < g.width; x++)
            for (unsigned y = 0; y < g.height; y++)
                if (kinds[x][y] != 1) fail_msg("%s: %u,%u has %u kinds", names[i], x, y, kinds[x][y]);
    }
}

static void riscs_by_name(void **state)
{
    (void)state;
    board b;
    devlog_error err = {0};
    check_ok(board_load("wormhole_b0", &b, &err), &err);
    assert_int_equal(board_risc_index(&b, "BRISC"), 0);
    assert_int_equal(board_risc_index(&b, "ncrisc"), 1);
    assert_int_equal(board_risc_index(&b, "TRISC_2"), 4);
    assert_int_equal(board_risc_index(&b, "TRISC"), -1);
    assert_int_equal(board_risc_index(&b, "TRISC22"), -1);
    assert_int_equal(board_risc_index(&b, ""), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shipped_boards_load),     cmocka_unit_test(unknown_board_is_named),
        cmocka_unit_test(what_is_wrong_is_said),   cmocka_unit_test(riscs_by_name),
        cmocka_unit_test(every_tile_has_one_kind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
