/* Bench of the exports: zones per second that each format is written with, bytes per zone, and the memory
 * that it takes at most, beside cJSON, which builds a tree and prints it. Usage: export [ZONES [MEMORY]]: of
 * 1 million zones on 600 RISCs unless told; MEMORY in bytes for sorting. Files go to /dev/shm, so that the
 * disk is not measured. */
#include <cJSON.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "report/export.h"

static devlog_error err;

static void must(devlog_status status)
{
    if (status == DEVLOG_OK) return;
    fprintf(stderr, "bench: %s\n", err.text);
    exit(1);
}

enum { CORES = 120, RISCS = 5, PER_LAUNCH = 20 };

/* Rows of launches as logs hold them: launch after launch, in it RISC after RISC. */
static void feed(dl_decode *d, uint64_t n_zones)
{
    static const char *const riscs[RISCS] = {"BRISC", "NCRISC", "TRISC_0", "TRISC_1", "TRISC_2"};
    static const char *const fw[RISCS] = {"BRISC-FW", "NCRISC-FW", "TRISC-FW", "TRISC-FW", "TRISC-FW"};
    static const char *const kernel[RISCS] = {"BRISC-KERNEL", "NCRISC-KERNEL", "TRISC-KERNEL", "TRISC-KERNEL",
                                              "TRISC-KERNEL"};
    static const char *const user[] = {"read page", "wait for page", "compute page", "write page", "barrier"};
    dl_tables *t = dl_decode_tables(d);
    dl_chip_line line = {.freq_khz = 1000000, .arch = "wormhole_b0"};
    must(dl_decode_chip_line(d, &line, &err));
    uint32_t random = 1;
    uint64_t made = 0;
    for (uint32_t launch = 0; made < n_zones; launch++) {
        for (uint32_t i = 0; i < CORES * RISCS && made < n_zones; i++) {
            dl_row rows[2 * PER_LAUNCH];
            uint32_t r = i % RISCS, core = i / RISCS, sites[7], n = 0;
            uint32_t stream = dl_tables_stream(t, 0, (uint16_t)(core % 12), (uint16_t)(core / 12), riscs[r],
                                               strlen(riscs[r]));
            sites[0] = dl_tables_site(t, fw[r], strlen(fw[r]), "firmware/brisc.c", 16, 30);
            sites[1] = dl_tables_site(t, kernel[r], strlen(kernel[r]), "firmware/kernel.c", 17, 40);
            for (uint32_t k = 0; k < 5; k++)
                sites[2 + k] = dl_tables_site(t, user[k], strlen(user[k]), "kernels/add_one.c", 17, 10 + k);
            uint64_t at = UINT64_C(2170879416545) + launch * UINT64_C(20000) + core * 17 + r * 5;
            const dl_row like = {.run_host_id = 1024u * (launch + 1),
                                 .stream = stream,
                                 .timer_id = 1,
                                 .trace_id = DL_NO_ID,
                                 .trace_counter = DL_NO_ID,
                                 .has_launch = 1};
            for (uint32_t z = 0; z < 2; z++) {
                rows[n] = like;
                rows[n].site = sites[z];
                rows[n++].time = at + z * 50;
            }
            for (uint32_t z = 0; z < PER_LAUNCH - 2; z++) {
                random = random * 1664525 + 1013904223;
                for (uint32_t end = 0; end < 2; end++) {
                    rows[n] = like;
                    rows[n].site = sites[2 + (random >> 29) % 5];
                    rows[n].type = end ? DL_ROW_ZONE_END : DL_ROW_ZONE_START;
                    rows[n++].time = at + 100 + z * 900 + end * (100 + (random >> 23));
                }
            }
            for (uint32_t z = 2; z-- > 0;) {
                rows[n] = like;
                rows[n].site = sites[z];
                rows[n].type = DL_ROW_ZONE_END;
                rows[n++].time = at + 18000 - z * 50;
            }
            made += PER_LAUNCH;
            must(dl_decode_rows(d, rows, n, &err));
        }
    }
    must(dl_decode_finish(d, &err));
}

static uint64_t size_of(const char *path)
{
    char command[256];
    unsigned long long bytes = 0;
    snprintf(command, sizeof command, "du -sb %s 2>/dev/null", path);
    FILE *p = popen(command, "r");
    if (p && fscanf(p, "%llu", &bytes) != 1) bytes = 0;
    if (p) pclose(p);
    return bytes;
}

static uint64_t peak_kb(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (uint64_t)usage.ru_maxrss;
}

static devlog_status nothing(void *ctx, const dl_view_item *items, size_t n, devlog_error *e)
{
    (void)items;
    (void)e;
    *(uint64_t *)ctx += n;
    return DEVLOG_OK;
}

static cJSON *tree;

/* One object per zone, as the chrome writer prints it. */
static devlog_status grow_tree(void *ctx, const dl_view_item *items, size_t n, devlog_error *e)
{
    dl_view *v = ctx;
    (void)e;
    for (size_t i = 0; i < n; i++) {
        char buffer[32];
        cJSON *o = cJSON_CreateObject(), *args;
        cJSON_AddStringToObject(o, "ph", "X");
        cJSON_AddStringToObject(o, "name", dl_view_name(v, &items[i], buffer));
        cJSON_AddNumberToObject(o, "tid", items[i].track);
        cJSON_AddNumberToObject(o, "ts", (double)items[i].start / 1000);
        cJSON_AddNumberToObject(o, "dur", (double)(items[i].end - items[i].start) / 1000);
        args = cJSON_AddObjectToObject(o, "args");
        cJSON_AddNumberToObject(args, "cycle", (double)items[i].cycle);
        cJSON_AddNumberToObject(args, "cycles", (double)(items[i].end_cycle - items[i].cycle));
        cJSON_AddItemToArray(tree, o);
    }
    return DEVLOG_OK;
}

static void write_by_cjson(dl_view *v, const char *path)
{
    tree = cJSON_CreateArray();
    must(dl_view_run(v, DL_VIEW_BY_TIME, (dl_view_sink){.ctx = v, .items = grow_tree}, &err));
    char *text = cJSON_PrintUnformatted(tree);
    FILE *f = fopen(path, "w");
    if (!f || !text || fputs(text, f) < 0 || fclose(f) != 0) exit(1);
    free(text);
}

/* In a process of its own, so that its memory is its own. */
static void measure(dl_view *v, const char *what, const dl_export_format *format, uint64_t zones)
{
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        char folder[] = "/dev/shm/devlog-bench-XXXXXX", path[128], command[128];
        if (!mkdtemp(folder)) exit(1);
        snprintf(path, sizeof path, "%s/out%s", folder, format ? format->suffix : ".json");
        uint64_t count = 0, before = peak_kb();
        clock_t start = clock();
        if (format)
            must(format->write(v, path, &err));
        else if (strcmp(what, "cJSON") == 0)
            write_by_cjson(v, path);
        else
            must(dl_view_run(v, what[0] == 't' ? DL_VIEW_BY_TRACK : DL_VIEW_BY_TIME,
                             (dl_view_sink){.ctx = &count, .items = nothing}, &err));
        double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
        printf("%-24s %8.2f %10.0f %12.1f\n", what, (double)zones / seconds / 1e6,
               (double)size_of(path) / (double)zones, (double)(peak_kb() - before) / 1024);
        fflush(stdout);
        snprintf(command, sizeof command, "rm -rf %s", folder);
        exit(system(command) != 0);
    }
    int status;
    waitpid(pid, &status, 0);
}

int main(int argc, char **argv)
{
    uint64_t zones = argc > 1 ? strtoull(argv[1], NULL, 10) : 1000000;
    const dl_decode_options decoding = {.no_samples = true};
    const dl_view_options viewing = {.memory = argc > 2 ? (size_t)strtoull(argv[2], NULL, 10) : 0};
    dl_decode *d;
    dl_view *v;
    must(dl_decode_new(&d, &decoding, &err));
    must(dl_view_new(&v, d, &viewing, &err));
    must(dl_decode_run_sink(d, dl_view_runs(v), &err));
    feed(d, zones);
    must(dl_view_ready(v, &err));
    printf("%llu zones on %d RISCs; peak memory before writing %.1f MB\n", (unsigned long long)zones,
           CORES * RISCS, (double)peak_kb() / 1024);
    printf("%-24s %8s %10s %12s\n", "", "M zone/s", "byte/zone", "peak + [MB]");
    measure(v, "order by time, no writer", NULL, zones);
    measure(v, "track order, no writer", NULL, zones);
    size_t n;
    const dl_export_format *formats = dl_export_formats(&n);
    for (size_t i = 0; i < n; i++)
        if (argc < 4 || strcmp(argv[3], formats[i].name) == 0)
            measure(v, formats[i].name, &formats[i], zones);
    if (argc < 4) measure(v, "cJSON", NULL, zones);
    dl_view_free(v);
    dl_decode_free(d);
    return 0;
}
