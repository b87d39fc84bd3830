/* The store of results. */
#include "cli/store.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/paths.h"
#include "base/settings.h"

typedef enum state { EMPTY, WORKING, DONE, FAILED } state;

typedef struct entry {
    char id[17];
    uint64_t bytes;
    int64_t time_ns; /* of the log, when it was decoded */
    uint64_t used;   /* counts up; the least was used longest ago */
    unsigned number; /* of its folder */
    state state;
    devlog_error err;
} entry;

enum { FOLDER = 4096, INNER = FOLDER + 16 };

struct cli_store {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    char folder[FOLDER];
    entry entries[CLI_STORE_KEPT];
    uint64_t uses;
    unsigned numbers;
    cli_store_maker *make;
    void *ctx;
};

devlog_status cli_store_new(cli_store **store, cli_store_maker *make, void *ctx, devlog_error *err)
{
    cli_store *s = calloc(1, sizeof *s);
    *store = NULL;
    if (!s) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    const char *tmp = dl_setting_text(DL_SET_TMPDIR);
    devlog_status status =
        dl_join(s->folder, sizeof s->folder, tmp ? tmp : "/tmp", "devlog-serve-XXXXXX", err);
    if (!status && !mkdtemp(s->folder))
        status = dl_fail_errno(err, errno, "cannot make the temporary folder %s", s->folder);
    if (status) {
        free(s);
        return status;
    }
    s->make = make;
    s->ctx = ctx;
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->changed, NULL);
    *store = s;
    return DEVLOG_OK;
}

static void path_of(const cli_store *s, const entry *e, char out[INNER])
{
    snprintf(out, INNER, "%s/%u", s->folder, e->number);
}

static void forget(cli_store *s, entry *e)
{
    char path[INNER];
    path_of(s, e, path);
    if (e->state != EMPTY) dl_folder_remove(path);
    e->state = EMPTY;
}

void cli_store_free(cli_store *s)
{
    if (!s) return;
    for (size_t i = 0; i < CLI_STORE_KEPT; i++)
        forget(s, &s->entries[i]);
    rmdir(s->folder);
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

/* The entry of this log as it is now; NULL when there is none. */
static entry *find(cli_store *s, const cli_log *log)
{
    for (size_t i = 0; i < CLI_STORE_KEPT; i++) {
        entry *e = &s->entries[i];
        if (e->state != EMPTY && strcmp(e->id, log->id) == 0 &&
            e->bytes == log->bytes + log->bytes_of_hosts && e->time_ns == log->time_ns)
            return e;
    }
    return NULL;
}

/* A place for another entry; NULL while all are being worked on. */
static entry *make_room(cli_store *s)
{
    entry *oldest = NULL;
    for (size_t i = 0; i < CLI_STORE_KEPT; i++) {
        entry *e = &s->entries[i];
        if (e->state == EMPTY) return e;
        if (e->state != WORKING && (!oldest || e->used < oldest->used)) oldest = e;
    }
    if (oldest) forget(s, oldest);
    return oldest;
}

/* Called with the lock held, which is let go while the log is decoded. */
static void work(cli_store *s, entry *e, const cli_log *log)
{
    char path[INNER];
    devlog_error err = {0};
    *e = (entry){.bytes = log->bytes + log->bytes_of_hosts,
                 .time_ns = log->time_ns,
                 .used = ++s->uses,
                 .number = ++s->numbers,
                 .state = WORKING};
    snprintf(e->id, sizeof e->id, "%s", log->id);
    path_of(s, e, path);
    pthread_mutex_unlock(&s->lock);
    devlog_status status = s->make(s->ctx, log->path, path, &err);
    pthread_mutex_lock(&s->lock);
    e->state = status ? FAILED : DONE;
    e->err = err;
    pthread_cond_broadcast(&s->changed);
}

int cli_store_open(cli_store *s, const cli_log *log, const char *file, devlog_error *err)
{
    char path[INNER + NAME_MAX];
    int fd = -1;
    pthread_mutex_lock(&s->lock);
    for (;;) {
        entry *e = find(s, log);
        if (e && e->state != WORKING) break;
        if (!e && (e = make_room(s))) {
            work(s, e, log);
            break;
        }
        pthread_cond_wait(&s->changed, &s->lock);
    }
    entry *e = find(s, log);
    if (!e) {
        dl_fail(err, DEVLOG_ERR_STATE, "too many logs are being decoded; try again");
    } else if (e->state == FAILED) {
        *err = e->err;
    } else {
        size_t n;
        e->used = ++s->uses;
        path_of(s, e, path);
        n = strlen(path);
        snprintf(path + n, sizeof path - n, "/%s", file);
        fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0) dl_fail_errno(err, errno, "%s was not written", file);
    }
    pthread_mutex_unlock(&s->lock);
    return fd;
}
