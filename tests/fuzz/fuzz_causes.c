/* Any bytes as a device log or capture, and why it waited: graphs, paths, sums, and every way to print them. */
#include <stdlib.h>

#include "answers/answer_print.h"
#include "answers/causes_answer.h"
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

static void print(const answer *a, uint32_t ways)
{
    static answer_printer *const printers[] = {answer_print_text, answer_print_json, answer_print_csv,
                                               answer_print_markdown};
    for (size_t i = 0; i < sizeof printers / sizeof printers[0]; i++) {
        if (!(ways >> i & 1)) continue;
        dl_str out = {0};
        printers[i](&(answer_shown){.a = a, .kind = "causes", .version = 1, .width = 80}, &out);
        dl_str_free(&out);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    devlog_error err;
    dl_decode *d = NULL;
    causes_log *log = NULL;
    causes_sums sums = {0};
    answer a = {0};
    const dl_decode_options options = {.threads = 1, .no_samples = true};
    if (dl_decode_new(&d, &options, &err) || causes_log_new(&log, d, &err) ||
        dl_decode_run_sink(d, causes_log_sink(log), &err) || dl_decode_memory(d, "log", bytes, n, &err) ||
        dl_decode_finish(d, &err) || causes_sum(&sums, log, d, &err) || answer_begin(&a, &err))
        goto done;
    if (sums.n_launches) fuzz_got_inside();
    for (size_t i = 0; i < sums.n_launches; i++)
        if (sums.launches[i].known > sums.launches[i].cycles) abort();
    for (size_t i = 0; i < sums.n_path; i++)
        if (sums.path[i].until < sums.path[i].from) abort();
    if (!causes_answer(&a, &sums, n % 4, &err)) print(&a, fuzz_ways(bytes, n, 4));
done:
    answer_free(&a);
    causes_sums_free(&sums);
    causes_log_free(log);
    dl_decode_free(d);
    return 0;
}
