/* ./dev bench ttmetal: folders of tt-metal's, made and read.
 *
 * Usage: bench_ttmetal generate FOLDER log|report OPS    writes a folder (generate.h)
 *        bench_ttmetal generate FOLDER by_time OPS       its device log in the order of time
 *        bench_ttmetal generate FOLDER messages OPS      one in which every op has its whole message
 *        bench_ttmetal read FOLDER                       MB/s of each file of the host, on one thread */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "base/file.h"
#include "generate.h"
#include "tt_metal/host.h"

static double cpu(void)
{
    struct rusage u;
    getrusage(RUSAGE_SELF, &u);
    return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

static void tell(const char *what, const char *path, double seconds)
{
    struct stat st = {0};
    stat(path, &st);
    printf("  %-24s %8.0f MB %8.2f s CPU %8.0f MB/s\n", what, (double)st.st_size / 1e6, seconds,
           (double)st.st_size / 1e6 / (seconds + 1e-9));
}

static int read_folder(const char *folder)
{
    devlog_error err = {0};
    tt_found found = {0};
    tt_host host;
    char *data = dl_path_join(folder, TT_OPS_DATA_NAME), *times = dl_path_join(folder, TT_OPS_TIMES_NAME);
    devlog_status status = tt_host_begin(&host, &found, folder, &err);
    double before = cpu();
    if (!status) status = tt_host_read_data(&host, data, NULL, &err);
    if (!status) tell(TT_OPS_DATA_NAME, data, cpu() - before);
    before = cpu();
    if (!status) status = tt_host_read_times(&host, times, NULL, &err);
    if (!status) tell(TT_OPS_TIMES_NAME, times, cpu() - before);
    if (status) fprintf(stderr, "bench_ttmetal: %s\n", err.text);
    tt_host_free(&host);
    tt_found_free(&found);
    free(data);
    free(times);
    return status ? 1 : 0;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "read") == 0) return read_folder(argv[2]);
    if (argc != 5 || strcmp(argv[1], "generate") != 0) {
        fprintf(stderr,
                "usage: bench_ttmetal generate FOLDER log|by_time|report|messages OPS | read FOLDER\n");
        return 2;
    }
    const run_options o = {.ops = strtoull(argv[4], NULL, 10),
                           .log = strcmp(argv[3], "log") == 0 || strcmp(argv[3], "by_time") == 0,
                           .by_time = strcmp(argv[3], "by_time") == 0,
                           .full = strcmp(argv[3], "messages") == 0,
                           .zones = 6};
    if (generate_run(argv[2], &o)) return 0;
    perror("bench_ttmetal");
    return 1;
}
