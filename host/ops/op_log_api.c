/* The public functions of the op profiler: each event of an op is one line of the log. */
#include <stdlib.h>
#include <string.h>

#include "base/term.h"
#include "ops/op_log_write.h"
#include "ops/op_stack.h"

static const char *const type_names[] = {"python_fallback", "tt_dnn_cpu", "tt_dnn_device"};
static const char *const fidelity_names[] = {NULL, "LoFi", "HiFi2", "HiFi3", "HiFi4"};

enum {
    N_TYPES = sizeof type_names / sizeof type_names[0],
    N_FIDELITIES = sizeof fidelity_names / sizeof(char *)
};

/* ---- Which ops a thread has open --- */

/* Takes a frame out of the thread's ops; *out is what it held. */
static void remove_frame(ops_thread *t, uint32_t at, ops_frame *out)
{
    *out = t->frames[at];
    if (at < t->inherited) t->inherited--;
    t->depth--;
    memmove(&t->frames[at], &t->frames[at + 1], (t->depth - at) * sizeof *t->frames);
    ops_seen(t);
}

static bool find_frame(const ops_thread *t, uint32_t id, uint32_t *at)
{
    for (uint32_t i = t->depth; i-- > 0;) {
        if (t->frames[i].id != id) continue;
        *at = i;
        return true;
    }
    return false;
}

/* Other threads have ended ops; some may be open here. */
static void forget_ended_elsewhere(ops_thread *t)
{
    devlog_ops *ops = t->ops;
    pthread_mutex_lock(&ops->lock);
    uint32_t n = atomic_load(&ops->n_elsewhere), kept = 0, at;
    for (uint32_t i = 0; i < n; i++) {
        ops_frame gone;
        if (find_frame(t, ops->elsewhere[i], &at))
            remove_frame(t, at, &gone);
        else
            ops->elsewhere[kept++] = ops->elsewhere[i];
    }
    atomic_store(&ops->n_elsewhere, kept);
    pthread_mutex_unlock(&ops->lock);
}

/* When too many are waiting, the oldest is of no op that any thread has open, most likely. */
static void note_ended_elsewhere(devlog_ops *ops, uint32_t id)
{
    pthread_mutex_lock(&ops->lock);
    uint32_t n = atomic_load(&ops->n_elsewhere);
    if (n == OPS_ELSEWHERE) memmove(ops->elsewhere, ops->elsewhere + 1, --n * sizeof ops->elsewhere[0]);
    ops->elsewhere[n++] = id;
    atomic_store(&ops->n_elsewhere, n);
    pthread_mutex_unlock(&ops->lock);
}

/* The calling thread with its open ops up to date. */
static ops_thread *here(devlog_ops *ops)
{
    ops_thread *t = ops ? ops_thread_of(ops) : NULL;
    if (t && atomic_load_explicit(&ops->n_elsewhere, memory_order_relaxed)) forget_ended_elsewhere(t);
    return t;
}

static ops_frame *push(ops_thread *t, uint32_t id, uint32_t depth)
{
    if (t->depth == t->capacity) {
        uint32_t capacity = t->capacity ? 2 * t->capacity : 8;
        ops_frame *bigger = realloc(t->frames, capacity * sizeof *bigger);
        if (!bigger) return NULL;
        t->frames = bigger;
        t->capacity = capacity;
    }
    ops_frame *f = &t->frames[t->depth++];
    *f = (ops_frame){.id = id, .depth = depth};
    ops_seen(t);
    return f;
}

static void charge(ops_thread *t, uint64_t since)
{
    if (t->depth) t->frames[t->depth - 1].own_ns += dl_now_ns() - since;
}

void ops_count(devlog_ops *ops, devlog_api api, uint64_t ns, uint64_t bytes)
{
    if (!ops) return;
    if (api == DEVLOG_API_COMPILE_PROGRAM)
        atomic_fetch_add_explicit(&ops->compile_ns, ns, memory_order_relaxed);
    ops_thread *t = pthread_getspecific(ops->key);
    if (!t || t->depth == 0) return;
    ops_frame *f = &t->frames[t->depth - 1];
    f->api[api].calls++;
    f->api[api].total_ns += ns;
    if (api == DEVLOG_API_READ_FROM_DEVICE) f->read_bytes += bytes;
    if (api == DEVLOG_API_WRITE_TO_DEVICE) f->written_bytes += bytes;
}

/* ---- Ops --- */

static void describe(ops_thread *t, const devlog_op *op)
{
    ops_text_if(t, "fidelity", (unsigned)op->fidelity < N_FIDELITIES ? fidelity_names[op->fidelity] : NULL);
    if (op->cores) ops_number(t, "cores", op->cores);
    ops_text_if(t, "strategy", op->strategy);
}

static void write_stack(ops_thread *t, uint32_t id)
{
    ops_line(t, "stack");
    ops_number(t, "id", id);
    dl_str_add(&t->line, ",\"frames\":[");
    dl_str_add_n(&t->line, t->stack.text, t->stack.len);
    dl_str_char(&t->line, ']');
    t->line.failed |= t->stack.failed;
    t->stack.failed = false;
    ops_write(t);
}

uint32_t devlog_op_start(devlog_ops *ops, const devlog_op *op)
{
    ops_thread *t = here(ops);
    if (!t) return 0;
    uint64_t entered = dl_now_ns();
    dl_str_clear(&t->stack);
    if (ops->stacks) op_stack_add(&t->stack, ops->stacks);
    uint32_t id = atomic_fetch_add(&ops->run.shared->next_op, 1);
    atomic_fetch_add_explicit(&ops->n_ops, 1, memory_order_relaxed);
    const dl_open_op parent = ops_innermost(t);
    ops_line(t, "start");
    ops_number(t, "id", id);
    size_t at = t->line.len;
    ops_number(t, "thread", t->number);
    ops_number(t, "depth", parent.depth + 1);
    if (parent.id) ops_number(t, "parent", parent.id);
    dl_str_add(&t->line, ",\"name\":");
    const char *name = op->name ? op->name : "";
    dl_str_json(&t->line, name, strlen(name));
    ops_text_if(t, "type", type_names[(unsigned)op->type < N_TYPES ? op->type : 0]);
    describe(t, op);
    uint64_t started = dl_now_ns();
    if (t->depth) t->frames[t->depth - 1].own_ns += started - entered;
    /* The time goes behind the id, where readers look first; it is taken last, so that making the line is not
     * counted as the op's. */
    char digits[DL_U64_DIGITS];
    size_t n = (size_t)(dl_digits(digits, started) - digits), gap = n + 5;
    if (dl_str_reserve(&t->line, gap)) {
        memmove(t->line.text + at + gap, t->line.text + at, t->line.len - at);
        memcpy(t->line.text + at, ",\"t\":", 5);
        memcpy(t->line.text + at + 5, digits, n);
        t->line.len += gap;
    }
    ops_write(t);
    if (t->stack.len) write_stack(t, id);
    ops_frame *f = push(t, id, parent.depth + 1);
    if (f) f->own_ns = dl_now_ns() - started;
    return id;
}

/* Calls and ns of each; of reads and writes their bytes, too. */
static void api_calls(ops_thread *t, const ops_frame *f)
{
    const devlog_api_stats *api = f->api;
    bool any = false;
    for (int i = 0; i < DEVLOG_API_COUNT; i++) {
        if (api[i].calls == 0) continue;
        dl_str_add(&t->line, any ? ",\"" : ",\"api\":{\"");
        dl_str_add(&t->line, devlog_api_name((devlog_api)i));
        dl_str_add(&t->line, "\":[");
        dl_str_u64(&t->line, api[i].calls);
        dl_str_char(&t->line, ',');
        dl_str_u64(&t->line, api[i].total_ns);
        if (i == DEVLOG_API_READ_FROM_DEVICE || i == DEVLOG_API_WRITE_TO_DEVICE) {
            dl_str_char(&t->line, ',');
            dl_str_u64(&t->line, i == DEVLOG_API_READ_FROM_DEVICE ? f->read_bytes : f->written_bytes);
        }
        dl_str_char(&t->line, ']');
        any = true;
    }
    if (any) dl_str_char(&t->line, '}');
}

void devlog_op_end(devlog_ops *ops, uint32_t id)
{
    if (!ops || id == 0) return;
    uint64_t ended = dl_now_ns();
    ops_thread *t = here(ops);
    if (!t) return;
    ops_frame gone = {0};
    uint32_t at;
    bool known = find_frame(t, id, &at), inherited = known && at < t->inherited;
    if (known) remove_frame(t, at, &gone);
    if (inherited) return; /* the process that began it ends it */
    ops_line(t, "end");
    ops_number(t, "id", id);
    ops_number(t, "t", ended);
    ops_number(t, "thread", t->number);
    if (known) {
        ops_number(t, "own", gone.own_ns);
        api_calls(t, &gone);
    } else {
        note_ended_elsewhere(ops, id);
    }
    ops_write(t);
    if (t->depth) t->frames[t->depth - 1].own_ns += gone.own_ns + dl_now_ns() - ended;
}

uint32_t devlog_op_current(devlog_ops *ops)
{
    ops_thread *t = here(ops);
    return t && t->depth ? t->frames[t->depth - 1].id : 0;
}

/* ---- Events inside an op --- */

uint32_t ops_current(devlog_ops *ops)
{
    ops_thread *t = here(ops);
    return t ? ops_innermost(t).id : 0;
}

/* Begins the line of an event of an op; NULL: there is nothing to write. */
static ops_thread *about(devlog_ops *ops, const char *event, uint32_t id)
{
    ops_thread *t = here(ops);
    if (!t) return NULL;
    if (id == 0) id = ops_innermost(t).id;
    ops_line(t, event);
    ops_number(t, "id", id);
    return t;
}

static void four(dl_str *s, const char *key, const uint64_t *values)
{
    dl_str_add(s, key);
    for (int i = 0; i < 4; i++) {
        if (i) dl_str_char(s, ',');
        dl_str_u64(s, values[i]);
    }
    dl_str_char(s, ']');
}

static void tensor(devlog_ops *ops, const char *event, uint32_t id, const devlog_tensor *tensor)
{
    if (!ops) return;
    uint64_t entered = dl_now_ns();
    ops_thread *t = about(ops, event, id);
    if (!t) return;
    const uint64_t shape[4] = {tensor->w, tensor->z, tensor->y, tensor->x};
    static const uint64_t none[4];
    four(&t->line, ",\"shape\":[", shape);
    if (memcmp(tensor->logical, none, sizeof none) != 0) four(&t->line, ",\"logical\":[", tensor->logical);
    ops_text_if(t, "layout", tensor->layout);
    ops_text_if(t, "dtype", tensor->data_type);
    ops_text_if(t, "memory", tensor->memory);
    ops_write(t);
    charge(t, entered);
}

void devlog_op_input(devlog_ops *ops, uint32_t id, const devlog_tensor *t)
{
    tensor(ops, "in", id, t);
}

void devlog_op_output(devlog_ops *ops, uint32_t id, const devlog_tensor *t)
{
    tensor(ops, "out", id, t);
}

void devlog_op_set(devlog_ops *ops, uint32_t id, const devlog_op *op)
{
    if (!ops) return;
    uint64_t entered = dl_now_ns();
    ops_thread *t = about(ops, "set", id);
    if (!t) return;
    ops_text_if(t, "name", op->name);
    describe(t, op);
    ops_write(t);
    charge(t, entered);
}

void devlog_op_append_meta_data(devlog_ops *ops, uint32_t id, const char *text)
{
    if (!ops || !text) return;
    uint64_t entered = dl_now_ns();
    ops_thread *t = about(ops, "meta", id);
    if (!t) return;
    ops_text_if(t, "text", text);
    ops_write(t);
    charge(t, entered);
}

/* A point in the run; `after` is the op that was started last, so that it has a place among them. */
static ops_thread *point(devlog_ops *ops, const char *event, uint64_t at)
{
    ops_thread *t = here(ops);
    if (!t) return NULL;
    ops_line(t, event);
    ops_number(t, "after", atomic_load(&ops->run.shared->next_op) - 1);
    ops_number(t, "t", at);
    ops_number(t, "thread", t->number);
    return t;
}

void devlog_signpost(devlog_ops *ops, const char *header, const char *message)
{
    if (!ops) return;
    uint64_t entered = dl_now_ns();
    ops_thread *t = point(ops, "signpost", entered);
    if (!t) return;
    ops_text_if(t, "header", header);
    ops_text_if(t, "text", message);
    ops_write(t);
    charge(t, entered);
}

void devlog_step(devlog_ops *ops, uint64_t number, const char *name)
{
    if (!ops) return;
    uint64_t entered = dl_now_ns();
    ops_thread *t = point(ops, "step", entered);
    if (!t) return;
    ops_number(t, "n", number);
    ops_text_if(t, "name", name);
    ops_write(t);
    charge(t, entered);
}
