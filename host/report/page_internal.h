/* What the files that make device_perf.html share. The format of the data is described here, and read by
 * page/data.js.
 *
 * A page holds two blocks of data. The first is a JSON object: names, tracks, launches, statistics, losses
 * (page_meta.c). The second, deflated (RFC 1950) and in base64, is columns of numbers (page_pack.c): for each
 * lane in turn, its column of gaps, then all lanes' lengths, sites and launches likewise. A number is a
 * varint: seven bits a byte, low bits first, the top bit set in all but the last byte.
 *
 *   gap     cycles from the end of the interval before in this lane (the first: from the chip's base) to the
 *           start of this one
 *   length  cycles; in lanes of points: the value
 *   site    index into the JSON's sites; in lanes of points: that times 4 plus the dl_event_kind
 *   launch  difference to the launch before in this lane (the first: to 0), zigzag: 0, -1, 1, -2 are 0, 1, 2,
 *           3; -1 is no launch
 *
 * A lane is a level of nesting on one RISC, level 0 outermost; its intervals do not overlap. Zones that do
 * not nest go to the next free lane. */
#ifndef DEVLOG_REPORT_PAGE_INTERNAL_H
#define DEVLOG_REPORT_PAGE_INTERNAL_H

#include "report/page.h"

typedef struct page_item {
    uint64_t start;
    uint64_t length; /* of zones; the data of points */
    uint32_t stream, site, launch;
    uint16_t lane; /* level, set by page_lanes */
    uint8_t kind;
} page_item;

typedef struct page_lane {
    uint32_t stream;
    uint32_t first, n; /* of dl_page.items, after page_lanes */
    uint16_t level;
    bool points;
} page_lane;

struct dl_page {
    page_item *items;
    size_t n, cap, max;
    uint32_t launch_end; /* launches from here on are left out; DL_NONE: none is */
    uint64_t left_out;   /* intervals */
    const char *title;   /* borrowed */
    page_lane *lanes;    /* by stream in order of rows, then level, points last */
    uint32_t n_lanes, cap_lanes;
    uint32_t *rows, n_rows;      /* streams that have items, in the order in which the page shows them */
    uint32_t *site_numbers;      /* of each site, its number in the page; DL_NONE: not in the page */
    uint64_t base[DL_MAX_CHIPS]; /* first cycle of each chip; UINT64_MAX: none */
};

/* Orders the items by lane and time; fills lanes, rows, site_numbers and bases. Call once. */
devlog_status page_lanes(dl_page *p, const dl_tables *t, devlog_error *err);
/* The columns, deflated; frees nothing of p. `column_bytes`: sizes of the four columns, inflated. */
devlog_status page_pack(const dl_page *p, const dl_tables *t, dl_str *out, uint64_t column_bytes[4],
                        devlog_error *err);
/* The JSON block; contains no '<', so that it can stand inside a script element. */
devlog_status page_meta(const dl_page *p, dl_decode *d, const uint64_t column_bytes[4], dl_str *out,
                        devlog_error *err);

void page_varint(dl_str *out, uint64_t value);
void page_base64(dl_str *out, const void *bytes, size_t n);

/* The parts of the page, from page/, made into C by cmake/embed.cmake. */
extern const unsigned char page_head[], page_body[], page_style[], page_chart[], page_script[];
extern const unsigned long page_head_size, page_body_size, page_style_size, page_chart_size, page_script_size;
/* "'sha256-...'" of each, for the content security policy. */
extern const char page_style_hash[], page_chart_hash[], page_script_hash[];

#endif
