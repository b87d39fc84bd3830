/* Bench of captures: records per second from the file to statistics, and its steps by themselves: reading and
 * unpacking, decoding records, making rows, pairing. Beside a plain copy of the same bytes. Usage: capture
 * RECORDS. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "decode/decode.h"

static devlog_error err;

static void must(devlog_status status)
{
    if (status == DEVLOG_OK) return;
    fprintf(stderr, "bench: %s\n", err.text);
    exit(1);
}

static double cpu(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* 16 cores of five RISCs, launch after launch; nested zones of three names, as kernels of the demo record. */
static void generate(const char *folder, uint64_t records)
{
    enum { PER_RISC = 1000, RISCS = 5, CORES = 16 };
    static const char *const names[RISCS] = {"BRISC", "NCRISC", "TRISC0", "TRISC1", "TRISC2"};
    dl_capture *c;
    must(dl_capture_open(&c, folder, DL_CAPTURE_NAME, false, &err));
    const dl_capture_chip chip = {.freq_khz = 1000000, .max_cores = CORES, .arch = "wormhole_b0"};
    must(dl_capture_put_chip(c, &chip, &err));
    uint64_t time = 1000000, done = 0;
    uint32_t random = 1;
    for (uint32_t launch = 1; done < records; launch++) {
        for (uint16_t core = 0; core < CORES; core++) {
            dl_capture_risc riscs[RISCS];
            static uint32_t words[RISCS][2 * PER_RISC];
            record_span spans[RISCS];
            for (uint32_t r = 0; r < RISCS; r++) {
                uint64_t at = time + 200;
                for (uint32_t i = 0; i < PER_RISC; i++) {
                    static const uint32_t codes[4] = {16, 18, 19, 17}; /* ( ( ) ) */
                    random = random * 1664525 + 1013904223;
                    at += 40 + (random >> 24);
                    words[r][2 * i] = (uint32_t)(at >> 32) << 12 | (codes[i % 4] + (i / 4 % 3) * 4);
                    words[r][2 * i + 1] = (uint32_t)at;
                }
                spans[r] = (record_span){words[r], 2 * PER_RISC};
                riscs[r] = (dl_capture_risc){.name = names[r], .index = r, .spans = &spans[r], .n_spans = 1};
                devlog_control *k = &riscs[r].control;
                k->launch = launch;
                k->marks = 15;
                const uint64_t marks[4] = {time, time + 100, at + 100, at + 200};
                for (int m = 0; m < 4; m++) {
                    k->stamps[2 * m] = (uint32_t)marks[m];
                    k->stamps[2 * m + 1] = (uint32_t)(marks[m] >> 32);
                }
            }
            const dl_capture_core put = {
                .x = core % 4, .y = core / 4, .n_riscs = RISCS, .riscs = riscs, .events_from = time};
            must(dl_capture_put_core(c, &put, &err));
            done += PER_RISC * RISCS;
        }
        must(dl_capture_commit(c, &err));
        time += 400000;
    }
    must(dl_capture_put_end(c, 0, &err));
    must(dl_capture_commit(c, &err));
    dl_capture_close(c);
}

static devlog_status count_words(void *ctx, const dl_capture_core *core, devlog_error *e)
{
    uint64_t *words = ctx;
    (void)e;
    for (uint32_t r = 0; r < core->n_riscs; r++)
        for (uint32_t s = 0; s < core->riscs[r].n_spans; s++)
            *words += core->riscs[r].spans[s].n;
    return DEVLOG_OK;
}

static devlog_status count_event(void *ctx, const record_event *event, devlog_error *e)
{
    uint64_t *sum = ctx;
    (void)e;
    *sum += event->time;
    return DEVLOG_OK;
}

typedef struct decoding {
    uint64_t sum;
    record_losses losses;
} decoding;

static devlog_status decode_core(void *ctx, const dl_capture_core *core, devlog_error *e)
{
    decoding *d = ctx;
    for (uint32_t r = 0; r < core->n_riscs; r++) {
        const record_input in = {.spans = core->riscs[r].spans, .n_spans = core->riscs[r].n_spans};
        devlog_status status = records_decode(&in, count_event, &d->sum, &d->losses, e);
        if (status) return status;
    }
    return DEVLOG_OK;
}

static void read_with(const char *path, const dl_capture_sink *sink)
{
    dl_input *in;
    dl_capture_state state;
    must(dl_input_open(&in, path, &err));
    must(dl_capture_read(in, sink, &state, &err));
    dl_input_close(in);
}

static void line(const char *name, double seconds, uint64_t records)
{
    printf("%-46s %8.3f s %8.1f M records/s %7.1f ns each\n", name, seconds, (double)records / seconds / 1e6,
           seconds * 1e9 / (double)records);
}

int main(int argc, char **argv)
{
    uint64_t records = argc > 1 ? strtoull(argv[1], NULL, 10) : 20000000;
    char folder[] = "/tmp/devlog-bench-XXXXXX", path[64];
    if (!mkdtemp(folder)) return 1;
    snprintf(path, sizeof path, "%s/%s", folder, DL_CAPTURE_NAME);
    double start = cpu();
    generate(folder, records);
    line("generating and writing", cpu() - start, records);

    uint64_t words = 0;
    start = cpu();
    read_with(path, &(dl_capture_sink){.ctx = &words, .core = count_words});
    records = words / 2;
    line("reading and unpacking", cpu() - start, records);

    decoding d = {0};
    start = cpu();
    read_with(path, &(dl_capture_sink){.ctx = &d, .core = decode_core});
    line("  + records", cpu() - start, records);

    for (int samples = 0; samples < 2; samples++) {
        dl_decode *decode;
        const dl_decode_options options = {.no_samples = !samples};
        start = cpu();
        must(dl_decode_new(&decode, &options, &err));
        must(dl_decode_file(decode, path, &err));
        must(dl_decode_finish(decode, &err));
        line(samples ? "devlog decode, with exact medians" : "devlog decode: zones and sums", cpu() - start,
             records);
        if (dl_losses_any(dl_decode_losses(decode))) printf("  something was lost!\n");
        dl_decode_free(decode);
    }
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    printf("peak memory %ld KiB\n", usage.ru_maxrss);
    unlink(path);
    rmdir(folder);
    return 0;
}
