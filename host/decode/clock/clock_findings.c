/* What is found about the clock of a chip. See the header. */
#include "decode/clock/clock_findings.h"

#include "decode/tables.h"

/* More than 1 % between what the board file, the chip and the measurement say. */
static void find_frequency(const dl_chip_clock *c, dl_losses *l)
{
    const uint64_t used = dl_chip_clock_khz(c), says[] = {c->freq_khz, c->aiclk_khz};
    char texts[3][DL_GROUPED_SIZE];
    bool differs = false;
    for (int i = 0; i < 2; i++)
        differs |= says[i] && used && (used > says[i] ? used - says[i] : says[i] - used) * 100 > says[i];
    if (!differs) return;
    dl_losses_found(
        l, DL_FOUND_CLOCK, 1,
        "chip %u: its clock ran at %s MHz%s, its board file says %s%s%s%s; nanoseconds are of the first",
        c->slot, dl_mhz_text(texts[0], used), used == c->freq_khz ? "" : " (measured)",
        dl_mhz_text(texts[1], c->freq_khz), c->aiclk_khz ? ", and the chip itself " : "",
        c->aiclk_khz ? dl_mhz_text(texts[2], c->aiclk_khz) : "", " MHz");
}

void dl_clock_findings(const dl_chip_clock *c, dl_losses *l)
{
    char title[DL_CHIP_TITLE];
    if (c->refuted)
        dl_losses_found(l, DL_FOUND_CLOCK, 1,
                        "chip %u: its board says that the counters of its cores start together; that of core "
                        "%u,%u does not",
                        c->slot, c->refuted_x, c->refuted_y);
    if (c->moved)
        dl_losses_found(l, DL_FOUND_CLOCK, 1,
                        "chip %u: offsets of its cores changed while it was measured; the bound holds both",
                        c->slot);
    if (!c->fitted)
        dl_losses_found(l, DL_FOUND_CLOCK, 1, "%s is not aligned with the host: %s",
                        dl_chip_title(title, c->slot), c->why);
    if (c->fitted && c->fit.n_changes)
        dl_losses_found(l, DL_FOUND_CLOCK, c->fit.n_changes,
                        "chip %u changed its frequency %u times, first from %.3f to %.3f MHz", c->slot,
                        c->fit.n_changes, c->fit.changes[0].before * 1000, c->fit.changes[0].after * 1000);
    find_frequency(c, l);
}
