/* Signals that a descriptor makes readable, so that poll(2) can wait for them and for other input.
 *
 * Meanwhile they have no other effect. At most one object at a time. Call begin before threads
 * start, and end after they ended; read: any thread.
 */
#ifndef EK_DAEMON_BASE_SIGNALS_H
#define EK_DAEMON_BASE_SIGNALS_H

#include <signal.h>

enum { EK_SIGNALS = 4 };

struct ek_signals {
    int fd; /* readable while a signal waits; -1: none is available */
    /* the rest is private */
    sigset_t before;
    int numbers[EK_SIGNALS], count;
    struct sigaction actions[EK_SIGNALS];
    int ends[2];
};

/* Receive the signals numbers [count], count <= EK_SIGNALS. End with ek_signals_end. */
void ek_signals_begin(struct ek_signals *s, const int *numbers, int count);
/* Return the number of a signal that was received, or 0. Does not wait. */
int ek_signals_read(const struct ek_signals *s);
/* Restore what the signals did before. */
void ek_signals_end(struct ek_signals *s);

#endif
