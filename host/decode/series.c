/* Series: what values, sums and points in time come to. */
#include "decode/series.h"

#include <stdlib.h>
#include <string.h>

#include "base/intern.h"

void dl_series_free(dl_series_table *t)
{
    free(t->items);
    free(t->slots);
    free(t->messages);
    *t = (dl_series_table){0};
}

static uint32_t slot_of(const dl_series_table *t, uint32_t stream, uint32_t site, dl_event_kind kind)
{
    uint64_t hash = dl_hash_u64((uint64_t)stream << 32 | site << 3 | (uint32_t)kind);
    for (uint32_t at = (uint32_t)hash & (t->n_slots - 1);; at = (at + 1) & (t->n_slots - 1)) {
        if (!t->slots[at]) return at;
        const dl_series *s = &t->items[t->slots[at] - 1];
        if (s->stream == stream && s->site == site && s->kind == kind) return at;
    }
}

static bool grow(dl_series_table *t)
{
    if (t->n >= DL_MAX_SERIES) return false;
    if (t->n == t->cap) {
        uint32_t cap = t->cap ? t->cap * 2 : 64;
        dl_series *items = realloc(t->items, cap * sizeof *items);
        if (!items) return false;
        t->items = items;
        t->cap = cap;
    }
    if ((t->n + 1) * 2 <= t->n_slots) return true;
    uint32_t n_slots = t->n_slots ? t->n_slots * 2 : 256;
    uint32_t *slots = calloc(n_slots, sizeof *slots);
    if (!slots) return false;
    free(t->slots);
    t->slots = slots;
    t->n_slots = n_slots;
    for (uint32_t i = 0; i < t->n; i++)
        t->slots[slot_of(t, t->items[i].stream, t->items[i].site, t->items[i].kind)] = i + 1;
    return true;
}

uint32_t dl_series_number(const dl_series_table *t, uint32_t stream, uint32_t site, dl_event_kind kind)
{
    return t->n_slots ? t->slots[slot_of(t, stream, site, kind)] - 1 : DL_NONE;
}

dl_series *dl_series_add(dl_series_table *t, uint32_t stream, uint32_t site, dl_event_kind kind,
                         uint64_t time, uint64_t data, uint64_t passes)
{
    uint32_t slot = t->n_slots ? slot_of(t, stream, site, kind) : 0;
    if (!t->n_slots || !t->slots[slot]) {
        if (!grow(t)) return NULL;
        t->items[t->n++] = (dl_series){
            .stream = stream, .site = site, .kind = kind, .min = data, .max = data, .shortest = UINT64_MAX};
        slot = slot_of(t, stream, site, kind);
        t->slots[slot] = t->n;
    }
    dl_series *s = &t->items[t->slots[slot] - 1];
    dl_series_count(s, time, data, passes);
    return s;
}

bool dl_series_absorb(dl_series_table *t, const dl_series *later, uint32_t stream, uint32_t site)
{
    uint32_t slot = t->n_slots ? slot_of(t, stream, site, later->kind) : 0;
    if (!t->n_slots || !t->slots[slot]) {
        if (!grow(t)) return false;
        t->items[t->n++] = *later;
        t->items[t->n - 1].stream = stream;
        t->items[t->n - 1].site = site;
        t->slots[slot_of(t, stream, site, later->kind)] = t->n;
        return true;
    }
    dl_series *s = &t->items[t->slots[slot] - 1];
    if (later->last_time >= s->last_time) {
        s->last = later->last;
        s->last_time = later->last_time;
    }
    if (later->min < s->min) s->min = later->min;
    if (later->max > s->max) s->max = later->max;
    if (later->shortest < s->shortest) s->shortest = later->shortest;
    if (later->longest > s->longest) s->longest = later->longest;
    if (later->what != DL_SERIES_PLAIN) s->what = later->what;
    s->count += later->count;
    s->sum += later->sum;
    s->passes += later->passes;
    return true;
}

/* ---- Meta data --------------------------------------------------------------------------------------- */

static const char text_head[] = "{\"text\":\"",
                  passes_head[] = "{\"count\":", counter_head[] = "{\"counter\":";

static bool begins(const char *meta, size_t n, const char *head)
{
    size_t len = strlen(head);
    return n >= len && memcmp(meta, head, len) == 0;
}

bool dl_series_meta(const char *meta, size_t n)
{
    return begins(meta, n, text_head) || begins(meta, n, passes_head) || begins(meta, n, counter_head);
}

/* The number behind "key": in meta data; in a device log ';' stands for ','. */
static bool number_of(const char *meta, const char *key, uint64_t *value)
{
    const char *at = strstr(meta, key);
    if (!at) return false;
    at += strlen(key);
    if (*at < '0' || *at > '9') return false;
    *value = strtoull(at, NULL, 10);
    return true;
}

/* A message that cannot be kept is counted. */
void dl_series_keep(dl_series_table *t, const dl_message *message)
{
    if (t->n_messages == t->cap_messages) {
        uint32_t cap = t->cap_messages ? t->cap_messages * 2 : 64;
        dl_message *grown = cap <= DL_MAX_MESSAGES ? realloc(t->messages, cap * sizeof *grown) : NULL;
        if (!grown) {
            t->more_messages++;
            return;
        }
        t->messages = grown;
        t->cap_messages = cap;
    }
    t->messages[t->n_messages++] = *message;
}

void dl_series_tell(dl_series_table *t, dl_series *s, const char *text, const dl_message *message)
{
    size_t n = strlen(text);
    uint64_t shortest, longest;
    if (s->kind == DL_EVENT_POINT && begins(text, n, text_head)) {
        s->what = DL_SERIES_TEXT;
        dl_series_keep(t, message);
    } else if (s->kind == DL_EVENT_VALUE && begins(text, n, counter_head)) {
        s->what = DL_SERIES_COUNTER;
    } else if (s->kind == DL_EVENT_SUM && number_of(text, "\"min\":", &shortest) &&
               number_of(text, "\"max\":", &longest)) {
        if (shortest < s->shortest) s->shortest = shortest;
        if (longest > s->longest) s->longest = longest;
    }
}

static int hex_of(const char *at)
{
    int value = 0;
    for (int i = 0; i < 4; i++) {
        static const char digits[] = "0123456789abcdefABCDEF";
        const char *digit = at[i] ? strchr(digits, at[i]) : NULL;
        if (!digit) return -1;
        value = value * 16 + (int)(digit - digits < 16 ? digit - digits : digit - digits - 6);
    }
    return value;
}

/* A code point as UTF-8; never NUL, which would end the text. */
static void add_code_point(dl_str *out, unsigned c)
{
    if (c == 0) c = 0xFFFD;
    if (c < 0x80) {
        dl_str_char(out, (char)c);
    } else if (c < 0x800) {
        dl_str_char(out, (char)(0xC0 | c >> 6));
        dl_str_char(out, (char)(0x80 | (c & 63)));
    } else {
        if (c < 0x10000) {
            dl_str_char(out, (char)(0xE0 | c >> 12));
        } else {
            dl_str_char(out, (char)(0xF0 | c >> 18));
            dl_str_char(out, (char)(0x80 | (c >> 12 & 63)));
        }
        dl_str_char(out, (char)(0x80 | (c >> 6 & 63)));
        dl_str_char(out, (char)(0x80 | (c & 63)));
    }
}

/* The code point of the escape sequence whose 'u' is at *at, which is left at its last digit; -1: none.
 * Beyond 16 bits it is two sequences, a pair of surrogates; half a pair stands for nothing. */
static int escaped(const char **at)
{
    int code = hex_of(*at + 1);
    if (code < 0) return -1;
    *at += 4;
    if (code < 0xD800 || code >= 0xE000) return code;
    int low = code < 0xDC00 && (*at)[1] == '\\' && (*at)[2] == 'u' ? hex_of(*at + 3) : -1;
    if (low < 0xDC00 || low >= 0xE000) return 0xFFFD;
    *at += 6;
    return 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
}

bool dl_meta_text(const char *meta, dl_str *out)
{
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    if (!meta || strncmp(meta, text_head, sizeof text_head - 1) != 0) return false;
    for (const char *at = meta + sizeof text_head - 1; *at && *at != '"'; at++) {
        if (*at != '\\') {
            dl_str_char(out, *at);
            continue;
        }
        at++;
        const char *known = *at ? strchr(from, *at) : NULL;
        if (!*at) break;
        int code = *at == 'u' ? escaped(&at) : -1;
        if (code >= 0)
            add_code_point(out, (unsigned)code);
        else
            dl_str_char(out, known ? to[known - from] : *at);
    }
    return true;
}
