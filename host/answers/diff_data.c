/* A diff for programs: CSV, JSON, JUnit. See diff_print.h. Times are those of one op or zone, in the unit that
 * each line names. */
#include <math.h>
#include <stdio.h>

#include "answers/diff_print.h"
#include "base/real.h"

static const char *unit_of(const diff_line *l)
{
    return l->by_clock ? "cycles" : "ns";
}

/* ---- CSV --- */

static void csv_text(const char *text, dl_str *out)
{
    dl_str_csv(out, text, strlen(text));
    dl_str_char(out, ',');
}

static void csv_real(bool known, double value, dl_str *out)
{
    if (known && isfinite(value)) dl_str_real(out, value);
    dl_str_char(out, ',');
}

static void csv_line(const diff *d, const diff_line *l, dl_str *out)
{
    const diff_part *x = &l->part[DIFF_OLD], *y = &l->part[DIFF_NEW];
    dl_str of = {0};
    if (l->parent != UINT32_MAX) diff_line_name(&d->lines[l->parent], &of);
    csv_text(diff_kinds[l->kind], out);
    csv_text(l->name, out);
    dl_str_fmt(out, "%u,", l->kind == DIFF_OP ? l->place : 0);
    csv_text(l->risc, out);
    csv_text(l->moved ? l->moved : l->where, out);
    csv_text(of.text ? of.text : "", out);
    csv_text(diff_verdicts[l->verdict], out);
    csv_text(unit_of(l), out);
    const diff_part *const parts[] = {x, y};
    for (int side = 0; side < DIFF_SIDES; side++) {
        const diff_part *p = parts[side];
        dl_str_fmt(out, "%llu,%llu,%zu,", (unsigned long long)p->count, (unsigned long long)p->without, p->n);
        csv_real(p->n, p->mean, out);
        csv_real(p->n, p->median, out);
        csv_real(p->n, rank_test_quantile(p->sorted, p->n, 0.95), out);
        csv_real(p->n, p->n ? p->sorted[0] : 0, out);
        csv_real(p->n, p->n ? p->sorted[p->n - 1] : 0, out);
    }
    csv_real(x->n || y->n, l->difference, out);
    csv_real(l->has_change, l->change, out);
    csv_real(l->tested, l->p, out);
    if (l->tested) dl_str_real(out, l->corrected);
    dl_str_char(out, '\n');
    dl_str_free(&of);
}

void diff_print_csv(const diff_shown *s, dl_str *out)
{
    dl_str_add(out, "kind,name,place,risc,where,op,verdict,unit");
    static const char *const sides[] = {"old", "new"};
    for (int i = 0; i < DIFF_SIDES; i++)
        dl_str_fmt(out, ",%s_count,%s_without_time,%s_samples,%s_mean,%s_median,%s_p95,%s_min,%s_max",
                   sides[i], sides[i], sides[i], sides[i], sides[i], sides[i], sides[i], sides[i]);
    dl_str_add(out, ",difference_per_run,change_percent,p,p_corrected\n");
    for (size_t i = 0; i < s->d->n_order; i++)
        csv_line(s->d, &s->d->lines[s->d->order[i]], out);
}

/* ---- JSON --- */

static void json_text(const char *key, const char *text, dl_str *out)
{
    dl_str_fmt(out, "\"%s\":", key);
    dl_str_json(out, text, strlen(text));
    dl_str_char(out, ',');
}

/* What is not finite has no number in JSON. */
static void json_real(const char *key, bool is_known, double value, dl_str *out)
{
    dl_str_fmt(out, "\"%s\":", key);
    if (is_known && isfinite(value))
        dl_str_real(out, value);
    else
        dl_str_add(out, "null");
    dl_str_char(out, ',');
}

static void json_end(char close, dl_str *out)
{
    if (out->len && out->text[out->len - 1] == ',') out->text[--out->len] = 0;
    dl_str_char(out, close);
}

static void json_part(const char *key, const diff_part *p, dl_str *out)
{
    dl_str_fmt(out, "\"%s\":{\"count\":%llu,\"without_time\":%llu,\"samples\":%zu,", key,
               (unsigned long long)p->count, (unsigned long long)p->without, p->n);
    json_real("mean", p->n, p->mean, out);
    json_real("median", p->n, p->median, out);
    json_real("p95", p->n, rank_test_quantile(p->sorted, p->n, 0.95), out);
    json_real("min", p->n, p->n ? p->sorted[0] : 0, out);
    json_real("max", p->n, p->n ? p->sorted[p->n - 1] : 0, out);
    json_real("per_run", p->n, p->per_run, out);
    json_end('}', out);
    dl_str_char(out, ',');
}

static void json_line(const diff *d, uint32_t number, bool causes, dl_str *out)
{
    const diff_line *l = &d->lines[number];
    dl_str_char(out, '{');
    json_text("kind", diff_kinds[l->kind], out);
    json_text("name", l->name, out);
    if (l->kind == DIFF_OP) dl_str_fmt(out, "\"place\":%u,", l->place);
    if (*l->risc) json_text("risc", l->risc, out);
    if (*l->where) json_text("where", l->where, out);
    if (l->moved) json_text("moved_to", l->moved, out);
    json_text("verdict", diff_verdicts[l->verdict], out);
    json_text("unit", unit_of(l), out);
    json_part("old", &l->part[DIFF_OLD], out);
    json_part("new", &l->part[DIFF_NEW], out);
    json_real("difference_per_run", l->part[DIFF_OLD].n || l->part[DIFF_NEW].n, l->difference, out);
    json_real("change_percent", l->has_change, l->change, out);
    json_real("p", l->tested, l->p, out);
    json_real("p_corrected", l->tested, l->corrected, out);
    if (causes && l->kind == DIFF_OP) {
        uint32_t lines[8];
        const size_t n = diff_causes(d, number, lines, 8);
        dl_str_add(out, "\"causes\":[");
        for (size_t i = 0; i < n; i++) {
            json_line(d, lines[i], false, out);
            dl_str_char(out, ',');
        }
        json_end(']', out);
    }
    json_end('}', out);
}

static void json_runs(const diff *d, uint32_t side, dl_str *out)
{
    dl_str_add(out, side == DIFF_OLD ? "\"old\":[" : "\"new\":[");
    for (size_t i = 0; i < d->n_runs; i++) {
        const diff_run *r = &d->runs[i];
        if (r->side != side) continue;
        dl_str_char(out, '{');
        json_text("name", r->name, out);
        json_text("arch", r->arch ? r->arch : "", out);
        json_real("mhz", r->mhz > 0, r->mhz, out);
        op_aiclk_json(&r->aiclk, "aiclk_mhz", out);
        dl_str_fmt(
            out,
            "\"ops\":%llu,\"ops_without_time\":%llu,\"launches\":%llu,\"op_report\":%s,\"device_log\":%s,"
            "\"losses\":%llu%s},",
            (unsigned long long)r->ops, (unsigned long long)r->timeless, (unsigned long long)r->launches,
            r->has_ops ? "true" : "false", r->has_log ? "true" : "false", (unsigned long long)r->lost,
            r->instructions ? ",\"cycles_are_instructions\":true" : "");
    }
    json_end(']', out);
    dl_str_add(out, ",\n");
}

static void json_gates(const diff_shown *s, dl_str *out)
{
    dl_str_add(out, "\"gates\":[");
    for (size_t i = 0; i < s->n_gates; i++) {
        const gate *g = &s->gates[i];
        dl_str_add(out, "\n{");
        json_text("condition", g->text, out);
        json_text("result", gate_results[g->result], out);
        dl_str_fmt(out, "\"failed\":%zu,\"undecided\":%zu,\"reasons\":[", g->failed, g->undecided);
        for (size_t k = 0; k < g->n_reasons; k++) {
            dl_str_json(out, g->reasons[k], strlen(g->reasons[k]));
            dl_str_char(out, ',');
        }
        json_end(']', out);
        dl_str_add(out, "},");
    }
    json_end(']', out);
    dl_str_add(out, ",\n");
    if (s->n_gates) json_text("result", gate_results[diff_result(s->gates, s->n_gates)], out);
}

void diff_print_json(const diff_shown *s, dl_str *out)
{
    const diff *d = s->d;
    dl_str_fmt(out, "{\"format\":\"devlog-diff-%d\",\"version\":%d,\n", DIFF_FORMAT_VERSION,
               DIFF_FORMAT_VERSION);
    for (uint32_t side = 0; side < DIFF_SIDES; side++)
        json_runs(d, side, out);
    dl_str_fmt(out, "\"samples\":\"%s\",\"exact\":%s,", d->several ? "runs" : "repeats",
               d->exact ? "true" : "false");
    json_real("confidence_percent", !d->exact, 100 * (1 - d->alpha), out);
    dl_str_fmt(out, "\"tested\":%zu,\"undecided\":%zu,\n", d->tested, d->undecided);
    json_gates(s, out);
    dl_str_add(out, "\"lines\":[");
    for (size_t i = 0; i < d->n_order; i++) {
        if (d->lines[d->order[i]].kind == DIFF_CAUSE) break;
        dl_str_char(out, '\n');
        json_line(d, d->order[i], true, out);
        dl_str_char(out, ',');
    }
    json_end(']', out);
    dl_str_add(out, "}\n");
}

/* ---- JUnit --- */

static void xml(const char *text, dl_str *out)
{
    dl_str shown = {0};
    dl_str_shown(&shown, text, strlen(text));
    for (const char *p = shown.text ? shown.text : ""; *p; p++) {
        switch (*p) {
        case '&': dl_str_add(out, "&amp;"); break;
        case '<': dl_str_add(out, "&lt;"); break;
        case '>': dl_str_add(out, "&gt;"); break;
        case '"': dl_str_add(out, "&quot;"); break;
        default: dl_str_char(out, *p);
        }
    }
    dl_str_free(&shown);
}

/* A condition is a test case; one that cannot be decided is an error, as a test that could not run. */
void diff_print_junit(const diff_shown *s, dl_str *out)
{
    size_t failed = 0, undecided = 0;
    for (size_t i = 0; i < s->n_gates; i++) {
        failed += s->gates[i].result == GATE_FAILED;
        undecided += s->gates[i].result == GATE_UNDECIDED;
    }
    dl_str_fmt(out,
               "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n<testsuite name=\"devlog diff\" "
               "tests=\"%zu\" failures=\"%zu\" errors=\"%zu\">\n",
               s->n_gates, failed, undecided);
    for (size_t i = 0; i < s->n_gates; i++) {
        const gate *g = &s->gates[i];
        dl_str_add(out, "<testcase classname=\"devlog.diff\" name=\"");
        xml(g->text, out);
        dl_str_char(out, '"');
        if (g->result == GATE_PASSED) {
            dl_str_add(out, "/>\n");
            continue;
        }
        const char *element = g->result == GATE_FAILED ? "failure" : "error";
        dl_str_fmt(out, ">\n<%s message=\"%s: ", element, gate_results[g->result]);
        xml(g->n_reasons ? g->reasons[0] : "", out);
        dl_str_add(out, "\">");
        for (size_t k = 0; k < g->n_reasons; k++) {
            xml(g->reasons[k], out);
            dl_str_char(out, '\n');
        }
        dl_str_fmt(out, "</%s>\n</testcase>\n", element);
    }
    dl_str_add(out, "</testsuite>\n</testsuites>\n");
}
