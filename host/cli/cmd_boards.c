/* devlog boards: which boards there are, and the facts of each. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/grid.h"
#include "base/paths.h"
#include "base/term.h"
#include "cli/cli.h"
#include "device/board.h"
#include "devlog/record.h"
#include "transport/transport.h"

typedef struct boards_args {
    int format;
    bool transports;
} boards_args;

enum { TEXT, CSV, JSON };

static const cli_option options[] = {
    {CLI_CHOICE, "format", 'f', "text|csv|json", "what to print", offsetof(boards_args, format)},
    {CLI_FLAG, "transports", 't', NULL, "list the transports instead: how boards can be reached",
     offsetof(boards_args, transports)},
    {0},
};

/* The facts, as texts, in the order of the heads. */
enum { FACTS = 11, FACT = 128 };
static const char *const heads[FACTS] = {"board", "title", "arch", "transports",   "cores",     "riscs",
                                         "mhz",   "clock", "ram",  "record_bytes", "user_bytes"};
static const bool numeric[FACTS] = {[4] = true, [5] = true, [6] = true, [8] = true, [9] = true, [10] = true};

static void facts_of(const board *b, char out[FACTS][FACT])
{
    uint64_t ram = 0;
    char transports[FACT] = "";
    for (uint32_t i = 0; i < b->n_rams; i++)
        ram += b->rams[i].size;
    for (uint32_t i = 0; i < b->n_transports; i++) {
        size_t used = strlen(transports);
        snprintf(transports + used, sizeof transports - used, "%s%s", i ? " " : "", b->transports[i]);
    }
    snprintf(out[0], FACT, "%s", b->name);
    snprintf(out[1], FACT, "%s", b->title);
    snprintf(out[2], FACT, "%s", b->arch);
    snprintf(out[3], FACT, "%s", transports);
    snprintf(out[4], FACT, "%u", b->n_columns * b->n_rows);
    snprintf(out[5], FACT, "%u", b->n_riscs);
    snprintf(out[6], FACT, "%u", b->mhz);
    if (b->clock_kind == BOARD_CLOCK_CSR)
        snprintf(out[7], FACT, "mcycle");
    else
        snprintf(out[7], FACT, "0x%08x", b->clock_low);
    snprintf(out[8], FACT, "%llu", (unsigned long long)ram);
    snprintf(out[9], FACT, "%u", DEVLOG_SEGMENTS * DEVLOG_SEGMENT_BYTES(b->segment_bits));
    snprintf(out[10], FACT, "%u", b->user.size);
}

static const dl_grid_column board_columns[] = {
    {"board", DL_GRID_LEFT, 0},    {"cores", DL_GRID_RIGHT, 0},     {"RISCs", DL_GRID_RIGHT, 0},
    {"MHz", DL_GRID_RIGHT, 0},     {"clock", DL_GRID_LEFT, 3},      {"RAM", DL_GRID_RIGHT, 2},
    {"records", DL_GRID_RIGHT, 1}, {"transports", DL_GRID_LEFT, 0}, {"title", DL_GRID_NAME, 0},
};

static void add_row(dl_str *out, dl_grid *grid, int format, bool first, const char facts[FACTS][FACT])
{
    static const int shown[] = {0, 4, 5, 6, 7, 8, 9, 3, 1};
    if (format == TEXT) {
        for (size_t i = 0; i < sizeof shown / sizeof shown[0]; i++)
            dl_grid_text(grid, facts[shown[i]]);
        return;
    }
    if (format == CSV && first)
        for (int i = 0; i < FACTS; i++)
            dl_str_fmt(out, "%s%s", heads[i], i + 1 < FACTS ? "," : "\n");
    if (format == JSON) dl_str_add(out, first ? "\n {" : ",\n {");
    for (int i = 0; i < FACTS; i++) {
        if (format == JSON) dl_str_fmt(out, "%s\"%s\":", i ? "," : "", heads[i]);
        if (numeric[i])
            dl_str_add(out, facts[i]);
        else if (format == JSON)
            dl_str_json(out, facts[i], strlen(facts[i]));
        else
            dl_str_csv(out, facts[i], strlen(facts[i]));
        if (format == CSV) dl_str_char(out, i + 1 < FACTS ? ',' : '\n');
    }
    if (format == JSON) dl_str_char(out, '}');
}

static int is_board(const struct dirent *entry)
{
    size_t n = strlen(entry->d_name);
    return n > 5 && strcmp(entry->d_name + n - 5, ".json") == 0;
}

/* The files that are named, or all of the boards folder. Returns how many could not be read; *good: could. */
static uint32_t add_boards(dl_str *out, int format, const cli_args *rest, uint32_t *good)
{
    char folder[4096] = "", path[4352];
    struct dirent **entries = NULL;
    int n = rest->n;
    uint32_t bad = 0;
    dl_grid grid = DL_GRID(board_columns);
    if (n == 0 && dl_join(folder, sizeof folder, dl_home(), "boards", NULL) == DEVLOG_OK)
        n = scandir(folder, &entries, is_board, alphasort);
    if (format == JSON) dl_str_add(out, "{\"format\":\"devlog-boards-1\",\"boards\":[");
    if (n <= 0) {
        fprintf(stderr, "devlog boards: there are no board files in %s; DEVLOG_HOME names the folder above\n",
                folder);
        bad = 1;
    }
    for (int i = 0; i < n; i++) {
        board b;
        devlog_error err = {0};
        char facts[FACTS][FACT];
        if (entries) snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
        if (board_load(entries ? path : rest->items[i], &b, &err) != DEVLOG_OK) {
            fprintf(stderr, "devlog boards: %s\n", err.text);
            bad++;
        } else {
            facts_of(&b, facts);
            add_row(out, &grid, format, (*good)++ == 0, (const char(*)[FACT])facts);
        }
        if (entries) free(entries[i]);
    }
    free(entries);
    if (format == JSON) dl_str_add(out, "]}\n");
    if (*good && format == TEXT) dl_grid_print(&grid, dl_term_width(stdout), out);
    return bad;
}

static void add_transports(dl_str *out, int format)
{
    static const dl_grid_column columns[] = {{NULL, DL_GRID_LEFT, 0}, {NULL, DL_GRID_NAME, 0}};
    const dl_transport_ops *t;
    dl_grid grid = DL_GRID(columns);
    if (format == CSV) dl_str_add(out, "transport,path_variable,summary\n");
    if (format == JSON) dl_str_add(out, "{\"format\":\"devlog-boards-1\",\"transports\":[");
    for (uint32_t i = 0; (t = dl_transport_at(i)) != NULL; i++) {
        const char *variable = t->path_setting ? dl_setting_of(t->path_setting)->name : "";
        if (format == TEXT) {
            dl_grid_text(&grid, t->name);
            dl_grid_text(&grid, t->summary);
        } else if (format == CSV) {
            dl_str_fmt(out, "%s,%s,", t->name, variable);
            dl_str_csv(out, t->summary, strlen(t->summary));
            dl_str_char(out, '\n');
        } else {
            dl_str_fmt(out,
                       "%s{\"transport\":\"%s\",\"path_variable\":\"%s\",\"summary\":", i ? ",\n " : "\n ",
                       t->name, variable);
            dl_str_json(out, t->summary, strlen(t->summary));
            dl_str_char(out, '}');
        }
    }
    if (format == JSON) dl_str_add(out, "]}\n");
    if (format == TEXT) dl_grid_print(&grid, dl_term_width(stdout), out);
}

static int run(int argc, char **argv)
{
    boards_args a = {0};
    cli_args rest;
    dl_str out = {0};
    uint32_t bad = 0, good = 0;
    int exit_status;
    if (!cli_parse(&cmd_boards, argc, argv, &a, &rest, &exit_status)) return exit_status;
    if (a.transports)
        add_transports(&out, a.format);
    else
        bad = add_boards(&out, a.format, &rest, &good);
    devlog_error err;
    const devlog_status status = dl_print(&out, &err);
    if (status) fprintf(stderr, "devlog boards: %s\n", err.text);
    exit_status = status ? CLI_FAILED : bad == 0 ? CLI_OK : good ? CLI_PARTIAL : CLI_FAILED;
    dl_str_free(&out);
    cli_args_free(&rest);
    return exit_status;
}

const cli_command cmd_boards = {
    .name = "boards",
    .summary = "List the boards with their facts, or the transports",
    .arguments = "[BOARD]...",
    .max_arguments = CLI_ANY,
    .description = "Every number comes from the board's file; its member \"sources\" says where that has it "
                   "from. Bytes of records "
                   "are per RISC, of RAM per core. With BOARD, a name or a file, only those; that also "
                   "checks a new board file.",
    .options = options,
    .examples = "  devlog boards                  all of them\n"
                "  devlog boards my_board.json    is this file right?\n"
                "  devlog boards --transports     how boards can be reached\n",
    .see_also = "devlog-selftest(1)",
    .run = run,
};
