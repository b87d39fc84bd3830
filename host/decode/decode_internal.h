/* What the decoder's files share: decode.c (the public door), decode_log.c (device logs) and decode_capture.c
 * (captures). */
#ifndef DEVLOG_DECODE_DECODE_INTERNAL_H
#define DEVLOG_DECODE_DECODE_INTERNAL_H

#include "decode/analysis/groups.h"
#include "decode/decode.h"
#include "decode/log/blocks.h"
#include "decode/log/packed.h"
#include "decode/log/window.h"
#include "decode/pair/order.h"
#include "decode/pipeline.h"

/* What the decoder of a part of a log knows of where it is in it (parts.c). */
typedef struct dl_decode_part {
    bool middle;            /* it began within a file */
    bool later_file;        /* a file has begun since */
    bool chip_first;        /* its first line was a chip line */
    uint32_t headers;       /* chip lines among: */
    uint64_t head;          /* lines that it was told, of the file in hand, .. */
    uint64_t first_head;    /* .. and of the first one */
    dl_chip_line chip;      /* the last of them */
    dl_parser_state before; /* when it had been told them */
    const char *first_source, *source;
    /* Of captures (capture/capture_index.h): */
    bool capture, needs_before, any;
    uint64_t last_time;
    dl_str sets;
    struct dl_analyzer *analyzer; /* goes along with it; NULL: none does */
    struct dl_stamps *stamps;     /* so do these */
    bool owns;                    /* both */
} dl_decode_part;

struct dl_wire;
struct dl_capture_index;

struct dl_decode {
    dl_decode_options options;
    dl_tables tables;
    dl_losses losses;
    dl_parser *parser;
    dl_pair *pair;
    size_t cap;                         /* of a block */
    dl_block blocks[DL_PIPELINE_SLOTS]; /* made when they are needed; one thread needs the first only */
    char **names;                       /* of all inputs: messages borrow them */
    size_t n_names;
    dl_chip_clocks clocks;
    struct decode_grid {
        uint32_t slot;
        chip_grid is;
    } * grids; /* of chips of captures; the first that was told of each */
    size_t n_grids;
    struct decode_rank {
        uint32_t slot, rank;
    } * ranks; /* whose chips of captures are; the first that was told of each */
    size_t n_ranks;
    bool prepared; /* the clocks of all inputs are known */
    dl_input *in;  /* in hand, for progress */
    dl_block_reader reader;
    dl_packed *packed; /* packed logs; made when it is needed */
    dl_marks run;      /* of a run that goes on in the next block, or of a log in disorder */
    dl_marks marks;    /* on one thread */
    dl_run_sink sink;
    pk_index index; /* of the packed log of which only a part is read */
    dl_window window;
    struct dl_capture_index *index_in_hand; /* decode_learn */
    bool disordered;                        /* the log in hand is put in order as a whole */
    dl_decode_part part;
    dl_groups_kept groups;
};

/* decode.c: a chip line. ctx is the decoder. */
devlog_status decode_chip_line(void *ctx, const dl_chip_line *chip, devlog_error *err);
dl_chip_line decode_named_chip(dl_decode *d, const dl_chip_line *chip);

/* decode.c: keeps the name of an input for as long as messages may point to it; NULL: out of memory. */
const char *decode_keep_name(dl_decode *d, const char *name);
/* decode_log.c: an input broke off: what was read stays, the rest is lost. */
void decode_lose_rest(dl_decode *d, const devlog_error *why);
/* decode_log.c: the marks of a device log. */
devlog_status decode_log(dl_decode *d, dl_input *in, const char *name, devlog_error *err);

/* decode_window.c: has only the blocks of a packed log read that the filter wants, when its index knows them. `text`: the
 * log's first bytes. */
void decode_choose_blocks(dl_decode *d, dl_input *in, const char *text, size_t n);

/* decode_disorder.c: whether a log, of which this input is a copy, must be put in order as a whole. Then
 * where its marks go, which waits for: decode_sorted, at the end. */
bool decode_is_disordered(dl_input *in);
dl_parse_sink decode_disorder_sink(dl_decode *d);
devlog_status decode_sorted(dl_decode *d, devlog_error *err);

/* decode_capture.c: whether an input is a capture; what it knows about clocks, which reads it to its end. */
bool decode_is_capture(dl_input *in);
devlog_status decode_learn_from(dl_decode *d, dl_input *in, devlog_error *err);
/* The same for a file; other inputs cannot be read twice, and are left alone. */
bool decode_is_file(const char *path);
devlog_status decode_learn_clocks(dl_decode *d, const char *path, devlog_error *err);
/* All that is to be known of captures before one of them is decoded: where it can be cut, clocks, and which core is where, and whose chip it is; and as
 * bytes, into a decoder that knows nothing yet. */
devlog_status decode_learn(dl_decode *d, dl_input *in, struct dl_capture_index *x, devlog_error *err);
void decode_learned_wire(dl_decode *d, struct dl_wire *w);
/* Marks of a capture; `known`: its clocks have been learned. */
devlog_status decode_capture(dl_decode *d, dl_input *in, const char *name, bool known, devlog_error *err);
/* The same of a part, whose clocks are known. */
struct dl_capture_part;
devlog_status decode_capture_part(dl_decode *d, dl_input *in, const char *name, bool known,
                                  struct dl_capture_part *part, devlog_error *err);
/* At the end: what reports must say about clocks. */
void decode_note_clocks(dl_decode *d);

#endif
