/* Programs: which kernel runs where, with which arguments. Not for running them (launch.c). */
#include "program/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/elf_code.h"
#include "base/options.h"

devlog_status devlog_program_create(devlog_device *device, devlog_program **out, devlog_error *err)
{
    devlog_program *p = calloc(1, sizeof *p);
    if (!p) return dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for a program");
    p->device = device;
    p->last = &p->kernels;
    *out = p;
    return DEVLOG_OK;
}

static void kernel_free(devlog_kernel *k)
{
    free(k->source);
    free(k->flags);
    free(k->args);
    dl_elf_free(&k->elf);
    free(k);
}

void devlog_program_free(devlog_program *program)
{
    if (!program) return;
    if (program->device->last == program) program->device->last = NULL;
    for (devlog_kernel *k = program->kernels, *next; k; k = next) {
        next = k->next;
        kernel_free(k);
    }
    free(program);
}

static bool overlap(devlog_cores a, devlog_cores b)
{
    return a.x0 <= b.x1 && b.x0 <= a.x1 && a.y0 <= b.y1 && b.y0 <= a.y1;
}

static bool inside(devlog_cores r, devlog_core c)
{
    return c.x >= r.x0 && c.x <= r.x1 && c.y >= r.y0 && c.y <= r.y1;
}

static size_t count_cores(devlog_cores r)
{
    return (size_t)(r.x1 - r.x0 + 1) * (r.y1 - r.y0 + 1);
}

static devlog_status check_kernel(const devlog_program *p, const devlog_kernel_options *o, int *risc,
                                  devlog_error *err)
{
    const board *b = &p->device->board;
    if (!o->source || !*o->source) return dl_fail(err, DEVLOG_ERR_ARGUMENT, "a kernel has no source file");
    *risc = o->risc ? board_risc_index(b, o->risc) : -1;
    if (*risc < 0)
        return dl_fail(err, DEVLOG_ERR_ARGUMENT, "%s: board %s has no RISC '%s'; the first is %s", o->source,
                       b->name, o->risc ? o->risc : "", b->riscs[0].name);
    devlog_cores r = o->cores;
    if (r.x0 > r.x1 || r.y0 > r.y1 || r.x1 >= b->n_columns || r.y1 >= b->n_rows)
        return dl_fail(err, DEVLOG_ERR_ARGUMENT,
                       "%s: cores (%u,%u) to (%u,%u) are outside the grid of %s: x 0 to %u, y 0 to %u",
                       o->source, r.x0, r.y0, r.x1, r.y1, b->name, b->n_columns - 1, b->n_rows - 1);
    for (const devlog_kernel *k = p->kernels; k; k = k->next)
        if (k->risc == (uint32_t)*risc && overlap(k->cores, r))
            return dl_fail(err, DEVLOG_ERR_ARGUMENT,
                           "%s: %s of cores (%u,%u) to (%u,%u) already runs %s there", o->source,
                           b->riscs[*risc].name, k->cores.x0, k->cores.y0, k->cores.x1, k->cores.y1,
                           k->source);
    return DEVLOG_OK;
}

devlog_status devlog_program_add_kernel(devlog_program *program, const devlog_kernel_options *options,
                                        devlog_kernel **out, devlog_error *err)
{
    int risc = -1;
    devlog_kernel_options taken;
    devlog_status status = dl_options_take(&taken, sizeof taken, options, "devlog_kernel_options", err);
    options = &taken;
    if (status == DEVLOG_OK) status = check_kernel(program, options, &risc, err);
    if (status != DEVLOG_OK) return status;
    devlog_kernel *k = calloc(1, sizeof *k);
    if (!k) return dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for a kernel");
    k->program = program;
    k->risc = (uint32_t)risc;
    k->cores = options->cores;
    k->source = strdup(options->source);
    k->flags = options->flags ? strdup(options->flags) : NULL;
    k->args = calloc(count_cores(k->cores), sizeof *k->args);
    if (!k->source || !k->args || (options->flags && !k->flags)) {
        kernel_free(k);
        return dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for a kernel");
    }
    devlog_cores *r = &program->bounds;
    if (!program->kernels) *r = k->cores;
    if (k->cores.x0 < r->x0) r->x0 = k->cores.x0;
    if (k->cores.y0 < r->y0) r->y0 = k->cores.y0;
    if (k->cores.x1 > r->x1) r->x1 = k->cores.x1;
    if (k->cores.y1 > r->y1) r->y1 = k->cores.y1;
    *program->last = k;
    program->last = &k->next;
    program->compiled = program->configured = false;
    program->number = program->uses = 0;
    if (out) *out = k;
    return DEVLOG_OK;
}

devlog_status devlog_kernel_set_args(devlog_kernel *kernel, devlog_core core, const uint32_t *args,
                                     uint32_t count, devlog_error *err)
{
    if (count > DEVLOG_MAX_ARGS)
        return dl_fail(err, DEVLOG_ERR_ARGUMENT, "%s: %u arguments; a kernel takes at most %u",
                       kernel->source, count, DEVLOG_MAX_ARGS);
    if (!inside(kernel->cores, core))
        return dl_fail(err, DEVLOG_ERR_ARGUMENT, "%s does not run on core (%u,%u)", kernel->source, core.x,
                       core.y);
    size_t width = kernel->cores.x1 - kernel->cores.x0 + 1;
    size_t row = (core.y - kernel->cores.y0) * width + (core.x - kernel->cores.x0);
    if (count) memcpy(kernel->args[row], args, count * sizeof *args);
    if (count > kernel->n_args) kernel->n_args = count;
    kernel->program->configured = false;
    return DEVLOG_OK;
}

const devlog_kernel *program_kernel_at(const devlog_program *program, devlog_core core, uint32_t risc)
{
    for (const devlog_kernel *k = program->kernels; k; k = k->next)
        if (k->risc == risc && inside(k->cores, core)) return k;
    return NULL;
}

uint32_t program_risc_of(const devlog_program *program, devlog_core core, uint32_t address)
{
    for (uint32_t risc = 0; risc < program->device->board.n_riscs; risc++) {
        const devlog_kernel *k = program_kernel_at(program, core, risc);
        for (uint32_t i = 0; k && i < k->elf.n_segments; i++)
            if (address - k->elf.segments[i].address - 1 < k->elf.segments[i].size) return risc;
    }
    return BOARD_MAX_RISCS;
}

bool kernel_streams_events(const devlog_kernel *k)
{
    for (uint32_t i = 0; i < k->elf.n_sites; i++)
        if (k->elf.sites[i].events) return true;
    return false;
}

bool program_streams_events(const devlog_program *program)
{
    for (const devlog_kernel *k = program->kernels; k; k = k->next)
        if (kernel_streams_events(k)) return true;
    return false;
}

bool program_uses(const devlog_program *program, devlog_core core)
{
    for (const devlog_kernel *k = program->kernels; k; k = k->next)
        if (inside(k->cores, core)) return true;
    return false;
}

devlog_status program_each_core(const devlog_program *program, program_core_fn *fn, void *context,
                                devlog_error *err)
{
    devlog_cores r = program->bounds;
    for (uint32_t y = r.y0; y <= r.y1; y++) {
        for (uint32_t x = r.x0; x <= r.x1; x++) {
            devlog_core core = {x, y};
            if (!program_uses(program, core)) continue;
            devlog_status status = fn(context, core, err);
            if (status != DEVLOG_OK) return status;
        }
    }
    return DEVLOG_OK;
}

/* ---- Compiling ---- */

static bool is_used(const devlog_kernel *k, uint32_t risc)
{
    for (const devlog_kernel *other = k->program->kernels; other; other = other->next)
        if (other->risc == risc && overlap(other->cores, k->cores)) return true;
    return false;
}

/* The RISC whose slot begins (or ends) at an address; -1: none. */
static int slot_at(const board *b, uint32_t address, bool ends)
{
    for (uint32_t i = 0; i < b->n_riscs; i++)
        if (b->riscs[i].kernel.size &&
            b->riscs[i].kernel.base + (ends ? b->riscs[i].kernel.size : 0) == address)
            return (int)i;
    return -1;
}

/* Slots that no kernel of the program uses belong to the kernel below them, and those below the first kernel
 * to that: the memory that a kernel may have when its slot is too small for it. */
static board_region room_of(const devlog_kernel *k)
{
    const board *b = &k->program->device->board;
    board_region room = b->riscs[k->risc].kernel;
    if (b->icache == BOARD_ICACHE_REWRITE) return room; /* the firmware knows the slot only */
    int next;
    while ((next = slot_at(b, room.base + room.size, false)) >= 0 && !is_used(k, (uint32_t)next))
        room.size += b->riscs[next].kernel.size;
    uint32_t lowest = room.base;
    while ((next = slot_at(b, lowest, true)) >= 0) {
        if (is_used(k, (uint32_t)next)) return room;
        lowest -= b->riscs[next].kernel.size;
    }
    room.size += room.base - lowest;
    room.base = lowest;
    return room;
}

static bool fits(const devlog_kernel *k, board_region room)
{
    for (uint32_t i = 0; i < k->elf.n_segments; i++) {
        const dl_elf_segment *s = &k->elf.segments[i];
        if (s->address < room.base || s->address - room.base + s->size > room.size) return false;
    }
    return true;
}

/* What the compiler remarked on a kernel is for whoever runs the program: shown once per device. */
static devlog_status show_remarks(devlog_device *device, const char *path, devlog_error *err)
{
    dl_str remarks = {0};
    if (device->remarked.text && strstr(device->remarked.text, path)) return DEVLOG_OK;
    devlog_status status = compile_remarks(path, &remarks, err);
    if (status == DEVLOG_OK && remarks.len) {
        fwrite(remarks.text, 1, remarks.len, stderr);
        dl_str_fmt(&device->remarked, "%s\n", path);
        status = dl_str_status(&device->remarked, err);
    }
    dl_str_free(&remarks);
    return status;
}

/* Refuses what markers cannot do; notes what may damage records. */
static devlog_status look_at_code(devlog_kernel *k, devlog_error *err)
{
    dl_elf_code found;
    devlog_status status = dl_elf_look_at_code(&k->elf, &found, err);
    if (status != DEVLOG_OK || !found.marked_handler) {
        k->writes_cursor = status == DEVLOG_OK && found.writes_cursor;
        return status;
    }
    bool itself = strcmp(found.handler, found.records) == 0;
    dl_elf_free(&k->elf);
    return dl_fail(
        err, DEVLOG_ERR_COMPILE,
        "%s: the interrupt handler %s %s%s%s: a marker that it interrupts would be lost with it. Count "
        "in a variable there, and record that in the kernel",
        k->source, found.handler, itself ? "has markers" : "calls ", itself ? "" : found.records,
        itself ? "" : ", which records");
}

devlog_status program_compile(devlog_program *program, devlog_error *err)
{
    if (!program->kernels) return dl_fail(err, DEVLOG_ERR_STATE, "the program has no kernel");
    for (devlog_kernel *k = program->kernels; k; k = k->next) {
        compile_job job = {
            .board = &program->device->board,
            .risc = k->risc,
            .profile = program->device->profile,
            .waits = program->device->wishes.waits,
            .source = k->source,
            .flags = k->flags,
            .room = room_of(k),
        };
        /* Compiled before, and still within its room although kernels may have been added. */
        if (k->elf.file && fits(k, job.room)) continue;
        dl_elf_free(&k->elf);
        devlog_status status = compile(&job, k->path, err);
        if (status == DEVLOG_OK) status = dl_elf_read(k->path, &k->elf, err);
        if (status == DEVLOG_OK) status = look_at_code(k, err);
        if (status == DEVLOG_OK) status = show_remarks(program->device, k->path, err);
        if (status != DEVLOG_OK) return status;
    }
    program->compiled = true;
    return DEVLOG_OK;
}
