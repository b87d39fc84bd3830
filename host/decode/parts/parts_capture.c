/* A log in parts: captures. Frames of a part are read behind the chips and ELF files of those before it. */
#include <stdlib.h>
#include <string.h>

#include "decode/capture/capture_index.h"
#include "decode/decode_internal.h"
#include "decode/parts/parts_internal.h"
#include "decode/price/price.h"

/* A file of captures, or what of it is in the part from `from` to `to`; `goes_on`: all before it has been decoded. Frames are numbered as they are in
 * the file, and captures by their places among the inputs. */
static devlog_status decode_capture_file(const dl_parts *p, dl_cut from, dl_cut to, uint32_t file,
                                         dl_decode *d, bool goes_on, devlog_error *err)
{
    enum { FRAME_BITS = 32 };
    const uint64_t at = file == from.file ? from.at : 0, size = p->sizes[file];
    dl_capture_part range = {.index = &p->index[file],
                             .path = p->paths[file],
                             .at = at,
                             .frame = at ? from.frame : 0,
                             .last = file < to.file,
                             .last_time = at && goes_on ? d->part.last_time : 0,
                             .any = !at || goes_on};
    dl_input *in = NULL;
    devlog_status status = parts_begin(d, p->paths[file], err);
    if (status) return status;
    const char *name = d->part.source;
    dl_pair_begin_file(d->pair, (uint64_t)file << FRAME_BITS, dl_tables_text(&d->tables, name, strlen(name)));
    if (!at && range.last) {
        status = dl_input_open(&in, name, err);
        if (!status && !size) dl_losses_empty(&d->losses, name);
        if (!status) status = decode_capture(d, in, name, true, err);
    } else {
        status = dl_input_range(&in, name, at, range.last ? size : to.at, err);
        if (!status) status = decode_capture_part(d, in, name, true, &range, err);
    }
    dl_input_close(in);
    d->part.last_time = range.last_time;
    d->part.any |= range.any;
    d->part.needs_before |= range.needs_before;
    if (range.sets.len) dl_str_add_n(&d->part.sets, range.sets.text, range.sets.len);
    if (range.sets.failed || d->part.sets.failed) status = dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    dl_str_free(&range.sets);
    return status;
}

devlog_status parts_captures(const dl_parts *p, uint32_t i, dl_decode *d, bool goes_on, devlog_error *err)
{
    const dl_cut from = p->cuts[i], to = p->cuts[i + 1];
    devlog_status status = dl_parts_prepare(p, d, err);
    for (uint32_t file = from.file; file < p->n_paths && !status; file++) {
        if (file > to.file || (file == to.file && !to.at)) break;
        status = decode_capture_file(p, from, to, file, d, goes_on, err);
        if (file == from.file && !goes_on) d->part.first_source = d->part.source;
    }
    return status;
}

typedef struct price_set {
    uint64_t elf, set;
} price_set;

static int by_set(const void *a, const void *b)
{
    const price_set *x = a, *y = b;
    if (x->elf != y->elf) return x->elf < y->elf ? -1 : 1;
    return x->set == y->set ? 0 : x->set < y->set ? -1 : 1;
}

/* Of what parts know of the sets of markers that launches passed, each once. One process makes as many tables of prices of an ELF file as there are
 * sets, up to a number: where there are more, its prices depend on which came first. */
devlog_status parts_check_sets(dl_decode *d, devlog_error *err)
{
    dl_str *sets = &d->part.sets;
    const size_t n = sets->len / sizeof(price_set);
    price_set *all = malloc((n + 1) * sizeof *all);
    size_t kept = 0, of_elf = 0, most = 0;
    if (!all || sets->failed) {
        free(all);
        return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    }
    if (n) memcpy(all, sets->text, n * sizeof *all);
    qsort(all, n, sizeof *all, by_set);
    for (size_t i = 0; i < n; i++) {
        if (i && by_set(&all[i - 1], &all[i]) == 0) continue;
        of_elf = kept && all[kept - 1].elf == all[i].elf ? of_elf + 1 : 1;
        most = of_elf > most ? of_elf : most;
        all[kept++] = all[i];
    }
    dl_str_clear(sets);
    dl_str_add_n(sets, (const char *)all, kept * sizeof *all);
    free(all);
    if (most < DL_PRICE_TABLES) return DEVLOG_OK;
    return dl_fail(
        err, DEVLOG_ERR_UNSUPPORTED,
        "%s: launches of one ELF file passed its markers in more than %d ways, whose prices depend on which came first: decode "
        "it without -j and --parts",
        d->part.source ? d->part.source : "", DL_PRICE_TABLES - 1);
}
