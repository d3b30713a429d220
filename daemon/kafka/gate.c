#include "daemon/kafka/gate.h"

#include "base/alloc.h"

#include <pthread.h>

struct waiting {
    struct waiting *next;
    void *kept;
};

struct ek_gate {
    struct ek_gate_hooks hooks;
    pthread_mutex_t lock; /* of all below */
    bool open;
    struct waiting *first, **end;
};

int ek_gate_new(struct ek_gate **out, const struct ek_gate_hooks *hooks, struct ek_error *e)
{
    struct ek_gate *g = ek_calloc(1, sizeof *g);
    if (!g)
        return ek_fail(e, EK_ENOMEM, "no memory for a gate");
    g->hooks = *hooks;
    g->end = &g->first;
    pthread_mutex_init(&g->lock, NULL);
    *out = g;
    return EK_OK;
}

/* Takes the oldest off and releases it. */
static void drop_first(struct ek_gate *g)
{
    struct waiting *w = g->first;
    g->first = w->next;
    if (!g->first)
        g->end = &g->first;
    g->hooks.release(g->hooks.context, w->kept);
    ek_free(w);
}

void ek_gate_free(struct ek_gate *g)
{
    if (!g)
        return;
    while (g->first)
        drop_first(g);
    pthread_mutex_destroy(&g->lock);
    ek_free(g);
}

static int keep(struct ek_gate *g, void *item, struct ek_error *e)
{
    struct waiting *w = ek_calloc(1, sizeof *w);
    if (w)
        w->kept = g->hooks.keep(g->hooks.context, item);
    if (!w || !w->kept) {
        ek_free(w);
        return ek_fail(e, EK_ENOMEM, "no memory for what waits for the next transaction");
    }
    *g->end = w;
    g->end = &w->next;
    return EK_OK;
}

int ek_gate_put(struct ek_gate *g, void *item, struct ek_error *e)
{
    pthread_mutex_lock(&g->lock);
    int rc = g->open ? g->hooks.pass(g->hooks.context, item, e) : keep(g, item, e);
    pthread_mutex_unlock(&g->lock);
    return rc;
}

void ek_gate_shut(struct ek_gate *g)
{
    pthread_mutex_lock(&g->lock);
    g->open = false;
    pthread_mutex_unlock(&g->lock);
}

static bool enough(const struct ek_gate *g)
{
    return g->hooks.enough && g->hooks.enough(g->hooks.context);
}

int ek_gate_open(struct ek_gate *g, struct ek_error *e)
{
    int rc = EK_OK;
    pthread_mutex_lock(&g->lock);
    while (!rc && g->first && !enough(g)) {
        rc = g->hooks.pass(g->hooks.context, g->first->kept, e);
        drop_first(g);
    }
    g->open = !rc && !g->first;
    pthread_mutex_unlock(&g->lock);
    return rc;
}

void ek_gate_look(struct ek_gate *g, void (*look)(void *context), void *context)
{
    pthread_mutex_lock(&g->lock);
    look(context);
    pthread_mutex_unlock(&g->lock);
}
