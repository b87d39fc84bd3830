/* What is wrong with a packed log. See pack/audit.h. */
#include "pack/audit.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

bool pk_audit_begin(pk_audit *a, void (*found)(void *ctx, const char *text), void *ctx)
{
    *a = (pk_audit){.found = found, .ctx = ctx, .whole = XXH64_createState()};
    if (a->whole) XXH64_reset(a->whole, 0);
    return a->whole != NULL;
}

void pk_audit_free(pk_audit *a)
{
    XXH64_freeState(a->whole);
    a->whole = NULL;
}

static void DL_PRINTF(2, 3) found(pk_audit *a, const char *fmt, ...)
{
    char text[PK_FINDING];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    a->findings++;
    a->found(a->ctx, text);
}

/* The log goes on at `at`; what is before that and has not come is lost. */
static void go_to(pk_audit *a, uint64_t at, uint64_t offset)
{
    if (a->chosen && !a->skipped) {
        a->text = at;
    } else if (at > a->text) {
        a->lost += at - a->text;
        found(a, "bytes %" PRIu64 " to %" PRIu64 " of the log are lost: %s %" PRIu64 " of the packed file",
              a->text, at,
              a->skipped ? "there is damage before byte" : "their blocks are missing before byte",
              a->skipped ? a->skipped_at : offset);
        a->text = at;
    } else if (a->skipped) {
        found(a,
              "%" PRIu64 " bytes before byte %" PRIu64
              " of the packed file belong to nothing; no text is lost there",
              a->skipped, a->skipped_at);
    }
    a->skipped = 0;
}

static void judge_end(pk_audit *a, const pk_frame *f)
{
    go_to(a, f->header.at, f->offset);
    a->ended = true;
    a->end_blocks = UINT64_MAX;
    if (f->header.stored != PK_END_BYTES || !f->header.plain) {
        found(a, "its end, at byte %" PRIu64 " of the packed file, is of another version", f->offset);
        return;
    }
    a->end_blocks = pk_get64(f->stored);
    a->end_whole = pk_get64(f->stored + 24);
}

bool pk_audit_frame(pk_audit *a, const pk_frame *f)
{
    const pk_header *h = &f->header;
    if (f->skipped) a->skipped_at = f->offset;
    a->skipped += f->skipped;
    if (a->ended) {
        found(a, "something follows its end, at byte %" PRIu64 " of the packed file, and is left out",
              f->offset);
        return false;
    }
    if (!pk_header_is_known(h)) {
        found(a,
              "the frame at byte %" PRIu64
              " of the packed file is of a newer version (%u.%u) and is left out",
              f->offset, h->kind, h->version);
        return false;
    }
    if (h->kind == PK_END) judge_end(a, f);
    if (h->kind != PK_BLOCK) return false;
    if (h->at < a->text) {
        found(a,
              "the block at byte %" PRIu64 " of the packed file holds what has come before, and is left out",
              f->offset);
        return false;
    }
    go_to(a, h->at, f->offset);
    a->text += h->size;
    return true;
}

void pk_audit_text(pk_audit *a, const pk_header *h, uint64_t offset, const char *why)
{
    uint8_t check[8];
    if (why) {
        a->lost += h->size;
        found(a, "bytes %" PRIu64 " to %" PRIu64 " of the log are lost: the block at byte %" PRIu64 ": %s",
              h->at, h->at + h->size, offset, why);
    } else {
        a->blocks++;
        pk_put64(check, h->text_check);
        XXH64_update(a->whole, check, sizeof check);
    }
}

void pk_audit_end(pk_audit *a, uint64_t skipped)
{
    if (!a->ended)
        found(a, "it has no end after byte %" PRIu64 " of the log: what writes it still runs or was killed%s",
              a->text, skipped ? ", or its end is damaged" : "");
    else if (!a->findings && !a->chosen &&
             (a->end_blocks != a->blocks || a->end_whole != XXH64_digest(a->whole)))
        found(a, "the checks of its blocks are not those that its end tells");
    if (a->ended && skipped) found(a, "%" PRIu64 " bytes follow its end and are left out", skipped);
}
