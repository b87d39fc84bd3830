/* XPlane, read back whole by the generated reader: planes and lines have numbers of their own, and every event has the stats that it
 * should have and no others. That names, counts and times agree with the decoder: test_export_conformance.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/cli.h"
#include "support/cmocka_all.h"
#include "support/files.h"
#include "xplane.pb-c.h"

#define ROW(chip, risc, time, data, name, type, line, meta)                                                  \
    chip ",1,1," risc ",9," time "," data ",7,,," name "," type "," line ",k.cc," meta "\n"

/* Two chips, so that lines are counted from 1 twice; a torn stamp, which is found and no loss. */
static const char text[] =
    "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000, Max Compute Cores: 64\n"
    "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, run host ID, trace id, trace id "
    "counter, zone name, type, source line, source file, meta data\n" ROW("0", "BRISC", "1000", "0",
                                                                          "BRISC-FW", "ZONE_START", "3", "")
        ROW("0", "BRISC", "1010", "0", "BRISC-KERNEL", "ZONE_START", "4", "")
            ROW("0", "BRISC", "1020", "0", "point", "TS_EVENT", "5", "")
                ROW("0", "BRISC", "1025", "0", "zero", "TS_DATA", "6", "")
                    ROW("0", "BRISC", "1030", "0", "print", "TS_EVENT", "7", "{\"text\":\"what it says\"}")
                        ROW("0", "BRISC", "1090", "0", "BRISC-KERNEL", "ZONE_END", "4", "")
                            ROW("0", "BRISC", "1100", "0", "BRISC-FW", "ZONE_END", "3", "")
                                ROW("0", "NCRISC", "1000", "0", "NCRISC-FW", "ZONE_START", "3", "")
                                    ROW("0", "NCRISC", "1100", "0", "NCRISC-FW", "ZONE_END", "3", "")
                                        ROW("1", "BRISC", "2000", "0", "BRISC-FW", "ZONE_START", "3", "")
                                            ROW("1", "BRISC", "2100", "0", "BRISC-FW", "ZONE_END", "3", "");

typedef Devlog__Xplane__XPlane xplane;

static const char *name_of(const xplane *p, int64_t id)
{
    for (size_t i = 0; i < p->n_event_metadata; i++)
        if (p->event_metadata[i]->key == id) return p->event_metadata[i]->value->name;
    fail_msg("no event is called %lld", (long long)id);
    return NULL;
}

static const char *stat_name(const xplane *p, uint64_t id)
{
    for (size_t i = 0; i < p->n_stat_metadata; i++)
        if ((uint64_t)p->stat_metadata[i]->key == id) return p->stat_metadata[i]->value->name;
    fail_msg("no stat is called %llu", (unsigned long long)id);
    return NULL;
}

/* The stats of an event as a text, "cycle=1000 cycles=100 ...". */
static const char *stats_of(const xplane *p, const Devlog__Xplane__XEvent *e)
{
    static char all[500];
    all[0] = 0;
    for (size_t i = 0; i < e->n_stats; i++) {
        const Devlog__Xplane__XStat *s = e->stats[i];
        size_t at = strlen(all);
        at += (size_t)snprintf(all + at, sizeof all - at, "%s%s=", i ? ", " : "",
                               stat_name(p, (uint64_t)s->metadata_id));
        if (s->str_value)
            snprintf(all + at, sizeof all - at, "%.12s", s->str_value);
        else if (s->has_ref_value)
            snprintf(all + at, sizeof all - at, "%s", stat_name(p, s->ref_value));
        else
            snprintf(all + at, sizeof all - at, "%llu", (unsigned long long)s->uint64_value);
    }
    return all;
}

static void events_have_their_stats(void **state)
{
    (void)state;
    static const struct {
        int64_t plane, line;
        const char *name, *stats;
    } expected[] = {
        {1, 0, "BRISC-FW", "cycle=1000, cycles=100, launch id=7"},
        {1, 0, "BRISC-KERNEL", "cycle=1010, cycles=80, launch id=7, kernel_details=regs:0 stati"},
        {1, 0, "point", "cycle=1020, launch id=7, kind=event"},
        {1, 0, "zero", "cycle=1025, launch id=7, data=0, kind=value"},
        {1, 0, "print", "cycle=1030, launch id=7, text=what it says, kind=event"},
        {1, 0, "NCRISC-FW", "cycle=1000, cycles=100, launch id=7"},
        {2, 0, "BRISC-FW", "cycle=2000, cycles=100, launch id=7"},
    };
    write_text(in_scratch("log.csv"), text);
    free(devlog_ok("export -f xplane -o xp log.csv", 0));
    size_t n, seen = 0;
    char *bytes = read_bytes(in_scratch("xp/plugins/profile/devlog/devlog.xplane.pb"), &n);
    Devlog__Xplane__XSpace *space = devlog__xplane__xspace__unpack(NULL, n, (const uint8_t *)bytes);
    assert_non_null(space);
    assert_int_equal(space->n_planes, 2);
    assert_int_equal(space->n_warnings, 0);
    for (size_t i = 0; i < space->n_planes; i++) {
        const xplane *p = space->planes[i];
        assert_int_equal(p->id, i + 1);
        for (size_t l = 0; l < p->n_lines; l++) {
            assert_int_equal(p->lines[l]->id, l + 1); /* from 1 in every plane */
            for (size_t e = 0; e < p->lines[l]->n_events; e++) {
                const Devlog__Xplane__XEvent *event = p->lines[l]->events[e];
                const char *name = name_of(p, event->metadata_id), *stats = stats_of(p, event);
                if (strstr(stats, "kind=launch")) continue;
                size_t k = 0;
                while (k < sizeof expected / sizeof expected[0] &&
                       (expected[k].plane != p->id || strcmp(expected[k].name, name) != 0))
                    k++;
                if (k == sizeof expected / sizeof expected[0])
                    fail_msg("plane %lld: %s", (long long)p->id, name);
                if (strcmp(stats, expected[k].stats) != 0) fail_msg("%s: %s", name, stats);
                seen++;
            }
        }
        for (size_t m = 0; m < p->n_event_metadata; m++) {
            const Devlog__Xplane__XEventMetadata *meta = p->event_metadata[m]->value;
            if (strcmp(meta->name, "BRISC-KERNEL") != 0) continue;
            assert_int_equal(meta->n_stats, 1);
            assert_string_equal(meta->stats[0]->str_value, "k.cc:4");
        }
    }
    assert_int_equal(seen, sizeof expected / sizeof expected[0]);
    devlog__xplane__xspace__free_unpacked(space, NULL);
    free(bytes);
}

/* What was found and is no loss is no warning. */
static void warnings_are_losses(void **state)
{
    (void)state;
    static const char *const rows[] = {
        ROW("0", "BRISC", "4294967290", "0", "BRISC-FW", "ZONE_START", "3", "")
            ROW("0", "BRISC", "4294967295", "0", "a", "ZONE_START", "3", "")
                ROW("0", "BRISC", "5", "0", "a", "ZONE_END", "3", "")
                    ROW("0", "BRISC", "4294967396", "0", "BRISC-FW", "ZONE_END", "3", ""),
        ROW("0", "BRISC", "1000", "0", "BRISC-FW", "ZONE_START", "3", "")
            ROW("0", "BRISC", "1100", "0", "BRISC-FW", "ZONE_END", "3", "")
                ROW("0", "BRISC", "1200", "0", "b", "ZONE_END", "3", ""),
    };
    for (int lost = 0; lost < 2; lost++) {
        char log[2000];
        snprintf(log, sizeof log, "%.*s%s", (int)(strstr(text, "meta data\n") + 10 - text), text, rows[lost]);
        write_text(in_scratch("found.csv"), log);
        char *json = devlog_ok("decode --no-files -f json found.csv", lost ? 3 : 0);
        if (!strstr(json, lost ? "unpaired_end" : "torn_stamp")) fail_msg("%s", strstr(json, "\"losses\""));
        free(json);
        free(devlog_ok("export -f xplane -o found found.csv", lost ? 3 : 0));
        size_t n;
        char *bytes = read_bytes(in_scratch("found/plugins/profile/devlog/devlog.xplane.pb"), &n);
        Devlog__Xplane__XSpace *space = devlog__xplane__xspace__unpack(NULL, n, (const uint8_t *)bytes);
        assert_non_null(space);
        assert_int_equal(space->n_warnings, lost);
        devlog__xplane__xspace__free_unpacked(space, NULL);
        free(bytes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_have_their_stats),
        cmocka_unit_test(warnings_are_losses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
