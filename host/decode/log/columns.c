/* Columns: which cell of a device log's line holds what, found by the names in its header line. */
#include "decode/log/columns.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "decode/tables.h"

static const struct {
    const char *name;
    dl_column column;
} names[] = {
    /* the newest name of each column first */
    {"PCIe slot", DL_COL_CHIP},
    {"core_x", DL_COL_CORE_X},
    {"core_y", DL_COL_CORE_Y},
    {"RISC processor type", DL_COL_RISC},
    {"timer_id", DL_COL_TIMER_ID},
    {"time[cycles since reset]", DL_COL_TIME},
    {"data", DL_COL_DATA},
    {"run ID", DL_COL_RUN_ID},
    {"run host ID", DL_COL_RUN_HOST_ID},
    {"trace id", DL_COL_TRACE_ID},
    {"trace id counter", DL_COL_TRACE_COUNTER},
    {"zone name", DL_COL_ZONE},
    {"type", DL_COL_TYPE},
    {"source line", DL_COL_LINE},
    {"source file", DL_COL_FILE},
    {"meta data", DL_COL_META},
    {"stat value", DL_COL_DATA},
    {"zone phase", DL_COL_TYPE},
    {"trace id count", DL_COL_TRACE_COUNTER},
};
enum { N_NAMES = sizeof names / sizeof names[0] };

const char *dl_column_name(dl_column column)
{
    return (unsigned)column < DL_COLUMN_KINDS ? names[column].name : "?";
}

static int column_of(dl_cell cell)
{
    for (size_t i = 0; i < N_NAMES; i++)
        if (strlen(names[i].name) == cell.len && strncasecmp(names[i].name, cell.text, cell.len) == 0)
            return (int)names[i].column;
    return -1;
}

bool dl_columns_is_header(const dl_cell *cells, size_t n)
{
    if (n > DL_MAX_CELLS) n = DL_MAX_CELLS;
    int known = 0;
    for (size_t i = 0; i < n && known < 3; i++)
        known += column_of(cells[i]) >= 0;
    return known >= 3;
}

static void settle(dl_columns *c, size_t n)
{
    c->n_cells = (uint8_t)n;
    c->named = c->at[DL_COL_ZONE] >= 0 && c->at[DL_COL_TYPE] >= 0;
    c->n_needed = 0;
    for (int k = 0; k < DL_COLUMN_KINDS; k++)
        if (k != DL_COL_META && c->at[k] + 1 > c->n_needed) c->n_needed = (uint8_t)(c->at[k] + 1);
}

static const dl_column always[] = {DL_COL_CORE_X, DL_COL_CORE_Y, DL_COL_RISC, DL_COL_TIME};
enum { N_ALWAYS = sizeof always / sizeof always[0] };

bool dl_columns_make(dl_columns *c, size_t n)
{
    uint64_t taken = 0;
    for (int k = 0; k < DL_COLUMN_KINDS; k++) {
        if (c->at[k] < 0) continue;
        if ((size_t)c->at[k] >= n || n > DL_MAX_CELLS || taken >> c->at[k] & 1) return false;
        taken |= UINT64_C(1) << c->at[k];
    }
    settle(c, n);
    for (size_t i = 0; i < N_ALWAYS; i++)
        if (c->at[always[i]] < 0) return false;
    return c->named || c->at[DL_COL_TIMER_ID] >= 0;
}

devlog_status dl_columns_read(dl_columns *columns, const dl_cell *cells, size_t n, const char **twice,
                              devlog_error *err)
{
    dl_columns c;
    memset(c.at, -1, sizeof c.at);
    *twice = NULL;
    if (n > DL_MAX_CELLS) n = DL_MAX_CELLS;
    for (size_t i = 0; i < n; i++) {
        int column = column_of(cells[i]);
        if (column < 0) continue;
        if (c.at[column] >= 0)
            *twice = names[column].name;
        else
            c.at[column] = (int8_t)i;
    }
    settle(&c, n);
    for (size_t i = 0; i < N_ALWAYS; i++)
        if (c.at[always[i]] < 0)
            return dl_fail(err, DEVLOG_ERR_FORMAT, "the header has no column '%s'",
                           dl_column_name(always[i]));
    if (!c.named && c.at[DL_COL_TIMER_ID] < 0)
        return dl_fail(err, DEVLOG_ERR_FORMAT,
                       "the header has neither 'timer_id' nor 'zone name' and 'type'");
    *columns = c;
    return DEVLOG_OK;
}

static bool is_type(dl_cell cell)
{
    static const char *const starts[] = {"ZONE_", "TS_", "begin", "end"};
    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++) {
        size_t len = strlen(starts[i]);
        if (cell.len >= len && memcmp(cell.text, starts[i], len) == 0) return true;
    }
    return false;
}

bool dl_columns_guess(dl_columns *columns, const dl_cell *cells, size_t n)
{
    static const struct {
        uint8_t n_cells, type_at;
        bool meta;
        dl_column middle[6]; /* the cells between time and zone name */
    } known[] = {
        {12, 9, false, {DL_COL_DATA, DL_COL_RUN_ID}},
        {13, 10, false, {DL_COL_DATA, DL_COL_RUN_ID, DL_COL_RUN_HOST_ID}},
        {14, 10, true, {DL_COL_DATA, DL_COL_RUN_ID, DL_COL_RUN_HOST_ID}},
        {13, 9, true, {DL_COL_DATA, DL_COL_RUN_HOST_ID}},
        {15, 11, true, {DL_COL_DATA, DL_COL_RUN_HOST_ID, DL_COL_TRACE_ID, DL_COL_TRACE_COUNTER}},
    };
    dl_columns c;
    memset(c.at, -1, sizeof c.at);
    for (int k = DL_COL_CHIP; k <= DL_COL_TIME; k++)
        c.at[k] = (int8_t)k;
    if (n == 6) {
        settle(&c, n);
        *columns = c;
        return true;
    }
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        int type_at = known[i].type_at;
        if (n != known[i].n_cells || !is_type(cells[type_at])) continue;
        for (int k = DL_COL_TIME + 1; k < type_at - 1; k++)
            c.at[known[i].middle[k - DL_COL_TIME - 1]] = (int8_t)k;
        for (int k = DL_COL_ZONE; k <= DL_COL_FILE; k++)
            c.at[k] = (int8_t)(type_at - 1 + k - DL_COL_ZONE);
        if (known[i].meta) c.at[DL_COL_META] = (int8_t)(n - 1);
        settle(&c, n);
        *columns = c;
        return true;
    }
    return false;
}

/* The number after `key` in the line, in thousandths; 0 when there is none or it makes no sense. */
static uint64_t number_after(const char *line, const char *key)
{
    const char *at = strstr(line, key);
    if (!at) return 0;
    double value = strtod(at + strlen(key), NULL);
    return value > 0 && value < 1e6 ? (uint64_t)(value * 1000 + 0.5) : 0;
}

bool dl_chip_line_read(dl_chip_line *chip, const char *line, size_t n)
{
    char text[256];
    if (n >= sizeof text) n = sizeof text - 1;
    memcpy(text, line, n);
    text[n] = 0;
    if (strncmp(text, "ARCH", 4) != 0 && strncmp(text, "Chip clock", 10) != 0) return false;
    *chip = (dl_chip_line){.freq_khz = number_after(text, "CHIP_FREQ[MHz]:")};
    if (!strstr(text, "CHIP_FREQ[MHz]:")) {
        chip->freq_khz = number_after(text, "Chip clock is at ");
        if (strstr(text, "Ghz") || strstr(text, "GHz")) chip->freq_khz *= 1000;
    }
    chip->max_cores = (uint32_t)(number_after(text, "Max Compute Cores:") / 1000);
    const char *run = strstr(text, ", Run: ");
    if (run) chip->run = strtoull(run + 7, NULL, 16);
    chip->ends = strstr(text, ", Ends: " DL_END_ZONE) != NULL;
    chip->aiclk_khz = number_after(text, ", AICLK[MHz]:");
    chip->instructions = strstr(text, ", " DL_INSTRUCTIONS) != NULL;
    chip->beside = strstr(text, ", Beside: ") != NULL;
    const char *arch = strstr(text, "ARCH:");
    if (arch) {
        arch += 5 + strspn(arch + 5, " ");
        snprintf(chip->arch, sizeof chip->arch, "%.*s", (int)strcspn(arch, ",; \r\n"), arch);
    }
    return true;
}
