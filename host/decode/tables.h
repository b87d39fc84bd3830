/* Tables: the chips, streams (one RISC of one core of one chip), sites (one zone in one source line) and
 * kinds of marks (kinds.h) that marks and events name by number. Append only and bounded: hostile input is
 * refused, not stored. Numbers are given in order of first appearance, so the same input gives the same
 * numbers.
 *
 * Nothing in them moves, so one thread may read what another has handed it the numbers of, while a third
 * entry is added. Only one thread at a time adds. */
#ifndef DEVLOG_DECODE_TABLES_H
#define DEVLOG_DECODE_TABLES_H

#include <stdbool.h>

#include "base/intern.h"
#include "decode/kinds.h"

#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
enum { /* small enough to be reached, and to be made anew thousands of times a second */
       DL_MAX_CHIPS = 16,
       DL_MAX_STREAMS = 64,
       DL_MAX_SITES = 64,
       DL_MAX_KINDS = 1024,
       DL_MAX_STRINGS = 128,
       DL_MAX_STRING_BYTES = 4096,
};
#else
enum {
    DL_MAX_CHIPS = 1024,
    DL_MAX_STREAMS = 64 * 1024,
    DL_MAX_SITES = 256 * 1024,
    DL_MAX_KINDS = 1024 * 1024,
    DL_MAX_STRINGS = 256 * 1024,
    DL_MAX_STRING_BYTES = 16 * 1024 * 1024,
};
#endif

/* Meta data have numbers of their own, with this bit, and room of their own: they are often unique, and must
 * not take the room of names. dl_text knows them. */
#define DL_META_TEXT UINT32_C(0x80000000)
#define DL_NONE      UINT32_MAX /* no such entry, or the table is full */

/* Ordered as reports list them. */
typedef enum dl_risc {
    DL_RISC_BRISC,
    DL_RISC_NCRISC,
    DL_RISC_TRISC0,
    DL_RISC_TRISC1,
    DL_RISC_TRISC2,
    DL_RISC_ERISC,
    DL_RISC_OTHER, /* a name that devlog does not know: reported under that name */
} dl_risc;

typedef enum dl_role {
    DL_ROLE_USER,
    DL_ROLE_FW,      /* the whole of a launch on one RISC: "<RISC>-FW" */
    DL_ROLE_KERNEL,  /* "<RISC>-KERNEL" */
    DL_ROLE_DROPPED, /* a zone of dl_loss_zone: its data count what was lost */
} dl_role;

/* Zones of ZONE_TOTAL rows by which a device log owns up to what a RISC lost in a launch. */
typedef enum dl_loss_zone {
    DL_LOSS_DROPPED,   /* "DEVLOG-DROPPED": markers that the device had no room for */
    DL_LOSS_DAMAGED,   /* "DEVLOG-DAMAGED": words that belong to no record */
    DL_LOSS_UNKNOWN,   /* "DEVLOG-UNKNOWN": why nobody knows what was lost, bits DEVLOG_DAMAGE_* */
    DL_LOSS_RESTARTED, /* "DEVLOG-RESTARTED": how often the firmware started again in mid-launch */
    DL_LOSS_TORN,      /* "DEVLOG-TORN": stamps that were repaired */
    DL_LOSS_AMBIGUOUS, /* "DEVLOG-AMBIGUOUS": stamps that may be 2^32 cycles off */
    DL_LOSS_VIOLATED, /* "DEVLOG-VIOLATED" and, behind a blank, an expectation of a kernel that was not met: how often. No
                          loss, and told as losses are */
    DL_LOSS_ZONES,
} dl_loss_zone;

#define DL_DROPPED_ZONE  "DEVLOG-DROPPED"
#define DL_VIOLATED_ZONE "DEVLOG-VIOLATED"

/* Zone of the row with which a run closes its device log, when the chip line has said that one will come. It
 * is no row of the result. */
#define DL_END_ZONE "DEVLOG-END"

/* In logs of six columns a timer id says the same: these upper four bits, four for the zone, 24 for the
 * amount; several such rows add up. */
#define DL_LOSS_TIMER      0xD0000000u
#define DL_LOSS_TIMER_MASK 0xF0000000u
#define DL_LOSS_TIMER_MOST 0x00FFFFFFu

/* Source file of the default zones of our own firmware. */
#define DL_FIRMWARE_FILE "firmware/run.h"

/* In the chip line of a simulator without timing, and in reports of it. */
#define DL_INSTRUCTIONS "Cycles: instructions"

typedef struct dl_chip {
    uint32_t id;        /* the log's "PCIe slot" */
    uint32_t arch;      /* text; 0: unknown */
    uint64_t freq_khz;  /* 0: unknown; then there are cycles and no nanoseconds */
    uint32_t max_cores; /* 0: unknown */
    uint64_t aiclk_khz; /* that the chip itself said when it was opened; 0: unknown */
    bool instructions;  /* its cycles are instructions: a simulator without timing */
} dl_chip;

/* What a chip line says of the chips of the marks below it. */
typedef struct dl_chip_line {
    char arch[32];
    uint32_t arch_text; /* in the decoder's tables, which sets it; 0: none */
    uint64_t freq_khz;  /* 0: unknown */
    uint32_t max_cores; /* 0: unknown */
    uint64_t run;       /* id of the run that wrote the marks below ("Run: <hex>"); 0: not said */
    uint64_t aiclk_khz; /* 0: unknown */
    bool instructions;  /* cycles are (DL_INSTRUCTIONS) */
    bool ends;          /* a last row will say that the log is whole (DL_END_ZONE) */
    bool beside;        /* and that of another device of the program, above, may come later */
} dl_chip_line;

typedef struct dl_stream {
    uint32_t chip; /* index into chips */
    uint16_t core_x, core_y;
    uint32_t risc_name; /* text */
    dl_risc risc;
} dl_stream;

typedef struct dl_site {
    uint32_t name, file; /* texts */
    uint32_t line;
    dl_role role;
} dl_site;

typedef struct dl_table_counts {
    uint32_t chips, streams, sites, kinds;
} dl_table_counts;

typedef struct dl_tables {
    dl_intern *strings, *metas;
    dl_chip *chips;
    dl_stream *streams;
    dl_site *sites;
    dl_kind *kinds;
    uint32_t last_file; /* a text */
    uint32_t n_chips, n_streams, n_sites, n_kinds;
    uint32_t *stream_slots, *site_slots, *kind_slots; /* hash tables: number + 1 */
    uint32_t n_stream_slots, n_site_slots, n_kind_slots;
    dl_table_counts added; /* what there is, for those who add */
    bool unpublished;      /* the counts above are told by dl_tables_publish; otherwise they follow at once */
} dl_tables;

/* Zero-initialised tables are made ready by dl_tables_init and freed by dl_tables_free. */
devlog_status dl_tables_init(dl_tables *t, devlog_error *err);
void dl_tables_free(dl_tables *t);

/* A process of the host (capture/host_records.h) is kept as a chip: its number is that of the process behind this one. */
#define DL_HOST_SLOT UINT32_C(0x40000000)
static inline bool dl_is_process(uint32_t chip_id)
{
    return chip_id >= DL_HOST_SLOT && chip_id < 2 * DL_HOST_SLOT;
}
enum { DL_CHIP_TITLE = 24 };
/* "chip 0", or "process 123"; into `text`, which is returned. */
const char *dl_chip_title(char text[DL_CHIP_TITLE], uint32_t chip_id);

/* Each returns the number of an entry, adding it when it is new, or DL_NONE when the table is full. */
uint32_t dl_tables_chip(dl_tables *t, uint32_t id);
uint32_t dl_tables_stream(dl_tables *t, uint32_t chip_id, uint16_t core_x, uint16_t core_y, const char *risc,
                          size_t risc_len);
uint32_t dl_tables_site(dl_tables *t, const char *name, size_t name_len, const char *file, size_t file_len,
                        uint32_t line);
/* A kind with these site, timer id, type, cost and words; its role is that of the site. Timer ids, of which a
 * log may have any number, are not kept when the table is half full: then there is a kind for every site. */
uint32_t dl_tables_kind(dl_tables *t, const dl_kind *kind);
uint32_t dl_tables_text(dl_tables *t, const char *text, size_t n);
uint32_t dl_tables_meta(dl_tables *t, const char *text, size_t n);

/* Tells readers of entries up to these counts, which are of `added` at some time. */
void dl_tables_publish(dl_tables *t, dl_table_counts counts);

/* NUL-terminated texts, owned by the tables. */
const char *dl_text(const dl_tables *t, uint32_t id);
const char *dl_risc_text(const dl_tables *t, uint32_t stream);
const char *dl_site_text(const dl_tables *t, uint32_t site);

/* BRISC, NCRISC, TRISC_0 or TRISC0, ...; DL_RISC_OTHER when unknown. */
dl_risc dl_risc_of_name(const char *name, size_t n);
dl_role dl_role_of_zone(const char *name, size_t n, const char *file, size_t file_len);
/* DL_LOSS_ZONES when the name is none of theirs. */
dl_loss_zone dl_loss_of_zone(const char *name, size_t n);
const char *dl_loss_zone_name(dl_loss_zone zone);
/* The name that a RISC's default zone has in the logs: "BRISC-FW", "TRISC-KERNEL". `out` holds 64 bytes. */
void dl_default_zone_name(char out[64], const char *risc, size_t n, dl_role role);

/* Cycles in nanoseconds, rounded to nearest; only for freq_khz > 0. */
uint64_t dl_many_cycles_to_ns(uint64_t cycles, uint64_t freq_khz);
static inline uint64_t dl_cycles_to_ns(uint64_t cycles, uint64_t freq_khz)
{
    /* Without overflow the same in one step. */
    if (cycles < UINT64_C(1) << 43 && freq_khz < UINT64_C(1) << 43)
        return (cycles * 1000000 + freq_khz / 2) / freq_khz;
    return dl_many_cycles_to_ns(cycles, freq_khz);
}

#endif
