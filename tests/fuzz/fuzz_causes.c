/* Any bytes as a device log or capture, and why it waited: graphs, paths, sums, and every way to print them. The same when
 * nothing is remembered of runs that look alike. */
#include <stdlib.h>
#include <string.h>

#include "answers/answer_print.h"
#include "answers/causes_answer.h"
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static answer_printer *const printers[] = {answer_print_text, answer_print_json, answer_print_csv,
                                           answer_print_markdown};

/* The answer; empty: none. */
static void explain(const uint8_t *bytes, size_t n, bool no_shapes, answer_printer *printer, dl_str *out)
{
    devlog_error err;
    dl_decode *d = NULL;
    causes_log *log = NULL;
    causes_sums sums = {0};
    answer a = {0};
    const dl_decode_options options = {.threads = 1, .no_samples = true, .no_shapes = no_shapes};
    if (dl_decode_new(&d, &options, &err) || causes_log_new(&log, d, &err) ||
        dl_decode_run_sink(d, causes_log_sink(log), &err) || dl_decode_memory(d, "log", bytes, n, &err) ||
        dl_decode_finish(d, &err) || causes_sum(&sums, log, d, &err) || answer_begin(&a, &err))
        goto done;
    if (sums.n_launches) fuzz_got_inside();
    for (size_t i = 0; i < sums.n_launches; i++)
        if (sums.launches[i].known > sums.launches[i].cycles) abort();
    for (size_t i = 0; i < sums.n_path; i++)
        if (sums.path[i].until < sums.path[i].from) abort();
    if (!causes_answer(&a, &sums, n % 4, &err))
        printer(&(answer_shown){.a = &a, .kind = "causes", .version = 1, .width = 80}, out);
done:
    answer_free(&a);
    causes_sums_free(&sums);
    causes_log_free(log);
    dl_decode_free(d);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    const uint32_t ways = fuzz_ways(bytes, n, sizeof printers / sizeof printers[0]);
    for (size_t i = 0; i < sizeof printers / sizeof printers[0]; i++) {
        if (!(ways >> i & 1)) continue;
        dl_str runs = {0}, marks = {0};
        explain(bytes, n, false, printers[i], &runs);
        explain(bytes, n, true, printers[i], &marks);
        fuzz_same(&runs, &marks);
        dl_str_free(&runs);
        dl_str_free(&marks);
    }
    return 0;
}
