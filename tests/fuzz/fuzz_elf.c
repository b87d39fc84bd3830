/* ELF files of kernels that lie beside a capture, and records that say they are of them: a byte of what to try, the number of words of records, these,
 * and then the file. Any bytes are refused, or read, priced and printed. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/elf.h"
#include "base/elf_code.h"
#include "base/intern.h"
#include "decode/capture/raw_internal.h"
#include "decode/price/price.h"
#include "devlog/record.h"
#include "fuzz/fuzz.h"

enum { BLACKHOLE = 1, LOST = 2, MOST_WORDS = 255, MEASURED = 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef struct recorded {
    const dl_elf *elf;
    dl_price_counts counts;
    bool known; /* of one of its sites */
} recorded;

static devlog_status on_record(void *ctx, const record_event *e, devlog_error *err)
{
    (void)err;
    recorded *r = ctx;
    dl_str json = {0};
    if (e->kind == DEVLOG_KIND_PRINT || !e->site) raw_text(r->elf, e, &json);
    dl_str_free(&json);
    r->known |= e->site != NULL;
    if (e->wide || e->code >= DEVLOG_CODE_END) {
        r->counts.others = true;
        return DEVLOG_OK;
    }
    if (!r->counts.n[e->code]++) r->counts.codes[r->counts.n_codes++] = (uint16_t)e->code;
    r->counts.seen[e->code / 64] |= UINT64_C(1) << e->code % 64;
    return DEVLOG_OK;
}

static void look_up(const dl_elf *elf)
{
    dl_elf_code code;
    devlog_error err;
    for (uint32_t i = 0; i < elf->n_sites; i++) {
        const dl_elf_site *s = &elf->sites[i];
        if (!s->events && !dl_elf_site_of(elf, s->wide, s->code)) abort();
        (void)dl_elf_event_of(elf, s->code);
        if (strlen(s->name) > elf->file_size || strlen(s->file) > elf->file_size) abort();
    }
    for (uint32_t i = 0; i < elf->n_segments; i++) {
        (void)dl_elf_code_at(elf, elf->segments[i].address);
        const char *text = dl_elf_text_at(elf, elf->segments[i].address);
        if (text && strlen(text) >= elf->file_size) abort();
    }
    (void)dl_elf_look_at_code(elf, &code, &err);
}

/* What the markers of these records cost where they stand. */
static void price(const recorded *r, const record_span *span, uint8_t how)
{
    const sim_cores cores = how & BLACKHOLE ? SIM_CORES_BLACKHOLE : SIM_CORES_WORMHOLE;
    uint32_t measured[MEASURED], number = 0, n = 0;
    dl_costs costs = {0};
    /* As the RISC left it: passes through sums, a change of segments, codes of what the ring wrote over. */
    devlog_control control = {.passes = 5, .switches = 1, .stall_cycles = 200, .segment = 1};
    memcpy(control.written_over, span->words,
           span->n < DEVLOG_SAMPLES ? 4 * span->n : sizeof control.written_over);
    for (uint32_t i = 0; i < MEASURED; i++)
        measured[i] = dl_price_documented(cores, i);
    memcpy(costs.marker, measured,
           sizeof costs.marker < sizeof measured ? sizeof costs.marker : sizeof measured);
    dl_price_book *book = dl_price_book_open(r->elf, cores, measured);
    if (!book) return;
    const dl_prices *p = dl_price_book_for(book, &r->counts, span, 1, !(how & LOST), &number);
    if (p) {
        const dl_price_rest rest = {.dropped = how & LOST ? 7 : 0,
                                    .complete = how & LOST ? 2 : 0,
                                    .passes = 5,
                                    .sites = 1,
                                    .drop = 160,
                                    .pass = 300};
        const dl_price_ring ring = {.from = 1000, .until = 100000, .overwritten = how & LOST ? 30 : 0};
        uint64_t spent;
        if (number >= DL_PRICE_TABLES) abort();
        (void)dl_price_book_set(book, number);
        const dl_price_sum sum = dl_price_of_records(p, r->elf, &costs, &r->counts, span, 1);
        (void)dl_price_of_rest(p, r->elf, span, 1, rest);
        (void)dl_price_of_ring(p, r->elf, span, 1, sum, ring, &control, &spent);
        dl_spent *moments = dl_price_moments(book, p, r->elf, span, 1, rest, ring, &control, 0, &n);
        for (uint32_t i = 1; moments && i < n; i++)
            if (moments[i].at < moments[i - 1].at) abort();
        free(moments);
    }
    dl_price_book_close(book);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint32_t words[MOST_WORDS];
    dl_elf elf;
    devlog_error err;
    if (size < 2 || size - 2 < data[1] * sizeof *words) return 0;
    const record_span span = {words, data[1]};
    memcpy(words, data + 2, data[1] * sizeof *words);
    const size_t from = 2 + data[1] * sizeof *words;
    uint8_t *bytes = malloc(size - from + 1);
    if (!bytes) return 0;
    memcpy(bytes, data + from, size - from);
    if (dl_elf_parse(bytes, size - from, "fuzz", &elf, &err) != DEVLOG_OK) {
        free(bytes);
        return 0;
    }
    look_up(&elf);
    recorded r = {.elf = &elf};
    record_losses losses = {0};
    const record_input in = {
        .spans = &span, .n_spans = 1, .elf = &elf, .from = 1000, .until = UINT64_C(1) << 40};
    if (records_decode(&in, on_record, &r, &losses, &err) == DEVLOG_OK) {
        if (r.known) fuzz_got_inside();
        price(&r, &span, data[0]);
    }
    dl_elf_free(&elf);
    return 0;
}

/* replay_elf --write FILE ELF: an input with records of each site of the ELF file, for when records or its tables have changed. */
static void write_input(const char *path, const char *of)
{
    dl_elf elf;
    devlog_error err;
    uint32_t words[MOST_WORDS], n = 0, time = 2000;
    if (dl_elf_read(of, &elf, &err) != DEVLOG_OK) abort();
    for (uint32_t i = 0; i < 2 * elf.n_sites && n + 16 < MOST_WORDS; i++, time += 100) {
        const dl_elf_site *s = &elf.sites[i % elf.n_sites];
        uint32_t length = 2;
        words[n] = s->code & 0x800 ? s->code - 0x1000u : s->code;
        words[n + 1] = time;
        memset(words + n + 2, 0, 14 * sizeof *words);
        for (uint32_t k = 2; record_words(words + n, length) != length && k < 16; k++)
            words[n + k] = time - 50, length = k + 1;
        if (length < 16) n += length;
        if (s->kind != DEVLOG_KIND_ZONE) continue;
        words[n++] = (s->code & 0x800 ? s->code - 0x1000u : s->code) + 1;
        words[n++] = time + 40;
    }
    FILE *f = fopen(path, "wb");
    if (!f || fputc(0, f) != 0 || fputc((int)n, f) != (int)n || fwrite(words, sizeof *words, n, f) != n ||
        fwrite(elf.file, 1, elf.file_size, f) != elf.file_size || fclose(f) != 0)
        abort();
    dl_elf_free(&elf);
}

int LLVMFuzzerInitialize(int *argc, char ***argv);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    if (*argc != 4 || strcmp((*argv)[1], "--write") != 0) return 0;
    write_input((*argv)[2], (*argv)[3]);
    exit(0);
}
