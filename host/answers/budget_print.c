/* The outputs of budgets: tables for people, JSON and CSV for programs. */
#include <string.h>

#include "answers/budget.h"
#include "base/grid.h"

void budgets_print_text(const budgets *b, unsigned width, dl_str *out)
{
    dl_str_add(out, "     budget       most      spare  RISC     zone\n");
    for (size_t i = 0; i < b->n; i++) {
        const budget *item = &b->items[i];
        char cycles[DL_GROUPED_SIZE], most[DL_GROUPED_SIZE], spare[DL_GROUPED_SIZE + 1] = "-";
        const uint64_t apart =
            item->most > item->cycles ? item->most - item->cycles : item->cycles - item->most;
        char *digits = spare;
        if (item->count && item->most > item->cycles) *digits++ = '-';
        if (item->count) dl_u64_grouped(digits, apart);
        dl_str_fmt(out, "%11s %10s %10s  ", dl_u64_grouped(cycles, item->cycles),
                   item->count ? dl_u64_grouped(most, item->most) : "-", spare);
        const char *risc = item->risc ? item->risc : "*";
        const size_t before = out->len;
        dl_str_shown(out, risc, strlen(risc));
        dl_str_fmt(out, "%*s ", out->len - before < 8 ? (int)(8 - (out->len - before)) : 0, "");
        const unsigned taken = 44 + 15; /* the columns before it, and what may stand behind */
        if (width)
            dl_str_short(out, item->zone,
                         width > taken + DL_GRID_LEAST_NAME ? width - taken : DL_GRID_LEAST_NAME);
        else
            dl_str_shown(out, item->zone, strlen(item->zone));
        if (item->result != BUDGET_KEPT) dl_str_fmt(out, "  (%s)", budget_result_names[item->result]);
        dl_str_char(out, '\n');
    }
}

void budgets_print_markdown(const budgets *b, dl_str *out)
{
    dl_str_add(out, "| budget | most | spare | RISC | zone | result |\n|--:|--:|--:|---|---|---|\n");
    for (size_t i = 0; i < b->n; i++) {
        const budget *item = &b->items[i];
        dl_str_fmt(out, "| %llu ", (unsigned long long)item->cycles);
        if (item->count)
            dl_str_fmt(out, "| %llu | %lld ", (unsigned long long)item->most,
                       (long long)(item->cycles - item->most));
        else
            dl_str_add(out, "| - | - ");
        dl_str_add(out, "| ");
        dl_str_markdown(out, item->risc ? item->risc : "*");
        dl_str_add(out, " | ");
        dl_str_markdown(out, item->zone);
        dl_str_fmt(out, " | %s |\n", budget_result_names[item->result]);
    }
}

void budgets_print_csv(const budgets *b, dl_str *out)
{
    dl_str_add(
        out,
        "zone,risc,budget [cycles],result,count,most [cycles],spare [cycles],chip,core_x,core_y,on,launch\n");
    for (size_t i = 0; i < b->n; i++) {
        const budget *item = &b->items[i];
        dl_str_csv(out, item->zone, strlen(item->zone));
        dl_str_char(out, ',');
        if (item->risc) dl_str_csv(out, item->risc, strlen(item->risc));
        dl_str_fmt(out, ",%llu,%s,%llu,", (unsigned long long)item->cycles, budget_result_names[item->result],
                   (unsigned long long)item->count);
        if (item->count) {
            dl_str_fmt(out, "%llu,%lld,%u,%u,%u,", (unsigned long long)item->most,
                       (long long)(item->cycles - item->most), item->chip, item->x, item->y);
            dl_str_csv(out, item->on, strlen(item->on));
            dl_str_char(out, ',');
            if (item->launch != UINT64_MAX) dl_str_u64(out, item->launch);
        } else {
            dl_str_add(out, ",,,,,,");
        }
        dl_str_char(out, '\n');
    }
}

void budgets_print_json(const budgets *b, dl_str *out)
{
    dl_str_fmt(out, "{\"format\":\"devlog-budget-%d\",\"kept\":%s,\"budgets\":[", BUDGET_FORMAT_VERSION,
               budgets_kept(b) ? "true" : "false");
    for (size_t i = 0; i < b->n; i++) {
        const budget *item = &b->items[i];
        dl_str_add(out, i ? ",\n {\"zone\":" : "\n {\"zone\":");
        dl_str_json(out, item->zone, strlen(item->zone));
        dl_str_add(out, ",\"risc\":");
        if (item->risc)
            dl_str_json(out, item->risc, strlen(item->risc));
        else
            dl_str_add(out, "null");
        dl_str_fmt(out, ",\"budget\":%llu,\"result\":\"%s\",\"count\":%llu,\"most\":",
                   (unsigned long long)item->cycles, budget_result_names[item->result],
                   (unsigned long long)item->count);
        if (item->count) {
            dl_str_fmt(out, "{\"cycles\":%llu,\"chip\":%u,\"core\":[%u,%u],\"risc\":",
                       (unsigned long long)item->most, item->chip, item->x, item->y);
            dl_str_json(out, item->on, strlen(item->on));
            if (item->launch == UINT64_MAX)
                dl_str_add(out, ",\"launch\":null}}");
            else
                dl_str_fmt(out, ",\"launch\":%llu}}", (unsigned long long)item->launch);
        } else {
            dl_str_add(out, "null}");
        }
    }
    dl_str_add(out, "]}\n");
}
