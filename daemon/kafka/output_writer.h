/* FIFO queue of outputs that forwards while open and buffers while closed.
 *
 * After ek_hold_queue_close returns, no `pass` is running. Opening forwards buffered items before
 * new ones. Hooks run under the queue's lock on the calling thread and must not call the queue. No
 * call waits; the caller bounds the number of buffered items. Lock order: locks of the caller of
 * ek_hold_queue_add (the guard's), this lock, librdkafka's locks. One thread adds; one opens and
 * closes.
 */
#ifndef EK_DAEMON_KAFKA_OUTPUT_WRITER_H
#define EK_DAEMON_KAFKA_OUTPUT_WRITER_H

#include "base/error.h"

#include <stdbool.h>

struct ek_hold_queue;

struct ek_hold_queue_hooks {
    void *context;
    /* Forward an item, buffered or not. Any error is fatal. */
    int (*pass)(void *context, void *item, struct ek_error *e);
    /* Return a buffered form of the item, which takes over the parts it needs; NULL if out of
     * memory. */
    void *(*keep)(void *context, void *item);
    /* Free a buffered item, forwarded or not. */
    void (*release)(void *context, void *kept);
    /* Return true if no more buffered items may be forwarded now. NULL: forward all. */
    bool (*enough)(void *context);
};

/* Create a closed queue. The hooks are copied. Return 0 or EK_ENOMEM. */
int ek_hold_queue_new(struct ek_hold_queue **out, const struct ek_hold_queue_hooks *hooks,
                      struct ek_error *e);
/* Free the queue and its buffered items. */
void ek_hold_queue_free(struct ek_hold_queue *g);

/* Forward the item, or buffer a copy by the hook `keep` while closed. Return 0, EK_ENOMEM or the
 * error of `pass`. The caller keeps the item. */
int ek_hold_queue_add(struct ek_hold_queue *g, void *item, struct ek_error *e);
/* Close the queue: later items are buffered. When it returns, no `pass` is running. */
void ek_hold_queue_close(struct ek_hold_queue *g);
/* Forward the buffered items and open. The queue stays closed if `enough` ends this early. If
 * `pass` fails, that item is freed, the others stay buffered and the queue stays closed. Return 0,
 * or the error of `pass`. */
int ek_hold_queue_open(struct ek_hold_queue *g, struct ek_error *e);

#endif
