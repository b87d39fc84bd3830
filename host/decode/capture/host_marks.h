/* Marks of host zones: what threads of a program recorded (host_records.h) as marks of a chip whose RISCs are the threads
 * and whose cycles are ns. Not for marks of the device (raw_marks.h). */
#ifndef DEVLOG_DECODE_HOST_MARKS_H
#define DEVLOG_DECODE_HOST_MARKS_H

#include "decode/capture/host_records.h"
#include "decode/loss.h"
#include "decode/mark.h"

/* Sites of the processes of a capture. Zero-initialised there are none. */
typedef struct dl_host_sites {
    struct dl_host_process {
        uint32_t slot, n;
        uint32_t *sites; /* of dl_tables, + 1, by number - 1; 0: not told */
    } * items;
    uint32_t n;
} dl_host_sites;

void dl_host_sites_free(dl_host_sites *s);
/* Takes in what a frame says of a site; later ones of its number replace it. */
devlog_status dl_host_sites_add(dl_host_sites *s, dl_tables *tables, uint32_t slot, const dl_host_site *site,
                                devlog_error *err);
/* Adds the marks of a frame. *malformed counts what no writer writes; `line` is for messages. */
devlog_status dl_host_marks(const dl_host_sites *s, dl_tables *tables, const dl_host_records *records,
                            uint32_t line, dl_marks *out, uint64_t *malformed, devlog_error *err);

#endif
