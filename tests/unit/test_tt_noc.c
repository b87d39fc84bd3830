/* NoC traces of tt-metal: which links transfers take, and how many bytes move. The facts are those of Tenstorrent's own
 * documents and of tt-npe, which calculates the same; what a whole folder's report says: tests/ttmetal. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/cmocka_all.h"
#include "tt_metal/noc.h"

enum { EAST, SOUTH, NORTH, WEST };

static const tt_noc_grid wormhole = {10, 12}, blackhole = {17, 12};

static tt_noc_links *links_of(tt_noc_grid g, int noc, unsigned x, unsigned y, tt_noc_box to, tt_noc_kind kind)
{
    tt_noc_links *l = calloc(1, sizeof *l);
    assert_non_null(l);
    tt_noc_route(l, g, noc, x, y, to, kind, 64);
    return l;
}

static unsigned used(const tt_noc_links *l, int way)
{
    unsigned n = 0;
    for (unsigned i = 0; i < TT_NOC_NODES; i++) {
        assert_true(l->bytes[way][i] == 0 || l->bytes[way][i] == 64);
        n += l->bytes[way][i] != 0;
    }
    return n;
}

static bool takes(const tt_noc_links *l, int way, unsigned x, unsigned y)
{
    return l->bytes[way][y * TT_NOC_WIDEST + x] != 0;
}

static unsigned modulo(int value, unsigned n)
{
    return (unsigned)(value % (int)n + (int)n) % n;
}

/* tt-npe, wormhole_b0.hpp and blackhole.hpp (1021603): as many links as the distances along both axes, on NoC 0 of
 * (dx - sx) mod columns and (dy - sy) mod rows, on NoC 1 the other way round; first all of the one axis, then of the
 * other. */
static void unicasts_go_round_the_torus_one_way(void **state)
{
    (void)state;
    const tt_noc_grid grids[] = {wormhole, blackhole};
    uint32_t r = 1;
    for (int i = 0; i < 4000; i++) {
        const tt_noc_grid g = grids[i % 2];
        unsigned v[4];
        for (int k = 0; k < 4; k++) {
            r = r * 1664525 + 1013904223;
            v[k] = (r >> 16) % (k % 2 ? g.height : g.width);
        }
        const bool read = r >> 9 & 1;
        const unsigned sx = v[read ? 2 : 0], sy = v[read ? 3 : 1], dx = v[read ? 0 : 2], dy = v[read ? 1 : 3];
        for (int noc = 0; noc < 2; noc++) {
            tt_noc_links *l = links_of(g, noc, v[0], v[1], (tt_noc_box){v[2], v[3], v[2], v[3]},
                                       read ? TT_NOC_FROM : TT_NOC_TO);
            const int x_way = noc ? WEST : EAST, y_way = noc ? NORTH : SOUTH, sign = noc ? -1 : 1;
            assert_int_equal(used(l, x_way), modulo(sign * ((int)dx - (int)sx), g.width));
            assert_int_equal(used(l, y_way), modulo(sign * ((int)dy - (int)sy), g.height));
            assert_int_equal(used(l, noc ? EAST : WEST) + used(l, noc ? SOUTH : NORTH), 0);
            /* Where it turns: on NoC 0 in the row that it comes from, on NoC 1 in the one that it goes to. */
            for (unsigned x = sx; x != dx; x = modulo((int)x + sign, g.width))
                assert_true(takes(l, x_way, x, noc ? dy : sy));
            for (unsigned y = sy; y != dy; y = modulo((int)y + sign, g.height))
                assert_true(takes(l, y_way, noc ? sx : dx, y));
            assert_int_equal(l->unrouted, 0);
            free(l);
        }
    }
}

/* The figures NoC_0_Broadcast0 and NoC_1_Broadcast0 of tt-isa-documentation, NoC/RoutingPaths (3930471): from (2, 2)
 * to the rectangle of (3, 5) and (7, 9), X as major axis. */
static void a_broadcast_is_a_tree(void **state)
{
    (void)state;
    tt_noc_links *l = links_of(wormhole, 0, 2, 2, (tt_noc_box){3, 5, 7, 9}, TT_NOC_TO_ALL);
    assert_true(takes(l, EAST, 2, 2));
    for (unsigned y = 2; y < 9; y++)
        assert_true(takes(l, SOUTH, 3, y));
    for (unsigned y = 5; y <= 9; y++)
        for (unsigned x = 3; x < 7; x++)
            assert_true(takes(l, EAST, x, y));
    assert_int_equal(used(l, EAST), 1 + 5 * 4);
    assert_int_equal(used(l, SOUTH), 7);
    free(l);

    l = links_of(wormhole, 1, 2, 2, (tt_noc_box){7, 9, 3, 5}, TT_NOC_TO_ALL);
    for (unsigned x = 2; x != 7; x = modulo((int)x - 1, 10))
        assert_true(takes(l, WEST, x, 2));
    for (unsigned y = 2; y != 5; y = modulo((int)y - 1, 12))
        assert_true(takes(l, NORTH, 7, y));
    for (unsigned y = 5; y <= 9; y++)
        for (unsigned x = 7; x > 3; x--)
            assert_true(takes(l, WEST, x, y));
    assert_int_equal(used(l, WEST), 5 + 5 * 4);
    assert_int_equal(used(l, NORTH), 9);
    free(l);
}

/* "tiles inside": the packet leaves its own column and row on the spot, and goes round to what lies before it. */
static void a_broadcast_from_inside_goes_round(void **state)
{
    (void)state;
    tt_noc_links *l = links_of(wormhole, 0, 4, 6, (tt_noc_box){3, 5, 5, 7}, TT_NOC_TO_ALL);
    assert_int_equal(used(l, SOUTH), 11); /* rows 6, 7, and round to 5 */
    assert_int_equal(used(l, EAST), 3 * 9);
    assert_false(takes(l, SOUTH, 4, 5));
    assert_false(takes(l, EAST, 3, 6));
    free(l);
    /* Over the edge: MemoryMap, "When StartX > EndX, the X span is all x such that x <= EndX || StartX <= x". */
    l = links_of(wormhole, 0, 8, 0, (tt_noc_box){9, 11, 1, 1}, TT_NOC_TO_ALL);
    assert_int_equal(used(l, EAST), 1 + 3 * 2);
    assert_int_equal(used(l, SOUTH), 11);
    assert_true(takes(l, EAST, 9, 11) && takes(l, EAST, 0, 11));
    free(l);
    /* One node. */
    l = links_of(wormhole, 1, 5, 5, (tt_noc_box){3, 4, 3, 4}, TT_NOC_TO_ALL);
    assert_true(takes(l, WEST, 5, 5) && takes(l, WEST, 4, 5) && takes(l, NORTH, 3, 5));
    assert_int_equal(used(l, WEST) + used(l, NORTH), 3);
    free(l);
}

static void what_is_outside_of_the_grid_is_counted(void **state)
{
    (void)state;
    tt_noc_links *l = links_of(wormhole, 0, 4, 6, (tt_noc_box){3, 12, 3, 12}, TT_NOC_TO);
    assert_int_equal(l->unrouted, 64);
    tt_noc_route(l, wormhole, -1, 1, 1, (tt_noc_box){3, 3, 3, 3}, TT_NOC_TO, 36);
    assert_int_equal(l->unrouted, 100);
    free(l);
}

static tt_noc parsed(const char *events)
{
    static const char name[] = "noc_trace_dev0_ID1024.json";
    tt_found found = {0};
    tt_nocs all = {.grid = wormhole};
    char text[4096];
    snprintf(text, sizeof text, "[%s]", events);
    assert_int_equal(tt_nocs_parse(&all, name, text, strlen(text), &found, NULL), DEVLOG_OK);
    assert_int_equal(all.n, 1);
    assert_false(tt_found_any(&found));
    tt_noc one = all.items[0];
    tt_nocs_free(&all);
    tt_found_free(&found);
    return one;
}

#define EVENT(noc, type, bytes, more)                                                                        \
    "{\"proc\":\"NCRISC\",\"noc\":\"NOC_" noc                                                                \
    "\",\"src_device_id\":0,\"sx\":1,\"sy\":1,\"num_bytes\":" bytes ",\"type\":\"" type                      \
    "\",\"timestamp\":5" more "}"

/* dataflow_api.h: noc_async_read_one_packet_set_state records the size, each noc_async_read_one_packet_with_state behind
 * it 0 bytes; without "one packet" it is the other way round. Each NoC and direction has a state of its own. */
static void a_state_is_no_transfer_and_tells_what_others_move(void **state)
{
    (void)state;
    tt_noc n = parsed(
        EVENT("0", "READ_SET_STATE", "2048", ",\"dx\":4,\"dy\":1") "," EVENT("1", "READ_SET_STATE", "32", ",\"dx\":1,\"dy\":4") "," EVENT(
            "0", "READ_WITH_STATE", "0",
            "") "," EVENT("0", "READ_WITH_STATE", "0",
                          "") "," EVENT("0", "WRITE_SET_STATE", "0",
                                        ",\"dx\":2,\"dy\":1") "," EVENT("0", "WRITE_WITH_STATE", "100",
                                                                        "") "," EVENT("0",
                                                                                      "READ_WITH_STATE_AND_TRID",
                                                                                      "0", ""));
    assert_int_equal(n.sums[TT_NOC_BYTES], 3 * 2048 + 100);
    assert_int_equal(n.sums[TT_NOC_READ], 3 * 2048);
    assert_int_equal(n.sums[TT_NOC_WRITE], 100);
    assert_int_equal(n.sums[TT_NOC_1], 0);
    assert_int_equal(n.sums[TT_NOC_TRANSFERS], 4);
    assert_int_equal(n.sums[TT_NOC_UNROUTED], 0);
    assert_int_equal(n.sums[TT_NOC_LINK_BYTES], 3 * 2048);
    assert_int_equal(n.way, EAST); /* from (4, 1) over the edge to (1, 1): the first of seven links alike */
    assert_int_equal(n.x, 0);
    assert_int_equal(n.y, 1);
    assert_int_equal(n.written, 2048 + 32 + 100);
}

/* A kernel on NoC 1 names the lower right corner first (tt-npe: "noc_dest coord are reversed for NOC1"). */
static void a_broadcast_on_noc_1_starts_below(void **state)
{
    (void)state;
    tt_noc n = parsed(EVENT("1", "WRITE_MULTICAST", "4096",
                            ",\"mcast_start_x\":7,\"mcast_start_y\":9,\"mcast_end_x\":3,\"mcast_end_y\":5"));
    assert_int_equal(n.sums[TT_NOC_UNROUTED], 0);
    assert_int_equal(n.sums[TT_NOC_LINK_BYTES], 4096);
    assert_int_equal(n.sums[TT_NOC_BYTES], 4096);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unicasts_go_round_the_torus_one_way),
        cmocka_unit_test(a_broadcast_is_a_tree),
        cmocka_unit_test(a_broadcast_from_inside_goes_round),
        cmocka_unit_test(what_is_outside_of_the_grid_is_counted),
        cmocka_unit_test(a_state_is_no_transfer_and_tells_what_others_move),
        cmocka_unit_test(a_broadcast_on_noc_1_starts_below),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
