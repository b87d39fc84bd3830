/* Large arrays: what is in them survives growing, moving into a file, and cooling. */
#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/big.h"
#include "support/cmocka_all.h"
#include "support/device.h"

enum { MANY = 3000000 };

/* Whether it moved into a file. */
static bool fill(dl_big *b)
{
    uint64_t *numbers = NULL;
    for (size_t i = 0; i < MANY; i++) {
        if ((i + 1) * sizeof *numbers > b->bytes) {
            assert_true(dl_big_room(b, (i + 1) * sizeof *numbers));
            numbers = b->data;
        }
        numbers[i] = i * 0x9E3779B97F4A7C15u;
        if (i % 500000 == 0) dl_big_cool(b);
    }
    dl_big_cool(b);
    for (size_t i = 0; i < MANY; i++)
        if (numbers[i] != i * 0x9E3779B97F4A7C15u) fail_msg("number %zu is another", i);
    return b->file != 0;
}

/* Tests run in folders of file systems of any kind; some cannot promise room. */
static void contents_survive(void **state)
{
    (void)state;
    dl_big b = {.folder = test_folder()};
    bool in_file = fill(&b);
    if (!in_file) print_message("this file system cannot promise room: in memory\n");
    if (in_file) assert_int_equal(lseek(b.file - 1, 0, SEEK_END), b.bytes);
    dl_big_free(&b);
    assert_null(b.data);
}

static void memory_will_do(void **state)
{
    (void)state;
    static const char *const folders[] = {NULL, "/nonexistent", "/proc", "/dev/shm"};
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        dl_big b = {.folder = folders[i]};
        assert_false(fill(&b));
        dl_big_free(&b);
    }
}

static void small_ones_need_no_file(void **state)
{
    (void)state;
    dl_big b = {.folder = test_folder()};
    assert_true(dl_big_room(&b, DL_BIG_FROM / 2));
    assert_int_equal(b.file, 0);
    dl_big_cool(&b);
    dl_big_free(&b);
}

/* A file that cannot grow further gives its contents back to memory. */
static void a_full_disk_is_no_loss(void **state)
{
    (void)state;
    dl_big b = {.folder = test_folder()};
    assert_true(dl_big_room(&b, 2 * DL_BIG_FROM));
    if (!b.file) {
        dl_big_free(&b);
        skip();
    }
    memset(b.data, 7, b.bytes);
    size_t before = b.bytes;
    int file = b.file - 1, read_only = open("/dev/null", O_RDONLY);
    assert_int_equal(dup2(read_only, file), file); /* which cannot be written to */
    close(read_only);
    assert_true(dl_big_room(&b, 2 * before));
    assert_int_equal(b.file, 0);
    for (size_t i = 0; i < before; i++)
        assert_int_equal(((char *)b.data)[i], 7);
    dl_big_free(&b);
}

/* A report is written beside the arrays that it is made of: they take no more of a small disk than they leave. */
static void half_of_a_small_disk_stays_free(void **state)
{
    (void)state;
    char line[400], folder[300];
    snprintf(folder, sizeof folder, "%s/small", test_folder());
    snprintf(line, sizeof line,
             "mkdir -p %s && truncate -s 96M %s.img && mkfs.ext4 -q %s.img && mount -o loop %s.img %s",
             folder, folder, folder, folder, folder);
    /* In a name space of its own, with which the mount ends. */
    if (unshare(CLONE_NEWNS) != 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        system(line) != 0) {
        fprintf(stderr, "SKIPPED: no file system can be mounted here\n");
        skip();
    }
    dl_big b = {.folder = folder};
    struct statvfs disk;
    const size_t piece = 4 * 1024 * 1024;
    bool was_in_file = false;
    for (size_t n = piece; n < 24 * piece; n += piece) {
        assert_true(dl_big_room(&b, n));
        memset((char *)b.data + n - piece, (int)(n / piece), piece);
        was_in_file |= b.file != 0;
        assert_int_equal(statvfs(folder, &disk), 0);
        if (b.file) assert_true((uint64_t)disk.f_bavail * disk.f_frsize >= b.bytes);
    }
    assert_true(was_in_file && !b.file);
    for (size_t i = 0; i < 23 * piece; i += 1000)
        assert_int_equal(((unsigned char *)b.data)[i], 1 + i / piece);
    dl_big_free(&b);
    assert_int_equal(umount(folder), 0);
}

/* More than one call lets go at once (64), and none where there is no folder. */
static void pieces_survive(void **state)
{
    (void)state;
    enum { PIECES = 70, EACH = DL_BIG_PIECE / sizeof(uint64_t) };
    static uint64_t *at[PIECES];
    dl_big_pieces p = {.folder = "/tmp"};
    for (uint64_t i = 0; i < PIECES; i++) {
        at[i] = dl_big_piece(&p);
        if (!at[i]) {
            dl_big_pieces_free(&p);
            skip(); /* the file system promises no room */
        }
        for (size_t k = 0; k < EACH; k += EACH - 1) {
            assert_int_equal(at[i][k], 0);
            at[i][k] = i * 1000 + k;
        }
        if (i % 10 == 9) dl_big_pieces_cool(&p);
    }
    dl_big_pieces_cool(&p);
    for (uint64_t i = 0; i < PIECES; i++)
        for (size_t k = 0; k < EACH; k += EACH - 1)
            assert_int_equal(at[i][k], i * 1000 + k);
    dl_big_pieces_free(&p);
    dl_big_pieces none = {.folder = "/no/such/folder"};
    assert_null(dl_big_piece(&none));
    dl_big_pieces_cool(&none);
    dl_big_pieces_free(&none);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contents_survive),
        cmocka_unit_test(memory_will_do),
        cmocka_unit_test(small_ones_need_no_file),
        cmocka_unit_test(a_full_disk_is_no_loss),
        cmocka_unit_test(half_of_a_small_disk_stays_free),
        cmocka_unit_test(pieces_survive),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
