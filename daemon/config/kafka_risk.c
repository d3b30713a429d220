#include "daemon/config/kafka_risk.h"

#include <stdlib.h>
#include <string.h>

enum { RETRIES_MANY = 1000000 };

static bool is(const char *a, const char *b)
{
    return !strcmp(a, b);
}

int ek_risk_refuse(const struct ek_property *p, struct ek_error *e)
{
    bool acks = is(p->name, "acks") || is(p->name, "request.required.acks");
    if (!acks || is(p->value, "all") || is(p->value, "-1"))
        return EK_OK;
    return ek_fail(e, EK_ECONFIG,
                   "librdkafka property '%s': with less than 'all' an output may be lost after it "
                   "was acknowledged: leave it out",
                   p->name);
}

static bool is_true(const char *value)
{
    return is(value, "true") || is(value, "t") || is(value, "1");
}

/* What to know of a property with that value; NULL: nothing. */
static const char *risk_of(const struct ek_property *p)
{
    static const char ends[] = "brokers that are away for longer end the program: leave it out";
    if (is(p->name, "message.timeout.ms") || is(p->name, "delivery.timeout.ms"))
        return is(p->value, "0") ? NULL : ends;
    if (is(p->name, "retries") || is(p->name, "message.send.max.retries"))
        return strtol(p->value, NULL, 10) < RETRIES_MANY ? ends : NULL;
    if (is(p->name, "enable.idempotence"))
        return is_true(p->value) ? NULL
                                 : "lists may change their order when a request is refused: leave "
                                   "it out";
    if (is(p->name, "isolation.level"))
        return is(p->value, "read_uncommitted")
                   ? "messages of transactions that are aborted are read, too: leave it out"
                   : NULL;
    if (is(p->name, "enable.gapless.guarantee"))
        return is_true(p->value) ? "one message that is refused ends the program: leave it out"
                                 : NULL;
    return NULL;
}

static int note_list(struct ek_config *c, const struct ek_property_list *list, struct ek_error *e)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct ek_property *p = &list->items[i];
        const char *risk = risk_of(p);
        struct ek_error note;
        if (!risk)
            continue;
        ek_fail_at(&note, EK_ECONFIG, p->line ? c->path : NULL, p->line, p->column,
                   "librdkafka property '%s': %s", p->name, risk);
        if (ek_error_list_add(&c->notes, &note) == EK_ENOMEM)
            return ek_fail(e, EK_ENOMEM, "no memory for a note");
    }
    return EK_OK;
}

int ek_risk_note(struct ek_config *c, struct ek_error *e)
{
    int rc = note_list(c, &c->librdkafka, e);
    return rc ? rc : note_list(c, &c->output_librdkafka, e);
}
