/* Switching classes of markers: the first instruction of a marker that is off becomes a jump over it. */
#include <string.h>

#include "program/program.h"

/* jal x0, offset (RISC-V unprivileged ISA, "Unconditional Jumps"); offset is even and less than 1 MiB. */
static uint32_t jump(uint32_t offset)
{
    return 0x6Fu | (offset >> 20 & 1) << 31 | (offset >> 1 & 0x3FF) << 21 | (offset >> 11 & 1) << 20 |
           (offset >> 12 & 0xFF) << 12;
}

static void put_word(uint8_t *p, uint32_t word)
{
    for (int i = 0; i < 4; i++)
        p[i] = (uint8_t)(word >> 8 * i);
}

/* True when any instruction changed. */
static bool switch_kernel(devlog_kernel *k, uint32_t classes)
{
    bool changed = false;
    for (uint32_t i = 0; i < k->elf.n_patches; i++) {
        const dl_elf_patch *p = &k->elf.patches[i];
        bool on = p->cls >= DEVLOG_CLASSES || (classes >> p->cls & 1);
        uint8_t before[4], *code = dl_elf_code_at(&k->elf, p->start);
        memcpy(before, code, 4);
        put_word(code, on ? p->first : jump(p->end - p->start));
        changed |= memcmp(before, code, 4) != 0;
    }
    return changed;
}

static devlog_status reload(devlog_device *device, const devlog_kernel *k, devlog_error *err)
{
    for (uint32_t y = k->cores.y0; y <= k->cores.y1; y++) {
        for (uint32_t x = k->cores.x0; x <= k->cores.x1; x++) {
            for (uint32_t i = 0; i < k->elf.n_segments; i++) {
                const dl_elf_segment *s = &k->elf.segments[i];
                devlog_status status =
                    dl_core_write(device, (devlog_core){x, y}, s->address, s->data, s->size, err);
                if (status != DEVLOG_OK) return status;
            }
        }
    }
    return DEVLOG_OK;
}

devlog_status program_switch_classes(devlog_device *device, devlog_program *program, devlog_error *err)
{
    if (program->classes == device->classes && program->configured) return DEVLOG_OK;
    for (devlog_kernel *k = program->kernels; k; k = k->next) {
        if (!switch_kernel(k, device->classes) || !program->configured) continue;
        devlog_status status = reload(device, k, err);
        if (status != DEVLOG_OK) return status;
    }
    program->classes = device->classes;
    return DEVLOG_OK;
}
