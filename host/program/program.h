/* Programs inside the host library: kernels on cores, compiled, configured, launched. */
#ifndef DEVLOG_PROGRAM_PROGRAM_H
#define DEVLOG_PROGRAM_PROGRAM_H

#include "base/elf.h"
#include "device/device.h"
#include "devlog/record.h"
#include "program/compile.h"

struct devlog_kernel {
    devlog_program *program;
    char *source, *flags;
    uint32_t risc;
    devlog_cores cores;
    uint32_t n_args;                   /* the largest number of arguments set for a core */
    uint32_t (*args)[DEVLOG_MAX_ARGS]; /* one row per core of the rectangle, row by row */
    char path[COMPILE_PATH];           /* of the ELF file, when compiled */
    dl_elf elf;
    bool writes_cursor; /* it has instructions that write tp, outside of markers */
    struct devlog_kernel *next;
};

struct devlog_program {
    devlog_device *device;
    devlog_kernel *kernels, **last;
    devlog_cores bounds; /* the smallest rectangle that holds every kernel */
    bool compiled, configured;
    uint32_t number;            /* in the log of ops; 0: not there, or changed since */
    uint32_t uses;              /* launches under this number */
    uint32_t classes;           /* that the kernels in L1 have on */
    devlog_recording recording; /* for which their records are sized */
    uint32_t recording_version; /* of which the cores have been told; 0: none */
};

/* True when the core runs a kernel of the program. */
bool program_uses(const devlog_program *program, devlog_core core);

/* True when a kernel, or one of the program, records in the event stream of its tile. */
bool kernel_streams_events(const devlog_kernel *k);
bool program_streams_events(const devlog_program *program);

/* The kernel on a RISC of a core, or NULL. */
const devlog_kernel *program_kernel_at(const devlog_program *program, devlog_core core, uint32_t risc);

/* The RISC whose kernel on the core a return address is in, or BOARD_MAX_RISCS: nobody's. */
uint32_t program_risc_of(const devlog_program *program, devlog_core core, uint32_t address);

/* Calls fn for every core that runs a kernel, row by row; stops at the first failure. */
typedef devlog_status program_core_fn(void *context, devlog_core core, devlog_error *err);
devlog_status program_each_core(const devlog_program *program, program_core_fn *fn, void *context,
                                devlog_error *err);

/* The four steps behind the public functions, without counting and without profiling. */
devlog_status program_compile(devlog_program *program, devlog_error *err);
devlog_status program_configure(devlog_device *device, devlog_program *program, devlog_error *err);
devlog_status program_boot(devlog_device *device, devlog_program *program, devlog_error *err);
devlog_status program_launch(devlog_device *device, devlog_program *program, devlog_error *err);

/* Switches the markers of every kernel to the classes and the recording mode of the device, in the host's
 * copy and, when the program has been configured, in L1. */
devlog_status program_switch_markers(devlog_device *device, devlog_program *program, devlog_error *err);

/* Bytes of every record of the kernel but those of sums, when they are of one size then; otherwise 0. */
uint32_t program_record_bytes(const devlog_kernel *k, devlog_recording recording);

/* What still runs on the cores of a program, for the message of a time-out: one clause per core. */
void program_describe_running(devlog_device *device, const devlog_program *program, char *text, size_t size);

#endif
