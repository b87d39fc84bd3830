/* Writing captures. The format is in capture.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <xxhash.h>
#include <zstd.h>

#include "base/file.h"
#include "base/log_file.h"
#include "base/settings.h"
#include "decode/capture/capture_frame.h"
#include "decode/capture/capture_words.h"

enum { PACK_FROM = 256, PACK_LEVEL = 3 };

struct dl_capture {
    char *path;
    dl_log_file file;
    bool shared;    /* somebody else was writing to the file when it was opened */
    dl_str hand;    /* frames that are not written yet */
    dl_str payload; /* of the frame in the making */
    dl_str packed;
    dl_str words; /* of the frame in the making, as they are */
};

devlog_status dl_capture_open(dl_capture **capture, const char *folder, const char *name, bool append,
                              devlog_error *err)
{
    devlog_status status = folder ? dl_folder_make(folder, err) : DEVLOG_OK;
    if (status) return status;
    dl_capture *c = calloc(1, sizeof *c);
    if (c) c->file = DL_LOG_FILE_NONE;
    if (c) c->path = folder ? dl_path_join(folder, name) : strdup("");
    if (!c || !c->path) {
        dl_capture_close(c);
        return dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for a capture");
    }
    if (!folder) {
        *capture = c;
        return DEVLOG_OK;
    }
    struct stat st;
    int errnum = dl_log_file_open(&c->file, c->path, O_WRONLY | O_CREAT | O_APPEND);
    if (!errnum && fstat(c->file.fd, &st) != 0) errnum = errno;
    if (errnum) {
        status = dl_fail_errno(err, errnum, "%s", c->path);
        dl_capture_close(c);
        return status;
    }
    c->shared = !dl_file_alone(c->file.fd);
    if (!c->shared && !append && ftruncate(c->file.fd, 0) == 0) st.st_size = 0;
    if (st.st_size == 0) dl_str_add_n(&c->hand, DL_CAPTURE_MAGIC, DL_CAPTURE_MAGIC_BYTES);
    *capture = c;
    return DEVLOG_OK;
}

bool dl_capture_shared(const dl_capture *c)
{
    return c->shared;
}

const dl_str *dl_capture_hand(const dl_capture *c)
{
    return &c->hand;
}

const char *dl_capture_path(const dl_capture *c)
{
    return c->path;
}

void dl_capture_close(dl_capture *c)
{
    if (!c) return;
    dl_log_file_close(&c->file);
    dl_str_free(&c->hand);
    dl_str_free(&c->payload);
    dl_str_free(&c->packed);
    dl_str_free(&c->words);
    free(c->path);
    free(c);
}

static void put(dl_capture *c, const void *bytes, size_t n)
{
    dl_str_add_n(&c->payload, bytes, n);
}

static void put32(dl_capture *c, uint32_t value)
{
    const uint8_t bytes[4] = {(uint8_t)value, (uint8_t)(value >> 8), (uint8_t)(value >> 16),
                              (uint8_t)(value >> 24)};
    put(c, bytes, sizeof bytes);
}

static void put64(dl_capture *c, uint64_t value)
{
    put32(c, (uint32_t)value);
    put32(c, (uint32_t)(value >> 32));
}

static void put_text(dl_capture *c, const char *text)
{
    size_t n = text ? strlen(text) : 0;
    put32(c, (uint32_t)n);
    put(c, text ? text : "", n);
}

static void put_words(dl_capture *c, const uint32_t *words, size_t n)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    put(c, words, n * 4);
#else
    for (size_t i = 0; i < n; i++)
        put32(c, words[i]);
#endif
}

/* Words of records wait until the frame ends. */
static void gather(dl_capture *c, const uint32_t *words, size_t n)
{
    if (n) dl_str_add_n(&c->words, (const char *)words, n * 4);
}

static void put_gathered(dl_capture *c)
{
    size_t n = c->words.len / 4;
    dl_str_clear(&c->packed); /* room, for now */
    if (c->words.failed || !dl_str_reserve(&c->packed, 8 * n) ||
        !dl_str_reserve(&c->payload, dl_words_bound(n)))
        c->payload.failed = true;
    else
        c->payload.len +=
            dl_words_split((const uint32_t *)c->words.text, n, (uint8_t *)c->payload.text + c->payload.len,
                           (uint32_t *)c->packed.text);
    dl_str_clear(&c->words);
}

static void le32(uint8_t *to, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        to[i] = (uint8_t)(value >> (8 * i));
}

/* The payload becomes a frame in hand. */
static devlog_status end_frame(dl_capture *c, uint8_t kind, devlog_error *err)
{
    dl_str *stored = &c->payload;
    uint8_t header[DL_FRAME_HEADER_BYTES] = {0};
    if (kind == DL_FRAME_CORE || kind == DL_FRAME_WORDS) put_gathered(c);
    size_t size = c->payload.len;
    if (size >= PACK_FROM && !c->payload.failed) {
        size_t bound = ZSTD_compressBound(size);
        dl_str_clear(&c->packed);
        if (dl_str_reserve(&c->packed, bound)) {
            size_t n = ZSTD_compress(c->packed.text, bound, c->payload.text, size, PACK_LEVEL);
            if (!ZSTD_isError(n) && n < size) {
                c->packed.len = n;
                stored = &c->packed;
            }
        }
    }
    le32(header, DL_FRAME_MAGIC);
    header[4] = kind;
    header[5] = dl_frame_version(kind);
    header[6] = stored == &c->packed;
    le32(header + 8, (uint32_t)stored->len);
    le32(header + 12, (uint32_t)size);
    XXH64_hash_t check = XXH64(stored->text, stored->len, XXH64(header, 16, 0));
    le32(header + 16, (uint32_t)check);
    le32(header + 20, (uint32_t)(check >> 32));
    dl_str_add_n(&c->hand, (const char *)header, sizeof header);
    dl_str_add_n(&c->hand, stored->text ? stored->text : "", stored->len);
    devlog_status status = dl_str_status(&c->payload, err);
    if (!status) status = dl_str_status(&c->hand, err);
    dl_str_clear(&c->payload);
    return status;
}

devlog_status dl_capture_put_chip(dl_capture *c, const dl_capture_chip *chip, devlog_error *err)
{
    put32(c, chip->slot);
    put32(c, chip->max_cores);
    put64(c, chip->freq_khz);
    put32(c, chip->together);
    put_text(c, chip->arch);
    put_text(c, chip->board);
    put_text(c, chip->transport);
    put_text(c, chip->boot);
    put64(c, chip->run);
    put64(c, chip->aiclk_khz);
    if (chip->instructions) put64(c, 1);
    return end_frame(c, DL_FRAME_CHIP, err);
}

devlog_status dl_capture_put_grid(dl_capture *c, const dl_capture_grid *grid, devlog_error *err)
{
    const chip_grid *g = grid->grid;
    put32(c, grid->slot);
    put32(c, g->width);
    put32(c, g->height);
    put32(c, g->off_known);
    put64(c, g->off_columns);
    put64(c, g->off_rows);
    put32(c, g->n_columns);
    put(c, g->columns, g->n_columns);
    put32(c, g->n_rows);
    put(c, g->rows, g->n_rows);
    put32(c, g->n_tiles);
    for (uint32_t i = 0; i < g->n_tiles; i++)
        put(c, (const uint8_t[3]){g->tiles[i].x, g->tiles[i].y, g->tiles[i].kind}, 3);
    return end_frame(c, DL_FRAME_GRID, err);
}

devlog_status dl_capture_put_rank(dl_capture *c, const dl_capture_rank *rank, devlog_error *err)
{
    put32(c, rank->slot);
    put32(c, rank->rank);
    put32(c, rank->ranks);
    put_text(c, rank->host);
    return end_frame(c, DL_FRAME_RANK, err);
}

devlog_status dl_capture_put_launched(dl_capture *c, uint32_t slot, devlog_error *err)
{
    char host[256] = "";
    const char *by;
    dl_capture_rank said = {.slot = slot, .host = host};
    if (!dl_setting_rank(&said.rank, &by)) return DEVLOG_OK;
    said.ranks = dl_setting_ranks(said.rank);
    if (gethostname(host, sizeof host - 1)) host[0] = '\0';
    return dl_capture_put_rank(c, &said, err);
}

devlog_status dl_capture_put_elf(dl_capture *c, const dl_capture_elf *elf, devlog_error *err)
{
    put32(c, elf->slot);
    put32(c, elf->number);
    put_text(c, elf->path);
    put_text(c, elf->source);
    put32(c, elf->build_id_size);
    put(c, elf->build_id, elf->build_id_size);
    return end_frame(c, DL_FRAME_ELF, err);
}

devlog_status dl_capture_put_violation(dl_capture *c, const dl_capture_violation *v, devlog_error *err)
{
    put32(c, v->slot);
    put32(c, v->x | (uint32_t)v->y << 16);
    put32(c, v->index);
    put32(c, v->launch);
    put32(c, v->line);
    put64(c, v->times);
    put64(c, v->worst);
    put_text(c, v->text);
    put_text(c, v->file);
    return end_frame(c, DL_FRAME_VIOLATION, err);
}

devlog_status dl_capture_put_launch(dl_capture *c, const dl_capture_launch *launch, devlog_error *err)
{
    put32(c, launch->slot);
    put32(c, launch->number);
    put32(c, launch->op);
    put64(c, launch->call_start);
    put64(c, launch->call_end);
    put64(c, launch->pull_start);
    put64(c, launch->pull_end);
    return end_frame(c, DL_FRAME_LAUNCH, err);
}

/* The words of a core are numbered through: events first, then the spans of each RISC. */
typedef struct all_words {
    const dl_capture_core *core;
    uint32_t risc, span, at; /* risc == UINT32_MAX: events */
} all_words;

/* Puts up to `room` of the words that are left; returns how many. */
static size_t put_some(dl_capture *c, all_words *w, size_t room)
{
    size_t done = 0;
    if (w->risc == UINT32_MAX) {
        size_t n = w->core->n_events - w->at;
        if (n > room) n = room;
        gather(c, w->core->events + w->at, n);
        w->at += (uint32_t)n;
        done = n;
        if (w->at < w->core->n_events) return done;
        w->risc = w->span = w->at = 0;
    }
    while (w->risc < w->core->n_riscs && done < room) {
        const dl_capture_risc *r = &w->core->riscs[w->risc];
        if (w->span == r->n_spans) {
            w->risc++;
            w->span = 0;
            continue;
        }
        size_t n = r->spans[w->span].n - w->at;
        if (n > room - done) n = room - done;
        gather(c, r->spans[w->span].words + w->at, n);
        w->at += (uint32_t)n;
        done += n;
        if (w->at == r->spans[w->span].n) {
            w->span++;
            w->at = 0;
        }
    }
    return done;
}

devlog_status dl_capture_put_core(dl_capture *c, const dl_capture_core *core, devlog_error *err)
{
    uint64_t words = core->n_events;
    put32(c, core->slot);
    put32(c, core->x | (uint32_t)core->y << 16);
    put64(c, core->events_from);
    put32(c, core->n_events);
    put32(c, core->n_riscs);
    for (uint32_t i = 0; i < core->n_riscs; i++) {
        const dl_capture_risc *r = &core->riscs[i];
        put_text(c, r->name);
        put32(c, r->index);
        put32(c, r->elf);
        put32(c, DL_CONTROL_WORDS);
        put_words(c, (const uint32_t *)&r->control, DL_CONTROL_WORDS);
        put32(c, r->n_spans);
        for (uint32_t s = 0; s < r->n_spans; s++) {
            put32(c, r->spans[s].n);
            words += r->spans[s].n;
        }
    }
    all_words at = {.core = core, .risc = UINT32_MAX};
    words -= put_some(c, &at, DL_FRAME_WORDS_MAX);
    devlog_status status = end_frame(c, DL_FRAME_CORE, err);
    while (words && !status) {
        words -= put_some(c, &at, DL_FRAME_WORDS_MAX);
        status = end_frame(c, DL_FRAME_WORDS, err);
    }
    return status;
}

devlog_status dl_capture_put_samples(dl_capture *c, const dl_clock_samples *samples, devlog_error *err)
{
    enum { PER_FRAME = 4096 };
    devlog_status status = DEVLOG_OK;
    for (size_t from = 0; from < samples->n && !status; from += PER_FRAME) {
        size_t n = samples->n - from < PER_FRAME ? samples->n - from : PER_FRAME;
        put32(c, samples->slot);
        put32(c, samples->peer);
        put32(c, (uint32_t)n);
        for (size_t i = from; i < from + n; i++) {
            put64(c, samples->items[i].before);
            put64(c, samples->items[i].after);
            put64(c, samples->items[i].cycles);
            put32(c, samples->items[i].burst);
        }
        status = end_frame(c, DL_FRAME_SAMPLES, err);
    }
    return status;
}

devlog_status dl_capture_put_offsets(dl_capture *c, const dl_clock_offsets *offsets, devlog_error *err)
{
    put32(c, offsets->slot);
    put32(c, offsets->reference_x | (uint32_t)offsets->reference_y << 16);
    put32(c, (uint32_t)offsets->n);
    for (size_t i = 0; i < offsets->n; i++) {
        const dl_clock_offset *o = &offsets->items[i];
        put32(c, o->x | (uint32_t)o->y << 16);
        put32(c, o->moved);
        put64(c, (uint64_t)o->lo);
        put64(c, (uint64_t)o->hi);
    }
    return end_frame(c, DL_FRAME_OFFSETS, err);
}

devlog_status dl_capture_put_cycles(dl_capture *c, const dl_capture_cycles *cycles, devlog_error *err)
{
    enum { PER_FRAME = 8192 }; /* of 20 + 8 * SIM_STALLS bytes */
    devlog_status status = DEVLOG_OK;
    for (size_t from = 0; from < cycles->n && !status; from += PER_FRAME) {
        size_t n = cycles->n - from < PER_FRAME ? cycles->n - from : PER_FRAME;
        put32(c, cycles->slot);
        put32(c, cycles->x | (uint32_t)cycles->y << 16);
        put_text(c, cycles->risc);
        put32(c, cycles->index);
        put32(c, cycles->elf);
        put32(c, cycles->launch);
        put32(c, cycles->kernel);
        put32(c, SIM_STALLS);
        put32(c, (uint32_t)n);
        for (size_t i = from; i < from + n; i++) {
            const sim_cycles *at = &cycles->items[i];
            put32(c, at->pc);
            put64(c, at->count);
            put64(c, at->cycles);
            for (int k = 0; k < SIM_STALLS; k++)
                put64(c, at->stalled[k]);
        }
        status = end_frame(c, DL_FRAME_CYCLES, err);
    }
    return status;
}

devlog_status dl_capture_put_host_sites(dl_capture *c, uint32_t slot, const dl_host_site *sites, size_t n,
                                        devlog_error *err)
{
    put32(c, slot);
    put32(c, (uint32_t)n);
    for (size_t i = 0; i < n; i++) {
        put32(c, sites[i].number);
        put32(c, sites[i].line);
        put_text(c, sites[i].name);
        put_text(c, sites[i].function);
        put_text(c, sites[i].file);
    }
    return end_frame(c, DL_FRAME_HOST_SITES, err);
}

devlog_status dl_capture_put_host_records(dl_capture *c, const dl_host_records *records, devlog_error *err)
{
    put32(c, records->slot);
    put32(c, records->thread);
    put_text(c, records->name);
    put64(c, records->lost);
    put64(c, records->elsewhere);
    put(c, records->bytes, records->size);
    return end_frame(c, DL_FRAME_HOST_RECORDS, err);
}

devlog_status dl_capture_put_host_memory(dl_capture *c, const dl_host_memory *memory, devlog_error *err)
{
    put32(c, memory->slot);
    put64(c, memory->unknown);
    put64(c, memory->twice);
    put64(c, memory->over);
    return end_frame(c, DL_FRAME_HOST_MEMORY, err);
}

devlog_status dl_capture_put_host_clocks(dl_capture *c, const dl_capture_host_clocks *clocks,
                                         devlog_error *err)
{
    put32(c, clocks->slot);
    put64(c, clocks->time_namespace);
    put32(c, (uint32_t)clocks->n);
    for (size_t i = 0; i < clocks->n; i++) {
        const dl_clock_reading *r = &clocks->items[i];
        put64(c, r->before);
        put64(c, r->after);
        put64(c, r->real);
        put64(c, r->most);
        put64(c, r->likely);
    }
    return end_frame(c, DL_FRAME_HOST_CLOCKS, err);
}

devlog_status dl_capture_put_host_now(dl_capture *c, uint32_t slot, devlog_error *err)
{
    dl_clock_reading now;
    dl_clock_read(&now);
    const dl_capture_host_clocks put = {slot, dl_clock_namespace(), &now, 1};
    return dl_capture_put_host_clocks(c, &put, err);
}

devlog_status dl_capture_put_exchanges(dl_capture *c, const dl_capture_exchanges *exchanges,
                                       devlog_error *err)
{
    enum { PER_FRAME = 16 * 1024 };
    devlog_status status = DEVLOG_OK;
    for (size_t from = 0; from < exchanges->n && !status; from += PER_FRAME) {
        const size_t n = exchanges->n - from < PER_FRAME ? exchanges->n - from : PER_FRAME;
        put32(c, exchanges->slot);
        put32(c, exchanges->peer);
        put_text(c, exchanges->boot);
        put64(c, exchanges->time_namespace);
        put32(c, (uint32_t)n);
        for (size_t i = from; i < from + n; i++) {
            put64(c, exchanges->items[i].sent);
            put64(c, exchanges->items[i].received);
            put64(c, exchanges->items[i].answered);
            put64(c, exchanges->items[i].arrived);
        }
        status = end_frame(c, DL_FRAME_EXCHANGES, err);
    }
    return status;
}

devlog_status dl_capture_put_end(dl_capture *c, uint32_t slot, devlog_error *err)
{
    put32(c, slot);
    return end_frame(c, DL_FRAME_END, err);
}

devlog_status dl_capture_commit(dl_capture *c, devlog_error *err)
{
    devlog_status status = dl_str_status(&c->hand, err);
    if (status || c->hand.len == 0) return status;
    struct stat st;
    const bool in_file = c->file.path != NULL;
    int errnum = in_file ? dl_log_file_hold(&c->file) : 0;
    const bool known = in_file && !errnum && fstat(c->file.fd, &st) == 0;
    if (in_file && !errnum) errnum = dl_write_all(c->file.fd, c->hand.text, c->hand.len);
    if (errnum) {
        if (known) (void)!ftruncate(c->file.fd, st.st_size); /* half a launch is worse than none */
        return dl_fail_errno(err, errnum, "%s: the launch is not in the capture", c->path);
    }
    dl_str_clear(&c->hand);
    return DEVLOG_OK;
}
