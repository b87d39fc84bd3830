/* devlog host API: open a device, run programs on it, pull what their markers recorded into logs, which the
 * program devlog decodes.
 *
 * Conventions of this header
 *   - A function that can fail returns a devlog_status and takes a devlog_error * as its last parameter
 *     (may be NULL); on failure the error holds one line for a person: what is wrong, where, what to do.
 *   - Outputs are written only on DEVLOG_OK unless a function says otherwise.
 *   - Objects are owned by the caller who created them; borrowed pointers say so.
 *   - No global state: two devices may be used from two threads. One object is used by one thread at a time
 *     unless its section says otherwise.
 *   - Device addresses and sizes are bytes; times are cycles of the chip or nanoseconds, and say which.
 *   - A struct of options begins with its size, so that it can grow. The macro of its name initialises it:
 *
 *         devlog_device_options options = DEVLOG_DEVICE_OPTIONS(.board = "blackhole", .profile = DEVLOG_ON);
 *
 *     In C++ before C++20 it has no arguments; set members afterwards. NULL: nothing is set. The library
 *     takes the shorter struct of an older header; in a longer one, an option that is set and that the
 *     library does not know is DEVLOG_ERR_UNSUPPORTED. A struct without its size is DEVLOG_ERR_ARGUMENT.
 *     Other structs keep their size as long as the library keeps its name.
 *   - What decides: a call that sets something (devlog_set_recording), then a member of the options, then the
 *     variable of the environment that the member names, then what holds unless set. Variables are read when
 *     something is opened (docs/environment.md).
 */
#ifndef DEVLOG_DEVLOG_H
#define DEVLOG_DEVLOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
namespace devlog {
/* `options` with the size of its type. */
template <class T> T sized(T options)
{
    options.size = sizeof(T);
    return options;
}
} /* namespace devlog */
#define DEVLOG_OPTIONS_(type, ...) devlog::sized(type{__VA_ARGS__})
extern "C" {
#else
#define DEVLOG_OPTIONS_(type, ...)                                                                           \
    {                                                                                                        \
        .size = sizeof(type), __VA_ARGS__                                                                    \
    }
#endif
#pragma GCC visibility push(default) /* all else in the library is hidden */

/* ---- Errors ------------------------------------------------------------------------------------- */

typedef enum devlog_status {
    DEVLOG_OK = 0,
    DEVLOG_ERR_ARGUMENT,    /* a caller's or user's value is out of range or unknown */
    DEVLOG_ERR_MEMORY,      /* the host is out of memory */
    DEVLOG_ERR_IO,          /* a file or folder could not be read or written */
    DEVLOG_ERR_NOT_FOUND,   /* a file, board, symbol, or program does not exist */
    DEVLOG_ERR_FORMAT,      /* input is malformed; the text says where */
    DEVLOG_ERR_UNSUPPORTED, /* valid, but not supported here */
    DEVLOG_ERR_COMPILE,     /* the cross compiler or linker refused; the text has its message */
    DEVLOG_ERR_TIMEOUT,     /* the device did not finish in time */
    DEVLOG_ERR_DEVICE,      /* the device (or its simulator) reported a fault */
    DEVLOG_ERR_TRANSPORT,   /* the connection to the device failed */
    DEVLOG_ERR_STATE,       /* calls in the wrong order */
    DEVLOG_ERR_PARTIAL,     /* something was kept, something was lost; the text counts both */
} devlog_status;

typedef struct devlog_error {
    devlog_status status;
    char text[2048];
} devlog_error;

/* A short English text for a status; static storage. */
const char *devlog_status_text(devlog_status status);

typedef enum devlog_switch {
    DEVLOG_AUTO = 0, /* as the environment says; each member of this type tells how */
    DEVLOG_ON,
    DEVLOG_OFF,
} devlog_switch;

/* ---- Op profiler ------------------------------------------------------------------------------------- */

/* What the host asked for, written to a log as it happens: ops with their tensors and attributes, the
 * launches that belong to them, signposts and steps. `devlog ops` stitches it with the device's data
 * (docs/op-reports.md).
 *
 * One log belongs to one run: to a program, and to all programs that write to its folder meanwhile or that
 * `devlog run` starts (docs/op-reports.md, "Several programs, several opens"). Devices are told of it when
 * they are opened (devlog_device_options.ops). Any number of threads may use it at once; ops nest per thread.
 * Every function takes NULL for the log and then does nothing, which is what "off" is. None of them fails:
 * events that could not be written are counted, and devlog_ops_close tells. A forked child may go on with its
 * parent's log: its ops have ids and a thread number of their own, and what its parent has open stays its
 * parent's to end. Times are nanoseconds of CLOCK_MONOTONIC. */
typedef struct devlog_ops devlog_ops;

/* All members but the size may be 0 or NULL. */
typedef struct devlog_ops_options {
    size_t size;            /* DEVLOG_OPS_OPTIONS() sets it */
    const char *log_folder; /* default $DEVLOG_LOG_FOLDER, else generated/profiler/logs; made when missing */
    devlog_switch profile;  /* AUTO: on when the environment has DEVLOG_OPS=1 or TT_METAL_DEVICE_PROFILER=1 */
    bool append;            /* belong to the run whose log is there, instead of beginning anew */
} devlog_ops_options;
#define DEVLOG_OPS_OPTIONS(...) DEVLOG_OPTIONS_(devlog_ops_options, __VA_ARGS__)

/* Opens profile_log_ops.jsonl in the folder. *out is NULL when op profiling is off. */
devlog_status devlog_ops_open(const devlog_ops_options *options, devlog_ops **out, devlog_error *err);

/* Ends the log and frees it, after every other thread has made its last call and the devices that know of it
 * are closed. DEVLOG_ERR_PARTIAL when events could not be written; the text counts them. NULL is allowed. */
devlog_status devlog_ops_close(devlog_ops *ops, devlog_error *err);

/* Path of the log, owned by it, and the id of this run, never 0; "" and 0 when off. */
const char *devlog_ops_log(const devlog_ops *ops);
uint64_t devlog_ops_run(const devlog_ops *ops);

typedef enum devlog_op_type {
    DEVLOG_OP_PYTHON_FALLBACK, /* written in Python, runs on the CPU */
    DEVLOG_OP_TT_DNN_CPU,      /* native, runs on the CPU */
    DEVLOG_OP_TT_DNN_DEVICE,   /* runs on the device */
} devlog_op_type;

typedef enum devlog_fidelity {
    DEVLOG_FIDELITY_NONE,
    DEVLOG_FIDELITY_LOFI,
    DEVLOG_FIDELITY_HIFI2,
    DEVLOG_FIDELITY_HIFI3,
    DEVLOG_FIDELITY_HIFI4,
} devlog_fidelity;

/* What is known of an op when it starts. Only the name is needed; texts are UTF-8 and copied. */
typedef struct devlog_op {
    const char *name;
    devlog_op_type type;
    devlog_fidelity fidelity;
    const char *strategy; /* how it is spread over cores, "MULTI_CORE" */
    uint32_t cores;       /* that it will use; 0: not known */
} devlog_op;

/* A tensor that an op reads or writes. Texts may be NULL. */
typedef struct devlog_tensor {
    uint64_t w, z, y, x;   /* shape as stored: batch, channels, height, width */
    uint64_t logical[4];   /* the same without padding; all 0: like w, z, y, x */
    const char *layout;    /* ROW_MAJOR, TILE, CHANNELS_LAST */
    const char *data_type; /* BFLOAT16, FLOAT32, UINT32, BFLOAT8_B, ... */
    const char *memory;    /* DEV_0_DRAM, DEV_0_L1, HOST */
} devlog_tensor;

/* Starts an op inside those that the calling thread has open, in this log or in another of the same run (a C library that a Python
 * program calls); in a process that was started inside of an op, that op is around all of its own. Returns its id, 1 or more, or 0 when
 * off. */
uint32_t devlog_op_start(devlog_ops *ops, const devlog_op *op);
/* Ends it. Another thread than that which started it may do so, and then the report says so. */
void devlog_op_end(devlog_ops *ops, uint32_t id);
/* The innermost op that the calling thread has open in this log; 0: none. */
uint32_t devlog_op_current(devlog_ops *ops);

/* In the following, id 0 means the innermost op of the calling thread, whichever log began it. */
void devlog_op_input(devlog_ops *ops, uint32_t id, const devlog_tensor *tensor);
void devlog_op_output(devlog_ops *ops, uint32_t id, const devlog_tensor *tensor);
/* Corrects what was said at the start; members that are 0 or NULL are left as they were. */
void devlog_op_set(devlog_ops *ops, uint32_t id, const devlog_op *op);
/* Appends to the attributes of an op: plain text, or a JSON object whose members become attributes. */
void devlog_op_append_meta_data(devlog_ops *ops, uint32_t id, const char *text);

/* A point in the run, named by a header and an optional message. */
void devlog_signpost(devlog_ops *ops, const char *header, const char *message);
/* The beginning of a step of the workload: a batch, a token, an iteration. */
void devlog_step(devlog_ops *ops, uint64_t number, const char *name);

/* ---- Clocks of ranks ------------------------------------------------------------------------------
 *
 * Ranks on several hosts have clocks that lie apart. What two of them see when something goes from one to the
 * other and back says how far, whatever carries it, to half of what the way took: `devlog ranks` works it out
 * (docs/fleet.md, "Clocks"). It is kept in the log folder of the rank that asks, in host_<pid>.devlog. Ask when
 * the program begins and when it ends, and in between as often as you like: between two times the clocks are
 * known less well. */

/* CLOCK_MONOTONIC, ns. */
uint64_t devlog_clock_now(void);

/* All of one exchange, ns of devlog_clock_now: sent and arrived of the rank that asks, received and answered
 * of the other. */
typedef struct devlog_clock_stamps {
    uint64_t sent, received, answered, arrived;
} devlog_clock_stamps;

/* All members but the size, the peer and the two functions may be 0 or NULL. */
typedef struct devlog_clock_options {
    size_t size;   /* DEVLOG_CLOCK_OPTIONS() sets it */
    uint32_t peer; /* the other's rank, as the launcher numbers it */
    bool answer;   /* this rank answers; the other asks, and keeps what both saw */
    /* Bring n bytes to the other, or n bytes that it sent here, in order; not 0: they could not. */
    int (*send)(void *context, const void *bytes, size_t n);
    int (*receive)(void *context, void *bytes, size_t n);
    void *context;
    uint32_t rounds;  /* of who asks: how often, 10,000 at most; 0: 10 */
    uint32_t most_ms; /* of who asks: no round begins later than that; 0: 100 */
    const char
        *log_folder; /* of who asks, unless zones of the host are recorded, which have a folder; default
                               $DEVLOG_LOG_FOLDER, else generated/profiler/logs; made when missing */
} devlog_clock_options;
#define DEVLOG_CLOCK_OPTIONS(...) DEVLOG_OPTIONS_(devlog_clock_options, __VA_ARGS__)

/* Exchanges some short messages with another rank, which calls it at the same time with `answer`: 16 bytes
 * there, 88 back. Of who asks *best, which may be NULL, is the exchange whose way was shortest.
 * DEVLOG_ERR_TRANSPORT: a function said that it could not; DEVLOG_ERR_FORMAT: what came is not of an exchange;
 * DEVLOG_ERR_ARGUMENT: another rank than `peer` answered, or an option cannot be; DEVLOG_ERR_IO: what both saw
 * could not be written. */
devlog_status devlog_clock_exchange(const devlog_clock_options *options, devlog_clock_stamps *best,
                                    devlog_error *err);

/* Keeps exchanges that the program made by itself. log_folder as above, or NULL. DEVLOG_ERR_ARGUMENT: one
 * cannot have been: times go backwards, or it was longer there than away from here; then none is kept. */
devlog_status devlog_clock_keep(const char *log_folder, uint32_t peer, const devlog_clock_stamps *stamps,
                                size_t n, devlog_error *err);

/* ---- Devices ------------------------------------------------------------------------------------- */

typedef struct devlog_device devlog_device;

/* Logical coordinates of a compute tile: (0, 0) is the top left of the grid. */
typedef struct devlog_core {
    uint32_t x, y;
} devlog_core;

/* A rectangle of cores, both corners included. */
typedef struct devlog_cores {
    uint32_t x0, y0, x1, y1;
} devlog_cores;

/* What a RISC does when its records are full. */
typedef enum devlog_recording {
    DEVLOG_RECORD_AUTO, /* as the device's options say, else $DEVLOG_RECORDING, else STOP */
    DEVLOG_RECORD_STOP, /* keeps the first records of a launch, counts the rest */
    DEVLOG_RECORD_RING, /* keeps the last records of a launch, counts those overwritten: a flight recorder */
    DEVLOG_RECORD_STREAM, /* flushes to DRAM while the kernel runs, and says how long that held it up */
} devlog_recording;

/* The form of profile_log_device.csv (docs/file-formats.md). */
typedef enum devlog_log_style {
    DEVLOG_STYLE_AUTO, /* as $DEVLOG_LOG_STYLE says, else L9 */
    DEVLOG_STYLE_L9,   /* as tt-metal writes it today */
    DEVLOG_STYLE_L2,   /* as in 2023 */
    DEVLOG_STYLE_L0,   /* as in 2023, without header lines */
} devlog_log_style;

/* Of which launches results can be asked for inside the program (devlog/results.h). */
typedef enum devlog_keep {
    DEVLOG_KEEP_NONE,
    DEVLOG_KEEP_LATEST, /* memory: the records of two launches */
    DEVLOG_KEEP_ALL,    /* memory grows by what the launches recorded, packed as in capture.devlog */
} devlog_keep;

#define DEVLOG_KEEP_VIOLATED 0xFFFFFFFFu

/* All members but the size may be 0 or NULL; text is copied. */
typedef struct devlog_device_options {
    size_t size;            /* DEVLOG_DEVICE_OPTIONS() sets it */
    const char *board;      /* name or path of a board file; default $DEVLOG_BOARD, else wormhole_b0 */
    const char *transport;  /* "sim", "qemu", .. or "NAME:PATH"; default: ttsim when $TT_METAL_SIMULATOR is
                               set,  else $DEVLOG_TRANSPORT, else the first that the board file lists */
    const char *path;       /* what the transport opens; the default is in a variable of its own */
    const char *log_folder; /* default $DEVLOG_LOG_FOLDER, else generated/profiler/logs; made when missing */
    const char *sim;        /* options of the built-in simulator, "name=value,..."; default $DEVLOG_SIM */
    devlog_switch profile;  /* compile with -DPROFILE_DEVICE, and pull after each launch; AUTO: on when the
                               environment has TT_METAL_DEVICE_PROFILER=1 */
    uint32_t timeout_ms;    /* wall time that a launch may take; default $DEVLOG_TIMEOUT_MS, else 20000 */
    uint32_t slot;          /* number of the device in logs ("PCIe slot") */
    bool attach;            /* only look at a device that runs or has run: nothing is started or stopped */
    devlog_ops *ops;        /* log of the run's ops, to which launches are written; must outlive the device */
    struct devlog_device *together; /* an open device that is simulated together with this one: their time
                                       passes at once, and a link joins them (docs/simulator.md) */
    devlog_recording recording;     /* devlog_set_recording says otherwise later */
    uint32_t stream_bytes;          /* for DEVLOG_RECORD_STREAM, as in devlog_set_recording */
    devlog_switch capture;      /* capture.devlog beside the CSV; AUTO: as $DEVLOG_CAPTURE says, else on */
    devlog_switch clock_sync;   /* compare the clocks of cores, chips and host while programs run
                                   (docs/time.md); AUTO: as $DEVLOG_CLOCK_SYNC says, else on */
    devlog_log_style log_style; /* AUTO: as $DEVLOG_LOG_STYLE says, else L9 */
    devlog_keep results;        /* for devlog_results_latest and devlog_results_all */
    const char *postmortem; /* file to which a launch that is not done in time, or whose chip stops, saves the
                               device's state (devlog_save_state); NULL: $DEVLOG_POSTMORTEM; "": none */
    /* Periodic capture (docs/library.md, "Periodic captures"); each: 0 is as $DEVLOG_CAPTURE_EVERY and its like say. */
    uint32_t
        capture_every; /* only every Nth launch is recorded, in folders of their own; unset: all, in one log */
    uint32_t capture_launches; /* of one capture; unset: 1, or what capture_ms gives */
    uint32_t capture_ms;       /* how long one goes on, unless that many launches end it before */
    uint32_t capture_most;     /* captures; unset: any number */
    uint32_t
        capture_keep; /* captures that stay; DEVLOG_KEEP_VIOLATED: only those in which something was not as expected;
                                  unset: all */
} devlog_device_options;
#define DEVLOG_DEVICE_OPTIONS(...) DEVLOG_OPTIONS_(devlog_device_options, __VA_ARGS__)

/* Opens a device and holds its cores in reset. Close with devlog_device_close. */
devlog_status devlog_device_open(const devlog_device_options *options, devlog_device **out,
                                 devlog_error *err);

/* Writes what is still to be written, compares the clocks once more, and closes, in any case. What of it
 * failed first is what the error says; after a launch that failed, that the clocks could not be compared is
 * no error. Programs of the device are freed before. NULL is allowed. */
devlog_status devlog_device_close(devlog_device *device, devlog_error *err);

/* Name of RISC number `index` of a core, as kernels are placed and as logs call it; number 0 is the manager.
 * NULL behind the last. */
const char *devlog_device_risc(const devlog_device *device, uint32_t index);

/* The grid of compute tiles. */
devlog_core devlog_device_grid(const devlog_device *device);
/* Name of the board, name of the transport, chip clock in MHz, start and size (bytes) of the L1 that programs
 * may use. Texts are owned by the device. */
const char *devlog_device_board(const devlog_device *device);
const char *devlog_device_transport(const devlog_device *device);
uint32_t devlog_device_mhz(const devlog_device *device);
uint32_t devlog_device_user_l1(const devlog_device *device, uint32_t *size);

/* True when this device is profiled (devlog_device_options.profile). */
bool devlog_device_profiles(const devlog_device *device);

/* Copies between host and L1 of a core (tt-metal: WriteToDevice, ReadFromDevice). `address` and `size` in
 * bytes. */
devlog_status devlog_write_to_device(devlog_device *device, devlog_core core, uint32_t address,
                                     const void *data, size_t size, devlog_error *err);
devlog_status devlog_read_from_device(devlog_device *device, devlog_core core, uint32_t address, void *data,
                                      size_t size, devlog_error *err);

/* The wall clock of a core in cycles since its reset, read without tearing. */
devlog_status devlog_wall_clock(devlog_device *device, devlog_core core, uint64_t *cycles, devlog_error *err);

/* ---- Buffers ------------------------------------------------------------------------------------------
 *
 * Memory of a device by name of who made it. A buffer is made of pages, which lie on banks in turn: page i on
 * bank i % n. Banks are the L1 of worker cores (all of them, or those that are named), or the memory tiles of
 * the DRAM. In every bank of a buffer its pages begin at the same address, one behind the other: page i at
 * address + i / n * stride. All are aligned to DEVLOG_BUFFER_ALIGN bytes, so that the NoC may move any page.
 *
 * L1 is given from the end of devlog_device_user_l1 downwards: what a program takes there by itself, without
 * buffers, belongs at its beginning. DRAM is given from address 0 upwards, as far as devlog_set_recording has
 * not taken the end of it. The first place that is large enough is taken.
 *
 * Every allocation and every free goes to the log of ops of the device, if it has one, with the op that is
 * open and the line of the program: `devlog memory` says who held what (docs/memory.md). Buffers belong to
 * their device, and are used by its thread. Those that still live when it is closed are gone with it, and
 * devlog_device_close says so on stderr: they are leaks. */

#define DEVLOG_BUFFER_ALIGN 64u

typedef enum devlog_memory { DEVLOG_MEMORY_L1, DEVLOG_MEMORY_DRAM } devlog_memory;

/* A buffer of a device; {0} is none. A copy is the same buffer. Ids are not used again, so that what is done
 * with one that was freed, or that is of another device, is an error. */
typedef struct devlog_buffer {
    uint64_t id;
} devlog_buffer;

/* All members but the size and `bytes` may be 0 or NULL; texts are copied. */
typedef struct devlog_buffer_options {
    size_t size;               /* DEVLOG_BUFFER_OPTIONS() sets it */
    uint64_t bytes;            /* of the whole buffer: 1 or more */
    uint64_t page_bytes;       /* 0: what makes one page for each bank */
    devlog_memory memory;      /* L1 unless told */
    const devlog_cores *cores; /* L1 only: rectangles of cores, which are the banks, row by row; NULL: all */
    uint32_t n_cores;          /* rectangles */
    const char *name;          /* what reports call it; NULL: no name */
} devlog_buffer_options;
#define DEVLOG_BUFFER_OPTIONS(...) DEVLOG_OPTIONS_(devlog_buffer_options, __VA_ARGS__)

/* Takes memory of the device; nothing is written to it. devlog_buffer_create(device, &options, &buffer, &err)
 * adds the line of the program that it stands in. DEVLOG_ERR_MEMORY when there is no room: the error says how
 * much is free, the largest block, and who holds the most. */
devlog_status devlog_buffer_create_at(const char *file, uint32_t line, devlog_device *device,
                                      const devlog_buffer_options *options, devlog_buffer *out,
                                      devlog_error *err);
#define devlog_buffer_create(...) devlog_buffer_create_at(__FILE__, __LINE__, __VA_ARGS__)

/* Gives it back: devlog_buffer_free(device, buffer, &err). None is allowed. DEVLOG_ERR_ARGUMENT when it was
 * freed before (the error says where), or is none of this device's. */
devlog_status devlog_buffer_free_at(const char *file, uint32_t line, devlog_device *device,
                                    devlog_buffer buffer, devlog_error *err);
#define devlog_buffer_free(...) devlog_buffer_free_at(__FILE__, __LINE__, __VA_ARGS__)

typedef struct devlog_buffer_facts {
    devlog_memory memory;
    uint64_t bytes, page_bytes, pages; /* the last page may be shorter */
    uint64_t stride;                   /* from a page to the next one of its bank */
    uint64_t address;                  /* of the first page in every bank */
    uint64_t bank_bytes;               /* taken in each bank */
    uint32_t banks;                    /* that hold pages: no more than there are pages */
} devlog_buffer_facts;

/* Where a buffer that lives is and how large. DEVLOG_ERR_ARGUMENT when it was freed, or is another device's. */
devlog_status devlog_buffer_info(const devlog_device *device, devlog_buffer buffer, devlog_buffer_facts *out,
                                 devlog_error *err);

/* Where a page is. */
typedef struct devlog_page {
    uint64_t address;
    uint64_t bytes;
    uint32_t bank;         /* 0, 1, ... of all cores row by row, or of the board's DRAM tiles in order */
    devlog_core core;      /* of L1 */
    uint32_t noc_x, noc_y; /* coordinates of the tile on NoC 0 */
    int32_t noc;           /* the NoC, 0 or 1, by which alone it may be reached; -1: both */
} devlog_page;

/* Page `page`, from 0, of a buffer that lives. DEVLOG_ERR_ARGUMENT when it has no such page. */
devlog_status devlog_buffer_page(const devlog_device *device, devlog_buffer buffer, uint64_t page,
                                 devlog_page *out, devlog_error *err);

/* Copies between host and buffer, page by page, `offset` and `size` in bytes: counted as WriteToDevice and
 * ReadFromDevice. DEVLOG_ERR_ARGUMENT, and nothing is copied, when that goes beyond its end. */
devlog_status devlog_buffer_write(devlog_device *device, devlog_buffer buffer, uint64_t offset,
                                  const void *data, size_t size, devlog_error *err);
devlog_status devlog_buffer_read(devlog_device *device, devlog_buffer buffer, uint64_t offset, void *data,
                                 size_t size, devlog_error *err);

/* What buffers hold at this moment; in bytes of all banks together unless it says otherwise. */
typedef struct devlog_memory_facts {
    uint64_t banks;         /* 0: the device has no such memory */
    uint64_t bank_bytes;    /* that buffers may have of each */
    uint64_t used, peak;    /* peak: the most since the device was opened */
    uint64_t free;          /* banks * bank_bytes - used */
    uint64_t largest_block; /* per bank: the largest range of addresses that is free in all of them */
    uint64_t buffers;       /* that live */
} devlog_memory_facts;

/* Of one kind of memory of the device. */
devlog_status devlog_memory_info(const devlog_device *device, devlog_memory memory, devlog_memory_facts *out,
                                 devlog_error *err);

/* ---- Programs -------------------------------------------------------------------------------------- */

typedef struct devlog_program devlog_program;
typedef struct devlog_kernel devlog_kernel; /* owned by its program */

/* One kernel on one RISC of a rectangle of cores. */
typedef struct devlog_kernel_options {
    size_t size;        /* DEVLOG_KERNEL_OPTIONS() sets it */
    const char *source; /* C or C++ file with kernel_main, or an object file */
    const char *risc;   /* name of the RISC, as the board calls it: BRISC, NCRISC, TRISC0.. */
    devlog_cores cores;
    const char *flags; /* further compiler flags, separated by blanks; may be NULL */
} devlog_kernel_options;
#define DEVLOG_KERNEL_OPTIONS(...) DEVLOG_OPTIONS_(devlog_kernel_options, __VA_ARGS__)

/* An empty program for a device. It is freed before the device is closed, and with it its kernels. */
devlog_status devlog_program_create(devlog_device *device, devlog_program **out, devlog_error *err);
void devlog_program_free(devlog_program *program);

/* Adds a kernel. Two kernels of a program must not meet on the same RISC of a core. */
devlog_status devlog_program_add_kernel(devlog_program *program, const devlog_kernel_options *options,
                                        devlog_kernel **out, devlog_error *err);

/* Sets up to 64 arguments of a kernel on one core; devlog_arg(i) reads them on the device. */
devlog_status devlog_kernel_set_args(devlog_kernel *kernel, devlog_core core, const uint32_t *args,
                                     uint32_t count, devlog_error *err);

/* Compiles what is not in the cache yet. The key of the cache is the content: sources with all that they
 * include, object files, flags, linker script and compiler. What the compiler warns of is written to stderr,
 * once per device. A kernel that is larger than its slot gets the slots beside it that no kernel of the
 * program uses. */
devlog_status devlog_compile_program(devlog_program *program, devlog_error *err);

/* Starts the firmware of cores that have not run yet and writes the kernels and their arguments to L1. */
devlog_status devlog_configure_device_with_program(devlog_device *device, devlog_program *program,
                                                   devlog_error *err);

/* Launches the configured program, waits until every core is done, and, when the device is profiled, pulls
 * the records of every core that ran and writes them to the log. DEVLOG_ERR_TIMEOUT names the cores and RISCs
 * that still run; their records are pulled all the same. */
devlog_status devlog_launch_program(devlog_device *device, devlog_program *program, devlog_error *err);

/* Saves what is needed to see later where every RISC is and which zones are open: 'devlog dump FILE' shows
 * it. For a program that was not done in time; a launch does it by itself when
 * devlog_device_options.postmortem names a file. */
devlog_status devlog_save_state(devlog_device *device, const char *path, devlog_error *err);

/* ---- Recording ---
 * DEVLOG_ERR_STATE on a device that is only looked at (devlog_device_options.attach). */

/* What RISCs do when their records are full, from the next launch on. `stream_bytes`: DRAM per RISC for
 * STREAM, rounded up to 32; 0: 16 MiB. It is taken from the end of the DRAM. DEVLOG_ERR_UNSUPPORTED when the
 * board has no DRAM or not enough. */
devlog_status devlog_set_recording(devlog_device *device, devlog_recording recording, uint32_t stream_bytes,
                                   devlog_error *err);

/* Switches classes of markers (DEVLOG_CLASS in devlog/profile.h): bit i of the mask is class i. From the next
 * launch on; no new build: the code of a marker that is off begins with a jump over it. Default: all on. */
devlog_status devlog_set_classes(devlog_device *device, uint32_t mask, devlog_error *err);

/* Freezes the records of every RISC that is up (a trigger for the flight recorder), or lets them go on. A
 * frozen RISC counts its markers as dropped; the default markers go on. Takes effect at once for launches
 * that begin later, and for a running kernel when its segment is full. */
devlog_status devlog_freeze(devlog_device *device, bool frozen, devlog_error *err);

/* ---- Expectations ---
 * What kernels expect of their markers (DEVLOG_EXPECT_CYCLES and its like in devlog/profile.h) is held against the records of each
 * launch when they have been pulled. What is not so is in the logs of the launch, which `devlog decode` and `report` say with exit
 * status 3. While recording is DEVLOG_RECORD_RING, the records are frozen as by devlog_freeze: they hold what led there. */

typedef enum devlog_expectation {
    DEVLOG_EXPECTATION_CYCLES = 1, /* of each pass of a zone */
    DEVLOG_EXPECTATION_COUNT,      /* of a marker in a launch */
    DEVLOG_EXPECTATION_VALUE,      /* each value */
    DEVLOG_EXPECTATION_ORDER,      /* one marker before each of another */
} devlog_expectation;

/* One expectation that one RISC did not meet in a launch. Texts are valid during the call. */
typedef struct devlog_violation {
    uint32_t chip; /* devlog_device_options.slot */
    devlog_core core;
    const char *risc;
    uint64_t launch; /* its number on the device: 1, 2, ... */
    devlog_expectation expectation;
    const char *name, *other; /* of the markers; other is NULL unless it is of their order */
    uint64_t low, high;       /* what is expected, both included */
    uint64_t worst; /* what was farthest outside; of an order: the how manieth of the others came too soon */
    uint64_t times; /* how often it was not so */
    const char *file; /* where it stands */
    uint32_t line;
    const char *text; /* "mul: 100 to 200 cycles" */
} devlog_violation;

/* Is called by devlog_launch_program, in the thread that called it, after the records have been written. It may call everything
 * but what closes the device or frees the program. */
typedef void (*devlog_violated)(void *context, devlog_device *device, const devlog_violation *violation);

/* Sets the function; NULL: none. */
devlog_status devlog_on_violation(devlog_device *device, devlog_violated function, void *context,
                                  devlog_error *err);

/* ---- Profiling --------------------------------------------------------------------------------------- */

/* Pulls and writes the records of the cores that ran last. devlog_launch_program does it by itself. */
devlog_status devlog_dump_device_profile_results(devlog_device *device, devlog_error *err);

/* Moves the log to another folder (made when missing); later launches are written there. */
devlog_status devlog_set_profiler_location(devlog_device *device, const char *folder, devlog_error *err);

/* Path of profile_log_device.csv; owned by the device. */
const char *devlog_profiler_log(const devlog_device *device);

/* The functions whose calls and times are counted, by the names of tt-metal. */
typedef enum devlog_api {
    DEVLOG_API_COMPILE_PROGRAM,
    DEVLOG_API_CONFIGURE_DEVICE_WITH_PROGRAM,
    DEVLOG_API_LAUNCH_PROGRAM,
    DEVLOG_API_READ_FROM_DEVICE,
    DEVLOG_API_WRITE_TO_DEVICE,
    DEVLOG_API_DUMP_DEVICE_PROFILE_RESULTS,
    DEVLOG_API_COUNT,
} devlog_api;

typedef struct devlog_api_stats {
    uint64_t calls;
    uint64_t total_ns; /* wall time inside the calls */
} devlog_api_stats;

/* Its name ("LaunchProgram"), or "", in static storage; and its calls on this device so far. */
const char *devlog_api_name(devlog_api api);
devlog_api_stats devlog_device_api_stats(const devlog_device *device, devlog_api api);

#pragma GCC visibility pop
#ifdef __cplusplus
} /* extern "C" */

namespace devlog {
/* An op for as long as the object lives. */
class scoped_op {
  public:
    scoped_op(devlog_ops *ops, const devlog_op &op) : ops_(ops), id_(devlog_op_start(ops, &op)) {}
    scoped_op(devlog_ops *ops, const char *name, devlog_op_type type = DEVLOG_OP_TT_DNN_DEVICE)
        : ops_(ops), id_(0)
    {
        devlog_op op = devlog_op();
        op.name = name;
        op.type = type;
        id_ = devlog_op_start(ops, &op);
    }
    ~scoped_op()
    {
        devlog_op_end(ops_, id_);
    }
    scoped_op(const scoped_op &) = delete;
    scoped_op &operator=(const scoped_op &) = delete;
    uint32_t id() const
    {
        return id_;
    }
    void input(const devlog_tensor &t)
    {
        devlog_op_input(ops_, id_, &t);
    }
    void output(const devlog_tensor &t)
    {
        devlog_op_output(ops_, id_, &t);
    }
    void append_meta_data(const char *text)
    {
        devlog_op_append_meta_data(ops_, id_, text);
    }

  private:
    devlog_ops *ops_;
    uint32_t id_;
};
} /* namespace devlog */
#endif

#endif
