#include "daemon/fleet/fleet_commands.h"

#include "base/alloc.h"
#include "guard/event_json.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { RETAINED = 16 };

enum state { NONE, WAITING, LOST, DONE, REFUSED };

struct command {
    uint64_t number;
    enum state state;
    struct ek_buf record;
    int64_t submitted_ms, sent_ms; /* sent_ms -1: not sent */
    char decider[EK_FLEET_NAME_MAX + 1];
    struct ek_buf outcome; /* decision as JSON, or error text */
};

struct ek_fleet_commands {
    pthread_mutex_t lock;
    char instance[EK_FLEET_NAME_MAX + 1];
    uint64_t start, count;
    struct command command[RETAINED]; /* ring */
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

static void clear(struct command *one)
{
    ek_buf_release(&one->record);
    ek_buf_release(&one->outcome);
    *one = (struct command){.state = NONE};
}

void ek_fleet_commands_free(struct ek_fleet_commands *o)
{
    if (!o)
        return;
    for (int i = 0; i < RETAINED; i++)
        clear(&o->command[i]);
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
    struct command *one = &o->command[o->count % RETAINED];
    clear(one);
    ek_buf_init(&one->record, 0);
    ek_buf_init(&one->outcome, 0);
    int rc = ek_fleet_order_write(&own, manifest, &one->record);
    if (!rc) {
        o->count++;
        one->number = *number;
        one->state = WAITING;
        one->submitted_ms = now_ms;
        one->sent_ms = -1;
    }
    pthread_mutex_unlock(&o->lock);
    return rc;
}

void ek_fleet_commands_send_due(struct ek_fleet_commands *o, int64_t now_ms,
                                void (*send)(void *context, const void *bytes, size_t length),
                                void *context)
{
    pthread_mutex_lock(&o->lock);
    for (int i = 0; i < RETAINED; i++) {
        struct command *one = &o->command[i];
        if (one->state != WAITING)
            continue;
        if (now_ms - one->submitted_ms >= EK_COMMANDS_TIMEOUT_MS) {
            one->state = LOST;
        } else if (one->sent_ms < 0 || now_ms - one->sent_ms >= EK_COMMANDS_RETRY_MS) {
            one->sent_ms = now_ms;
            send(context, one->record.data, one->record.length);
        }
    }
    pthread_mutex_unlock(&o->lock);
}

static bool is_own(const struct ek_fleet_commands *o, const struct ek_order_id *id)
{
    return id->start == o->start && ek_text_same(id->instance, ek_text_from(o->instance));
}

static void store_reply(struct command *one, const struct ek_fleet_reply *r)
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
    for (int i = 0; is_own(o, &r->id) && i < RETAINED; i++)
        if (o->command[i].number == r->id.number &&
            (o->command[i].state == WAITING || o->command[i].state == LOST))
            store_reply(&o->command[i], r);
    pthread_mutex_unlock(&o->lock);
}

static int text_json(struct ek_buf *out, const char *key, const void *text, size_t length)
{
    ek_buf_printf(out, ",\"%s\":", key);
    return ek_buf_json(out, text, length);
}

static int one_json(const struct command *one, struct ek_buf *out)
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
    uint64_t first = o->count > RETAINED ? o->count - RETAINED : 0;
    ek_buf_text(out, "[");
    for (uint64_t n = first; n < o->count; n++) {
        ek_buf_text(out, n > first ? "," : "");
        one_json(&o->command[n % RETAINED], out);
    }
    pthread_mutex_unlock(&o->lock);
    return ek_buf_text(out, "]");
}
