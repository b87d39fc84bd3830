/* The team: what devlog-mpi wants of MPI. */
#include "team.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/settings.h"
#include "team_internal.h"

enum { PIECE = 256 * 1024 * 1024, TAG = 1, HOST = 256 };

/* The library that was found is the one that was compiled for: of one series they are compatible, of others not. */
static devlog_status check_library(devlog_error *err)
{
    char text[MPI_MAX_LIBRARY_VERSION_STRING];
    int n = 0, major = -1;
    MPI_Get_library_version(text, &n);
    text[n < (int)sizeof text ? n : (int)sizeof text - 1] = 0;
    text[strcspn(text, ",\n")] = 0;
    const char *at = strstr(text, "Open MPI v");
    if (at) major = atoi(at + strlen("Open MPI v"));
    if (major == OMPI_MAJOR_VERSION) return DEVLOG_OK;
    return dl_fail(
        err, DEVLOG_ERR_UNSUPPORTED,
        "it was built for Open MPI %d.%d, and the library that was found is %.80s: build it again, or set "
        "LD_LIBRARY_PATH",
        OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION, text);
}

/* Processes that another MPI's launcher has started do not see one another. */
static devlog_status check_launcher(const team *r, devlog_error *err)
{
    const char *asked = dl_setting_text(DL_SET_SIZE_PMI);
    const long n = asked ? strtol(asked, NULL, 10) : 0;
    if (r->n > 1 || n < 2) return DEVLOG_OK;
    return dl_fail(
        err, DEVLOG_ERR_UNSUPPORTED,
        "%ld processes were started and each sees itself only: the launcher is of another MPI; take mpirun of "
        "Open MPI %d.%d",
        n, OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION);
}

devlog_status team_begin(team *r, int *argc, char ***argv, devlog_error *err)
{
    devlog_status status = check_library(err);
    if (status) return status;
    /* ROMIO writes files, where Open MPI was built with it. OMPIO, which it prefers, opens a file of its own beside each for
     * pointers that ranks share, which nothing here has; a rank without room for that file ends with a bus error. The user's
     * own choice stays. */
    setenv("OMPI_MCA_io_ompio_priority", "1", 0);
    int started;
    IN_MPI(r, started = MPI_Init(argc, argv));
    if (started != MPI_SUCCESS) return dl_fail(err, DEVLOG_ERR_IO, "MPI does not start");
    MPI_Comm_rank(MPI_COMM_WORLD, &r->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &r->n);
    status = check_launcher(r, err);
    if (status) MPI_Finalize();
    return status;
}

void team_end(void)
{
    MPI_Finalize();
}

static void host_name(char host[HOST])
{
    if (gethostname(host, HOST) != 0) host[0] = 0;
    host[HOST - 1] = 0;
}

void team_die(const team *r, const char *text)
{
    char host[HOST];
    host_name(host);
    fflush(stdout);
    fprintf(stderr, "%s: rank %d of %d on %s: %s\n", r->what, r->rank, r->n, host, text);
    fflush(stderr);
    MPI_Abort(MPI_COMM_WORLD, 1);
    abort();
}

static void send_pieces(team *r, int to, const char *bytes, uint64_t n)
{
    for (uint64_t at = 0; at < n; at += PIECE)
        IN_MPI(r, MPI_Send(bytes + at, (int)(n - at < PIECE ? n - at : PIECE), MPI_BYTE, to, TAG,
                           MPI_COMM_WORLD));
    r->sent += n;
}

void team_send(team *r, int to, const void *bytes, size_t n)
{
    uint64_t size = n;
    IN_MPI(r, MPI_Send(&size, 1, MPI_UINT64_T, to, TAG, MPI_COMM_WORLD));
    r->sent += sizeof size;
    send_pieces(r, to, bytes, size);
}

void team_receive(team *r, int from, dl_str *bytes)
{
    uint64_t size = 0;
    IN_MPI(r, MPI_Recv(&size, 1, MPI_UINT64_T, from, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    dl_str_clear(bytes);
    if (!dl_str_reserve(bytes, size)) team_die(r, "out of memory for what another rank sends");
    for (uint64_t at = 0; at < size; at += PIECE)
        IN_MPI(r, MPI_Recv(bytes->text + at, (int)(size - at < PIECE ? size - at : PIECE), MPI_BYTE, from,
                           TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    bytes->len = size;
    bytes->text[size] = 0;
    r->received += size + sizeof size;
}

void team_tell(team *r, dl_str *bytes)
{
    uint64_t size = bytes->len;
    IN_MPI(r, MPI_Bcast(&size, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD));
    if (r->rank) dl_str_clear(bytes);
    if (r->rank && !dl_str_reserve(bytes, size)) team_die(r, "out of memory for what rank 0 says");
    for (uint64_t at = 0; at < size; at += PIECE)
        IN_MPI(r, MPI_Bcast(bytes->text + at, (int)(size - at < PIECE ? size - at : PIECE), MPI_BYTE, 0,
                            MPI_COMM_WORLD));
    if (r->rank) bytes->len = size;
    if (r->rank) r->received += size + sizeof size;
}

void team_collect(team *r, const dl_str *bytes, dl_str *all)
{
    if (r->rank) {
        team_send(r, 0, bytes->text, bytes->len);
        return;
    }
    dl_str_add_n(&all[0], bytes->text, bytes->len);
    for (int i = 1; i < r->n; i++)
        team_receive(r, i, &all[i]);
}

void team_sum(team *r, uint64_t *numbers, int n)
{
    if (r->rank == 0)
        IN_MPI(r, MPI_Reduce(MPI_IN_PLACE, numbers, n, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD));
    else
        IN_MPI(r, MPI_Reduce(numbers, NULL, n, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD));
    if (r->rank) r->sent += (uint64_t)n * sizeof *numbers;
}

int team_worst(team *r, int value)
{
    int worst = value;
    IN_MPI(r, MPI_Allreduce(&value, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD));
    return worst;
}

devlog_status team_outcome(team *r, devlog_status status, devlog_error *err)
{
    struct {
        int rank, status;
        char host[HOST];
        devlog_error err;
    } said = {.rank = status ? r->rank : r->n, .status = (int)status};
    int first;
    IN_MPI(r, MPI_Allreduce(&said.rank, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
    if (first == r->n) return DEVLOG_OK;
    if (status) said.err = *err;
    host_name(said.host);
    IN_MPI(r, MPI_Bcast(&said, sizeof said, MPI_BYTE, first, MPI_COMM_WORLD));
    return dl_fail(err, (devlog_status)said.status, "rank %d of %d on %s: %.400s", first, r->n, said.host,
                   said.err.text);
}

devlog_status team_agree(team *r, devlog_status status, const devlog_error *err)
{
    devlog_error said = *err;
    const devlog_status outcome = team_outcome(r, status, &said);
    if (outcome && r->rank == 0) fprintf(stderr, "%s: %s\n", r->what, said.text);
    return outcome;
}
