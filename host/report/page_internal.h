/* What the files that make device_perf.html share. The format of the data is described here, and read by
 * page/data.js.
 *
 * A page holds two blocks of data. The first is a JSON object: names, rows, launches, statistics, losses
 * (page_meta.c). The second, deflated (RFC 1950) and in base64, is columns of numbers (page_pack.c): for each
 * line of each row in turn its gaps, then likewise all lengths, all sites and all launches. A number is a
 * varint: seven bits a byte, low bits first, the top bit set in all but the last byte.
 *
 *   gap     cycles from the end of the interval before in this line (the first: from the row's base) to the
 *           start of this one
 *   length  cycles; in lines of points: the value; of text the number in the JSON's texts, from 1
 *   site    number in the JSON's sites; in lines of points: that times 8 plus the dl_view_kind. Of launches:
 * 0 launch  difference to the launch before in this line (the first: to 0), zigzag: 0, -1, 1, -2 are 0, 1, 2,
 *           3; -1 is no launch
 *
 * A third block, deflated and in base64 too, is the JSON of dl_page_options.answers, or empty.
 *
 * A row is a track of the view. A line is one level of nesting in it, 0 outermost; its intervals do not
 * overlap. Further lanes of the view have their lines below those of the first; points have a line of their
 * own, the last. */
#ifndef DEVLOG_REPORT_PAGE_INTERNAL_H
#define DEVLOG_REPORT_PAGE_INTERNAL_H

#include "report/page.h"
#include "report/page_parts.h"

enum { PAGE_GAPS, PAGE_LENGTHS, PAGE_SITES, PAGE_LAUNCHES, PAGE_COLUMNS };
enum { PAGE_TEXTS = 20000 }; /* different ones; others are there without their text */

typedef struct page_line {
    dl_str columns[PAGE_COLUMNS];
    uint64_t at;    /* end of its last interval */
    int64_t launch; /* of its last interval */
    uint32_t n;
    uint32_t room; /* items for which there is room in all columns */
} page_line;

typedef struct page_pack {
    dl_view *view;
    uint32_t launch_end; /* launches from here on are left out; DL_NONE: none is */
    uint64_t intervals, left_out;
    uint64_t max;                 /* intervals */
    dl_str columns[PAGE_COLUMNS]; /* of the rows that are done */
    dl_str rows;                  /* their JSON */
    uint32_t *site_numbers;       /* of each site; DL_NONE: not in the page */
    uint32_t *sites, n_sites;     /* in the page, in the order of their numbers */
    uint32_t *text_numbers;       /* of each text of the tables; 0: not in the page */
    uint32_t n_text_numbers, n_texts;
    dl_str texts;             /* their JSON */
    page_line *lines, points; /* of the row in hand */
    uint32_t n_lines, cap_lines;
    uint32_t track, lane, below; /* in hand; lines of lanes before it */
    uint64_t base, base_time;    /* of the row in hand: its first cycle, and that on the time axis */
    uint64_t last, last_time;    /* its last */
} page_pack;

/* Packs the view, leaving out the last launches when there are more than `max` intervals. Free *p with
 * page_pack_free in any case. */
devlog_status page_pack_view(page_pack *p, dl_view *v, uint64_t max, devlog_error *err);
/* All columns one behind the other, deflated. */
devlog_status page_deflate(const page_pack *p, dl_str *out, devlog_error *err);
devlog_status page_deflate_text(const char *text, size_t n, dl_str *out, devlog_error *err);
void page_pack_free(page_pack *p);
/* The JSON block; contains no '<', so that it can stand inside a script element. */
devlog_status page_meta(const page_pack *p, const char *title, dl_str *out, devlog_error *err);
/* Takes '<' out of the JSON in out[from..): it stands only in strings, where \u003c is the same. */
void page_without_angle(dl_str *out, size_t from);
void page_base64(dl_str *out, const void *bytes, size_t n);

#endif
