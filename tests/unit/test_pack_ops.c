/* The op report of a part of a packed log: that of the log, and the rest is not read. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "decode/decode.h"
#include "support/cli.h"
#include "support/files.h"
#include "support/parts.h"
#include "tt_metal/job.h"

/* Ops of the host, one for each launch of chip 0, and signposts between hundreds of them. */
static void make_host(void)
{
    dl_str data = {0}, times = {0};
    dl_str_add(&data, "MessageName;total_ns\n");
    dl_str_add(
        &times,
        "name,src_file,src_line,zone_name,zone_text,ns_since_start,exec_time_ns,thread,special_parent_text\n");
    for (unsigned i = 0; i < PART_LAUNCHES; i++) {
        if (i % 100 == 50) dl_str_fmt(&data, "`TT_SIGNPOST: hundred %u`;%u\n", i / 100, 999 + 1000 * i);
        dl_str_fmt(
            &data,
            "`TT_DNN_DEVICE_OP: \"Op%u\", %u, 0, false, %u ->\n{\"op_code\":\"Op%u\",\"global_call_count\":%u,"
            "\"device_id\":0,\"attributes\":{}}`;%u\n",
            i / 4, i + 1, 1024 + i, i / 4, 1024 + i, 1000 * i + 1000);
        dl_str_fmt(&times, "TT_DNN_DEVICE_OP,x.cpp,1,,id:%u,%u,500,1,\n", 1024 + i, 1000 * i + 1000);
    }
    write_bytes(in_scratch("tt/tracy_ops_data.csv"), data.text, data.len);
    write_bytes(in_scratch("tt/tracy_ops_times.csv"), times.text, times.len);
    dl_str_free(&data);
    dl_str_free(&times);
}

/* The report of what is selected, its words, and how many blocks were read of how many. */
static void report_of(const char *log, const op_selection *s, dl_str *report, dl_str *words,
                      uint64_t blocks[2], uint64_t *bytes)
{
    devlog_error err = {0};
    tt_files files = {0};
    tt_job job;
    size_t n;
    char *device_log = strdup(in_scratch(log)), *out = strdup(in_scratch("out"));
    assert_true(tt_files_find(&files, in_scratch("tt")));
    const tt_job_options o = {
        .files = &files, .device_log = device_log, .output = out, .name = "report", .selection = s};
    const uint64_t before = bytes_read_so_far();
    if (tt_job_run(&job, &o, &err)) fail_msg("%s", err.text);
    *bytes = bytes_read_so_far() - before;
    const dl_losses *l = dl_decode_losses(job.execs.decode);
    blocks[0] = l->blocks_read;
    blocks[1] = l->blocks;
    tt_job_describe(&job, false, words);
    char *text = read_bytes(job.report_path, &n);
    dl_str_add_n(report, text, n);
    free(text);
    tt_job_free(&job);
    tt_files_free(&files);
    free(device_log);
    free(out);
}

/* But for the file's name. */
static void without_name(char *text, const char *name)
{
    for (char *at; (at = strstr(text, name)) != NULL;)
        memmove(at + 3, at + strlen(name), strlen(at + strlen(name)) + 1);
}

/* Of `most_bytes` percent of what the whole report reads. */
static void check_op_report(bool counters, unsigned most_bytes)
{
    dl_str log = {0};
    const dl_filter_range launches = {1040, 1043};
    const dl_filter_range chip = {
        0, 0}; /* launches of the other are of no op, and have their places by the log */
    static const char *const ops[] = {"Op30"};
    const op_selection of_launches =
                           {.filter = {.launches = &launches, .n_launches = 1, .chips = &chip, .n_chips = 1}},
                       of_op = {.host = {.ops = ops, .n_ops = 1}},
                       of_signposts = {.host = {.from = "hundred 3", .to = "hundred 4"}};
    const op_selection *const selections[] = {&of_launches, &of_op, &of_signposts};
    make_dumps(&log, 4, true, counters);
    assert_true(mkdir(in_scratch("tt"), 0755) == 0 || errno == EEXIST);
    make_host();
    pack_log(&log);
    dl_str of_whole = {0}, whole_words = {0};
    uint64_t unused[2], whole_bytes;
    report_of("log.pack", NULL, &of_whole, &whole_words, unused, &whole_bytes);
    dl_str_free(&of_whole);
    dl_str_free(&whole_words);
    for (size_t i = 0; i < sizeof selections / sizeof selections[0]; i++) {
        dl_str of_log = {0}, of_part = {0}, words = {0}, part_words = {0};
        uint64_t blocks[2], bytes, all_bytes;
        report_of("log.csv", selections[i], &of_log, &words, blocks, &all_bytes);
        assert_int_equal(blocks[1], 0);
        report_of("log.pack", selections[i], &of_part, &part_words, blocks, &bytes);
        if (!blocks[1] || blocks[0] * 4 > blocks[1])
            fail_msg("%llu of %llu blocks", (unsigned long long)blocks[0], (unsigned long long)blocks[1]);
        if (whole_bytes && bytes * 100 > whole_bytes * most_bytes)
            fail_msg("%llu bytes of %llu", (unsigned long long)bytes, (unsigned long long)whole_bytes);
        assert_string_equal(of_part.text, of_log.text);
        without_name(part_words.text, "log.pack");
        without_name(words.text, "log.csv");
        assert_string_equal(part_words.text, words.text);
        assert_null(strstr(words.text, "without device data"));
        assert_null(strstr(of_part.text, "no device data"));
        assert_int_equal(strstr(of_part.text, "FPU Util") != NULL, counters);
        dl_str_free(&of_log);
        dl_str_free(&of_part);
        dl_str_free(&words);
        dl_str_free(&part_words);
    }
    dl_str_free(&log);
}

/* The log is read twice, for launches and for counters; where what is selected has counters, all of the log is read for them. */
static void an_op_report_reads_its_part(void **state)
{
    (void)state;
    check_op_report(false, 66);
    check_op_report(true, 90);
}

/* The n-th cell of a line without quotes. */
static unsigned cell(const char *line, size_t n)
{
    for (; n && (line = strchr(line, ',')) != NULL; n--)
        line++;
    return line ? (unsigned)strtoul(line, NULL, 10) : 0;
}

static size_t column(const char *header, const char *name)
{
    size_t n = 0;
    const char *at = strstr(header, name);
    assert_true(at && at < strchr(header, '\n'));
    while (at-- > header)
        n += *at == ',';
    return n;
}

/* The lines of a report of all that are of a trace and of its replays, and the header. */
static void lines_of(const char *all, const dl_filter *f, dl_str *out)
{
    const size_t trace = column(all, "METAL TRACE ID"),
                 session = column(all, "METAL TRACE REPLAY SESSION ID");
    for (const char *line = all, *end; *line; line = end) {
        end = strchr(line, '\n') + 1;
        if (line == all || (cell(line, session) && dl_filter_in(f->traces, f->n_traces, cell(line, trace)) &&
                            dl_filter_in(f->sessions, f->n_sessions, cell(line, session))))
            dl_str_add_n(out, line, (size_t)(end - line));
    }
}

static void host_op(dl_str *data, dl_str *times, unsigned id, unsigned at)
{
    dl_str_fmt(
        data,
        "`TT_DNN_DEVICE_OP: \"Op%u\", %u, 0, false, %u ->\n{\"op_code\":\"Op%u\",\"global_call_count\":%u,"
        "\"device_id\":0,\"op_hash\":%u,\"attributes\":{}}`;%u\n",
        id % 7, id % 7 + 1, id, id % 7, id, id % 7 + 1, at);
    dl_str_fmt(times, "TT_DNN_DEVICE_OP,x.cpp,1,,id:%u,%u,50,1,\n", id, at);
}

/* The host of make_replays. */
static void make_replaying_host(void)
{
    dl_str data = {0}, times = {0};
    dl_str_add(&data, "MessageName;total_ns\n`TT_METAL_TRACE_BEGIN: 0, 1`;10\n");
    dl_str_add(
        &times,
        "name,src_file,src_line,zone_name,zone_text,ns_since_start,exec_time_ns,thread,special_parent_text\n");
    for (unsigned id = 5; id < 8; id++)
        host_op(&data, &times, id, 100 * id);
    dl_str_add(&data, "`TT_METAL_TRACE_END: 0, 1`;2000\n`TT_METAL_TRACE_BEGIN: 0, 2`;2010\n");
    host_op(&data, &times, 900000, 2100);
    dl_str_add(&data, "`TT_METAL_TRACE_END: 0, 2`;3000\n");
    for (unsigned i = 0; i < PART_LAUNCHES; i++) {
        host_op(&data, &times, 1024 + i, 10000 + 1000 * i);
        dl_str_fmt(&data, "`TT_METAL_TRACE_REPLAY: 0, 1`;%u\n", 10300 + 1000 * i);
        if (i % 40 == 0) dl_str_fmt(&data, "`TT_METAL_TRACE_REPLAY: 0, 2`;%u\n", 10600 + 1000 * i);
    }
    write_bytes(in_scratch("tt/tracy_ops_data.csv"), data.text, data.len);
    write_bytes(in_scratch("tt/tracy_ops_times.csv"), times.text, times.len);
    dl_str_free(&data);
    dl_str_free(&times);
}

/* Of traces, or some of their replays, alone: what stands before them is of no trace, or of another one. */
static void an_op_report_of_replays(void **state)
{
    (void)state;
    uint64_t seed = 31;
    const dl_filter_range session = {3, 4}, sessions = {77, 79}, trace = {2, 2}, last = {590, 600},
                          none = {9, 9};
    const struct {
        const char *what;
        op_selection selection;
        unsigned most; /* percent of the blocks */
    } asked[] = {
        {"a trace", {.filter = {.traces = &trace, .n_traces = 1}}, 67},
        {"three replays", {.filter = {.sessions = &sessions, .n_sessions = 1}}, 25},
        {"a trace and two of its replays",
         {.filter = {.traces = &trace, .n_traces = 1, .sessions = &session, .n_sessions = 1}},
         50},
        {"the last replays", {.filter = {.sessions = &last, .n_sessions = 1}}, 25},
    };
    assert_true(mkdir(in_scratch("tt"), 0755) == 0 || errno == EEXIST);
    make_replaying_host();
    for (unsigned kind = 0; kind < 7; kind++) {
        dl_str log = {0};
        make_replays(&log);
        if (kind) reword_rows(&log, &seed, kind);
        pack_log(&log);
        dl_str whole = {0}, all_words = {0};
        uint64_t unused[2], all_bytes;
        report_of("log.csv", NULL, &whole, &all_words, unused, &all_bytes);
        for (size_t i = kind % 4; i < sizeof asked / sizeof asked[0]; i += kind ? 4 : 1) {
            uint64_t blocks[2], bytes;
            dl_str part = {0}, words = {0}, of_all = {0};
            report_of("log.pack", &asked[i].selection, &part, &words, blocks, &bytes);
            lines_of(whole.text, &asked[i].selection.filter, &of_all);
            if (strcmp(part.text, of_all.text) != 0)
                fail_msg("%s, kind %u: %s\nand not\n%s", asked[i].what, kind, part.text, of_all.text);
            dl_str_free(&part);
            dl_str_free(&words);
            dl_str_free(&of_all);
            if (kind == 0 && (!blocks[1] || blocks[0] * 100 > blocks[1] * asked[i].most))
                fail_msg("%s: %llu of %llu blocks", asked[i].what, (unsigned long long)blocks[0],
                         (unsigned long long)blocks[1]);
        }
        dl_str_free(&whole);
        dl_str_free(&all_words);
        dl_str_free(&log);
    }
    /* One that there is not: what there is, is told of all of the log. */
    const op_selection of_none = {.filter = {.traces = &none, .n_traces = 1}};
    devlog_error err = {0};
    tt_files files = {0};
    tt_job job;
    char *packed = strdup(in_scratch("log.pack")), *out = strdup(in_scratch("out"));
    assert_true(tt_files_find(&files, in_scratch("tt")));
    const tt_job_options o = {
        .files = &files, .device_log = packed, .output = out, .name = "report", .selection = &of_none};
    assert_int_equal(tt_job_run(&job, &o, &err), DEVLOG_ERR_NOT_FOUND);
    if (!strstr(err.text, "1-2") && !strstr(err.text, "1, 2")) fail_msg("%s", err.text);
    tt_job_free(&job);
    tt_files_free(&files);
    free(packed);
    free(out);
}
int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_op_report_reads_its_part),
        cmocka_unit_test(an_op_report_of_replays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
