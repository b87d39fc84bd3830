/* What follows from expectations that were not met. See the header. */
#include "profiler/violations.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "profiler/periodic.h"

enum { TEXT = 400 };

struct violation_kept {
    devlog_violation is;
    char text[TEXT];
};

typedef struct finding {
    violations *all;
    const violations_of *of;
} finding;

static devlog_status keep(violations *all, const devlog_violation *v, const char *text, devlog_error *err)
{
    if (all->n == all->cap) {
        const size_t cap = all->cap ? all->cap * 2 : 8;
        struct violation_kept *grown = realloc(all->items, cap * sizeof *grown);
        if (!grown) return dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for the expectations of a kernel");
        all->items = grown;
        all->cap = cap;
    }
    struct violation_kept *k = &all->items[all->n++];
    k->is = *v;
    strcpy(k->text, text);
    all->all += v->times;
    return DEVLOG_OK;
}

static devlog_status found(void *ctx, const expect_violation *v, devlog_error *err)
{
    const finding *f = ctx;
    const violations_of *of = f->of;
    const dl_elf_expect *e = v->of;
    char text[TEXT];
    expect_text(e, text, sizeof text);
    const dl_log_violation row = {
        .text = text, .file = e->file, .line = e->line, .times = v->times, .worst = v->worst};
    const dl_capture_violation frame = {.slot = of->device->slot,
                                        .x = (uint16_t)of->got->core.x,
                                        .y = (uint16_t)of->got->core.y,
                                        .index = of->got->risc,
                                        .launch = of->got->control.launch,
                                        .line = e->line,
                                        .times = v->times,
                                        .worst = v->worst,
                                        .text = text,
                                        .file = e->file};
    const devlog_violation told = {.chip = of->device->slot,
                                   .core = of->got->core,
                                   .risc = of->device->board.riscs[of->got->risc].name,
                                   .launch = of->got->control.launch,
                                   .expectation = (devlog_expectation)e->kind,
                                   .name = e->name,
                                   .other = *e->other ? e->other : NULL,
                                   .low = e->low,
                                   .high = e->high,
                                   .worst = v->worst,
                                   .times = v->times,
                                   .file = e->file,
                                   .line = e->line};
    devlog_status status = dl_device_log_violation(of->log, of->tables, of->like, &row, err);
    if (!status) status = capture_log_violation(of->capture, &frame, err);
    return status ? status : keep(f->all, &told, text, err);
}

devlog_status violations_find(violations *v, const violations_of *of, devlog_error *err)
{
    const devlog_control *c = &of->got->control;
    if (!of->kernel || of->got->damaged || !(c->marks & 1u << (DEVLOG_ID_KERNEL_START - 1))) return DEVLOG_OK;
    finding f = {v, of};
    return expect_check(&of->kernel->elf, of->tables, of->marks, of->complete, found, &f, err);
}

devlog_status violations_tell(violations *v, devlog_device *device, devlog_error *err)
{
    /* The function may launch again, which fills the list anew. */
    violations told = *v;
    devlog_status status = DEVLOG_OK;
    v->items = NULL;
    v->n = v->cap = 0;
    if (told.n && device->recording == DEVLOG_RECORD_RING && !device->frozen)
        status = devlog_freeze(device, true, err);
    devlog_error later;
    for (size_t i = 0; i < told.n; i++) {
        told.items[i].is.text = told.items[i].text;
        devlog_status said = periodic_violated(device, &told.items[i].is, status == DEVLOG_OK ? err : &later);
        if (status == DEVLOG_OK) status = said;
    }
    for (size_t i = 0; i < told.n && device->violated; i++)
        device->violated(device->violated_context, device, &told.items[i].is);
    free(told.items);
    return status;
}

void violations_free(violations *v)
{
    free(v->items);
    *v = (violations){0};
}

devlog_status devlog_on_violation(devlog_device *device, devlog_violated function, void *context,
                                  devlog_error *err)
{
    devlog_status status = dl_device_runs(device, "nothing is launched on it that could be judged", err);
    if (status != DEVLOG_OK) return status;
    device->violated = function;
    device->violated_context = context;
    return DEVLOG_OK;
}
