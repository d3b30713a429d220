#include "daemon/fleet/fleet_commands.h"

#include "base/alloc.h"
#include "guard/event_json.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { KEPT = 16 };

enum state { NONE, WAITING, LOST, DONE, REFUSED };

struct order {
    uint64_t number;
    enum state state;
    struct ek_buf record;
    int64_t given_ms, told_ms; /* told_ms -1: not yet */
    char decider[EK_FLEET_NAME_MAX + 1];
    struct ek_buf outcome; /* the decision as JSON, or the refusal as text */
};

struct ek_fleet_commands {
    pthread_mutex_t lock;
    char instance[EK_FLEET_NAME_MAX + 1];
    uint64_t start, count;
    struct order of[KEPT]; /* ring */
};

int ek_fleet_commands_new(struct ek_fleet_commands **out, const char *instance, uint64_t start)
{
    struct ek_fleet_commands *o = ek_calloc(1, sizeof *o);
    if (!o)
        return EK_ENOMEM;
    pthread_mutex_init(&o->lock, NULL);
    snprintf(o->instance, sizeof o->instance, "%s", instance);
    o->start = start;
    *out = o;
    return EK_OK;
}

static void clear(struct order *one)
{
    ek_buf_release(&one->record);
    ek_buf_release(&one->outcome);
    *one = (struct order){.state = NONE};
}

void ek_fleet_commands_free(struct ek_fleet_commands *o)
{
    if (!o)
        return;
    for (int i = 0; i < KEPT; i++)
        clear(&o->of[i]);
    pthread_mutex_destroy(&o->lock);
    ek_free(o);
}

int ek_fleet_commands_submit(struct ek_fleet_commands *o, const struct ek_order *order,
                             uint64_t manifest, int64_t now_ms, uint64_t *number)
{
    struct ek_order own = *order;
    pthread_mutex_lock(&o->lock);
    *number = o->count + 1;
    own.id = (struct ek_order_id){ek_text_from(o->instance), o->start, *number};
    struct order *one = &o->of[o->count % KEPT];
    clear(one);
    ek_buf_init(&one->record, 0);
    ek_buf_init(&one->outcome, 0);
    int rc = ek_fleet_order_write(&own, manifest, &one->record);
    if (!rc) {
        o->count++;
        one->number = *number;
        one->state = WAITING;
        one->given_ms = now_ms;
        one->told_ms = -1;
    }
    pthread_mutex_unlock(&o->lock);
    return rc;
}

void ek_fleet_commands_send_due(struct ek_fleet_commands *o, int64_t now_ms,
                                void (*send)(void *context, const void *bytes, size_t length),
                                void *context)
{
    pthread_mutex_lock(&o->lock);
    for (int i = 0; i < KEPT; i++) {
        struct order *one = &o->of[i];
        if (one->state != WAITING)
            continue;
        if (now_ms - one->given_ms >= EK_COMMANDS_TIMEOUT_MS) {
            one->state = LOST;
        } else if (one->told_ms < 0 || now_ms - one->told_ms >= EK_COMMANDS_RETRY_MS) {
            one->told_ms = now_ms;
            send(context, one->record.data, one->record.length);
        }
    }
    pthread_mutex_unlock(&o->lock);
}

static bool is_ours(const struct ek_fleet_commands *o, const struct ek_order_id *id)
{
    return id->start == o->start && ek_text_same(id->instance, ek_text_from(o->instance));
}

static void note(struct order *one, const struct ek_fleet_reply *r)
{
    ek_buf_clear(&one->outcome);
    snprintf(one->decider, sizeof one->decider, "%.*s", (int)r->decider.length, r->decider.text);
    int rc = r->code ? ek_buf_add(&one->outcome, r->refusal.text, r->refusal.length)
                     : ek_decision_record_json(&one->outcome, &r->decided.is);
    one->state = r->code ? REFUSED : DONE;
    if (rc)
        ek_buf_clear(&one->outcome);
}

void ek_fleet_commands_receive(struct ek_fleet_commands *o, const struct ek_fleet_reply *r)
{
    pthread_mutex_lock(&o->lock);
    for (int i = 0; is_ours(o, &r->id) && i < KEPT; i++)
        if (o->of[i].number == r->id.number &&
            (o->of[i].state == WAITING || o->of[i].state == LOST))
            note(&o->of[i], r);
    pthread_mutex_unlock(&o->lock);
}

static int text_json(struct ek_buf *out, const char *key, const void *text, size_t length)
{
    ek_buf_printf(out, ",\"%s\":", key);
    return ek_buf_json(out, text, length);
}

static int one_json(const struct order *one, struct ek_buf *out)
{
    static const char *const state[] = {"", "pending", "lost", "applied", "rejected"};
    ek_buf_printf(out, "{\"command_id\":%" PRIu64 ",\"state\":\"%s\"", one->number,
                  state[one->state]);
    if (one->state == DONE || one->state == REFUSED)
        text_json(out, "leader", one->decider, strlen(one->decider));
    if (one->state == REFUSED)
        text_json(out, "error", one->outcome.data, one->outcome.length);
    if (one->state == DONE && one->outcome.length)
        ek_buf_text(out, ",\"decision\":");
    if (one->state == DONE)
        ek_buf_add(out, one->outcome.data, one->outcome.length);
    return ek_buf_text(out, "}");
}

int ek_fleet_commands_json(struct ek_fleet_commands *o, struct ek_buf *out)
{
    pthread_mutex_lock(&o->lock);
    uint64_t first = o->count > KEPT ? o->count - KEPT : 0;
    ek_buf_text(out, "[");
    for (uint64_t n = first; n < o->count; n++) {
        ek_buf_text(out, n > first ? "," : "");
        one_json(&o->of[n % KEPT], out);
    }
    pthread_mutex_unlock(&o->lock);
    return ek_buf_text(out, "]");
}
