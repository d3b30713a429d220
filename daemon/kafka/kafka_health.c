#include "daemon/kafka/kafka_health.h"

#include "base/alloc.h"
#include "daemon/base/clock.h"

#include <pthread.h>
#include <stdio.h>

struct ek_trouble {
    pthread_mutex_t lock;
    struct ek_trouble_state state;
};

struct ek_trouble *ek_trouble_new(void)
{
    struct ek_trouble *t = ek_calloc(1, sizeof *t);
    if (t)
        pthread_mutex_init(&t->lock, NULL);
    return t;
}

void ek_trouble_free(struct ek_trouble *t)
{
    if (!t)
        return;
    pthread_mutex_destroy(&t->lock);
    ek_free(t);
}

void ek_trouble_tell(struct ek_trouble *t, enum ek_trouble_kind kind, const char *text)
{
    if (!t || kind == EK_TROUBLE_NONE)
        return;
    pthread_mutex_lock(&t->lock);
    if (t->state.kind == EK_TROUBLE_NONE)
        t->state.since_ms = ek_now_ms();
    if (kind != EK_TROUBLE_NO_BROKER || t->state.kind <= EK_TROUBLE_NO_BROKER) {
        t->state.kind = kind;
        snprintf(t->state.text, sizeof t->state.text, "%s", text);
    }
    pthread_mutex_unlock(&t->lock);
}

void ek_trouble_heard(struct ek_trouble *t)
{
    if (!t)
        return;
    pthread_mutex_lock(&t->lock);
    t->state.kind = EK_TROUBLE_NONE;
    t->state.ever_heard = true;
    t->state.text[0] = 0;
    pthread_mutex_unlock(&t->lock);
}

enum ek_trouble_kind ek_trouble_look(struct ek_trouble *t, struct ek_trouble_state *out)
{
    *out = (struct ek_trouble_state){.kind = EK_TROUBLE_NONE};
    if (!t)
        return EK_TROUBLE_NONE;
    pthread_mutex_lock(&t->lock);
    *out = t->state;
    pthread_mutex_unlock(&t->lock);
    return out->kind;
}

const char *ek_trouble_word(enum ek_trouble_kind kind)
{
    static const char *const words[] = {"none", "no_broker",     "credentials",
                                        "tls",  "authorisation", "state"};
    return words[kind];
}
