/* The quick ways of writing a report against the plain one, cell by cell: random op logs with all that an op
 * can have, written both ways, must be the same bytes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ops/op_job.h"
#include "support/cmocka_all.h"
#include "support/device.h"
#include "support/files.h"

enum { ROUNDS = 40, OPS = 60 };

static uint32_t seed;

static uint32_t below(uint32_t n)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % n;
}

static const char *one_of(const char *const *texts, uint32_t n)
{
    return texts[below(n)];
}
#define ONE_OF(...)                                                                                          \
    one_of((const char *const[]){__VA_ARGS__}, sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *))

static void tensors(dl_str *s, unsigned id)
{
    for (uint32_t n = below(4); n; n--)
        dl_str_fmt(s,
                   "{\"e\":\"%s\",\"id\":%u,\"shape\":[1,%u,32,64]%s,\"layout\":\"%s\",\"dtype\":\"%s\"%s}%s",
                   ONE_OF("in", "out"), id, below(3), ONE_OF("", ",\"logical\":[1,1,30,64]"),
                   ONE_OF("TILE", "ROW,MAJOR", "a\\\"b"), ONE_OF("BFLOAT16", ""),
                   ONE_OF("", ",\"memory\":\"L1\"", ",\"new\":{\"a\":1}"), ONE_OF("\n", "\n", "\n", " \n"));
}

static void launches(dl_str *s, dl_str *device, unsigned id, unsigned *launch)
{
    for (uint32_t n = below(3); n; n--) {
        unsigned l = ++*launch, t = 1000 * l, cores = 1 + below(3);
        dl_str_fmt(
            s,
            "{\"e\":\"launch\",\"id\":%u,\"t\":3,\"chip\":0,\"launch\":%u,\"program\":%u,\"cached\":%u,"
            "\"cores\":1}\n",
            id, l, below(200), below(2));
        for (unsigned x = 0; x < cores && l % 7; x++)
            dl_str_fmt(device,
                       "0,%u,0,BRISC,1,%u,0,%u,,,BRISC-FW,ZONE_START,0,,{\"op\":%u}\n"
                       "0,%u,0,BRISC,2,%u,0,%u,,,BRISC-KERNEL,ZONE_START,0,,\n"
                       "0,%u,0,BRISC,3,%u,0,%u,,,BRISC-KERNEL,ZONE_END,0,,\n"
                       "0,%u,0,BRISC,4,%u,0,%u,,,BRISC-FW,ZONE_END,0,,\n",
                       x, t + x, l, below(9) ? id : 0, x, t + 10, l, x, t + 100 + below(500), l, x, t + 700,
                       l);
    }
}

static void one_op(dl_str *s, dl_str *device, unsigned id, unsigned *launch)
{
    dl_str_fmt(s, "{\"e\":\"start\",\"id\":%u,\"t\":%u,\"thread\":0,\"depth\":%u,\"name\":\"%s\"%s%s%s}\n",
               id, id * 1000, 1 + below(2),
               ONE_OF("Add", "Mat,mul", "a \\\"b\\\"", " lead", "", "\\u00fc\\n"),
               ONE_OF("", ",\"type\":\"tt_dnn_cpu\""), ONE_OF("", ",\"fidelity\":\"HiFi4\",\"cores\":7"),
               ONE_OF("", ",\"strategy\":\"A,B\""));
    tensors(s, id);
    if (below(5) == 0) dl_str_fmt(s, "{\"e\":\"set\",\"id\":%u,\"name\":\"now, this\"}\n", id);
    if (below(5) == 0) dl_str_fmt(s, "{\"e\":\"meta\",\"id\":%u,\"text\":\"{\\\"k\\\":[1,2]}\"}\n", id);
    launches(s, device, id, launch);
    tensors(s, id);
    if (below(9) == 0) return; /* never ends */
    dl_str_fmt(s, "{\"e\":\"end\",\"id\":%u,\"t\":%u,\"thread\":0,\"own\":%u%s}\n", id,
               id * 1000 + below(2000), below(3000),
               ONE_OF("", ",\"api\":{\"LaunchProgram\":[1,500]}",
                      ",\"api\":{\"LaunchProgram\":[1,500]},\"x\":1",
                      ",\"api\":{\"CompileProgram\":[2,7],\"DumpDeviceProfileResults\":[3,10]}",
                      ",\"api\":{\"WriteToDevice\":[1,5],\"LaunchProgram\":[4,9]}", ",\"api\":{}"));
    if (below(20) == 0)
        dl_str_fmt(s, "{\"e\":\"signpost\",\"after\":%u,\"t\":9,\"header\":\"h,\",\"text\":\"m\"}\n", id);
}

#define HEADER                                                                                               \
    "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, run host "    \
    "ID, "                                                                                                   \
    "trace id, trace id counter, zone name, type, source line, source file, meta data\n"

static void put(const char *folder, const char *name, dl_str *text)
{
    char path[400];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    write_text(path, text->text);
    dl_str_free(text);
}

/* Logs in the folder, of one more seed. */
static void make_logs(const char *folder)
{
    dl_str ops = {0}, device = {0};
    unsigned launch = 0;
    dl_str_add(&ops, "{\"e\":\"run\",\"t\":1,\"version\":1,\"run\":\"ab\",\"pid\":1}\n"
                     "{\"e\":\"device\",\"chip\":0,\"t\":2,\"mhz\":700,\"cores\":64,\"profiled\":1}\n");
    for (unsigned p = 0; p < 150; p++)
        dl_str_fmt(
            &ops,
            "{\"e\":\"program\",\"program\":%u,\"hash\":\"%x\",\"kernels\":[{\"risc\":\"BRISC\",\"source\":"
            "\"a,%u.c\",\"hash\":\"1\",\"bytes\":%u}]}\n",
            p, p, p, p * 4);
    dl_str_add(&device, "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 700, Max Compute Cores: 80, Run: ab\n" HEADER);
    for (unsigned id = 1; id <= OPS; id++)
        one_op(&ops, &device, id, &launch);
    assert_false(ops.failed || device.failed);
    put(folder, "profile_log_ops.jsonl", &ops);
    put(folder, "profile_log_device.csv", &device);
}

static char *report(const char *folder, op_column_set columns, bool plain)
{
    op_job job;
    devlog_error err;
    const op_job_options o = {.logs = folder,
                              .output = folder,
                              .name = "out",
                              .no_tar = true,
                              .report = {.columns = columns, .plain = plain}};
    check_ok(op_job_run(&job, &o, &err), &err);
    assert_int_equal(job.counts.ops, OPS);
    assert_int_equal(job.counts.damaged, 0);
    size_t size;
    char *text = read_bytes(job.report_path, &size);
    op_job_free(&job);
    return text;
}

static void quick_is_plain(void **state)
{
    (void)state;
    for (unsigned round = 0; round < ROUNDS; round++) {
        const char *folder = test_folder();
        seed = round;
        make_logs(folder);
        for (int set = OP_COLUMNS_CURRENT; set <= OP_COLUMNS_REFERENCE; set++) {
            char *quick = report(folder, (op_column_set)set, false);
            char *plain = report(folder, (op_column_set)set, true);
            if (strcmp(quick, plain) != 0) fail_msg("seed %u, columns %d", round, set);
            free(quick);
            free(plain);
        }
    }
}

/* More ops than the tables keep in memory. */
static void large_runs(void **state)
{
    (void)state;
    enum { LAUNCHES = 40000 };
    const char *folder = test_folder();
    dl_str ops = {0}, device = {0};
    uint64_t kernel_ns = 0;
    dl_str_add(&ops, "{\"e\":\"run\",\"t\":1,\"version\":1,\"run\":\"ab\",\"pid\":1}\n");
    dl_str_add(&device, "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000, Max Compute Cores: 80, Run: ab\n" HEADER);
    for (unsigned i = 1; i <= LAUNCHES; i++) {
        dl_str_fmt(&ops,
                   "{\"e\":\"start\",\"id\":%u,\"t\":%u,\"thread\":0,\"depth\":1,\"name\":\"A\"}\n"
                   "{\"e\":\"launch\",\"id\":%u,\"t\":3,\"chip\":0,\"launch\":%u}\n"
                   "{\"e\":\"end\",\"id\":%u,\"t\":%u,\"thread\":0,\"own\":1}\n",
                   i, i * 10, i, i, i, i * 10 + 5);
        kernel_ns += 100 + i % 7;
    }
    dl_str_add(&ops, "{\"e\":\"close\",\"t\":9,\"ops\":40000,\"lost\":0}\n");
    /* Core by core, so that the second core comes back to what is cold. */
    for (unsigned x = 0; x < 2; x++)
        for (unsigned i = 1; i <= LAUNCHES; i++)
            dl_str_fmt(&device,
                       "0,%u,0,BRISC,1,%u,0,%u,,,BRISC-FW,ZONE_START,0,,{\"op\":%u}\n"
                       "0,%u,0,BRISC,2,%u,0,%u,,,BRISC-KERNEL,ZONE_START,0,,\n"
                       "0,%u,0,BRISC,3,%u,0,%u,,,BRISC-KERNEL,ZONE_END,0,,\n"
                       "0,%u,0,BRISC,4,%u,0,%u,,,BRISC-FW,ZONE_END,0,,\n",
                       x, i * 1000, i, i, x, i * 1000 + 10, i, x, i * 1000 + 110 + x * (i % 7), i, x,
                       i * 1000 + 300, i);
    assert_false(ops.failed || device.failed);
    put(folder, "profile_log_ops.jsonl", &ops);
    put(folder, "profile_log_device.csv", &device);
    op_job job;
    devlog_error err;
    const op_job_options o = {.logs = folder, .output = folder, .name = "out", .no_tar = true};
    check_ok(op_job_run(&job, &o, &err), &err);
    assert_int_equal(job.counts.ops_with_device, LAUNCHES);
    assert_int_equal(job.counts.kernel_ns, kernel_ns);
    assert_int_equal(job.counts.fw_ns, (uint64_t)LAUNCHES * 300);
    assert_int_equal(job.counts.host_ns, (uint64_t)LAUNCHES * 5);
    for (size_t i = 0; i < job.stitch.n_rows; i++) {
        assert_int_equal(job.stitch.rows[i].id, i + 1);
        assert_int_equal(job.stitch.rows[i].notes, 0);
        assert_int_equal(op_stitch_cycles(&job.stitch, &job.stitch.rows[i])->cores, 2);
    }
    assert_false(op_job_lost(&job));
    op_job_free(&job);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(quick_is_plain), cmocka_unit_test(large_runs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
