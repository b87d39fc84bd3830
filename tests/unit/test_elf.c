/* ELF files of device code: the wrong class, machine or type is said; a file that is cut anywhere is refused
 * or read, and never read past its end. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/elf.h"
#include "program/compile.h"
#include "support/device.h"
#include "support/files.h"

static void refused(const char *path, const char *says)
{
    dl_elf elf;
    devlog_error err = {0};
    assert_int_equal(dl_elf_read(path, &elf, &err), DEVLOG_ERR_FORMAT);
    if (!strstr(err.text, says)) fail_msg("'%s' does not say '%s'", err.text, says);
}

static void wrong_files_are_refused(void **state)
{
    (void)state;
    char path[256];
    snprintf(path, sizeof path, "%s/text.elf", test_folder());
    write_text(path, "not an ELF file, but long enough to be one, with more text behind it");
    refused(path, "not an ELF file");
    refused("/proc/self/exe", "64-bit");
    dl_elf elf;
    devlog_error err = {0};
    assert_int_equal(dl_elf_read("/nowhere.elf", &elf, &err), DEVLOG_ERR_NOT_FOUND);
}

static char *firmware(size_t *size)
{
    static board b;
    devlog_error err = {0};
    char path[COMPILE_PATH];
    check_ok(board_load("wormhole_b0", &b, &err), &err);
    compile_job job = {
        .board = &b, .risc = 0, .profile = true, .source = source_path("firmware/kernels/vector_add.c")};
    check_ok(compile(&job, path, &err), &err);
    return read_bytes(path, size);
}

static void sites_have_names(void **state)
{
    (void)state;
    size_t size;
    char *bytes = firmware(&size);
    dl_elf elf;
    devlog_error err = {0};
    check_ok(dl_elf_parse((uint8_t *)bytes, size, "x.elf", &elf, &err), &err);
    assert_true(elf.profiled);
    assert_int_equal(elf.build_id_size, 20);
    assert_int_equal(elf.entry, 0x20000);
    const dl_elf_site *site = dl_elf_site_of(&elf, false, 0x10);
    assert_non_null(site);
    assert_string_equal(site->name, "add block");
    assert_non_null(strstr(site->file, "vector_add.c"));
    assert_int_equal(site->line, 12);
    assert_null(dl_elf_site_of(&elf, false, 0x12));
    assert_null(dl_elf_site_of(&elf, true, 0x10));
    assert_true(elf.n_patches >= 2);
    dl_elf_free(&elf);
}

static void cut_and_damaged_files(void **state)
{
    (void)state;
    size_t size;
    char *bytes = firmware(&size);
    uint32_t x = 1;
    for (uint32_t i = 0; i < 3000; i++) {
        x = x * 1664525u + 1013904223u;
        size_t n = i < 1500 ? size * i / 1500 : size;
        uint8_t *copy = malloc(n ? n : 1);
        assert_non_null(copy);
        memcpy(copy, bytes, n);
        if (i >= 1500) copy[(x >> 4) % (i & 1 ? 52 : size)] ^= (uint8_t)(1u << (x & 7));
        dl_elf elf;
        devlog_error err = {0};
        if (dl_elf_parse(copy, n, "x.elf", &elf, &err) == DEVLOG_OK)
            dl_elf_free(&elf);
        else
            free(copy);
    }
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_files_are_refused),
        cmocka_unit_test(sites_have_names),
        cmocka_unit_test(cut_and_damaged_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
