/* The descriptor of a log that is open for as long as somebody else's program runs. That program may close it: daemons close all
 * descriptors that they find. What the program opens then must not get our rows: the log has a number far above those that its files get,
 * and before it is written it is looked at whether that is still the log, which is opened again if not. Not for files that a command
 * writes (base/file.h). */
#ifndef DEVLOG_BASE_LOG_FILE_H
#define DEVLOG_BASE_LOG_FILE_H

#include <stdbool.h>
#include <sys/types.h>

typedef struct dl_log_file {
    int fd;     /* -1: not open */
    char *path; /* absolute, for the program may change its folder, too */
    int flags;
    dev_t device; /* which file it is */
    ino_t inode;
} dl_log_file;

/* For what is not open. */
#define DL_LOG_FILE_NONE ((dl_log_file){.fd = -1})

/* Opens it with open()'s `flags`; 0 or an errno, and then it is not open. */
int dl_log_file_open(dl_log_file *f, const char *path, int flags);
/* Opens it again where f->fd is not the log any more. 0 or an errno: ENOENT or ESTALE when its name is nobody's or another file's now. One
 * thread at a time. A log that was removed and is still open is the log: whoever removes it does not want it. */
int dl_log_file_hold(dl_log_file *f);
/* Closes it where it is still the log. 0 or an errno; it is not open after that in any case. */
int dl_log_file_close(dl_log_file *f);

#endif
