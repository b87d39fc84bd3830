/* The lines of an op log: what each kind of event adds to it. Not for the file (op_log.c) and not for texts
 * (op_text.c). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/intern.h"
#include "ops/op_log_internal.h"

enum { MAX_BLOCK = 64 * 1024, MAX_ENTRIES = 256 * 1024 * 1024 };

bool op_log_room(void **array, size_t n, size_t *cap, size_t size)
{
    if (n < *cap) return true;
    size_t more = *cap ? *cap * 2 : 64;
    if (more > MAX_ENTRIES) return false;
    void *grown = realloc(*array, more * size);
    if (!grown) return false;
    *array = grown;
    *cap = more;
    return true;
}

/* The same for ops and launches, of which there may be very many. */
static bool big_room(void **array, size_t n, dl_big *big, size_t size)
{
    if (n < big->bytes / size) return true;
    if (n >= MAX_ENTRIES || !dl_big_room(big, (n < 64 ? 64 : n + 1) * size)) return false;
    *array = big->data;
    return true;
}
#define BIG_ROOM(log, what)                                                                                  \
    big_room((void **)&(log)->what, (log)->n_##what, &(log)->big_##what, sizeof *(log)->what)

/* ---- Ops by id --- */

op_entry *op_log_find(const op_log *log, uint32_t id)
{
    /* Ids are given in order, and nearly always stand in the log so. */
    size_t guess = log->n_ops ? (size_t)id - log->ops[0].id : 0;
    if (guess < log->n_ops && log->ops[guess].id == id && !(log->ops[guess].flags & OP_IS_DUPLICATE))
        return &log->ops[guess];
    if (log->in_order || log->n_slots == 0) return NULL;
    for (size_t at = dl_hash_u64(id) & (log->n_slots - 1);; at = (at + 1) & (log->n_slots - 1)) {
        if (log->slots[at] == 0) return NULL;
        op_entry *op = &log->ops[log->slots[at] - 1];
        if (op->id == id) return op;
    }
}

static void enter(op_log *log, uint32_t number)
{
    size_t at = dl_hash_u64(log->ops[number].id) & (log->n_slots - 1);
    while (log->slots[at])
        at = (at + 1) & (log->n_slots - 1);
    log->slots[at] = number + 1;
}

/* The table is made when an id comes out of order. */
static bool grow_slots(op_log *log)
{
    if (log->in_order || (log->n_ops + 1) * 2 <= log->n_slots) return true;
    size_t n = log->n_slots ? log->n_slots * 2 : 1024;
    while (n < (log->n_ops + 1) * 2)
        n *= 2;
    uint32_t *slots = calloc(n, sizeof *slots);
    if (!slots) return false;
    free(log->slots);
    log->slots = slots;
    log->n_slots = n;
    for (size_t i = 0; i < log->n_ops; i++)
        if (!(log->ops[i].flags & OP_IS_DUPLICATE)) enter(log, (uint32_t)i);
    return true;
}

/* ---- Lines --- */

/* The members of a line that the first pass needs. */
typedef struct head {
    uint64_t id, t, thread, depth, chip, launch, program, cores, cached, after, ops, lost, mhz, profiled,
        forked, boot, compile_ns;
    jl_value run, arch, board;
} head;

static uint64_t *number_of(head *h, const char *key, size_t n)
{
#define KEY(name) (n == sizeof #name - 1 && memcmp(key, #name, sizeof #name - 1) == 0)
    switch (n) {
    case 1: return KEY(t) ? &h->t : NULL;
    case 2: return KEY(id) ? &h->id : NULL;
    case 3: return KEY(mhz) ? &h->mhz : KEY(ops) ? &h->ops : NULL;
    case 4: return KEY(chip) ? &h->chip : KEY(lost) ? &h->lost : KEY(boot) ? &h->boot : NULL;
    case 5: return KEY(depth) ? &h->depth : KEY(cores) ? &h->cores : KEY(after) ? &h->after : NULL;
    case 6:
        return KEY(thread)   ? &h->thread
               : KEY(launch) ? &h->launch
               : KEY(cached) ? &h->cached
               : KEY(forked) ? &h->forked
                             : NULL;
    case 7: return KEY(program) ? &h->program : NULL;
    case 8: return KEY(profiled) ? &h->profiled : NULL;
    case 10: return KEY(compile_ns) ? &h->compile_ns : NULL;
    default: return NULL;
    }
#undef KEY
}

/* A number just as devlog writes it, ,"key":123, behind which the object goes on or ends. What is not that,
 * or stands elsewhere, is left to jl_next. */
static inline void quick_number(jl_reader *r, const char *key, uint64_t *to)
{
    enum { MOST_DIGITS = 19 };
    size_t n = strlen(key); /* known when compiling */
    if (!r->begun || (size_t)(r->end - r->at) <= n || memcmp(r->at, key, n) != 0) return;
    const char *first = r->at + n, *at = first, *end = r->end;
    uint64_t value = 0;
    for (unsigned digit; at < end && (digit = (unsigned)*at - '0') < 10; at++)
        value = value * 10 + digit;
    if (at == first || at - first > MOST_DIGITS || (at < end && *at != ',')) return;
    *to = value;
    r->at = at;
}

/* Whether an object goes on with these bytes. */
static inline bool goes_on(const jl_reader *r, const char *with)
{
    return r->begun && (size_t)(r->end - r->at) > strlen(with) && memcmp(r->at, with, strlen(with)) == 0;
}

/* Reads members, up to one of that name when it is given. False when the line is no JSON as far as that, or a
 * number that is wanted is none of ours: no half of it is taken for the whole. */
static bool read_head(jl_reader *r, const char *until, head *out)
{
    jl_value v;
    jl_kind kind;
    while ((kind = jl_next(r, &v)) > JL_BAD) {
        if (until && jl_key_is(&v, until)) return true;
        uint64_t *to = v.kind == JL_NUMBER || v.kind == JL_REAL ? number_of(out, v.key, v.key_len) : NULL;
        if (to && v.kind == JL_REAL) return false;
        if (to) *to = v.number;
        if (v.kind == JL_WORD && (to = number_of(out, v.key, v.key_len)))
            *to = v.len == 4 && memcmp(v.text, "true", 4) == 0;
        if (v.kind != JL_TEXT) continue;
        if (jl_key_is(&v, "run")) out->run = v;
        if (jl_key_is(&v, "arch")) out->arch = v;
        if (jl_key_is(&v, "board")) out->board = v;
    }
    return kind == JL_END;
}

bool op_log_bad_line(op_log *log, const op_place *p)
{
    op_log_found(log, OP_BAD_LINE, 1, p->line, "%.*s", (int)(p->len < 60 ? p->len : 60), p->text);
    return true;
}

static void copy_text(char *out, size_t size, const jl_value *v)
{
    snprintf(out, size, "%.*s", (int)(v->len < size ? v->len : size - 1), v->len ? v->text : "");
}

static bool take_start(op_log *log, jl_reader *r, const op_place *p)
{
    head h = {0};
    uint64_t parent; /* its own start says enough of it */
    quick_number(r, ",\"id\":", &h.id);
    quick_number(r, ",\"t\":", &h.t);
    quick_number(r, ",\"thread\":", &h.thread);
    quick_number(r, ",\"depth\":", &h.depth);
    quick_number(r, ",\"parent\":", &parent);
    size_t name = goes_on(r, ",\"name\":") ? (size_t)(r->at - p->text) : 0;
    if (!name && !read_head(r, "name", &h)) return op_log_bad_line(log, p);
    bool whole = h.id && h.t && h.depth; /* else it is in somebody else's order */
    if (!whole && !read_head(r, NULL, &h)) return op_log_bad_line(log, p);
    if (h.id == 0 || h.id > UINT32_MAX || h.t == 0) {
        op_log_found(log, OP_BAD_LINE, 1, p->line, "an op without %s",
                     !h.t   ? "a time"
                     : h.id ? "an id that fits into 32 bits"
                            : "an id");
        return true;
    }
    if (h.thread > OP_MOST_THREAD || h.depth > UINT16_MAX) { /* cut, it would be another's */
        op_log_found(log, OP_BAD_LINE, 1, p->line,
                     "op %llu on thread %llu, at depth %llu: more than %d, or %d", (unsigned long long)h.id,
                     (unsigned long long)h.thread, (unsigned long long)h.depth, OP_MOST_THREAD, UINT16_MAX);
        return true;
    }
    log->in_order &= log->n_ops == 0 || h.id == log->ops[log->n_ops - 1].id + (uint64_t)1;
    if (!BIG_ROOM(log, ops) || !grow_slots(log)) return false;
    bool again = op_log_find(log, (uint32_t)h.id) != NULL;
    if (again)
        op_log_found(log, OP_DUPLICATE, 1, p->line, "op %llu started before", (unsigned long long)h.id);
    log->ops[log->n_ops] = (op_entry){.start = h.t,
                                      .at_start = p->at,
                                      .len_start = p->len,
                                      .name_at = name <= UINT8_MAX ? (uint8_t)name : 0,
                                      .id = (uint32_t)h.id,
                                      .thread = (uint32_t)h.thread & OP_MOST_THREAD,
                                      .depth = (uint16_t)h.depth,
                                      .flags = again ? OP_IS_DUPLICATE : 0};
    if (!again && !log->in_order) enter(log, (uint32_t)log->n_ops);
    if (++log->n_ops % OP_LOG_PASSED == 0) op_log_cool(log);
    log->run_op = (uint32_t)log->n_ops;
    log->run_end = p->at + p->len + 1;
    log->run_id_len = (uint32_t)(dl_digits(log->run_id, h.id) - log->run_id);
    log->run_id[log->run_id_len++] = ',';
    return true;
}

void op_log_pass_over(op_log *log, const op_place *p)
{
    if (p->at == log->run_end) log->run_end = p->at + p->len + 1;
}

/* Whether a line stands behind the others of its op. */
static bool in_block(op_log *log, op_entry *op, const op_place *p)
{
    uint64_t block = p->at + p->len - (op->at_start + op->len_start);
    if (p->at != log->run_end || log->run_op != (size_t)(op - log->ops) + 1 || block > MAX_BLOCK)
        return false;
    op->block = (uint32_t)block;
    log->run_end = p->at + p->len + 1;
    return true;
}

static op_entry *op_of(op_log *log, const head *h, const op_place *p)
{
    op_entry *op = h->id && h->id <= UINT32_MAX ? op_log_find(log, (uint32_t)h->id) : NULL;
    if (!op) op_log_found(log, OP_NO_OP, 1, p->line, "op %llu has not started", (unsigned long long)h->id);
    return op;
}

static bool take_end(op_log *log, jl_reader *r, const op_place *p)
{
    head h = {0};
    quick_number(r, ",\"id\":", &h.id);
    quick_number(r, ",\"t\":", &h.t);
    quick_number(r, ",\"thread\":", &h.thread);
    /* What is left, when it begins with the costs, is all that is read again. */
    const char *rest = r->at;
    bool short_rest = goes_on(r, ",\"own\":");
    if (!short_rest && !read_head(r, "own", &h)) return op_log_bad_line(log, p);
    if ((h.id == 0 || h.t == 0) && !read_head(r, NULL, &h)) return op_log_bad_line(log, p);
    op_entry *op = op_of(log, &h, p);
    if (!op) return true;
    if (op->flags & OP_ENDED) {
        op_log_found(log, OP_ENDED_TWICE, 1, p->line, "op %u has ended before", op->id);
        return true;
    }
    op->flags |= OP_ENDED;
    op->end = h.t;
    op->at_end = short_rest ? p->at + (uint64_t)(rest - p->text) : p->at;
    op->len_end = short_rest ? (uint32_t)(p->text + p->len - rest) - 1 : p->len;
    if (h.thread != op->thread) {
        op->flags |= OP_ELSEWHERE;
        op_log_found(log, OP_ENDED_ELSEWHERE, 1, p->line, "op %u began on thread %u and ended on %llu",
                     op->id, (unsigned)op->thread, (unsigned long long)h.thread);
    }
    if (op->end < op->start) {
        op->flags |= OP_ENDS_EARLY;
        op_log_found(log, OP_BACKWARDS, 1, p->line, "op %u", op->id);
    }
    return true;
}

static bool take_extra(op_log *log, jl_reader *r, const op_place *p, uint8_t *(*counter)(op_entry *),
                       uint32_t *max)
{
    jl_value v;
    head h = {0};
    quick_number(r, ",\"id\":", &h.id);
    jl_kind kind = JL_END;
    while (h.id == 0 && (kind = jl_next(r, &v)) > JL_BAD)
        if (v.kind == JL_NUMBER && jl_key_is(&v, "id")) h.id = v.number;
    if (kind == JL_BAD) return op_log_bad_line(log, p);
    op_entry *op = op_of(log, &h, p);
    if (!op) return true;
    uint8_t *count = counter ? counter(op) : NULL;
    if (count && *count < UINT8_MAX) ++*count;
    if (count && *count > *max) *max = *count;
    if (in_block(log, op, p)) return true;
    if (!OP_LOG_ROOM(log, extras)) return false;
    log->extras[log->n_extras++] = (op_extra){p->at, p->len, 0};
    if (op->last_extra)
        log->extras[op->last_extra - 1].next = (uint32_t)log->n_extras;
    else
        op->extra = (uint32_t)log->n_extras;
    op->last_extra = (uint32_t)log->n_extras;
    return true;
}

static uint8_t *inputs_of(op_entry *op)
{
    return &op->n_in;
}

static uint8_t *outputs_of(op_entry *op)
{
    return &op->n_out;
}

static bool take_in(op_log *log, jl_reader *r, const op_place *p)
{
    return take_extra(log, r, p, inputs_of, &log->max_in);
}

static bool take_out(op_log *log, jl_reader *r, const op_place *p)
{
    return take_extra(log, r, p, outputs_of, &log->max_out);
}

static bool take_other(op_log *log, jl_reader *r, const op_place *p)
{
    return take_extra(log, r, p, NULL, NULL);
}

static bool take_stack(op_log *log, jl_reader *r, const op_place *p)
{
    log->has_stacks = true;
    return take_extra(log, r, p, NULL, NULL);
}

static bool take_launch(op_log *log, jl_reader *r, const op_place *p)
{
    head h = {0};
    quick_number(r, ",\"id\":", &h.id);
    quick_number(r, ",\"t\":", &h.t);
    quick_number(r, ",\"chip\":", &h.chip);
    quick_number(r, ",\"launch\":", &h.launch);
    quick_number(r, ",\"program\":", &h.program);
    quick_number(r, ",\"cached\":", &h.cached);
    quick_number(r, ",\"cores\":", &h.cores);
    if (!read_head(r, NULL, &h)) return op_log_bad_line(log, p);
    op_log_pass_over(log, p);
    op_entry *op = NULL;
    if (h.id) op = op_of(log, &h, p);
    if (!BIG_ROOM(log, launches)) return false;
    log->launches[log->n_launches++] = (op_launch){.op = op ? op->id : 0,
                                                   .chip = (uint32_t)h.chip,
                                                   .launch = (uint32_t)h.launch,
                                                   .program = (uint32_t)h.program,
                                                   .cores = (uint32_t)h.cores,
                                                   .boot = (uint32_t)h.boot,
                                                   .cached = h.cached != 0};
    if (!op) return true;
    if (op->last_launch)
        log->launches[op->last_launch - 1].next = (uint32_t)log->n_launches;
    else
        op->launch = (uint32_t)log->n_launches;
    op->last_launch = (uint32_t)log->n_launches;
    return true;
}

static bool take_point(op_log *log, jl_reader *r, const op_place *p, bool step)
{
    head h = {0};
    if (!read_head(r, NULL, &h)) return op_log_bad_line(log, p);
    if (!OP_LOG_ROOM(log, points)) return false;
    log->points[log->n_points++] =
        (op_point){.t = h.t, .at = p->at, .len = p->len, .after = (uint32_t)h.after, .step = step};
    return true;
}

static bool take_signpost(op_log *log, jl_reader *r, const op_place *p)
{
    return take_point(log, r, p, false);
}

static bool take_step(op_log *log, jl_reader *r, const op_place *p)
{
    return take_point(log, r, p, true);
}

static bool take_program(op_log *log, jl_reader *r, const op_place *p)
{
    head h = {0};
    if (!read_head(r, "hash", &h)) return op_log_bad_line(log, p);
    op_log_pass_over(log, p);
    if (!OP_LOG_ROOM(log, programs)) return false;
    log->programs[log->n_programs++] = (op_program){p->at, (uint32_t)h.program, p->len};
    return true;
}

static bool take_device(op_log *log, jl_reader *r, const op_place *p)
{
    head h = {0};
    if (!read_head(r, NULL, &h)) return op_log_bad_line(log, p);
    op_log_pass_over(log, p);
    if (!OP_LOG_ROOM(log, chips)) return false;
    op_chip *c = &log->chips[log->n_chips++];
    *c = (op_chip){.launches = log->n_launches,
                   .chip = (uint32_t)h.chip,
                   .mhz = h.mhz,
                   .cores = (uint32_t)h.cores,
                   .profiled = h.profiled != 0};
    copy_text(c->arch, sizeof c->arch, &h.arch);
    copy_text(c->board, sizeof c->board, &h.board);
    return true;
}

static void forget(op_log *log)
{
    log->n_ops = log->n_extras = log->n_launches = log->n_points = log->n_programs = log->n_chips =
        log->n_memory = 0;
    log->max_in = log->max_out = 0;
    log->has_stacks = false;
    log->opens = log->closes = 0;
    log->compile_ns = 0;
    log->in_order = true;
    log->run_op = 0;
    free(log->slots);
    log->slots = NULL;
    log->n_slots = 0;
}

/* A program opens the log: of the same run as those before it, or of another, whose ops are then all that
 * counts. What stands before the first such line was written by somebody who says nothing of runs
 * (docs/op-reports.md, "From Python"), and belongs to it. */
static bool take_run(op_log *log, jl_reader *r, const op_place *p)
{
    head h = {0};
    char text[32];
    if (!read_head(r, NULL, &h)) return op_log_bad_line(log, p);
    copy_text(text, sizeof text, &h.run);
    uint64_t run = strtoull(text, NULL, 16);
    bool another = log->opens && run != log->run;
    if (another && log->n_ops)
        op_log_found(log, OP_OTHER_RUN, log->n_ops, p->line, "run %016llx ends here",
                     (unsigned long long)log->run);
    if (another) forget(log);
    op_log_pass_over(log, p);
    log->opens++;
    log->run = run;
    return true;
}

static bool take_close(op_log *log, jl_reader *r, const op_place *p)
{
    head h = {0};
    if (!read_head(r, NULL, &h)) return op_log_bad_line(log, p);
    op_log_pass_over(log, p);
    if (!h.forked) log->closes++;
    log->compile_ns += h.compile_ns;
    if (h.lost) op_log_found(log, OP_NOT_WRITTEN, h.lost, p->line, "the run says that it lost them");
    return true;
}

#define EVENT(name, take)                                                                                    \
    {                                                                                                        \
        name, sizeof(name) - 1, take                                                                         \
    }
/* clang-format off */
static const struct {
    const char *event;
    size_t len;
    bool (*take)(op_log *log, jl_reader *r, const op_place *p); /* false: no memory */
} events[] = {
    EVENT("in", take_in), EVENT("out", take_out), EVENT("start", take_start), EVENT("end", take_end),
    EVENT("launch", take_launch), EVENT("meta", take_other), EVENT("set", take_other),
    EVENT("stack", take_stack),
    EVENT("signpost", take_signpost), EVENT("step", take_step), EVENT("program", take_program),
    EVENT("device", take_device), EVENT("run", take_run), EVENT("close", take_close),
    EVENT("alloc", op_log_take_alloc), EVENT("free", op_log_take_free), EVENT("memory", op_log_take_size),
    EVENT("device_close", op_log_take_device_close),
};
/* clang-format on */

/* The event of a line, with the reader behind it. */
static bool event_of(jl_reader *r, const op_place *p, jl_value *event)
{
    static const char first[] = "{\"e\":\"";
    enum { FIRST = sizeof first - 1, LONGEST = 16 };
    const char *line = p->text, *end = line + p->len;
    if (p->has_nul && memchr(line, 0, p->len)) return false;
    if (p->len > FIRST + 2 && memcmp(line, first, FIRST) == 0 && end[-1] == '}') {
        const char *name = line + FIRST, *quote = name;
        while (quote < end && *quote != '"' && quote - name < LONGEST)
            quote++;
        *event = (jl_value){.kind = JL_TEXT, .text = name, .len = (size_t)(quote - name)};
        *r = (jl_reader){.at = quote + 1, .end = end - 1, .begun = true};
        return r->at <= r->end && *quote == '"';
    }
    return jl_line(r, line, p->len) && jl_next(r, event) == JL_TEXT && jl_key_is(event, "e");
}

/* The line of a tensor just as devlog writes it, behind the others of its op: most lines are. */
static inline bool quick_tensor(op_log *log, const op_place *p, const char *begin,
                                uint8_t *(*counter)(op_entry *), uint32_t *max)
{
    size_t n = strlen(begin); /* known when compiling */
    if (p->len <= n + log->run_id_len || memcmp(p->text, begin, n) != 0) return false;
    if (memcmp(p->text + n, log->run_id, log->run_id_len) != 0 || p->text[p->len - 1] != '}') return false;
    op_entry *op = &log->ops[log->run_op - 1];
    if ((op->flags & OP_IS_DUPLICATE) || !in_block(log, op, p)) return false;
    uint8_t *count = counter(op);
    if (*count < UINT8_MAX) ++*count;
    if (*count > *max) *max = *count;
    return true;
}

bool op_log_take(op_log *log, const op_place *p)
{
    jl_reader r;
    jl_value v;
    if (p->len == 0) return true;
    if (log->run_op && p->at == log->run_end && !p->has_nul &&
        (quick_tensor(log, p, "{\"e\":\"in\",\"id\":", inputs_of, &log->max_in) ||
         quick_tensor(log, p, "{\"e\":\"out\",\"id\":", outputs_of, &log->max_out)))
        return true;
    if (event_of(&r, p, &v))
        for (size_t i = 0; i < sizeof events / sizeof events[0]; i++)
            if (events[i].len == v.len && memcmp(events[i].event, v.text, v.len) == 0)
                return events[i].take(log, &r, p);
    return op_log_bad_line(log, p);
}
