/* Protobuf by hand (report/pb.h) gives what protobuf-c gives: a Perfetto trace as devlog writes it is taken
 * apart and put together again by protobuf-c, to the same bytes. */
#include "support/cmocka_all.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "perfetto.pb-c.h"
#include "report/export.h"
#include "report/pb.h"
#include "support/files.h"

static void a_field_of_every_kind(void **state)
{
    (void)state;
    static const uint64_t values[] = {0, 1, 127, 128, 16383, 16384, UINT64_C(1) << 44, UINT64_MAX};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        uint8_t by_hand[512], *to = by_hand, by_library[512];
        Devlog__Perfetto__TracePacket packet = DEVLOG__PERFETTO__TRACE_PACKET__INIT;
        Devlog__Perfetto__TrackEvent event = DEVLOG__PERFETTO__TRACK_EVENT__INIT;
        packet.has_timestamp = event.has_type = true;
        packet.timestamp = values[i];
        packet.track_event = &event;
        event.type = 1;
        char name[200];
        memset(name, 'n', sizeof name);
        name[i * 20] = 0;
        event.name = name;
        event.flow_ids = (uint64_t[]){values[i]};
        event.n_flow_ids = 1;
        to = pb_uint(to, 8, values[i]);
        uint8_t *body = to = pb_begin(to, 11);
        to = pb_uint(to, 9, 1);
        to = pb_bytes(to, 23, name, strlen(name));
        to = pb_fixed64(to, 47, values[i]);
        to = pb_end(body, to);
        size_t n = devlog__perfetto__trace_packet__pack(&packet, by_library);
        assert_int_equal(n, to - by_hand);
        assert_memory_equal(by_hand, by_library, n);
    }
}

/* Of numbers that are near to the one before, and of those that are not. */
static void varints_near_to_one_another(void **state)
{
    (void)state;
    pb_near near = {0};
    uint64_t value = 1;
    for (int i = 0; i < 20000; i++) {
        const uint64_t values[] = {value, value + 1, value + 300000000, value >> (i % 64),
                                   UINT64_MAX - value};
        for (size_t k = 0; k < sizeof values / sizeof *values; k++) {
            uint8_t by_near[24], expected[PB_MOST_VARINT];
            memset(by_near, '#', sizeof by_near);
            const size_t n = (size_t)(pb_varint(expected, values[k]) - expected);
            assert_int_equal(pb_varint_near(&near, by_near, values[k]) - by_near, n);
            assert_memory_equal(by_near, expected, n);
            assert_int_equal(by_near[12], '#');
        }
        value = i < 60 ? value * 2 : value * 6364136223846793005u + 1442695040888963407u;
    }
}

static const char log_text[] =
    "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000\n"
    "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, run host ID,"
    "trace id, trace id counter, zone name, type, source line, source file, meta data\n"
    "0,1,2,BRISC,1,1000,0,7,,,BRISC-FW,ZONE_START,1,f.c,\n"
    "0,1,2,BRISC,2,1100,0,7,,,BRISC-KERNEL,ZONE_START,1,f.c,\n"
    "0,1,2,BRISC,3,1150,42,7,,,value,TS_DATA,1,f.c,\n"
    "0,1,2,BRISC,3,1151,18446744073709551615,7,,,value,TS_DATA,1,f.c,\n"
    "0,1,2,BRISC,4,1160,0,7,,,event,TS_EVENT,1,f.c,\n"
    "0,1,2,BRISC,2,1200,0,7,,,BRISC-KERNEL,ZONE_END,1,f.c,\n"
    "0,1,2,BRISC,1,1300,0,7,,,BRISC-FW,ZONE_END,1,f.c,\n";

static void a_trace_packed_again_is_the_same(void **state)
{
    (void)state;
    devlog_error err;
    dl_decode *d;
    dl_view *v;
    char path[] = "/tmp/devlog-export-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(dl_decode_new(&d, NULL, &err), DEVLOG_OK);
    assert_int_equal(dl_view_new(&v, d, NULL, &err), DEVLOG_OK);
    assert_int_equal(dl_decode_run_sink(d, dl_view_runs(v), &err), DEVLOG_OK);
    assert_int_equal(dl_decode_memory(d, "log", log_text, strlen(log_text), &err), DEVLOG_OK);
    /* A zone of a capture that has no name, but a line. */
    dl_tables *tables = dl_decode_tables(d);
    dl_row rows[2] = {{.time = 1301,
                       .trace_id = DL_NO_ID,
                       .trace_counter = DL_NO_ID,
                       .site = dl_tables_site(tables, "", 0, "f.c", 3, 11),
                       .type = DL_ROW_ZONE_START}};
    rows[1] = rows[0];
    rows[1].time++;
    rows[1].type = DL_ROW_ZONE_END;
    assert_int_equal(dl_decode_rows(d, rows, 2, &err), DEVLOG_OK);
    assert_int_equal(dl_decode_finish(d, &err), DEVLOG_OK);
    assert_int_equal(dl_view_ready(v, &err), DEVLOG_OK);
    assert_int_equal(dl_export_perfetto(v, path, &err), DEVLOG_OK);
    size_t size;
    char *bytes = read_bytes(path, &size);
    Devlog__Perfetto__Trace *trace = devlog__perfetto__trace__unpack(NULL, size, (uint8_t *)bytes);
    assert_non_null(trace);
    size_t slices = 0, places = 0, lines = 0;
    for (size_t i = 0; i < trace->n_packet; i++) {
        assert_int_equal(trace->packet[i]->base.n_unknown_fields, 0);
        if (trace->packet[i]->track_event) slices += trace->packet[i]->track_event->type == 1;
        if (trace->packet[i]->track_event) places += trace->packet[i]->track_event->has_source_location_iid;
        if (trace->packet[i]->interned_data)
            for (size_t k = 0; k < trace->packet[i]->interned_data->n_source_locations; k++)
                lines += trace->packet[i]->interned_data->source_locations[k]->line_number;
    }
    assert_int_equal(slices, 4);
    assert_int_equal(places, 6); /* of every event but the launch */
    assert_int_equal(lines, 15); /* four at line 1, one at 11 */
    assert_int_equal(devlog__perfetto__trace__get_packed_size(trace), size);
    uint8_t *again = malloc(size);
    assert_non_null(again);
    devlog__perfetto__trace__pack(trace, again);
    /* protobuf-c packs fields by number; devlog does not always, which is as good. Packed again, both are the
     * same length, and what is unpacked from it packs to the same bytes. */
    Devlog__Perfetto__Trace *second = devlog__perfetto__trace__unpack(NULL, size, again);
    assert_non_null(second);
    uint8_t *third = malloc(size);
    assert_non_null(third);
    assert_int_equal(devlog__perfetto__trace__pack(second, third), size);
    assert_memory_equal(again, third, size);
    free(third);
    free(again);
    free(bytes);
    devlog__perfetto__trace__free_unpacked(second, NULL);
    devlog__perfetto__trace__free_unpacked(trace, NULL);
    dl_view_free(v);
    dl_decode_free(d);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_field_of_every_kind),
        cmocka_unit_test(varints_near_to_one_another),
        cmocka_unit_test(a_trace_packed_again_is_the_same),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
