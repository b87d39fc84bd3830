/* devlog dump: where the RISCs of a chip are that hangs or has crashed, without launching anything. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/elf.h"
#include "base/file.h"
#include "base/term.h"
#include "cli/cli.h"
#include "profiler/look.h"

typedef struct dump_args {
    const char *device, *board, *save;
    cli_list elfs;
    bool all;
    int format;
} dump_args;

enum { TEXT, CSV, JSON };

static const cli_option options[] = {
    CLI_TITLE("Device"),
    {CLI_STRING, "device", 'd', "TRANSPORT[:PATH]",
     "qemu, qemu:FOLDER, usb, usb:SERIAL, kmd:NUMBER: a device that runs, maybe in another program",
     offsetof(dump_args, device)},
    {CLI_STRING, "board", 'b', "BOARD",
     "name or file of the board; unless told: DEVLOG_BOARD, else the usual one", offsetof(dump_args, board)},
    {CLI_EACH, "elf", 0, "FILE", "look for the names of markers in this file, too; may be given again",
     offsetof(dump_args, elfs)},
    CLI_TITLE("Output"),
    {CLI_CHOICE, "format", 'f', "text|csv|json", "what to print", offsetof(dump_args, format)},
    {CLI_FLAG, "all", 'a', NULL, "show the RISCs that are idle, too", offsetof(dump_args, all)},
    {CLI_STRING, "save", 0, "FILE", "save the state of the device there instead", offsetof(dump_args, save)},
    {0},
};

typedef struct printer {
    const dump_args *args;
    dl_str out;
    devlog_core core; /* of the last that was printed */
    bool any, incomplete;
    uint32_t shown, busy, hidden, mhz;
    uint32_t incomplete_hidden; /* of the hidden ones */
} printer;

static bool is_busy(const look_risc *r)
{
    return r->state == LOOK_FIRMWARE || r->state == LOOK_KERNEL || r->state == LOOK_RUNNING ||
           r->state == LOOK_DOWN || r->state == LOOK_RESTARTED;
}

/* Cycles between a stamp and now. */
static void add_since(dl_str *out, const look_risc *r, uint64_t time, uint32_t mhz)
{
    char digits[DL_GROUPED_SIZE];
    if (!r->has_clock || r->clock < time) {
        dl_str_fmt(out, "since cycle %" PRIu64, time);
        return;
    }
    uint64_t cycles = r->clock - time;
    dl_str_fmt(out, "for %s cycles", dl_u64_grouped(digits, cycles));
    if (mhz) dl_str_fmt(out, " (%.3f ms)", (double)cycles / mhz / 1000);
}

/* A name out of an ELF file, which a terminal shows and does not obey, between two texts. */
static void add_name(dl_str *out, const char *before, const char *name, const char *behind)
{
    dl_str_add(out, before);
    dl_str_shown(out, name, strlen(name));
    dl_str_add(out, behind);
}

static void add_place(dl_str *out, const look_mark *m)
{
    const char *slash = strrchr(m->file, '/');
    if (!m->file[0] || !m->line) return;
    add_name(out, " (", slash ? slash + 1 : m->file, "");
    dl_str_fmt(out, ":%u)", m->line);
}

static void print_text(printer *p, const look_risc *r)
{
    dl_str *out = &p->out;
    if (!p->any || r->core.x != p->core.x || r->core.y != p->core.y)
        dl_str_fmt(out, "%score (%u,%u), launch %u\n", p->any ? "\n" : "", r->core.x, r->core.y, r->launch);
    dl_str_fmt(out, "  %-8s %s", r->name, look_state_text(r->state));
    if (r->has_pc) dl_str_fmt(out, ", pc 0x%08" PRIx32, r->pc);
    if (r->function[0]) add_name(out, " in ", r->function, "");
    if (r->place[0]) add_name(out, " (", r->place, ")");
    dl_str_char(out, '\n');
    for (uint32_t i = 0; i < r->n_open; i++) {
        dl_str_fmt(out, "           %*s", (int)(2 * i), "");
        add_name(out, "in zone \"", r->open[i].name, "\"");
        add_place(out, &r->open[i]);
        dl_str_char(out, ' ');
        add_since(out, r, r->open[i].time, p->mhz);
        dl_str_char(out, '\n');
    }
    if (r->has_last && is_busy(r)) {
        dl_str_fmt(out, "           last marker: %s", r->last_what);
        add_name(out, " \"", r->last.name, "\"");
        add_place(out, &r->last);
        dl_str_fmt(out, " at cycle %" PRIu64 ", of %u\n", r->last.time, r->markers);
    }
    if (r->lost) dl_str_fmt(out, "           %" PRIu64 " markers found no place\n", r->lost);
    if (r->unnamed)
        dl_str_add(out, "           the ELF file of its kernel is not in the cache: name it with --elf\n");
    if (r->damaged) dl_str_add(out, "           some of its records make no sense and were left out\n");
}

static void csv_cell(dl_str *out, const char *text)
{
    dl_str_csv(out, text, strlen(text));
    dl_str_char(out, ',');
}

static const char csv_head[] =
    "core_x,core_y,risc,state,launch,host_id,pc,function,place,open_zones,innermost_since,"
    "clock,last_what,last_marker,last_file,last_line,last_time,markers,lost,damaged,unnamed\n";

static void print_csv(printer *p, const look_risc *r)
{
    dl_str *out = &p->out, zones = {0};
    if (!p->any) dl_str_add(out, csv_head);
    for (uint32_t i = 0; i < r->n_open; i++)
        dl_str_fmt(&zones, "%s%s", i ? ";" : "", r->open[i].name);
    dl_str_fmt(out, "%u,%u,%s,%s,%u,%u,", r->core.x, r->core.y, r->name, look_state_text(r->state), r->launch,
               r->host_id);
    if (r->has_pc) dl_str_fmt(out, "0x%08" PRIx32, r->pc);
    dl_str_char(out, ',');
    csv_cell(out, r->function);
    csv_cell(out, r->place);
    csv_cell(out, zones.text ? zones.text : "");
    if (r->n_open) dl_str_u64(out, r->open[r->n_open - 1].time);
    dl_str_char(out, ',');
    if (r->has_clock) dl_str_u64(out, r->clock);
    dl_str_char(out, ',');
    csv_cell(out, r->has_last ? r->last_what : "");
    csv_cell(out, r->has_last ? r->last.name : "");
    csv_cell(out, r->has_last ? r->last.file : "");
    if (r->has_last) dl_str_fmt(out, "%u,%" PRIu64, r->last.line, r->last.time);
    dl_str_fmt(out, "%s,%u,%" PRIu64 ",%d,%d\n", r->has_last ? "" : ",", r->markers, r->lost, r->damaged,
               r->unnamed);
    dl_str_free(&zones);
}

static void json_text(dl_str *out, const char *key, const char *text)
{
    dl_str_fmt(out, ",\"%s\":", key);
    dl_str_json(out, text, strlen(text));
}

static void json_mark(dl_str *out, const look_mark *m)
{
    dl_str_add(out, "{\"name\":");
    dl_str_json(out, m->name, strlen(m->name));
    json_text(out, "file", m->file);
    dl_str_fmt(out, ",\"line\":%u,\"time\":%" PRIu64 "}", m->line, m->time);
}

static void print_json(printer *p, const look_risc *r)
{
    dl_str *out = &p->out;
    dl_str_fmt(out, "%s{\"core\":[%u,%u],\"risc\":\"%s\",\"state\":\"%s\",\"launch\":%u,\"host_id\":%u",
               p->any ? ",\n  " : "{\"format\":\"devlog-dump-1\",\"riscs\":[\n  ", r->core.x, r->core.y,
               r->name, look_state_text(r->state), r->launch, r->host_id);
    if (r->has_pc) dl_str_fmt(out, ",\"pc\":%" PRIu32, r->pc);
    if (r->function[0]) json_text(out, "function", r->function);
    if (r->place[0]) json_text(out, "place", r->place);
    if (r->has_clock) dl_str_fmt(out, ",\"clock\":%" PRIu64, r->clock);
    dl_str_add(out, ",\"open\":[");
    for (uint32_t i = 0; i < r->n_open; i++) {
        if (i) dl_str_char(out, ',');
        json_mark(out, &r->open[i]);
    }
    dl_str_char(out, ']');
    if (r->has_last) {
        json_text(out, "last_what", r->last_what);
        dl_str_add(out, ",\"last\":");
        json_mark(out, &r->last);
    }
    dl_str_fmt(out, ",\"markers\":%u,\"lost\":%" PRIu64 ",\"damaged\":%s,\"unnamed\":%s}", r->markers,
               r->lost, r->damaged ? "true" : "false", r->unnamed ? "true" : "false");
}

static devlog_status print_risc(void *context, const look_risc *r, devlog_error *err)
{
    static void (*const print[])(printer *, const look_risc *) = {print_text, print_csv, print_json};
    printer *p = context;
    const bool incomplete = r->damaged || r->unnamed || r->lost > 0;
    p->incomplete |= incomplete;
    p->busy += is_busy(r);
    if (!is_busy(r) && !p->args->all) {
        p->hidden++;
        p->incomplete_hidden += incomplete;
        return DEVLOG_OK;
    }
    print[p->args->format](p, r);
    p->any = true;
    p->core = r->core;
    p->shown++;
    return dl_str_status(&p->out, err);
}

static void print_end(printer *p, const devlog_device *device, uint32_t cores)
{
    dl_str *out = &p->out;
    if (p->args->format == CSV && !p->any) dl_str_add(out, csv_head);
    if (p->args->format == JSON)
        dl_str_add(out, p->any ? "]}\n" : "{\"format\":\"devlog-dump-1\",\"riscs\":[]}\n");
    if (p->args->format != TEXT) return;
    dl_str_fmt(out, "%s%s, %u core%s started; %u RISC%s busy", p->any ? "\n" : "", device->board.title, cores,
               cores == 1 ? "" : "s", p->busy, p->busy == 1 ? "" : "s");
    if (p->hidden) dl_str_fmt(out, ", %u not (shown with --all)", p->hidden);
    dl_str_char(out, '\n');
}

/* Files that are named are meant to be read. */
static devlog_status check_elfs(const cli_list *elfs, devlog_error *err)
{
    devlog_status status = DEVLOG_OK;
    for (size_t i = 0; i < elfs->n && !status; i++) {
        dl_elf elf;
        status = dl_elf_read(elfs->items[i], &elf, err);
        if (!status) dl_elf_free(&elf);
    }
    return status;
}

static int run(int argc, char **argv)
{
    dump_args a = {0};
    cli_args rest;
    devlog_error err = {0};
    devlog_device *device = NULL;
    int exit_status;
    if (!cli_parse(&cmd_dump, argc, argv, &a, &rest, &exit_status)) return exit_status;
    printer p = {.args = &a};
    uint32_t cores = 0;
    if ((rest.n == 1) == (a.device != NULL)) {
        exit_status = cli_wrong(&cmd_dump, "name either a file with a saved state or a --device");
        goto done;
    }
    exit_status = CLI_FAILED;
    const devlog_device_options opening =
        DEVLOG_DEVICE_OPTIONS(.board = a.board, .transport = a.device ? a.device : "saved",
                              .path = a.device ? NULL : rest.items[0], .profile = DEVLOG_OFF, .attach = true);
    devlog_status status = check_elfs(&a.elfs, &err);
    if (!status) status = devlog_device_open(&opening, &device, &err);
    const look_options looking = {.elfs = a.elfs.items, .n_elfs = (uint32_t)a.elfs.n};
    if (status == DEVLOG_OK && a.save) {
        status = devlog_save_state(device, a.save, &err);
        if (status == DEVLOG_OK) exit_status = CLI_OK;
    } else if (status == DEVLOG_OK) {
        p.mhz = device->board.mhz;
        status = look_at_device(device, &looking, print_risc, &p, &cores, &err);
        print_end(&p, device, cores);
        if (p.incomplete_hidden)
            fprintf(
                stderr,
                "devlog dump: of RISCs that are not shown %u have lost or damaged records, or no ELF file: "
                "--all shows them\n",
                p.incomplete_hidden);
        devlog_error unheard; /* of two failures the first is told */
        const devlog_status printed = dl_print(&p.out, status == DEVLOG_OK ? &err : &unheard);
        if (status == DEVLOG_OK) status = printed;
        if (status == DEVLOG_OK)
            exit_status = p.incomplete ? CLI_PARTIAL : CLI_OK;
        else if (cores)
            exit_status = CLI_PARTIAL;
    }
    if (status != DEVLOG_OK) fprintf(stderr, "devlog dump: %s\n", err.text);
done:
    dl_str_free(&p.out);
    devlog_device_close(device, &err);
    cli_args_free(&rest);
    return exit_status;
}

const cli_command cmd_dump = {
    .name = "dump",
    .summary = "Show where a chip hangs or has crashed: core, RISC, open zones, pc",
    .arguments = "[FILE]",
    .max_arguments = 1,
    .description = "Reads control words and records of every core that has been started, and launches "
                   "nothing. For each RISC "
                   "that has work: its state, the zones that are open on it and for how long, its last "
                   "marker, and its pc where "
                   "the transport can tell without stopping it.\n\n"
                   "A program whose launch is not done in time, or whose simulated chip stops, writes its "
                   "state to the file that "
                   "DEVLOG_POSTMORTEM names; FILE is such a file. QEMU, a probe and a card can also be "
                   "looked at from outside "
                   "while the program waits.",
    .options = options,
    .examples =
        "  DEVLOG_POSTMORTEM=hang.state ./program; devlog dump hang.state    what hung in the simulator\n"
        "  devlog dump --device qemu    the program that uses QEMU on this machine just now\n"
        "  devlog dump --device usb --save hang.state    keep what a board holds\n",
    .files =
        "The names of markers are found by the build id that the host left on the device, in the cache of "
        "compiled programs (DEVLOG_CACHE) and in the files of --elf.",
    .see_also = "devlog-decode(1), devlog-selftest(1)",
    .run = run,
};
