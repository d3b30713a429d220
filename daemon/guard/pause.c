#include "daemon/guard/pause.h"

#include "base/alloc.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

struct ek_pause {
    atomic_bool on;
    pthread_mutex_t lock; /* protects the members below */
    int64_t since_ms;
    bool is_event_time; /* since_ms is event time */
    char actor[EK_AUTHOR_BYTES + 1], reason[EK_REASON_BYTES + 1];
};

struct ek_pause *ek_pause_new(void)
{
    struct ek_pause *p = ek_calloc(1, sizeof *p);
    if (!p)
        return NULL;
    atomic_init(&p->on, false);
    pthread_mutex_init(&p->lock, NULL);
    return p;
}

void ek_pause_free(struct ek_pause *p)
{
    if (!p)
        return;
    pthread_mutex_destroy(&p->lock);
    ek_free(p);
}

bool ek_pause_is_on(const struct ek_pause *p)
{
    return atomic_load_explicit(&p->on, memory_order_relaxed);
}

static void set_actor(struct ek_pause *p, const char *actor, const char *reason)
{
    snprintf(p->actor, sizeof p->actor, "%s", actor ? actor : "");
    snprintf(p->reason, sizeof p->reason, "%s", reason ? reason : "");
}

static bool set(struct ek_pause *p, bool on, int64_t since_ms, bool is_event_time,
                const char *actor, const char *reason)
{
    pthread_mutex_lock(&p->lock);
    bool changed = atomic_load(&p->on) != on;
    if (changed) {
        p->since_ms = since_ms;
        p->is_event_time = is_event_time;
        set_actor(p, actor, reason);
        atomic_store(&p->on, on);
    }
    pthread_mutex_unlock(&p->lock);
    return changed;
}

bool ek_pause_set(struct ek_pause *p, bool on, int64_t since_ms, const char *actor,
                  const char *reason)
{
    return set(p, on, since_ms, false, actor, reason);
}

void ek_pause_restore(struct ek_pause *p, int64_t stream_ms, const char *actor, const char *reason)
{
    set(p, true, stream_ms, true, actor, reason);
}

void ek_pause_set_actor(struct ek_pause *p, const char *actor, const char *reason)
{
    pthread_mutex_lock(&p->lock);
    if (atomic_load(&p->on) && !*p->actor && !*p->reason)
        set_actor(p, actor, reason);
    pthread_mutex_unlock(&p->lock);
}

bool ek_pause_since(struct ek_pause *p, int64_t *since_ms)
{
    pthread_mutex_lock(&p->lock);
    bool on = atomic_load(&p->on);
    *since_ms = p->since_ms;
    pthread_mutex_unlock(&p->lock);
    return on;
}

int ek_pause_json(struct ek_pause *p, struct ek_buf *out)
{
    pthread_mutex_lock(&p->lock);
    if (!atomic_load(&p->on)) {
        ek_buf_text(out, "null");
    } else {
        ek_buf_printf(out, "{\"since_ms\":%" PRId64 ",\"clock\":\"%s\",\"actor\":", p->since_ms,
                      p->is_event_time ? "stream" : "wall");
        ek_buf_json(out, p->actor, strlen(p->actor));
        ek_buf_text(out, ",\"reason\":");
        ek_buf_json(out, p->reason, strlen(p->reason));
        ek_buf_text(out, "}");
    }
    pthread_mutex_unlock(&p->lock);
    return out->rc;
}
