/* The table of the environment's variables, and its readers. */
#include "base/settings.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern char **environ;

/* clang-format off */
static const dl_setting_info table[DL_SETTINGS] = {
    [DL_SET_DEVICE_PROFILER] = {"TT_METAL_DEVICE_PROFILER", DL_SETTING_FLAG, "0|1", 0, 0, "0", "programs",
        "1: kernels are compiled with -DPROFILE_DEVICE, and what their markers record is pulled after every launch and logged", "What is recorded"},
    [DL_SET_OPS] = {"DEVLOG_OPS", DL_SETTING_FLAG, "0|1", 0, 0, "as TT_METAL_DEVICE_PROFILER", "programs",
        "1: the log of ops (profile_log_ops.jsonl) is written", NULL},
    [DL_SET_OP_STACKS] = {"DEVLOG_OP_STACKS", DL_SETTING_NUMBER, "FRAMES", 0, 64, "0", "programs",
        "with each op in the log, so many frames of Python's call stack (file, line and function); devlog run --op-stacks", NULL},
    [DL_SET_LOG_FOLDER] = {"DEVLOG_LOG_FOLDER", DL_SETTING_TEXT, "FOLDER", 0, 0, "generated/profiler/logs", "programs",
        "where logs go", NULL},
    [DL_SET_LOG_STYLE] = {"DEVLOG_LOG_STYLE", DL_SETTING_CHOICE, "L9|L2|L0", 0, 0, "L9", "programs",
        "form of profile_log_device.csv: L9 as tt-metal writes it today, L2 and L0 as in 2023", NULL},
    [DL_SET_RECORDING] = {"DEVLOG_RECORDING", DL_SETTING_CHOICE, "stop|ring|stream", 0, 0, "stop", "programs",
        "what happens when the records of a RISC are full, unless the program itself says: the first are kept, the last are "
        "kept, or all go to DRAM (devlog_device_options.recording, devlog_set_recording)", NULL},
    [DL_SET_WAITS] = {"DEVLOG_WAITS", DL_SETTING_FLAG, "0|1", 0, 0, "0", "programs",
        "1: kernels record what they wait for and what they give to others, by which devlog causes tells why they waited: they "
        "are compiled with -DDEVLOG_WAITS", NULL},
    [DL_SET_HOST] = {"DEVLOG_HOST", DL_SETTING_WORDS, "0|1|tracy|itt|usdt", 0, 0, "0", "programs",
        "1: host code that was compiled with -DPROFILE_HOST records its zones (devlog/host.h) in host_<pid>.devlog; tracy, itt, usdt, or "
        "several with commas between them: as 1, and they are handed on as they happen, for tracy with the zones of devices "
        "(docs/host.md)", NULL},
    [DL_SET_TRACY] = {"DEVLOG_TRACY", DL_SETTING_TEXT, "LIBRARY", 0, 0, "libTracyClient.so, unless the process has one already", "programs",
        "the Tracy client library that DEVLOG_HOST=tracy opens; Tracy's own, built as a shared library", NULL},
    [DL_SET_CAPTURE] = {"DEVLOG_CAPTURE", DL_SETTING_FLAG, "0|1", 0, 0, "1", "programs",
        "0: no capture.devlog is written beside the CSV", NULL},
    [DL_SET_CAPTURE_EVERY] = {"DEVLOG_CAPTURE_EVERY", DL_SETTING_NUMBER, "N", 1, UINT32_MAX,
        "all are recorded, in one log", "programs",
        "only every Nth launch is recorded, in a folder of its own, capture-000001 and on, in the log folder; markers are off "
        "in the others. devlog run and time record all", NULL},
    [DL_SET_CAPTURE_LAUNCHES] = {"DEVLOG_CAPTURE_LAUNCHES", DL_SETTING_NUMBER, "LAUNCHES", 1, UINT32_MAX,
        "1, or as DEVLOG_CAPTURE_MS says", "programs", "launches of one such capture", NULL},
    [DL_SET_CAPTURE_MS] = {"DEVLOG_CAPTURE_MS", DL_SETTING_NUMBER, "MILLISECONDS", 1, UINT32_MAX,
        "as DEVLOG_CAPTURE_LAUNCHES says", "programs", "how long one goes on, unless that many launches end it before", NULL},
    [DL_SET_CAPTURE_MOST] = {"DEVLOG_CAPTURE_MOST", DL_SETTING_NUMBER, "CAPTURES", 1, UINT32_MAX, "any number", "programs",
        "after so many nothing more is recorded, but for a launch that fails", NULL},
    [DL_SET_CAPTURE_KEEP] = {"DEVLOG_CAPTURE_KEEP", DL_SETTING_NUMBER, "CAPTURES", 0, UINT32_MAX, "all", "programs",
        "how many stay: the oldest are removed, but for those in which something was not as a kernel expects; 0: only those",
        NULL},
    [DL_SET_CLOCK_SYNC] = {"DEVLOG_CLOCK_SYNC", DL_SETTING_FLAG, "0|1", 0, 0, "1", "programs",
        "0: clocks of cores, chips and host are not compared while the program runs", NULL},
    [DL_SET_ANNOTATE] = {"DEVLOG_ANNOTATE", DL_SETTING_FLAG, "0|1", 0, 0, "0", "programs",
        "1: where each cycle went goes into the capture, by instruction, for devlog annotate; only the built-in simulator knows",
        NULL},
    [DL_SET_POSTMORTEM] = {"DEVLOG_POSTMORTEM", DL_SETTING_TEXT, "FILE", 0, 0, "nothing is saved", "programs",
        "where the state of a device is saved when a launch is not done in time or its chip stops, for devlog dump",
        NULL},
    [DL_SET_RUN] = {"DEVLOG_RUN", DL_SETTING_TEXT, "ID", 0, 0, "a new run, or that of the process that opened the log", "programs",
        "id of the run whose logs are added to, up to 16 hexadecimal digits; devlog run sets it", NULL},
    [DL_SET_RANK_RUN] = {"TT_RUN_RANK", DL_SETTING_TEXT, "N", 0, 0, "as OMPI_COMM_WORLD_RANK", "programs",
        "number of this rank, set by tt-run: it goes into the log of ops and captures with the host's name, and devlog ranks reads it", NULL},
    [DL_SET_RANK_OMPI] = {"OMPI_COMM_WORLD_RANK", DL_SETTING_TEXT, "N", 0, 0, "as PMI_RANK", "programs",
        "the same, set by Open MPI", NULL},
    [DL_SET_RANK_PMI] = {"PMI_RANK", DL_SETTING_TEXT, "N", 0, 0, "as SLURM_PROCID", "programs",
        "the same, set by MPICH and others", NULL},
    [DL_SET_RANK_SLURM] = {"SLURM_PROCID", DL_SETTING_TEXT, "N", 0, 0, "no rank is recorded", "programs",
        "the same, set by Slurm", NULL},
    [DL_SET_SIZE_OMPI] = {"OMPI_COMM_WORLD_SIZE", DL_SETTING_TEXT, "N", 0, 0, "as PMI_SIZE", "programs",
        "how many processes Open MPI has started: it goes into captures with the rank, so that ranks that are missing are told", NULL},
    [DL_SET_SIZE_SLURM] = {"SLURM_NTASKS", DL_SETTING_TEXT, "N", 0, 0, "not recorded", "programs",
        "the same, set by Slurm", NULL},
    [DL_SET_SIZE_PMI] = {"PMI_SIZE", DL_SETTING_TEXT, "N", 0, 0, "as SLURM_NTASKS; nothing is compared", "programs and devlog-mpi",
        "the same, set by MPICH and others. devlog-mpi compares it: a process that sees itself only was started by the launcher of another MPI", NULL},
    [DL_SET_MPI_REPORT] = {"DEVLOG_MPI_REPORT", DL_SETTING_CHOICE, "0|1|ops", 0, 0, "0", "libdevlog-pmpi.so",
        "1: rank 0 prints at the end what all ranks spent in which call of MPI; ops: and what devlog ranks says of all ranks' logs (docs/fleet.md)", NULL},
    [DL_SET_MPI_CLOCKS] = {"DEVLOG_MPI_CLOCKS", DL_SETTING_FLAG, "0|1", 0, 0, "1", "libdevlog-pmpi.so",
        "ranks exchange messages with rank 0 at MPI_Init and MPI_Finalize, by which devlog ranks knows how their hosts' clocks lie; 0: they do not, as "
        "when the library is not loaded in all ranks (docs/fleet.md)", NULL},

    [DL_SET_BOARD] = {"DEVLOG_BOARD", DL_SETTING_TEXT, "BOARD", 0, 0, "wormhole_b0", "programs and devlog",
        "name of a board (devlog boards), or path of a board file", "The device"},
    [DL_SET_TRANSPORT] = {"DEVLOG_TRANSPORT", DL_SETTING_TEXT, "TRANSPORT[:PATH]", 0, 0,
        "the first of the board's", "programs and devlog", "how the device is reached: sim, qemu, usb, kmd:0, ...", NULL},
    [DL_SET_SIMULATOR] = {"TT_METAL_SIMULATOR", DL_SETTING_TEXT, "FILE", 0, 0, "none", "programs and devlog",
        "a libttsim.so: the device is that simulator; FILE:N is chip N of one that has several; goes before DEVLOG_TRANSPORT", NULL},
    [DL_SET_SIM] = {"DEVLOG_SIM", DL_SETTING_TEXT, "NAME=VALUE,...", 0, 0, "no options", "programs and devlog",
        "options of the built-in simulator (docs/simulator.md)", NULL},
    [DL_SET_KMD] = {"DEVLOG_KMD", DL_SETTING_TEXT, "NUMBER or FILE", 0, 0, "0", "programs and devlog",
        "the card that transport kmd opens when its name says none: N of /dev/tenstorrent/N, or a device file", NULL},
    [DL_SET_GRID] = {"DEVLOG_GRID", DL_SETTING_TEXT, "columns=LIST,rows=LIST", 0, 0, "what the chip says that it has", "programs and devlog",
        "the columns and rows of cores that are used, by NoC coordinate (columns=1-7+10-14; all: every one of the board file): for a card "
        "that does not say which are switched off", NULL},
    [DL_SET_CARD_WAIT] = {"DEVLOG_CARD_WAIT", DL_SETTING_NUMBER, "SECONDS", 0, 86400, "0", "programs and devlog",
        "how long to wait for a card that another program uses", NULL},
    [DL_SET_PROBE] = {"DEVLOG_PROBE", DL_SETTING_TEXT, "SERIAL or BUS-PORT", 0, 0, "the only one", "programs and devlog",
        "the probe that transport usb opens when its name says none", NULL},
    [DL_SET_QEMU_DIR] = {"DEVLOG_QEMU_DIR", DL_SETTING_TEXT, "FOLDER", 0, 0, "a new folder", "programs and devlog",
        "where transport qemu has its machine's files when its name says none", NULL},
    [DL_SET_TIMEOUT_MS] = {"DEVLOG_TIMEOUT_MS", DL_SETTING_NUMBER, "MILLISECONDS", 1, UINT32_MAX, "20000", "programs and devlog",
        "how long a launch may take", NULL},
    [DL_SET_USB_TIMEOUT_MS] = {"DEVLOG_USB_TIMEOUT_MS", DL_SETTING_NUMBER, "MILLISECONDS", 1, UINT32_MAX, "1000", "programs and devlog",
        "how long one transfer to a probe may take", NULL},
    [DL_SET_SIM_BOARD] = {"DEVLOG_SIM_BOARD", DL_SETTING_TEXT, "BOARD", 0, 0, "wormhole_b0", "libdevlogsim.so",
        "the board that the simulator is when another program loads it as its libttsim.so", NULL},

    [DL_SET_SIM_CHIPS] = {"DEVLOG_SIM_CHIPS", DL_SETTING_NUMBER, "N", 1, 8, "1", "libdevlogsim.so",
        "how many chips it is then, each a device of its PCI bus", NULL},
    [DL_SET_HOME] = {"DEVLOG_HOME", DL_SETTING_TEXT, "FOLDER", 0, 0, "share/devlog beside the program", "programs and devlog",
        "where boards, firmware, linker scripts and headers are: an installation's share/devlog, or the sources", "Where things are"},
    [DL_SET_CACHE] = {"DEVLOG_CACHE", DL_SETTING_TEXT, "FOLDER", 0, 0, "devlog in XDG_CACHE_HOME", "programs and devlog",
        "compiled kernels and firmware, whose names of markers devlog dump reads", NULL},
    [DL_SET_XDG_CACHE_HOME] = {"XDG_CACHE_HOME", DL_SETTING_TEXT, "FOLDER", 0, 0, ".cache in HOME", "programs and devlog",
        "the user's caches", NULL},
    [DL_SET_USER_HOME] = {"HOME", DL_SETTING_TEXT, "FOLDER", 0, 0, "one of the two above must be set", "programs and devlog",
        "the user's home", NULL},
    [DL_SET_TMPDIR] = {"TMPDIR", DL_SETTING_TEXT, "FOLDER", 0, 0, "/tmp", "programs and devlog",
        "temporary files: what does not fit in memory, and what devlog serve has decoded", NULL},
    [DL_SET_CC] = {"DEVLOG_CC", DL_SETTING_TEXT, "COMPILER", 0, 0, "riscv64-unknown-elf-gcc", "programs and devlog",
        "the gcc that compiles kernels and firmware; what clang has compiled goes in as object files", NULL},
    [DL_SET_QEMU] = {"DEVLOG_QEMU", DL_SETTING_TEXT, "PROGRAM", 0, 0, "qemu-system-riscv32", "programs and devlog",
        "what transport qemu runs", NULL},
    [DL_SET_PATH] = {"PATH", DL_SETTING_TEXT, "FOLDER:...", 0, 0, "nothing is found", "programs and devlog",
        "where the compiler, QEMU and a browser are looked for", NULL},
    [DL_SET_PROFILER_DIR] = {"TT_METAL_PROFILER_DIR", DL_SETTING_TEXT, "FOLDER", 0, 0, "it is not looked into", "devlog decode, view",
        "where tt-metal writes its logs: looked into when no log is named; programs with devlog's API write to "
        "DEVLOG_LOG_FOLDER", NULL},
    [DL_SET_METAL_HOME] = {"TT_METAL_HOME", DL_SETTING_TEXT, "FOLDER", 0, 0, "it is not looked into", "devlog decode, view",
        "tt-metal's folder: its generated/profiler is looked into when no log is named", NULL},

    [DL_SET_SOURCE_DATE_EPOCH] = {"SOURCE_DATE_EPOCH", DL_SETTING_NUMBER, "SECONDS", 0, 253402300799, "now", "devlog decode, ops, run",
        "the time, since 1970, that --date puts into names, in UTC: the same name every time", "What is shown"},
    [DL_SET_NO_COLOR] = {"NO_COLOR", DL_SETTING_TEXT, "anything", 0, 0, "colours on a terminal", "devlog",
        "no colours (no-color.org)", NULL},
    [DL_SET_TERM] = {"TERM", DL_SETTING_TEXT, "NAME", 0, 0, "no colours", "devlog",
        "the terminal; dumb: no colours", NULL},
    [DL_SET_COLUMNS] = {"COLUMNS", DL_SETTING_TEXT, "NUMBER", 0, 0, "80", "devlog",
        "width of a terminal that does not tell its own", NULL},
    [DL_SET_DISPLAY] = {"DISPLAY", DL_SETTING_TEXT, "NAME", 0, 0, "addresses are printed", "devlog view",
        "set on a machine with a screen: a browser is opened", NULL},
    [DL_SET_WAYLAND_DISPLAY] = {"WAYLAND_DISPLAY", DL_SETTING_TEXT, "NAME", 0, 0, "addresses are printed", "devlog view",
        "as DISPLAY", NULL},
    [DL_SET_SSH_CONNECTION] = {"SSH_CONNECTION", DL_SETTING_TEXT, "ADDRESSES", 0, 0, "no ssh", "devlog view",
        "set by ssh: what to type for a tunnel is printed", NULL},
    [DL_SET_WSL_DISTRO_NAME] = {"WSL_DISTRO_NAME", DL_SETTING_TEXT, "NAME", 0, 0, "no WSL", "devlog view, serve",
        "set by WSL: what to do is printed when a browser of Windows does not find the address", NULL},
    [DL_SET_USER] = {"USER", DL_SETTING_TEXT, "NAME", 0, 0, "LOGNAME", "devlog view", "the user's name there", NULL},
    [DL_SET_LOGNAME] = {"LOGNAME", DL_SETTING_TEXT, "NAME", 0, 0, "no name", "devlog view", "as USER", NULL},
};

/* Names: tt_metal/llrt/rtoptions.cpp, tools/tracy/__main__.py and the profiler's documents of tt-metal, 2025-26. */
const dl_setting_other dl_settings_without_effect[] = {
    {"TT_METAL_DEVICE_PROFILER_DISPATCH", "devlog has no dispatch cores"},
    {"TT_METAL_DEVICE_PROFILER_NOC_EVENTS", "DEVLOG_WAITS=1 records the transfers of devlog/transfers.h"},
    {"TT_METAL_DEVICE_PROFILER_NOC_EVENTS_RPT_PATH", "DEVLOG_WAITS=1 records the transfers of devlog/transfers.h"},
    {"TT_METAL_PROFILER_SYNC", "clocks are compared unless DEVLOG_CLOCK_SYNC=0"},
    {"TT_METAL_PROFILER_SUM", "sums are markers of their own: DEVLOG_ZONE_SUM"},
    {"TT_METAL_PROFILER_ACCUMULATE", "every launch is pulled by itself"},
    {"TT_METAL_PROFILER_MID_RUN_DUMP", "every launch is pulled when it is done"},
    {"TT_METAL_PROFILER_TRACE_TRACKING", "devlog has no traces to replay"},
    {"TT_METAL_PROFILER_PROGRAM_SUPPORT_COUNT", "room does not depend on the number of programs"},
    {"TT_METAL_PROFILER_CPP_POST_PROCESS", "devlog decode works on any log"},
    {"TT_METAL_PROFILER_DISABLE_DUMP_TO_FILES", "logs are always files; DEVLOG_CAPTURE=0 leaves out the capture"},
    {"TT_METAL_PROFILER_DISABLE_PUSH_TO_TRACY", "without DEVLOG_HOST=tracy nothing is sent to Tracy"},
    {"TT_METAL_PROFILER_NO_CACHE_OP_INFO", "the op log holds every op in full"},
    {"TT_METAL_PROFILER_FILTER_CHIPS", "devlog decode --chips chooses chips"},
    {"TT_METAL_PROFILER_COMPUTE_CORE_SAMPLE", "every core of a program is recorded"},
    {"TT_METAL_PROFILE_PERF_COUNTERS", "devlog does not read hardware counters"},
    {"TT_METAL_PROFILE_PERF_COUNTERS_L1_SEL", "devlog does not read hardware counters"},
    {"TT_METAL_TRACE_PROFILER", "devlog has no traces to replay"},
    {"TT_METAL_STREAMING_PROFILER", "markers are streamed by the recording mode STREAM"},
    {"TT_METAL_STREAMING_PROFILER_OPS_CSV", "devlog ops reads that file"},
    {"TT_METAL_STREAMING_PROFILER_ZONE_CSV", "devlog ops and decode read that file"},
    {"TT_METAL_STREAMING_PROFILER_NRELAYS", "there are no relays: the host pulls records itself"},
    {"TT_METAL_STREAMING_PROFILER_DRAM_MB", "records stay in L1 until they are pulled"},
    {"TT_METAL_STREAMING_PROFILER_FIFO_MB", "records go from L1 to the log"},
    {"TT_METAL_STREAMING_PROFILER_RING_MB", "records go from L1 to the log"},
    {"TT_METAL_STREAMING_PROFILER_DECODE_THREADS", "records are decoded when a log is read"},
    {"TT_METAL_STREAMING_PROFILER_TRACY", "DEVLOG_HOST=tracy sends zones to Tracy"},
    {"TT_METAL_MEM_PROFILER", "DEVLOG_OPS=1 logs what buffers are allocated; devlog memory shows it"},
    {"TT_METAL_DEVICE_DEBUG_DUMP_ENABLED", "what there is no room for is counted; the recording mode STREAM loses nothing"},
    {"TT_METAL_TRACY_MID_RUN_PUSH", "DEVLOG_HOST=tracy sends the zones of every launch when it is pulled"},
    {"TTNN_OP_PROFILER", "DEVLOG_OPS=1 writes the log of ops"},
    {NULL, NULL},
};

const dl_setting_other dl_settings_of_tests[] = {
    {"DEVLOG_BIN", "tests: the program devlog that they run; ctest sets it"},
    {"DEVLOG_SAMPLES", "tests: folder of logs that other tools wrote; without it those tests say SKIPPED"},
    {"DEVLOG_GOLDEN", "tests: set to write expected results anew instead of comparing with them"},
    {"DEVLOG_TEST_CLOCK", "tests: RANK:AHEAD:PPM:FROM, the clock of a rank (`tests/mpi/shift.c`)"},
    {"DEVLOG_TEST_SLOW", "tests: number of the rank whose file system is slow (`tests/mpi/slow.c`)"},
    {"DEVLOG_TEST_CASES", "tests: how many random cases, instead of the few of every day"},
    {"DEVLOG_TEST_PROGRAMS", "tests: how many random programs, instead of the few of every day"},
    {"DEVLOG_TRUTH_CASES", "tests: how many random logs are compared with the truth, instead of the few of every day"},
    {"DEVLOG_TRUTH_FIRST", "tests: the number of the first of those logs"},
    {"DEVLOG_TEST_TRACY", "tests: where the Tracy library of theirs writes down its calls"},
    {"DEVLOG_TEST_AXE", "tests: an axe.min.js (npm: axe-core), by which pages are judged; without it that test says SKIPPED"},
    {"DEVLOG_TEST_PICTURES", "tests: a folder, into which test_page_matrix puts a picture of each view of each kind of log, for eyes, and test_page_pictures those of docs/page.md"},
    {"DEVLOG_TEST_ITT", "tests: where the ITT collector of theirs writes down its calls"},
    {"DEVLOG_TEST_ALONE", "tests: set when nobody is connected to that library"},
    {"DEVLOG_TEST_SEEDS", "tests: how many seeds of the simulator's strict model, instead of the few of every day"},
    {"DEVLOG_TEST_LOOP", "tests: number of the one loop of markers whose cost is compared with the truth"},
    {"DEVLOG_TEST_SEED", "tests: which of the sequences of random programs of markers, from 1"},
    {"DEVLOG_TEST_BOARD", "tests: on which board alone these programs run"},
    {"DEVLOG_TEST_CSV", "tests: how many random files of CSV, instead of the few of every day"},
    {"DEVLOG_TEST_PRICES", "tests: how many random programs whose markers' cost is compared with the truth"},
    {"DEVLOG_KMD_SCHEDULES", "tests: how many random schedules of what can happen to a card, instead of the few of every day"},
    {"DEVLOG_KMD_FIRST", "tests: the number of the first of those schedules"},
    {"DEVLOG_TEST_LIBTTSIM", "tests: a libttsim.so to compare with"},
    {"DEVLOG_TT_FOLDERS", "tests: how many folders of tt-metal's are made and judged, instead of the few of every day"},
    {"DEVLOG_TT_FIRST", "tests: the number of the first of those folders"},
    {"DEVLOG_TT_FORMS", "tests: how many of such folders are compared in every form, packed and damaged, instead of the few of every day"},
    {"DEVLOG_TT_SELECTIONS", "tests: of how many runs parts are chosen, instead of the few of every day"},
    {"DEVLOG_TEST_RANKS", "tests: ranks of the largest fleet that `devlog ranks` is tried on"},
    {"DEVLOG_TEST_ARCHIVE", "tests: how many histories without a change an archive is asked of, instead of the few of every day"},
    {"DEVLOG_CHECK_INSTALL", "tests: set, outside of CI, to install the packages on a clean system, which takes a minute and fetches 150 MB"},
    {"DEVLOG_BENCH_BLOCK", "benches: bytes that the decoder reads at a time"},
    {"DEVLOG_BENCH_GB", "benches: sizes of the logs of `./dev bench terabyte`, in GB"},
    {"DEVLOG_BENCH_HOW", "benches: options of devlog-mpi decode"},
    {"DEVLOG_BENCH_LAYERS", "benches: layers of the model whose ranks `./dev bench fleet` makes"},
    {"DEVLOG_BENCH_LIBTTSIM", "benches: a libttsim.so to measure"},
    {"DEVLOG_BENCH_LOG", "benches: the log that has a size and no contents"},
    {"DEVLOG_BENCH_PEERS", "benches: folder of other profilers' sources, to measure beside devlog"},
    {"DEVLOG_BENCH_RANKS", "benches: ranks of `./dev bench terabyte` and `./dev bench fleet`"},
    {"DEVLOG_BENCH_RECORDS", "benches: records of the capture that is decoded"},
    {"DEVLOG_BENCH_ROW", "benches: bytes of a row of the generated log"},
    {"DEVLOG_BENCH_ROWS", "benches: rows of the logs that are decoded"},
    {"DEVLOG_BENCH_RUNS", "benches: how often each is measured"},
    {"DEVLOG_BENCH_TMP", "benches: folder of the logs that they make"},
    {NULL, NULL},
};
/* clang-format on */

const dl_setting_info *dl_setting_of(dl_setting s)
{
    return &table[s];
}

const char *dl_setting_of_compiler(uint32_t i, const char **value)
{
    static const char *const names[] = {
        "CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "GCC_EXEC_PREFIX", "COMPILER_PATH", "LIBRARY_PATH",
        NULL};
    if (value) *value = getenv(names[i]);
    return names[i];
}

const char *dl_setting_text(dl_setting s)
{
    const char *value = table[s].name ? getenv(table[s].name) : NULL;
    return value && *value ? value : NULL;
}

static devlog_status wrong(dl_setting s, const char *value, devlog_error *err)
{
    const dl_setting_info *i = &table[s];
    if (i->kind == DL_SETTING_NUMBER)
        return dl_fail(err, DEVLOG_ERR_ARGUMENT, "%s=%.100s: it is a number from %llu to %llu (%s)", i->name,
                       value, (unsigned long long)i->low, (unsigned long long)i->high, i->values);
    return dl_fail(err, DEVLOG_ERR_ARGUMENT, "%s=%.100s: it is %s %s", i->name, value,
                   i->kind == DL_SETTING_WORDS ? "some, with commas between them, of" : "one of", i->values);
}

/* Which of the words "a|b|c" the value is; -1: none. */
static int which(const char *words, const char *value)
{
    size_t n = strlen(value);
    for (int at = 0;; at++) {
        size_t length = strcspn(words, "|");
        if (length == n && memcmp(words, value, n) == 0) return at;
        if (words[length] == '\0') return -1;
        words += length + 1;
    }
}

static devlog_status read_choice(dl_setting s, const char *value, int *out, devlog_error *err)
{
    int at = which(table[s].values, value);
    if (at < 0) return wrong(s, value, err);
    *out = at;
    return DEVLOG_OK;
}

static devlog_status read_words(dl_setting s, const char *value, unsigned *out, devlog_error *err)
{
    unsigned words = 0;
    for (const char *at = value;; at++) {
        char word[32];
        const size_t n = strcspn(at, ",");
        int number = -1;
        if (n < sizeof word) {
            memcpy(word, at, n);
            word[n] = '\0';
            number = which(table[s].values, word);
        }
        if (number < 0) return wrong(s, value, err);
        words |= 1u << number;
        at += n;
        if (!*at) break;
    }
    *out = words;
    return words & 1 && words != 1 ? wrong(s, value, err) : DEVLOG_OK;
}

static devlog_status read_number(dl_setting s, const char *value, uint64_t *out, devlog_error *err)
{
    errno = 0;
    char *end = NULL;
    unsigned long long n = *value >= '0' && *value <= '9' ? strtoull(value, &end, 10) : 0;
    if (!end || *end || errno || n < table[s].low || n > table[s].high) return wrong(s, value, err);
    *out = n;
    return DEVLOG_OK;
}

bool dl_setting_rank(uint32_t *rank, const char **variable)
{
    static const dl_setting of_launchers[] = {DL_SET_RANK_RUN, DL_SET_RANK_OMPI, DL_SET_RANK_PMI,
                                              DL_SET_RANK_SLURM};
    enum { MOST = 65536 };
    for (size_t i = 0; i < sizeof of_launchers / sizeof of_launchers[0]; i++) {
        const char *text = dl_setting_text(of_launchers[i]);
        char *end;
        if (!text || *text < '0' || *text > '9') continue;
        const unsigned long n = strtoul(text, &end, 10);
        if (*end || n >= MOST) continue;
        *rank = (uint32_t)n;
        *variable = dl_setting_of(of_launchers[i])->name;
        return true;
    }
    return false;
}

uint32_t dl_setting_ranks(uint32_t rank)
{
    static const dl_setting of_launchers[] = {DL_SET_SIZE_OMPI, DL_SET_SIZE_PMI, DL_SET_SIZE_SLURM};
    enum { MOST = 65536 };
    for (size_t i = 0; i < sizeof of_launchers / sizeof of_launchers[0]; i++) {
        const char *text = dl_setting_text(of_launchers[i]);
        char *end;
        if (!text || *text < '0' || *text > '9') continue;
        const unsigned long n = strtoul(text, &end, 10);
        if (!*end && n > rank && n <= MOST) return (uint32_t)n;
    }
    return 0;
}

devlog_status dl_setting_flag(dl_setting s, bool unset, bool *out, devlog_error *err)
{
    int at = unset;
    devlog_status status = dl_setting_choice(s, unset, &at, err);
    if (status == DEVLOG_OK) *out = at != 0;
    return status;
}

devlog_status dl_setting_number(dl_setting s, uint64_t unset, uint64_t *out, devlog_error *err)
{
    const char *value = dl_setting_text(s);
    if (value) return read_number(s, value, out, err);
    *out = unset;
    return DEVLOG_OK;
}

devlog_status dl_setting_choice(dl_setting s, int unset, int *out, devlog_error *err)
{
    const char *value = dl_setting_text(s);
    if (value) return read_choice(s, value, out, err);
    *out = unset;
    return DEVLOG_OK;
}

devlog_status dl_setting_words(dl_setting s, unsigned *out, devlog_error *err)
{
    const char *value = dl_setting_text(s);
    *out = 0;
    return value ? read_words(s, value, out, err) : DEVLOG_OK;
}

devlog_status dl_settings_check(devlog_error *err)
{
    devlog_status status = DEVLOG_OK;
    for (int s = 1; s < DL_SETTINGS && !status; s++) {
        const char *value = dl_setting_text((dl_setting)s);
        uint64_t number;
        int choice;
        unsigned words;
        if (!value) continue;
        switch (table[s].kind) {
        case DL_SETTING_NUMBER: status = read_number((dl_setting)s, value, &number, err); break;
        case DL_SETTING_WORDS: status = read_words((dl_setting)s, value, &words, err); break;
        case DL_SETTING_FLAG:
        case DL_SETTING_CHOICE: status = read_choice((dl_setting)s, value, &choice, err); break;
        case DL_SETTING_TEXT: break;
        }
    }
    return status;
}

/* ---- What is set and does nothing -------------------------------------------------------------------- */

static bool begins(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* Whether name[0..n) is in the table, or one of devlog's own tests. */
static bool is_ours(const char *name, size_t n)
{
    for (int s = 1; s < DL_SETTINGS; s++)
        if (strlen(table[s].name) == n && memcmp(table[s].name, name, n) == 0) return true;
    for (const dl_setting_other *o = dl_settings_of_tests; o->name; o++)
        if (strlen(o->name) == n && memcmp(o->name, name, n) == 0) return true;
    return false;
}

/* Why a variable of tt-metal's profiler does nothing; NULL: it is none. Its own newest ones are known by
 * their beginnings. */
static const char *why_without_effect(const char *name, size_t n)
{
    static const char *const beginnings[] = {"TT_METAL_DEVICE_PROFILER_", "TT_METAL_PROFILER_",
                                             "TT_METAL_PROFILE_", "TT_METAL_STREAMING_PROFILER",
                                             "TT_METAL_TRACE_PROFILER"};
    for (const dl_setting_other *o = dl_settings_without_effect; o->name; o++)
        if (strlen(o->name) == n && memcmp(o->name, name, n) == 0) return o->what;
    for (size_t i = 0; i < sizeof beginnings / sizeof beginnings[0]; i++)
        if (begins(name, beginnings[i])) return "it is for tt-metal's own profiler";
    return NULL;
}

static void say_unused(void)
{
    for (char **e = environ; e && *e; e++) {
        size_t n = strcspn(*e, "=");
        const char *value = (*e)[n] ? *e + n + 1 : "";
        if (!*value || strcmp(value, "0") == 0) continue; /* asks for nothing */
        const bool ours = is_ours(*e, n);
        const char *why = ours ? NULL : why_without_effect(*e, n);
        if (why)
            fprintf(stderr, "devlog: %.*s is a setting of tt-metal that does nothing here: %s\n", (int)n, *e,
                    why);
        else if (begins(*e, "DEVLOG_") && !ours)
            fprintf(stderr, "devlog: %.*s is no setting of devlog; 'devlog help environment' lists them\n",
                    (int)n, *e);
    }
}

void dl_settings_say_unused(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, say_unused);
}
