/* devlog devices: debug probes on USB, cards, and the boards that are known, with what is wrong with each. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/grid.h"
#include "base/paths.h"
#include "base/str.h"
#include "base/term.h"
#include "cli/cli.h"
#include "device/board.h"
#include "transport/cards.h"
#include "transport/usb_probe.h"

enum { FORMAT_TEXT, FORMAT_JSON, FORMAT_CSV, COLUMNS = 5 };

typedef struct devices_args {
    int format;
} devices_args;

typedef struct row {
    char *cells[COLUMNS]; /* kind, device spec or name, what it is, state, what is wrong and what to do */
} row;

typedef struct table {
    row *rows;
    size_t n;
    bool failed;
} table;

static const char *const titles[COLUMNS] = {"kind", "name", "description", "state", "cure"};

static void add(table *t, const char *const cells[COLUMNS])
{
    row *bigger = realloc(t->rows, (t->n + 1) * sizeof *bigger);
    if (!bigger) {
        t->failed = true;
        return;
    }
    t->rows = bigger;
    row *r = &bigger[t->n++];
    for (int i = 0; i < COLUMNS; i++) {
        dl_str shown = {0}; /* a probe says of itself what it likes */
        dl_str_add(&shown, "");
        dl_str_shown(&shown, cells[i], strlen(cells[i]));
        t->failed |= shown.failed;
        r->cells[i] = shown.text;
    }
}

static void free_table(table *t)
{
    for (size_t i = 0; i < t->n; i++)
        for (int k = 0; k < COLUMNS; k++)
            free(t->rows[i].cells[k]);
    free(t->rows);
}

/* ---- What there is ------------------------------------------------------------------------------- */

static void add_probes(table *t)
{
    static const char *const states[] = {"ready", "no permission", "in use", "too old", "broken"};
    usb_probe_info *list;
    size_t n;
    devlog_error err;
    if (usb_probes_list(&list, &n, &err) != DEVLOG_OK)
        add(t, (const char *[]){"probe", "usb", "", "broken", err.text});
    for (size_t i = 0; i < n; i++) {
        const usb_probe_info *p = &list[i];
        char name[128], what[160];
        snprintf(name, sizeof name, "usb:%s", p->serial[0] ? p->serial : p->path);
        snprintf(what, sizeof what, "%s (USB %s, %04x:%04x)", p->product[0] ? p->product : "CMSIS-DAP probe",
                 p->path, p->vendor, p->device);
        add(t, (const char *[]){"probe", name, what, states[p->state], p->wrong});
    }
    free(list);
}

/* The board file whose chip has this PCI identity; "" when there is none. */
static void board_of_card(const table *boards, const card_info *c, char *out, size_t size)
{
    board b;
    out[0] = 0;
    for (size_t i = 0; i < boards->n; i++) {
        if (board_load(boards->rows[i].cells[1], &b, NULL) != DEVLOG_OK) continue;
        if (b.pci_vendor != c->vendor || b.pci_device != c->device) continue;
        for (uint32_t k = 0; k < b.n_transports; k++)
            if (strcmp(b.transports[k], "kmd") == 0) snprintf(out, size, "%s", b.title);
    }
}

static void add_cards(table *t, const table *boards)
{
    card_info *list;
    size_t n;
    devlog_error err;
    if (cards_list(NULL, &list, &n, &err) != DEVLOG_OK)
        add(t, (const char *[]){"card", "kmd", "", "broken", err.text});
    for (size_t i = 0; i < n; i++) {
        char name[320], what[160], title[96];
        board_of_card(boards, &list[i], title, sizeof title);
        snprintf(name, sizeof name, "%s%s", list[i].path[0] == '/' ? "kmd:" : "", list[i].path);
        snprintf(what, sizeof what, "%s (PCI %04x:%04x)", title[0] ? title : "a chip without a board file",
                 list[i].vendor, list[i].device);
        const char *state = list[i].in_use ? "in use" : list[i].wrong[0] ? "not usable" : "ready";
        add(t, (const char *[]){"card", name, what, state, list[i].wrong});
    }
    free(list);
}

static int is_board(const struct dirent *entry)
{
    size_t n = strlen(entry->d_name);
    return n > 5 && strcmp(entry->d_name + n - 5, ".json") == 0;
}

static void add_boards(table *t)
{
    char folder[4096];
    struct dirent **entries = NULL;
    if (dl_join(folder, sizeof folder, dl_home(), "boards", NULL) != DEVLOG_OK) return;
    int n = scandir(folder, &entries, is_board, alphasort);
    if (n < 0) add(t, (const char *[]){"board", folder, "", "missing", "set DEVLOG_HOME to devlog's folder"});
    for (int i = 0; i < n; i++) {
        board b;
        devlog_error err = {0};
        char name[256], what[300];
        snprintf(name, sizeof name, "%.*s", (int)strlen(entries[i]->d_name) - 5, entries[i]->d_name);
        free(entries[i]);
        if (board_load(name, &b, &err) != DEVLOG_OK) {
            add(t, (const char *[]){"board", name, "", "broken", err.text});
            continue;
        }
        int used = snprintf(what, sizeof what, "%s, by", b.title);
        for (uint32_t k = 0; k < b.n_transports; k++)
            used += snprintf(what + used, sizeof what - (size_t)used, "%s %s", k ? "," : "", b.transports[k]);
        add(t, (const char *[]){"board", name, what, "known", ""});
    }
    free(entries);
}

/* ---- Printing ------------------------------------------------------------------------------------ */

static void print_text(const table *t, dl_str *out)
{
    static const dl_grid_column columns[] = {
        {NULL, DL_GRID_LEFT, 0}, {NULL, DL_GRID_LEFT, 0}, {NULL, DL_GRID_NAME, 0}, {NULL, DL_GRID_LEFT, 0}};
    dl_grid grid = DL_GRID(columns);
    for (size_t i = 0; i < t->n; i++) {
        char *const *c = t->rows[i].cells;
        for (int k = 0; k < 4; k++)
            dl_grid_text(&grid, c[k]);
        dl_str what = {0}; /* what to do, in full: it is to be read and typed */
        if (c[4][0]) dl_str_fmt(&what, "       %s", c[4]);
        if (c[4][0]) dl_grid_note(&grid, what.text ? what.text : c[4]);
        dl_str_free(&what);
    }
    dl_grid_print(&grid, dl_term_width(stdout), out);
}

static void print_json(const table *t, dl_str *out)
{
    dl_str_add(out, "{\"format\": \"devlog-devices-1\", \"devices\": [");
    for (size_t i = 0; i < t->n; i++) {
        dl_str_add(out, i ? ",\n {" : "\n {");
        for (int k = 0; k < COLUMNS; k++) {
            const char *text = t->rows[i].cells[k];
            if (k) dl_str_add(out, ", ");
            dl_str_json(out, titles[k], strlen(titles[k]));
            dl_str_add(out, ": ");
            dl_str_json(out, text, strlen(text));
        }
        dl_str_add(out, "}");
    }
    dl_str_add(out, "]}\n");
}

static void print_csv(const table *t, dl_str *out)
{
    for (int k = 0; k < COLUMNS; k++)
        dl_str_fmt(out, "%s%s", k ? "," : "", titles[k]);
    dl_str_char(out, '\n');
    for (size_t i = 0; i < t->n; i++) {
        for (int k = 0; k < COLUMNS; k++) {
            const char *text = t->rows[i].cells[k];
            if (k) dl_str_char(out, ',');
            dl_str_csv(out, text, strlen(text));
        }
        dl_str_char(out, '\n');
    }
}

static int run(int argc, char **argv)
{
    devices_args a = {.format = FORMAT_TEXT};
    cli_args rest;
    int exit_status;
    if (!cli_parse(&cmd_devices, argc, argv, &a, &rest, &exit_status)) return exit_status;
    table all = {0}, boards = {0};
    dl_str out = {0};
    add_boards(&boards);
    add_probes(&all);
    add_cards(&all, &boards);
    for (size_t i = 0; i < boards.n; i++)
        add(&all, (const char *const *)boards.rows[i].cells);
    if (a.format == FORMAT_JSON)
        print_json(&all, &out);
    else if (a.format == FORMAT_CSV)
        print_csv(&all, &out);
    else
        print_text(&all, &out);
    devlog_error err;
    out.failed |= all.failed || boards.failed;
    const devlog_status status = dl_print(&out, &err);
    if (status) fprintf(stderr, "devlog devices: %s\n", err.text);
    dl_str_free(&out);
    free_table(&all);
    free_table(&boards);
    cli_args_free(&rest);
    return status ? CLI_FAILED : CLI_OK;
}

static const cli_option options[] = {
    {CLI_CHOICE, "format", 'f', "text|json|csv", "what to print; text unless told",
     offsetof(devices_args, format)},
    {0},
};

const cli_command cmd_devices = {
    .name = "devices",
    .summary = "List debug probes, cards and boards, and what is wrong with each",
    .description =
        "Lists the CMSIS-DAP probes on USB, the cards of Tenstorrent's driver, and the board files. A name "
        "in the "
        "second column is what a program takes as its device: DEVLOG_TRANSPORT=usb:SERIAL. Below a device "
        "that "
        "cannot be used stands what to do: a udev rule to install, a program to end, a driver to load.\n\n"
        "Nothing is reset or stopped: a probe is opened and closed again, its board is left alone; a card keeps its power "
        "state, and a program that uses it is not disturbed.",
    .options = options,
    .examples = "devlog devices                 what is plugged in\n"
                "devlog devices --format json   the same for a program\n",
    .see_also = "devlog-decode(1)",
    .run = run,
};
