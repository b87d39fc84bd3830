/* Running programs: booting the firmware of cores, writing kernels, launching, waiting. Not for records. */
#include "base/term.h"
#include "program/program.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Simulated cycles between two looks at the mailboxes: few at first, for short kernels. */
enum { FIRST_WAIT = 500, LONGEST_WAIT = 16000, LOOKS = 16 /* until RISCs are looked at, one by one */ };

#define MAILBOX(device, member) ((device)->board.mailbox.base + (uint32_t)offsetof(devlog_mailbox, member))

static bool *booted(devlog_device *device, devlog_core core)
{
    return &device->booted[core.y * device->board.n_columns + core.x];
}

static devlog_status load(devlog_device *device, devlog_core core, const dl_elf *elf, devlog_error *err)
{
    for (uint32_t i = 0; i < elf->n_segments; i++) {
        const dl_elf_segment *s = &elf->segments[i];
        devlog_status status = dl_core_write(device, core, s->address, s->data, s->size, err);
        if (status != DEVLOG_OK) return status;
    }
    return DEVLOG_OK;
}

/* What was written before has arrived: a read is answered behind the writes in front of it (WormholeB0/PCIExpressTile/TLBs.md,
 * "Ordering modes": strict). */
static devlog_status settle(devlog_device *device, devlog_core core, devlog_error *err)
{
    uint32_t word;
    if (device->board.window_format == BOARD_WINDOWS_NONE) return DEVLOG_OK;
    return dl_core_read(device, core, MAILBOX(device, ready), &word, sizeof word, err);
}

/* ---- Boot ---------------------------------------------------------------------------------------------- */

typedef struct boot {
    devlog_device *device;
    dl_elf firmware[BOARD_MAX_RISCS];
    uint32_t waiting; /* cores that are started and have not said that they are ready */
} boot;

static devlog_status start_core(void *context, devlog_core core, devlog_error *err)
{
    boot *b = context;
    devlog_device *device = b->device;
    const board *bd = &device->board;
    if (*booted(device, core)) return DEVLOG_OK;
    static const uint8_t zeros[sizeof(devlog_mailbox)];
    devlog_status status = DEVLOG_OK;
    if (bd->soft_reset)
        status = dl_core_write(device, core, bd->soft_reset, &bd->soft_reset_init, 4, err);
    else
        status = dl_core_hold(device, core, UINT32_MAX, err);
    if (status == DEVLOG_OK) status = dl_core_write(device, core, bd->mailbox.base, zeros, sizeof zeros, err);
    for (uint32_t i = 0; i < bd->n_riscs && status == DEVLOG_OK; i++) {
        uint32_t region = board_profiler_base(bd, i), bytes = DEVLOG_REGION_BYTES(bd->segment_bits);
        for (uint32_t done = 0; done < bytes && status == DEVLOG_OK && device->profile;
             done += sizeof zeros) {
            uint32_t n = bytes - done < sizeof zeros ? bytes - done : (uint32_t)sizeof zeros;
            status = dl_core_write(device, core, region + done, zeros, n, err);
        }
        if (status == DEVLOG_OK) status = load(device, core, &b->firmware[i], err);
    }
    if (status == DEVLOG_OK) status = settle(device, core, err);
    if (status == DEVLOG_OK && bd->soft_reset) {
        uint32_t reset = bd->soft_reset_init & ~(1u << bd->riscs[0].reset_bit);
        status = dl_core_write(device, core, bd->soft_reset, &reset, 4, err);
    } else if (status == DEVLOG_OK) {
        status = dl_core_hold(device, core, 0, err);
    }
    b->waiting++;
    return status;
}

static devlog_status see_ready(void *context, devlog_core core, devlog_error *err)
{
    boot *b = context;
    if (*booted(b->device, core)) return DEVLOG_OK;
    uint32_t ready;
    devlog_status status = dl_core_read(b->device, core, MAILBOX(b->device, ready), &ready, 4, err);
    if (status == DEVLOG_OK && ready == DEVLOG_MAGIC) {
        *booted(b->device, core) = true;
        b->waiting--;
    }
    return status;
}

devlog_status program_boot(devlog_device *device, devlog_program *program, devlog_error *err)
{
    boot b = {.device = device};
    devlog_status status = DEVLOG_OK;
    devlog_cores r = program->bounds;
    bool needed = false;
    for (uint32_t y = r.y0; y <= r.y1; y++)
        for (uint32_t x = r.x0; x <= r.x1; x++)
            needed |= program_uses(program, (devlog_core){x, y}) && !*booted(device, (devlog_core){x, y});
    if (!needed) return DEVLOG_OK;

    for (uint32_t i = 0; i < device->board.n_riscs && status == DEVLOG_OK; i++) {
        compile_job job = {.board = &device->board, .risc = i, .profile = device->profile};
        char path[COMPILE_PATH];
        status = compile(&job, path, err);
        if (status == DEVLOG_OK) status = dl_elf_read(path, &b.firmware[i], err);
    }
    if (status == DEVLOG_OK) status = program_each_core(program, start_core, &b, err);
    uint64_t deadline = dl_now_ns() + device->timeout_ms * 1000000ull;
    while (status == DEVLOG_OK) {
        status = program_each_core(program, see_ready, &b, err);
        if (status != DEVLOG_OK || b.waiting == 0) break;
        if (dl_now_ns() > deadline)
            status = dl_fail(err, DEVLOG_ERR_TIMEOUT, "the firmware of %u cores did not start within %u ms",
                             b.waiting, device->timeout_ms);
        else
            status = dl_device_advance(device, FIRST_WAIT, err);
    }
    for (uint32_t i = 0; i < device->board.n_riscs; i++)
        dl_elf_free(&b.firmware[i]);
    return status;
}

/* ---- Configure ------------------------------------------------------------------------------------------
 */

typedef struct configure {
    devlog_device *device;
    const devlog_program *program;
} configure;

static devlog_status configure_core(void *context, devlog_core core, devlog_error *err)
{
    configure *c = context;
    devlog_device *device = c->device;
    for (uint32_t i = 0; i < device->board.n_riscs; i++) {
        const devlog_kernel *k = program_kernel_at(c->program, core, i);
        uint32_t entry = k ? k->elf.entry : 0, build[2] = {0, 0};
        if (k && k->elf.build_id_size >= sizeof build) memcpy(build, k->elf.build_id, sizeof build);
        devlog_status status = k ? load(device, core, &k->elf, err) : DEVLOG_OK;
        if (status == DEVLOG_OK)
            status =
                dl_core_write(device, core, MAILBOX(device, risc) + i * sizeof((devlog_mailbox *)0)->risc[0],
                              &entry, 4, err);
        if (status == DEVLOG_OK)
            status = dl_core_write(device, core, MAILBOX(device, build) + i * (uint32_t)sizeof build, build,
                                   sizeof build, err);
        if (status == DEVLOG_OK && k && k->n_args) {
            size_t row = (core.y - k->cores.y0) * (k->cores.x1 - k->cores.x0 + 1) + (core.x - k->cores.x0);
            status =
                dl_core_write(device, core, MAILBOX(device, args) + i * sizeof((devlog_mailbox *)0)->args[0],
                              k->args[row], k->n_args * sizeof(uint32_t), err);
        }
        if (status != DEVLOG_OK) return status;
    }
    const uint32_t where[4] = {core.x, core.y, c->program->bounds.x1 - c->program->bounds.x0 + 1,
                               c->program->bounds.y1 - c->program->bounds.y0 + 1};
    return dl_core_write(device, core, MAILBOX(device, core_x), where, sizeof where, err);
}

devlog_status program_configure(devlog_device *device, devlog_program *program, devlog_error *err)
{
    if (!program->compiled) return dl_fail(err, DEVLOG_ERR_STATE, "the program has not been compiled");
    for (const devlog_kernel *k = program->kernels; k; k = k->next)
        if (k->elf.profiled != device->profile)
            return dl_fail(err, DEVLOG_ERR_STATE,
                           "%s was compiled %s -DPROFILE_DEVICE, the firmware of the device %s", k->source,
                           k->elf.profiled ? "with" : "without", device->profile ? "with it" : "without it");
    devlog_status status = program_boot(device, program, err);
    if (status == DEVLOG_OK) status = program_switch_markers(device, program, err);
    if (status != DEVLOG_OK) return status;
    program->recording_version = 0;
    configure c = {device, program};
    status = program_each_core(program, configure_core, &c, err);
    if (status == DEVLOG_OK) program->configured = true;
    return status;
}

/* ---- Launch ----------------------------------------------------------------------------------------------
 */

typedef struct launch {
    devlog_device *device;
    uint32_t number, running;
    bool *done;       /* of each core of the device: it has been seen to be done, and is not asked again */
    bool look_closer; /* for what cannot end any more */
    uint32_t stuck;   /* running cores of which a RISC's firmware was started again */
} launch;

static devlog_status go(void *context, devlog_core core, devlog_error *err)
{
    launch *l = context;
    devlog_status status =
        dl_core_write(l->device, core, MAILBOX(l->device, host_id), &l->device->host_id, 4, err);
    return status == DEVLOG_OK ? dl_core_write(l->device, core, MAILBOX(l->device, go), &l->number, 4, err)
                               : status;
}

static devlog_status see_done(void *context, devlog_core core, devlog_error *err)
{
    launch *l = context;
    bool *known = &l->done[core.y * l->device->board.n_columns + core.x];
    uint32_t done;
    if (*known) return DEVLOG_OK;
    devlog_status status = dl_core_read(l->device, core, MAILBOX(l->device, done), &done, 4, err);
    *known = status == DEVLOG_OK && done == l->number;
    if (status != DEVLOG_OK || *known) return status;
    l->running++;
    bool stuck = false;
    for (uint32_t i = 0; l->look_closer && i < l->device->board.n_riscs && status == DEVLOG_OK; i++) {
        uint32_t up, at = MAILBOX(l->device, risc[0].up) + i * sizeof((devlog_mailbox *)0)->risc[0];
        status = dl_core_read(l->device, core, at, &up, 4, err);
        stuck |= status == DEVLOG_OK && up == DEVLOG_RESTARTED;
    }
    l->stuck += stuck;
    return status;
}

/* A core that did not finish is started anew before the next program. */
static devlog_status give_up(void *context, devlog_core core, devlog_error *err)
{
    launch *l = context;
    uint32_t running = l->running;
    devlog_status status = see_done(context, core, err);
    if (l->running != running) *booted(l->device, core) = false;
    return status;
}

typedef struct culprit {
    devlog_device *device;
    const devlog_program *program;
    dl_target at;
    uint32_t risc;
    char text[600];
} culprit;

static devlog_status find_culprit(void *context, devlog_core core, devlog_error *err)
{
    culprit *c = context;
    dl_target at;
    devlog_status status = dl_device_target(c->device, core, &at, err);
    if (status != DEVLOG_OK || at.x0 != c->at.x0 || at.y0 != c->at.y0) return status;
    const devlog_kernel *k = program_kernel_at(c->program, core, c->risc);
    snprintf(c->text, sizeof c->text, "; that is core (%u,%u), %s in %s", core.x, core.y,
             c->device->board.riscs[c->risc].name, k ? k->source : "its firmware");
    return DEVLOG_OK;
}

/* A simulator that has stopped knows tiles and addresses; which kernel that was is known here. */
static void name_the_kernel(devlog_device *device, const devlog_program *program, devlog_error *err)
{
    culprit c = {.device = device, .program = program};
    devlog_error ignored;
    const dl_transport_ops *ops = device->transport.ops;
    if (!err || !ops->stopped_by || !ops->stopped_by(&device->transport, &c.at, &c.risc)) return;
    if (c.risc >= device->board.n_riscs ||
        program_each_core(program, find_culprit, &c, &ignored) != DEVLOG_OK)
        return;
    size_t used = strlen(err->text);
    if (used < sizeof err->text) snprintf(err->text + used, sizeof err->text - used, "%s", c.text);
}

devlog_status program_launch(devlog_device *device, devlog_program *program, devlog_error *err)
{
    if (!program->configured)
        return dl_fail(err, DEVLOG_ERR_STATE,
                       "the device has not been configured with the program since its last change");
    launch l = {.device = device};
    l.done = calloc((size_t)device->board.n_columns * device->board.n_rows, sizeof *l.done);
    if (!l.done) return dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for a launch");
    l.number = ++device->launches;
    device->last = program;
    devlog_status status = settle(device, (devlog_core){program->bounds.x0, program->bounds.y0}, err);
    if (status == DEVLOG_OK) status = program_each_core(program, go, &l, err);
    uint64_t deadline = dl_now_ns() + device->timeout_ms * 1000000ull;
    uint32_t wait = FIRST_WAIT, looks = 0;
    while (status == DEVLOG_OK) {
        status = dl_device_advance(device, wait, err);
        if (status != DEVLOG_OK) name_the_kernel(device, program, err);
        l.running = l.stuck = 0;
        /* Rarely, since it costs a reading of every RISC. */
        l.look_closer = wait >= LONGEST_WAIT && looks++ % LOOKS == 0;
        if (status == DEVLOG_OK) status = program_each_core(program, see_done, &l, err);
        if (status == DEVLOG_OK && l.running == 0) device->ended = l.number;
        if (status != DEVLOG_OK || l.running == 0) break;
        bool late = dl_now_ns() > deadline;
        if (late || l.stuck == l.running) { /* the other cores are waited for */
            char text[1500];
            program_describe_running(device, program, text, sizeof text);
            if (program_each_core(program, give_up, &l, err) == DEVLOG_OK) device->ended = l.number;
            program->configured = false;
            status = late ? dl_fail(err, DEVLOG_ERR_TIMEOUT, "launch %u did not finish within %u ms: %s",
                                    l.number, device->timeout_ms, text)
                          : dl_fail(err, DEVLOG_ERR_DEVICE, "launch %u cannot finish: %s", l.number, text);
        }
        if (wait < LONGEST_WAIT) wait += wait / 2;
    }
    free(l.done);
    return status;
}

typedef struct describe {
    devlog_device *device;
    const devlog_program *program;
    char *text;
    size_t size, used;
} describe;

static void say(describe *d, const char *fmt, ...) DL_PRINTF(2, 3);
static void say(describe *d, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int n = d->used < d->size ? vsnprintf(d->text + d->used, d->size - d->used, fmt, ap) : 0;
    va_end(ap);
    if (n > 0) d->used += (size_t)n;
}

static devlog_status describe_core(void *context, devlog_core core, devlog_error *err)
{
    describe *d = context;
    devlog_device *device = d->device;
    devlog_mailbox mailbox;
    dl_target at;
    devlog_status status =
        dl_core_read(device, core, device->board.mailbox.base, &mailbox, sizeof mailbox, err);
    if (status == DEVLOG_OK) status = dl_device_target(device, core, &at, err);
    if (status != DEVLOG_OK || mailbox.done == mailbox.go) return status;
    say(d, "%score (%u,%u):", d->used ? "; " : "", core.x, core.y);
    const uint32_t came = program_risc_of(d->program, core, mailbox.restarted_from);
    for (uint32_t i = 0; i < device->board.n_riscs; i++) {
        if (mailbox.risc[i].up != DEVLOG_RESTARTED) continue;
        say(d, " the firmware of %s was started again ", device->board.riscs[i].name);
        if (came == BOARD_MAX_RISCS)
            say(d, "(a reset, or a null pointer was called: unknown on which RISC);");
        else if (came == i)
            say(d, "(a reset, or its kernel called a null pointer);");
        else
            say(d, "by %s, whose kernel called a null pointer;", device->board.riscs[came].name);
    }
    for (uint32_t i = 0; i < device->board.n_riscs; i++) {
        uint32_t pc;
        if (mailbox.risc[i].done == mailbox.go) continue;
        say(d, " %s", device->board.riscs[i].name);
        const devlog_kernel *k = program_kernel_at(d->program, core, i);
        bool known =
            device->transport.ops->hart_pc && device->transport.ops->hart_pc(&device->transport, at, i, &pc);
        if (known) say(d, " at pc 0x%" PRIx32, pc);
        /* It may have left its kernel: firmware that was started again, a call of something that is no function. */
        bool inside = !known || program_risc_of(d->program, core, pc + 1) == i;
        say(d, " %s %s,", k && !inside ? "outside of" : "in", k ? k->source : "its firmware");
    }
    if (d->used && d->used < d->size && d->text[d->used - 1] == ',') d->text[--d->used] = 0;
    return DEVLOG_OK;
}

void program_describe_running(devlog_device *device, const devlog_program *program, char *text, size_t size)
{
    text[0] = 0;
    describe d = {.device = device, .program = program, .text = text, .size = size};
    devlog_error err;
    if (program_each_core(program, describe_core, &d, &err) != DEVLOG_OK)
        say(&d, " (cannot look further: %s)", err.text);
}
