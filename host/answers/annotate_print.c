/* The outputs of annotate: text for people, CSV and JSON for programs. */
#include <stdlib.h>
#include <string.h>

#include "answers/annotate.h"
#include "base/file.h"

enum { MOST_SOURCE = 1 << 22 };

static const char *text_of(const annotation *a, uint32_t number)
{
    return dl_intern_text(a->texts, number, NULL);
}

static double percent(uint64_t part, uint64_t whole)
{
    return whole ? 100.0 * (double)part / (double)whole : 0;
}

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* ---- Sources --- */

/* One source file at a time. */
typedef struct source {
    uint32_t file;
    dl_str text;
} source;

/* Line `number` of a file without the blanks in front of it; "" when it cannot be had. */
static const char *source_line(source *s, const annotation *a, uint32_t file, uint32_t number, size_t *n)
{
    *n = 0;
    if (file == 0 || number == 0) return "";
    if (s->file != file) {
        devlog_error err;
        dl_str_clear(&s->text);
        s->file = file;
        if (dl_file_read(text_of(a, file), MOST_SOURCE, &s->text, &err) != DEVLOG_OK) dl_str_clear(&s->text);
    }
    const char *line = s->text.text ? s->text.text : "";
    for (uint32_t i = 1; i < number && *line; i++) {
        line += strcspn(line, "\n");
        line += *line == '\n';
    }
    line += strspn(line, " \t");
    *n = strcspn(line, "\r\n");
    return line;
}

/* ---- Text --- */

/* The two largest causes: "L1 80%, stores 9%". */
static void add_waits(const sim_cycles *c, dl_str *out)
{
    int first = -1, second = -1;
    for (int k = 0; k < SIM_STALLS; k++) {
        if (!c->stalled[k]) continue;
        if (first < 0 || c->stalled[k] > c->stalled[first]) {
            second = first;
            first = k;
        } else if (second < 0 || c->stalled[k] > c->stalled[second]) {
            second = k;
        }
    }
    if (first >= 0)
        dl_str_fmt(out, "%s %.0f%%", sim_stall_names[first], percent(c->stalled[first], c->cycles));
    if (second >= 0 && percent(c->stalled[second], c->cycles) >= 1)
        dl_str_fmt(out, ", %s %.0f%%", sim_stall_names[second], percent(c->stalled[second], c->cycles));
}

static void add_row(dl_str *line, double share, const sim_cycles *c)
{
    char cycles[DL_GROUPED_SIZE], count[DL_GROUPED_SIZE];
    dl_str waits = {0};
    add_waits(c, &waits);
    if (share >= 0)
        dl_str_fmt(line, "%5.1f%%", share);
    else
        dl_str_add(line, "      ");
    dl_str_fmt(line, " %10s %9s  %-18s ", dl_u64_grouped(cycles, c->cycles), dl_u64_grouped(count, c->count),
               waits.text ? waits.text : "");
    dl_str_free(&waits);
}

/* Cut to the width of the terminal. */
static void end_row(dl_str *line, unsigned width, dl_str *out)
{
    size_t n = line->len;
    while (n && line->text[n - 1] == ' ')
        n--;
    if (width && n > width) {
        n = width;
        while (n && ((unsigned char)line->text[n] & 0xC0) == 0x80) /* not in the middle of a character */
            n--;
    }
    dl_str_add_n(out, line->text ? line->text : "", n);
    dl_str_char(out, '\n');
    dl_str_clear(line);
}

static void print_instructions(const annotate_shown *s, const annotate_code *c, const annotate_item *of,
                               dl_str *line, dl_str *out)
{
    for (size_t i = 0; i < c->n; i++) {
        const annotate_item *at = &c->items[i];
        if (at->file != of->file || at->line != of->line) continue;
        add_row(line, -1, &at->sum);
        dl_str_fmt(line, "  %x: ", at->sum.pc);
        const char *text = text_of(s->a, at->text);
        dl_str_shown(line, text, strlen(text));
        end_row(line, s->width, out);
    }
}

static void print_head(const annotate_code *c, dl_str *line, dl_str *out)
{
    char cycles[DL_GROUPED_SIZE];
    uint64_t stalled = 0;
    for (int k = 0; k < SIM_STALLS; k++)
        stalled += c->sum.stalled[k];
    const char *name = c->kernel ? base_of(c->source) : "firmware";
    dl_str_shown(line, name, strlen(name));
    dl_str_fmt(line, " on %s: %s cycles, %u core%s, %u launch%s\n", c->risc,
               dl_u64_grouped(cycles, c->sum.cycles), c->n_cores, c->n_cores == 1 ? "" : "s", c->n_launches,
               c->n_launches == 1 ? "" : "es");
    dl_str_add_n(out, line->text, line->len);
    dl_str_clear(line);
    dl_str_fmt(out, "  instructions %.1f%%", percent(c->sum.cycles - stalled, c->sum.cycles));
    for (int k = 0, shown = 1; k < SIM_STALLS; k++)
        if (percent(c->sum.stalled[k], c->sum.cycles) >= 0.05)
            dl_str_fmt(out, "%s%s %.1f%%", shown++ % 5 ? ", " : ",\n  ", sim_stall_names[k],
                       percent(c->sum.stalled[k], c->sum.cycles));
    dl_str_char(out, '\n');
    if (c->why[0]) {
        dl_str_add(out, "  no lines: ");
        dl_str_shown(out, c->why, strlen(c->why));
        dl_str_char(out, '\n');
    }
}

static void print_code(const annotate_shown *s, const annotate_code *c, source *src, dl_str *out)
{
    dl_str line = {0};
    print_head(c, &line, out);
    dl_str_add(out, " share     cycles     count  waits for          line\n");
    size_t n = s->top && s->top < c->n_lines ? s->top : c->n_lines;
    for (size_t i = 0; i < n; i++) {
        const annotate_item *at = &c->lines[i];
        double share = percent(at->sum.cycles, c->sum.cycles);
        add_row(&line, share, &at->sum);
        if (at->line) {
            size_t length;
            const char *code = source_line(src, s->a, at->file, at->line, &length);
            const char *file = base_of(text_of(s->a, at->file));
            dl_str_shown(&line, file, strlen(file));
            dl_str_fmt(&line, ":%u  ", at->line);
            dl_str_shown(&line, code, length);
        } else {
            dl_str_add(&line, "(unknown line)");
        }
        end_row(&line, s->width, out);
        if (share >= s->hot) print_instructions(s, c, at, &line, out);
    }
    if (n < c->n_lines) {
        uint64_t rest = 0;
        for (size_t i = n; i < c->n_lines; i++)
            rest += c->lines[i].sum.cycles;
        dl_str_fmt(out, "%5.1f%%  in %zu further lines\n", percent(rest, c->sum.cycles), c->n_lines - n);
    }
    dl_str_free(&line);
}

void annotate_print_text(const annotate_shown *s, dl_str *out)
{
    source src = {0};
    for (size_t i = 0; i < s->a->n; i++) {
        if (s->a->codes[i].n == 0) continue;
        if (out->len) dl_str_char(out, '\n');
        print_code(s, &s->a->codes[i], &src, out);
    }
    dl_str_free(&src.text);
}

/* ---- Markdown --- */

static void markdown_of(const annotate_shown *s, const annotate_code *c, source *src, dl_str *out)
{
    dl_str_add(out, "### ");
    dl_str_markdown(out, c->kernel ? base_of(c->source) : "firmware");
    dl_str_fmt(
        out,
        " on %s: %llu cycles\n\n| share | cycles | count | waits for | line | source |\n|--:|--:|--:|---|---|---|\n",
        c->risc, (unsigned long long)c->sum.cycles);
    const size_t n = s->top && s->top < c->n_lines ? s->top : c->n_lines;
    for (size_t i = 0; i < n; i++) {
        const annotate_item *at = &c->lines[i];
        dl_str text = {0};
        size_t length = 0;
        const char *code = at->line ? source_line(src, s->a, at->file, at->line, &length) : "";
        dl_str_add_n(&text, code, length);
        dl_str_fmt(out, "| %.1f%% | %llu | %llu | ", percent(at->sum.cycles, c->sum.cycles),
                   (unsigned long long)at->sum.cycles, (unsigned long long)at->sum.count);
        add_waits(&at->sum, out);
        dl_str_add(out, " | ");
        if (at->line) {
            dl_str_markdown(out, base_of(text_of(s->a, at->file)));
            dl_str_fmt(out, ":%u", at->line);
        } else {
            dl_str_add(out, "unknown");
        }
        dl_str_add(out, " | ");
        dl_str_markdown(out, text.text ? text.text : "");
        dl_str_add(out, " |\n");
        out->failed |= text.failed;
        dl_str_free(&text);
    }
    if (n < c->n_lines) dl_str_fmt(out, "\n%zu more.\n", c->n_lines - n);
}

void annotate_print_markdown(const annotate_shown *s, dl_str *out)
{
    source src = {0};
    for (size_t i = 0; i < s->a->n; i++) {
        if (s->a->codes[i].n == 0) continue;
        if (out->len) dl_str_char(out, '\n');
        markdown_of(s, &s->a->codes[i], &src, out);
    }
    dl_str_free(&src.text);
}

/* ---- CSV and JSON --- */

static void csv_text(dl_str *out, const char *text)
{
    dl_str_csv(out, text, strlen(text));
    dl_str_char(out, ',');
}

void annotate_print_csv(const annotate_shown *s, dl_str *out)
{
    dl_str_add(out, "kernel,risc,function,file,line,pc,instruction,count,cycles");
    for (int k = 0; k < SIM_STALLS; k++)
        dl_str_fmt(out, ",wait %s", sim_stall_names[k]);
    dl_str_char(out, '\n');
    for (size_t i = 0; i < s->a->n; i++) {
        const annotate_code *c = &s->a->codes[i];
        for (size_t j = 0; j < c->n; j++) {
            const annotate_item *at = &c->items[j];
            csv_text(out, c->kernel ? c->source : "firmware");
            csv_text(out, c->risc);
            csv_text(out, text_of(s->a, at->function));
            csv_text(out, text_of(s->a, at->file));
            if (at->line) dl_str_u64(out, at->line);
            dl_str_fmt(out, ",0x%x,", at->sum.pc);
            csv_text(out, text_of(s->a, at->text));
            dl_str_u64(out, at->sum.count);
            dl_str_char(out, ',');
            dl_str_u64(out, at->sum.cycles);
            for (int k = 0; k < SIM_STALLS; k++) {
                dl_str_char(out, ',');
                dl_str_u64(out, at->sum.stalled[k]);
            }
            dl_str_char(out, '\n');
        }
    }
}

static void json_sum(const sim_cycles *c, dl_str *out)
{
    dl_str_fmt(out, "\"count\":%llu,\"cycles\":%llu,\"waits\":{", (unsigned long long)c->count,
               (unsigned long long)c->cycles);
    for (int k = 0; k < SIM_STALLS; k++)
        dl_str_fmt(out, "%s\"%s\":%llu", k ? "," : "", sim_stall_names[k], (unsigned long long)c->stalled[k]);
    dl_str_char(out, '}');
}

static void json_text(const char *name, const char *text, dl_str *out)
{
    dl_str_fmt(out, "\"%s\":", name);
    if (*text)
        dl_str_json(out, text, strlen(text));
    else
        dl_str_add(out, "null");
    dl_str_char(out, ',');
}

static void json_line(const annotate_shown *s, const annotate_code *c, const annotate_item *l, dl_str *out)
{
    dl_str_add(out, "\n  {");
    json_text("file", text_of(s->a, l->file), out);
    if (l->line)
        dl_str_fmt(out, "\"line\":%u,", l->line);
    else
        dl_str_add(out, "\"line\":null,");
    json_sum(&l->sum, out);
    dl_str_add(out, ",\"instructions\":[");
    bool any = false;
    for (size_t i = 0; i < c->n; i++) {
        const annotate_item *at = &c->items[i];
        if (at->file != l->file || at->line != l->line) continue;
        dl_str_fmt(out, "%s\n   {\"pc\":%u,", any ? "," : "", at->sum.pc);
        json_text("function", text_of(s->a, at->function), out);
        json_text("instruction", text_of(s->a, at->text), out);
        json_sum(&at->sum, out);
        dl_str_char(out, '}');
        any = true;
    }
    dl_str_add(out, "]}");
}

void annotate_print_json(const annotate_shown *s, dl_str *out)
{
    dl_str_fmt(out, "{\"format\":\"devlog-annotate-%d\",\"cycles\":%llu,\"kernels\":[",
               ANNOTATE_FORMAT_VERSION, (unsigned long long)s->a->cycles);
    for (size_t i = 0; i < s->a->n; i++) {
        const annotate_code *c = &s->a->codes[i];
        dl_str_add(out, i ? ",\n {" : "\n {");
        json_text("kernel", c->kernel ? c->source : "firmware", out);
        json_text("risc", c->risc, out);
        json_text("elf", c->path, out);
        json_text("no_lines_because", c->why, out);
        dl_str_fmt(out, "\"cores\":%u,\"launches\":%u,\"cycles\":%llu,\"lines\":[", c->n_cores, c->n_launches,
                   (unsigned long long)c->sum.cycles);
        for (size_t j = 0; j < c->n_lines; j++) {
            if (j) dl_str_char(out, ',');
            json_line(s, c, &c->lines[j], out);
        }
        dl_str_add(out, "]}");
    }
    dl_str_add(out, "]}\n");
}
