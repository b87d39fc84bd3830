/* The terminal: is there one, may it be coloured, and a progress line that appears only when work is slow. */
#include "base/term.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/settings.h"

#define FIRST_NS UINT64_C(1000000000)
#define EVERY_NS UINT64_C(100000000)

uint64_t dl_now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

bool dl_term_colour(FILE *out)
{
    const char *term = dl_setting_text(DL_SET_TERM);
    if (dl_setting_text(DL_SET_NO_COLOR)) return false;
    if (!term || strcmp(term, "dumb") == 0) return false;
    return isatty(fileno(out));
}

unsigned dl_term_width(FILE *out)
{
    struct winsize size;
    const char *columns = dl_setting_text(DL_SET_COLUMNS);
    if (!isatty(fileno(out))) return 0;
    if (ioctl(fileno(out), TIOCGWINSZ, &size) == 0 && size.ws_col) return size.ws_col;
    long n = columns ? strtol(columns, NULL, 10) : 0;
    return n > 0 && n < 10000 ? (unsigned)n : 80;
}

void dl_progress_start(dl_progress *p)
{
    *p = (dl_progress){.enabled = isatty(STDERR_FILENO), .start_ns = dl_now_ns()};
    p->next_ns = p->start_ns + FIRST_NS;
}

bool dl_progress_due(dl_progress *p)
{
    return p->enabled && dl_now_ns() >= p->next_ns;
}

void dl_progress_show(dl_progress *p, const char *text)
{
    fprintf(stderr, "\r\033[K%s", text);
    fflush(stderr);
    p->shown = true;
    p->next_ns = dl_now_ns() + EVERY_NS;
}

void dl_progress_end(dl_progress *p)
{
    if (!p->shown) return;
    fputs("\r\033[K", stderr);
    fflush(stderr);
    p->shown = false;
}
