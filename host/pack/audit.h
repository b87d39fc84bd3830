/* What is wrong with a packed log, as its frames come by in order: blocks that are damaged, missing, twice; no
 * end; totals that differ. Names each by where it is in the file and what of the log it costs. Unpacks
 * nothing itself. */
#ifndef DEVLOG_PACK_AUDIT_H
#define DEVLOG_PACK_AUDIT_H

#include <xxhash.h>

#include "base/error.h"
#include "pack/frame.h"

enum { PK_FINDING = 256 };

typedef struct pk_audit {
    void (*found)(void *ctx, const char *text); /* called for each finding */
    void *ctx;
    uint64_t findings;
    uint64_t text;                /* of the log so far, lost parts with it */
    uint64_t lost;                /* bytes of the log, as far as it is known */
    uint64_t blocks;              /* that were good */
    uint64_t skipped, skipped_at; /* bytes that belong to no frame, before this byte; not told yet */
    bool ended;
    bool chosen;                    /* not all of its blocks are asked for */
    uint64_t end_blocks, end_whole; /* as the end tells them */
    XXH64_state_t *whole;
} pk_audit;

bool pk_audit_begin(pk_audit *a, void (*found)(void *ctx, const char *text), void *ctx);
void pk_audit_free(pk_audit *a);

/* The next frame. True: it is a block, whose text is to be unpacked. */
bool pk_audit_frame(pk_audit *a, const pk_frame *frame);
/* The text of a block, in the order of the blocks: why it is lost, or NULL. */
void pk_audit_text(pk_audit *a, const pk_header *h, uint64_t offset, const char *why);
/* After all of them: the end of the file, and how many bytes before it belong to no frame. */
void pk_audit_end(pk_audit *a, uint64_t skipped);

#endif
