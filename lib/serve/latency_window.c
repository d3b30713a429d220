#include "serve/latency_window.h"

#include <math.h>
#include <string.h>

/* EDGE: tolerance for rounding at the start of a bin. */
static const double FIRST_NS = 64000, EDGE = 1e-9;

int ek_latency_window_bin(uint64_t ns)
{
    if ((double)ns < FIRST_NS)
        return 0;
    int bin = 1 + (int)(4 * log2((double)ns / FIRST_NS) + EDGE);
    return bin < EK_LATENCY_WINDOW_BINS ? bin : EK_LATENCY_WINDOW_BINS - 1;
}

double ek_latency_window_from_ms(int bin)
{
    return bin ? FIRST_NS / 1e6 * exp2((bin - 1) / 4.) : 0;
}

/* Return the bin start of the 99th percentile of a nonempty window. */
static double p99_ms(const struct ek_latency_window *l)
{
    uint64_t below = 0;
    int bin = -1;
    do
        below += l->bin[++bin];
    while ((double)below < .99 * (double)l->times);
    return ek_latency_window_from_ms(bin);
}

void ek_latency_window_add(struct ek_latency_window *l, const uint64_t bin[EK_LATENCY_WINDOW_BINS])
{
    for (int i = 0; i < EK_LATENCY_WINDOW_BINS; i++) {
        l->bin[i] += bin[i];
        l->times += bin[i];
    }
    if (l->times < EK_LATENCY_WINDOW_SIZE)
        return;
    l->before_ms = l->p99_ms;
    l->p99_ms = p99_ms(l);
    l->windows += l->windows < UINT32_MAX;
    memset(l->bin, 0, sizeof l->bin);
    l->times = 0;
}

double ek_latency_window_p99_ms(const struct ek_latency_window *l)
{
    return l->windows > 0 ? l->p99_ms : NAN;
}

double ek_latency_window_before_ms(const struct ek_latency_window *l)
{
    return l->windows > 1 ? l->before_ms : NAN;
}
