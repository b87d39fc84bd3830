/* Settings: every variable of the environment that devlog reads, in one table. From it come the readers
 * below, the check of all values when a device is opened, `devlog help environment`, the page
 * devlog-environment(7) and docs/environment.md (cli/environment.c), so that none of them can disagree.
 * Nothing else in host/ calls getenv; a test checks it. Not for options of the command line (cli/options.h).
 */
#ifndef DEVLOG_BASE_SETTINGS_H
#define DEVLOG_BASE_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"

typedef enum dl_setting {
    DL_SET_NONE, /* stands for no variable */
    /* what is recorded */
    DL_SET_DEVICE_PROFILER,
    DL_SET_OPS,
    DL_SET_OP_STACKS,
    DL_SET_LOG_FOLDER,
    DL_SET_LOG_STYLE,
    DL_SET_RECORDING,
    DL_SET_WAITS,
    DL_SET_HOST,
    DL_SET_TRACY,
    DL_SET_CAPTURE,
    DL_SET_CAPTURE_EVERY,
    DL_SET_CAPTURE_LAUNCHES,
    DL_SET_CAPTURE_MS,
    DL_SET_CAPTURE_MOST,
    DL_SET_CAPTURE_KEEP,
    DL_SET_CLOCK_SYNC,
    DL_SET_ANNOTATE,
    DL_SET_POSTMORTEM,
    DL_SET_RUN,
    DL_SET_RANK_RUN, /* the launcher's number of this process: the first that is set */
    DL_SET_RANK_OMPI,
    DL_SET_RANK_PMI,
    DL_SET_RANK_SLURM,
    DL_SET_SIZE_OMPI, /* how many there are */
    DL_SET_SIZE_PMI,
    DL_SET_SIZE_SLURM,
    DL_SET_MPI_REPORT,
    DL_SET_MPI_CLOCKS,
    /* the device */
    DL_SET_BOARD,
    DL_SET_TRANSPORT,
    DL_SET_SIMULATOR,
    DL_SET_SIM,
    DL_SET_KMD,
    DL_SET_GRID,
    DL_SET_CARD_WAIT,
    DL_SET_PROBE,
    DL_SET_QEMU_DIR,
    DL_SET_TIMEOUT_MS,
    DL_SET_USB_TIMEOUT_MS,
    DL_SET_SIM_BOARD,
    DL_SET_SIM_CHIPS,
    /* where things are */
    DL_SET_HOME,
    DL_SET_CACHE,
    DL_SET_XDG_CACHE_HOME,
    DL_SET_USER_HOME,
    DL_SET_TMPDIR,
    DL_SET_CC,
    DL_SET_QEMU,
    DL_SET_PATH,
    DL_SET_PROFILER_DIR,
    DL_SET_METAL_HOME,
    /* what is shown */
    DL_SET_SOURCE_DATE_EPOCH,
    DL_SET_NO_COLOR,
    DL_SET_TERM,
    DL_SET_COLUMNS,
    DL_SET_DISPLAY,
    DL_SET_WAYLAND_DISPLAY,
    DL_SET_SSH_CONNECTION,
    DL_SET_WSL_DISTRO_NAME,
    DL_SET_USER,
    DL_SET_LOGNAME,
    DL_SETTINGS
} dl_setting;

typedef enum dl_setting_kind {
    DL_SETTING_TEXT,   /* any text: a path, a name; who uses it says when it is wrong */
    DL_SETTING_FLAG,   /* 0 or 1 */
    DL_SETTING_NUMBER, /* decimal, from `low` to `high` */
    DL_SETTING_CHOICE, /* one of the words in `values` */
    DL_SETTING_WORDS,  /* some of the words in `values`, with commas between them */
} dl_setting_kind;

typedef struct dl_setting_info {
    const char *name;
    dl_setting_kind kind;
    const char *values; /* of a choice "L9|L2|L0"; else what the value is: "FOLDER" */
    uint64_t low, high; /* of a number */
    const char *unset;  /* what holds when it is not set */
    const char *reader; /* who reads it */
    const char *what;   /* a phrase */
    const char *title;  /* of the group that begins here, or NULL */
} dl_setting_info;

/* Of another program (tt-metal, or of devlog's own tests and benches): documented, never read by devlog. */
typedef struct dl_setting_other {
    const char *name;
    const char *what;
} dl_setting_other;

/* Variables that change what gcc makes: the name of number i, NULL behind the last, and its value (NULL: not set) if that is
 * asked for. */
const char *dl_setting_of_compiler(uint32_t i, const char **value);

const dl_setting_info *dl_setting_of(dl_setting s);
/* Variables of tt-metal that do nothing here, and what does it instead; end with a name that is NULL. */
extern const dl_setting_other dl_settings_without_effect[];
/* Variables of devlog's tests and benches; end with a name that is NULL. */
extern const dl_setting_other dl_settings_of_tests[];

/* The number that a launcher (tt-run, Open MPI, MPICH and others with PMI, Slurm) gave this process, and the variable that says it;
 * false: none did. */
bool dl_setting_rank(uint32_t *rank, const char **variable);
/* How many processes the launcher says that there are, of which `rank` is one; 0: it does not say, or it cannot be. */
uint32_t dl_setting_ranks(uint32_t rank);

/* The value; NULL when it is not set, or empty. */
const char *dl_setting_text(dl_setting s);
/* The value of the kind that the table says, or `unset`. A value that cannot be read is DEVLOG_ERR_ARGUMENT,
 * and the line says what is allowed. A choice is counted from 0. */
devlog_status dl_setting_flag(dl_setting s, bool unset, bool *out, devlog_error *err);
devlog_status dl_setting_number(dl_setting s, uint64_t unset, uint64_t *out, devlog_error *err);
devlog_status dl_setting_choice(dl_setting s, int unset, int *out, devlog_error *err);
/* Of words: bit i of *out is word i of the table; 0 when it is not set. */
devlog_status dl_setting_words(dl_setting s, unsigned *out, devlog_error *err);

/* Whether every value that is set can be read: for those who begin something long. */
devlog_status dl_settings_check(devlog_error *err);
/* Once in a process: says on stderr which variables are set and do nothing: of tt-metal's profiler, and names
 * that begin with DEVLOG_ and are none of devlog's. */
void dl_settings_say_unused(void);

#endif
