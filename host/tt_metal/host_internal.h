/* What the files of the host's side share: keeping what messages say. Included by host.c and
 * host_messages.c. Where a bool is returned, false is: out of memory. */
#ifndef DEVLOG_TT_METAL_HOST_INTERNAL_H
#define DEVLOG_TT_METAL_HOST_INTERNAL_H

#include "tt_metal/host.h"

/* An op with an id of its own, or one that takes the place of an earlier one, as in tt-metal's script. */
bool tt_host_add_op(tt_host *h, const tt_op *op);
/* The JSON of a cached op: number, or TT_NONE. */
uint32_t tt_host_known_json(tt_host *h, uint32_t device, uint64_t hash);
bool tt_host_remember(tt_host *h, uint32_t device, uint64_t hash, uint32_t json);
/* Which trace a device captures now; TT_NONE: none. */
bool tt_host_capture(tt_host *h, uint32_t device, uint32_t trace);
uint32_t tt_host_capturing(const tt_host *h, uint32_t device);
bool tt_host_add_replay(tt_host *h, uint32_t device, uint32_t trace, uint64_t ns);
bool tt_host_add_signpost(tt_host *h, const char *text, size_t n, uint64_t ns);
/* Its number; TT_NONE: out of memory. Of `about` all but where it is. */
uint32_t tt_host_keep_json(tt_host *h, const char *text, size_t n, const tt_json *about);
/* The members of a JSON; of a cut one as far as they come. */
void tt_host_span(jl_reader *r, const char *text, size_t n, bool cut);

#endif
