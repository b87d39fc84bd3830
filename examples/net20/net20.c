/* A network of 20 ops in which something is wrong: what docs/bottleneck.md looks for. Each op is one launch of three kernels on every
 * core of the grid: the reader, the math and the writer, with a buffer between each two. A tensor is 8 pages on each core; every
 * result is checked against the host's own computation.
 *
 * Usage: net20 [VERSION]     (default: 0)
 * Version 0 is the network as it should be; each of the others has one line of `versions` that makes it slow.
 * The environment chooses the device and what is profiled; or run it by `devlog run -- net20`. Ends with status 1 when a result is
 * wrong. */
#include "net20.h"

#include <devlog/devlog.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_CORES = 256, RISCS = 3, OPS = 20, PAGES = 8, WORDS = NET_MAX_PAGES * NET_PAGE_WORDS };

static const char *const names[OPS] = {"Embedding", "LayerNorm1", "Query",   "Key",     "Value",
                                       "Scores",    "Scale",      "Softmax", "Context", "Project",
                                       "Add1",      "LayerNorm2", "Up",      "Gelu",    "Down",
                                       "Add2",      "FinalNorm",  "Logits",  "ArgMax",  "Detokenise"};

/* What an op does otherwise than the others. */
typedef struct version {
    int op;               /* of `names` */
    uint32_t room;        /* pages in each buffer */
    uint32_t read_bytes;  /* of each read over the NoC, which is waited for */
    uint32_t table_words; /* that the reader makes before its first page */
    uint32_t moved;       /* pages that each other core leaves to the last one */
    bool look;            /* the host reads the input of the op, word by word, to look at it */
} version;

enum { VERSIONS = 6 };
static const version versions[VERSIONS] = {
    {.op = -1, .room = 2, .read_bytes = NET_PAGE_BYTES},
    {.op = 12, .room = 2, .read_bytes = NET_PAGE_BYTES, .moved = 2},
    {.op = 3, .room = 2, .read_bytes = NET_PAGE_BYTES, .table_words = 1500},
    {.op = 8, .room = 2, .read_bytes = 16},
    {.op = 9, .room = 2, .read_bytes = NET_PAGE_BYTES, .look = true},
    {.op = 13, .room = 1, .read_bytes = NET_PAGE_BYTES},
};

typedef struct network {
    devlog_device *device;
    devlog_ops *ops;
    devlog_program *program;
    devlog_kernel *kernels[RISCS];
    devlog_core grid;
    uint32_t n_cores, l1;
    uint32_t tensors[2][MAX_CORES][WORDS]; /* what the device must have: ops read one and write the other */
} network;

static devlog_error err;

static bool good(devlog_status status)
{
    if (status != DEVLOG_OK) fprintf(stderr, "net20: %s\n", err.text);
    return status == DEVLOG_OK;
}

static const char *source(const char *name)
{
    static char path[2048];
    const char *home = getenv("DEVLOG_HOME");
    snprintf(path, sizeof path, "%s/examples/net20/%s", home && *home ? home : ".", name);
    return path;
}

static devlog_core core_at(const network *n, uint32_t index)
{
    return (devlog_core){index % n->grid.x, index / n->grid.x};
}

static uint32_t address(const network *n, uint32_t tensor)
{
    return n->l1 + tensor * 4 * WORDS;
}

static bool make_program(network *n)
{
    static const char *const kernels[RISCS][2] = {
        {"reader.c", "BRISC"}, {"math.c", "TRISC1"}, {"writer.c", "NCRISC"}};
    bool ok = good(devlog_program_create(n->device, &n->program, &err));
    for (int i = 0; i < RISCS && ok; i++) {
        const devlog_kernel_options o =
            DEVLOG_KERNEL_OPTIONS(.source = source(kernels[i][0]), .risc = kernels[i][1],
                                  .cores = {0, 0, n->grid.x - 1, n->grid.y - 1});
        ok = good(devlog_program_add_kernel(n->program, &o, &n->kernels[i], &err));
    }
    return ok && good(devlog_compile_program(n->program, &err));
}

/* Pages of a core: all alike, or what others leave to the last one, too. */
static uint32_t pages_of(const network *n, const version *v, uint32_t core)
{
    const uint32_t more = v->moved * (n->n_cores - 1);
    if (core + 1 < n->n_cores) return PAGES - v->moved;
    return PAGES + more < NET_MAX_PAGES ? PAGES + more : NET_MAX_PAGES;
}

/* One op on the device, and the same on the host. */
static bool run_op(network *n, int number, const version *v)
{
    const uint32_t in = (uint32_t)number % 2, out = 1 - in;
    const devlog_op op = {.name = names[number],
                          .type = DEVLOG_OP_TT_DNN_DEVICE,
                          .strategy = "MULTI_CORE",
                          .cores = n->n_cores};
    const devlog_tensor tensor = {.w = 1,
                                  .z = 1,
                                  .y = PAGES * n->n_cores,
                                  .x = NET_PAGE_WORDS,
                                  .layout = "ROW_MAJOR",
                                  .data_type = "UINT32",
                                  .memory = "DEV_0_L1"};
    bool ok = true;
    for (uint32_t core = 0; core < n->n_cores && ok; core++) {
        const uint32_t pages = pages_of(n, v, core);
        const uint32_t args[NET_ARGS] = {[NET_PAGES] = pages,
                                         [NET_INPUT] = address(n, in),
                                         [NET_OUTPUT] = address(n, out),
                                         [NET_BUFFERS] = address(n, 2),
                                         [NET_ROOM] = v->room,
                                         [NET_READ_BYTES] = v->read_bytes,
                                         [NET_TABLE_WORDS] = v->table_words};
        static const uint32_t empty[2];
        for (int i = 0; i < RISCS && ok; i++)
            ok = good(devlog_kernel_set_args(n->kernels[i], core_at(n, core), args, NET_ARGS, &err));
        for (uint32_t i = 0; i < 2 && ok; i++)
            ok =
                good(devlog_write_to_device(n->device, core_at(n, core), address(n, 2) + i * NET_BUFFER_BYTES,
                                            empty, sizeof empty, &err));
        for (uint32_t i = 0; i < pages * NET_PAGE_WORDS; i++)
            n->tensors[out][core][i] = net_math(n->tensors[in][core][i] + 1) - 3;
    }
    for (uint32_t core = 0; v->look && core < n->n_cores; core++)
        for (uint32_t i = 0; ok && i < PAGES * NET_PAGE_WORDS; i++) {
            uint32_t word;
            ok = good(
                devlog_read_from_device(n->device, core_at(n, core), address(n, in) + 4 * i, &word, 4, &err));
        }
    const uint32_t id = devlog_op_start(n->ops, &op);
    devlog_op_input(n->ops, id, &tensor);
    ok = ok && good(devlog_configure_device_with_program(n->device, n->program, &err)) &&
         good(devlog_launch_program(n->device, n->program, &err));
    devlog_op_output(n->ops, id, &tensor);
    devlog_op_end(n->ops, id);
    return ok;
}

static bool fill(network *n)
{
    bool ok = true;
    for (uint32_t core = 0; core < n->n_cores && ok; core++)
        for (uint32_t tensor = 0; tensor < 2 && ok; tensor++) {
            for (uint32_t i = 0; i < WORDS; i++)
                n->tensors[tensor][core][i] = core * 2654435761u + i * 40503u + tensor;
            ok = good(devlog_write_to_device(n->device, core_at(n, core), address(n, tensor),
                                             n->tensors[tensor][core], 4 * WORDS, &err));
        }
    return ok;
}

static bool check(const network *n)
{
    static uint32_t got[WORDS];
    for (uint32_t core = 0; core < n->n_cores; core++)
        for (uint32_t tensor = 0; tensor < 2; tensor++) {
            const devlog_core at = core_at(n, core);
            if (!good(devlog_read_from_device(n->device, at, address(n, tensor), got, sizeof got, &err)))
                return false;
            if (memcmp(got, n->tensors[tensor][core], sizeof got) == 0) continue;
            fprintf(stderr, "net20: core (%u,%u): tensor %u is wrong\n", at.x, at.y, tensor);
            return false;
        }
    return true;
}

int main(int argc, char **argv)
{
    static network n;
    char *end = NULL;
    const long number = argc > 1 ? strtol(argv[1], &end, 10) : 0;
    if (argc > 2 || (end && (*end || end == argv[1])) || number < 0 || number >= VERSIONS) {
        fprintf(stderr, "net20: there are versions 0 to %d; usage: net20 [VERSION]\n", VERSIONS - 1);
        return 2;
    }
    if (!good(devlog_ops_open(NULL, &n.ops, &err))) return 1;
    bool ok = good(
        devlog_device_open(&(devlog_device_options)DEVLOG_DEVICE_OPTIONS(.ops = n.ops), &n.device, &err));
    if (ok) {
        n.grid = devlog_device_grid(n.device);
        n.n_cores = n.grid.x * n.grid.y;
        n.l1 = (devlog_device_user_l1(n.device, NULL) + 15u) & ~15u;
        ok = n.n_cores <= MAX_CORES && make_program(&n) && fill(&n);
        for (int i = 0; i < OPS && ok; i++)
            ok = run_op(&n, i, &versions[i == versions[number].op ? number : 0]);
        ok = ok && check(&n);
        devlog_program_free(n.program);
        ok = good(devlog_device_close(n.device, &err)) && ok;
    }
    if (ok) printf("net20: version %ld, %d ops on %u cores: results correct\n", number, OPS, n.n_cores);
    return good(devlog_ops_close(n.ops, &err)) && ok ? 0 : 1;
}
