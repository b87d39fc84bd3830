/* The device-log writer: rows into profile_log_device.csv. */
#include "decode/log/log_write.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/log_file.h"

#define SIX_COLUMNS "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset]"
#define L9_COLUMNS                                                                                           \
    SIX_COLUMNS                                                                                              \
    ", data, run host ID, trace id, trace id counter, zone name, type, source line, source file, "           \
    "meta data"

struct dl_device_log {
    char *path;
    dl_log_file file;
    dl_log_style style;
    dl_str launch; /* gathered, not yet written */
    dl_str last;   /* where and when the last row was, for the row that closes the log */
    uint64_t left_out;
    uint64_t clock_findings;
};

static void header_lines(dl_str *s, const dl_device_log_options *o, bool beside)
{
    char mhz[DL_GROUPED_SIZE];
    const char *arch = o->arch && o->arch[0] ? o->arch : "unknown";
    if (o->style == DL_LOG_L0) return;
    dl_str_fmt(s, "ARCH: %s, CHIP_FREQ[MHz]: ", arch);
    dl_str_add(s, dl_mhz_text(mhz, o->freq_khz));
    if (o->style == DL_LOG_L9) dl_str_fmt(s, ", Max Compute Cores: %u", o->max_cores);
    if (o->style == DL_LOG_L9 && o->run) dl_str_fmt(s, ", Run: %016llx", (unsigned long long)o->run);
    if (o->style == DL_LOG_L9 && o->aiclk_khz)
        dl_str_fmt(s, ", AICLK[MHz]: %s", dl_mhz_text(mhz, o->aiclk_khz));
    if (o->style == DL_LOG_L9 && o->instructions) dl_str_add(s, ", " DL_INSTRUCTIONS);
    if (o->style == DL_LOG_L9) dl_str_add(s, ", Ends: " DL_END_ZONE);
    if (o->style == DL_LOG_L9 && beside) dl_str_add(s, ", Beside: others");
    dl_str_fmt(s, "\n%s\n", o->style == DL_LOG_L9 ? L9_COLUMNS : SIX_COLUMNS);
}

/* Whether the file begins with these header lines and ends with a whole line: then it is simply continued. */
static bool continues(int fd, const dl_str *header)
{
    char first[1024], last;
    ssize_t n = pread(fd, first, sizeof first, 0);
    struct stat st;
    if (n <= 0 || fstat(fd, &st) != 0 || (size_t)n < header->len) return false;
    if (header->len && memcmp(first, header->text, header->len) != 0) return false;
    return pread(fd, &last, 1, st.st_size - 1) == 1 && last == '\n';
}

/* Whether the last run that wrote to the file closed it, or wrote nothing but header lines: if not, the next
 * one begins with header lines of its own. */
static bool has_ended(int fd)
{
    char text[1024];
    struct stat st;
    if (fstat(fd, &st) != 0 || st.st_size == 0) return true;
    off_t from = st.st_size > (off_t)sizeof text - 1 ? st.st_size - (off_t)sizeof text + 1 : 0;
    ssize_t n = pread(fd, text, sizeof text - 1, from);
    if (n <= 0) return false;
    text[n] = 0;
    if (text[n - 1] == '\n') text[n - 1] = 0;
    const char *line = strrchr(text, '\n');
    line = line ? line + 1 : text;
    return strstr(line, "," DL_END_ZONE ",") || strstr(line, "zone name");
}

devlog_status dl_device_log_open(dl_device_log **log, const char *folder,
                                 const dl_device_log_options *options, devlog_error *err)
{
    devlog_status status = dl_folder_make(folder, err);
    if (status) return status;
    dl_device_log *l = calloc(1, sizeof *l);
    if (!l) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    l->file = DL_LOG_FILE_NONE;
    l->style = options->style;
    l->path = dl_path_join(folder, options->name ? options->name : DL_DEVICE_LOG_NAME);
    status = dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    if (!l->path) goto failed;
    int errnum = dl_log_file_open(&l->file, l->path, O_RDWR | O_CREAT | O_APPEND);
    if (errnum) {
        status = dl_fail_errno(err, errnum, "cannot write the device log %s", l->path);
        goto failed;
    }
    const int fd = l->file.fd;
    bool alone = dl_file_alone(fd);
    if (alone && !options->append && ftruncate(fd, 0) != 0 && errno != EINVAL) {
        status = dl_fail_errno(err, errno, "cannot write the device log %s", l->path);
        goto failed;
    }
    header_lines(&l->launch, options, false);
    if (l->launch.failed) goto failed;
    if (continues(fd, &l->launch) && (l->style != DL_LOG_L9 || !alone || has_ended(fd)))
        dl_str_clear(&l->launch);
    if (l->launch.len && !alone) {
        dl_str_clear(&l->launch);
        header_lines(&l->launch, options, true);
        if (l->launch.failed) goto failed;
    }
    struct stat st;
    bool cut_before = fstat(fd, &st) == 0 && st.st_size > 0;
    char last = '\n';
    if (cut_before && pread(fd, &last, 1, st.st_size - 1) == 1 && last != '\n') {
        errnum = dl_write_all(fd, "\n", 1); /* an earlier writer was killed in the middle of a row */
        if (errnum) {
            status = dl_fail_errno(err, errnum, "cannot write the device log %s", l->path);
            goto failed;
        }
    }
    status = dl_device_log_commit(l, err);
    if (status) goto failed;
    *log = l;
    return DEVLOG_OK;
failed:
    dl_device_log_close(l, NULL);
    return status;
}

const char *dl_device_log_path(const dl_device_log *log)
{
    return log->path;
}

uint64_t dl_device_log_left_out(const dl_device_log *log)
{
    return log->left_out;
}

/* The id of a row in the six-column styles; 0: it cannot be said there. */
static uint32_t six_column_id(const dl_row *row, dl_role role)
{
    bool start = row->type == DL_ROW_ZONE_START, end = row->type == DL_ROW_ZONE_END;
    if (role == DL_ROLE_FW && (start || end)) return start ? 1 : 4;
    if (role == DL_ROLE_KERNEL && (start || end)) return start ? 2 : 3;
    return row->timer_id >= 5 && (row->timer_id & DL_LOSS_TIMER_MASK) != DL_LOSS_TIMER ? row->timer_id : 0;
}

/* The name of a RISC, in a cell that is never quoted: what would end the cell or the row becomes something
 * else. */
static void add_plain(dl_str *s, const char *text)
{
    for (; *text; text++) {
        char c = *text == ',' ? ';' : *text == '\n' || *text == '\r' ? ' ' : *text;
        dl_str_char(s, c);
    }
}

/* The name of a zone or a file: quoted when it has a comma (RFC 4180), so that "a,b" and "a;b" stay two
 * names. A row is one line, whatever names there are in logs that others wrote. */
static void add_name(dl_str *s, const char *name)
{
    if (!strpbrk(name, "\n\r")) {
        dl_str_csv(s, name, strlen(name));
        return;
    }
    dl_str line = {0};
    for (; *name; name++)
        dl_str_char(&line, *name == '\n' || *name == '\r' ? ' ' : *name);
    if (line.text) dl_str_csv(s, line.text, line.len);
    s->failed |= line.failed;
    dl_str_free(&line);
}

/* JSON in a cell that is never quoted: as tt-metal writes it, ';' stands for the commas between members;
 * those inside of texts, and their ';', are escaped, so that the texts stay what they are. */
static void add_meta(dl_str *s, const char *json)
{
    bool in_text = false;
    for (; *json; json++) {
        if (in_text && *json == '\\' && json[1]) {
            dl_str_char(s, *json++);
            dl_str_char(s, *json);
            continue;
        }
        in_text ^= *json == '"';
        if (in_text && (*json == ',' || *json == ';'))
            dl_str_fmt(s, "\\u%04x", (unsigned)*json);
        else
            dl_str_char(s, *json == ',' ? ';' : *json == '\n' || *json == '\r' ? ' ' : *json);
    }
}

static void add_optional(dl_str *s, uint32_t id)
{
    if (id != DL_NO_ID) dl_str_u64(s, id);
    dl_str_char(s, ',');
}

static void add_l9(dl_str *s, const dl_tables *t, const dl_row *row)
{
    const dl_stream *place = &t->streams[row->stream];
    const dl_site *site = &t->sites[row->site];
    const uint64_t numbers[] = {t->chips[place->chip].id, place->core_x, place->core_y};
    for (size_t i = 0; i < 3; i++) {
        dl_str_u64(s, numbers[i]);
        dl_str_char(s, ',');
    }
    add_plain(s, dl_text(t, place->risc_name));
    const uint64_t more[] = {row->timer_id, row->time, row->data, row->run_host_id};
    for (size_t i = 0; i < 4; i++) {
        dl_str_char(s, ',');
        dl_str_u64(s, more[i]);
    }
    dl_str_char(s, ',');
    add_optional(s, row->trace_id);
    add_optional(s, row->trace_counter);
    add_name(s, dl_text(t, site->name));
    dl_str_char(s, ',');
    dl_str_add(s, dl_row_type_text((dl_row_type)row->type));
    dl_str_char(s, ',');
    dl_str_u64(s, site->line);
    dl_str_char(s, ',');
    add_name(s, dl_text(t, site->file));
    dl_str_char(s, ',');
    if (row->meta)
        add_meta(s, dl_text(t, row->meta));
    else if (row->op && row->type != DL_ROW_ZONE_TOTAL)
        dl_str_fmt(s, "{\"op\":%u}", row->op);
    dl_str_char(s, '\n');
}

static void add_six(dl_str *s, const dl_tables *tables, const dl_row *row, uint32_t id)
{
    const dl_stream *place = &tables->streams[row->stream];
    dl_str_fmt(s, "%u, %u, %u, ", tables->chips[place->chip].id, place->core_x, place->core_y);
    add_plain(s, dl_text(tables, place->risc_name));
    dl_str_fmt(s, ", %u, %llu\n", id, (unsigned long long)row->time);
}

/* A row of L9 up to the name of its zone, like this one but for the data. */
static void add_total(dl_str *s, const dl_tables *tables, const dl_row *like, uint64_t data)
{
    const dl_stream *place = &tables->streams[like->stream];
    dl_str_fmt(s, "%u,%u,%u,", tables->chips[place->chip].id, place->core_x, place->core_y);
    add_plain(s, dl_text(tables, place->risc_name));
    dl_str_fmt(s, ",0,%llu,%llu,%llu,", (unsigned long long)like->time, (unsigned long long)data,
               (unsigned long long)like->run_host_id);
    add_optional(s, like->trace_id);
    add_optional(s, like->trace_counter);
}

/* Remembers where and when the last row of L9 was, for the row that closes the log. */
static void keep_last(dl_device_log *log, const dl_tables *tables, const dl_row *row)
{
    dl_str_clear(&log->last);
    add_total(&log->last, tables, row, 1);
}

devlog_status dl_device_log_rows(dl_device_log *log, const dl_tables *tables, const dl_row *rows, size_t n,
                                 devlog_error *err)
{
    for (size_t i = 0; i < n; i++) {
        const dl_row *row = &rows[i];
        if (row->stream >= tables->n_streams || row->site >= tables->n_sites)
            return dl_fail(err, DEVLOG_ERR_ARGUMENT, "a row of an unknown stream or site");
        if (log->style == DL_LOG_L9) {
            add_l9(&log->launch, tables, row);
            continue;
        }
        uint32_t id = six_column_id(row, tables->sites[row->site].role);
        if (id == 0) {
            log->left_out++;
            continue;
        }
        add_six(&log->launch, tables, row, id);
    }
    if (n && log->style == DL_LOG_L9) keep_last(log, tables, &rows[n - 1]);
    return dl_str_status(&log->launch, err);
}

dl_row dl_device_log_row(const dl_tables *tables, const dl_marks *marks, uint32_t at)
{
    static const dl_rare nothing;
    const dl_mark *mark = &marks->items[at];
    const dl_frame *frame = dl_mark_frame(marks, mark->code);
    const dl_kind *kind = &tables->kinds[dl_mark_kind(mark->code)];
    const dl_rare *rare = dl_mark_rare(marks, mark->code);
    if (!rare) rare = &nothing;
    return (dl_row){.time = mark->time,
                    .data = rare->data,
                    .run_host_id = frame->ids.run_host_id,
                    .stream = dl_mark_stream(mark->code),
                    .site = kind->site,
                    .timer_id = kind->timer_id,
                    .meta = rare->meta,
                    .run_id = frame->ids.run_id,
                    .trace_id = frame->ids.trace_id,
                    .trace_counter = frame->ids.trace_counter,
                    .line = dl_frame_line(frame, at),
                    .type = kind->type,
                    .has_launch = frame->ids.has_launch,
                    .cost = kind->cost,
                    .op = rare->op};
}

devlog_status dl_device_log_marks(dl_device_log *log, const dl_tables *tables, const dl_marks *marks,
                                  uint32_t from, uint32_t to, devlog_error *err)
{
    devlog_status status = DEVLOG_OK;
    for (uint32_t i = from; i < to && !status; i++) {
        const dl_row row = dl_device_log_row(tables, marks, i);
        status = dl_device_log_rows(log, tables, &row, 1, err);
    }
    return status;
}

devlog_status dl_device_log_loss(dl_device_log *log, const dl_tables *tables, const dl_row *like,
                                 dl_loss_zone zone, uint64_t amount, devlog_error *err)
{
    if (amount == 0) return DEVLOG_OK;
    dl_str *s = &log->launch;
    while (log->style != DL_LOG_L9 && amount) {
        uint32_t some = amount < DL_LOSS_TIMER_MOST ? (uint32_t)amount : DL_LOSS_TIMER_MOST;
        add_six(s, tables, like, DL_LOSS_TIMER | (uint32_t)zone << 24 | some);
        amount -= some;
    }
    if (log->style != DL_LOG_L9) return dl_str_status(s, err);
    keep_last(log, tables, like); /* a launch may have losses and nothing else */
    add_total(s, tables, like, amount);
    dl_str_fmt(s, "%s,ZONE_TOTAL,0,,\n", dl_loss_zone_name(zone));
    return dl_str_status(s, err);
}

devlog_status dl_device_log_violation(dl_device_log *log, const dl_tables *tables, const dl_row *like,
                                      const dl_log_violation *v, devlog_error *err)
{
    dl_str *s = &log->launch, name = {0};
    if (log->style != DL_LOG_L9)
        return dl_device_log_loss(log, tables, like, DL_LOSS_VIOLATED, v->times, err);
    dl_str_fmt(&name, DL_VIOLATED_ZONE " %s", v->text);
    keep_last(log, tables, like);
    add_total(s, tables, like, v->times);
    if (name.text) add_name(s, name.text);
    dl_str_fmt(s, ",ZONE_TOTAL,%u,", v->line);
    add_name(s, v->file);
    dl_str_fmt(s, ",{\"worst\":%llu}\n", (unsigned long long)v->worst);
    s->failed |= name.failed;
    dl_str_free(&name);
    return dl_str_status(s, err);
}

devlog_status dl_device_log_commit(dl_device_log *log, devlog_error *err)
{
    devlog_status status = dl_str_status(&log->launch, err);
    if (status || !log->launch.len) return status;
    struct stat st;
    int errnum = dl_log_file_hold(&log->file);
    if (!errnum && fstat(log->file.fd, &st) != 0) errnum = errno;
    if (errnum) return dl_fail_errno(err, errnum, "cannot write the device log %s", log->path);
    errnum = dl_write_all(log->file.fd, log->launch.text, log->launch.len);
    if (errnum) {
        (void)!ftruncate(log->file.fd, st.st_size); /* half a launch is worse than none */
        return dl_fail_errno(err, errnum, "cannot write the device log %s", log->path);
    }
    dl_str_clear(&log->launch);
    return DEVLOG_OK;
}

void dl_device_log_clock(dl_device_log *log, uint64_t findings)
{
    if (log) log->clock_findings = findings;
}

/* Says that the log is whole, unless something is still in hand. */
static devlog_status say_end(dl_device_log *log, devlog_error *err)
{
    if (!log->file.path) return DEVLOG_OK;
    if (log->launch.len)
        return dl_fail(err, DEVLOG_ERR_PARTIAL, "%s: the rows of the last launch were not written",
                       log->path);
    if (!log->last.len) return DEVLOG_OK;
    dl_str_fmt(&log->launch, "%s" DL_END_ZONE ",ZONE_TOTAL,0,,", log->last.text);
    if (log->clock_findings)
        dl_str_fmt(&log->launch, "{\"" DL_END_CLOCK "\":%llu}", (unsigned long long)log->clock_findings);
    dl_str_char(&log->launch, '\n');
    return dl_device_log_commit(log, err);
}

devlog_status dl_device_log_close(dl_device_log *log, devlog_error *err)
{
    if (!log) return DEVLOG_OK;
    devlog_status status = say_end(log, err);
    const int errnum = dl_log_file_close(&log->file);
    if (errnum && status == DEVLOG_OK)
        status = dl_fail_errno(err, errnum, "cannot write the device log %s", log->path);
    free(log->path);
    dl_str_free(&log->launch);
    dl_str_free(&log->last);
    free(log);
    return status;
}
