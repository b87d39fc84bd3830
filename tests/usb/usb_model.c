/* Runs a program with simulated boards on USB: the program sees the probes through the real libusb.
 *
 * Usage: usb_model [--board NAME] [--probes N] [--real-time] [--unless-plugged] COMMAND [ARGUMENT...]
 * --unless-plugged: with a real probe on USB, the program runs on that.
 * Without root and without hardware; the program's exit status is the status of this one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "transport/usb_probe.h"
#include "usb/model/model_usb.h"

enum { MAX = 4 };

static int usage(void)
{
    fputs("usage: usb_model [--board NAME] [--probes N] [--real-time] [--unless-plugged] COMMAND "
          "[ARGUMENT...]\n",
          stderr);
    return 2;
}

static int run(model_bus *bus, const char *board_name, char **argv)
{
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        model_bus_env(bus);
        setenv("DEVLOG_BOARD", board_name, 0);
        execvp(argv[0], argv);
        fprintf(stderr, "usb_model: cannot run %s\n", argv[0]);
        _exit(127);
    }
    if (child < 0 || waitpid(child, &status, 0) < 0) return 1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static bool plugged(void)
{
    usb_probe_info *list;
    size_t n;
    bool any = usb_probes_list(&list, &n, NULL) == DEVLOG_OK && n > 0;
    free(list);
    return any;
}

int main(int argc, char **argv)
{
    const char *name = "usb_tile";
    uint32_t probes = 1;
    bool real_time = false, unless = false;
    int at = 1;
    for (; at < argc && strncmp(argv[at], "--", 2) == 0; at++) {
        if (strcmp(argv[at], "--real-time") == 0)
            real_time = true;
        else if (strcmp(argv[at], "--unless-plugged") == 0)
            unless = true;
        else if (strcmp(argv[at], "--board") == 0 && at + 1 < argc)
            name = argv[++at];
        else if (strcmp(argv[at], "--probes") == 0 && at + 1 < argc)
            probes = (uint32_t)strtoul(argv[++at], NULL, 10);
        else
            return usage();
    }
    if (at == argc || probes > MAX) return usage();
    if (unless && plugged()) {
        execvp(argv[at], argv + at);
        fprintf(stderr, "usb_model: cannot run %s\n", argv[at]);
        return 127;
    }
    if (unless) fputs("no debug probe on USB: a simulated board is plugged in\n", stderr);
    board b;
    devlog_error err;
    if (board_load(name, &b, &err) != DEVLOG_OK) {
        fprintf(stderr, "usb_model: %s\n", err.text);
        return 1;
    }
    static char serials[MAX][16];
    model *models[MAX] = {NULL};
    model_bus *bus = model_bus_new();
    for (uint32_t i = 0; i < probes; i++) {
        model_options o = model_defaults(&b);
        snprintf(serials[i], sizeof serials[i], "DEVLOG%04u", i + 1);
        o.serial = serials[i];
        o.real_time = real_time;
        models[i] = model_create(&b, &o);
        if (!models[i]) {
            fprintf(stderr, "usb_model: board %s cannot be simulated\n", b.name);
            return 1;
        }
        model_bus_plug(bus, models[i], false);
    }
    int status = run(bus, name, argv + at);
    model_bus_free(bus);
    for (uint32_t i = 0; i < probes; i++)
        model_destroy(models[i]);
    return status;
}
