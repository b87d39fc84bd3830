/* Files: reading a whole file, writing one so that a reader never sees half of it, making folders. Not for
 * logs: decode/input.h streams those. */
#ifndef DEVLOG_BASE_FILE_H
#define DEVLOG_BASE_FILE_H

#include "base/str.h"

/* Appends the whole file to *out. Fails with NOT_FOUND, IO, or ARGUMENT when it holds more than `max` bytes.
 */
devlog_status dl_file_read(const char *path, size_t max, dl_str *out, devlog_error *err);

/* Makes `path` and its parents; an existing folder is no error. */
devlog_status dl_folder_make(const char *path, devlog_error *err);
/* What kind of file system it is on, if that is one on which many small writes are slow; NULL: it is none, or nobody knows. */
const char *dl_folder_slow(const char *path);
/* The same by statfs.f_type. */
const char *dl_file_system_slow(unsigned long type);

/* That `path` could not be written, and what to do where it is for want of room. */
devlog_status dl_file_unwritten(const char *path, int errnum, devlog_error *err);

/* A file in the making: written under a temporary name beside `path`, renamed to it by dl_file_commit. */
typedef struct dl_file_writer {
    char *path, *temporary; /* NULL: what is written goes to where it belongs at once */
    int fd;
    bool opened;         /* of those without a temporary name: fd is ours to close */
    bool terminal;       /* gets whole lines, cleaned (dl_shown_on_terminal) */
    bool sync;           /* set by who cannot make the file again: it is on the disk before it has its name */
    dl_str buffer, line; /* `line`: what a terminal has not got yet */
    uint64_t written;    /* bytes before those in `buffer` */
    struct dl_file_writer *copy; /* gets all that is written from now on, too; NULL: none */
    devlog_status status;        /* of the first failure, which dl_file_commit reports */
    int errnum;
} dl_file_writer;

/* A file appears whole or not at all, in the place of the one that was there (a link's target in the place of its target).
 * What is no file but a device or a pipe is written to, and stays what it is. */
devlog_status dl_file_create(dl_file_writer *w, const char *path, devlog_error *err);
/* Text may be appended to w->buffer; call this now and then to write what has gathered (over 64 KiB). */
void dl_file_flush(dl_file_writer *w);
/* The same as appending bytes to w->buffer, for many of them. */
void dl_file_put(dl_file_writer *w, const void *bytes, size_t n);
/* Overwrites what was written. */
void dl_file_patch(dl_file_writer *w, uint64_t at, const void *bytes, size_t n);
/* The next n bytes are written by somebody else. Not the last ones of a file. */
void dl_file_skip(dl_file_writer *w, uint64_t n);
/* How many bytes it has by now. */
static inline uint64_t dl_file_written(const dl_file_writer *w)
{
    return w->written + w->buffer.len;
}
/* Writes the rest, renames. On failure the temporary file is removed and `path` is as it was. Frees.
 */
devlog_status dl_file_commit(dl_file_writer *w, devlog_error *err);
/* The same for a file descriptor that is open already, such as standard output; `name` is for messages. It
 * stays open, and dl_file_commit does not rename it. */
devlog_status dl_file_stream(dl_file_writer *w, int fd, const char *name, devlog_error *err);
/* Throws the file away. Frees. */
void dl_file_abandon(dl_file_writer *w);

/* Files that belong together: each whole under its temporary name before the first has its own, so that a
 * full disk leaves none of them, and what was there before as it was. Zero is an empty set. */
typedef struct dl_file_set {
    dl_file_writer *files;
    size_t n, cap;
} dl_file_set;

/* Writes the rest of a file and takes it over; on failure it is abandoned. */
devlog_status dl_file_set_take(dl_file_set *set, dl_file_writer *w, devlog_error *err);
/* Renames all of them. Frees, as does dl_file_set_abandon, which throws them away. */
devlog_status dl_file_set_commit(dl_file_set *set, devlog_error *err);
void dl_file_set_abandon(dl_file_set *set);

/* How many bytes of `path` name folders that are there; dl_folder_unmake removes the others, if they are
 * empty: what dl_folder_make has made. */
size_t dl_folder_there(const char *path);
void dl_folder_unmake(const char *path, size_t there);

/* Removes a folder that holds nothing but files. */
void dl_folder_remove(const char *path);

/* Marks an open file as being written, until it is closed, and tells whether nobody else does (two devices of
 * one program write one log). */
bool dl_file_alone(int fd);

/* Writes all of it to a file descriptor; returns 0 or an errno. */
int dl_write_all(int fd, const void *bytes, size_t n);

/* folder/name, or name alone when it is absolute or the folder is empty; the caller frees; NULL: no memory.
 */
char *dl_path_join(const char *folder, const char *name);

/* Prints a text that a command has made on standard output; also fails when it could not be made whole. */
devlog_status dl_print(const dl_str *text, devlog_error *err);

#endif
