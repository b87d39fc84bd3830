/* A capture of launches on the simulator: decodes to what the device log of the same launches decodes to;
 * says when an ELF file is missing or another; survives a run that was killed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "decode/capture/capture.h"
#include "decode/decode.h"
#include "support/device.h"
#include "support/events.h"
#include "support/files.h"
#include "support/text.h"

/* Events as text, without what differs by right: the line and the meta text's number. */
typedef struct listener {
    dl_decode *decode;
    FILE *out;
} listener;

static devlog_status on_events(void *ctx, const dl_event *events, size_t n, devlog_error *err)
{
    listener *l = ctx;
    (void)err;
    const dl_tables *t = dl_decode_tables(l->decode);
    for (size_t i = 0; i < n; i++) {
        const dl_event *e = &events[i];
        const dl_stream *s = &t->streams[e->stream];
        fprintf(l->out, "%u %u,%u %s %s:%u %d %llu %llu %llu %u %u %s\n", t->chips[s->chip].id, s->core_x,
                s->core_y, dl_risc_text(t, e->stream), dl_site_text(t, e->site), t->sites[e->site].line,
                e->kind, (unsigned long long)e->start, (unsigned long long)e->end,
                (unsigned long long)e->data, e->launch, e->depth, e->meta ? dl_text(t, e->meta) : "");
    }
    return DEVLOG_OK;
}

static char *decoded(const char *path, const char *elf_folder, dl_decode **keep)
{
    devlog_error err = {0};
    dl_decode *d;
    const dl_decode_options options = {.keep_meta = true, .elf_folder = elf_folder};
    check_ok(dl_decode_new(&d, &options, &err), &err);
    char *text;
    size_t size;
    listener l = {d, open_memstream(&text, &size)};
    test_events_to(d, &l, on_events);
    check_ok(dl_decode_file(d, path, &err), &err);
    check_ok(dl_decode_finish(d, &err), &err);
    fclose(l.out);
    if (keep)
        *keep = d;
    else
        dl_decode_free(d);
    return text;
}

static char *path_of(const char *folder, const char *name)
{
    char *path;
    assert_true(asprintf(&path, "%s/%s", folder, name) > 0);
    return path;
}

static devlog_device *open_in(const char *folder)
{
    devlog_error err = {0};
    devlog_device *d;
    const devlog_device_options options = DEVLOG_DEVICE_OPTIONS(.log_folder = folder, .profile = DEVLOG_ON);
    check_ok(devlog_device_open(&options, &d, &err), &err);
    return d;
}

/* Markers of every kind on two RISCs of four cores, some of them dropped. */
static void run(devlog_device *d, int launches, uint32_t rounds)
{
    devlog_error err = {0};
    devlog_program *p;
    const devlog_cores cores = {0, 0, 1, 1};
    check_ok(devlog_program_create(d, &p, &err), &err);
    devlog_kernel *a = add_kernel(p, "tests/sim/kernels/events.c", "NCRISC", cores, NULL);
    devlog_kernel *b = add_kernel(p, "tests/sim/kernels/classes.c", "BRISC", cores, NULL);
    for (uint32_t i = 0; i < 4; i++) {
        const uint32_t args[2] = {rounds, 3};
        check_ok(devlog_kernel_set_args(a, (devlog_core){i % 2, i / 2}, args, 2, &err), &err);
        check_ok(devlog_kernel_set_args(b, (devlog_core){i % 2, i / 2}, args, 2, &err), &err);
    }
    prepare(d, p);
    for (int i = 0; i < launches; i++)
        check_ok(devlog_launch_program(d, p, &err), &err);
    devlog_program_free(p);
}

static void agrees_with_the_log(void **state)
{
    (void)state;
    devlog_error err = {0};
    const char *folder = test_folder();
    devlog_device *d = open_in(folder);
    run(d, 5, 700); /* more than fits */
    check_ok(devlog_device_close(d, &err), &err);
    char *capture = path_of(folder, DL_CAPTURE_NAME), *log = path_of(folder, "profile_log_device.csv");
    dl_decode *from_capture, *from_log;
    char *a = decoded(capture, NULL, &from_capture), *b = decoded(log, NULL, &from_log);
    assert_true(strlen(a) > 10000);
    /* Cores are aligned in a capture, and the simulator's agree, so offsets are measured near 0: compare what
     * does not depend on them. */
    const dl_losses *x = dl_decode_losses(from_capture), *y = dl_decode_losses(from_log);
    assert_int_equal(x->rows, y->rows);
    assert_true(x->found[DL_FOUND_DROPPED] > 0);
    for (int i = 0; i < DL_FINDINGS; i++)
        assert_int_equal(x->found[i], y->found[i]);
    assert_int_equal(dl_decode_n_keys(from_capture), dl_decode_n_keys(from_log));
    for (size_t i = 0; i < dl_decode_n_keys(from_capture); i++) {
        const dl_key *k = dl_decode_key(from_capture, i), *m = dl_decode_key(from_log, i);
        assert_int_equal(k->count, m->count);
        assert_true(k->sum == m->sum);
        assert_int_equal(k->min, m->min);
        assert_int_equal(k->max, m->max);
    }
    assert_int_equal(x->n_clocks, 1);
    assert_true(x->clocks[0].host_ns > 0);
    assert_int_equal(y->n_clocks, 0);
    const dl_launches *launches = dl_decode_launches(from_capture);
    assert_int_equal(launches->count, 5);
    for (uint32_t i = 0; i < 5; i++) {
        const dl_launch *l = &launches->items[i];
        assert_true(l->call_start > 0 && l->call_end > l->call_start);
        assert_true(l->pull_start >= l->call_end && l->pull_end >= l->pull_start);
        double ns, error;
        const dl_chip_clocks *clocks = dl_decode_clocks(from_capture);
        assert_true(dl_chip_clocks_ns(clocks, 0, l->first_fw_start, &ns, &error));
        assert_true(ns + error + (double)clocks->origin >= (double)l->call_start);
        assert_true(dl_chip_clocks_ns(clocks, 0, l->last_fw_end, &ns, &error));
        assert_true(ns - error + (double)clocks->origin <= (double)l->call_end);
    }
    dl_decode_free(from_capture);
    dl_decode_free(from_log);
    free(a);
    free(b);
    free(capture);
    free(log);
}

/* The reference core's stamps are the same in both: nothing is subtracted from them. */
static void one_core_is_the_same_to_the_byte(void **state)
{
    (void)state;
    devlog_error err = {0};
    const char *folder = test_folder();
    devlog_device *d = open_in(folder);
    devlog_program *p;
    check_ok(devlog_program_create(d, &p, &err), &err);
    devlog_kernel *k =
        add_kernel(p, "tests/sim/kernels/events.c", "TRISC1", (devlog_cores){0, 0, 0, 0}, NULL);
    const uint32_t rounds = 9;
    check_ok(devlog_kernel_set_args(k, (devlog_core){0, 0}, &rounds, 1, &err), &err);
    prepare(d, p);
    for (int i = 0; i < 3; i++)
        check_ok(devlog_launch_program(d, p, &err), &err);
    devlog_program_free(p);
    check_ok(devlog_device_close(d, &err), &err);
    char *capture = path_of(folder, DL_CAPTURE_NAME), *log = path_of(folder, "profile_log_device.csv");
    char *a = decoded(capture, NULL, NULL), *b = decoded(log, NULL, NULL);
    assert_string_equal(a, b);
    free(a);
    free(b);
    free(capture);
    free(log);
}

/* Whatever shows the capture says so, does not say that nothing was lost, and exits with 3. */
static void every_command_tells(const char *capture, const char *says)
{
    static const char *const commands[] = {
        "decode '%s' -o '%s'",
        "decode -f json '%s' -o '%s'",
        "export -f chrome '%s' -o '%s/t.json'",
        "ops --device-log '%s' -i /nowhere -o '%s'",
        "view -x '%2$s/view' '%1$s'",
        "view --ui speedscope -x '%2$s/view' '%1$s'",
    };
    const char *folder = test_folder(), *devlog = getenv("DEVLOG_BIN");
    assert_non_null(devlog);
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        char command[2000], line[1500];
        snprintf(line, sizeof line, commands[i], capture, folder); /* NOLINT: a table of formats */
        snprintf(command, sizeof command, "'%s' %s >'%s/said.txt' 2>&1", devlog, line, folder);
        int status = system(command);
        char *said_in = path_of(folder, "said.txt"), *said = read_bytes(said_in, NULL);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 3) fail_msg("%s: not 3: %s", line, said);
        bool json = strstr(line, "-f json") != NULL;
        if (!strstr(said, json ? "\"complete\": false" : says)) fail_msg("%s does not tell: %s", line, said);
        assert_null(strstr(said, "Nothing was lost"));
        free(said_in);
        free(said);
    }
}

/* Two kernels of one RISC, their ELF files gone: the first marker of each has the same number, and is another marker. */
static void numbers_of_two_kernels(void **state)
{
    (void)state;
    devlog_error err = {0};
    char folder[200];
    snprintf(folder, sizeof folder, "%s", test_folder());
    setenv("DEVLOG_CACHE", folder, 1);
    devlog_device *d = open_in(folder);
    static const char *const sources[] = {"one.c", "other.c"};
    for (int i = 0; i < 2; i++) {
        devlog_program *program;
        char *source = path_of(folder, sources[i]), text[400];
        snprintf(
            text, sizeof text,
            "#include <devlog/kernel.h>\n#include <devlog/profile.h>\nvolatile uint32_t sink;\nvoid "
            "kernel_main(void)\n{\n    for (int i = 0; i < %d; i++) {\n        DEVLOG_ZONE(\"in %s\");\n        "
            "for (int k = 0; k < %d; k++)\n            sink = k;\n    }\n}\n",
            3 + i, sources[i], 10 + 200 * i);
        write_text(source, text);
        check_ok(devlog_program_create(d, &program, &err), &err);
        const devlog_kernel_options o =
            DEVLOG_KERNEL_OPTIONS(.source = source, .risc = "BRISC", .cores = {0, 0, 0, 0});
        check_ok(devlog_program_add_kernel(program, &o, NULL, &err), &err);
        prepare(d, program);
        check_ok(devlog_launch_program(d, program, &err), &err);
        devlog_program_free(program);
        free(source);
    }
    check_ok(devlog_device_close(d, &err), &err);
    char *capture = path_of(folder, DL_CAPTURE_NAME), *with = decoded(capture, NULL, NULL), command[400];
    snprintf(command, sizeof command, "find '%s' -name '*.elf' -delete", folder);
    assert_int_equal(system(command), 0);
    char *without = decoded(capture, NULL, NULL);
    for (int i = 0; i < 2; i++) {
        char named[64], numbered[64];
        snprintf(named, sizeof named, "in %s", sources[i]);
        snprintf(numbered, sizeof numbered, "id 16 of %s", sources[i]);
        const size_t times[2] = {text_count(with, named), text_count(without, numbered)};
        if (times[0] != (size_t)(3 + i) || times[1] != times[0])
            fail_msg("%s: %zu, %zu in %s", named, times[0], times[1], without);
    }
    assert_null(strstr(without, "id 16,"));
    unsetenv("DEVLOG_CACHE");
    free(with);
    free(without);
    free(capture);
}

static void missing_elf(void **state)
{
    (void)state;
    devlog_error err = {0};
    const char *folder = test_folder();
    setenv("DEVLOG_CACHE", folder, 1); /* the ELF files of this run alone are here */
    devlog_device *d = open_in(folder);
    run(d, 1, 5);
    check_ok(devlog_device_close(d, &err), &err);
    char *capture = path_of(folder, DL_CAPTURE_NAME), *command, *moved = path_of(folder, "moved");
    char *before = decoded(capture, NULL, NULL);
    assert_true(asprintf(&command,
                         "mkdir '%s' && find '%s' -name '*.elf' -not -path '*/moved/*' -exec mv {} '%s' \\;",
                         moved, folder, moved) > 0);
    assert_int_equal(system(command), 0);
    free(command);

    dl_decode *decode;
    char *without = decoded(capture, NULL, &decode);
    const dl_losses *l = dl_decode_losses(decode);
    assert_int_equal(l->found[DL_FOUND_NO_ELF], 2);
    assert_non_null(strstr(l->details[DL_SKIPS + DL_FOUND_NO_ELF][0], "is not there"));
    assert_true(l->found[DL_FOUND_UNNAMED] > 0);
    assert_non_null(strstr(without, " id "));
    assert_true(dl_losses_any(l));
    dl_decode_free(decode);
    every_command_tells(capture, "records whose marker has no name, shown as numbers");

    char *with = decoded(capture, moved, NULL);
    assert_string_equal(before, with);

    /* The same names with other contents: each has the file of the next. */
    assert_true(asprintf(&command,
                         "cd '%s' && cp \"$(ls *.elf | head -1)\" last && for f in *.elf; do "
                         "[ -z \"$p\" ] || cp \"$f\" \"$p\"; p=$f; done && mv last \"$p\"",
                         moved) > 0);
    assert_int_equal(system(command), 0);
    free(command);
    char *other = decoded(capture, moved, &decode);
    assert_non_null(
        strstr(dl_decode_losses(decode)->details[DL_SKIPS + DL_FOUND_NO_ELF][0], "another build"));
    assert_string_equal(other, without);
    dl_decode_free(decode);
    free(before);
    free(without);
    free(with);
    free(other);
    free(capture);
    free(moved);
}

/* The device is never closed: what was launched is there, and it is said that the run has not ended. */
static void killed(void **state)
{
    (void)state;
    const char *folder = test_folder();
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        run(open_in(folder), 3, 5);
        _exit(0);
    }
    int status;
    while (waitpid(child, &status, 0) < 0)
        ;
    assert_int_equal(status, 0);
    char *capture = path_of(folder, DL_CAPTURE_NAME);
    dl_decode *decode;
    char *text = decoded(capture, NULL, &decode);
    assert_int_equal(dl_decode_launches(decode)->count, 3);
    assert_int_equal(dl_decode_losses(decode)->found[DL_FOUND_NOT_CLOSED], 1);
    assert_true(dl_losses_any(dl_decode_losses(decode)));
    dl_decode_free(decode);
    free(text);
    every_command_tells(capture, "captures whose run goes on or was killed");
    free(capture);
}

static devlog_program *program_of(devlog_device *d, const char *source, uint32_t n)
{
    devlog_error err = {0};
    devlog_program *p;
    const uint32_t args[2] = {n, 100};
    check_ok(devlog_program_create(d, &p, &err), &err);
    devlog_kernel *k = add_kernel(p, source, "BRISC", (devlog_cores){0, 0, 0, 0}, NULL);
    check_ok(devlog_kernel_set_args(k, (devlog_core){0, 0}, args, 2, &err), &err);
    prepare(d, p);
    return p;
}

/* Two writers of one chip number in one folder, in turn: each one's markers keep their names. */
static void two_writers_keep_their_names(void **state)
{
    (void)state;
    devlog_error err = {0};
    const char *folder = test_folder();
    devlog_device *a = open_in(folder);
    devlog_program *of_a = program_of(a, "tests/sim/kernels/iterations.c", 10);
    check_ok(devlog_launch_program(a, of_a, &err), &err);
    devlog_device *b = open_in(folder);
    devlog_program *of_b = program_of(b, "tests/sim/kernels/nested.c", 3);
    check_ok(devlog_launch_program(b, of_b, &err), &err);
    check_ok(devlog_launch_program(a, of_a, &err), &err);
    check_ok(devlog_launch_program(b, of_b, &err), &err);
    devlog_program_free(of_a);
    devlog_program_free(of_b);
    check_ok(devlog_device_close(a, &err), &err);
    check_ok(devlog_device_close(b, &err), &err);
    char *capture = path_of(folder, DL_CAPTURE_NAME);
    dl_decode *decode;
    char *text = decoded(capture, NULL, &decode);
    if (text_count(text, " iteration:") != 2 * 10) fail_msg("not 20 iterations: %s", text);
    assert_int_equal(text_count(text, "(no name)") + text_count(text, "MARKER-"), 0);
    assert_int_equal(dl_decode_losses(decode)->found[DL_FOUND_UNNAMED], 0);
    dl_decode_free(decode);
    free(text);
    free(capture);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_the_log),
        cmocka_unit_test(one_core_is_the_same_to_the_byte),
        cmocka_unit_test(killed),
        cmocka_unit_test(two_writers_keep_their_names),
        cmocka_unit_test(missing_elf),
        cmocka_unit_test(numbers_of_two_kernels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
