/* What is generated from a board file: the device header and the linker constants. Not for reading boards. */
#include "device/board_gen.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

#include "base/file.h"
#include "devlog/record.h"

static void define(FILE *out, const char *name, uint64_t value)
{
    fprintf(out, "#define DEVLOG_%-22s 0x%llxu\n", name, (unsigned long long)value);
}

void board_write_header(const board *b, FILE *out)
{
    fprintf(out, "/* Generated from boards/%s.json; edit that file. */\n", b->name);
    fprintf(out, "#ifndef DEVLOG_BOARD_H\n#define DEVLOG_BOARD_H\n\n");
    fprintf(out, "#define DEVLOG_BOARD_NAME \"%s\"\n", b->name);
    define(out, "RISC_COUNT", b->n_riscs);
    define(out, "MAILBOX", b->mailbox.base);
    define(out, "PROFILER", b->profiler.base);
    fprintf(out, "#define DEVLOG_SEGMENT_BITS %u\n", b->segment_bits);
    define(out, "USER_BASE", b->user.base);
    define(out, "USER_SIZE", b->user.size);
    define(out, "CLOCK_MHZ", b->mhz);
    if (b->clock_kind == BOARD_CLOCK_CSR) {
        fprintf(out, "#define DEVLOG_CLOCK_CSR 1\n");
    } else {
        /* One base register reaches both: they share the upper 20 bits as `lui` sees them. */
        uint32_t page = (b->clock_low + 0x800) & 0xFFFFF000u;
        define(out, "CLOCK_PAGE", page);
        fprintf(out, "#define DEVLOG_CLOCK_LOW_OFFSET %d\n", (int)(b->clock_low - page));
        fprintf(out, "#define DEVLOG_CLOCK_HIGH_OFFSET %d\n", (int)(b->clock_high - page));
    }
    if (b->data_cache) fprintf(out, "#define DEVLOG_DATA_CACHE 1\n");
    if (b->soft_reset) define(out, "SOFT_RESET", b->soft_reset);
    if (b->icache_invalidate) define(out, "ICACHE_INVALIDATE", b->icache_invalidate);
    if (b->icache == BOARD_ICACHE_FENCE) fprintf(out, "#define DEVLOG_ICACHE_FENCE 1\n");
    if (b->icache == BOARD_ICACHE_REWRITE) fprintf(out, "#define DEVLOG_ICACHE_REWRITE 1\n");
    if (b->timestamp) define(out, "TIMESTAMP", b->timestamp);
    for (int i = 0; i < 2; i++)
        if (b->noc_regs[i]) fprintf(out, "#define DEVLOG_NOC%d_REGS 0x%xu\n", i, b->noc_regs[i]);
    if (b->noc_regs[0]) {
        /* Where the two layouts of an NIU differ; sources in the board files. */
        bool blackhole = b->window_format == BOARD_WINDOWS_BLACKHOLE;
        define(out, "NOC_STRIDE", blackhole ? 0x800 : 0x400);
        define(out, "NOC_COMMAND", blackhole ? 0x40 : 0x28);
        define(out, "NOC_ID", blackhole ? 0x148 : 0x2C); /* NOC_ID_LOGICAL, NOC_NODE_ID */
        define(out, "NOC_WIDTH", b->noc_width);
        define(out, "NOC_HEIGHT", b->noc_height);
        if (blackhole) fprintf(out, "#define DEVLOG_NOC_HIGH 1\n#define DEVLOG_NOC_UNIFORM 1\n");
    }

    uint32_t release = 0;
    for (uint32_t i = 0; i < b->n_riscs; i++)
        if (b->riscs[i].reset_bit >= 0 && b->riscs[i].role == BOARD_WORKER)
            release |= 1u << b->riscs[i].reset_bit;
    if (release) define(out, "WORKER_RESETS", release);
    fprintf(out, "\n");
    for (uint32_t i = 0; i < b->n_riscs; i++)
        fprintf(out, "#define DEVLOG_%s %u\n", b->riscs[i].name, i);
    fprintf(out, "\n#endif\n");
}

/* A region name as a linker symbol: lower case, no blanks. */
static void symbol(char *out, size_t size, const char *prefix, const char *name)
{
    size_t n = (size_t)snprintf(out, size, "devlog_%s%s", prefix, name);
    for (size_t i = 0; i < n && i < size; i++)
        out[i] = (char)tolower((unsigned char)out[i]);
}

/* Bytes of local data RAM for the variables of the firmware; the kernel's follow, the stack has the end. */
enum { LOCAL_FIRMWARE = 128, FRAGMENT_MAX = 1 << 20 };

static void memory(FILE *out, const char *kind, const char *risc, uint32_t base, uint32_t size)
{
    fprintf(out, "    %s_%s : ORIGIN = 0x%x, LENGTH = 0x%x\n", kind, risc, base, size);
}

typedef struct named {
    char name[48];
    board_region at;
} named;

/* The board's own fragment as it is, so that its content counts in the key of the cache. */
static void append_fragment(const board *b, FILE *out)
{
    dl_str text = {0};
    fprintf(out, "\n/* From the linker fragment of the board. */\n");
    if (dl_file_read(b->linker, FRAGMENT_MAX, &text, NULL) == DEVLOG_OK)
        fwrite(text.text ? text.text : "", 1, text.len, out);
    else
        fprintf(out, "ASSERT(0, \"cannot read the linker fragment of the board\")\n");
    dl_str_free(&text);
}

void board_write_linker(const board *b, uint32_t risc, board_region code, FILE *out)
{
    named all[3 * BOARD_MAX_RISCS + 5];
    uint32_t n = 0;
    snprintf(all[n].name, sizeof all[n].name, "devlog_mailbox");
    all[n++].at = b->mailbox;
    snprintf(all[n].name, sizeof all[n].name, "devlog_profiler");
    all[n++].at = b->profiler;
    snprintf(all[n].name, sizeof all[n].name, "devlog_user");
    all[n++].at = b->user;
    if (b->events.size) {
        snprintf(all[n].name, sizeof all[n].name, "devlog_events");
        all[n++].at = b->events;
    }
    if (b->boot.size) {
        snprintf(all[n].name, sizeof all[n].name, "devlog_boot");
        all[n++].at = b->boot;
    }
    for (uint32_t i = 0; i < b->n_riscs; i++) {
        if (board_in_ram(b, b->riscs[i].local)) {
            symbol(all[n].name, sizeof all[n].name, "local_", b->riscs[i].name);
            all[n++].at = b->riscs[i].local;
        }
        symbol(all[n].name, sizeof all[n].name, "firmware_", b->riscs[i].name);
        all[n++].at = b->riscs[i].firmware;
        symbol(all[n].name, sizeof all[n].name, "kernel_", b->riscs[i].name);
        all[n++].at = b->riscs[i].kernel;
    }

    const board_risc *r = &b->riscs[risc];
    fprintf(out, "/* Generated from boards/%s.json for %s; edit that file. */\n\n", b->name, r->name);
    fprintf(out, "/* Every reserved region of L1, by name. */\n");
    for (uint32_t i = 0; i < n; i++)
        fprintf(out, "%s = 0x%x;\n%s_end = 0x%x;\n", all[i].name, all[i].at.base, all[i].name,
                all[i].at.base + all[i].at.size);
    for (uint32_t i = 0; i < b->n_riscs; i++) {
        char name[48];
        symbol(name, sizeof name, "records_", b->riscs[i].name);
        fprintf(out, "%s = 0x%x;\n", name, board_profiler_base(b, i));
    }
    fprintf(out, "\n/* No two of them overlap. */\n");
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = i + 1; k < n; k++)
            fprintf(out, "ASSERT(%s_end <= %s || %s_end <= %s, \"regions %s and %s overlap\")\n", all[i].name,
                    all[k].name, all[k].name, all[i].name, all[i].name + 7, all[k].name + 7);

    /* ld names the region and the missing bytes when something does not fit. */
    uint32_t stack = r->local.size * 3 / 8;
    fprintf(out, "\n/* The memories of %s: code, and parts of its local data RAM. */\nMEMORY\n{\n", r->name);
    memory(out, "firmware_of", r->name, r->firmware.base, r->firmware.size);
    memory(out, "kernel_slot_of", r->name, code.base, code.size);
    memory(out, "firmware_variables_of", r->name, r->local.base, LOCAL_FIRMWARE);
    memory(out, "kernel_variables_of", r->name, r->local.base + LOCAL_FIRMWARE,
           r->local.size - LOCAL_FIRMWARE - stack);
    fprintf(out, "}\n");
    fprintf(out, "REGION_ALIAS(\"FIRMWARE\", firmware_of_%s)\n", r->name);
    fprintf(out, "REGION_ALIAS(\"KERNEL\", kernel_slot_of_%s)\n", r->name);
    fprintf(out, "REGION_ALIAS(\"FIRMWARE_DATA\", firmware_variables_of_%s)\n", r->name);
    fprintf(out, "REGION_ALIAS(\"KERNEL_DATA\", kernel_variables_of_%s)\n", r->name);
    fprintf(out, "devlog_stack_top = 0x%x;\nrisc_reset_pc = 0x%x;\n", r->local.base + r->local.size,
            r->reset_pc);
    fprintf(out, "devlog_kernel_slot = 0x%x;\ndevlog_kernel_slot_end = 0x%x;\n", code.base,
            code.base + code.size);
    fprintf(out, "devlog_global_pointer = 0x%x;\n", r->local.base + 0x800);
    if (b->clock_kind == BOARD_CLOCK_MMIO) fprintf(out, "devlog_clock_low = 0x%x;\n", b->clock_low);
    fprintf(out, "devlog_dropping = 0x%x;\n",
            board_profiler_base(b, risc) + DEVLOG_CONTROL_OFFSET(b->segment_bits) +
                (uint32_t)offsetof(devlog_control, dropping));
    if (b->linker[0]) append_fragment(b, out);
}
