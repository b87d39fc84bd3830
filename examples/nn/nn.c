/* A small neural network on a grid of cores, with every op told to the op profiler: attention (matmul,
 * softmax of two programs, matmul), add, transpose on a part of the cores, and host ops between them. Each
 * core has a token matrix of its own; every result is checked against the host's own computation.
 *
 * Usage: nn [STEPS [LAYERS [COLUMNS ROWS]]]    (default: 2 steps of 2 layers on 3x2 cores)
 * The environment chooses the device and what is profiled: DEVLOG_BOARD, DEVLOG_OPS=1,
 * TT_METAL_DEVICE_PROFILER=1; or run it by `devlog run -- nn`. Ends with status 1 when a result is wrong. */
#include "nn.h"

#include <devlog/devlog.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_CORES = 64, PROGRAMS = 6 };

enum program_id { MATMUL_QUERY, ROW_MAX, NORMALISE, MATMUL_VALUES, ADD, TRANSPOSE };

/* Matrices in the L1 of each core: buffers. `scores` and `mixed` live as long as an op wants them. */
enum matrix_id { TOKENS, WEIGHTS, SCORES, MIXED, MOVED, MATRICES };

typedef struct network {
    devlog_device *device;
    devlog_ops *ops;
    devlog_program *programs[PROGRAMS];
    devlog_kernel *kernels[PROGRAMS][NN_COMPUTE_RISCS];
    devlog_cores cores, top; /* all that are used; their first row */
    uint32_t n_cores;
    devlog_buffer matrices[MATRICES];            /* a page for each core */
    uint32_t addresses[MATRICES];                /* of the page, on each of them */
    int32_t host[MAX_CORES][MATRICES][NN_WORDS]; /* what the device must have */
} network;

static devlog_error err;

static bool good(devlog_status status)
{
    if (status != DEVLOG_OK) fprintf(stderr, "nn: %s\n", err.text);
    return status == DEVLOG_OK;
}

static const char *source(const char *name)
{
    static char path[2048];
    const char *home = getenv("DEVLOG_HOME");
    snprintf(path, sizeof path, "%s/%s", home && *home ? home : ".", name);
    return path;
}

/* ---- Matrices ------------------------------------------------------------------------------------------ */

enum { PAGE = NN_WORDS * 4 };

static devlog_core core_at(const network *n, uint32_t index)
{
    uint32_t width = n->cores.x1 + 1;
    return (devlog_core){index % width, index / width};
}

/* One on each core that uses it; `transpose` writes on the first row only. */
static devlog_buffer_options matrix(const network *n, enum matrix_id m, const char *name)
{
    const devlog_cores *cores = m == MOVED ? &n->top : &n->cores;
    return (devlog_buffer_options)DEVLOG_BUFFER_OPTIONS(.bytes = (uint64_t)PAGE *
                                                                 (m == MOVED ? n->top.x1 + 1 : n->n_cores),
                                                        .page_bytes = PAGE, .cores = cores, .n_cores = 1,
                                                        .name = name);
}

static bool placed(network *n, enum matrix_id m)
{
    devlog_buffer_facts facts;
    if (!good(devlog_buffer_info(n->device, n->matrices[m], &facts, &err))) return false;
    n->addresses[m] = (uint32_t)facts.address;
    return true;
}

/* Those that live as long as the network. */
static bool make_matrices(network *n)
{
    const devlog_buffer_options tokens = matrix(n, TOKENS, "tokens"), weights = matrix(n, WEIGHTS, "weights"),
                                moved = matrix(n, MOVED, "moved");
    return good(devlog_buffer_create(n->device, &tokens, &n->matrices[TOKENS], &err)) && placed(n, TOKENS) &&
           good(devlog_buffer_create(n->device, &weights, &n->matrices[WEIGHTS], &err)) &&
           placed(n, WEIGHTS) && good(devlog_buffer_create(n->device, &moved, &n->matrices[MOVED], &err)) &&
           placed(n, MOVED);
}

static bool free_matrices(network *n)
{
    bool ok = true;
    for (int m = 0; m < MATRICES; m++) {
        ok = good(devlog_buffer_free(n->device, n->matrices[m], &err)) && ok;
        n->matrices[m] = (devlog_buffer){0};
    }
    return ok;
}

/* ---- Programs ------------------------------------------------------------------------------------------ */

static const struct {
    const char *file, *riscs[NN_COMPUTE_RISCS];
    enum matrix_id matrices[3]; /* its arguments */
    uint32_t n_matrices;
} programs[PROGRAMS] = {
    [MATMUL_QUERY] = {"examples/nn/matmul.c", {"TRISC0", "TRISC1", "TRISC2"}, {TOKENS, WEIGHTS, SCORES}, 3},
    [ROW_MAX] = {"examples/nn/row_max.c", {"TRISC1"}, {SCORES}, 1},
    [NORMALISE] = {"examples/nn/normalise.c", {"BRISC"}, {SCORES}, 1},
    [MATMUL_VALUES] = {"examples/nn/matmul.c", {"TRISC0", "TRISC1", "TRISC2"}, {SCORES, TOKENS, MIXED}, 3},
    [ADD] = {"firmware/kernels/vector_add.c", {"BRISC"}, {TOKENS, MIXED, TOKENS}, 3},
    [TRANSPOSE] = {"examples/nn/transpose.c", {"NCRISC"}, {TOKENS, MOVED}, 2},
};

static bool make_programs(network *n)
{
    for (int p = 0; p < PROGRAMS; p++) {
        if (!good(devlog_program_create(n->device, &n->programs[p], &err))) return false;
        for (int i = 0; i < NN_COMPUTE_RISCS && programs[p].riscs[i]; i++) {
            const devlog_kernel_options options =
                DEVLOG_KERNEL_OPTIONS(.source = source(programs[p].file), .risc = programs[p].riscs[i],
                                      .cores = p == TRANSPOSE ? n->top : n->cores);
            if (!good(devlog_program_add_kernel(n->programs[p], &options, &n->kernels[p][i], &err)))
                return false;
        }
    }
    return true;
}

/* Where its matrices are now, and what else it wants to know: how many words, or which of the RISCs it is. */
static bool set_args(network *n, enum program_id id)
{
    const devlog_cores cores = id == TRANSPOSE ? n->top : n->cores;
    for (uint32_t i = 0; i < NN_COMPUTE_RISCS && n->kernels[id][i]; i++) {
        uint32_t args[4] = {0}, n_args = 0;
        for (; n_args < programs[id].n_matrices; n_args++)
            args[n_args] = n->addresses[programs[id].matrices[n_args]];
        if (n_args == 3) args[n_args++] = id == ADD ? (uint32_t)NN_WORDS : i;
        for (uint32_t y = cores.y0; y <= cores.y1; y++)
            for (uint32_t x = cores.x0; x <= cores.x1; x++)
                if (!good(devlog_kernel_set_args(n->kernels[id][i], (devlog_core){x, y}, args, n_args, &err)))
                    return false;
    }
    return true;
}

static bool launch(network *n, enum program_id id)
{
    devlog_program *p = n->programs[id];
    return set_args(n, id) && good(devlog_compile_program(p, &err)) &&
           good(devlog_configure_device_with_program(n->device, p, &err)) &&
           good(devlog_launch_program(n->device, p, &err));
}

/* ---- Ops ----------------------------------------------------------------------------------------------- */

static const devlog_tensor in_l1 = {
    .w = 1, .z = 1, .y = NN_N, .x = NN_N, .layout = "ROW_MAJOR", .data_type = "INT32", .memory = "DEV_0_L1"};

static uint32_t begin(network *n, const char *name, devlog_op_type type, int inputs)
{
    const devlog_op op = {.name = name,
                          .type = type,
                          .fidelity = type == DEVLOG_OP_TT_DNN_DEVICE ? DEVLOG_FIDELITY_HIFI4 : 0,
                          .strategy = type == DEVLOG_OP_TT_DNN_DEVICE ? "MULTI_CORE" : NULL,
                          .cores = type == DEVLOG_OP_TT_DNN_DEVICE ? n->n_cores : 0};
    uint32_t id = devlog_op_start(n->ops, &op);
    for (int i = 0; i < inputs; i++)
        devlog_op_input(n->ops, id, &in_l1);
    return id;
}

static void end(network *n, uint32_t id)
{
    devlog_op_output(n->ops, id, &in_l1);
    devlog_op_end(n->ops, id);
}

static bool check(network *n, enum matrix_id m)
{
    int32_t got[NN_WORDS];
    for (uint32_t i = 0; i < (m == MOVED ? n->top.x1 + 1 : n->n_cores); i++) {
        devlog_core core = core_at(n, i);
        if (!good(devlog_buffer_read(n->device, n->matrices[m], (uint64_t)i * PAGE, got, sizeof got, &err)))
            return false;
        for (uint32_t k = 0; k < NN_WORDS; k++) {
            if (got[k] == n->host[i][m][k]) continue;
            fprintf(stderr, "nn: core (%u,%u), matrix %d: word %u is %d, expected %d\n", core.x, core.y,
                    (int)m, k, got[k], n->host[i][m][k]);
            return false;
        }
    }
    return true;
}

static void host_matmul(int32_t *a, int32_t *b, int32_t *product)
{
    for (uint32_t row = 0; row < NN_N; row++)
        for (uint32_t column = 0; column < NN_N; column++)
            product[row * NN_N + column] = nn_dot(a, b, row, column);
}

static bool op_matmul(network *n, enum program_id id, enum matrix_id a, enum matrix_id b,
                      enum matrix_id product)
{
    uint32_t op = begin(n, "Matmul", DEVLOG_OP_TT_DNN_DEVICE, 2);
    devlog_op_append_meta_data(n->ops, op,
                               "{\"transpose_a\":false,\"transpose_b\":false,\"block\":[1,1,12]}");
    bool ok = launch(n, id);
    end(n, op);
    for (uint32_t i = 0; i < n->n_cores; i++)
        host_matmul(n->host[i][a], n->host[i][b], n->host[i][product]);
    return ok && check(n, product);
}

/* Two programs, one op. */
static bool op_softmax(network *n)
{
    uint32_t op = begin(n, "Softmax", DEVLOG_OP_TT_DNN_DEVICE, 1);
    devlog_op_append_meta_data(n->ops, op, "over rows, in two programs");
    bool ok = launch(n, ROW_MAX) && launch(n, NORMALISE);
    end(n, op);
    for (uint32_t i = 0; i < n->n_cores; i++) {
        int32_t *a = n->host[i][SCORES];
        for (uint32_t row = 0; row < NN_N; row++) {
            int32_t most = nn_row_max(a, row), sum = 0;
            for (uint32_t k = 0; k < NN_N; k++)
                sum += a[row * NN_N + k] = nn_exp(a[row * NN_N + k] - most);
            for (uint32_t k = 0; k < NN_N; k++)
                a[row * NN_N + k] = (a[row * NN_N + k] << NN_SHIFT) / sum;
        }
    }
    return ok && check(n, SCORES);
}

/* An op around others: it launches nothing itself. */
static bool op_attention(network *n)
{
    uint32_t op = begin(n, "Attention", DEVLOG_OP_TT_DNN_CPU, 1);
    const devlog_buffer_options scores = matrix(n, SCORES, "scores"), mixed = matrix(n, MIXED, "mixed");
    bool ok = good(devlog_buffer_create(n->device, &scores, &n->matrices[SCORES], &err)) &&
              placed(n, SCORES) && good(devlog_buffer_create(n->device, &mixed, &n->matrices[MIXED], &err)) &&
              placed(n, MIXED) && op_matmul(n, MATMUL_QUERY, TOKENS, WEIGHTS, SCORES) && op_softmax(n) &&
              op_matmul(n, MATMUL_VALUES, SCORES, TOKENS, MIXED);
    ok = good(devlog_buffer_free(n->device, n->matrices[SCORES], &err)) &&
         ok; /* `mixed` goes to the op behind it */
    n->matrices[SCORES] = (devlog_buffer){0};
    end(n, op);
    return ok;
}

static bool op_add(network *n)
{
    uint32_t op = begin(n, "Add", DEVLOG_OP_TT_DNN_DEVICE, 2);
    bool ok = launch(n, ADD);
    ok = good(devlog_buffer_free(n->device, n->matrices[MIXED], &err)) && ok;
    n->matrices[MIXED] = (devlog_buffer){0};
    end(n, op);
    for (uint32_t i = 0; i < n->n_cores; i++)
        for (uint32_t k = 0; k < NN_WORDS; k++)
            n->host[i][TOKENS][k] += n->host[i][MIXED][k];
    return ok && check(n, TOKENS);
}

static bool op_transpose(network *n)
{
    uint32_t op = begin(n, "Transpose", DEVLOG_OP_TT_DNN_DEVICE, 1);
    devlog_op_set(n->ops, op, &(devlog_op){.cores = n->top.x1 + 1, .strategy = "FIRST_ROW"});
    bool ok = launch(n, TRANSPOSE);
    end(n, op);
    for (uint32_t i = 0; i <= n->top.x1; i++)
        for (uint32_t k = 0; k < NN_WORDS; k++)
            n->host[i][MOVED][k % NN_N * NN_N + k / NN_N] = n->host[i][TOKENS][k];
    return ok && check(n, MOVED);
}

/* Host: makes tokens and writes them to every core. */
static bool op_embed(network *n, uint32_t step)
{
    uint32_t op = begin(n, "(torch) embedding", DEVLOG_OP_PYTHON_FALLBACK, 0);
    bool ok = true;
    for (uint32_t i = 0; i < n->n_cores && ok; i++) {
        uint32_t x = step * 2654435761u + i * 40503u + 1;
        for (int m = TOKENS; m <= WEIGHTS; m++)
            for (uint32_t k = 0; k < NN_WORDS; k++)
                n->host[i][m][k] = (int32_t)((x = x * 1664525u + 1013904223u) >> 24) - 128;
        memset(n->host[i][MOVED], 0, sizeof n->host[i][MOVED]);
        for (int m = 0; m < MATRICES && ok; m++)
            if (m == TOKENS || m == WEIGHTS || (m == MOVED && i <= n->top.x1))
                ok = good(devlog_buffer_write(n->device, n->matrices[m], (uint64_t)i * PAGE, n->host[i][m],
                                              PAGE, &err));
    }
    end(n, op);
    return ok;
}

/* Host: the token that the network would choose. */
static bool op_argmax(network *n)
{
    uint32_t op = begin(n, "ArgMax", DEVLOG_OP_TT_DNN_CPU, 1);
    int32_t got[NN_WORDS];
    bool ok = good(devlog_buffer_read(n->device, n->matrices[MOVED], 0, got, sizeof got, &err));
    uint32_t best = 0, expected = 0;
    for (uint32_t k = 1; ok && k < NN_WORDS; k++) {
        if (got[k] > got[best]) best = k;
        if (n->host[0][MOVED][k] > n->host[0][MOVED][expected]) expected = k;
    }
    char meta[64];
    snprintf(meta, sizeof meta, "{\"token\":%u}", best);
    devlog_op_append_meta_data(n->ops, op, meta);
    end(n, op);
    return ok && best == expected;
}

static bool run(network *n, uint32_t steps, uint32_t layers)
{
    for (uint32_t step = 0; step < steps; step++) {
        devlog_step(n->ops, step, NULL);
        if (!op_embed(n, step)) return false;
        for (uint32_t layer = 0; layer < layers; layer++) {
            char header[32];
            snprintf(header, sizeof header, "layer %u", layer);
            devlog_signpost(n->ops, header, NULL);
            if (!op_attention(n) || !op_add(n)) return false;
            /* Keeps the numbers small, as a normalisation would. */
            for (uint32_t i = 0; i < n->n_cores; i++)
                for (uint32_t k = 0; k < NN_WORDS; k++)
                    n->host[i][TOKENS][k] %= 256;
            for (uint32_t i = 0; i < n->n_cores; i++)
                if (!good(devlog_buffer_write(n->device, n->matrices[TOKENS], (uint64_t)i * PAGE,
                                              n->host[i][TOKENS], PAGE, &err)))
                    return false;
        }
        if (!op_transpose(n) || !op_argmax(n)) return false;
    }
    return true;
}

/* A number from 1 to 65535; 0: it is none. */
static uint32_t count(const char *text)
{
    char *end;
    unsigned long n = strtoul(text, &end, 10);
    return *text >= '0' && *text <= '9' && *end == 0 && n <= UINT16_MAX ? (uint32_t)n : 0;
}

int main(int argc, char **argv)
{
    static network n;
    uint32_t steps = argc > 1 ? count(argv[1]) : 2, layers = argc > 2 ? count(argv[2]) : 2;
    uint32_t columns = argc > 4 ? count(argv[3]) : 3, rows = argc > 4 ? count(argv[4]) : 2;
    if (!steps || !layers || !columns || !rows || argc == 4 || argc > 5 || columns * rows > MAX_CORES) {
        fprintf(stderr,
                "nn: all of them are numbers from 1 on, and there are at most %d cores; usage: nn [STEPS "
                "[LAYERS [COLUMNS ROWS]]]\n",
                MAX_CORES);
        return 2;
    }
    n.cores = (devlog_cores){0, 0, columns - 1, rows - 1};
    n.top = (devlog_cores){0, 0, columns - 1, 0};
    n.n_cores = columns * rows;
    if (!good(devlog_ops_open(NULL, &n.ops, &err))) return 1;
    bool ok = good(
        devlog_device_open(&(devlog_device_options)DEVLOG_DEVICE_OPTIONS(.ops = n.ops), &n.device, &err));
    if (ok) {
        ok = make_programs(&n) && make_matrices(&n) && run(&n, steps, layers);
        ok = free_matrices(&n) && ok;
        for (int i = 0; i < PROGRAMS; i++)
            devlog_program_free(n.programs[i]);
        ok = good(devlog_device_close(n.device, &err)) && ok;
    }
    if (ok)
        printf("nn: %u steps of %u layers on %ux%u cores: results correct\n", steps, layers, columns, rows);
    return good(devlog_ops_close(n.ops, &err)) && ok ? 0 : 1;
}
