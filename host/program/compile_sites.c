/* Markers that a linked kernel has and that no report could show as they are meant: refused, with the place
 * in the source. Not for what the compiler refuses (compile_words.c). */
#include "program/compile_words.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "devlog/record.h"

static devlog_status refuse(const dl_elf_site *site, devlog_error *err, const char *what, const char *part)
{
    return dl_fail(err, DEVLOG_ERR_COMPILE, "%s:%u: %s%s", site->file, site->line, what, part);
}

/* Names that mean something in every device log: by them tt-metal's tools and ours tell which rows bound a
 * launch, and what was lost. */
static bool is_taken(const board *b, const char *name, const char *file)
{
    /* What these headers record of waits themselves (devlog/waits.h). */
    static const char *const own[] = {"/devlog/kernel.h", "/devlog/transfers.h"};
    const size_t n_file = strlen(file);
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        const size_t n = strlen(own[i]);
        if (n_file >= n && strcmp(file + n_file - n, own[i]) == 0) return false;
    }
    if (strncmp(name, "DEVLOG-", strlen("DEVLOG-")) == 0) return true;
    const char *end = strrchr(name, '-');
    if (!end || (strcmp(end, "-FW") != 0 && strcmp(end, "-KERNEL") != 0)) return false;
    if (memmem(name, (size_t)(end - name), "RISC", 4) || strncmp(name, "TRACE-", strlen("TRACE-")) == 0)
        return true;
    for (uint32_t i = 0; i < b->n_riscs; i++) {
        const char *names[] = {b->riscs[i].name, b->riscs[i].log_name};
        for (size_t k = 0; k < 2; k++)
            if (strlen(names[k]) == (size_t)(end - name) && memcmp(name, names[k], strlen(names[k])) == 0)
                return true;
    }
    return false;
}

static devlog_status check_name(const board *b, const dl_elf_site *site, devlog_error *err)
{
    const char *name = site->name;
    size_t n = strlen(name);
    char part[400];
    snprintf(part, sizeof part, "'%.300s'", name);
    if (n == 0) return refuse(site, err, "this marker has an empty name", "");
    for (size_t i = 0; i < n;) {
        size_t length = dl_utf8_length(name + i, n - i);
        if (length == 0)
            return refuse(site, err, "the name of this marker is not UTF-8: byte ",
                          (snprintf(part, sizeof part, "%zu is 0x%02x", i + 1, (uint8_t)name[i]), part));
        if ((uint8_t)name[i] < ' ' || name[i] == 0x7F)
            return refuse(site, err, "the name of this marker has a control character: byte ",
                          (snprintf(part, sizeof part, "%zu is 0x%02x", i + 1, (uint8_t)name[i]), part));
        i += length;
    }
    if (is_taken(b, name, site->file))
        return refuse(site, err,
                      "every device log has a zone of its own with this name; another is needed for ", part);
    return DEVLOG_OK;
}

/* What follows a % in the format of a print: flags, width, precision, length, conversion. */
static devlog_status check_print(const dl_elf_site *site, devlog_error *err)
{
    uint32_t n = 0;
    char part[400];
    for (const char *f = site->name; (f = strchr(f, '%')); f++) {
        const char *from = f++;
        f += strspn(f, "-+ #0123456789.");
        const char *length = f;
        f += strspn(f, "hlzjtL");
        snprintf(part, sizeof part, "'%.*s'", (int)(f - from < 30 ? f - from + (*f != 0) : 30), from);
        if (*f == 0) return refuse(site, err, "the format ends in the middle of ", part);
        if (*f == '%') continue;
        if (!strchr("diuxXcops", *f))
            return refuse(site, err, "DEVLOG_PRINTF knows d i u x X o c p s, and does not know ", part);
        if (strncmp(length, "ll", 2) == 0 || memchr(length, 'j', (size_t)(f - length)) ||
            memchr(length, 'L', (size_t)(f - length)))
            return refuse(site, err,
                          "DEVLOG_PRINTF records arguments of 32 bits (DEVLOG_VALUE64 has 64), not ", part);
        n++;
    }
    if (n == site->n_args) return DEVLOG_OK;
    snprintf(part, sizeof part, "%u argument%s and has %u: \"%.300s\"", n, n == 1 ? "" : "s", site->n_args,
             site->name);
    return refuse(site, err, "the format of this DEVLOG_PRINTF needs ", part);
}

static bool is_of_kind(const dl_elf_site *site, uint32_t expects)
{
    const bool zone = site->kind == DEVLOG_KIND_ZONE || site->kind == DEVLOG_KIND_COMPLETE ||
                      site->kind == DEVLOG_KIND_SUM,
               value = site->kind == DEVLOG_KIND_VALUE32 || site->kind == DEVLOG_KIND_VALUE64 ||
                       site->kind == DEVLOG_KIND_COUNTER;
    switch (expects) {
    case DEVLOG_EXPECTS_CYCLES: return zone;
    case DEVLOG_EXPECTS_VALUE: return value;
    case DEVLOG_EXPECTS_ORDER: return site->kind != DEVLOG_KIND_PRINT && site->kind != DEVLOG_KIND_SUM;
    default: return site->kind != DEVLOG_KIND_PRINT;
    }
}

/* An expectation of a marker that is not there could never be met, or never be broken. */
static devlog_status check_expectation(const dl_elf *elf, const dl_elf_expect *e, const char *name,
                                       devlog_error *err)
{
    static const char *const kinds[] = {[DEVLOG_EXPECTS_CYCLES] = "zone",
                                        [DEVLOG_EXPECTS_COUNT] = "zone, event or value",
                                        [DEVLOG_EXPECTS_VALUE] = "value or counter",
                                        [DEVLOG_EXPECTS_ORDER] = "zone, event or value"};
    for (uint32_t i = 0; i < elf->n_sites; i++)
        if (strcmp(elf->sites[i].name, name) == 0 && is_of_kind(&elf->sites[i], e->kind)) return DEVLOG_OK;
    const char *kind = e->kind < sizeof kinds / sizeof kinds[0] && kinds[e->kind] ? kinds[e->kind] : "marker";
    return dl_fail(err, DEVLOG_ERR_COMPILE,
                   "%s:%u: what is expected here is of '%.300s', and this kernel has no %s of that name",
                   e->file, e->line, name, kind);
}

devlog_status compile_check_sites(const compile_job *job, const dl_elf *elf, devlog_error *err)
{
    devlog_status status = DEVLOG_OK;
    for (uint32_t i = 0; i < elf->n_sites && status == DEVLOG_OK && elf->version >= DEVLOG_BUILD_LITERALS;
         i++) {
        const dl_elf_site *site = &elf->sites[i];
        const char *what =
            site->kind == DEVLOG_KIND_PRINT ? "the format of DEVLOG_PRINTF" : "the name of a marker";
        char part[400];
        snprintf(part, sizeof part, "%s must be a string literal, this is: %.300s", what, site->name);
        if (site->fault == DL_NAME_NO_LITERAL) return refuse(site, err, part, "");
        snprintf(part, sizeof part, "%s has a zero in it, behind '%.300s'", what, site->name);
        if (site->fault == DL_NAME_HAS_ZERO) return refuse(site, err, part, "");
        status = site->kind == DEVLOG_KIND_PRINT ? check_print(site, err) : check_name(job->board, site, err);
    }
    for (uint32_t i = 0; i < elf->n_expects && status == DEVLOG_OK; i++) {
        const dl_elf_expect *e = &elf->expects[i];
        status = check_expectation(elf, e, e->name, err);
        if (!status && *e->other) status = check_expectation(elf, e, e->other, err);
    }
    return status;
}
