/* What a device adds to the log of ops: itself, its programs and its launches. */
#include "profiler/ops_device.h"

#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "base/intern.h"
#include "base/term.h"

void ops_tell_device(ops_thread *t, devlog_device *device)
{
    if (device->ops_told) return;
    device->ops_told = true;
    device->boot = atomic_fetch_add(&t->ops->run.shared->next_boot, 1) + 1;
    ops_line(t, "device");
    ops_number(t, "chip", device->slot);
    ops_number(t, "t", dl_now_ns());
    ops_text_if(t, "board", device->board.name);
    ops_text_if(t, "arch", device->board.arch);
    ops_text_if(t, "transport", device->transport.ops->name);
    ops_number(t, "mhz", device->board.mhz);
    ops_number(t, "cores", device->board.n_columns * device->board.n_rows);
    ops_number(t, "profiled", device->profile);
    ops_write(t);
}

static uint64_t kernel_hash(const devlog_kernel *k)
{
    return dl_hash_bytes(k->elf.file, k->elf.file_size);
}

static uint32_t kernel_bytes(const devlog_kernel *k)
{
    uint32_t bytes = 0;
    for (uint32_t i = 0; i < k->elf.n_segments; i++)
        bytes += k->elf.segments[i].size;
    return bytes;
}

static void tell_program(ops_thread *t, const devlog_device *device, devlog_program *program)
{
    if (program->number) return;
    program->number = atomic_fetch_add(&t->ops->run.shared->next_program, 1);
    uint64_t hash = 0;
    for (const devlog_kernel *k = program->kernels; k; k = k->next)
        hash = dl_hash_u64(hash ^ kernel_hash(k) ^ k->risc);
    ops_line(t, "program");
    ops_number(t, "program", program->number);
    dl_str_fmt(&t->line, ",\"hash\":\"%016llx\",\"kernels\":[", (unsigned long long)hash);
    for (const devlog_kernel *k = program->kernels; k; k = k->next) {
        dl_str_add(&t->line, k == program->kernels ? "{\"risc\":" : ",{\"risc\":");
        const char *risc = device->board.riscs[k->risc].name;
        dl_str_json(&t->line, risc, strlen(risc));
        dl_str_add(&t->line, ",\"source\":");
        dl_str_json(&t->line, k->source, strlen(k->source));
        dl_str_fmt(&t->line, ",\"hash\":\"%016llx\",\"bytes\":%u}", (unsigned long long)kernel_hash(k),
                   kernel_bytes(k));
    }
    dl_str_char(&t->line, ']');
    ops_write(t);
}

void ops_launch(devlog_device *device, devlog_program *program)
{
    device->host_id = 0;
    dl_run_file *run = device->ops ? &device->ops->run : device->run;
    /* Numbers of launches are the run's, so that those of its other programs on the same chip are not taken
     * for these; launching counts one up. */
    if (run) device->launches = atomic_fetch_add(&run->shared->launches[device->slot % DL_RUN_CHIPS], 1);
    if (!device->ops) return;
    uint64_t entered = dl_now_ns();
    device->host_id = ops_current(device->ops);
    ops_thread *t = ops_thread_of(device->ops);
    if (!t) return;
    ops_tell_device(t, device);
    tell_program(t, device, program);
    uint32_t cores = 0;
    for (uint32_t y = program->bounds.y0; y <= program->bounds.y1; y++)
        for (uint32_t x = program->bounds.x0; x <= program->bounds.x1; x++)
            cores += program_uses(program, (devlog_core){x, y});
    ops_line(t, "launch");
    ops_number(t, "id", device->host_id);
    ops_number(t, "t", entered);
    ops_number(t, "chip", device->slot);
    ops_number(t, "launch", device->launches + 1);
    ops_number(t, "program", program->number);
    ops_number(t, "cached", program->uses++ > 0);
    ops_number(t, "cores", cores);
    ops_number(t, "boot", device->boot);
    ops_write(t);
    if (t->depth) t->frames[t->depth - 1].own_ns += dl_now_ns() - entered;
}

devlog_status ops_began(devlog_device *device, bool *began, devlog_error *err)
{
    *began = false;
    devlog_status status = dl_folder_make(device->log_folder, err);
    if (status != DEVLOG_OK) return status;
    if (device->ops) {
        *began = dl_run_file_began(&device->ops->run, device->log_folder);
        return DEVLOG_OK;
    }
    /* Without a log of ops: one of several programs of `devlog run`, perhaps. */
    dl_run_file *run = device->run ? device->run : malloc(sizeof *run);
    if (!run) return dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for the profiler");
    if (!device->run) status = dl_run_file_open(run, device->log_folder, NULL, false, err);
    if (status != DEVLOG_OK) {
        free(run);
        return status == DEVLOG_ERR_NOT_FOUND ? ops_forget(device->log_folder, err) : status;
    }
    device->run = run;
    *began = dl_run_file_began(run, device->log_folder);
    return DEVLOG_OK;
}

void ops_leave(devlog_device *device)
{
    if (device->run) dl_run_file_close(device->run);
    free(device->run);
    device->run = NULL;
}
