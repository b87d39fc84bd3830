/* Records of host zones in a capture: the two ends of the format of frames 11 and 12 (docs/file-formats.md). Not for the
 * rings of a running program (zones/ring.h), nor for what the records become (host_marks.h).
 *
 * A record: how many ns it is after the one before (of the thread and frame), then its number of a site times 4 with what
 * it is in the lowest two bits; a value's number; a text's bytes, behind how many they are. Numbers are LEB128: seven bits a
 * byte, the lowest first, the eighth says that more follow. */
#ifndef DEVLOG_DECODE_HOST_RECORDS_H
#define DEVLOG_DECODE_HOST_RECORDS_H

#include "base/str.h"
#include "decode/tables.h"

/* A process is a chip of a capture, whose slot is DL_HOST_SLOT and its number; its clock counts ns. */
#define DL_HOST_ARCH "host"
enum { DL_HOST_KHZ = 1000000 };

typedef enum dl_host_kind { DL_HOST_BEGIN, DL_HOST_END, DL_HOST_VALUE, DL_HOST_TEXT } dl_host_kind;

typedef struct dl_host_record {
    uint64_t time; /* ns since the one before in the frame; since the process's clock began of the first */
    uint32_t site;
    dl_host_kind kind;
    uint64_t value;   /* of a value */
    const char *text; /* of a text: n bytes, borrowed */
    size_t n;
} dl_host_record;

/* A site, before its first record. */
typedef struct dl_host_site {
    uint32_t number, line;
    const char *name, *function, *file; /* NUL-terminated */
} dl_host_site;

/* Records of a thread. */
typedef struct dl_host_records {
    uint32_t slot, thread; /* numbered from 1 */
    const char *name;      /* of the thread */
    uint64_t lost;         /* before the first of them: records that found no room */
    uint64_t elsewhere;    /* and zones that this thread ended and another began */
    const char *bytes;
    size_t size;
} dl_host_records;

/* Calls about memory that cannot be, since the frame of them before. */
typedef struct dl_host_memory {
    uint32_t slot;
    uint64_t unknown; /* frees of what was not allocated */
    uint64_t twice;   /* of what was free already */
    uint64_t over;    /* blocks where one is that was not freed */
} dl_host_memory;

void dl_host_put(dl_str *bytes, const dl_host_record *record);
/* Takes the next record off *at. False: there is none, or it cannot be: then *at is not `end`. */
bool dl_host_take(const char **at, const char *end, dl_host_record *record);

#endif
