/* The command line of the compiler: how it is put together, the flags that all device code is compiled with, and running
 * it. Not for what is compiled when (compile.c). */
#include "program/compile_command.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/paths.h"
#include "base/settings.h"
#include "program/compile_words.h"

void command_add(command *c, const char *arg)
{
    if (c->n + 1 >= COMMAND_MAX_ARGS)
        c->failed = true;
    else
        c->argv[c->n++] = arg;
}

void command_addf(command *c, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    char *text = NULL;
    if (c->n_owned >= COMMAND_MAX_ARGS || vasprintf(&text, fmt, ap) < 0)
        c->failed = true;
    else
        command_add(c, c->owned[c->n_owned++] = text);
    va_end(ap);
}

void command_free(command *c)
{
    for (uint32_t i = 0; i < c->n_owned; i++)
        free(c->owned[i]);
}

bool command_is_object(const char *source)
{
    const char *dot = source ? strrchr(source, '.') : NULL;
    return dot && strcmp(dot, ".o") == 0;
}

/* The driver takes C++ by the name of the file. */
static const char *compiler(void)
{
    const char *cc = dl_setting_text(DL_SET_CC);
    return cc ? cc : "riscv64-unknown-elf-gcc";
}

devlog_status command_run(command *c, dl_output *out, char **said, devlog_error *err)
{
    if (c->failed) return dl_fail(err, DEVLOG_ERR_ARGUMENT, "too many compiler flags");
    c->argv[c->n] = NULL;
    devlog_status status = dl_run_apart(c->argv, out, said, err);
    if (status == DEVLOG_ERR_NOT_FOUND)
        return dl_fail(
            err, DEVLOG_ERR_NOT_FOUND,
            "cannot run the cross compiler %s: install the Debian package gcc-riscv64-unknown-elf, or set "
            "DEVLOG_CC",
            c->argv[0]);
    return status;
}

/* gcc only: what is wrong with a marker is told with the line where it stands. */
#define PLACE_OF_ERRORS "-ftrack-macro-expansion=0"

void command_begin(command *c, const compile_job *job, const char *board_folder, bool many_sites)
{
    command_add(c, compiler());
    command_addf(c, "-march=%s", job->board->march);
    command_addf(c, "-mabi=%s", job->board->mabi);
    command_add(c, "-O2");
    command_add(c, "-g");
    command_add(c, PLACE_OF_ERRORS);
    command_add(c, "-ffreestanding");
    command_add(c, "-ffunction-sections");
    command_add(c, "-fdata-sections");
    command_add(c, "-fno-asynchronous-unwind-tables");
    command_add(c, "-fno-unwind-tables");
    command_add(c, "-fno-exceptions");
    command_addf(c, "-I%s/include", dl_home());
    command_addf(c, "-I%s/include/devlog/tt_metal", dl_home());
    command_add(c, "-include");
    command_add(
        c, "tools/profiler/kernel_profiler.hpp"); /* tt-metal's names need no include; C does not see them */
    command_addf(c, "-I%s/firmware", dl_home());
    command_addf(c, "-I%s", board_folder);
    /* -n: no file header in front of the code, where another region ends. Here so that the key of the cache
     * has it too. */
    command_add(c, "-Wl,-n,--gc-sections,--build-id=sha1,-z,max-page-size=4");
    command_addf(c, "-DDEVLOG_RISC=%u", job->risc);
    if (job->source) command_add(c, "-DDEVLOG_KERNEL=1");
    if (job->profile) command_add(c, "-DPROFILE_DEVICE=1");
    if (job->profile && job->waits && job->source) command_add(c, "-DDEVLOG_WAITS=1");
    /* The time of this pass grows with the square of what it looks at together; code is as large without it. */
    if (many_sites) command_add(c, "-fno-schedule-insns");
    char *flags = job->flags && c->n_owned < COMMAND_MAX_ARGS ? strdup(job->flags) : NULL;
    if (job->flags && !flags) c->failed = true;
    if (flags) {
        c->owned[c->n_owned++] = flags;
        char *rest = flags;
        for (char *flag = strsep(&rest, " \t\n"); flag; flag = strsep(&rest, " \t\n"))
            if (*flag) command_add(c, flag);
    }
}

devlog_status command_preprocess(command *c, const compile_job *job, const char *source,
                                 const char *const *firmware, XXH3_state_t *hash, dl_output *seen,
                                 devlog_error *err)
{
    dl_output out = {0};
    char *said = NULL;
    command version = {0};
    command_add(&version, c->argv[0]);
    command_add(&version, "--version");
    devlog_status status = command_run(&version, &out, &said, err);
    if (status == DEVLOG_OK) XXH3_128bits_update(hash, out.text, out.size);
    free(out.text);
    free(said);
    if (status != DEVLOG_OK) return status;

    /* The preprocessed text holds whatever the source includes, and says #line where it came from; not where the compiler was
     * run, which would be a key of its own for every working directory. */
    said = NULL;
    command_add(c, "-E");
    command_add(c, "-fno-working-directory");
    if (source) command_add(c, source);
    for (; *firmware; firmware++)
        command_addf(c, "%s/firmware/%s", dl_home(), *firmware);
    status = command_run(c, seen, &said, err);
    if (status == DEVLOG_OK && seen->exit != 0)
        status = compile_failed(job, job->board->riscs[job->risc].kernel, said, err);
    if (status == DEVLOG_OK) XXH3_128bits_update(hash, seen->text, seen->size);
    free(said);
    return status;
}

/* A word, as a shell takes it. */
static void add_word(dl_str *out, const char *word)
{
    bool plain =
        *word &&
        word[strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_=+,./:@%")] ==
            '\0';
    if (out->len) dl_str_char(out, ' ');
    if (plain) {
        dl_str_add(out, word);
        return;
    }
    dl_str_char(out, '\'');
    for (; *word; word++)
        dl_str_add(out, *word == '\'' ? "'\\''" : (const char[]){*word, '\0'});
    dl_str_char(out, '\'');
}

void command_text(const command *c, dl_str *out)
{
    for (uint32_t i = 1; i < c->n; i++) /* behind the compiler's name */
        if (strncmp(c->argv[i], "-Wl,", 4) != 0 && strcmp(c->argv[i], PLACE_OF_ERRORS) != 0)
            add_word(out, c->argv[i]);
}
