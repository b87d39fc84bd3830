/* Programs as the op log describes them. */
#include "ops/op_programs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ops/jsonline.h"

static void add_item(dl_str *list, const char *text, size_t n)
{
    dl_str_add(list, list->len > 1 ? "; '" : "'");
    dl_str_add_n(list, text, n);
    dl_str_char(list, '\'');
}

/* "a/b/read.c" gives "read". */
static void base_name(const dl_str *path, dl_str *out)
{
    const char *text = path->text ? path->text : "", *slash = strrchr(text, '/');
    const char *name = slash ? slash + 1 : text, *dot = strrchr(name, '.');
    dl_str_add_n(out, name, dot ? (size_t)(dot - name) : strlen(name));
}

static void add_kernel(op_program_text *p, dl_str lists[4], const jl_value *kernel)
{
    jl_reader r;
    jl_value v;
    dl_str source = {0}, hash = {0};
    dl_risc risc = DL_RISC_OTHER;
    uint64_t bytes = 0;
    jl_inside(&r, kernel);
    while (jl_next(&r, &v) > JL_BAD) {
        if (v.kind == JL_TEXT && jl_key_is(&v, "risc")) risc = dl_risc_of_name(v.text, v.len);
        if (v.kind == JL_TEXT && jl_key_is(&v, "source")) jl_text(&v, &source);
        if (v.kind == JL_TEXT && jl_key_is(&v, "hash")) dl_str_add_n(&hash, v.text, v.len);
        if (v.kind == JL_NUMBER && jl_key_is(&v, "bytes")) bytes = v.number;
    }
    if ((int)risc < (int)OP_RISCS && bytes > p->bytes[risc] && bytes <= UINT32_MAX)
        p->bytes[risc] = (uint32_t)bytes;
    bool compute = risc == DL_RISC_TRISC0 || risc == DL_RISC_TRISC1 || risc == DL_RISC_TRISC2;
    dl_str name = {0};
    base_name(&source, &name);
    dl_str_char(&name, '/');
    dl_str_add_n(&name, hash.text ? hash.text : "", hash.len);
    dl_str_char(&name, '/');
    add_item(&lists[compute ? 0 : 2], source.text ? source.text : "", source.len);
    add_item(&lists[compute ? 1 : 3], name.text ? name.text : "", name.len);
    dl_str_free(&name);
    dl_str_free(&source);
    dl_str_free(&hash);
}

static void read_program(op_program_text *p, const char *line, uint32_t len)
{
    jl_reader r, kernels;
    jl_value v, kernel;
    dl_str lists[4] = {0};
    for (int i = 0; i < 4; i++)
        dl_str_char(&lists[i], '[');
    if (line && jl_line(&r, line, len)) {
        while (jl_next(&r, &v) > JL_BAD) {
            if (v.kind == JL_TEXT && jl_key_is(&v, "hash"))
                snprintf(p->hash, sizeof p->hash, "%.*s", (int)(v.len < 19 ? v.len : 19), v.text);
            if (v.kind != JL_LIST || !jl_key_is(&v, "kernels")) continue;
            jl_inside(&kernels, &v);
            while (jl_next(&kernels, &kernel) == JL_OBJECT)
                add_kernel(p, lists, &kernel);
        }
    }
    dl_str *const out[4] = {&p->compute_source, &p->compute_hash, &p->dm_source, &p->dm_hash};
    for (int i = 0; i < 4; i++) {
        dl_str_char(&lists[i], ']');
        *out[i] = lists[i];
    }
}

static int by_number(const void *a, const void *b)
{
    const op_program_text *x = a, *y = b;
    return x->number < y->number ? -1 : x->number > y->number;
}

devlog_status op_programs_read(op_programs *p, op_log *log, devlog_error *err)
{
    *p = (op_programs){0};
    if (!log || log->n_programs == 0) return DEVLOG_OK;
    p->items = calloc(log->n_programs, sizeof *p->items);
    if (!p->items) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    for (; p->n < log->n_programs; p->n++) {
        const op_program *from = &log->programs[p->n];
        p->items[p->n].number = from->number;
        read_program(&p->items[p->n], op_log_line(log, 1, from->at, from->len), from->len);
    }
    qsort(p->items, p->n, sizeof *p->items, by_number);
    return DEVLOG_OK;
}

void op_programs_free(op_programs *p)
{
    for (size_t i = 0; i < p->n; i++) {
        dl_str_free(&p->items[i].compute_source);
        dl_str_free(&p->items[i].compute_hash);
        dl_str_free(&p->items[i].dm_source);
        dl_str_free(&p->items[i].dm_hash);
    }
    free(p->items);
    *p = (op_programs){0};
}

const op_program_text *op_programs_find(const op_programs *p, uint32_t number)
{
    const op_program_text key = {.number = number};
    return p->n ? bsearch(&key, p->items, p->n, sizeof key, by_number) : NULL;
}
