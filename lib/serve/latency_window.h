/* 99th percentile of latencies in consecutive windows.
 *
 * Latencies are counts in bins, four per octave. The result is the start of the bin with the
 * percentile: never too high, and too low by less than a sixth. Value type; starts as {0}.
 */
#ifndef EK_SERVE_LATENCY_WINDOW_H
#define EK_SERVE_LATENCY_WINDOW_H

#include <stdint.h>

enum {
    EK_LATENCY_WINDOW_BINS = 64, /* from 64 us; the last bin is open, from 3 s */
    EK_LATENCY_WINDOW_SIZE = 500 /* minimum latencies per window */
};

struct ek_latency_window {
    uint64_t bin[EK_LATENCY_WINDOW_BINS], times; /* of the open window */
    uint32_t windows;                            /* number of closed windows */
    double p99_ms, before_ms;                    /* of the last closed window and the one before */
};

/* Return the bin of a latency, 0 .. EK_LATENCY_WINDOW_BINS - 1. */
int ek_latency_window_bin(uint64_t ns);
/* Return the start of a bin in milliseconds; 0 for the first. */
double ek_latency_window_from_ms(int bin);
/* Add counts per bin; close the window when it is full, and start the next one. */
void ek_latency_window_add(struct ek_latency_window *l, const uint64_t bin[EK_LATENCY_WINDOW_BINS]);
/* Return the 99th percentile of the last closed window in milliseconds, NaN without one. */
double ek_latency_window_p99_ms(const struct ek_latency_window *l);
/* Return the 99th percentile of the closed window before the last one in milliseconds, NaN without
 * one. */
double ek_latency_window_before_ms(const struct ek_latency_window *l);

#endif
