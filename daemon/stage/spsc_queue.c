#include "daemon/stage/spsc_queue.h"

#include "base/alloc.h"

#include <stdatomic.h>

enum { CACHE_LINE = 64 };

/* Positions only grow; the slot is the position modulo the capacity. Positions and sleep flags are
 * sequentially consistent: each side writes its own, then reads the other's, so at least one side
 * sees that it must signal. */
struct ek_spsc_queue {
    void **slot;
    size_t capacity;
    const struct ek_wakeup *room;
    struct ek_wakeup filled;
    char apart[CACHE_LINE]; /* avoids false sharing */
    atomic_size_t tail;     /* published */
    size_t put;             /* pushed, maybe unpublished; producer only */
    bool was_full;          /* producer only */
    char apart_too[CACHE_LINE];
    atomic_size_t head; /* consumed */
    char and_this[CACHE_LINE];
    atomic_bool sleeping, desired, closed;
};

int ek_spsc_queue_new(struct ek_spsc_queue **out, size_t capacity, const struct ek_wakeup *room,
                      struct ek_error *e)
{
    struct ek_spsc_queue *r = ek_calloc(1, sizeof *r);
    if (!r)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    r->filled.fd = -1;
    r->room = room;
    for (r->capacity = 1; r->capacity < capacity;)
        r->capacity *= 2;
    r->slot = ek_calloc(r->capacity, sizeof *r->slot);
    int rc = r->slot ? ek_wakeup_init(&r->filled, e) : ek_fail(e, EK_ENOMEM, "out of memory");
    if (rc)
        ek_spsc_queue_free(r);
    else
        *out = r;
    return rc;
}

void ek_spsc_queue_free(struct ek_spsc_queue *r)
{
    if (!r)
        return;
    ek_wakeup_close(&r->filled);
    ek_free(r->slot);
    ek_free(r);
}

size_t ek_spsc_queue_space(struct ek_spsc_queue *r)
{
    size_t used = r->put - atomic_load(&r->head);
    if (!r->was_full && used < r->capacity)
        return r->capacity - used;
    r->was_full = true;
    atomic_store(&r->desired, true);
    used = r->put - atomic_load(&r->head); /* the consumer may have missed `desired` */
    if (used > r->capacity / 2)
        return 0;
    r->was_full = false;
    return r->capacity - used;
}

void ek_spsc_queue_push(struct ek_spsc_queue *r, void *item)
{
    r->slot[r->put++ & (r->capacity - 1)] = item;
}

static void wake(struct ek_spsc_queue *r)
{
    if (atomic_load(&r->sleeping) && atomic_exchange(&r->sleeping, false))
        ek_wakeup_signal(&r->filled);
}

void ek_spsc_queue_publish(struct ek_spsc_queue *r)
{
    if (atomic_load_explicit(&r->tail, memory_order_relaxed) == r->put)
        return;
    atomic_store(&r->tail, r->put);
    wake(r);
}

void ek_spsc_queue_close(struct ek_spsc_queue *r)
{
    ek_spsc_queue_publish(r);
    atomic_store(&r->closed, true);
    wake(r);
}

/* Remove items without waiting. */
static size_t pop_items(struct ek_spsc_queue *r, void **items, size_t most)
{
    size_t head = atomic_load_explicit(&r->head, memory_order_relaxed);
    size_t count = atomic_load(&r->tail) - head;
    count = count < most ? count : most;
    for (size_t i = 0; i < count; i++)
        items[i] = r->slot[(head + i) & (r->capacity - 1)];
    if (!count)
        return 0;
    atomic_store(&r->head, head + count);
    if (atomic_load(&r->desired) && ek_spsc_queue_depth(r) <= r->capacity / 2 &&
        atomic_exchange(&r->desired, false))
        ek_wakeup_signal(r->room);
    return count;
}

size_t ek_spsc_queue_pop(struct ek_spsc_queue *r, void **items, size_t most)
{
    for (;;) {
        bool closed = atomic_load(&r->closed);
        size_t count = pop_items(r, items, most);
        if (count || closed)
            return count;
        atomic_store(&r->sleeping, true);
        if (!ek_spsc_queue_depth(r) && !atomic_load(&r->closed))
            ek_wakeup_wait(&r->filled, -1);
        atomic_store(&r->sleeping, false);
    }
}

size_t ek_spsc_queue_depth(const struct ek_spsc_queue *r)
{
    size_t head = atomic_load(&r->head); /* read first: it never passes a tail read later */
    return atomic_load(&r->tail) - head;
}
