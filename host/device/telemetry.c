/* Asking the management core: see the header.
 * Sources: tenstorrent/tt-kmd 4af7192 telemetry.h, blackhole.c (blackhole_populate_telemetry_cache),
 * wormhole.c (wormhole_send_arc_fw_message_with_args: order of the registers; arc_l2_is_running: post code);
 * tenstorrent/tt-umd 3ed9cb6 arc_telemetry_reader.cpp, wormhole_arc_messenger.cpp, telemetry.hpp: the same
 * over the NoC, where a message is answered, the tags. */
#include "device/telemetry.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"

enum {
    CSM_BASE = 0x10000000, /* memory of the core, in its own addresses: where the table lies */
    CSM_SIZE = 1 << 19,
    NEWEST_MAJOR = 1, /* of the table's version, in bits 16-23 */
    SCRATCH = 0x60,   /* registers that take messages */
    POST_CODE = SCRATCH,
    ARGUMENT = SCRATCH + 4 * 3,
    MESSAGE = SCRATCH + 4 * 5,
    CONTROL = 0x100,
    IRQ0 = 1 << 16,
    PRESENT = 0xAA00,
    GET_HARVESTING = 0x57,
    PATIENCE_MS = 1000,
};
#define FIRMWARE_RUNS 0xC0DE0000u

static dl_target tile_of(const board *b)
{
    return (dl_target){b->arc.x, b->arc.y, b->arc.x, b->arc.y};
}

static devlog_status read_word(dl_transport *t, const board *b, uint64_t at, uint32_t *value,
                               devlog_error *err)
{
    return dl_read(t, tile_of(b), at, value, 4, err);
}

static bool in_csm(uint32_t at, uint32_t size)
{
    return at >= CSM_BASE && at <= CSM_BASE + CSM_SIZE - size && at % 4 == 0;
}

devlog_status telemetry_find(dl_transport *t, const board *b, telemetry *out, devlog_error *err)
{
    uint32_t table = 0, values = 0, head[2] = {0, 0};
    memset(out, 0, sizeof *out);
    if (!b->arc.table) {
        snprintf(out->why, sizeof out->why, "the board file names no \"arc\"");
        return DEVLOG_OK;
    }
    devlog_status status = read_word(t, b, b->arc.table, &table, err);
    if (status == DEVLOG_OK) status = read_word(t, b, b->arc.data, &values, err);
    if (status != DEVLOG_OK) return status;
    if (!in_csm(table, 8) || !in_csm(values, 4)) {
        snprintf(out->why, sizeof out->why, "its management core has no telemetry table (0x%08x, 0x%08x)",
                 (unsigned)table, (unsigned)values);
        return DEVLOG_OK;
    }
    status = dl_read(t, tile_of(b), b->arc.space + table, head, sizeof head, err);
    if (status != DEVLOG_OK) return status;
    if ((head[0] >> 16 & 0xFF) > NEWEST_MAJOR || head[1] == 0 || head[1] > TELEMETRY_MAX_TAGS ||
        !in_csm(table, 8 + 4 * head[1])) {
        snprintf(out->why, sizeof out->why,
                 "its telemetry table is of an unknown kind (version 0x%x, %u tags)", (unsigned)head[0],
                 (unsigned)head[1]);
        return DEVLOG_OK;
    }
    out->n = head[1];
    out->values = b->arc.space + values;
    status = dl_read(t, tile_of(b), b->arc.space + table + 8, out->tags, (size_t)4 * out->n, err);
    out->there = status == DEVLOG_OK;
    return status;
}

devlog_status telemetry_read(dl_transport *t, const board *b, const telemetry *table, uint32_t tag,
                             uint32_t *value, bool *found, devlog_error *err)
{
    *found = false;
    for (uint32_t i = 0; table->there && i < table->n; i++) {
        uint32_t offset = 4 * (table->tags[i] >> 16);
        if ((table->tags[i] & 0xFFFF) != tag || offset >= CSM_SIZE) continue;
        *found = true;
        return read_word(t, b, table->values + offset, value, err);
    }
    return DEVLOG_OK;
}

/* Waits until the bits of a register have a value; *got is what it held last. */
static devlog_status wait_for(dl_transport *t, const board *b, uint32_t reg, uint32_t mask, uint32_t wanted,
                              uint32_t *got, devlog_error *err)
{
    for (int ms = 0;; ms++) {
        devlog_status status = read_word(t, b, b->arc.messages + reg, got, err);
        if (status != DEVLOG_OK || (*got & mask) == wanted || *got == UINT32_MAX || ms == PATIENCE_MS)
            return status;
        dl_transport_wait_ms(t, 1);
    }
}

static devlog_status write_word(dl_transport *t, const board *b, uint32_t reg, uint32_t value,
                                devlog_error *err)
{
    return dl_write(t, tile_of(b), b->arc.messages + reg, &value, 4, err);
}

devlog_status telemetry_harvested(dl_transport *t, const board *b, uint32_t *bits, bool *found, char *why,
                                  size_t why_size, devlog_error *err)
{
    uint32_t post = 0, message = 0, control = 0;
    *found = false;
    devlog_status status = read_word(t, b, b->arc.messages + POST_CODE, &post, err);
    if (status != DEVLOG_OK) return status;
    if ((post & 0xFFFF0000) != FIRMWARE_RUNS) {
        snprintf(why, why_size, "the firmware of its management core does not run (post code 0x%08x)",
                 (unsigned)post);
        return DEVLOG_OK;
    }
    /* Somebody else's message goes first. */
    for (int ms = 0; ms < PATIENCE_MS && status == DEVLOG_OK; ms++) {
        status = read_word(t, b, b->arc.messages + MESSAGE, &message, err);
        if (status != DEVLOG_OK || (message & 0xFF00) != PRESENT) break;
        dl_transport_wait_ms(t, 1);
    }
    if (status == DEVLOG_OK) status = write_word(t, b, ARGUMENT, 0, err);
    if (status == DEVLOG_OK) status = write_word(t, b, MESSAGE, PRESENT | GET_HARVESTING, err);
    if (status == DEVLOG_OK) status = wait_for(t, b, CONTROL, IRQ0, 0, &control, err);
    if (status == DEVLOG_OK) status = write_word(t, b, CONTROL, control | IRQ0, err);
    if (status == DEVLOG_OK) status = wait_for(t, b, MESSAGE, 0xFFFF, GET_HARVESTING, &message, err);
    if (status != DEVLOG_OK) return status;
    if (message != GET_HARVESTING) {
        snprintf(why, why_size, "its management core does not say what is switched off (answer 0x%08x)",
                 (unsigned)message);
        return DEVLOG_OK;
    }
    *found = true;
    return read_word(t, b, b->arc.messages + ARGUMENT, bits, err);
}
