/* A libttsim.so in a process of its own: see the header. Requests go through a pair of sockets, one at a time.
 *
 * A fault is the library's end of its process (exit, _Exit, abort, a signal). The kernel is told to raise SIGSYS instead (seccomp),
 * and the handler goes on answering, so that a post-mortem can be taken from the chip as it stood. */
#include "transport/ttsim_child.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "transport/ttsim_abi.h"

enum {
    MOST_CYCLES = 1 << 14, /* in one request */
    MOST_CPU_S = 60,       /* for one request: a thousand times what a chip with all cores busy needs */
    LOOK_MS = 1000,
    SAY_AFTER_LOOKS = 30,
};

typedef enum what { CONFIG, READ, WRITE, CLOCK } what;

typedef struct request {
    uint32_t what, size; /* CONFIG: offset; CLOCK: cycles */
    uint64_t address;    /* CONFIG: bus, device, function */
} request;

typedef struct answer {
    uint32_t faulted, value;
} answer;

struct ttsim_child {
    char path[4096];
    pid_t pid;
    int socket;
    uint32_t users;
    uint64_t cycles;
    bool faulted, gone, timed;
    ttsim_child *next;
};

typedef struct library {
    ttsim_init_fn *init;
    ttsim_pci_config_rd32_fn *config_rd32;
    ttsim_pci_mem_rd_bytes_fn *mem_rd_bytes;
    ttsim_pci_mem_wr_bytes_fn *mem_wr_bytes;
    ttsim_clock_fn *clock;
} library;

/* A library is one per process, whoever opens it: so this is one, too. */
static ttsim_child *all;

/* ---- In the child ---- */

static library the_library;
static int the_socket;

static bool transfer(int socket, void *bytes, size_t size, bool out)
{
    for (size_t done = 0; done < size;) {
        ssize_t n = out ? send(socket, (char *)bytes + done, size - done, MSG_NOSIGNAL)
                        : recv(socket, (char *)bytes + done, size - done, 0);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) return false;
        done += (size_t)n;
    }
    return true;
}

__attribute__((noreturn)) static void end(void)
{
    kill(getpid(), SIGKILL); /* nothing else ends this process */
    for (;;)
        pause();
}

/* Until the other end is closed. */
__attribute__((noreturn)) static void serve(bool faulted)
{
    static uint8_t bytes[1 << 16];
    request r;
    while (transfer(the_socket, &r, sizeof r, false)) {
        answer a = {.faulted = faulted};
        const bool moves = r.what == READ || r.what == WRITE;
        if (moves && r.size > sizeof bytes) end();
        if (r.what == WRITE && !transfer(the_socket, bytes, r.size, false)) end();
        if (r.what == CONFIG) a.value = the_library.config_rd32((uint32_t)r.address, r.size);
        if (r.what == READ) the_library.mem_rd_bytes(r.address, bytes, r.size);
        if (r.what == WRITE) the_library.mem_wr_bytes(r.address, bytes, r.size);
        if (r.what == CLOCK && !faulted) the_library.clock(r.size);
        if (!transfer(the_socket, &a, sizeof a, true)) end();
        if (r.what == READ && !transfer(the_socket, bytes, r.size, true)) end();
    }
    end();
}

/* The request at which it happened is answered, and then all others. A second fault, of whatever kind, ends the process: its
 * request may be one for bytes, for which an answer without them would be waited for. */
static void on_fault(int number)
{
    static volatile sig_atomic_t faulted;
    (void)number;
    if (faulted) end();
    faulted = 1;
    answer a = {.faulted = true};
    if (!transfer(the_socket, &a, sizeof a, true)) end();
    serve(true);
}

/* exit: what the program has for its own end is not done here. It is called first, since it was named last; so it is when what is
 * asked for then calls exit, too. */
static void on_exit_called(void)
{
    atexit(on_exit_called);
    on_fault(0);
}

/* exit_group, by which all of _Exit, exit and abort's last resort end a process, raises SIGSYS. */
static void catch_faults(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, (uint32_t)offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_exit_group, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const struct sock_fprog program = {sizeof code / sizeof code[0], code};
    const struct sigaction action = {.sa_handler = on_fault, .sa_flags = SA_NODEFER};
    static const int signals[] = {SIGSYS, SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL};
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        sigaction(signals[i], &action, NULL);
    atexit(on_exit_called);
    /* Without it, a fault is the end of the process, which the other end of the socket tells. */
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0) prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

/* What the program would not hand to another program (close on exec) is not this process's either: locks would be held, and pipes
 * kept open, for as long as it lives. */
static void close_the_others(int socket)
{
    DIR *d = opendir("/proc/self/fd");
    for (const struct dirent *e = d ? readdir(d) : NULL; e; e = readdir(d)) {
        const int fd = (int)strtol(e->d_name, NULL, 10);
        if (e->d_name[0] == '.' || fd == socket || fd == dirfd(d)) continue;
        if (fcntl(fd, F_GETFD) & FD_CLOEXEC) close(fd);
    }
    if (d) closedir(d);
}

__attribute__((noreturn)) static void run_child(const library *l, int socket, pid_t parent)
{
    the_library = *l;
    the_socket = socket;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) end();
    close_the_others(socket);
    catch_faults();
    request r;
    if (!transfer(socket, &r, sizeof r, false)) end(); /* the first request is answered when it is ready */
    the_library.init();
    const answer ready = {0};
    if (!transfer(socket, &(answer){ready.faulted, ready.value}, sizeof ready, true)) end();
    serve(false);
}

/* ---- In the program ---- */

/* dlsym gives an object pointer; C11 has no cast to a function pointer, POSIX promises that the copy works. */
static devlog_status find(void *loaded, const char *path, const char *name, void *fn, devlog_error *err)
{
    void *symbol = dlsym(loaded, name);
    if (!symbol)
        return dl_fail(err, DEVLOG_ERR_TRANSPORT, "%s has no function %s: it is not a libttsim, or too old",
                       path, name);
    memcpy(fn, &symbol, sizeof symbol);
    return DEVLOG_OK;
}

static devlog_status load(void *loaded, const char *path, library *l, devlog_error *err)
{
    const struct {
        const char *name;
        void *fn;
    } symbols[] = {
        {"libttsim_init", &l->init},
        {"libttsim_pci_config_rd32", &l->config_rd32},
        {"libttsim_pci_mem_rd_bytes", &l->mem_rd_bytes},
        {"libttsim_pci_mem_wr_bytes", &l->mem_wr_bytes},
        {"libttsim_clock", &l->clock},
    };
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
        devlog_status status = find(loaded, path, symbols[i].name, symbols[i].fn, err);
        if (status != DEVLOG_OK) return status;
    }
    return DEVLOG_OK;
}

static devlog_status has_ended(ttsim_child *c, devlog_error *err)
{
    c->gone = c->faulted = true;
    return dl_fail(err, DEVLOG_ERR_DEVICE, "the simulator %s has ended: what it printed says why", c->path);
}

static devlog_status has_faulted(const ttsim_child *c, devlog_error *err)
{
    return dl_fail(
        err, DEVLOG_ERR_DEVICE,
        "the simulator %s has stopped at a fault in cycle %llu or soon after: what it printed says why",
        c->path, (unsigned long long)c->cycles);
}

/* Seconds of a processor that the process has used. */
static double cpu_s(pid_t pid)
{
    clockid_t id;
    struct timespec t;
    if (clock_getcpuclockid(pid, &id) != 0 || clock_gettime(id, &t) != 0) return 0;
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Until there is an answer, or the process has ended. A busy machine makes it late, so what is bounded is its own time; a process
 * that waits for something itself is only told of. */
static devlog_status await(ttsim_child *c, const request *r, devlog_error *err)
{
    static const char *const names[] = {"configuration", "reading", "writing", "cycles"};
    struct pollfd p = {.fd = c->socket, .events = POLLIN};
    double from = -1, used = 0;
    for (uint32_t looks = 0; used < MOST_CPU_S; looks++) {
        const int n = poll(&p, 1, LOOK_MS);
        if (n > 0 || (n < 0 && errno != EINTR)) return DEVLOG_OK;
        if (from < 0) from = cpu_s(c->pid);
        used = cpu_s(c->pid) - from;
        if (looks == SAY_AFTER_LOOKS)
            fprintf(stderr,
                    "devlog: waiting for the simulator %s (process %d): one request (%s, %u) has taken "
                    "%.1f s of a processor so far\n",
                    c->path, (int)c->pid, names[r->what], r->size, used);
    }
    kill(c->pid, SIGKILL);
    c->gone = c->faulted = true;
    return dl_fail(
        err, DEVLOG_ERR_TIMEOUT,
        "the simulator %s does not answer: one request (%s, %u) took more than %d s of a processor", c->path,
        names[r->what], r->size, (int)MOST_CPU_S);
}

/* One request; `in` is sent behind it, `out` comes behind the answer. A fault that happens now fails. */
static devlog_status ask(ttsim_child *c, request r, const void *in, void *out, uint32_t *value,
                         devlog_error *err)
{
    answer a;
    const bool before = c->faulted;
    if (c->gone) return has_ended(c, err);
    if (!transfer(c->socket, &r, sizeof r, true) ||
        (in && !transfer(c->socket, (void *)(uintptr_t)in, r.size, true)))
        return has_ended(c, err);
    devlog_status status = await(c, &r, err);
    if (status != DEVLOG_OK) return status;
    if (!transfer(c->socket, &a, sizeof a, false)) return has_ended(c, err);
    c->faulted |= a.faulted != 0;
    if (c->faulted && !before) return has_faulted(c, err);
    if (out && !transfer(c->socket, out, r.size, false)) return has_ended(c, err);
    if (value) *value = a.value;
    return DEVLOG_OK;
}

static void reap(ttsim_child *c)
{
    close(c->socket);
    kill(c->pid, SIGKILL);
    while (waitpid(c->pid, NULL, 0) < 0 && errno == EINTR)
        continue;
    free(c);
}

static devlog_status start(ttsim_child *c, const char *path, devlog_error *err)
{
    library l = {0};
    int ends[2];
    void *loaded = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!loaded) return dl_fail(err, DEVLOG_ERR_TRANSPORT, "cannot load the simulator: %s", dlerror());
    devlog_status status = load(loaded, path, &l, err);
    if (status == DEVLOG_OK && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        status = dl_fail_errno(err, errno, "cannot talk to the simulator %s", path);
    if (status != DEVLOG_OK) {
        dlclose(loaded);
        return status;
    }
    void *symbol = dlsym(loaded, TTSIM_TIMED);
    devlog_sim_timed_fn *timed = NULL;
    memcpy(&timed, &symbol, sizeof symbol);
    c->timed = timed && timed();
    const pid_t parent = getpid();
    fflush(NULL); /* so that what waits is not printed twice */
    c->pid = fork();
    if (c->pid == 0) {
        close(ends[0]);
        run_child(&l, ends[1], parent);
    }
    dlclose(loaded);
    close(ends[1]);
    c->socket = ends[0];
    if (c->pid > 0) return DEVLOG_OK;
    close(ends[0]);
    return dl_fail_errno(err, errno, "cannot start the simulator %s", path);
}

devlog_status ttsim_child_get(const char *path, ttsim_child **out, devlog_error *err)
{
    char full[4096];
    if (!realpath(path, full)) snprintf(full, sizeof full, "%s", path);
    for (ttsim_child *c = all; c; c = c->next) {
        if (strcmp(c->path, full) != 0) continue;
        c->users++;
        *out = c;
        return DEVLOG_OK;
    }
    ttsim_child *c = calloc(1, sizeof *c);
    if (!c) return dl_fail(err, DEVLOG_ERR_MEMORY, "no memory for the transport");
    snprintf(c->path, sizeof c->path, "%s", full);
    devlog_status status = start(c, path, err);
    if (status != DEVLOG_OK) {
        free(c);
        return status;
    }
    status = ask(c, (request){0}, NULL, NULL, NULL, err);
    if (status != DEVLOG_OK) {
        reap(c);
        return status;
    }
    c->users = 1;
    c->next = all;
    *out = all = c;
    return DEVLOG_OK;
}

void ttsim_child_leave(ttsim_child *c)
{
    if (--c->users) return;
    for (ttsim_child **at = &all; *at; at = &(*at)->next) {
        if (*at != c) continue;
        *at = c->next;
        break;
    }
    reap(c);
}

devlog_status ttsim_child_config(ttsim_child *c, uint32_t device, uint32_t offset, uint32_t *value,
                                 devlog_error *err)
{
    return ask(c, (request){CONFIG, offset, (uint64_t)device << 3}, NULL, NULL, value, err);
}

devlog_status ttsim_child_read(ttsim_child *c, uint64_t address, void *dst, uint32_t size, devlog_error *err)
{
    return ask(c, (request){READ, size, address}, NULL, dst, NULL, err);
}

devlog_status ttsim_child_write(ttsim_child *c, uint64_t address, const void *src, uint32_t size,
                                devlog_error *err)
{
    return ask(c, (request){WRITE, size, address}, src, NULL, NULL, err);
}

devlog_status ttsim_child_clock(ttsim_child *c, uint32_t cycles, devlog_error *err)
{
    devlog_status status = DEVLOG_OK;
    if (c->faulted) return has_faulted(c, err);
    for (uint32_t n; cycles && status == DEVLOG_OK; cycles -= n) {
        n = cycles < MOST_CYCLES ? cycles : MOST_CYCLES;
        status = ask(c, (request){CLOCK, n, 0}, NULL, NULL, NULL, err);
        if (status == DEVLOG_OK) c->cycles += n;
    }
    return status;
}

bool ttsim_child_counts_instructions(const ttsim_child *c)
{
    return !c->timed;
}

uint64_t ttsim_child_cycles(const ttsim_child *c)
{
    return c->cycles;
}
