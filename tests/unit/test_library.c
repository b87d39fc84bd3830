/* What is loaded and synced only where it is needed: libraries that a command does not use, and files that
 * can be made again; and that a file which is written does not take the place of what is none. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/library.h"
#include "base/process.h"
#include "support/cli.h"
#include "support/files.h"

static int syncs;

/* In place of the C library's. */
int fsync(int fd)
{
    (void)fd;
    syncs++;
    return 0;
}

static void a_library_gives_its_functions(void **state)
{
    (void)state;
    static const char *const names[] = {"cos", "sin"}, *const wrong[] = {"cos", "no_such_function"};
    struct {
        double (*cos)(double), (*sin)(double);
    } m = {0};
    devlog_error err = {0};
    for (int i = 0; i < 2; i++) { /* twice is once */
        assert_int_equal(dl_library_load("libm.so.6", names, 2, &m, &err), DEVLOG_OK);
        assert_true(m.cos(0.0) == 1.0 && m.sin(0.0) == 0.0);
    }
    assert_int_equal(dl_library_load("libm.so.6", wrong, 2, &m, &err), DEVLOG_ERR_NOT_FOUND);
    assert_non_null(strstr(err.text, "libm.so.6 has no function no_such_function"));
    assert_int_equal(dl_library_load("libno-such.so.1", names, 2, &m, &err), DEVLOG_ERR_NOT_FOUND);
    assert_non_null(strstr(err.text, "cannot load libno-such.so.1"));
}

/* What the dynamic linker loads before main, whatever the command. */
static void the_program_starts_without_what_few_commands_use(void **state)
{
    (void)state;
    static const char *const late[] = {"libmicrohttpd", "libgnutls", "libusb", "libsqlite3", "libarchive"};
    dl_str line = {0};
    dl_output out;
    devlog_error err;
    dl_str_fmt(&line, "LD_TRACE_LOADED_OBJECTS=1 '%s'", getenv("DEVLOG_BIN"));
    const char *argv[] = {"/bin/sh", "-c", line.text, NULL};
    assert_int_equal(dl_process_run(argv, &out, &err), DEVLOG_OK);
    assert_int_equal(out.exit, 0);
    assert_non_null(strstr(out.text, "libc.so"));
    for (size_t i = 0; i < sizeof late / sizeof late[0]; i++)
        if (strstr(out.text, late[i])) fail_msg("%s is loaded by every command", late[i]);
    free(out.text);
    dl_str_free(&line);
}

/* Only what cannot be made again waits for the disk. */
static void derived_files_are_not_synced(void **state)
{
    (void)state;
    for (int sync = 0; sync < 2; sync++) {
        dl_file_writer w;
        dl_file_set set = {0};
        devlog_error err;
        size_t n;
        for (int i = 0; i < 2; i++) {
            assert_int_equal(dl_file_create(&w, in_scratch(i ? "b" : "a"), &err), DEVLOG_OK);
            w.sync = sync;
            dl_str_add(&w.buffer, "text");
            syncs = 0;
            if (i)
                assert_int_equal(dl_file_commit(&w, &err), DEVLOG_OK);
            else
                assert_int_equal(dl_file_set_take(&set, &w, &err), DEVLOG_OK);
            assert_int_equal(syncs, sync);
        }
        assert_int_equal(dl_file_set_commit(&set, &err), DEVLOG_OK);
        char *text = read_bytes(in_scratch("a"), &n);
        assert_string_equal(text, "text");
        free(text);
    }
}

/* A copy gets the same bytes, in whatever pieces they come; patches stay in their file. */
static void a_copy_gets_what_is_written(void **state)
{
    (void)state;
    static char big[200 * 1000];
    dl_file_writer w, copy;
    devlog_error err;
    memset(big, 'b', sizeof big - 1);
    assert_int_equal(dl_file_create(&w, in_scratch("file"), &err), DEVLOG_OK);
    assert_int_equal(dl_file_create(&copy, in_scratch("copy"), &err), DEVLOG_OK);
    dl_str_add(&copy.buffer, "head ");
    w.copy = &copy;
    dl_str_add(&w.buffer, "begin ");
    assert_int_equal(dl_file_written(&w), 6);
    dl_file_put(&w, "small ", 6);
    dl_file_put(&w, big, sizeof big - 1);
    dl_file_put(&w, " end", 4);
    assert_int_equal(dl_file_written(&w), 16 + sizeof big - 1);
    dl_file_patch(&w, 0, "BEGIN", 5);
    assert_int_equal(dl_file_commit(&w, &err), DEVLOG_OK);
    dl_file_patch(&copy, 0, "HEAD", 4);
    assert_int_equal(dl_file_commit(&copy, &err), DEVLOG_OK);
    size_t n;
    char *text = read_bytes(in_scratch("file"), &n), *copied = read_bytes(in_scratch("copy"), &n);
    assert_memory_equal(text, "BEGIN small bbb", 15);
    assert_string_equal(text + 12 + sizeof big - 1, " end");
    assert_memory_equal(copied, "HEAD begin ", 11);
    assert_string_equal(copied + 11, text + 6);
    free(text);
    free(copied);
}

/* A pipe is written to and stays one, and so does a link: what it points to gets the bytes. */
static void what_is_no_file_is_not_replaced(void **state)
{
    (void)state;
    dl_file_writer w;
    devlog_error err;
    struct stat st;
    char text[8] = "";
    assert_int_equal(mkfifo(in_scratch("pipe"), 0600), 0);
    int reader = open(in_scratch("pipe"), O_RDONLY | O_NONBLOCK);
    assert_true(reader >= 0);
    for (int in_a_set = 0; in_a_set < 2; in_a_set++) {
        dl_file_set set = {0};
        assert_int_equal(dl_file_create(&w, in_scratch("pipe"), &err), DEVLOG_OK);
        w.sync = true;
        dl_str_add(&w.buffer, "text");
        if (in_a_set) assert_int_equal(dl_file_set_take(&set, &w, &err), DEVLOG_OK);
        assert_int_equal(in_a_set ? dl_file_set_commit(&set, &err) : dl_file_commit(&w, &err), DEVLOG_OK);
        assert_int_equal(read(reader, text, sizeof text), 4);
        assert_memory_equal(text, "text", 4);
        assert_int_equal(stat(in_scratch("pipe"), &st), 0);
        assert_true(S_ISFIFO(st.st_mode));
    }
    close(reader);
    assert_int_equal(symlink("target", in_scratch("link")), 0);
    write_text(in_scratch("target"), "before");
    write_text(in_scratch("link"), "behind");
    assert_int_equal(lstat(in_scratch("link"), &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    size_t n;
    char *target = read_bytes(in_scratch("target"), &n);
    assert_string_equal(target, "behind");
    free(target);
    if (access("/dev/full", W_OK) != 0 || symlink("/dev/full", in_scratch("full")) != 0) skip();
    assert_int_equal(dl_file_create(&w, in_scratch("full"), &err), DEVLOG_OK);
    dl_str_add(&w.buffer, "text");
    assert_int_equal(dl_file_commit(&w, &err), DEVLOG_ERR_IO);
    assert_non_null(strstr(err.text, "full: No space left on device"));
    assert_int_equal(lstat(in_scratch("full"), &st), 0);
    assert_true(S_ISLNK(st.st_mode));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_library_gives_its_functions),
        cmocka_unit_test(the_program_starts_without_what_few_commands_use),
        cmocka_unit_test(derived_files_are_not_synced),
        cmocka_unit_test(a_copy_gets_what_is_written),
        cmocka_unit_test(what_is_no_file_is_not_replaced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
