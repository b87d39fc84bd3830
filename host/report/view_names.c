/* Names in the view: texts of the log made UTF-8, names of launches. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/view_internal.h"

static void free_texts(char **texts, uint32_t n)
{
    for (uint32_t i = 0; texts && i < n; i++)
        free(texts[i]);
    free(texts);
}

void view_free_names(dl_view *v)
{
    dl_str_free(&v->text);
    if (!v->tables) return;
    free_texts(v->site_names, v->tables->n_sites);
    free_texts(v->site_files, v->tables->n_sites);
    free_texts(v->track_names, v->tables->n_streams);
}

/* A copy of the text as UTF-8 in *out, or NULL there when the text is UTF-8 already. */
static bool utf8_copy(const char *text, char **out)
{
    static const char replacement[] = "\xEF\xBF\xBD";
    size_t n = strlen(text), bad = 0;
    *out = NULL;
    for (size_t i = 0, len; i < n; i += len ? len : 1) {
        len = dl_utf8_length(text + i, n - i);
        bad += len == 0;
    }
    if (!bad) return true;
    char *copy = malloc(n + 2 * bad + 1), *to = copy;
    if (!copy) return false;
    for (size_t i = 0, len; i < n; i += len ? len : 1) {
        len = dl_utf8_length(text + i, n - i);
        size_t bytes = len ? len : 3;
        memcpy(to, len ? text + i : replacement, bytes);
        to += bytes;
    }
    *to = 0;
    *out = copy;
    return true;
}

devlog_status view_make_names(dl_view *v, devlog_error *err)
{
    const dl_tables *t = v->tables;
    v->site_names = calloc(t->n_sites + 1u, sizeof *v->site_names);
    v->site_files = calloc(t->n_sites + 1u, sizeof *v->site_files);
    v->track_names = calloc(t->n_streams + 1u, sizeof *v->track_names);
    bool ok = v->site_names && v->site_files && v->track_names;
    for (uint32_t i = 0; ok && i < t->n_sites; i++)
        ok = utf8_copy(dl_text(t, t->sites[i].name), &v->site_names[i]) &&
             utf8_copy(dl_text(t, t->sites[i].file), &v->site_files[i]);
    for (uint32_t i = 0; ok && i < t->n_streams; i++) {
        const char *name = dl_text(t, t->streams[i].risc_name);
        ok = utf8_copy(name, &v->track_names[i]);
        v->tracks[v->track_of_stream[i]].name = v->track_names[i] ? v->track_names[i] : name;
    }
    return ok ? DEVLOG_OK : dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory while making names");
}

const char *dl_view_site_name(const dl_view *v, uint32_t site)
{
    if (site >= v->tables->n_sites) return "";
    return v->site_names[site] ? v->site_names[site] : dl_text(v->tables, v->tables->sites[site].name);
}

const char *dl_view_site_file(const dl_view *v, uint32_t site)
{
    if (site >= v->tables->n_sites) return "";
    return v->site_files[site] ? v->site_files[site] : dl_text(v->tables, v->tables->sites[site].file);
}

const char *dl_view_name(const dl_view *v, const dl_view_item *item, char buffer[32])
{
    const char *name = dl_view_site_name(v, item->site);
    if (name[0]) return name;
    if (item->kind == DL_VIEW_LAUNCH) return "launch";
    if (item->kind == DL_VIEW_ZONE) return "(no name)";
    snprintf(buffer, 32, "marker %u", item->timer_id);
    return buffer;
}

const char *dl_view_text(dl_view *v, const dl_view_item *item, size_t most)
{
    char *copy;
    if (item->kind != DL_VIEW_POINT || !item->meta) return NULL;
    dl_str_clear(&v->text);
    if (!dl_meta_text(dl_text(v->tables, item->meta), &v->text)) return NULL;
    if (v->text.failed || !v->text.text || !utf8_copy(v->text.text, &copy)) return "";
    if (copy) {
        dl_str_clear(&v->text);
        dl_str_add(&v->text, copy);
        free(copy);
    }
    size_t n = 0;
    while (most && n < v->text.len) {
        size_t len = dl_utf8_length(v->text.text + n, v->text.len - n);
        if (n + len > most) break;
        n += len ? len : 1;
    }
    if (most) v->text.text[n] = 0;
    return v->text.failed ? "" : v->text.text;
}

const char *dl_view_launch_op_name(const dl_view *v, uint32_t launch)
{
    const dl_launches *all = dl_decode_launches(v->decode);
    bool has_op = launch < all->count && all->items[launch].op && v->options.op_name;
    return has_op ? v->options.op_name(v->options.op_ctx, &all->items[launch]) : NULL;
}

/* Copies as much of a text as fits, whole characters only, anything else as '?'. */
static void copy_utf8(const char *text, char out[256])
{
    size_t n = strlen(text), at = 0;
    for (size_t i = 0; i < n;) {
        size_t len = dl_utf8_length(text + i, n - i), bytes = len ? len : 1;
        if (at + bytes > 255) break;
        memcpy(out + at, len ? text + i : "?", bytes);
        at += bytes;
        i += bytes;
    }
    out[at] = 0;
}

uint64_t dl_view_launch_id(const dl_view *v, uint32_t launch)
{
    const dl_launch *l = &dl_decode_launches(v->decode)->items[launch];
    return l->has_ids ? (l->run_host_id ? l->run_host_id : l->run_id) : l->number;
}

void dl_view_launch_name(const dl_view *v, uint32_t launch, char out[256])
{
    const dl_launches *all = dl_decode_launches(v->decode);
    const char *op = dl_view_launch_op_name(v, launch);
    if (op && op[0]) {
        copy_utf8(op, out);
        return;
    }
    if (launch >= all->count) {
        snprintf(out, 256, "no launch");
        return;
    }
    const dl_launch *l = &all->items[launch];
    if (!l->has_ids) {
        snprintf(out, 256, "launch #%u", l->number);
        return;
    }
    int n = snprintf(out, 256, "launch %llu", (unsigned long long)dl_view_launch_id(v, launch));
    if (l->trace_id != DL_NO_ID) n += snprintf(out + n, 256 - (size_t)n, " trace %u", l->trace_id);
    if (l->trace_counter != DL_NO_ID) snprintf(out + n, 256 - (size_t)n, ".%u", l->trace_counter);
}
