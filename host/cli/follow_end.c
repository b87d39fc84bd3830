/* The signals that end following a log. A handler knows nothing but what is global: hence the one variable. */
#include "cli/follow_end.h"

#include <signal.h>
#include <stddef.h>

static volatile sig_atomic_t signalled;

static void on_signal(int number)
{
    (void)number;
    signalled = 1;
}

void cli_follow_catch(void)
{
    const struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

bool cli_follow_ended(void *ctx)
{
    (void)ctx;
    return signalled;
}
