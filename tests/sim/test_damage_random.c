/* Random programs with injected damage: overwritten records, a cursor that is moved, calls of null pointers,
 * killed runs, logs that are cut. Every run's outputs say the same losses; programs without damage lose
 * nothing that is not counted; how often damage is told is measured against what the programs did.
 * DEVLOG_TEST_PROGRAMS sets the number of programs (default 120; 10,000 with every setup: nice -19), DEVLOG_TEST_SEED
 * the seed. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "decode/capture/raw_marks.h"
#include "decode/decode.h"
#include "profiler/control.h"
#include "profiler/profiler.h"
#include "support/device.h"
#include "support/files.h"
#include "support/logs.h"
#include "support/vm.h"

enum { COLUMNS = 4, RISCS = 5, PER_RUN = COLUMNS * RISCS, EVENTS = 4096, CONTROL = 528, HOST_WORDS = 8 };

static const struct setup {
    const char *name, *flags;
    devlog_recording recording;
} setups[] = {
    {"stop", NULL, DEVLOG_RECORD_STOP},
    {"ring", NULL, DEVLOG_RECORD_RING},
    {"stop, wide ids", "-DDEVLOG_WIDE_IDS", DEVLOG_RECORD_STOP},
    {"stop, 32-bit stamps", "-DDEVLOG_STAMP32", DEVLOG_RECORD_STOP},
    {"stream", NULL, DEVLOG_RECORD_STREAM},
};
enum { SETUPS = sizeof setups / sizeof setups[0], SETUPS_AT_LEAST = 2 };

typedef enum injury { NONE, OVERWRITTEN, MOVED, NULL_CALL, INJURIES } injury;

static uint64_t seed = 20261122;
static char root[128]; /* folder of all that is written */

static uint32_t chance(uint32_t n)
{
    return (uint32_t)(test_random(&seed) % n);
}

/* One record as the program means it, or as it came out. */
typedef struct said {
    uint8_t kind, site;
    uint64_t value;
} said;

typedef struct program {
    vm_program vm;
    injury injury;
    uint32_t at; /* step at which it is */
} program;

/* ---- What a program records ---- */

static uint32_t expect(const program *p, said *list)
{
    uint32_t n = 0, passes[8] = {0};
    for (uint32_t i = 0; i < p->vm.n; i++) {
        uint32_t step = p->vm.steps[i], site = step >> 8 & 7, operand = step >> 16;
        said one = {.site = (uint8_t)site};
        if (p->injury == NULL_CALL && i == p->at) return n; /* sums are never recorded */
        switch (step & 0xFF) {
        case VM_ZONE_BEGIN: one.kind = DEVLOG_KIND_ZONE; break;
        case VM_ZONE_END: one.kind = DEVLOG_KIND_ZONE_END; break;
        case VM_SCOPED:
            list[n++] = (said){DEVLOG_KIND_ZONE, (uint8_t)(site + 8), 0};
            one = (said){DEVLOG_KIND_ZONE_END, (uint8_t)(site + 8), 0};
            break;
        case VM_COMPLETE: one.kind = DEVLOG_KIND_COMPLETE; break;
        case VM_EVENT: one.kind = DEVLOG_KIND_EVENT; break;
        case VM_VALUE: one = (said){DEVLOG_KIND_VALUE32, (uint8_t)site, operand}; break;
        case VM_COUNTER: one = (said){DEVLOG_KIND_COUNTER, (uint8_t)site, operand}; break;
        case VM_VALUE64:
            one = (said){DEVLOG_KIND_VALUE64, (uint8_t)site, (uint64_t)operand << 32 | (uint32_t)~operand};
            break;
        case VM_PRINT: one = (said){DEVLOG_KIND_PRINT, 0, site ? operand : 0}; break;
        case VM_SUM: passes[site]++; continue;
        default: continue;
        }
        list[n++] = one;
    }
    /* The order of the sums is the linker's. */
    for (uint32_t site = 0; site < 8; site++)
        if (passes[site]) list[n++] = (said){DEVLOG_KIND_SUM, 0, passes[site]};
    return n;
}

typedef struct heard {
    said list[EVENTS];
    uint32_t n;
} heard;

static devlog_status hear(void *context, const record_event *e, devlog_error *err)
{
    (void)err;
    heard *h = context;
    if (e->stall || h->n == EVENTS) return DEVLOG_OK;
    said one = {.kind = e->kind, .value = e->value};
    if (e->site && e->kind != DEVLOG_KIND_PRINT && e->kind != DEVLOG_KIND_SUM)
        one.site = (uint8_t)(e->site->name[strlen(e->site->name) - 1] - '0' +
                             (strncmp(e->site->name, "scoped", 6) == 0 ? 8 : 0));
    if (e->kind == DEVLOG_KIND_PRINT) one.value = e->n_args ? e->args[0] : 0;
    if (e->kind == DEVLOG_KIND_SUM) one.value = e->passes;
    h->list[h->n++] = one;
    return DEVLOG_OK;
}

/* How many of what came out were meant, in this order; *altered: the others. Sums may be in any order. */
static uint32_t meant(const said *list, uint32_t n, const heard *h, uint32_t *altered)
{
    uint32_t at = 0, matched = 0;
    bool used[8] = {false};
    uint32_t sums = n;
    while (sums && list[sums - 1].kind == DEVLOG_KIND_SUM)
        sums--;
    *altered = 0;
    for (uint32_t i = 0; i < h->n; i++) {
        const said *one = &h->list[i];
        uint32_t k = one->kind == DEVLOG_KIND_SUM ? sums : at;
        while (k < n && !(list[k].kind == one->kind && list[k].site == one->site &&
                          list[k].value == one->value && !(k >= sums && used[k - sums])))
            k++;
        if (k == n) {
            (*altered)++;
            continue;
        }
        matched++;
        if (k >= sums)
            used[k - sums] = true;
        else
            at = k + 1;
    }
    return matched;
}

/* ---- Damage ---- */

static void injure(program *p)
{
    uint32_t dice = chance(100), step;
    p->injury = dice < 30 ? NONE : dice < 70 ? OVERWRITTEN : dice < 98 ? MOVED : NULL_CALL;
    if (p->injury == NONE || p->vm.n + 1 >= VM_MAX_STEPS) {
        p->injury = NONE;
        return;
    }
    if (p->injury == OVERWRITTEN) {
        /* Mostly where records are, sometimes in the control block or in the other segment; not over the
         * words that say where in DRAM records go, which a program must not change on any chip. */
        uint32_t word = chance(8) ? chance(1 + 4 * p->vm.n) : chance(1600);
        if (word + 100 > CONTROL && word < CONTROL + HOST_WORDS) word = CONTROL + HOST_WORDS + chance(24);
        if (word > 1550) word = chance(100);
        step = VM_OVERWRITE | chance(64) << 8 | word << 16;
    } else if (p->injury == MOVED) {
        step = VM_MOVE_CURSOR | chance(8) << 8 | chance(65536) << 16;
    } else {
        step = VM_CALL_NULL;
    }
    p->at = chance(p->vm.n + 1);
    memmove(p->vm.steps + p->at + 1, p->vm.steps + p->at, 4 * (p->vm.n - p->at));
    p->vm.steps[p->at] = step;
    p->vm.n++;
}

/* ---- Measuring ---- */

typedef struct tally {
    uint32_t programs, harmless, told, told_needlessly, missed, records_missed;
} tally;

static tally tallies[INJURIES];
static uint32_t devices_failed; /* runs after which nothing could be read any more */

/* What was lost by everybody in one run, as the words that were pulled say. */
static uint64_t lost_in_run[DL_LOSS_ZONES];

/* `p`: of all that run on its core. */
static void judge(devlog_device *device, const devlog_program *prog, devlog_core core, uint32_t risc,
                  const program *p, bool core_restarted)
{
    static said list[2 * VM_MAX_STEPS + 8];
    static heard h;
    devlog_error err = {0};
    pulled got;
    check_ok(pull_risc(device, core, risc, device->launches, false, &got, &err), &err);
    if (!got.alive) { /* its manager was started again before it told it of the launch */
        if (!core_restarted)
            fail_msg("core %u,%u RISC %u has not begun launch %u but is in %u, magic %x", core.x, core.y,
                     risc, device->launches, got.control.launch, got.control.magic);
        return;
    }
    const devlog_kernel *kernel = program_kernel_at(prog, core, risc);
    const devlog_control *c = &got.control;
    bool from = c->marks & 2, until = c->marks & 4;
    const record_input in = {
        .spans = got.spans,
        .n_spans = got.n_spans,
        .padded = c->streamed != 0,
        .elf = &kernel->elf,
        .from = from ? c->stamps[2] | (uint64_t)c->stamps[3] << 32 : 0,
        .until = until ? c->stamps[4] | (uint64_t)c->stamps[5] << 32 : 0,
    };
    record_losses found = {0};
    h.n = 0;
    check_ok(records_decode(&in, hear, &h, &found, &err), &err);

    /* The same by the way that makes the outputs. */
    dl_tables tables = {0};
    check_ok(dl_tables_init(&tables, &err), &err);
    const raw_risc raw = {.risc = device->board.riscs[risc].log_name,
                          .control = c,
                          .spans = got.spans,
                          .n_spans = got.n_spans,
                          .elf = &kernel->elf};
    record_losses again = {0};
    dl_marks marks = {0};
    check_ok(raw_marks(&tables, &raw, &marks, &again, &err), &err);
    dl_marks_free(&marks);
    dl_tables_free(&tables);
    assert_memory_equal(&found, &again, sizeof found);

    uint64_t lost[DL_LOSS_ZONES];
    raw_lost(c, &found, lost);
    lost[DL_LOSS_DROPPED] = (uint64_t)c->dropped + c->overwritten; /* whose row is among the others */
    for (int zone = 0; zone < DL_LOSS_ZONES; zone++)
        lost_in_run[zone] += zone == DL_LOSS_UNKNOWN ? lost[zone] != 0 : lost[zone];
    uint32_t altered, n = expect(p, list), matched = meant(list, n, &h, &altered);
    bool told = lost[DL_LOSS_DAMAGED] || lost[DL_LOSS_UNKNOWN] || lost[DL_LOSS_RESTARTED];
    bool right = matched + lost[DL_LOSS_DROPPED] == n && altered == 0;
    /* Records behind a cursor that another RISC of the core has moved may land in its control block: that is told then. */
    bool moved_beside = false;
    for (const program *other = p - risc; other < p - risc + RISCS; other++)
        moved_beside |= other->injury == MOVED;
    if (p->injury == NONE && !core_restarted && (moved_beside ? !told && !right : told || !right))
        fail_msg("core %u,%u %s, marks %x, tail %x, mode %d: not damaged, %u records of %u and %llu dropped, "
                 "%u altered; %llu words damaged, "
                 "unknown %llu",
                 core.x, core.y, device->board.riscs[risc].name, c->marks, c->tail, (int)device->recording,
                 matched, n, (unsigned long long)lost[DL_LOSS_DROPPED], altered,
                 (unsigned long long)lost[DL_LOSS_DAMAGED], (unsigned long long)lost[DL_LOSS_UNKNOWN]);
    tally *t = &tallies[p->injury];
    t->programs++;
    if (told)
        *(right ? &t->told_needlessly : &t->told) += 1;
    else
        *(right ? &t->harmless : &t->missed) += 1;
    if (!told && !right) t->records_missed += altered + (n > matched ? n - matched : 0);
    pulled_free(&got);
}

/* ---- Outputs ---- */

static void decode_bytes(const char *bytes, size_t n, uint64_t found[DL_FINDINGS], uint64_t *skipped)
{
    devlog_error err = {0};
    dl_decode *d;
    check_ok(dl_decode_new(&d, NULL, &err), &err);
    devlog_status status = dl_decode_memory(d, "log", bytes, n, &err);
    if (!status) status = dl_decode_finish(d, &err);
    memcpy(found, dl_decode_losses(d)->found, DL_FINDINGS * sizeof *found);
    *skipped = dl_losses_skipped(dl_decode_losses(d)) + (status != DEVLOG_OK);
    dl_decode_free(d);
}

/* Whatever is cut off, it is told that something is. */
static void cut_somewhere(const char *bytes, size_t n, size_t from)
{
    uint64_t found[DL_FINDINGS], skipped;
    size_t at = from + chance((uint32_t)(n - from - 60));
    decode_bytes(bytes, at, found, &skipped);
    if (!found[DL_FOUND_NOT_CLOSED] && !found[DL_FOUND_CORRUPT] && !found[DL_FOUND_CUT_CAPTURE] && !skipped)
        fail_msg("a log of %zu bytes that was cut at %zu", n, at);
}

/* `partial`: the device failed while it was read, and what was pulled before is not all that is in the logs, or more. */
static void compare_outputs(const char *folder, bool killed, bool partial)
{
    static const struct {
        dl_loss_zone zone;
        dl_finding finding;
    } same[] = {
        {DL_LOSS_DROPPED, DL_FOUND_DROPPED}, {DL_LOSS_DAMAGED, DL_FOUND_DAMAGED_WORDS},
        {DL_LOSS_UNKNOWN, DL_FOUND_UNKNOWN}, {DL_LOSS_RESTARTED, DL_FOUND_RESTARTED},
        {DL_LOSS_TORN, DL_FOUND_TORN},       {DL_LOSS_AMBIGUOUS, DL_FOUND_AMBIGUOUS},
    };
    static const char *const names[] = {"profile_log_device.csv", "capture.devlog"};
    uint64_t found[2][DL_FINDINGS], skipped;
    for (int i = 0; i < 2; i++) {
        char path[300];
        size_t n;
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        char *bytes = read_bytes(path, &n);
        decode_bytes(bytes, n, found[i], &skipped);
        assert_true(skipped <= (killed && i == 0)); /* its last row may be cut */
        /* The kill may cut a write, and that is told instead. */
        assert_int_equal(found[i][DL_FOUND_NOT_CLOSED] || (killed && found[i][DL_FOUND_CUT_CAPTURE]), killed);
        const char *row = i == 0 ? strstr(bytes, "\n0,") : NULL;
        if (!killed && n > 400) cut_somewhere(bytes, n, row ? (size_t)(row - bytes) + 2 : 8);
        free(bytes);
    }
    if (killed) return; /* between the two files the last launch may be missing in one */
    for (size_t i = 0; i < sizeof same / sizeof same[0] && !partial; i++)
        for (int log = 0; log < 2; log++)
            if (found[log][same[i].finding] != lost_in_run[same[i].zone])
                fail_msg("%s: %s says %llu, the words that were pulled %llu", dl_finding_key(same[i].finding),
                         names[log], (unsigned long long)found[log][same[i].finding],
                         (unsigned long long)lost_in_run[same[i].zone]);
    for (int i = 0; i < DL_FINDINGS; i++)
        if ((dl_finding_is_loss((dl_finding)i) || i == DL_FOUND_CLOCK) && found[0][i] != found[1][i])
            fail_msg("%s: the CSV says %llu, the capture %llu", dl_finding_key((dl_finding)i),
                     (unsigned long long)found[0][i], (unsigned long long)found[1][i]);
}

/* ---- Runs ---- */

typedef struct bench {
    devlog_device *device;
    devlog_program *program;
    devlog_kernel *kernels[RISCS];
    char folder[200];
} bench;

static void open_bench(bench *b, const struct setup *s, const char *folder)
{
    devlog_error err = {0};
    snprintf(b->folder, sizeof b->folder, "%s/%s", root, folder);
    const devlog_device_options options =
        DEVLOG_DEVICE_OPTIONS(.board = "wormhole_b0", .transport = "sim", .sim = "functional=1",
                              .profile = DEVLOG_ON, .timeout_ms = 30000, .log_folder = b->folder);
    setenv("DEVLOG_CLOCK_SYNC", "0", 1);
    check_ok(devlog_device_open(&options, &b->device, &err), &err);
    check_ok(devlog_set_recording(b->device, s->recording, 65536, &err), &err);
    check_ok(devlog_program_create(b->device, &b->program, &err), &err);
    for (uint32_t r = 0; r < RISCS; r++)
        b->kernels[r] = add_kernel(b->program, "tests/sim/kernels/damage.c", b->device->board.riscs[r].name,
                                   (devlog_cores){0, 0, COLUMNS - 1, 0}, s->flags);
}

/* Gives every RISC a program and launches. */
static devlog_status launch_once(bench *b, program made[COLUMNS][RISCS], bool injured)
{
    devlog_error err = {0};
    uint32_t user = b->device->board.user.base;
    for (uint32_t x = 0; x < COLUMNS; x++) {
        for (uint32_t r = 0; r < RISCS; r++) {
            program *p = &made[x][r];
            uint32_t args[2] = {user + r * VM_PROGRAM_BYTES, 0};
            vm_make(&p->vm);
            p->injury = NONE;
            if (injured) injure(p);
            args[1] = p->vm.n;
            check_ok(devlog_kernel_set_args(b->kernels[r], (devlog_core){x, 0}, args, 2, &err), &err);
            if (p->vm.n)
                check_ok(
                    dl_core_write(b->device, (devlog_core){x, 0}, args[0], p->vm.steps, 4 * p->vm.n, &err),
                    &err);
        }
    }
    prepare(b->device, b->program);
    /* What a program wrote far behind its records would be told of the launch that comes upon it. */
    static const uint8_t zeros[DEVLOG_CONTROL_OFFSET(11)];
    for (uint32_t i = 0; i < PER_RUN * DEVLOG_SEGMENTS && b->device->board.segment_bits == 11; i++) {
        uint32_t region = board_profiler_base(&b->device->board, i / 2 % RISCS);
        check_ok(dl_core_write(b->device, (devlog_core){i / 2 / RISCS, 0},
                               region + i % 2 * DEVLOG_SEGMENT_STRIDE(11), zeros, sizeof zeros, &err),
                 &err);
    }
    check_ok(control_arm(b->device, b->program, &err), &err);
    return program_launch(b->device, b->program, &err);
}

/* False: the device has failed for good. */
static bool run_once(bench *b)
{
    static program made[COLUMNS][RISCS];
    static tally before[INJURIES];
    devlog_error err = {0};
    memset(lost_in_run, 0, sizeof lost_in_run);
    memcpy(before, tallies, sizeof before);
    check_ok(devlog_set_profiler_location(b->device, b->folder, &err), &err);
    devlog_status status = launch_once(b, made, true);
    bool null_called = false;
    for (uint32_t x = 0; x < COLUMNS; x++) {
        /* It hangs, was started again, or the whole device has failed. */
        bool restarted = !b->device->booted[x] || b->device->ended != b->device->launches;
        for (uint32_t r = 0; r < RISCS; r++)
            restarted |= made[x][r].injury == NULL_CALL;
        null_called |= restarted;
        for (uint32_t r = 0; r < RISCS; r++)
            judge(b->device, b->program, (devlog_core){x, 0}, r, &made[x][r], restarted);
    }
    if (status != DEVLOG_ERR_TIMEOUT) /* damage may hang a core */
        assert_int_equal(status, null_called ? DEVLOG_ERR_DEVICE : DEVLOG_OK);
    /* What a program hurt may run on, and stop the simulator while the others are read. */
    status = profiler_dump(b->device, &err);
    const bool partial = status == DEVLOG_ERR_PARTIAL;
    if (!partial) check_ok(status, &err);
    if (partial && !strstr(err.text, "are missing from")) fail_msg("'%s'", err.text);
    devices_failed += partial;
    if (partial) memcpy(tallies, before, sizeof before); /* that is told of all of them */
    /* Elsewhere, so that the logs are closed. */
    char other[256];
    snprintf(other, sizeof other, "%s/other", root);
    check_ok(devlog_set_profiler_location(b->device, other, &err), &err);
    compare_outputs(b->folder, false, partial);
    return !partial;
}

static void close_bench(bench *b)
{
    devlog_error err = {0};
    devlog_program_free(b->program);
    check_ok(devlog_device_close(b->device, &err), &err);
}

static uint32_t wanted(void)
{
    const char *text = getenv("DEVLOG_TEST_PROGRAMS");
    return text ? (uint32_t)strtoul(text, NULL, 10) : 120;
}

static void damage_is_told_alike(void **state)
{
    (void)state;
    const char *other = getenv("DEVLOG_TEST_SEED"); /* for programs that were not tried before */
    if (other) seed = strtoull(other, NULL, 10);
    uint32_t n = wanted(), used = n >= SETUPS * PER_RUN * 5 ? SETUPS : SETUPS_AT_LEAST;
    for (uint32_t s = 0; s < used; s++) {
        bench b;
        open_bench(&b, &setups[s], "run");
        for (uint32_t done = 0; done < n / used; done += PER_RUN) {
            if (run_once(&b)) continue;
            close_bench(&b);
            open_bench(&b, &setups[s], "run");
        }
        close_bench(&b);
    }
    static const char *const names[] = {"none", "overwritten words", "moved cursor", "null call"};
    uint32_t told = 0, missed = 0;
    for (int i = 0; i < INJURIES; i++) {
        const tally *t = &tallies[i];
        printf(
            "%-18s %5u programs: %5u lost nothing, %5u told, %4u told although nothing was lost, %4u missed "
            "(%u records)\n",
            names[i], t->programs, t->harmless, t->told, t->told_needlessly, t->missed, t->records_missed);
        told += t->told;
        missed += t->missed;
    }
    printf("told: %u of %u programs that lost or altered something; %u devices failed while they were read\n",
           told, told + missed, devices_failed);
    assert_int_equal(tallies[NULL_CALL].missed, 0);
    assert_true(told > 0 && told >= 4 * missed); /* docs/markers.md has what 10,000 gave */
}

/* A run that is killed, anywhere: both logs say so. */
static void killed_runs_are_told(void **state)
{
    (void)state;
    uint32_t kills = 1 + wanted() / 500;
    for (uint32_t k = 0; k < kills; k++) {
        char folder[32], csv[300], capture[300];
        struct stat st, beside;
        snprintf(folder, sizeof folder, "killed-%u", k);
        snprintf(csv, sizeof csv, "%s/%s/profile_log_device.csv", root, folder);
        snprintf(capture, sizeof capture, "%s/%s/capture.devlog", root, folder);
        pid_t pid = fork();
        if (pid == 0) {
            bench b;
            static program made[COLUMNS][RISCS];
            devlog_error err;
            open_bench(&b, &setups[0], folder);
            for (;;) {
                launch_once(&b, made, false);
                profiler_dump(b.device, &err);
            }
        }
        assert_true(pid > 0);
        off_t until = 1000 + chance(200000);
        /* A capture without a byte is told too, in other words. */
        while (stat(csv, &st) != 0 || st.st_size < until || stat(capture, &beside) != 0 ||
               beside.st_size == 0)
            if (waitpid(pid, NULL, WNOHANG) == pid)
                fail_msg("the run ended by itself");
            else
                nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        snprintf(csv, sizeof csv, "%s/%s", root, folder);
        compare_outputs(csv, true, false);
    }
}

int main(void)
{
    snprintf(root, sizeof root, "%s", test_folder());
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(damage_is_told_alike),
        cmocka_unit_test(killed_runs_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
