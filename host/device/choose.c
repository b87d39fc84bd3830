/* Choosing a board and a transport. Not for opening them (device.c). */
#include "device/choose.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/paths.h"

static const char default_board[] = "wormhole_b0";

const char *device_option(const char *option, dl_setting setting, const char *missing)
{
    if (option && *option) return option;
    const char *value = dl_setting_text(setting);
    return value ? value : missing;
}

/* All transports of a board, for messages. */
static void list_transports(const board *b, char *text, size_t size)
{
    text[0] = 0;
    for (uint32_t i = 0; i < b->n_transports; i++) {
        size_t used = strlen(text);
        snprintf(text + used, size - used, "%s%s", i ? ", " : "", b->transports[i]);
    }
}

static bool reached_by(const board *b, const char *transport)
{
    for (uint32_t i = 0; i < b->n_transports; i++)
        if (strcmp(b->transports[i], transport) == 0) return true;
    return false;
}

static bool is_path(const char *name)
{
    size_t n = name ? strlen(name) : 0;
    return n > 5 && strcmp(name + n - 5, ".json") == 0;
}

static int is_board(const struct dirent *entry)
{
    return is_path(entry->d_name);
}

/* The first board file, by name, whose first transport is this one; false when there is none. */
static bool first_board_of(const char *transport, board *out)
{
    char folder[4096];
    struct dirent **entries = NULL;
    if (dl_join(folder, sizeof folder, dl_home(), "boards", NULL) != DEVLOG_OK) return false;
    int n = scandir(folder, &entries, is_board, alphasort);
    bool found = false;
    for (int i = 0; i < n; i++) {
        char path[4352];
        if (!found && dl_join(path, sizeof path, folder, entries[i]->d_name, NULL) == DEVLOG_OK)
            found = board_load(path, out, NULL) == DEVLOG_OK && strcmp(out->transports[0], transport) == 0;
        free(entries[i]);
    }
    free(entries);
    return found;
}

static devlog_status choose_board(const char *name, const char *transport, board *out, devlog_error *err)
{
    if (name) return board_load(name, out, err);
    devlog_status status = board_load(default_board, out, err);
    if (status != DEVLOG_OK || !transport || reached_by(out, transport)) return status;
    if (first_board_of(transport, out)) return DEVLOG_OK;
    return dl_fail(err, DEVLOG_ERR_ARGUMENT,
                   "no board file has '%s' as its first transport: choose a board with DEVLOG_BOARD",
                   transport);
}

devlog_status device_choose(const devlog_device_options *o, device_choice *out, devlog_error *err)
{
    const char *spec = o->transport && *o->transport       ? o->transport
                       : dl_setting_text(DL_SET_SIMULATOR) ? "ttsim"
                                                           : dl_setting_text(DL_SET_TRANSPORT);
    memset(out, 0, sizeof *out);
    char name[32] = "";
    size_t n = spec ? strcspn(spec, ":") : 0;
    if (spec) snprintf(name, sizeof name, "%.*s", (int)n, spec);
    if (spec && (n >= sizeof name || !(out->ops = dl_transport_find(name))))
        return dl_fail(err, DEVLOG_ERR_ARGUMENT,
                       "unknown transport '%.*s'; 'devlog boards' lists those of each board", (int)n, spec);
    const char *path = spec && spec[n] == ':' ? spec + n + 1 : o->path, *wanted = o->board;
    char saved_of[sizeof out->origin];
    devlog_status status = DEVLOG_OK;
    if (out->ops && out->ops->board_of && !(wanted && *wanted)) {
        status = out->ops->board_of(path, saved_of, sizeof saved_of, err);
        wanted = saved_of;
    }
    if (status == DEVLOG_OK) {
        wanted = device_option(wanted, DL_SET_BOARD, NULL);
        status = choose_board(wanted, spec ? name : NULL, &out->board, err);
    }
    if (status != DEVLOG_OK) return status;
    const board *b = &out->board;
    if (!is_path(wanted) || !realpath(wanted, out->origin))
        snprintf(out->origin, sizeof out->origin, "%s", b->name);
    if (!spec) {
        snprintf(name, sizeof name, "%s", b->transports[0]);
        out->ops = dl_transport_find(name);
    }
    if (!out->ops || (!out->ops->board_of && !reached_by(b, name))) {
        char all[BOARD_MAX_TRANSPORTS * 18];
        list_transports(b, all, sizeof all);
        return dl_fail(err, DEVLOG_ERR_UNSUPPORTED,
                       "board %s cannot be reached by transport '%s'; its board file lists: %s", b->name,
                       name, all);
    }
    if (spec && spec[n] == ':' && !out->ops->path_setting && !out->ops->board_of)
        return dl_fail(err, DEVLOG_ERR_ARGUMENT,
                       "transport '%s' takes nothing behind its name, and '%s' has '%s'", name, spec,
                       spec + n);
    if (out->ops->path_setting) path = device_option(path, out->ops->path_setting, NULL);
    if (path && strlen(path) >= sizeof out->path)
        return dl_fail(err, DEVLOG_ERR_ARGUMENT, "the path of the device is too long");
    if (path) snprintf(out->path, sizeof out->path, "%s", path);
    return DEVLOG_OK;
}
