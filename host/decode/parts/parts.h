/* A log in parts: device logs, also packed ones, are cut into ranges of whole lines, each is decoded by itself, as if nothing were before it,
 * and one part is put behind the other. Whether that was exact is found out then: where something goes on behind a cut
 * (a launch, a clock that jumps, ...) the part is decoded again, behind what is before it. So the result is that of
 * dl_decode_file, file by file, for any number of parts. docs/parts.md */
#ifndef DEVLOG_DECODE_PARTS_H
#define DEVLOG_DECODE_PARTS_H

#include "decode/analysis/analyzer.h"
#include "decode/capture/capture_index.h"
#include "decode/decode.h"
#include "decode/stamps.h"

enum { DL_PARTS_LEAST = 4 * 1024 * 1024 }; /* bytes of a part, where nothing else is wanted */

/* Where a part begins. */
typedef struct dl_cut {
    uint32_t file;
    uint64_t at;
    uint64_t frame; /* of a capture: frames before it */
} dl_cut;

typedef struct dl_parts {
    char *const *paths; /* borrowed */
    uint32_t n_paths;
    uint64_t *sizes;  /* bytes of text */
    uint64_t *stored; /* bytes of the files: of packed ones fewer */
    dl_cut *cuts;     /* n + 1: the last is the end */
    uint32_t n;
    bool captures;  /* all of them are captures: */
    dl_str learned; /* what is known of all of them before one is decoded: their clocks */
    dl_capture_index *index;
    char why[256]; /* why there is one part only; "": it is not so, or was wanted */
} dl_parts;

/* Tells a new decoder, of whichever part, what all of them are told: what is known of captures' clocks. */
devlog_status dl_parts_prepare(const dl_parts *parts, dl_decode *d, devlog_error *err);

/* Cuts these files into at most `wanted` parts, none of which is much smaller than `least` bytes. Cuts are where marks of one
 * RISC end and those of another begin. What cannot be cut is one part. */
devlog_status dl_parts_plan(dl_parts *parts, char *const *paths, size_t n, uint32_t wanted, uint64_t least,
                            devlog_error *err);
void dl_parts_free(dl_parts *parts);

/* Where the parts are, as bytes for another process with the same paths; and back. FORMAT: it is no plan for these. */
devlog_status dl_parts_plan_write(dl_parts *parts, dl_str *out, devlog_error *err);
devlog_status dl_parts_plan_read(dl_parts *parts, char *const *paths, size_t n, const void *bytes,
                                 size_t size, devlog_error *err);
/* IO when a file of part i has not the size any more that it had when it was cut: it grows, or is another one here. */
devlog_status dl_parts_unchanged(const dl_parts *parts, uint32_t i, devlog_error *err);

/* The decoder of a part, new, computes these analyses, too, which go along with it from then on, and so do stamps of default markers,
 * if they are wanted. The list is borrowed (NULL: no analyses); all parts have the same. */
devlog_status dl_parts_collect(dl_decode *d, const dl_analysis_list *list, bool stamps, devlog_error *err);
/* Or: those go along that the caller has given the decoder as sinks of runs, and keeps; NULL: none does. */
void dl_parts_collected(dl_decode *d, dl_analyzer *analyzer, dl_stamps *stamps);
/* NULL: there is none. dl_analyzer_finish is the caller's. */
dl_analyzer *dl_parts_analyzer_of(const dl_decode *d);
dl_stamps *dl_parts_stamps_of(const dl_decode *d);

/* Decodes part i by itself, with a new decoder without filters and other sinks; nothing is finished. */
devlog_status dl_parts_decode(const dl_parts *parts, uint32_t i, dl_decode *d, devlog_error *err);
/* Puts `part` behind what has been decoded, or says why it does not follow exactly: then *why is a text, and nothing that
 * matters has been changed. `launches`: they are put together, too. Afterwards `part` is only to be freed. */
devlog_status dl_parts_add(dl_decode *d, dl_decode *part, bool launches, const char **why, devlog_error *err);
/* Whether `part` may be put behind `d` although `d`, too, is to be put behind something: open zones of both then have lines of
 * one file. */
bool dl_parts_may_add(const dl_decode *d, const dl_decode *part);
/* Decodes part i behind what has been decoded. */
devlog_status dl_parts_go_on(const dl_parts *parts, uint32_t i, dl_decode *d, devlog_error *err);

/* A part that has been decoded, as bytes, for another process; and back, into a new decoder without filters and other sinks. Then
 * either end may put others behind it, or it behind others. What is read may be anything: FORMAT when it is not all there. `leaves` says which samples are
 * left out, DL_WIRE_*; they are far then (far.h), and `part` is the number by which launches of it are asked for. */
devlog_status dl_parts_write(dl_decode *d, uint8_t leaves, uint32_t part, dl_str *out, devlog_error *err);
devlog_status dl_parts_read(dl_decode *d, const void *bytes, size_t n, devlog_error *err);

/* Of a part that has been written, and goes on elsewhere: only its samples and its stamps are asked for any more. */
void dl_parts_only_samples(dl_decode *d);

/* Chips, streams and sites as bytes, or new ones from bytes. */
struct dl_wire;
void dl_parts_names(struct dl_wire *w, dl_tables *t);

/* All of it, with a thread for each part; `d` is new, and options are those that it has been made with. *again: how many
 * parts had to be decoded again, and why the first of them. */
devlog_status dl_parts_run(const dl_parts *parts, dl_decode *d, const dl_decode_options *options,
                           uint32_t *again, const char **why, devlog_error *err);

#endif
