/* ELF files of a capture: see the header. */
#include "decode/capture/capture_elfs.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/intern.h"

enum { MAX_ELFS = 64 * 1024 };

void capture_elfs_free(capture_elfs *all)
{
    for (size_t i = 0; i < all->n; i++) {
        capture_elf *e = &all->items[i];
        if (e->good) dl_elf_free(&e->elf);
        for (uint32_t t = 0; t < DL_PRICE_TABLES; t++)
            free(e->codes[t]);
        dl_price_book_close(e->prices);
        free(e->path);
        free(e->source);
    }
    free(all->items);
}

capture_elf *capture_elfs_of(const capture_elfs *all, uint32_t slot, uint32_t number)
{
    for (size_t i = all->n; i > 0; i--)
        if (all->items[i - 1].slot == slot && all->items[i - 1].number == number) return &all->items[i - 1];
    return NULL;
}

static devlog_status no_memory(devlog_error *err)
{
    return dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for reading a capture");
}

devlog_status capture_elfs_add(capture_elfs *all, const dl_capture_elf *elf, bool before, uint64_t at,
                               devlog_error *err)
{
    if (all->n == MAX_ELFS) return DEVLOG_OK;
    if (all->n == all->cap) {
        size_t cap = all->cap ? 2 * all->cap : 16;
        capture_elf *bigger = realloc(all->items, cap * sizeof *bigger);
        if (!bigger) return no_memory(err);
        all->items = bigger;
        all->cap = cap;
    }
    capture_elf *e = &all->items[all->n];
    *e = (capture_elf){.slot = elf->slot, .number = elf->number, .before = before, .at = at};
    e->path = strdup(elf->path);
    e->source = strdup(elf->source);
    if (!e->path || !e->source) {
        free(e->path);
        free(e->source);
        return no_memory(err);
    }
    e->build_id_size = elf->build_id_size < DL_BUILD_ID_MAX ? elf->build_id_size : DL_BUILD_ID_MAX;
    if (e->build_id_size) memcpy(e->build_id, elf->build_id, e->build_id_size);
    all->n++;
    return DEVLOG_OK;
}

static bool same_build(const capture_elf *e, const dl_elf *elf)
{
    return e->build_id_size == elf->build_id_size && e->build_id_size > 0 &&
           memcmp(e->build_id, elf->build_id, e->build_id_size) == 0;
}

/* Opens one candidate. False when it is not there or not the one; *seen when it was there. */
static bool try_elf(capture_elf *e, const char *path, bool *seen)
{
    dl_elf elf;
    devlog_error why;
    if (access(path, F_OK) != 0) return false;
    *seen = true;
    if (dl_elf_read(path, &elf, &why) != DEVLOG_OK) return false;
    if (!same_build(e, &elf)) {
        dl_elf_free(&elf);
        return false;
    }
    e->elf = elf;
    e->good = true;
    return true;
}

/* The first core that ran an ELF file. */
static devlog_status find_run(void *ctx, const dl_capture_core *core, devlog_error *err)
{
    capture_elf *e = ctx;
    for (uint32_t i = 0; i < core->n_riscs && core->slot == e->slot && !e->found; i++) {
        const dl_capture_risc *risc = &core->riscs[i];
        e->found = risc->elf == e->number;
        if (e->found) memcpy(e->first_cost, risc->control.cost, sizeof e->first_cost);
    }
    return e->found ? dl_fail(err, DEVLOG_ERR_STATE, "it has been found") : DEVLOG_OK;
}

/* Whether a core before the part ran an ELF file: then what is told of it once has been told, and its markers have their
 * prices by what that core measured. */
static bool ran_before(const capture_elfs *all, capture_elf *e)
{
    const dl_capture_sink sink = {.ctx = e, .core = find_run};
    dl_capture_part *part = all->options->part;
    dl_capture_state state;
    dl_input *in;
    devlog_error unheard;
    if (!e->before || e->searched) return e->found;
    e->searched = true;
    if (dl_input_range(&in, part->path, e->at, part->at, &unheard) != DEVLOG_OK) {
        part->unread = true;
        return false;
    }
    const devlog_status status = dl_capture_read(in, &sink, false, &state, &unheard);
    part->unread |= (status && !e->found) || state.stopped;
    dl_input_close(in);
    return e->found;
}

const dl_elf *capture_elfs_open(const capture_elfs *all, capture_elf *e)
{
    const char *folder = all->options->elf_folder;
    if (e->tried) return e->good ? &e->elf : NULL;
    e->tried = true;
    bool seen = false;
    if (try_elf(e, e->path, &seen)) return &e->elf;
    if (folder) {
        const char *base = strrchr(e->path, '/');
        char *path = dl_path_join(folder, base ? base + 1 : e->path);
        bool good = path && try_elf(e, path, &seen);
        free(path);
        if (good) return &e->elf;
    }
    if (!ran_before(all, e))
        dl_losses_found(all->losses, DL_FOUND_NO_ELF, 1,
                        "%s: %s (of %s) %s; its markers are shown as numbers", all->options->name, e->path,
                        e->source, seen ? "is another build" : "is not there");
    return NULL;
}

/* Tables beyond a number are not made, so which there are depends on those before: all parts together have no more. */
static void note_set(dl_capture_part *part, capture_elf *e, uint32_t number)
{
    const uint64_t of =
        dl_hash_u64(dl_hash_bytes(part->path, strlen(part->path)) ^ ((uint64_t)e->slot << 32 | e->number));
    if (number && number <= e->n_sets) return;
    const uint64_t pair[] = {of, number ? dl_price_book_set(e->prices, number) : 0};
    if (number || e->n_sets < DL_PRICE_TABLES) dl_str_add_n(&part->sets, (const char *)pair, sizeof pair);
    e->n_sets = number ? number : DL_PRICE_TABLES;
}

const dl_prices *capture_elfs_prices(const capture_elfs *all, capture_elf *e, sim_cores cores,
                                     const dl_capture_risc *risc, const dl_price_counts *counts,
                                     uint32_t *number)
{
    const devlog_control *c = &risc->control;
    if (!e->priced)
        e->prices = dl_price_book_open(&e->elf, cores, ran_before(all, e) ? e->first_cost : c->cost);
    e->priced = true;
    if (!e->prices) return NULL;
    const dl_prices *prices =
        dl_price_book_for(e->prices, counts, risc->spans, risc->n_spans, c->dropped == 0, number);
    if (all->options->part) note_set(all->options->part, e, *number);
    return prices;
}
