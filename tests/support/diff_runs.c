/* See diff_runs.h. */
#include "support/diff_runs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "support/cli.h"
#include "support/files.h"

typedef struct mark {
    unsigned long long at;
    const char *risc, *zone, *type;
    unsigned line, core, chip, launch, nth;
} mark;

static void row(dl_str *out, const log_of *l, const mark *m)
{
    dl_str_fmt(out, "%u,%u,1,%s,%u,%llu,0,%u,%s,%s,%u,/src/%s.cc,\n", m->chip, m->core + 1, m->risc,
               (unsigned)strlen(m->zone) * 100 + m->line, m->at, l->id + m->launch, m->zone, m->type, m->line,
               strstr(m->zone, "BRISC") ? "brisc" : "matmul");
}

static int by_time(const void *a, const void *b)
{
    const mark *x = a, *y = b;
    if (x->at != y->at) return x->at < y->at ? -1 : 1;
    return x->nth < y->nth ? -1 : x->nth > y->nth;
}

/* Two cores, BRISC and TRISC_1; now and then a cycle more. */
void write_log(const char *name, const log_of *l)
{
    dl_str out = {0};
    dl_str_fmt(&out, "ARCH: %s, CHIP_FREQ[MHz]: ", l->arch);
    if (l->mhz)
        dl_str_fmt(&out, "%u\n", l->mhz);
    else
        dl_str_add(&out, "0\n");
    dl_str_add(
        &out,
        "PCIe slot, core_x, core_y, RISC processor type, timer_id, time[cycles since reset], data, run host "
        "ID,  zone name, type, source line, source file, meta data\n");
    enum { MARKS = 14 };
    const unsigned chips = l->chips ? l->chips : 1;
    mark *all = malloc((size_t)chips * 2 * l->launches * MARKS * sizeof *all);
    unsigned n = 0;
    assert_non_null(all);
    for (unsigned core = 0; core < 2 * chips; core++) {
        unsigned long long at = 1000000 + core / 2 * 20000;
        for (unsigned i = 0; i < l->launches; i++, at += 100000) {
            const unsigned long long more = i % 3, end = at + 200 + l->load + more;
            const mark marks[MARKS] = {
                {.at = at, "BRISC", "BRISC-FW", "ZONE_START", 396},
                {.at = at + 100, "BRISC", "BRISC-KERNEL", "ZONE_START", 49},
                {.at = end + 10, "BRISC", "BRISC-KERNEL", "ZONE_END", 49},
                {.at = end + 20, "BRISC", "BRISC-FW", "ZONE_END", 396},
                {.at = at + 50, "TRISC_1", "TRISC-FW", "ZONE_START", 200},
                {.at = at + 90, "TRISC_1", "TRISC-KERNEL", "ZONE_START", 30},
                {.at = at + 100, "TRISC_1", "load", "ZONE_START", l->load_line},
                {.at = at + 110, "TRISC_1", "loop", "ZONE_START", l->loop_line},
                {.at = at + 110 + l->loop + more, "TRISC_1", "loop", "ZONE_END", l->loop_line},
                {.at = at + 100 + l->load + more, "TRISC_1", "load", "ZONE_END", l->load_line},
                {.at = end, "TRISC_1", l->extra ? l->extra : "", "ZONE_START", 77},
                {.at = end + 5, "TRISC_1", l->extra ? l->extra : "", "ZONE_END", 77},
                {.at = end + 6, "TRISC_1", "TRISC-KERNEL", "ZONE_END", 30},
                {.at = end + 8, "TRISC_1", "TRISC-FW", "ZONE_END", 200},
            };
            for (size_t k = 0; k < MARKS; k++) {
                if (!*marks[k].zone) continue;
                all[n] = marks[k];
                all[n].core = core % 2;
                all[n].chip = core / 2;
                all[n].launch = i;
                all[n].nth = n;
                n++;
            }
        }
    }
    if (l->by_time) qsort(all, n, sizeof *all, by_time);
    for (unsigned i = 0; i < n; i++)
        row(&out, l, &all[i]);
    free(all);
    write_text(in_scratch(name), out.text);
    dl_str_free(&out);
}

static double jitter(const report_of *r, uint64_t *seed)
{
    if (!r->noise) return 1;
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return 1 + 0.01 * (2 * (double)(*seed >> 40) / (1 << 24) - 1);
}

/* 24 ops of four codes, each in two shapes. */
void write_report(const char *name, const report_of *r)
{
    static const char *const codes[] = {"Matmul", "Add", "Softmax", "Copy"};
    dl_str out = {0};
    uint64_t seed = r->noise * UINT64_C(77777777777);
    unsigned long long at = 1000;
    unsigned id = 0;
    dl_str_add(&out, OP_REPORT_HEAD);
    for (unsigned i = 0; i < 24 * r->copies; i++) {
        const unsigned op = i % 8;
        const unsigned long long ns = (unsigned long long)(10000 * (op + 1) * r->device * jitter(r, &seed)),
                                 host = (unsigned long long)(5000 * r->host * jitter(r, &seed)),
                                 gap = (unsigned long long)(300 * r->gap * jitter(r, &seed));
        const bool device = !r->no_device && !(r->half_device && i % 2) && !(r->one_less && i == 9);
        dl_str_fmt(&out, "%s%s,tt_dnn_device,%u,0,", codes[op % 4], r->suffix, ++id);
        if (r->no_host)
            dl_str_add(&out, ",,,");
        else
            dl_str_fmt(&out, "%llu,%llu,%llu,", at, at + host, host);
        at += host + 100;
        if (!r->no_gap) dl_str_fmt(&out, "%llu", gap);
        if (device)
            dl_str_fmt(&out, ",%llu,%llu,%llu,%llu", ns + 100, ns, ns / 2, ns - 10);
        else
            dl_str_add(&out, ",,,,");
        dl_str_fmt(&out, ",1,1,32[30],%u,BFLOAT16,1,1,32[30],32\n",
                   op == 0 && r->width ? r->width
                   : op < 4            ? 32
                                       : 64);
    }
    write_text(in_scratch(name), out.text);
    dl_str_free(&out);
}

void has(const char *text, const char *what)
{
    if (!strstr(text, what)) fail_msg("no '%s' in:\n%s", what, text);
}

void has_not(const char *text, const char *what)
{
    if (strstr(text, what)) fail_msg("'%s' in:\n%s", what, text);
}

void says(const char *line, int status, const char *what)
{
    char *text = devlog_ok(line, status);
    has(text, what);
    free(text);
}
