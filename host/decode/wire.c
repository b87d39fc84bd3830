/* Wire: numbers and texts as bytes, and back. */
#include "decode/wire.h"

#include "base/varint.h"

static bool fails(dl_wire *w)
{
    w->bad = true;
    w->at = w->end;
    return false;
}

/* Near the end of what is read, or damaged: byte by byte. */
static uint64_t read_carefully(dl_wire *w)
{
    uint64_t read = 0;
    bool ends = false;
    for (unsigned shift = 0; shift < 64 && w->at < w->end && !ends; shift += 7) {
        const uint8_t byte = *w->at++;
        if (shift == 63 && byte > 1) break;
        read |= (uint64_t)(byte & 0x7F) << shift;
        ends = byte < 0x80;
    }
    return ends || fails(w) ? read : 0;
}

void dl_wire_u64(dl_wire *w, uint64_t *value)
{
    enum { QUICK = 4 }; /* bytes: most numbers have no more */
    if (!dl_wire_reads(w)) {
        dl_str *out = w->out;
        if (!dl_str_reserve(out, DL_VARINT)) return;
        out->len = (size_t)((char *)dl_varint_put((uint8_t *)out->text + out->len, *value) - out->text);
        out->text[out->len] = 0;
        return;
    }
    const uint8_t *at = w->at;
    if (w->end - at < QUICK || (at[0] & at[1] & at[2] & at[3]) >= 0x80) {
        *value = read_carefully(w);
        return;
    }
    w->at = dl_varint_get(at, value);
}

void dl_wire_u128(dl_wire *w, dl_u128 *value)
{
    uint64_t low = (uint64_t)*value, high = (uint64_t)(*value >> 64);
    dl_wire_u64(w, &low);
    dl_wire_u64(w, &high);
    *value = (dl_u128)high << 64 | low;
}

void dl_wire_u32(dl_wire *w, uint32_t *value)
{
    uint64_t wide = *value;
    dl_wire_u64(w, &wide);
    *value = wide <= UINT32_MAX || fails(w) ? (uint32_t)wide : 0;
}

void dl_wire_flag(dl_wire *w, bool *value)
{
    uint32_t number = *value;
    dl_wire_below(w, &number, 2);
    *value = number != 0;
}

void dl_wire_below(dl_wire *w, uint32_t *value, uint32_t end)
{
    dl_wire_u32(w, value);
    if (dl_wire_reads(w) && *value >= end) *value = fails(w);
}

void dl_wire_index(dl_wire *w, uint32_t *value, uint32_t end)
{
    uint64_t number = *value == DL_NONE ? 0 : (uint64_t)*value + 1;
    dl_wire_u64(w, &number);
    if (dl_wire_reads(w) && number > end) number = fails(w);
    *value = number ? (uint32_t)(number - 1) : DL_NONE;
}

void dl_wire_more(dl_wire *w, uint64_t *value, uint64_t than)
{
    uint64_t more = dl_zigzag(*value - than);
    dl_wire_u64(w, &more);
    if (dl_wire_reads(w)) *value = than + dl_unzigzag(more);
}

void dl_wire_count(dl_wire *w, uint32_t *n, uint32_t most, size_t bytes)
{
    dl_wire_u32(w, n);
    if (dl_wire_reads(w) && (*n > most || (uint64_t)*n * bytes > (uint64_t)(w->end - w->at))) *n = fails(w);
}

void dl_wire_bytes(dl_wire *w, const char **text, size_t *n)
{
    uint64_t len = *n;
    dl_wire_u64(w, &len);
    if (!dl_wire_reads(w)) {
        dl_str_add_n(w->out, *text, *n);
        return;
    }
    if (len > (uint64_t)(w->end - w->at)) len = fails(w);
    *text = (const char *)w->at;
    *n = (size_t)len;
    w->at += len;
}

void dl_wire_text(dl_wire *w, uint32_t *id)
{
    enum { NONE, TEXT, META, WAYS };
    uint32_t way = !*id ? NONE : *id & DL_META_TEXT ? META : TEXT;
    dl_wire_below(w, &way, WAYS);
    if (way == NONE) {
        *id = 0;
        return;
    }
    const char *text = dl_wire_reads(w) ? "" : dl_text(w->tables, *id);
    size_t n = strlen(text);
    dl_wire_bytes(w, &text, &n);
    if (!dl_wire_reads(w)) return;
    if (strnlen(text, n) < n) n = fails(w);
    *id = way == META ? dl_tables_meta(w->tables, text, n) : dl_tables_text(w->tables, text, n);
    if (*id == DL_NONE) *id = fails(w);
}

void dl_wire_samples(dl_wire *w, dl_samples *s)
{
    dl_sample_walk walk = {0};
    uint64_t n = dl_samples_count(s), value = 0, before = 0;
    dl_wire_u64(w, &n);
    if (n > UINT32_MAX || (dl_wire_reads(w) && n > (uint64_t)(w->end - w->at))) w->bad = true;
    if (!dl_wire_reads(w)) dl_sample_walk_start(&walk, s);
    for (uint64_t i = 0; i < n && !w->bad; i++) {
        if (!dl_wire_reads(w)) dl_sample_walk_next(&walk, &value);
        dl_wire_more(w, &value, before);
        if (dl_wire_reads(w) && !dl_samples_add(s, value)) w->bad = true;
        before = value;
    }
}
