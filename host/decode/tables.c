/* Tables: the chips, streams, sites and kinds of marks that marks and events name by number. */
#include "decode/tables.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/big.h"
#include "decode/row.h"

const char *dl_row_type_text(dl_row_type type)
{
    static const char *const names[DL_ROW_TYPES] = {
        [DL_ROW_ZONE_START] = "ZONE_START", [DL_ROW_ZONE_END] = "ZONE_END",
        [DL_ROW_ZONE_TOTAL] = "ZONE_TOTAL", [DL_ROW_TS_DATA] = "TS_DATA",
        [DL_ROW_TS_EVENT] = "TS_EVENT",     [DL_ROW_TS_DATA_16B] = "TS_DATA_16B",
    };
    return (unsigned)type < DL_ROW_TYPES ? names[type] : "?";
}

const char *dl_chip_title(char text[DL_CHIP_TITLE], uint32_t chip_id)
{
    const bool process = dl_is_process(chip_id);
    snprintf(text, DL_CHIP_TITLE, "%s %u", process ? "process" : "chip",
             process ? chip_id - DL_HOST_SLOT : chip_id);
    return text;
}

devlog_status dl_tables_init(dl_tables *t, devlog_error *err)
{
    *t = (dl_tables){0};
    t->strings = dl_intern_new(DL_MAX_STRINGS, DL_MAX_STRING_BYTES);
    t->metas = dl_intern_new(DL_MAX_STRINGS, DL_MAX_STRING_BYTES);
    /* In full, so that they need not move: pages that are not used cost nothing. */
    t->chips = calloc(DL_MAX_CHIPS, sizeof *t->chips);
    t->streams = dl_big_reserve(DL_MAX_STREAMS * sizeof *t->streams);
    t->sites = dl_big_reserve(DL_MAX_SITES * sizeof *t->sites);
    t->kinds = dl_big_reserve(DL_MAX_KINDS * sizeof *t->kinds);
    if (t->strings && t->metas && t->chips && t->streams && t->sites && t->kinds) return DEVLOG_OK;
    dl_tables_free(t);
    return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
}

void dl_tables_free(dl_tables *t)
{
    dl_intern_free(t->strings);
    dl_intern_free(t->metas);
    free(t->chips);
    dl_big_unreserve(t->streams, DL_MAX_STREAMS * sizeof *t->streams);
    dl_big_unreserve(t->sites, DL_MAX_SITES * sizeof *t->sites);
    dl_big_unreserve(t->kinds, DL_MAX_KINDS * sizeof *t->kinds);
    free(t->kind_slots);
    free(t->stream_slots);
    free(t->site_slots);
    *t = (dl_tables){0};
}

static uint64_t stream_hash(const dl_stream *s)
{
    uint64_t place = (uint64_t)s->chip << 32 | (uint64_t)s->core_x << 16 | s->core_y;
    return dl_hash_u64(dl_hash_u64(place) ^ s->risc_name);
}

static uint64_t site_hash(const dl_site *s)
{
    return dl_hash_u64(dl_hash_u64((uint64_t)s->name << 32 | s->file) ^ s->line);
}

/* Doubles a hash table when it would be more than half full; the caller then enters all entries again. */
static bool slots_grown(uint32_t **slots, uint32_t *n_slots, uint32_t count, bool *again)
{
    *again = false;
    if (*n_slots && (count + 1) * 2 <= *n_slots) return true;
    uint32_t n = *n_slots ? *n_slots * 2 : 64;
    uint32_t *grown = calloc(n, sizeof *grown);
    if (!grown) return false;
    free(*slots);
    *slots = grown;
    *n_slots = n;
    *again = true;
    return true;
}

static void enter(uint32_t *slots, uint32_t n_slots, uint64_t hash, uint32_t index)
{
    uint32_t at = (uint32_t)hash & (n_slots - 1);
    while (slots[at])
        at = (at + 1) & (n_slots - 1);
    slots[at] = index + 1;
}

void dl_tables_publish(dl_tables *t, dl_table_counts counts)
{
    t->n_chips = counts.chips;
    t->n_streams = counts.streams;
    t->n_sites = counts.sites;
    t->n_kinds = counts.kinds;
}

/* After an entry has been added: its number. */
static uint32_t added(dl_tables *t, uint32_t number)
{
    if (!t->unpublished) dl_tables_publish(t, t->added);
    return number;
}

uint32_t dl_tables_chip(dl_tables *t, uint32_t id)
{
    for (uint32_t i = 0; i < t->added.chips; i++)
        if (t->chips[i].id == id) return i;
    if (t->added.chips == DL_MAX_CHIPS) return DL_NONE;
    t->chips[t->added.chips++] = (dl_chip){.id = id};
    return added(t, t->added.chips - 1);
}

uint32_t dl_tables_text(dl_tables *t, const char *text, size_t n)
{
    return dl_intern_add(t->strings, text, n);
}

uint32_t dl_tables_meta(dl_tables *t, const char *text, size_t n)
{
    uint32_t id = dl_intern_add(t->metas, text, n);
    return id == DL_NO_STRING ? DL_NONE : id ? id | DL_META_TEXT : 0;
}

uint32_t dl_tables_stream(dl_tables *t, uint32_t chip_id, uint16_t core_x, uint16_t core_y, const char *risc,
                          size_t risc_len)
{
    uint32_t chip = dl_tables_chip(t, chip_id);
    uint32_t name = dl_tables_text(t, risc, risc_len);
    if (chip == DL_NONE || name == DL_NO_STRING) return DL_NONE;
    dl_stream s = {chip, core_x, core_y, name, dl_risc_of_name(risc, risc_len)};
    uint64_t hash = stream_hash(&s);
    uint32_t mask = t->n_stream_slots - 1;
    for (uint32_t at = (uint32_t)hash & mask; t->n_stream_slots && t->stream_slots[at];
         at = (at + 1) & mask) {
        const dl_stream *known = &t->streams[t->stream_slots[at] - 1];
        bool same_core = known->chip == chip && known->core_x == core_x && known->core_y == core_y;
        if (same_core && known->risc_name == name) return t->stream_slots[at] - 1;
    }
    bool again;
    if (t->added.streams == DL_MAX_STREAMS) return DL_NONE;
    if (!slots_grown(&t->stream_slots, &t->n_stream_slots, t->added.streams, &again)) return DL_NONE;
    for (uint32_t i = 0; again && i < t->added.streams; i++)
        enter(t->stream_slots, t->n_stream_slots, stream_hash(&t->streams[i]), i);
    t->streams[t->added.streams] = s;
    enter(t->stream_slots, t->n_stream_slots, hash, t->added.streams);
    return added(t, t->added.streams++);
}

/* That of the site before, mostly. */
static uint32_t text_of_file(dl_tables *t, const char *file, size_t n)
{
    size_t len;
    const char *last = dl_intern_text(t->strings, t->last_file, &len);
    if (len == n && memcmp(last, file, n) == 0) return t->last_file;
    const uint32_t text = dl_tables_text(t, file, n);
    if (text != DL_NO_STRING) t->last_file = text;
    return text;
}

uint32_t dl_tables_site(dl_tables *t, const char *name, size_t name_len, const char *file, size_t file_len,
                        uint32_t line)
{
    dl_site s = {dl_tables_text(t, name, name_len), text_of_file(t, file, file_len), line,
                 dl_role_of_zone(name, name_len, file, file_len)};
    if (s.name == DL_NO_STRING || s.file == DL_NO_STRING) return DL_NONE;
    uint64_t hash = site_hash(&s);
    uint32_t mask = t->n_site_slots - 1;
    for (uint32_t at = (uint32_t)hash & mask; t->n_site_slots && t->site_slots[at]; at = (at + 1) & mask) {
        const dl_site *known = &t->sites[t->site_slots[at] - 1];
        if (known->name == s.name && known->file == s.file && known->line == line)
            return t->site_slots[at] - 1;
    }
    bool again;
    if (t->added.sites == DL_MAX_SITES) return DL_NONE;
    if (!slots_grown(&t->site_slots, &t->n_site_slots, t->added.sites, &again)) return DL_NONE;
    for (uint32_t i = 0; again && i < t->added.sites; i++)
        enter(t->site_slots, t->n_site_slots, site_hash(&t->sites[i]), i);
    t->sites[t->added.sites] = s;
    enter(t->site_slots, t->n_site_slots, hash, t->added.sites);
    return added(t, t->added.sites++);
}

static uint64_t kind_hash(const dl_kind *k)
{
    uint64_t rest =
        (uint64_t)k->type | (uint64_t)k->cost << 8 | (uint64_t)k->words << 16 | (uint64_t)k->price << 24;
    return dl_hash_u64(dl_hash_u64((uint64_t)k->site << 32 | k->timer_id) ^ rest);
}

uint32_t dl_tables_kind(dl_tables *t, const dl_kind *kind)
{
    dl_kind k = *kind;
    k.role = (uint8_t)t->sites[k.site].role;
    if (t->added.kinds >= DL_MAX_KINDS / 2) k.timer_id = 0;
    uint64_t hash = kind_hash(&k);
    uint32_t mask = t->n_kind_slots - 1;
    for (uint32_t at = (uint32_t)hash & mask; t->n_kind_slots && t->kind_slots[at]; at = (at + 1) & mask) {
        const dl_kind *known = &t->kinds[t->kind_slots[at] - 1];
        if (((known->site ^ k.site) | (known->timer_id ^ k.timer_id)) == 0 && known->type == k.type &&
            known->cost == k.cost && known->words == k.words && known->price == k.price)
            return t->kind_slots[at] - 1;
    }
    bool again;
    if (t->added.kinds == DL_MAX_KINDS) return DL_NONE;
    if (!slots_grown(&t->kind_slots, &t->n_kind_slots, t->added.kinds, &again)) return DL_NONE;
    for (uint32_t i = 0; again && i < t->added.kinds; i++)
        enter(t->kind_slots, t->n_kind_slots, kind_hash(&t->kinds[i]), i);
    t->kinds[t->added.kinds] = k;
    enter(t->kind_slots, t->n_kind_slots, hash, t->added.kinds);
    return added(t, t->added.kinds++);
}

const char *dl_text(const dl_tables *t, uint32_t id)
{
    return id & DL_META_TEXT ? dl_intern_text(t->metas, id & ~DL_META_TEXT, NULL)
                             : dl_intern_text(t->strings, id, NULL);
}

const char *dl_risc_text(const dl_tables *t, uint32_t stream)
{
    return stream < t->n_streams ? dl_text(t, t->streams[stream].risc_name) : "?";
}

const char *dl_site_text(const dl_tables *t, uint32_t site)
{
    return site < t->n_sites ? dl_text(t, t->sites[site].name) : "?";
}

dl_risc dl_risc_of_name(const char *name, size_t n)
{
    static const struct {
        const char *name;
        dl_risc risc;
    } known[] = {
        {"BRISC", DL_RISC_BRISC},    {"NCRISC", DL_RISC_NCRISC},  {"TRISC_0", DL_RISC_TRISC0},
        {"TRISC_1", DL_RISC_TRISC1}, {"TRISC_2", DL_RISC_TRISC2}, {"TRISC0", DL_RISC_TRISC0},
        {"TRISC1", DL_RISC_TRISC1},  {"TRISC2", DL_RISC_TRISC2},  {"ERISC", DL_RISC_ERISC},
    };
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strlen(known[i].name) == n && memcmp(known[i].name, name, n) == 0) return known[i].risc;
    return DL_RISC_OTHER;
}

static bool ends_with(const char *name, size_t n, const char *end)
{
    size_t len = strlen(end);
    return n > len && memcmp(name + n - len, end, len) == 0;
}

/* Whether a zone that is called like the whole of a launch is one: tt-metal's RISCs and traces are known by
 * their names, those of other boards by where the firmware that marks them is. A user's MY-KERNEL is neither.
 */
static bool is_default_zone(const char *name, size_t n, const char *file, size_t file_len)
{
    if (file_len == 0 ||
        (file_len == strlen(DL_FIRMWARE_FILE) && memcmp(file, DL_FIRMWARE_FILE, file_len) == 0))
        return true;
    size_t digits = n > 2 && memcmp(name, "DM", 2) == 0 ? 2 : 0; /* Quasar's: DM0-FW (tt-2xx/dm.cc) */
    while (digits && digits < n && name[digits] >= '0' && name[digits] <= '9')
        digits++;
    return memmem(name, n, "RISC", 4) || (n > 6 && memcmp(name, "TRACE-", 6) == 0) ||
           (digits && digits < n && name[digits] == '-');
}

dl_role dl_role_of_zone(const char *name, size_t n, const char *file, size_t file_len)
{
    bool fw = ends_with(name, n, "-FW"), kernel = ends_with(name, n, "-KERNEL");
    if ((fw || kernel) && is_default_zone(name, n, file, file_len)) return fw ? DL_ROLE_FW : DL_ROLE_KERNEL;
    return dl_loss_of_zone(name, n) < DL_LOSS_ZONES ? DL_ROLE_DROPPED : DL_ROLE_USER;
}

const char *dl_loss_zone_name(dl_loss_zone zone)
{
    static const char *const names[DL_LOSS_ZONES] = {
        [DL_LOSS_DROPPED] = DL_DROPPED_ZONE,   [DL_LOSS_DAMAGED] = "DEVLOG-DAMAGED",
        [DL_LOSS_UNKNOWN] = "DEVLOG-UNKNOWN",  [DL_LOSS_RESTARTED] = "DEVLOG-RESTARTED",
        [DL_LOSS_TORN] = "DEVLOG-TORN",        [DL_LOSS_AMBIGUOUS] = "DEVLOG-AMBIGUOUS",
        [DL_LOSS_VIOLATED] = DL_VIOLATED_ZONE,
    };
    return names[zone];
}

dl_loss_zone dl_loss_of_zone(const char *name, size_t n)
{
    int zone = 0;
    if (n < 7 || memcmp(name, "DEVLOG-", 7) != 0) return DL_LOSS_ZONES;
    const size_t violated = strlen(DL_VIOLATED_ZONE " ");
    if (n > violated && memcmp(name, DL_VIOLATED_ZONE " ", violated) == 0) return DL_LOSS_VIOLATED;
    for (; zone < DL_LOSS_ZONES; zone++) {
        const char *own = dl_loss_zone_name((dl_loss_zone)zone);
        if (n == strlen(own) && memcmp(name, own, n) == 0) break;
    }
    return (dl_loss_zone)zone;
}

void dl_default_zone_name(char out[64], const char *risc, size_t n, dl_role role)
{
    bool trisc = n >= 5 && memcmp(risc, "TRISC", 5) == 0;
    if (n > 40) n = 40;
    snprintf(out, 64, "%.*s-%s", trisc ? 5 : (int)n, risc, role == DL_ROLE_FW ? "FW" : "KERNEL");
}

uint64_t dl_many_cycles_to_ns(uint64_t cycles, uint64_t freq_khz)
{
    uint64_t whole = cycles / freq_khz, rest = cycles % freq_khz;
    if (whole > UINT64_MAX / 1000000 - 1) return UINT64_MAX;
    if (rest > (UINT64_MAX - freq_khz) / 1000000) return whole * 1000000;
    return whole * 1000000 + (rest * 1000000 + freq_khz / 2) / freq_khz;
}
