/* `devlog annotate`: a RISC's cycles in the capture add up to the time that it was out of reset, on both chips, launch
 * by launch, also where another kernel takes the place of one; lines and instructions are those of the source; and what
 * there is to say when nobody counted, or the ELF file is gone. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cJSON.h>

#include "answers/annotate.h"
#include "support/cli.h"
#include "support/files.h"
#include "support/fixture.h"

static const devlog_cores two = {0, 0, 1, 0};

static char *capture_of(const devlog_device *device)
{
    static char path[2100];
    snprintf(path, sizeof path, "%s/capture.devlog", device->log_folder);
    return path;
}

static void read_all(annotation *a, const char *path, const annotate_options *o)
{
    dl_capture_state state;
    devlog_error err = {0};
    check_ok(annotate_read(a, path, o, &state, &err), &err);
    assert_int_equal(state.damaged_bytes + state.malformed + state.unknown, 0);
}

/* What the capture says of a RISC, firmware and kernels. */
static uint64_t cycles_of(const char *path, const char *risc, devlog_core core)
{
    annotation a;
    read_all(&a, path,
             &(annotate_options){.risc = risc, .by_core = true, .x = core.x, .y = core.y, .firmware = true});
    uint64_t sum = 0;
    for (size_t i = 0; i < a.n; i++) {
        uint64_t own = 0;
        for (size_t k = 0; k < a.codes[i].n; k++)
            own += a.codes[i].items[k].sum.cycles;
        assert_int_equal(own, a.codes[i].sum.cycles);
        sum += own;
    }
    assert_int_equal(sum, a.cycles);
    annotate_free(&a);
    return sum;
}

/* Two programs in turn, whose kernels lie at the same place. */
static void the_sum_is_the_time_out_of_reset(const char *name)
{
    devlog_error err = {0};
    devlog_device *device = open_device(name, "annotate");
    devlog_program *programs[2];
    const char *const sources[] = {"tests/sim/kernels/annotated.c", "tests/sim/kernels/iterations.c"};
    for (int i = 0; i < 2; i++) {
        check_ok(devlog_program_create(device, &programs[i], &err), &err);
        for (int k = 0; k < 2; k++) {
            devlog_kernel *kernel = add_kernel(programs[i], sources[i], k ? "TRISC1" : "BRISC", two, NULL);
            for (uint32_t x = 0; x < 2; x++) {
                const uint32_t args[] = {20 + 30 * x, 100};
                check_ok(devlog_kernel_set_args(kernel, (devlog_core){x, 0}, args, 2, &err), &err);
            }
        }
    }
    for (int round = 0; round < 4; round++) {
        prepare(device, programs[round % 2]);
        check_ok(devlog_launch_program(device, programs[round % 2], &err), &err);
    }
    sim *s = dl_transport_sim(&device->transport);
    for (uint32_t x = 0; x < 2; x++) {
        dl_target at;
        check_ok(dl_device_target(device, (devlog_core){x, 0}, &at, &err), &err);
        const int tile = sim_tile_at(s, at.x0, at.y0);
        for (uint32_t risc = 0; risc < device->board.n_riscs; risc++) {
            sim_hart_state h;
            sim_cycles *rest;
            size_t n;
            assert_true(sim_hart(s, (uint32_t)tile, risc, &h));
            assert_true(sim_cycles_take(s, (uint32_t)tile, risc, &rest, &n));
            uint64_t since = 0; /* it was pulled */
            for (size_t i = 0; i < n; i++)
                since += rest[i].cycles;
            free(rest);
            assert_int_equal(
                cycles_of(capture_of(device), device->board.riscs[risc].log_name, (devlog_core){x, 0}) +
                    since,
                h.retired + h.stalled);
            assert_true(h.retired > 1000);
        }
    }
    /* Each kernel is a code of its own on each of its RISCs, in its two launches. */
    annotation a;
    read_all(&a, capture_of(device), &(annotate_options){0});
    assert_int_equal(a.n, 4);
    for (size_t i = 0; i < a.n; i++) {
        assert_int_equal(a.codes[i].n_launches, 2);
        assert_int_equal(a.codes[i].n_cores, 2);
        assert_string_equal(a.codes[i].why, "");
    }
    annotate_free(&a);
    read_all(&a, capture_of(device), &(annotate_options){.launch = 2});
    assert_int_equal(a.n, 2);
    assert_non_null(strstr(a.codes[0].source, "iterations.c"));
    annotate_free(&a);
    devlog_program_free(programs[0]);
    devlog_program_free(programs[1]);
    check_ok(devlog_device_close(device, &err), &err);
}

static void sums_on_wormhole(void **state)
{
    (void)state;
    the_sum_is_the_time_out_of_reset("wormhole_b0");
}

static void sums_on_blackhole(void **state)
{
    (void)state;
    the_sum_is_the_time_out_of_reset("blackhole");
}

/* A run of annotated.c with 50 loads and 10 divisions; returns its folder. */
static const char *run_annotated(const char *sim_options)
{
    static char folder[128];
    devlog_error err = {0};
    fixture f = start("tests/sim/kernels/annotated.c", "BRISC", NULL, sim_options);
    set_args(&f, 50, 10);
    check_ok(devlog_launch_program(f.device, f.program, &err), &err);
    snprintf(folder, sizeof folder, "%s", f.device->log_folder);
    stop(&f);
    return folder;
}

/* The line of the source that has this in it. */
static uint32_t line_with(const char *says)
{
    size_t size;
    char *text = read_bytes(source_path("tests/sim/kernels/annotated.c"), &size), *at = strstr(text, says);
    assert_non_null(at);
    uint32_t line = 1;
    for (const char *c = text; c < at; c++)
        line += *c == '\n';
    free(text);
    return line;
}

static const annotate_item *line_of(const annotate_code *c, uint32_t line)
{
    for (size_t i = 0; i < c->n_lines; i++)
        if (c->lines[i].line == line) return &c->lines[i];
    fail_msg("no instruction of line %u ran", line);
    return NULL;
}

/* Wormhole: each load is waited for 7 cycles by the addition of its value, less what stands between; each division of
 * 2^31 - 1 takes 33 - 1 cycles more than one. */
static void lines_and_instructions_are_those_of_the_source(void **state)
{
    (void)state;
    char path[256];
    snprintf(path, sizeof path, "%s/capture.devlog", run_annotated("annotate"));
    annotation a;
    read_all(&a, path, &(annotate_options){0});
    assert_int_equal(a.n, 1);
    const annotate_code *c = &a.codes[0];
    const annotate_item *loads = line_of(c, line_with("sum += words"));
    assert_int_equal(loads->sum.count, 50);
    assert_in_range(loads->sum.stalled[SIM_STALL_L1], 50 * 4, 50 * 7);
    const annotate_item *divisions = line_of(c, line_with("divu %0"));
    assert_int_equal(divisions->sum.count, 10);
    assert_int_equal(divisions->sum.stalled[SIM_STALL_MULDIV], 10 * 32);
    bool divides = false;
    for (size_t i = 0; i < c->n; i++) {
        const char *text = dl_intern_text(a.texts, c->items[i].text, NULL);
        if (strncmp(text, "divu", 4) != 0) continue;
        divides = true;
        assert_string_equal(dl_intern_text(a.texts, c->items[i].function, NULL), "divisions");
        assert_int_equal(c->items[i].sum.cycles, 330);
    }
    assert_true(divides);
    annotate_free(&a);
    read_all(&a, path, &(annotate_options){.function = "divisions"});
    assert_in_range(a.cycles, 330, 450);
    annotate_free(&a);
}

static void the_command(void **state)
{
    (void)state;
    char line[512], *out;
    snprintf(line, sizeof line, "annotate %s", run_annotated("annotate"));
    out = devlog_ok(line, 0);
    assert_non_null(strstr(out, "annotated.c on BRISC: "));
    assert_non_null(strstr(out, "  sum += words[4 * (i & 63)];"));
    assert_non_null(strstr(out, ": divu "));
    free(out);
    strcat(line, " --format csv");
    out = devlog_ok(line, 0);
    assert_non_null(strstr(out, "kernel,risc,function,file,line,pc,instruction,count,cycles,wait L1,"));
    uint64_t csv = 0, columns;
    for (char *at = strchr(out, '\n') + 1; *at; at = strchr(at, '\n') + 1) {
        char *cell = at, *end = strchr(at, '\n');
        bool quoted = false;
        for (columns = 0; cell < end && columns < 8; cell++) { /* the disassembly has commas */
            quoted ^= *cell == '"';
            columns += *cell == ',' && !quoted;
        }
        csv += strtoull(cell, NULL, 10);
    }
    free(out);
    strcpy(strstr(line, "csv"), "json");
    out = devlog_ok(line, 0);
    cJSON *json = cJSON_Parse(out);
    assert_non_null(json);
    assert_string_equal(cJSON_GetObjectItem(json, "format")->valuestring, "devlog-annotate-1");
    assert_int_equal((uint64_t)cJSON_GetObjectItem(json, "cycles")->valuedouble, csv);
    cJSON_Delete(json);
    free(out);
    strcpy(strstr(line, " --format"), " --core 5,5");
    devlog_fails(line, 1, "no instruction ran of what --risc, --core");
    devlog_fails(line, 1, "; it has RISCs ");
    devlog_fails(line, 1, "; cores 0,0");
    devlog_fails(line, 1, "; launches 1");
    strcpy(strstr(line, " --core"), " --function nobody");
    devlog_fails(line, 1, "; it has functions ");
    devlog_fails(line, 1, "kernel_main");
    strcpy(strstr(line, " --function"), " --core 5,5");
    strcpy(strstr(line, " --core"), " --core 5");
    devlog_fails(line, 2, "--core wants X,Y");
    strcpy(strstr(line, " --core"), " --launch 2");
    devlog_fails(line, 1, "; launches 1");
    strcpy(strstr(line, " --launch"), " --launch 1 --hot 99");
    out = devlog_ok(line, 0);
    assert_non_null(strstr(out, "  sum += words[4 * (i & 63)];"));
    assert_null(strstr(out, ": divu "));
    free(out);
}

static void what_there_is_to_say_when_nobody_counted(void **state)
{
    (void)state;
    char line[512];
    snprintf(line, sizeof line, "annotate %s", run_annotated(NULL));
    devlog_fails(line, 1, "run the program again with DEVLOG_ANNOTATE=1");
    strcat(line, "/profile_log_device.csv");
    devlog_fails(line, 1, "is no capture");
}

/* Where the ELF file has gone there are addresses and no lines, and it says why. */
static void without_its_elf_file(void **state)
{
    (void)state;
    char path[256], line[512], *elf;
    snprintf(path, sizeof path, "%s/capture.devlog", run_annotated("annotate"));
    annotation a;
    read_all(&a, path, &(annotate_options){0});
    elf = strdup(a.codes[0].path);
    uint64_t cycles = a.cycles;
    annotate_free(&a);
    char moved[600];
    snprintf(moved, sizeof moved, "%s.moved", elf);
    assert_int_equal(rename(elf, moved), 0);
    read_all(&a, path, &(annotate_options){0});
    assert_int_equal(rename(moved, elf), 0);
    assert_int_equal(a.cycles, cycles);
    assert_non_null(strstr(a.codes[0].why, "there is no ELF file"));
    assert_int_equal(a.codes[0].n_lines, 1);
    annotate_free(&a);
    snprintf(line, sizeof line, "annotate --elf . %s", path);
    free(devlog_ok(line, 0));
    snprintf(line, sizeof line, "annotate --elf /nowhere %s", path);
    devlog_fails(line, 1, "--elf: /nowhere: No such file or directory");
    free(elf);
}

static void other_devices_cannot(void **state)
{
    (void)state;
    devlog_error err = {0};
    devlog_device *device = NULL;
    setenv("DEVLOG_ANNOTATE", "1", 1);
    const devlog_device_options qemu =
        DEVLOG_DEVICE_OPTIONS(.transport = "qemu", .board = "qemu_virt", .profile = DEVLOG_ON,
                              .log_folder = test_folder());
    assert_int_equal(devlog_device_open(&qemu, &device, &err), DEVLOG_ERR_UNSUPPORTED);
    assert_non_null(strstr(err.text, "only the built-in simulator knows"));
    const devlog_device_options strict =
        DEVLOG_DEVICE_OPTIONS(.transport = "sim", .sim = "strict=1", .profile = DEVLOG_ON,
                              .log_folder = test_folder());
    assert_int_equal(devlog_device_open(&strict, &device, &err), DEVLOG_ERR_ARGUMENT);
    assert_non_null(strstr(err.text, "strict model"));
    unsetenv("DEVLOG_ANNOTATE");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sums_on_wormhole),
        cmocka_unit_test(sums_on_blackhole),
        cmocka_unit_test(lines_and_instructions_are_those_of_the_source),
        cmocka_unit_test(the_command),
        cmocka_unit_test(what_there_is_to_say_when_nobody_counted),
        cmocka_unit_test(without_its_elf_file),
        cmocka_unit_test(other_devices_cannot),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
