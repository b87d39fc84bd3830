/* Records of host zones, to bytes and back. See the header. */
#include "decode/capture/host_records.h"

static void put_number(dl_str *bytes, uint64_t value)
{
    while (value >= 0x80) {
        dl_str_char(bytes, (char)(value | 0x80));
        value >>= 7;
    }
    dl_str_char(bytes, (char)value);
}

void dl_host_put(dl_str *bytes, const dl_host_record *record)
{
    put_number(bytes, record->time);
    put_number(bytes, (uint64_t)record->site << 2 | record->kind);
    if (record->kind == DL_HOST_VALUE) put_number(bytes, record->value);
    if (record->kind == DL_HOST_TEXT) {
        put_number(bytes, record->n);
        dl_str_add_n(bytes, record->text, record->n);
    }
}

/* False: it is cut, or of more than 64 bits. */
static bool take_number(const char **at, const char *end, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; *at < end && shift < 64; shift += 7) {
        const uint8_t byte = (uint8_t) * (*at)++;
        if (shift == 63 && byte > 1) return false;
        *value |= (uint64_t)(byte & 0x7F) << shift;
        if (byte < 0x80) return true;
    }
    return false;
}

bool dl_host_take(const char **at, const char *end, dl_host_record *record)
{
    const char *p = *at;
    uint64_t what = 0, n = 0;
    *record = (dl_host_record){0};
    if (p == end) return false;
    bool good = take_number(&p, end, &record->time) && take_number(&p, end, &what) && what >> 2 <= UINT32_MAX;
    record->site = (uint32_t)(what >> 2);
    record->kind = (dl_host_kind)(what & 3);
    if (good && record->kind == DL_HOST_VALUE) good = take_number(&p, end, &record->value);
    if (good && record->kind == DL_HOST_TEXT) good = take_number(&p, end, &n) && n <= (size_t)(end - p);
    if (!good) return false;
    record->text = p;
    record->n = (size_t)n;
    *at = p + n;
    return true;
}
