/* The device-log writer: the three styles to the byte, appending, and reading back what it wrote. */
#include "support/cmocka_all.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "decode/analysis/groups.h"
#include "decode/log/log_write.h"
#include "devlog/record.h"

typedef struct fixture {
    char folder[64];
    dl_tables tables;
    dl_row rows[6];
} fixture;

static int setup(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    devlog_error err;
    strcpy(f->folder, "/tmp/devlog-test-XXXXXX");
    if (!f || !mkdtemp(f->folder) || dl_tables_init(&f->tables, &err) != DEVLOG_OK) return -1;
    uint32_t stream = dl_tables_stream(&f->tables, 0, 1, 2, "TRISC_0", 7);
    uint32_t fw = dl_tables_site(&f->tables, "TRISC-FW", 8, "trisc.c", 7, 30);
    uint32_t kernel = dl_tables_site(&f->tables, "TRISC-KERNEL", 12, "trisc.c", 7, 40);
    uint32_t user = dl_tables_site(&f->tables, "MY,ZONE", 7, "k.c", 3, 5);
    const dl_row rows[6] = {
        {.time = 1000, .type = DL_ROW_ZONE_START, .site = fw, .timer_id = 7},
        {.time = 1100, .type = DL_ROW_ZONE_START, .site = kernel, .timer_id = 8},
        {.time = 1150, .type = DL_ROW_TS_DATA, .site = user, .timer_id = 9, .data = 42},
        {.time = 1160, .type = DL_ROW_TS_EVENT, .site = user, .timer_id = 3},
        {.time = 1200, .type = DL_ROW_ZONE_END, .site = kernel, .timer_id = 8},
        {.time = 1400, .type = DL_ROW_ZONE_END, .site = fw, .timer_id = 7},
    };
    memcpy(f->rows, rows, sizeof rows);
    for (size_t i = 0; i < 6; i++) {
        f->rows[i].stream = stream;
        f->rows[i].run_host_id = 1024;
        f->rows[i].trace_id = f->rows[i].trace_counter = DL_NO_ID;
    }
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    fixture *f = *state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", f->folder);
    int r = system(command);
    dl_tables_free(&f->tables);
    free(f);
    return r;
}

/* Writes `launches` launches in one style, each in its own opening of the log, and returns the file's text.
 */
static dl_str written(fixture *f, const dl_device_log_options *options, int launches, uint64_t *left_out)
{
    devlog_error err;
    dl_str text = {0};
    char folder[128], path[256];
    snprintf(folder, sizeof folder, "%s/a/b", f->folder);
    for (int i = 0; i < launches; i++) {
        dl_device_log *log;
        assert_int_equal(dl_device_log_open(&log, folder, options, &err), DEVLOG_OK);
        assert_int_equal(dl_device_log_rows(log, &f->tables, f->rows, 6, &err), DEVLOG_OK);
        assert_int_equal(dl_device_log_commit(log, &err), DEVLOG_OK);
        *left_out = dl_device_log_left_out(log);
        assert_int_equal(dl_device_log_close(log, &err), DEVLOG_OK);
    }
    snprintf(path, sizeof path, "%s/" DL_DEVICE_LOG_NAME, folder);
    assert_int_equal(dl_file_read(path, 1 << 20, &text, &err), DEVLOG_OK);
    return text;
}

static void style_of_the_document(void **state)
{
    const dl_device_log_options options = {.style = DL_LOG_L0};
    uint64_t left_out;
    dl_str text = written(*state, &options, 1, &left_out);
    assert_string_equal(text.text, "0, 1, 2, TRISC_0, 1, 1000\n"
                                   "0, 1, 2, TRISC_0, 2, 1100\n"
                                   "0, 1, 2, TRISC_0, 9, 1150\n"
                                   "0, 1, 2, TRISC_0, 3, 1200\n"
                                   "0, 1, 2, TRISC_0, 4, 1400\n");
    assert_int_equal(left_out, 1); /* an event whose id means "kernel end" here */
    dl_str_free(&text);
}

static void header_is_written_once(void **state)
{
    const dl_device_log_options options = {
        .style = DL_LOG_L2, .append = true, .arch = "grayskull", .freq_khz = 1202000};
    uint64_t left_out;
    dl_str text = written(*state, &options, 2, &left_out);
    const char *expected =
        "ARCH: grayskull, CHIP_FREQ[MHz]: 1202\n"
        "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset]\n"
        "0, 1, 2, TRISC_0, 1, 1000\n";
    assert_memory_equal(text.text, expected, strlen(expected));
    const char *first = strstr(text.text, "ARCH");
    assert_null(strstr(first + 1, "ARCH"));
    assert_non_null(strstr(text.text + strlen(expected), "TRISC_0, 1, 1000\n"));
    dl_str_free(&text);
}

static void newest_style_comes_back_whole(void **state)
{
    fixture *f = *state;
    const dl_device_log_options options = {
        .style = DL_LOG_L9, .arch = "wormhole_b0", .freq_khz = 1000000, .max_cores = 64};
    uint64_t left_out;
    dl_str text = written(f, &options, 1, &left_out);
    const char *header =
        "ARCH: wormhole_b0, CHIP_FREQ[MHz]: 1000, Max Compute Cores: 64, Ends: DEVLOG-END\n"
        "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, "
        "run host ID, trace id, trace id counter, zone name, type, source line, source file, meta data\n"
        "0,1,2,TRISC_0,7,1000,0,1024,,,TRISC-FW,ZONE_START,30,trisc.c,\n";
    assert_memory_equal(text.text, header, strlen(header));
    assert_non_null(strstr(text.text, "0,1,2,TRISC_0,9,1150,42,1024,,,\"MY,ZONE\",TS_DATA,5,k.c,\n"));
    devlog_error err;
    dl_decode *d;
    dl_groups g;
    assert_int_equal(dl_decode_new(&d, NULL, &err), DEVLOG_OK);
    assert_int_equal(dl_decode_memory(d, "log", text.text, text.len, &err), DEVLOG_OK);
    assert_int_equal(dl_decode_finish(d, &err), DEVLOG_OK);
    assert_false(dl_losses_any(dl_decode_losses(d)));
    assert_int_equal(dl_decode_losses(d)->rows, 6);
    assert_int_equal(dl_decode_launches(d)->items[0].run_host_id, 1024);
    assert_int_equal(dl_decode_tables(d)->chips[0].max_cores, 64);
    assert_int_equal(dl_groups_by_risc(d, &g, &err), DEVLOG_OK);
    assert_int_equal(g.n, 2);
    assert_int_equal(g.items[0].summary.sum, 400);
    assert_int_equal(g.items[1].summary.sum, 100);
    dl_groups_free(&g);
    dl_decode_free(d);
    dl_str_free(&text);
}

static void dropped_markers_are_told(void **state)
{
    fixture *f = *state;
    devlog_error err;
    dl_device_log *log;
    dl_decode *d;
    const dl_device_log_options options = {.style = DL_LOG_L9, .freq_khz = 1000000};
    assert_int_equal(dl_device_log_open(&log, f->folder, &options, &err), DEVLOG_OK);
    assert_int_equal(dl_device_log_rows(log, &f->tables, f->rows, 6, &err), DEVLOG_OK);
    assert_int_equal(dl_device_log_loss(log, &f->tables, &f->rows[5], DL_LOSS_DROPPED, 17, &err), DEVLOG_OK);
    assert_int_equal(dl_device_log_commit(log, &err), DEVLOG_OK);
    assert_int_equal(dl_decode_new(&d, NULL, &err), DEVLOG_OK);
    assert_int_equal(dl_decode_file(d, dl_device_log_path(log), &err), DEVLOG_OK);
    assert_int_equal(dl_decode_finish(d, &err), DEVLOG_OK);
    assert_int_equal(dl_decode_losses(d)->found[DL_FOUND_DROPPED], 17);
    assert_true(dl_losses_any(dl_decode_losses(d)));
    dl_decode_free(d);
    dl_device_log_close(log, NULL);
}

/* Every kind of loss comes back with its amount, in the newest style and in that of six columns. */
static void every_loss_is_told(void **state)
{
    fixture *f = *state;
    static const struct {
        dl_loss_zone zone;
        uint64_t amount;
        dl_finding finding;
        uint64_t found;
    } losses[] = {
        {DL_LOSS_DROPPED, 40000000, DL_FOUND_DROPPED, 40000000},
        {DL_LOSS_DAMAGED, 24, DL_FOUND_DAMAGED_WORDS, 24},
        {DL_LOSS_UNKNOWN, DEVLOG_DAMAGE_CURSOR, DL_FOUND_UNKNOWN, 1},
        {DL_LOSS_RESTARTED, 2, DL_FOUND_RESTARTED, 2},
        {DL_LOSS_TORN, 3, DL_FOUND_TORN, 3},
        {DL_LOSS_AMBIGUOUS, 5, DL_FOUND_AMBIGUOUS, 5},
    };
    static const dl_log_style styles[] = {DL_LOG_L9, DL_LOG_L2, DL_LOG_L0};
    for (size_t s = 0; s < sizeof styles / sizeof styles[0]; s++) {
        devlog_error err;
        dl_device_log *log;
        dl_decode *d;
        char path[256];
        const dl_device_log_options options = {.style = styles[s], .freq_khz = 1000000};
        assert_int_equal(dl_device_log_open(&log, f->folder, &options, &err), DEVLOG_OK);
        for (int launch = 0; launch < 2; launch++) {
            assert_int_equal(dl_device_log_rows(log, &f->tables, f->rows, 6, &err), DEVLOG_OK);
            for (size_t i = 0; i < sizeof losses / sizeof losses[0]; i++)
                assert_int_equal(
                    dl_device_log_loss(log, &f->tables, &f->rows[5], losses[i].zone, losses[i].amount, &err),
                    DEVLOG_OK);
            assert_int_equal(dl_device_log_commit(log, &err), DEVLOG_OK);
        }
        snprintf(path, sizeof path, "%s", dl_device_log_path(log));
        dl_device_log_close(log, NULL);
        for (int rows = 0; rows < 2; rows++) { /* by the way of statistics, and by the way of rows */
            const dl_decode_options keep = {.keep_meta = rows};
            assert_int_equal(dl_decode_new(&d, &keep, &err), DEVLOG_OK);
            assert_int_equal(dl_decode_file(d, path, &err), DEVLOG_OK);
            assert_int_equal(dl_decode_finish(d, &err), DEVLOG_OK);
            const dl_losses *l = dl_decode_losses(d);
            for (size_t i = 0; i < sizeof losses / sizeof losses[0]; i++)
                assert_int_equal(l->found[losses[i].finding], 2 * losses[i].found);
            assert_int_equal(l->found[DL_FOUND_NOT_CLOSED] + dl_losses_skipped(l), 0);
            dl_decode_free(d);
        }
    }
}

/* A device that fails while it is read may leave losses and nothing else: the log of the run is closed all the same. */
static void a_run_of_losses_only_is_closed(void **state)
{
    fixture *f = *state;
    for (int violation = 0; violation < 2; violation++) {
        devlog_error err;
        dl_device_log *log;
        dl_decode *d;
        char path[256];
        const dl_device_log_options options = {.style = DL_LOG_L9, .freq_khz = 1000000};
        const dl_log_violation v = {
            .text = "cycles of 'a'", .file = "k.c", .line = 3, .times = 2, .worst = 9};
        assert_int_equal(dl_device_log_open(&log, f->folder, &options, &err), DEVLOG_OK);
        assert_int_equal(violation
                             ? dl_device_log_violation(log, &f->tables, &f->rows[5], &v, &err)
                             : dl_device_log_loss(log, &f->tables, &f->rows[5], DL_LOSS_UNKNOWN, 1, &err),
                         DEVLOG_OK);
        assert_int_equal(dl_device_log_commit(log, &err), DEVLOG_OK);
        snprintf(path, sizeof path, "%s", dl_device_log_path(log));
        assert_int_equal(dl_device_log_close(log, &err), DEVLOG_OK);
        assert_int_equal(dl_decode_new(&d, NULL, &err), DEVLOG_OK);
        assert_int_equal(dl_decode_file(d, path, &err), DEVLOG_OK);
        assert_int_equal(dl_decode_finish(d, &err), DEVLOG_OK);
        const dl_losses *l = dl_decode_losses(d);
        assert_int_equal(l->found[violation ? DL_FOUND_VIOLATED : DL_FOUND_UNKNOWN], violation ? 2 : 1);
        assert_int_equal(l->found[DL_FOUND_NOT_CLOSED], 0);
        dl_decode_free(d);
    }
}

/* Writes one launch to the log, and closes it or is killed. */
static void run_once(fixture *f, bool killed)
{
    devlog_error err;
    dl_device_log *log;
    const dl_device_log_options options = {.style = DL_LOG_L9, .append = true};
    for (int i = 0; i < 6; i++)
        f->rows[i].run_host_id++; /* the same launch in the same cycles would be a log that is there twice */
    pid_t pid = fork();
    if (pid == 0) {
        bool good = dl_device_log_open(&log, f->folder, &options, &err) == DEVLOG_OK &&
                    dl_device_log_rows(log, &f->tables, f->rows, 6, &err) == DEVLOG_OK &&
                    dl_device_log_commit(log, &err) == DEVLOG_OK;
        if (!killed) dl_device_log_close(log, NULL);
        _exit(good ? 0 : 1);
    }
    int how;
    assert_int_equal(waitpid(pid, &how, 0), pid);
    assert_int_equal(how, 0);
}

static uint64_t runs_not_closed(fixture *f)
{
    devlog_error err;
    dl_decode *d;
    char path[256];
    snprintf(path, sizeof path, "%s/" DL_DEVICE_LOG_NAME, f->folder);
    assert_int_equal(dl_decode_new(&d, NULL, &err), DEVLOG_OK);
    assert_int_equal(dl_decode_file(d, path, &err), DEVLOG_OK);
    assert_int_equal(dl_decode_finish(d, &err), DEVLOG_OK);
    uint64_t n = dl_decode_losses(d)->found[DL_FOUND_NOT_CLOSED];
    assert_int_equal(n > 0, dl_losses_any(dl_decode_losses(d)));
    dl_decode_free(d);
    return n;
}

static void a_killed_run_is_told(void **state)
{
    fixture *f = *state;
    run_once(f, false);
    assert_int_equal(runs_not_closed(f), 0);
    run_once(f, false);
    assert_int_equal(runs_not_closed(f), 0);
    run_once(f, true);
    assert_int_equal(runs_not_closed(f), 1);
    run_once(f, false); /* what comes later does not hide it */
    assert_int_equal(runs_not_closed(f), 1);
    run_once(f, true);
    assert_int_equal(runs_not_closed(f), 2);
}

static void a_row_cut_by_a_killed_writer_is_ended(void **state)
{
    fixture *f = *state;
    devlog_error err;
    dl_device_log *log;
    dl_str text = {0};
    char path[256];
    snprintf(path, sizeof path, "%s/" DL_DEVICE_LOG_NAME, f->folder);
    int fd = open(path, O_CREAT | O_WRONLY, 0666);
    assert_int_equal(dl_write_all(fd, "0, 0, 0, BRI", 12), 0);
    close(fd);
    const dl_device_log_options options = {.style = DL_LOG_L0, .append = true};
    assert_int_equal(dl_device_log_open(&log, f->folder, &options, &err), DEVLOG_OK);
    assert_int_equal(dl_device_log_rows(log, &f->tables, f->rows, 1, &err), DEVLOG_OK);
    assert_int_equal(dl_device_log_commit(log, &err), DEVLOG_OK);
    dl_device_log_close(log, NULL);
    assert_int_equal(dl_file_read(path, 1 << 20, &text, &err), DEVLOG_OK);
    assert_string_equal(text.text, "0, 0, 0, BRI\n0, 1, 2, TRISC_0, 1, 1000\n");
    dl_str_free(&text);
}

static void what_cannot_be_written_is_said(void **state)
{
    fixture *f = *state;
    devlog_error err;
    dl_device_log *log;
    char path[256];
    const dl_device_log_options options = {.style = DL_LOG_L9};
    snprintf(path, sizeof path, "%s/file", f->folder);
    int fd = open(path, O_CREAT | O_WRONLY, 0666);
    close(fd);
    assert_int_equal(dl_device_log_open(&log, path, &options, &err), DEVLOG_ERR_IO);
    assert_non_null(strstr(err.text, path));
    snprintf(path, sizeof path, "%s/" DL_DEVICE_LOG_NAME, f->folder);
    assert_int_equal(mkdir(path, 0777), 0);
    assert_int_equal(dl_device_log_open(&log, f->folder, &options, &err), DEVLOG_ERR_IO);
    assert_non_null(strstr(err.text, "cannot write the device log"));
}

static void a_full_disk_leaves_whole_launches(void **state)
{
    fixture *f = *state;
    devlog_error err;
    dl_device_log *log;
    if (access("/dev/full", W_OK) != 0) {
        print_message("skipped: there is no /dev/full here\n");
        skip();
    }
    const dl_device_log_options options = {.style = DL_LOG_L0, .append = true, .name = "/dev/full"};
    assert_int_equal(dl_device_log_open(&log, "", &options, &err), DEVLOG_OK);
    assert_int_equal(dl_device_log_rows(log, &f->tables, f->rows, 6, &err), DEVLOG_OK);
    assert_int_equal(dl_device_log_commit(log, &err), DEVLOG_ERR_IO);
    assert_non_null(strstr(err.text, "No space left"));
    assert_int_equal(dl_device_log_close(log, &err), DEVLOG_ERR_PARTIAL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(style_of_the_document, setup, teardown),
        cmocka_unit_test_setup_teardown(header_is_written_once, setup, teardown),
        cmocka_unit_test_setup_teardown(newest_style_comes_back_whole, setup, teardown),
        cmocka_unit_test_setup_teardown(dropped_markers_are_told, setup, teardown),
        cmocka_unit_test_setup_teardown(every_loss_is_told, setup, teardown),
        cmocka_unit_test_setup_teardown(a_run_of_losses_only_is_closed, setup, teardown),
        cmocka_unit_test_setup_teardown(a_killed_run_is_told, setup, teardown),
        cmocka_unit_test_setup_teardown(a_row_cut_by_a_killed_writer_is_ended, setup, teardown),
        cmocka_unit_test_setup_teardown(what_cannot_be_written_is_said, setup, teardown),
        cmocka_unit_test_setup_teardown(a_full_disk_leaves_whole_launches, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
