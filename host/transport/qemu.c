/* Transport "qemu": one tile in qemu-system-riscv32 -M virt, an executor that is not ours. Its RAM is a file
 * that this process maps too; registers outside of it and the pc of a hart come from its monitor (qmp.c).
 *
 *     DIR/ram     the RAM; DIR is $DEVLOG_QEMU_DIR, else a folder of its own that is removed when the device
 * closes DIR/qmp     a monitor for whoever attaches while the program runs ("qemu:DIR") DIR/log     what QEMU
 * prints
 *
 * All harts begin at the start of the RAM, where a few instructions of ours hold each until its bit in the
 * board's soft-reset word is clear. QEMU cannot put a hart back into reset, so setting a bit that was clear
 * ends the process; the next release starts another one on the same RAM.
 * Source: QEMU 7.2 docs/system/riscv/virt.rst (-bios none), hw/riscv/virt.c (memory map). */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/file.h"
#include "base/settings.h"
#include "transport/qmp.h"
#include "transport/transport.h"

enum {
    TAIL = 4 << 20,   /* RAM behind the board's: QEMU writes its device tree near the end */
    LOOK_NS = 100000, /* between two looks at a mailbox, so that the harts get the processor */
    SLOT = 0x40,      /* of the boot memory: where the table of harts begins */
    PATH = 3072,
};

typedef struct qemu_transport {
    char folder[PATH - 64];
    bool own_folder, attached;
    int fd;       /* of the RAM; locked while it is used */
    uint8_t *ram; /* mapped */
    size_t ram_size;
    dl_memory board_ram, boot;
    uint32_t soft_reset, soft_reset_mask;
    uint32_t n_harts;
    pid_t pid; /* 0: does not run */
    qmp monitor;
} qemu_transport;

static const char *program(void)
{
    const char *name = dl_setting_text(DL_SET_QEMU);
    return name ? name : "qemu-system-riscv32";
}

/* ---- The boot memory ----------------------------------------------------------------------------- */

/* Hart h waits until (soft reset & mask[h]) is 0 and jumps to its reset pc. */
static const uint32_t boot_code[] = {
    0xF14022F3, /*    csrr  t0, mhartid      */
    0x00000317, /*    auipc t1, 0            */
    0x00329393, /*    slli  t2, t0, 3        */
    0x00730333, /*    add   t1, t1, t2       */
    0x04432383, /*    lw    t2, 0x44(t1)     mask: SLOT + 8 * h + 8, seen from the auipc at 4 */
    0x04832E03, /*    lw    t3, 0x48(t1)     reset pc */
    0x00000E97, /*    auipc t4, 0            */
    0x028EAE83, /*    lw    t4, 0x28(t4)     address of the soft-reset word: at SLOT, seen from 0x18 */
    0x000EAF03, /* 1: lw    t5, 0(t4)        */
    0x007F7F33, /*    and   t5, t5, t2       */
    0xFE0F1CE3, /*    bnez  t5, 1b           */
    0x0000100F, /*    fence.i                */
    0x000E0067, /*    jr    t3               */
};

static void write_boot(qemu_transport *q, const dl_transport_setup *setup)
{
    uint32_t table[2 + 2 * DL_MAX_HARTS] = {setup->soft_reset};
    for (uint32_t i = 0; i < setup->n_harts; i++) {
        table[2 + 2 * i] = 1u << setup->harts[i].reset_bit;
        table[3 + 2 * i] = setup->harts[i].reset_pc;
    }
    memcpy(q->ram, boot_code, sizeof boot_code);
    memcpy(q->ram + SLOT, table, sizeof table);
}

/* ---- The process --------------------------------------------------------------------------------- */

static devlog_status cannot_run(int errnum, devlog_error *err)
{
    if (errnum == ENOENT)
        return dl_fail(err, DEVLOG_ERR_NOT_FOUND,
                       "cannot run %s: install the Debian package qemu-system-misc, or set DEVLOG_QEMU",
                       program());
    return dl_fail_errno(err, errnum, "cannot run %s", program());
}

/* The last line that QEMU printed, for messages. */
static void last_words(const qemu_transport *q, char *text, size_t size)
{
    char path[PATH];
    dl_str log = {0};
    snprintf(path, sizeof path, "%s/log", q->folder);
    snprintf(text, size, "it said nothing");
    if (dl_file_read(path, 1 << 20, &log, NULL) == DEVLOG_OK && log.len) {
        while (log.len && log.text[log.len - 1] == '\n')
            log.text[--log.len] = 0;
        const char *line = strrchr(log.text, '\n');
        snprintf(text, size, "%s", line ? line + 1 : log.text);
    }
    dl_str_free(&log);
}

static void in_child(const qemu_transport *q, pid_t parent, char *const *argv, int report)
{
    char path[PATH];
    snprintf(path, sizeof path, "%s/log", q->folder);
    int log = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600), null = open("/dev/null", O_RDONLY);
    if (log >= 0) dup2(log, 1), dup2(log, 2);
    if (null >= 0) dup2(null, 0);
    /* It must not outlive the host, however that ends. */
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() == parent) execvp(argv[0], argv);
    int errnum = errno;
    if (write(report, &errnum, sizeof errnum) < 0) _exit(126);
    _exit(127);
}

static devlog_status start_process(qemu_transport *q, devlog_error *err)
{
    char object[PATH + 128], memory[32], harts[16], own[PATH], guests[PATH];
    snprintf(object, sizeof object, "memory-backend-file,id=ram0,size=%zu,mem-path=%s/ram,share=on",
             q->ram_size, q->folder);
    snprintf(memory, sizeof memory, "%zuK", q->ram_size >> 10);
    snprintf(harts, sizeof harts, "%u", q->n_harts);
    snprintf(own, sizeof own, "unix:%s/own,server=on,wait=off", q->folder);
    snprintf(guests, sizeof guests, "unix:%s/qmp,server=on,wait=off", q->folder);
    char *const argv[] = {(char *)program(),
                          "-M",
                          "virt,memory-backend=ram0",
                          "-accel",
                          "tcg,thread=multi",
                          "-smp",
                          harts,
                          "-m",
                          memory,
                          "-object",
                          object,
                          "-bios",
                          "none",
                          "-nodefaults",
                          "-display",
                          "none",
                          "-qmp",
                          own,
                          "-qmp",
                          guests,
                          NULL};
    int report[2], errnum = 0;
    if (pipe2(report, O_CLOEXEC) != 0) return dl_fail_errno(err, errno, "cannot start %s", program());
    pid_t parent = getpid(), pid = fork();
    if (pid == 0) in_child(q, parent, argv, report[1]);
    int failed = pid < 0 ? errno : 0;
    close(report[1]);
    ssize_t n = read(report[0], &errnum, sizeof errnum);
    close(report[0]);
    if (failed) return dl_fail_errno(err, failed, "cannot start %s", program());
    q->pid = pid;
    if (n != sizeof errnum) return DEVLOG_OK;
    waitpid(pid, NULL, 0);
    q->pid = 0;
    return cannot_run(errnum, err);
}

static void end_process(qemu_transport *q)
{
    qmp_close(&q->monitor);
    if (q->pid <= 0) return;
    kill(q->pid, SIGKILL);
    waitpid(q->pid, NULL, 0);
    q->pid = 0;
}

/* A process that ended by itself will never answer. */
static devlog_status check_process(qemu_transport *q, devlog_error *err)
{
    const pid_t ended = q->pid > 0 ? waitpid(q->pid, NULL, WNOHANG) : 0;
    /* Who ignores SIGCHLD, and a forked child, cannot wait for it: whether it is there is known all the same. */
    if (ended == 0 || (ended < 0 && kill(q->pid, 0) == 0)) return DEVLOG_OK;
    char text[256];
    last_words(q, text, sizeof text);
    q->pid = 0;
    return dl_fail(err, DEVLOG_ERR_TRANSPORT, "%s ended: %s", program(), text);
}

/* ---- Folders ------------------------------------------------------------------------------------- */

static const char *temporary(void)
{
    static const char shm[] = "/dev/shm"; /* memory, so that nothing is written to a disk */
    const char *folder = dl_setting_text(DL_SET_TMPDIR);
    if (access(shm, W_OK | X_OK) == 0) return shm;
    return folder ? folder : "/tmp";
}

static void remove_folder(const char *folder)
{
    static const char *const files[] = {"ram", "qmp", "own", "log"};
    char path[PATH];
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        unlink(path);
    }
    rmdir(folder);
}

static int is_folder_of_ours(const struct dirent *entry)
{
    return strncmp(entry->d_name, "devlog-qemu-", 12) == 0;
}

/* Folders that are left from programs that were killed, when `remove` is set; else finds the one folder that
 * is there. Returns how many there are. */
static int look_for_folders(bool remove, char *found, size_t size)
{
    struct dirent **entries = NULL;
    int n = scandir(temporary(), &entries, is_folder_of_ours, alphasort), mine = 0;
    for (int i = 0; i < n; i++) {
        char path[PATH];
        struct stat st;
        snprintf(path, sizeof path, "%s/%s", temporary(), entries[i]->d_name);
        bool owned = lstat(path, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == getuid();
        pid_t pid = (pid_t)strtol(entries[i]->d_name + 12, NULL, 10);
        if (owned && remove && pid > 0 && kill(pid, 0) != 0 && errno == ESRCH) remove_folder(path);
        if (owned && !remove && ++mine == 1) snprintf(found, size, "%s", path);
        free(entries[i]);
    }
    free(entries);
    return mine;
}

static devlog_status choose_folder(qemu_transport *q, const dl_transport_setup *setup, devlog_error *err)
{
    char path[PATH - 64];
    if (setup->path) {
        if (strlen(setup->path) >= sizeof q->folder || strpbrk(setup->path, ","))
            return dl_fail(err, DEVLOG_ERR_ARGUMENT, "the path %.200s cannot be used for QEMU: %s",
                           setup->path, strpbrk(setup->path, ",") ? "it has a comma" : "it is too long");
        snprintf(q->folder, sizeof q->folder, "%s", setup->path);
        return q->attached ? DEVLOG_OK : dl_folder_make(q->folder, err);
    }
    if (q->attached) {
        int n = look_for_folders(false, q->folder, sizeof q->folder);
        if (n == 1) return DEVLOG_OK;
        return dl_fail(
            err, DEVLOG_ERR_NOT_FOUND,
            n ? "several programs use QEMU: say which with qemu:DIR; see %s/devlog-qemu-*"
              : "no program uses QEMU, and none was killed while it did: there is no %s/devlog-qemu-*",
            temporary());
    }
    look_for_folders(true, NULL, 0);
    snprintf(path, sizeof path, "%s/devlog-qemu-%ld-XXXXXX", temporary(), (long)getpid());
    if (!mkdtemp(path)) return dl_fail_errno(err, errno, "cannot make a folder in %s", temporary());
    snprintf(q->folder, sizeof q->folder, "%s", path);
    q->own_folder = true;
    return DEVLOG_OK;
}

/* ---- Opening ------------------------------------------------------------------------------------- */

static void qemu_close(dl_transport *t)
{
    qemu_transport *q = t->state;
    end_process(q);
    if (q->ram) munmap(q->ram, q->ram_size);
    if (q->fd >= 0) close(q->fd);
    if (q->own_folder) remove_folder(q->folder);
    free(q);
}

static devlog_status map_ram(qemu_transport *q, devlog_error *err)
{
    char path[PATH];
    struct stat st;
    snprintf(path, sizeof path, "%s/ram", q->folder);
    int fd = q->fd = open(path, (q->attached ? O_RDONLY : O_RDWR | O_CREAT) | O_CLOEXEC, 0600);
    if (fd < 0) return dl_fail_errno(err, errno, "cannot open the RAM of QEMU, %s", path);
    devlog_status status = DEVLOG_OK;
    if (!q->attached && flock(fd, LOCK_EX | LOCK_NB) != 0)
        status = dl_fail(err, DEVLOG_ERR_STATE, "another program uses %s: name another folder for this one",
                         q->folder);
    else if (!q->attached && (ftruncate(fd, 0) != 0 || ftruncate(fd, (off_t)q->ram_size) != 0))
        status = dl_fail_errno(err, errno, "cannot make the RAM of QEMU, %s", path);
    else if (fstat(fd, &st) != 0 || (uint64_t)st.st_size != q->ram_size)
        status = dl_fail(err, DEVLOG_ERR_FORMAT, "%s is not the RAM of this board: it should have %zu bytes",
                         path, q->ram_size);
    if (status == DEVLOG_OK) {
        void *at =
            mmap(NULL, q->ram_size, q->attached ? PROT_READ : PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (at == MAP_FAILED)
            status = dl_fail_errno(err, errno, "cannot map the RAM of QEMU, %s", path);
        else
            q->ram = at;
    }
    return status;
}

/* Whether execvp would find it, so that a missing program is said before anything is done. */
static bool installed(void)
{
    if (strchr(program(), '/')) return access(program(), X_OK) == 0;
    const char *path = dl_setting_text(DL_SET_PATH);
    for (const char *at = path ? path : ""; *at;) {
        char file[PATH];
        size_t n = strcspn(at, ":");
        snprintf(file, sizeof file, "%.*s/%s", (int)n, at, program());
        if (access(file, X_OK) == 0) return true;
        at += n + (at[n] == ':');
    }
    return false;
}

static devlog_status check_setup(const dl_transport_setup *setup, devlog_error *err)
{
    const char *wrong = NULL;
    uint64_t end = (uint64_t)setup->boot.base + setup->boot.size;
    if (setup->n_rams != 1)
        wrong = "one RAM";
    else if (setup->boot.size < 0x100 || setup->boot.base != setup->rams[0].base)
        wrong = "a region \"boot\" of at least 256 bytes at the start of the RAM";
    else if (setup->soft_reset < setup->boot.base + 0xC0 || setup->soft_reset + UINT64_C(4) > end ||
             setup->soft_reset % 4)
        wrong = "the register \"soft_reset\" in its region \"boot\", behind the first 192 bytes";
    for (uint32_t i = 0; i < setup->n_harts && !wrong; i++)
        if (setup->harts[i].reset_bit < 0 || setup->harts[i].reset_bit > 31)
            wrong = "a reset bit for every RISC";
    if (!wrong) return DEVLOG_OK;
    return dl_fail(err, DEVLOG_ERR_FORMAT, "transport 'qemu' needs a board file with %s (docs/porting.md)",
                   wrong);
}

static devlog_status qemu_open(dl_transport *t, const dl_transport_setup *setup, devlog_error *err)
{
    devlog_status status = check_setup(setup, err);
    if (status != DEVLOG_OK) return status;
    if (!setup->attach && !installed()) return cannot_run(ENOENT, err);
    qemu_transport *q = calloc(1, sizeof *q);
    if (!q) return dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for the transport");
    t->state = q;
    qmp_init(&q->monitor);
    q->fd = -1;
    q->attached = setup->attach;
    q->board_ram = setup->rams[0];
    q->boot = setup->boot;
    q->soft_reset = setup->soft_reset;
    q->soft_reset_mask = setup->soft_reset_mask;
    q->n_harts = setup->n_harts;
    q->ram_size = (size_t)setup->rams[0].size + TAIL;
    status = choose_folder(q, setup, err);
    if (status == DEVLOG_OK) status = map_ram(q, err);
    if (status != DEVLOG_OK) {
        qemu_close(t);
        return status;
    }
    if (q->attached) return DEVLOG_OK;
    write_boot(q, setup);
    memcpy(q->ram + (q->soft_reset - q->board_ram.base), &q->soft_reset_mask, 4);
    return DEVLOG_OK;
}

/* ---- Access -------------------------------------------------------------------------------------- */

/* Words, not bytes: a hart must not see half of one. */
static void copy_words(volatile uint8_t *to, const volatile uint8_t *from, size_t size)
{
    if (((uintptr_t)to | (uintptr_t)from | size) & 3) {
        for (size_t i = 0; i < size; i++)
            to[i] = from[i];
    } else {
        for (size_t i = 0; i < size; i += 4)
            *(volatile uint32_t *)(to + i) = *(const volatile uint32_t *)(from + i);
    }
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

static uint8_t *in_ram(const qemu_transport *q, uint64_t addr, size_t size)
{
    uint64_t offset = addr - q->board_ram.base;
    return addr >= q->board_ram.base && offset <= q->board_ram.size && size <= q->board_ram.size - offset
               ? q->ram + offset
               : NULL;
}

static devlog_status use_monitor(qemu_transport *q, devlog_error *err)
{
    char path[PATH];
    if (!q->attached && q->pid <= 0) return dl_fail(err, DEVLOG_ERR_STATE, "QEMU does not run yet");
    snprintf(path, sizeof path, "%s/%s", q->folder, q->attached ? "qmp" : "own");
    return qmp_open(&q->monitor, path, err);
}

static devlog_status qemu_read(dl_transport *t, dl_target at, uint64_t addr, void *dst, size_t size,
                               devlog_error *err)
{
    (void)at;
    qemu_transport *q = t->state;
    const uint8_t *from = in_ram(q, addr, size);
    if (from) {
        copy_words(dst, from, size);
        return DEVLOG_OK;
    }
    if (size != 4 || addr % 4 || addr > UINT32_MAX)
        return dl_fail(err, DEVLOG_ERR_ARGUMENT, "%zu bytes at 0x%llx are neither RAM nor a register", size,
                       (unsigned long long)addr);
    uint32_t value;
    devlog_status status = use_monitor(q, err);
    if (status == DEVLOG_OK) status = qmp_read_word(&q->monitor, (uint32_t)addr, &value, err);
    if (status == DEVLOG_OK) memcpy(dst, &value, 4);
    return status;
}

static devlog_status write_soft_reset(qemu_transport *q, uint32_t value, devlog_error *err)
{
    uint8_t *word = q->ram + (q->soft_reset - q->board_ram.base);
    uint32_t before;
    memcpy(&before, word, 4);
    if (value & ~before & q->soft_reset_mask) end_process(q);
    copy_words(word, (const uint8_t *)&value, 4);
    bool releases = (value & q->soft_reset_mask) != q->soft_reset_mask;
    return releases && q->pid <= 0 ? start_process(q, err) : DEVLOG_OK;
}

static devlog_status qemu_write(dl_transport *t, dl_target at, uint64_t addr, const void *src, size_t size,
                                devlog_error *err)
{
    (void)at;
    qemu_transport *q = t->state;
    uint8_t *to = in_ram(q, addr, size);
    uint32_t value;
    if (q->attached)
        return dl_fail(err, DEVLOG_ERR_STATE, "a device that is only looked at cannot be written");
    if (!to)
        return dl_fail(err, DEVLOG_ERR_UNSUPPORTED,
                       "%zu bytes at 0x%llx cannot be written: not in the RAM of QEMU", size,
                       (unsigned long long)addr);
    if (addr == q->soft_reset && size == 4) {
        memcpy(&value, src, 4);
        return write_soft_reset(q, value, err);
    }
    copy_words(to, src, size);
    return DEVLOG_OK;
}

static devlog_status qemu_advance(dl_transport *t, uint32_t cycles, devlog_error *err)
{
    (void)cycles;
    qemu_transport *q = t->state;
    devlog_status status = check_process(q, err);
    if (status == DEVLOG_OK) nanosleep(&(struct timespec){.tv_nsec = LOOK_NS}, NULL);
    return status;
}

static bool qemu_hart_pc(dl_transport *t, dl_target at, uint32_t hart, uint32_t *pc)
{
    (void)at;
    qemu_transport *q = t->state;
    return use_monitor(q, NULL) == DEVLOG_OK && qmp_hart_pc(&q->monitor, hart, pc, NULL) == DEVLOG_OK;
}

const dl_transport_ops dl_transport_ops_qemu = {
    .name = "qemu",
    .summary = "qemu-system-riscv32 with its RAM shared; qemu:DIR names the folder of RAM and monitor",
    .path_setting = DL_SET_QEMU_DIR,
    .open = qemu_open,
    .close = qemu_close,
    .read = qemu_read,
    .write = qemu_write,
    .advance = qemu_advance,
    .hart_pc = qemu_hart_pc,
};
