#include "daemon/kafka/kafka_health.h"

#include "base/alloc.h"
#include "daemon/base/clock.h"

#include <pthread.h>
#include <stdio.h>

struct ek_kafka_health {
    pthread_mutex_t lock;
    struct ek_kafka_health_state state;
};

struct ek_kafka_health *ek_kafka_health_new(void)
{
    struct ek_kafka_health *t = ek_calloc(1, sizeof *t);
    if (t)
        pthread_mutex_init(&t->lock, NULL);
    return t;
}

void ek_kafka_health_free(struct ek_kafka_health *t)
{
    if (!t)
        return;
    pthread_mutex_destroy(&t->lock);
    ek_free(t);
}

void ek_kafka_health_report(struct ek_kafka_health *t, enum ek_kafka_health_kind kind,
                            const char *text)
{
    if (!t || kind == EK_KAFKA_HEALTH_NONE)
        return;
    pthread_mutex_lock(&t->lock);
    if (t->state.kind == EK_KAFKA_HEALTH_NONE)
        t->state.since_ms = ek_now_ms();
    if (kind != EK_KAFKA_HEALTH_NO_BROKER || t->state.kind <= EK_KAFKA_HEALTH_NO_BROKER) {
        t->state.kind = kind;
        snprintf(t->state.text, sizeof t->state.text, "%s", text);
    }
    pthread_mutex_unlock(&t->lock);
}

void ek_kafka_health_clear(struct ek_kafka_health *t)
{
    if (!t)
        return;
    pthread_mutex_lock(&t->lock);
    t->state.kind = EK_KAFKA_HEALTH_NONE;
    t->state.ever_responded = true;
    t->state.text[0] = 0;
    pthread_mutex_unlock(&t->lock);
}

enum ek_kafka_health_kind ek_kafka_health_get(struct ek_kafka_health *t,
                                              struct ek_kafka_health_state *out)
{
    *out = (struct ek_kafka_health_state){.kind = EK_KAFKA_HEALTH_NONE};
    if (!t)
        return EK_KAFKA_HEALTH_NONE;
    pthread_mutex_lock(&t->lock);
    *out = t->state;
    pthread_mutex_unlock(&t->lock);
    return out->kind;
}

const char *ek_kafka_health_name(enum ek_kafka_health_kind kind)
{
    static const char *const words[] = {"none", "no_broker",     "credentials",
                                        "tls",  "authorization", "state"};
    return words[kind];
}
