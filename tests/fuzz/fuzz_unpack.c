/* Archives of a profiler's files, as anybody may have packed them: nothing is written but below the folder, under names that a
 * profiler's files have, and all of it is removed. An input is an archive, or a list of members that is packed here, whose sums
 * are right. Of a list it is known what was in it: a file that was unpacked is one of them, whole, and the device log is the one of
 * .logs, or the only one. */
#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz/fuzz.h"
#include "tt_metal/archive.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { BLOCK = 512, MEMBERS = 32, NAME = 100, REGULAR = '0' };

typedef struct member {
    char name[NAME];
    char type;
    const uint8_t *bytes;
    size_t n;
} member;

static member members[MEMBERS];
static size_t n_members;
static char folder[64], file[80], to[80];

static void remove_all(void)
{
    remove(file);
    rmdir(folder);
}

static void make_folder(void)
{
    snprintf(folder, sizeof folder, "%s/fuzz_unpack_XXXXXX",
             access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
    if (!mkdtemp(folder)) abort();
    snprintf(file, sizeof file, "%s/file", folder);
    snprintf(to, sizeof to, "%s/to", folder);
    atexit(remove_all);
}

/* ---- A list of members --------------------------------------------------------------------------------- */

/* A name is of characters and, from 128, of pieces that the names of interest have. */
static void read_name(char name[NAME], const uint8_t *from, size_t n)
{
    static const char *const pieces[] = {"profile_log_device.csv",
                                         "tracy_ops_data.csv",
                                         "tracy_ops_times.csv",
                                         "profile_log_ops.jsonl",
                                         "profile_log_ops.run",
                                         "cpp_device_perf_report.csv",
                                         "ops_perf_results",
                                         "noc_trace_dev0",
                                         "capture.devlog",
                                         "my.csv",
                                         ".json",
                                         ".csv",
                                         ".gz",
                                         ".zst",
                                         ".pack",
                                         ".logs/",
                                         "logs/",
                                         "logs_device/",
                                         "rank0/",
                                         "rank1/",
                                         "rank00/",
                                         "rank",
                                         "../",
                                         "a/",
                                         "b/",
                                         "host_7",
                                         ".devlog"};
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        char one[2] = {(char)from[i], 0};
        const char *piece = from[i] < 128 ? one : pieces[(from[i] - 128) % (sizeof pieces / sizeof *pieces)];
        const size_t length = strlen(piece);
        if (!length || at + length >= NAME) break;
        memcpy(name + at, piece, length);
        at += length;
    }
    name[at] = 0;
}

/* A member: its type, how long its name is, how long it is, name, bytes. */
static void read_members(const uint8_t *data, size_t size)
{
    static const char types[] = {REGULAR, REGULAR, REGULAR, REGULAR, '1', '2', '5', 0};
    n_members = 0;
    while (size > 3 && n_members < MEMBERS) {
        member *m = &members[n_members];
        const size_t n_name = data[1] % 32, n = data[2];
        m->type = types[data[0] % sizeof types];
        data += 3;
        size -= 3;
        if (n_name + n > size) break;
        read_name(m->name, data, n_name);
        m->bytes = data + n_name;
        m->n = m->type == REGULAR || !m->type ? n : 0;
        data += n_name + n;
        size -= n_name + n;
        n_members += *m->name != 0;
    }
}

static void pack(FILE *f)
{
    for (size_t i = 0; i < n_members; i++) {
        const member *m = &members[i];
        char head[BLOCK + 1] = "";
        unsigned sum = 8 * ' ';
        snprintf(head, NAME, "%s", m->name);
        snprintf(head + 100, BLOCK - 100, "0000644");
        snprintf(head + 124, BLOCK - 124, "%011o", (unsigned)m->n);
        head[156] = m->type;
        if (m->type == '1' || m->type == '2') snprintf(head + 157, NAME, "/etc/passwd");
        memcpy(head + 257,
               "ustar\0"
               "00",
               8);
        for (size_t k = 0; k < BLOCK; k++)
            sum += (unsigned char)head[k];
        snprintf(head + 148, 8, "%06o", sum);
        head[155] = ' ';
        static const char zeros[BLOCK];
        fwrite(head, BLOCK, 1, f);
        fwrite(m->bytes, 1, m->n, f);
        fwrite(zeros, 1, (BLOCK - m->n % BLOCK) % BLOCK, f);
    }
}

/* ---- What was unpacked --------------------------------------------------------------------------------- */

static bool is_place(const char *inner)
{
    unsigned rank;
    int end = 0;
    return !strcmp(inner, "logs") || !strcmp(inner, "logs_device") ||
           (sscanf(inner, "rank%5u%n", &rank, &end) == 1 && !inner[end]);
}

/* Of a list: some member of this name is the file, and those that are not are older ones in its place, or of another one. */
static void look_at_file(const char *path, const char *name)
{
    char bytes[512];
    FILE *f = fopen(path, "r");
    if (!f) abort();
    const size_t n = fread(bytes, 1, sizeof bytes, f);
    fclose(f);
    for (size_t i = 0; i < n_members; i++) {
        const member *m = &members[i];
        const char *slash = strrchr(m->name, '/'), *base = slash ? slash + 1 : m->name;
        if (strcmp(base, name) == 0 && m->n == n && memcmp(m->bytes, bytes, n) == 0) return;
    }
    abort();
}

static size_t look_in(const char *at, bool deep, bool known)
{
    size_t n = 0;
    DIR *d = opendir(at);
    if (!d) return 0;
    for (const struct dirent *e; (e = readdir(d)) != NULL;) {
        char path[700];
        struct stat st;
        if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..")) continue;
        snprintf(path, sizeof path, "%s/%s", at, e->d_name);
        if (lstat(path, &st) != 0) abort();
        if (S_ISDIR(st.st_mode)) {
            if (!deep || !is_place(e->d_name)) abort();
            n += look_in(path, false, known);
        } else if (S_ISREG(st.st_mode) && e->d_name[0] != '.') {
            if (!strcmp(e->d_name, "another")) abort(); /* not yet in its place */
            if (known) look_at_file(path, e->d_name);
            n++;
        } else {
            abort();
        }
    }
    closedir(d);
    return n;
}

static bool is_log(const char *name, const char *ending)
{
    static const char log[] = "profile_log_device.csv";
    const char *slash = strrchr(name, '/'), *base = slash ? slash + 1 : name;
    return strncmp(base, log, sizeof log - 1) == 0 && strcmp(base + sizeof log - 1, ending) == 0;
}

static bool in_dot_logs(const char *name)
{
    return strncmp(name, ".logs/", 6) == 0 || strstr(name, "/.logs/");
}

static bool same(const member *a, const member *b)
{
    return a->n == b->n && memcmp(a->bytes, b->bytes, a->n) == 0;
}

/* For libarchive a file whose name ends so is a folder, and its bytes are the next member or the end. */
static bool has_file_like_folder(void)
{
    for (size_t i = 0; i < n_members; i++)
        if (members[i].name[strlen(members[i].name) - 1] == '/') return true;
    return false;
}

static bool has_dot_logs(void)
{
    for (size_t i = 0; i < n_members; i++)
        if (in_dot_logs(members[i].name)) return true;
    return false;
}

/* The device log that is the run's, by the list: *several when there are two and none of them, or more, in .logs. Lists with a
 * newer member, or a packed one, are not judged: false. */
static bool find_log(const member **log, bool *several)
{
    const member *of_logs = NULL, *any = NULL;
    bool differ = false, logs_differ = false;
    if (has_file_like_folder()) return false;
    for (size_t i = 0; i < n_members; i++) {
        const member *m = &members[i];
        if (m->type != REGULAR && m->type) continue;
        if (strstr(m->name, "rank") || strstr(m->name, "logs_device/")) return false;
        if (is_log(m->name, ".gz") || is_log(m->name, ".zst") || is_log(m->name, ".pack")) return false;
        if (!is_log(m->name, "")) continue;
        for (size_t k = 0; k < i; k++)
            if (strcmp(members[k].name, m->name) == 0) return false;
        if (any && !same(any, m)) differ = true;
        any = m;
        if (!in_dot_logs(m->name)) continue;
        if (of_logs && !same(of_logs, m)) logs_differ = true;
        of_logs = m;
    }
    *several = logs_differ || (differ && !has_dot_logs());
    if (differ && !of_logs) any = NULL; /* of neither run, if .logs has other files */
    *log = of_logs ? of_logs : any;
    return true;
}

/* Of a list that was unpacked without an error. */
static void look_at_log(void)
{
    char path[128], bytes[512];
    const member *log;
    bool several;
    if (!find_log(&log, &several)) return;
    if (several) abort();
    snprintf(path, sizeof path, "%s/profile_log_device.csv", to);
    FILE *f = fopen(path, "r");
    const size_t n = f ? fread(bytes, 1, sizeof bytes, f) : 0;
    if (f) fclose(f);
    if (!f && log && !(has_dot_logs() && !in_dot_logs(log->name))) abort();
    if (f && (!log || n != log->n || memcmp(bytes, log->bytes, n) != 0)) abort();
}

static size_t unpack(tt_unpack_what what, bool known, devlog_status *status)
{
    devlog_error err = {0};
    *status = tt_unpack(file, to, what, &err);
    if ((*status == DEVLOG_OK) != !err.text[0]) abort();
    const size_t n = look_in(to, true, known && *status == DEVLOG_OK);
    if (known && *status == DEVLOG_OK && what == TT_UNPACK_ALL) look_at_log();
    if (*status == DEVLOG_OK && !n) abort();
    if (*status == DEVLOG_ERR_NOT_FOUND && n) abort();
    tt_unpacked_remove(to);
    if (access(to, F_OK) == 0) abort();
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!*folder) make_folder();
    if (size < 2) return 0;
    const bool known = data[0] & 1;
    FILE *f = fopen(file, "w");
    if (!f) abort();
    n_members = 0;
    if (known) read_members(data + 1, size - 1);
    if (known)
        pack(f);
    else
        fwrite(data + 1, 1, size - 1, f);
    if (fclose(f) != 0) abort();
    (void)tt_is_archive(file);
    devlog_status all, log;
    const size_t n_all = unpack(TT_UNPACK_ALL, known, &all), n_log = unpack(TT_UNPACK_OP_LOG, known, &log);
    /* Where only all files together show that runs meet, there may be fewer: those in .logs. */
    if (known && !has_dot_logs() && all == DEVLOG_OK && log == DEVLOG_OK && n_log > n_all) abort();
    if (all == DEVLOG_OK) fuzz_got_inside();
    return 0;
}
