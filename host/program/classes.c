/* What is changed in the code of markers before a launch: the first instruction of one whose class is off
 * becomes a jump over it; and in a ring all records of a kernel become of one size, so that how many of them
 * are overwritten is known without a look at them. */
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

uint32_t program_record_bytes(const devlog_kernel *k, devlog_recording recording)
{
    enum { MOST = 20 }; /* larger ones would leave too little room for the small ones */
    uint32_t least = UINT32_MAX, most = 0;
    for (uint32_t i = 0; i < k->elf.n_patches; i++) {
        const dl_elf_patch *p = &k->elf.patches[i];
        if (!p->advance) continue;
        if (p->bytes < least) least = p->bytes;
        if (p->bytes > most) most = p->bytes;
    }
    if (recording != DEVLOG_RECORD_RING || k->elf.compressed) return 0;
    return least == most || most <= MOST ? most : 0;
}

static bool put_changed_word(uint8_t *p, uint32_t word)
{
    uint8_t before[4];
    memcpy(before, p, 4);
    put_word(p, word);
    return memcmp(before, p, 4) != 0;
}

/* True when any instruction changed. */
static bool switch_kernel(devlog_kernel *k, uint32_t classes, devlog_recording recording)
{
    const uint32_t bytes = program_record_bytes(k, recording);
    bool changed = false;
    for (uint32_t i = 0; i < k->elf.n_patches; i++) {
        const dl_elf_patch *p = &k->elf.patches[i];
        bool on = p->cls >= DEVLOG_CLASSES || (classes >> p->cls & 1);
        changed |=
            put_changed_word(dl_elf_code_at(&k->elf, p->start), on ? p->first : jump(p->end - p->start));
        if (p->advance) /* addi tp, tp, bytes */
            changed |= put_changed_word(dl_elf_code_at(&k->elf, p->advance),
                                        (bytes ? bytes : p->bytes) << 20 | 0x20213);
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

devlog_status program_switch_markers(devlog_device *device, devlog_program *program, devlog_error *err)
{
    const uint32_t classes = device->paused ? 0 : device->classes;
    if (program->classes == classes && program->recording == device->recording && program->configured)
        return DEVLOG_OK;
    for (devlog_kernel *k = program->kernels; k; k = k->next) {
        if (!switch_kernel(k, classes, device->recording) || !program->configured) continue;
        devlog_status status = reload(device, k, err);
        if (status != DEVLOG_OK) return status;
    }
    program->classes = classes;
    program->recording = device->recording;
    return DEVLOG_OK;
}
