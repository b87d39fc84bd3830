/* Blocks: an input cut into pieces of whole lines. */
#include "decode/log/blocks.h"

#include <stdlib.h>
#include <string.h>

bool dl_block_init(dl_block *b, size_t cap)
{
    /* What is read beyond the text never matters, but it shall be the same on every run. */
    *b = (dl_block){.cap = cap, .buffer = calloc(1, DL_PARSE_BEFORE + cap + DL_PARSE_AFTER)};
    return b->buffer != NULL;
}

void dl_block_free(dl_block *b)
{
    free(b->buffer);
    dl_marks_free(&b->marks);
    dl_marks_free(&b->carry);
    dl_outbox_free(&b->out);
    free(b->chips);
    free(b->stored);
    *b = (dl_block){0};
}

static void broken(dl_block *b, devlog_status status, const dl_input *in, const char *why)
{
    b->broken = true;
    dl_fail(&b->why, status, "cannot unpack %s: %s", dl_input_name(in), why);
}

/* The next block of a packed log; the last one is empty. */
static void read_packed(dl_block_reader *r, dl_block *b)
{
    const uint8_t *stored;
    int there = pk_unpack_block_next(r->packed, &b->header, &stored);
    b->text = b->buffer + DL_PARSE_BEFORE;
    b->n = 0;
    b->packed = true;
    if (there > 0 && b->header.stored > b->cap_stored) {
        free(b->stored);
        b->stored = malloc(b->header.stored);
        b->cap_stored = b->stored ? b->header.stored : 0;
    }
    if (there > 0 && b->cap_stored)
        memcpy(b->stored, stored, b->header.stored);
    else if (there > 0)
        broken(b, DEVLOG_ERR_MEMORY, r->in, "out of memory");
    else if (there < 0)
        broken(b, DEVLOG_ERR_FORMAT, r->in,
               pk_unpack_why(r->packed) ? pk_unpack_why(r->packed) : "it cannot be read");
    b->line = pk_unpack_line(r->packed);
    b->last = there <= 0 || !b->cap_stored;
}

void dl_block_read(dl_block_reader *r, dl_block *b)
{
    if (r->packed) {
        b->last = b->too_long = b->broken = false;
        b->n_chips = 0;
        dl_marks_clear(&b->marks);
        read_packed(r, b);
        b->taken = dl_input_taken(r->in);
        return;
    }
    char *text = b->buffer + DL_PARSE_BEFORE;
    size_t have = r->n_rest;
    if (have) memmove(text, r->rest, have);
    b->last = b->too_long = b->broken = b->packed = false;
    b->n_chips = 0;
    dl_marks_clear(&b->marks);
    for (;;) {
        size_t got = 0;
        if (dl_input_read(r->in, text + have, b->cap - have, &got, &b->why) != DEVLOG_OK) {
            b->broken = true;
            got = 0;
        }
        if (got == 0) {
            b->last = true;
            b->text = text;
            b->n = r->skipping ? 0 : have;
            r->n_rest = 0;
            break;
        }
        const char *last = memrchr(text + have, '\n', got);
        have += got;
        if (!last && have < b->cap) continue;
        if (!last) {
            /* A line longer than the block: it has no row that anybody wrote. */
            if (!r->skipping) b->too_long = true;
            r->skipping = true;
            have = 0;
            continue;
        }
        b->text = r->skipping ? (const char *)memchr(text, '\n', have) + 1 : text;
        b->n = (size_t)(last + 1 - b->text);
        r->skipping = false;
        r->rest = last + 1;
        r->n_rest = (size_t)(text + have - r->rest);
        break;
    }
    b->taken = dl_input_taken(r->in);
}

devlog_status dl_block_add_chip(dl_block *b, const dl_chip_line *chip, devlog_error *err)
{
    if (b->n_chips == b->cap_chips) {
        size_t cap = b->cap_chips ? b->cap_chips * 2 : 64;
        dl_block_chip *chips = realloc(b->chips, cap * sizeof *chips);
        if (!chips) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
        b->chips = chips;
        b->cap_chips = cap;
    }
    b->chips[b->n_chips++] = (dl_block_chip){b->marks.n, *chip};
    return DEVLOG_OK;
}
