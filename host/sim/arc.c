/* The tile of the management core, as far as a host asks it which tiles the chip has and how fast it runs: a
 * telemetry table, and on chips that have it the message that asks for harvesting. Not its firmware.
 * Source: tenstorrent/tt-kmd 4af7192 telemetry.h, blackhole.c (blackhole_populate_telemetry_cache) and
 * wormhole.c (wormhole_send_arc_fw_message_with_args): layout of the table, registers and order of a message;
 * tenstorrent/tt-umd 3ed9cb6 wormhole_arc_messenger.cpp: where the answer stands. */
#include "sim/arc.h"

#include <string.h>

enum {
    CSM_BASE = 0x10000000, /* the core's own memory, in its own addresses */
    CSM_SIZE = 1 << 19,
    TABLE = 0x100, /* offsets in it: ours, since the firmware says where they are */
    VALUES = 0x400,
    SCRATCH = 0x60, /* of the registers that take messages */
    MISC_CONTROL = 0x100,
    IRQ0 = 1 << 16,
    SCRATCHES = 8,
    MESSAGE_PRESENT = 0xAA00,
    GET_HARVESTING = 0x57,
};
#define FIRMWARE_RUNS 0xC0DE003Fu
#define UNKNOWN_CODE  0xFFFFFFFFu

static const char nothing_there[] = "nothing is mapped there";

void sim_arc_init(sim *s)
{
    if (!s->config.arc.silent) s->arc_scratch[0] = FIRMWARE_RUNS;
}

void sim_arc_tell(sim *s, uint32_t tag, uint32_t value)
{
    for (uint32_t i = 0; i < s->config.arc.n_tags; i++)
        if (s->config.arc.tags[i].tag == tag) s->config.arc.tags[i].value = value;
}

/* Offset of a register in its block of messages, or UINT64_MAX. */
static uint64_t in_messages(const sim *s, uint64_t addr)
{
    const uint64_t base = s->config.arc.messages;
    return base && addr >= base ? addr - base : UINT64_MAX;
}

static uint32_t *scratch(sim *s, uint64_t addr)
{
    uint64_t offset = in_messages(s, addr);
    if (offset == MISC_CONTROL) return &s->arc_control;
    return offset >= SCRATCH && offset < SCRATCH + 4 * SCRATCHES ? &s->arc_scratch[(offset - SCRATCH) / 4]
                                                                 : NULL;
}

static bool read_word(sim *s, uint64_t addr, uint32_t *value)
{
    const sim_arc_config *a = &s->config.arc;
    const uint32_t *reg = scratch(s, addr);
    *value = 0;
    if (reg)
        *value = *reg;
    else if (addr == a->table)
        *value = a->silent ? 0 : CSM_BASE + TABLE;
    else if (addr == a->data)
        *value = a->silent ? 0 : CSM_BASE + VALUES;
    else {
        uint64_t offset = addr - a->space - CSM_BASE, i = (offset - TABLE - 8) / 4;
        if (addr < a->space + CSM_BASE || offset >= CSM_SIZE) return false;
        if (offset == TABLE) *value = a->version;
        if (offset == TABLE + 4) *value = a->n_tags;
        /* Each tag with the place of its value: not in the same order, so that nobody relies on that. */
        if (offset >= TABLE + 8 && i < a->n_tags)
            *value = a->tags[i].tag | (a->n_tags - 1 - (uint32_t)i) << 16;
        i = (offset - VALUES) / 4;
        if (offset >= VALUES && i < a->n_tags) *value = a->tags[a->n_tags - 1 - i].value;
    }
    return true;
}

const char *sim_arc_read(sim *s, uint64_t addr, void *dst, uint32_t size)
{
    uint8_t *to = dst;
    if (addr % 4 || size % 4) return "only aligned words of this tile can be accessed";
    for (uint32_t i = 0; i < size; i += 4) {
        uint32_t word;
        if (!read_word(s, addr + i, &word)) return nothing_there;
        memcpy(to + i, &word, 4);
    }
    return NULL;
}

const char *sim_arc_write(sim *s, uint64_t addr, const void *src, uint32_t size)
{
    uint32_t *reg = scratch(s, addr), value;
    if (!reg || addr % 4 || size != 4) return nothing_there;
    memcpy(&value, src, 4);
    *reg = value;
    if (reg != &s->arc_control || !(value & IRQ0) || s->config.arc.silent) return NULL;
    s->arc_control &= ~(uint32_t)IRQ0;
    uint32_t *message = &s->arc_scratch[5];
    if (*message == (MESSAGE_PRESENT | GET_HARVESTING)) {
        s->arc_scratch[3] = s->config.arc.harvested;
        *message = GET_HARVESTING;
    } else {
        *message = UNKNOWN_CODE;
    }
    return NULL;
}
