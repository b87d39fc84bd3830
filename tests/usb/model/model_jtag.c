/* The model's JTAG: the TAP controllers of IEEE 1149.1, and the debug transport of one of them. */
#include "usb/model/model_internal.h"

enum {
    RESET,
    IDLE,
    SELECT_DR,
    CAPTURE_DR,
    SHIFT_DR,
    EXIT1_DR,
    PAUSE_DR,
    EXIT2_DR,
    UPDATE_DR,
    SELECT_IR,
    CAPTURE_IR,
    SHIFT_IR,
    EXIT1_IR,
    PAUSE_IR,
    EXIT2_IR,
    UPDATE_IR,
    IR_IDCODE = 0x01,
    IR_DTMCS = 0x10,
    IR_DMI = 0x11,
    OTHER_IR_BITS = 4,
};

/* What follows on TMS low and high. */
static const uint8_t next[16][2] = {
    [RESET] = {IDLE, RESET},
    [IDLE] = {IDLE, SELECT_DR},
    [SELECT_DR] = {CAPTURE_DR, SELECT_IR},
    [CAPTURE_DR] = {SHIFT_DR, EXIT1_DR},
    [SHIFT_DR] = {SHIFT_DR, EXIT1_DR},
    [EXIT1_DR] = {PAUSE_DR, UPDATE_DR},
    [PAUSE_DR] = {PAUSE_DR, EXIT2_DR},
    [EXIT2_DR] = {SHIFT_DR, UPDATE_DR},
    [UPDATE_DR] = {IDLE, SELECT_DR},
    [SELECT_IR] = {CAPTURE_IR, RESET},
    [CAPTURE_IR] = {SHIFT_IR, EXIT1_IR},
    [SHIFT_IR] = {SHIFT_IR, EXIT1_IR},
    [EXIT1_IR] = {PAUSE_IR, UPDATE_IR},
    [PAUSE_IR] = {PAUSE_IR, EXIT2_IR},
    [EXIT2_IR] = {SHIFT_IR, UPDATE_IR},
    [UPDATE_IR] = {IDLE, SELECT_DR},
};

static void capture_dmi(model *m, model_tap *t)
{
    model_jtag *j = &m->jtag;
    t->shift_bits = 34 + m->options.abits;
    if (j->busy_next || (!j->sticky_busy && j->clocks < j->ready_at)) {
        j->busy_next = false;
        j->sticky_busy = true;
    }
    t->shift = j->sticky_busy ? 3 : j->answer;
}

static void update_dmi(model *m, uint64_t value)
{
    model_jtag *j = &m->jtag;
    if (j->sticky_busy) return;
    uint32_t op = value & 3, data = (uint32_t)(value >> 2), address = (uint32_t)(value >> 34);
    address &= (1u << m->options.abits) - 1;
    if (op == 0) return;
    /* Two clocks lie between Update-DR and the next Capture-DR, however fast the host is. */
    j->ready_at = j->clocks + 2 + m->options.dmi_clocks + j->extra;
    if (op == 1) data = model_dm_read(m, address);
    if (op == 2) model_dm_write(m, address, data);
    j->answer = (uint64_t)address << 34 | (uint64_t)data << 2;
}

static void capture_dr(model *m, model_tap *t)
{
    if (t->ir == IR_IDCODE) {
        t->shift = t->idcode;
        t->shift_bits = 32;
    } else if (t->debug && t->ir == IR_DTMCS) {
        t->shift = m->options.idle << 12 | (m->jtag.sticky_busy ? 3u << 10 : 0) | m->options.abits << 4 | 1;
        t->shift_bits = 32;
    } else if (t->debug && t->ir == IR_DMI) {
        capture_dmi(m, t);
    } else {
        t->shift = 0;
        t->shift_bits = 1;
    }
}

static void update_dr(model *m, model_tap *t)
{
    if (!t->debug) return;
    if (t->ir == IR_DTMCS && t->shift >> 16 & 3) m->jtag.sticky_busy = false;
    if (t->ir == IR_DMI) update_dmi(m, t->shift);
}

void model_jtag_init(model *m)
{
    model_jtag *j = &m->jtag;
    model_tap ours = {.idcode = m->options.idcode, .ir_bits = 5, .ir = IR_IDCODE, .debug = true};
    model_tap other = {.idcode = 0x790007A3, .ir_bits = OTHER_IR_BITS, .ir = IR_IDCODE};
    if (m->options.other_tap < 0) j->taps[j->n_taps++] = other;
    j->taps[j->n_taps++] = ours;
    if (m->options.other_tap > 0) j->taps[j->n_taps++] = other;
}

bool model_jtag_clock(model *m, bool tms, bool tdi)
{
    model_jtag *j = &m->jtag;
    bool tdo = true, bit = tdi;
    if (j->state == SHIFT_DR || j->state == SHIFT_IR) {
        for (uint32_t i = j->n_taps; i-- > 0;) {
            model_tap *t = &j->taps[i];
            tdo = t->shift & 1;
            t->shift = t->shift >> 1 | (uint64_t)bit << (t->shift_bits - 1);
            bit = tdo;
        }
    }
    for (uint32_t i = 0; i < j->n_taps; i++) {
        if (j->state == CAPTURE_DR) capture_dr(m, &j->taps[i]);
        if (j->state == CAPTURE_IR) {
            j->taps[i].shift = 1;
            j->taps[i].shift_bits = j->taps[i].ir_bits;
        }
    }
    j->state = next[j->state][tms];
    j->clocks++;
    m->pending += m->options.cycles_per_tck;
    for (uint32_t i = 0; i < j->n_taps; i++) {
        if (j->state == RESET) j->taps[i].ir = IR_IDCODE;
        if (j->state == UPDATE_IR) j->taps[i].ir = (uint32_t)j->taps[i].shift;
        if (j->state == UPDATE_DR) update_dr(m, &j->taps[i]);
    }
    return m->options.stuck ? m->options.stuck > 0 : tdo;
}
