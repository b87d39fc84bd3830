/* Files that all ranks write: what devlog-mpi wants of MPI-IO. */
#include "team_file.h"

#include <errno.h>
#include <mpi.h>
#include <stdlib.h>

#include "base/file.h"
#include "team_internal.h"

enum { PIECE = 256 * 1024 * 1024 };

struct team_file {
    MPI_File file;
    const char *path;
};

/* MPI has its own numbers of what can go wrong; that of the system is there, too, where it was the system. */
static devlog_status unwritten(const team_file *f, int code, int errnum, devlog_error *err)
{
    char why[MPI_MAX_ERROR_STRING] = "";
    int class = MPI_ERR_OTHER, n = 0;
    MPI_Error_class(code, &class);
    if (class == MPI_ERR_NO_SPACE) errnum = ENOSPC;
    if (class == MPI_ERR_QUOTA) errnum = EDQUOT;
    if (errnum) return dl_file_unwritten(f->path, errnum, err);
    MPI_Error_string(code, why, &n);
    return dl_fail(err, DEVLOG_ERR_IO, "cannot write %s: %.150s", f->path, why);
}

devlog_status team_file_open(team *r, team_file **file, const char *path, devlog_error *err)
{
    team_file *f = calloc(1, sizeof *f);
    if (!f) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    f->path = path;
    int code;
    errno = 0;
    IN_MPI(r, code = MPI_File_open(MPI_COMM_SELF, path, MPI_MODE_WRONLY, MPI_INFO_NULL, &f->file));
    if (code == MPI_SUCCESS) {
        *file = f;
        return DEVLOG_OK;
    }
    const devlog_status status = unwritten(f, code, errno, err);
    free(f);
    return status;
}

devlog_status team_file_write(team *r, team_file *f, uint64_t at, const void *bytes, size_t n,
                              devlog_error *err)
{
    const char *from = bytes;
    while (n) {
        const int some = n < PIECE ? (int)n : PIECE;
        MPI_Status done;
        int code, written = 0;
        errno = 0;
        IN_MPI(r, code = MPI_File_write_at(f->file, (MPI_Offset)at, from, some, MPI_BYTE, &done));
        const int errnum = errno;
        if (code == MPI_SUCCESS) MPI_Get_count(&done, MPI_BYTE, &written);
        if (code != MPI_SUCCESS || written <= 0) return unwritten(f, code, errnum, err);
        from += written; /* where a disk is full that are less than were asked for; then none */
        at += (uint64_t)written;
        n -= (size_t)written;
    }
    return DEVLOG_OK;
}

devlog_status team_file_close(team *r, team_file *f, devlog_status status, devlog_error *err)
{
    if (!f) return status;
    int code;
    errno = 0;
    IN_MPI(r, code = MPI_File_close(&f->file));
    if (code != MPI_SUCCESS && !status) status = unwritten(f, code, errno, err);
    free(f);
    return status;
}
