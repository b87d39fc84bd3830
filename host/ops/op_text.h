/* What the op log says about one op: name, attributes, tensors, calls of the API; read again from its lines.
 */
#ifndef DEVLOG_OPS_OP_TEXT_H
#define DEVLOG_OPS_OP_TEXT_H

#include <string.h>

#include "devlog/devlog.h"
#include "ops/op_log.h"

/* Of reads and writes in logs that do not count their bytes. */
#define OP_BYTES_UNKNOWN UINT64_MAX

/* A piece of the texts that belong to it. */
typedef struct op_piece {
    uint32_t at, len;
} op_piece;

typedef struct op_tensor {
    uint64_t shape[4], logical[4]; /* W, Z, Y, X */
    op_piece layout, data_type, memory;
} op_tensor;

/* What the start of an op says, as cells of a CSV. */
typedef struct op_start_cells {
    const char *text;
    op_piece name, type, fidelity, strategy;
} op_start_cells;

typedef struct op_text {
    dl_str texts; /* storage of all pieces */
    op_piece name, type, fidelity, strategy;
    const op_start_cells *cells; /* the same four; NULL: not at hand */
    uint64_t cores;              /* 0: not said */
    uint64_t own;                /* ns that the log itself took inside the op */
    dl_str attributes;
    dl_str stack;       /* "nn.py:12 softmax < nn.py:30 main": who called, innermost first */
    op_piece *in, *out; /* what the lines of its tensors say: for op_tensor_read */
    uint32_t n_in, n_out, cap_in, cap_out;
    devlog_api_stats api[DEVLOG_API_COUNT];
    uint64_t bytes[DEVLOG_API_COUNT]; /* that these calls moved; OP_BYTES_UNKNOWN */
    struct op_start_cache *starts;
    uint32_t damaged; /* lines that could not be read as JSON to their end */
    bool no_memory;
} op_text;

/* Reads it. The op_text is used again for the next op; free it with op_text_free. */
void op_text_read(op_text *t, op_log *log, const op_entry *op);
/* As of an op that nothing is said about. */
void op_text_clear(op_text *t);
void op_text_free(op_text *t);

/* A tensor of what op_text.in or .out holds; its texts are appended to `texts`. */
void op_tensor_read(op_tensor *tensor, const char *said, size_t n, dl_str *texts);

/* Header and message of a signpost, name of a step, as pieces of t->texts: name and strategy. */
void op_text_point(op_text *t, op_log *log, const op_point *p, uint64_t *number);

static inline const char *op_piece_text(const op_text *t, op_piece p)
{
    return p.len ? t->texts.text + p.at : "";
}

/* Appends a user's meta data to attributes: the members of a JSON object as 'key': 'value', other text as it
 * is; parts are separated by "; ". */
void op_attribute_add(dl_str *attributes, const char *text, size_t n);

/* Spreads wordings over a table. */
static inline uint64_t op_wording_hash(const char *text, size_t n)
{
    uint64_t h = n * UINT64_C(0x9E3779B97F4A7C15), a, b;
    for (; n >= 16; text += 16, n -= 16) {
        memcpy(&a, text, 8);
        memcpy(&b, text + 8, 8);
        h = (h ^ a) * UINT64_C(0xBF58476D1CE4E5B9) ^ (b + (h >> 32)) * UINT64_C(0x94D049BB133111EB);
        h ^= h >> 29;
    }
    for (; n; text += n < 8 ? n : 8, n -= n < 8 ? n : 8) {
        a = 0;
        memcpy(&a, text, n < 8 ? n : 8);
        h = (h ^ a) * UINT64_C(0xBF58476D1CE4E5B9);
        h ^= h >> 32;
    }
    return h ^ h >> 17;
}

#endif
