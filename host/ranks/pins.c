/* The difference of two clocks: see the header. Bounds are carried from moment to moment at the greatest and the least rate. */
#include "ranks/pins.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool pins_add(pins *p, pin added)
{
    if (p->n == p->cap) {
        const size_t cap = p->cap ? p->cap * 2 : 16;
        pin *grown = realloc(p->items, cap * sizeof *grown);
        if (!grown) return false;
        p->items = grown;
        p->cap = cap;
    }
    p->items[p->n++] = added;
    return true;
}

void pins_free(pins *p)
{
    free(p->items);
    *p = (pins){0};
}

static int by_x(const void *a, const void *b)
{
    const pin *p = a, *q = b;
    if (p->x != q->x) return p->x < q->x ? -1 : 1;
    return p->low < q->low ? -1 : p->low > q->low;
}

/* Forwards and backwards. False: nothing is possible at one of them. */
static bool narrow(pin *p, size_t n, double slowest, double fastest)
{
    for (size_t i = 1; i < n; i++) {
        const double dx = p[i].x - p[i - 1].x;
        p[i].low = fmax(p[i].low, p[i - 1].low + slowest * dx);
        p[i].high = fmin(p[i].high, p[i - 1].high + fastest * dx);
    }
    for (size_t i = n - 1; i > 0; i--) {
        const double dx = p[i].x - p[i - 1].x;
        p[i - 1].low = fmax(p[i - 1].low, p[i].low - fastest * dx);
        p[i - 1].high = fmin(p[i - 1].high, p[i].high - slowest * dx);
    }
    for (size_t i = 0; i < n; i++)
        if (!(p[i].low <= p[i].high)) return false;
    return true;
}

bool pins_make(pins *p)
{
    enum { SHOWN = 2 }; /* times what shows */
    if (!p->n) return false;
    qsort(p->items, p->n, sizeof *p->items, by_x);
    p->slowest = -PINS_FAST;
    p->fastest = PINS_FAST;
    if (!narrow(p->items, p->n, p->slowest, p->fastest)) return false;
    const pin *first = &p->items[0], *last = &p->items[p->n - 1];
    const double span = last->x - first->x;
    if (!(span > 0)) return true;
    const double least = fmax((last->low - first->high) / span, -PINS_FAST),
                 most = fmin((last->high - first->low) / span, PINS_FAST);
    pin *tried = malloc(p->n * sizeof *tried);
    p->steered = PINS_STEERED;
    bool possible = false;
    for (; tried && p->steered < PINS_FAST && !possible; p->steered *= 2) {
        memcpy(tried, p->items, p->n * sizeof *tried);
        possible =
            narrow(tried, p->n, fmax(least - p->steered, -PINS_FAST), fmin(most + p->steered, PINS_FAST));
        if (possible) break;
    }
    free(tried); /* without it what is known stays as wide as it is */
    if (!possible) return true;
    if (p->steered > PINS_STEERED) p->steered *= SHOWN;
    p->slowest = fmax(least - p->steered, -PINS_FAST);
    p->fastest = fmin(most + p->steered, PINS_FAST);
    return narrow(p->items, p->n, p->slowest, p->fastest);
}

void pins_at(const pins *p, double x, double *ahead, double *error)
{
    size_t low = 0, high = p->n; /* the first behind x */
    while (low < high) {
        const size_t mid = low + (high - low) / 2;
        if (p->items[mid].x <= x)
            low = mid + 1;
        else
            high = mid;
    }
    double least = -INFINITY, most = INFINITY;
    if (low > 0) {
        const pin *before = &p->items[low - 1];
        least = before->low + p->slowest * (x - before->x);
        most = before->high + p->fastest * (x - before->x);
    }
    if (low < p->n) {
        const pin *behind = &p->items[low];
        least = fmax(least, behind->low - p->fastest * (behind->x - x));
        most = fmin(most, behind->high - p->slowest * (behind->x - x));
    }
    *ahead = least + (most - least) / 2;
    *error = (most - least) / 2;
}
