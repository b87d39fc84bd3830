/* What the files that make marks of records share. Not for others. */
#ifndef DEVLOG_DECODE_RAW_INTERNAL_H
#define DEVLOG_DECODE_RAW_INTERNAL_H

#include "base/str.h"
#include "decode/capture/raw_marks.h"

/* The marks of one RISC and launch in the making. */
typedef struct raw_maker {
    dl_tables *tables;
    const raw_risc *in;
    dl_marks *out;
    uint64_t common;      /* the part of all codes that is stream and frame */
    uint64_t last_record; /* when the last record was made; 0: none was */
    bool streamed;        /* from the event stream, whose numbers are no codes of records */
    bool disorder;        /* the marks are not in order of time */
} raw_maker;

/* raw_marks.c: adds what a record says. context: the raw_maker. */
devlog_status raw_add_event(void *context, const record_event *e, devlog_error *err);
/* raw_quick.c: the same for all records at once when they are ordinary: whole, plausible, in order, of codes
 * that are known, and with no stamp that may be torn. False: they are not, and what was added is to be taken
 * back; or *status. */
bool raw_quick(raw_maker *m, const record_input *records, record_losses *losses, devlog_status *status,
               devlog_error *err);
/* raw_events.c: the events of this RISC in the stream of its tile. */
devlog_status raw_events(raw_maker *m, record_losses *losses, devlog_error *err);
/* raw_text.c: the text of a print, or the way an unknown marker is called, as a JSON object; and a text as a JSON string. */
void raw_json(dl_str *json, const char *text, size_t n);
void raw_text(const dl_elf *elf, const record_event *e, dl_str *json);

#endif
