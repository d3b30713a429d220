/* The 99% of times, in windows of so many of them one after the other.
 *
 * Times come as counts of bins, four to an octave. What a window says is the lower end of the bin
 * that its 99% is in, so never too high, and too low by less than a sixth. No clock.
 * Value type, starts as {0}. One thread.
 */
#ifndef EK_SERVE_LATENCY_WINDOW_H
#define EK_SERVE_LATENCY_WINDOW_H

#include <stdint.h>

enum {
    EK_LATENCY_WINDOW_BINS = 64, /* from 64 us on; the last one is open, from 3 s */
    EK_LATENCY_WINDOW_SIZE = 500 /* times of a window, at least */
};

struct ek_latency_window {
    uint64_t bin[EK_LATENCY_WINDOW_BINS], times; /* of the window that is open */
    uint32_t windows;                            /* that are over */
    double p99_ms, before_ms;                    /* of the last one and that before it */
};

/* The bin of a time. */
int ek_latency_window_bin(uint64_t ns);
/* Its lower end; that of the first is 0. */
double ek_latency_window_from_ms(int bin);
void ek_latency_window_add(struct ek_latency_window *l, const uint64_t bin[EK_LATENCY_WINDOW_BINS]);
/* NaN while there was no such window. */
double ek_latency_window_p99_ms(const struct ek_latency_window *l);
double ek_latency_window_before_ms(const struct ek_latency_window *l);

#endif
