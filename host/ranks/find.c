/* Which folders are ranks, and where the report of each is: as tt-metal's launcher leaves them, or as somebody names them. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "decode/input.h"
#include "ranks/host_clocks.h"

static bool is_folder(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* "rank12", "rank.12", "rank_12", or that behind something else; false: the name says no rank. */
static bool number_of(const char *path, unsigned *number)
{
    size_t n = strlen(path);
    while (n && path[n - 1] == '/')
        n--;
    size_t digits = n;
    while (digits && isdigit((unsigned char)path[digits - 1]))
        digits--;
    const size_t count = n - digits;
    if (count < 1 || count > 5) return false;
    size_t at = digits;
    if (at && strchr("_.-", path[at - 1])) at--;
    if (at < 4 || strncmp(&path[at - 4], "rank", 4) != 0) return false;
    if (at > 4 && isalpha((unsigned char)path[at - 5])) return false; /* "frank1" */
    *number = (unsigned)strtoul(&path[digits], NULL, 10);
    return *number < RANKS_MOST;
}

/* The same of a path: of the last of its folders whose name says a rank, so that rank3/reports/TIME is rank 3. */
static bool number_of_any(const char *path, unsigned *number)
{
    char *copy = strdup(path);
    bool found = false;
    for (char *slash = copy; slash && !found;) {
        found = number_of(copy, number);
        slash = strrchr(copy, '/');
        if (slash) *slash = '\0';
    }
    free(copy);
    return found;
}

static bool number_in_path(const char *path, unsigned *number)
{
    if (number_of_any(path, number)) return true;
    char *whole = realpath(path, NULL); /* ".", or a link to a rank's folder */
    const bool found = whole && number_of_any(whole, number);
    free(whole);
    return found;
}

/* By its name, else by what it holds. */
static bool number_of_rank(const char *path, unsigned *number)
{
    if (number_in_path(path, number)) return true;
    rank_said said;
    ranks_said(path, &said);
    const bool found = said.by != NULL;
    if (found) *number = said.number;
    rank_said_free(&said);
    return found;
}

static rank_entry *add(ranks *r, const char *folder, unsigned number, devlog_error *err)
{
    struct stat st = {0};
    const bool there = stat(folder, &st) == 0;
    for (size_t i = 0; i < r->n; i++) {
        const rank_entry *o = &r->items[i];
        if (there && o->number != number && o->device == st.st_dev && o->inode == st.st_ino) {
            dl_fail(
                err, DEVLOG_ERR_ARGUMENT,
                "%s and %s are the same, and so cannot be ranks %u and %u: leave one out, or copy what it should be",
                o->folder, folder, o->number, number);
            return NULL;
        }
        if (o->number == number) {
            dl_fail(err, DEVLOG_ERR_ARGUMENT, "%s and %s are both rank %u: leave one out", o->folder, folder,
                    number);
            return NULL;
        }
    }
    if (r->n == r->cap) {
        const size_t cap = r->cap ? r->cap * 2 : 16;
        rank_entry *grown = realloc(r->items, cap * sizeof *grown);
        if (!grown) {
            dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
            return NULL;
        }
        r->items = grown;
        r->cap = cap;
    }
    rank_entry *e = &r->items[r->n];
    *e = (rank_entry){.number = number, .folder = strdup(folder), .device = st.st_dev, .inode = st.st_ino};
    if (!e->folder) {
        dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
        return NULL;
    }
    rank_said said;
    ranks_said(folder, &said);
    e->host = said.host;
    e->said_by = said.by;
    e->said = said.number;
    e->ranks = said.ranks;
    r->n++;
    return e;
}

/* The folder of ranks in it, or below it where tt-metal's launcher puts them; NULL: none, or no memory. */
static char *folder_of_ranks(const char *folder)
{
    static const char *const below[] = {"", "ttrun", "generated/profiler/ttrun", "profiler/ttrun"};
    for (size_t i = 0; i < sizeof below / sizeof below[0]; i++) {
        char *at = *below[i] ? dl_path_join(folder, below[i]) : strdup(folder);
        DIR *d = at ? opendir(at) : NULL;
        bool any = false;
        unsigned number;
        for (struct dirent *e; d && !any && (e = readdir(d)) != NULL;) {
            char *path = e->d_name[0] == '.' ? NULL : dl_path_join(at, e->d_name);
            any = path && number_of(e->d_name, &number) && is_folder(path);
            free(path);
        }
        if (d) closedir(d);
        if (any) return at;
        free(at);
    }
    return NULL;
}

bool ranks_are_in(const char *folder)
{
    char *at = folder_of_ranks(folder);
    const bool here = at && strcmp(at, folder) == 0;
    free(at);
    return here;
}

static devlog_status add_all_in(ranks *r, const char *folder, devlog_error *err)
{
    DIR *d = opendir(folder);
    if (!d) return dl_fail_errno(err, errno, "cannot read the folder %s", folder);
    devlog_status status = DEVLOG_OK;
    for (struct dirent *e; !status && (e = readdir(d)) != NULL;) {
        unsigned number;
        if (e->d_name[0] == '.' || !number_of(e->d_name, &number)) continue;
        char *path = dl_path_join(folder, e->d_name);
        if (!path) status = dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
        if (path && is_folder(path) && !add(r, path, number, err)) status = err->status;
        free(path);
    }
    closedir(d);
    return status;
}

static int by_number(const void *a, const void *b)
{
    const rank_entry *x = a, *y = b;
    return x->number < y->number ? -1 : x->number > y->number;
}

static devlog_status find_missing(ranks *r, devlog_error *err)
{
    /* As many as the greatest number says, or the launcher did. */
    size_t all = (size_t)r->items[r->n - 1].number + 1;
    for (size_t i = 0; i < r->n; i++)
        if (r->items[i].ranks > all) all = r->items[i].ranks;
    r->missing = malloc((all - r->n + 1) * sizeof *r->missing);
    if (!r->missing) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    unsigned number = 0;
    for (size_t i = 0; i < r->n; i++, number++)
        for (; number < r->items[i].number; number++)
            r->missing[r->n_missing++] = number;
    for (; number < all; number++)
        r->missing[r->n_missing++] = number;
    return DEVLOG_OK;
}

devlog_status ranks_find(ranks *r, const char *const *paths, size_t n, devlog_error *err)
{
    *r = (ranks){.texts = dl_intern_new(UINT32_MAX / 2, SIZE_MAX / 2), .head = RANKS_NONE};
    if (!r->texts) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    devlog_status status = DEVLOG_OK;
    bool numbered = false;
    for (size_t i = 0; i < n && !numbered; i++) {
        unsigned number;
        numbered = number_of_rank(paths[i], &number);
    }
    for (size_t i = 0; i < n && !status; i++) {
        struct stat st;
        unsigned number = (unsigned)r->n;
        char *folder = folder_of_ranks(paths[i]);
        if (stat(paths[i], &st) != 0)
            status = errno == ENOENT ? dl_fail(err, DEVLOG_ERR_NOT_FOUND, DL_NOT_THERE, paths[i])
                                     : dl_fail_errno(err, errno, "cannot read %s", paths[i]);
        else if (folder)
            status = add_all_in(r, folder, err);
        else if (numbered && !number_of_rank(paths[i], &number))
            status = dl_fail(
                err, DEVLOG_ERR_ARGUMENT,
                "%s: neither its name nor its log of ops or capture says a rank, those of others do: name its folder rank<N>",
                paths[i]);
        else if (n == 1 && !S_ISDIR(st.st_mode))
            status = dl_fail(
                err, DEVLOG_ERR_NOT_FOUND,
                "%s is one file: name the folder of ranks (unpack what they are packed in), or the folder, report or "
                "archive of each rank",
                paths[i]);
        else if (n == 1)
            status = dl_fail(
                err, DEVLOG_ERR_NOT_FOUND,
                "%s holds no folders of ranks (rank0, rank1, ...): name their folder, or each of them",
                paths[i]);
        else if (!add(r, paths[i], number, err))
            status = err->status;
        free(folder);
    }
    if (status) return status;
    qsort(r->items, r->n, sizeof *r->items, by_number);
    return find_missing(r, err);
}

devlog_status ranks_name_hosts(ranks *r, const char *const *names, size_t n, devlog_error *err)
{
    if (n != r->n)
        return dl_fail(err, DEVLOG_ERR_ARGUMENT, "--hosts names %zu hosts, there are %zu ranks", n, r->n);
    for (size_t i = 0; i < n; i++) {
        free(r->items[i].host);
        r->items[i].host = strdup(names[i]);
        if (!r->items[i].host) return dl_fail(err, DEVLOG_ERR_MEMORY, "out of memory");
    }
    return DEVLOG_OK;
}

void ranks_free(ranks *r)
{
    for (size_t i = 0; i < r->n; i++) {
        free(r->items[i].host);
        free(r->items[i].folder);
        free(r->items[i].report);
        free(r->items[i].silent);
    }
    if (r->hosts) {
        for (size_t i = 0; i < r->n && r->hosts->clocks; i++)
            host_clocks_free(&r->hosts->clocks[i]);
        free(r->hosts->clocks);
        host_ways_free(r->hosts);
        free(r->hosts);
    }
    run_inputs_free(&r->inputs);
    free(r->items);
    free(r->lanes);
    free(r->ops_of_lanes);
    free(r->lane_of);
    free(r->ops);
    free(r->order);
    free(r->by_op);
    free(r->missing);
    dl_intern_free(r->texts);
    *r = (ranks){0};
}

bool ranks_of_other_size(const ranks *r, size_t rank)
{
    const rank_entry *e = &r->items[rank], *first = r->items;
    while (first < e && !first->ranks)
        first++;
    return first->ranks && ((e->ranks && e->ranks != first->ranks) || e->number >= first->ranks);
}

bool ranks_incomplete(const ranks *r)
{
    bool any = r->n_missing != 0;
    for (size_t i = 0; i < r->n; i++)
        any |= ranks_of_other_size(r, i) || r->items[i].lost != 0 || r->items[i].incomplete ||
               r->items[i].silent || r->items[i].apart;
    return any;
}
