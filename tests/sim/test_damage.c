/* Kernels that damage what they record, call null pointers or record in interrupt handlers: every output of
 * the run tells the same losses, and none says that nothing was lost. Random damage: test_damage_random.c. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "decode/analysis/groups.h"
#include "decode/decode.h"
#include "support/cli.h"
#include "support/device.h"
#include "support/files.h"

static const devlog_cores one = {0, 0, 0, 0};

static const char head[] = "#include <devlog/kernel.h>\n"
                           "#include <devlog/profile.h>\n"
                           "#define REGION ((volatile uint32_t *)(uintptr_t)(DEVLOG_PROFILER + DEVLOG_RISC * "
                           "DEVLOG_REGION_BYTES(DEVLOG_SEGMENT_BITS)))\n"
                           "static void work(uint32_t n)\n"
                           "{\n"
                           "    for (uint32_t i = 0; i < n; i++) {\n"
                           "        DEVLOG_ZONE(\"a zone\");\n"
                           "        DEVLOG_VALUE(\"a value\", i);\n"
                           "    }\n"
                           "}\n";

typedef struct run {
    devlog_device *device;
    devlog_program *program;
    devlog_status status;
    devlog_error err;
    char csv[256], capture[256];
} run;

/* Runs a kernel of this text on a RISC, once. */
static run run_kernel(const char *name, const char *risc, const char *text)
{
    run r = {.err = {0}};
    char path[300], folder[200], whole[6000];
    snprintf(folder, sizeof folder, "%s/%s", scratch(), name);
    mkdir(folder, 0777);
    snprintf(path, sizeof path, "%s/kernel.c", folder);
    snprintf(whole, sizeof whole, "%s%s", head, text);
    write_text(path, whole);
    const devlog_device_options options = DEVLOG_DEVICE_OPTIONS(.profile = DEVLOG_ON, .log_folder = folder,
                                                                .timeout_ms = 60000, .sim = "functional=1");
    check_ok(devlog_device_open(&options, &r.device, &r.err), &r.err);
    check_ok(devlog_program_create(r.device, &r.program, &r.err), &r.err);
    const devlog_kernel_options kernel = DEVLOG_KERNEL_OPTIONS(.source = path, .risc = risc, .cores = one);
    check_ok(devlog_program_add_kernel(r.program, &kernel, NULL, &r.err), &r.err);
    r.status = devlog_compile_program(r.program, &r.err);
    if (!r.status) r.status = devlog_configure_device_with_program(r.device, r.program, &r.err);
    if (!r.status) r.status = devlog_launch_program(r.device, r.program, &r.err);
    snprintf(r.csv, sizeof r.csv, "%s/profile_log_device.csv", folder);
    snprintf(r.capture, sizeof r.capture, "%s/capture.devlog", folder);
    return r;
}

static void end_run(run *r)
{
    devlog_program_free(r->program);
    check_ok(devlog_device_close(r->device, &r->err), &r->err);
}

/* The losses of both logs, which must be the same; returns the amount of one. */
static uint64_t both_say(const run *r, dl_finding finding)
{
    const char *const paths[] = {r->csv, r->capture};
    uint64_t found[2][DL_FINDINGS];
    for (int i = 0; i < 2; i++) {
        devlog_error err = {0};
        dl_decode *d;
        check_ok(dl_decode_new(&d, NULL, &err), &err);
        check_ok(dl_decode_file(d, paths[i], &err), &err);
        check_ok(dl_decode_finish(d, &err), &err);
        memcpy(found[i], dl_decode_losses(d)->found, sizeof found[i]);
        dl_decode_free(d);
    }
    for (int i = 0; i < DL_FINDINGS; i++)
        if (dl_finding_is_loss((dl_finding)i) && found[0][i] != found[1][i])
            fail_msg("%s: the CSV says %llu, the capture %llu", dl_finding_key((dl_finding)i),
                     (unsigned long long)found[0][i], (unsigned long long)found[1][i]);
    return found[0][finding];
}

/* Whether both logs say of a finding where it was. */
static bool both_blame(const run *r, dl_finding finding, const char *where)
{
    const char *const paths[] = {r->csv, r->capture};
    bool both = true;
    for (int i = 0; i < 2; i++) {
        devlog_error err = {0};
        dl_decode *d;
        check_ok(dl_decode_new(&d, NULL, &err), &err);
        check_ok(dl_decode_file(d, paths[i], &err), &err);
        check_ok(dl_decode_finish(d, &err), &err);
        const char *detail = dl_decode_losses(d)->details[DL_SKIPS + finding][0];
        both &= detail && strstr(detail, where);
        dl_decode_free(d);
    }
    return both;
}

static void says(const char *text, const char *what, const char *where)
{
    if (!strstr(text, what)) fail_msg("%s does not say '%s': %s", where, what, text);
}

/* Every command that reads the run ends with 3, and every file that it writes has the loss. */
static void every_output_says(const run *r, dl_finding finding, uint64_t amount)
{
    static const struct {
        const char *format, *name, *file;
    } formats[] = {
        {"chrome", "trace.json", "trace.json"},
        {"perfetto", "trace.pftrace", "trace.pftrace"},
        {"ctf", "trace.ctf", "trace.ctf/metadata"},
        {"json", "events.json", "events.json"},
        {"speedscope", "speed.json", "speed.json"},
        {"xplane", "tb", "tb/plugins/profile/devlog/devlog.xplane.pb"},
    };
    const char *const paths[] = {r->csv, r->capture};
    const char *key = dl_finding_key(finding), *text = dl_finding_text(finding);
    char line[700], number[32];
    snprintf(number, sizeof number, "%llu", (unsigned long long)amount);
    for (int i = 0; i < 2; i++) {
        snprintf(line, sizeof line, "decode %s", paths[i]);
        char *out = devlog_ok(line, 3);
        says(out, text, "the table");
        assert_null(strstr(out, "Nothing was lost"));
        free(out);
        snprintf(line, sizeof line, "decode -f json %s", paths[i]);
        out = devlog_ok(line, 3);
        says(out, key, "the JSON of decode");
        free(out);
        snprintf(line, sizeof line, "decode -o page%d %s", i, paths[i]);
        free(devlog_ok(line, 3));
        char *page = read_bytes(in_scratch(i ? "page1/device_perf.html" : "page0/device_perf.html"), NULL);
        says(page, text, "the page");
        free(page);
        char *stats = read_bytes(in_scratch(i ? "page1/device_stats.txt" : "page0/device_stats.txt"), NULL);
        assert_null(strstr(stats, "Nothing was lost"));
        free(stats);
        for (size_t f = 0; f < sizeof formats / sizeof formats[0]; f++) {
            char name[80];
            snprintf(name, sizeof name, "%s-%d-", key, i);
            snprintf(line, sizeof line, "export --format %s -o %s%s %s", formats[f].format, name,
                     formats[f].name, paths[i]);
            free(devlog_ok(line, 3));
            size_t n;
            snprintf(line, sizeof line, "%s%s", name, formats[f].file);
            char *bytes = read_bytes(in_scratch(line), &n);
            if (!memmem(bytes, n, key, strlen(key)) && !memmem(bytes, n, text, strlen(text)))
                fail_msg("%s of %s does not tell %s", formats[f].format, paths[i], key);
            if (!memmem(bytes, n, number, strlen(number)))
                fail_msg("%s of %s does not tell %s of %s", formats[f].format, paths[i], number, key);
            free(bytes);
        }
    }
}

static void overwritten_records_are_told_everywhere(void **state)
{
    (void)state;
    run r = run_kernel("overwritten", "NCRISC",
                       "void kernel_main(void)\n{\n"
                       "    work(20);\n"
                       "    for (int i = 0; i < 24; i++) REGION[30 + i] = 0xBAD0BAD0u + (uint32_t)i;\n"
                       "    work(20);\n}\n");
    check_ok(r.status, &r.err);
    end_run(&r);
    uint64_t words = both_say(&r, DL_FOUND_DAMAGED_WORDS);
    if (words < 24 || words > 40) fail_msg("%llu damaged words", (unsigned long long)words);
    every_output_says(&r, DL_FOUND_DAMAGED_WORDS, words);
}

static void cleared_records_are_told(void **state)
{
    (void)state;
    run r = run_kernel("cleared", "BRISC",
                       "void kernel_main(void)\n{\n"
                       "    work(20);\n"
                       "    for (int i = 0; i < 28; i++) REGION[28 + i] = 0;\n"
                       "    work(2);\n}\n");
    check_ok(r.status, &r.err);
    end_run(&r);
    assert_int_equal(both_say(&r, DL_FOUND_DAMAGED_WORDS), 28);
}

/* Firmware writes the magic word when it starts, and not again: what a kernel did to it is told of its launch, and the launches
 * behind it have what they recorded, default markers included. */
static void later_launches_are_not_blamed(void **state)
{
    (void)state;
    run r = run_kernel(
        "magic", "NCRISC",
        "void kernel_main(void)\n{\n"
        "    volatile uint32_t *ran = (volatile uint32_t *)(uintptr_t)DEVLOG_USER_BASE;\n"
        "    volatile devlog_control *c = (volatile devlog_control *)(uintptr_t)((uint32_t)(uintptr_t)REGION + "
        "DEVLOG_CONTROL_OFFSET(DEVLOG_SEGMENT_BITS));\n"
        "    if ((*ran)++ == 0) c->magic = 0xBAD0BAD0u;\n"
        "    work(20);\n}\n");
    check_ok(r.status, &r.err);
    for (int i = 0; i < 2; i++)
        check_ok(devlog_launch_program(r.device, r.program, &r.err), &r.err);
    end_run(&r);
    assert_int_equal(both_say(&r, DL_FOUND_UNKNOWN), 1);
    assert_true(both_blame(&r, DL_FOUND_UNKNOWN, "NCRISC: launch 1: its control words"));
    char *csv = read_bytes(r.csv, NULL);
    for (uint32_t launch = 1; launch <= 3; launch++) {
        char kernel[80];
        snprintf(kernel, sizeof kernel, ",0,%u,,,NCRISC-KERNEL,ZONE_END,", launch);
        assert_int_equal(strstr(csv, kernel) != NULL, launch > 1);
    }
    free(csv);
}

/* A program without -DDEVLOG_HW_STREAM has no events, whatever a kernel leaves in the word that says how many there are. */
static void no_events_are_invented(void **state)
{
    (void)state;
    run r = run_kernel(
        "events", "BRISC",
        "void kernel_main(void)\n{\n"
        "    volatile devlog_control *c = (volatile devlog_control *)(uintptr_t)((uint32_t)(uintptr_t)REGION + "
        "DEVLOG_CONTROL_OFFSET(DEVLOG_SEGMENT_BITS));\n"
        "    work(20);\n"
        "    c->events_status = 0x02000033u;\n}\n");
    check_ok(r.status, &r.err);
    end_run(&r);
    assert_int_equal(both_say(&r, DL_FOUND_DAMAGED_WORDS), 0);
    assert_int_equal(both_say(&r, DL_FOUND_DROPPED), 0);
    assert_int_equal(both_say(&r, DL_FOUND_UNKNOWN), 1);
    assert_true(both_blame(&r, DL_FOUND_UNKNOWN, "BRISC: launch 1: its control words"));
}

/* The driver sees the instruction in the ELF file, so even what leaves no trace is known to be unknown: the
 * cursor goes back by 40 records, and more than 40 follow. */
static void a_kernel_that_writes_the_cursor_is_told(void **state)
{
    (void)state;
    run r = run_kernel("cursor", "TRISC0",
                       "void kernel_main(void)\n{\n"
                       "    work(30);\n"
                       "    __asm__ volatile(\"addi tp,tp,-560\");\n"
                       "    work(30);\n}\n");
    check_ok(r.status, &r.err);
    end_run(&r);
    assert_int_equal(both_say(&r, DL_FOUND_UNKNOWN), 1);
    every_output_says(&r, DL_FOUND_UNKNOWN, 1);
}

/* Without the instruction in a function that the linker knows: the words themselves tell. */
static void a_moved_cursor_is_seen_in_the_words(void **state)
{
    static const char set[] =
        "__asm__(\".pushsection .text,\\\"ax\\\"\\nset_tp: mv tp,a0\\n\\tret\\n.popsection\");\n"
        "void set_tp(uint32_t to);\n";
    static const struct {
        const char *name, *to;
        dl_finding finding;
    } cases[] = {
        {"back", "REGION + 20", DL_FOUND_DAMAGED_WORDS},         /* older records behind the last */
        {"forward", "REGION + 300", DL_FOUND_DAMAGED_WORDS},     /* nothing in between */
        {"away", "DEVLOG_USER_BASE + 0x4000", DL_FOUND_UNKNOWN}, /* the records are somewhere else */
        {"control block", "REGION + 530", DL_FOUND_UNKNOWN},
        {"zero", "0x80000000u + 64", DL_FOUND_UNKNOWN},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[900], name[32];
        snprintf(name, sizeof name, "moved-%zu", i);
        snprintf(text, sizeof text,
                 "%svoid kernel_main(void)\n{\n    work(20);\n    set_tp((uint32_t)(uintptr_t)(%s));\n    "
                 "work(3);\n}\n",
                 set, cases[i].to);
        run r = run_kernel(name, "NCRISC", text);
        if (i < 4) check_ok(r.status, &r.err); /* address 0x80000040 is nothing: a fault of the bus */
        end_run(&r);
        if (i == 4 && r.status) continue;
        if (!both_say(&r, cases[i].finding)) fail_msg("%s: nothing is told", cases[i].name);
    }
}

/* The cost of markers is measured when firmware starts; it must not be measured again over records. */
static void a_null_call_keeps_the_records(void **state)
{
    static const char *const riscs[] = {"BRISC", "NCRISC", "TRISC2"};
    (void)state;
    for (size_t i = 0; i < sizeof riscs / sizeof riscs[0]; i++) {
        char name[32];
        snprintf(name, sizeof name, "null-%zu", i);
        run r = run_kernel(name, riscs[i],
                           "void kernel_main(void)\n{\n"
                           "    work(20);\n"
                           "    ((void (*)(void))(uintptr_t)devlog_arg(0))();\n}\n");
        assert_int_equal(r.status, DEVLOG_ERR_DEVICE);
        char who[64], where[64];
        snprintf(who, sizeof who, i ? "by %s, whose kernel called a null pointer" : "its kernel called",
                 riscs[i]);
        snprintf(where, sizeof where, " %s: 1 restarts", riscs[i][0] == 'T' ? "TRISC_2" : riscs[i]);
        says(r.err.text, "the firmware of BRISC was started again", "the message");
        says(r.err.text, who, "the message");
        says(r.err.text, " outside of ", "the message"); /* the pc is in firmware */
        assert_int_equal(both_say(&r, DL_FOUND_RESTARTED), 1);
        assert_true(both_blame(&r, DL_FOUND_RESTARTED, where));
        assert_int_equal(both_say(&r, DL_FOUND_DAMAGED_WORDS), 0);
        devlog_error err = {0};
        dl_decode *d;
        check_ok(dl_decode_new(&d, NULL, &err), &err);
        check_ok(dl_decode_file(d, r.capture, &err), &err);
        check_ok(dl_decode_finish(d, &err), &err);
        dl_groups g;
        check_ok(dl_groups_by_risc(d, &g, &err), &err);
        uint64_t zones = 0;
        for (size_t k = 0; k < g.n; k++) {
            const dl_group *group = &g.items[k];
            if (strcmp(dl_text(dl_decode_tables(d), group->site_name), "a zone") != 0) continue;
            zones += group->summary.count;
            assert_true(group->summary.max < 1000); /* none is invented */
        }
        assert_int_equal(zones, 20);
        dl_groups_free(&g);
        dl_decode_free(d);

        /* The core can be used again. */
        check_ok(devlog_configure_device_with_program(r.device, r.program, &r.err), &r.err);
        assert_int_equal(devlog_launch_program(r.device, r.program, &r.err), DEVLOG_ERR_DEVICE);
        end_run(&r);
    }
}

static void markers_in_interrupt_handlers_are_refused(void **state)
{
    static const struct {
        const char *text, *says; /* NULL: compiles */
    } cases[] = {
        {"__attribute__((interrupt)) void tick(void) { DEVLOG_EVENT(\"tick\"); }\n",
         "handler tick has markers"},
        {"static volatile uint32_t n;\n__attribute__((interrupt)) void tick(void) { n++; }\n", NULL},
        {"__attribute__((noinline)) void inner(void) { work(2); }\n"
         "__attribute__((noinline)) void middle(void) { inner(); __asm__ volatile(\"\"); }\n"
         "__attribute__((interrupt)) void tick(void) { middle(); }\n",
         "handler tick calls "},
        {"__asm__(\".globl tick\\ntick: addi sp,sp,-16\\n sw tp,8(sp)\\n sw ra,4(sp)\\n call in_c\\n lw "
         "ra,4(sp)\\n"
         " lw tp,8(sp)\\n addi sp,sp,16\\n mret\\n\");\nvoid tick(void);\n"
         "void in_c(void);\n__attribute__((noinline)) void in_c(void) { DEVLOG_VALUE(\"v\", 1); }\n",
         "handler tick calls in_c"},
        {"__attribute__((interrupt)) void tick(void) { DEVLOG_ZONE_COMPLETE(\"tick\"); }\n", "handler tick "},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[2000], name[32];
        snprintf(name, sizeof name, "handler-%zu", i);
        snprintf(text, sizeof text,
                 "%svoid tick(void);\nvoid kernel_main(void)\n{\n"
                 "    volatile uintptr_t handler = (uintptr_t)tick;\n    (void)handler;\n    work(2);\n}\n",
                 cases[i].text);
        run r = run_kernel(name, "BRISC", text);
        if (cases[i].says) {
            assert_int_equal(r.status, DEVLOG_ERR_COMPILE);
            says(r.err.text, cases[i].says, "the message");
        } else {
            check_ok(r.status, &r.err);
        }
        end_run(&r);
    }
}

/* A handler that no marker is in may put tp on the stack with the other registers and take it from there; what it writes to tp
 * otherwise is a write like any other, and told. */
static void handlers_that_keep_the_cursor(void **state)
{
    static const struct {
        const char *text;
        uint64_t unknown;
    } cases[] = {
        {"addi sp,sp,-16\\n sw tp,8(sp)\\n lw tp,8(sp)\\n addi sp,sp,16\\n mret", 0},
        {"mv t3,tp\\n li tp,1\\n mv tp,t3\\n mret", 1},
        {"addi sp,sp,-16\\n sw tp,8(sp)\\n li tp,1\\n lw tp,8(sp)\\n addi sp,sp,16\\n mret", 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[900], name[32];
        snprintf(name, sizeof name, "keeps-%zu", i);
        snprintf(text, sizeof text,
                 "__attribute__((naked)) void tick(void) { __asm__ volatile(\"%s\"); }\n"
                 "void kernel_main(void)\n{\n    volatile uintptr_t handler = (uintptr_t)tick;\n"
                 "    (void)handler;\n    work(20);\n}\n",
                 cases[i].text);
        run r = run_kernel(name, "NCRISC", text);
        check_ok(r.status, &r.err);
        end_run(&r);
        assert_int_equal(both_say(&r, DL_FOUND_UNKNOWN), cases[i].unknown);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(overwritten_records_are_told_everywhere),
        cmocka_unit_test(cleared_records_are_told),
        cmocka_unit_test(later_launches_are_not_blamed),
        cmocka_unit_test(no_events_are_invented),
        cmocka_unit_test(a_kernel_that_writes_the_cursor_is_told),
        cmocka_unit_test(a_moved_cursor_is_seen_in_the_words),
        cmocka_unit_test(a_null_call_keeps_the_records),
        cmocka_unit_test(markers_in_interrupt_handlers_are_refused),
        cmocka_unit_test(handlers_that_keep_the_cursor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
