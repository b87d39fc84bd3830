/* Handing over a file. */
#include "cli/handover.h"

#include <errno.h>
#include <fcntl.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

#include "cli/http.h"

struct cli_handover {
    const char *file, *name;
    http *server;
    sem_t fetched;
};

static void answer(void *ctx, const char *path, http_reply *reply)
{
    const cli_handover *h = ctx;
    if (strcmp(path, h->name) == 0) reply->fd = open(h->file, O_RDONLY | O_CLOEXEC);
    reply->type = "application/octet-stream";
    if (reply->fd >= 0) return;
    reply->status = 404;
    reply->type = "text/plain; charset=utf-8";
    dl_str_add(&reply->body, "There is nothing here.\n");
}

static void fetched(void *ctx, unsigned status)
{
    cli_handover *h = ctx;
    if (status == 200) sem_post(&h->fetched);
}

devlog_status cli_handover_start(cli_handover **out, const char *file, const char *name, const char *origin,
                                 uint16_t port, devlog_error *err)
{
    cli_handover *h = calloc(1, sizeof *h);
    *out = NULL;
    if (!h) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    h->file = file;
    h->name = name;
    sem_init(&h->fetched, 0, 0);
    const http_options options = {
        .port = port, .origin = origin, .handler = answer, .done = fetched, .ctx = h};
    devlog_status status = http_start(&h->server, &options, err);
    if (status)
        cli_handover_stop(h);
    else
        *out = h;
    return status;
}

const char *cli_handover_url(const cli_handover *h)
{
    return http_url(h->server);
}

uint16_t cli_handover_port(const cli_handover *h)
{
    return http_port(h->server);
}

void cli_handover_wait(cli_handover *h)
{
    while (sem_wait(&h->fetched) != 0 && errno == EINTR)
        ;
}

void cli_handover_stop(cli_handover *h)
{
    http_stop(h->server);
    sem_destroy(&h->fetched);
    free(h);
}
