/* Where a decider carries out orders. */
#include "base/alloc.h"
#include "fleet/command_record.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { ID_BYTES = EK_FLEET_NAME_MAX + 44, REFUSAL_BYTES = sizeof((struct ek_error *)0)->message };

struct carried_out {
    char id[ID_BYTES];           /* "instance/start/number"; empty: none yet */
    struct ek_fleet_wish_id who; /* its text is `instance` */
    char instance[EK_FLEET_NAME_MAX + 1];
    enum ek_code code;
    char refusal[REFUSAL_BYTES];
    struct ek_fleet_decided decided;
    bool due, told; /* the answer, and that it was written once: then its version stays */
};

struct ek_fleet_desk {
    char decider[EK_FLEET_NAME_MAX + 1];
    struct carried_out of[EK_FLEET_ORDERS_KEPT];
    uint64_t count;
};

int ek_fleet_desk_new(struct ek_fleet_desk **out, const char *decider)
{
    struct ek_fleet_desk *d = ek_calloc(1, sizeof *d);
    if (!d)
        return EK_ENOMEM;
    snprintf(d->decider, sizeof d->decider, "%s", decider);
    *out = d;
    return EK_OK;
}

void ek_fleet_desk_free(struct ek_fleet_desk *d)
{
    ek_free(d);
}

static void id_of(const struct ek_fleet_wish_id *id, char text[ID_BYTES])
{
    snprintf(text, ID_BYTES, "%.*s/%" PRIu64 "/%" PRIu64, (int)id->instance.length,
             id->instance.text, id->start, id->number);
}

static struct carried_out *find(struct ek_fleet_desk *d, const char *id)
{
    for (int i = 0; i < EK_FLEET_ORDERS_KEPT; i++)
        if (!strcmp(d->of[i].id, id))
            return &d->of[i];
    return NULL;
}

/* A copy that ends, NULL of an empty one. */
static const char *own(char to[EK_FLEET_TEXT_MAX + 1], struct ek_text text)
{
    if (text.length)
        memcpy(to, text.text, text.length);
    to[text.length] = 0;
    return text.length ? to : NULL;
}

static void note(struct carried_out *c, const struct ek_fleet_wish *o,
                 const struct ek_fleet_desk_tools *t)
{
    struct ek_decided *is = &c->decided.is;
    *is = ek_decided_of(o->what);
    is->number = 1; /* each instance numbers its own */
    is->before = is->after = t->version;
    is->time_ms = t->time_ms;
    is->action = o->action;
    is->who = own(c->decided.text[0], o->author);
    is->why = own(c->decided.text[1], o->reason);
    is->request = c->id;
    is->feature = own(c->decided.text[4], o->feature);
    is->dimension = own(c->decided.text[5], o->cell.dimension);
    is->value = own(c->decided.text[6], o->cell.value);
}

/* Only a pin makes a place. */
static int place_of(const struct ek_fleet_wish *o, const struct ek_fleet_desk_tools *t,
                    const struct ek_decided *is, int *place, struct ek_error *e)
{
    if (!ek_fleet_pool_knows(t->pool, o->cell.dimension))
        return ek_fail(e, EK_EUSAGE, "'%s' is no segment of the rules where it is decided",
                       is->dimension);
    *place = ek_fleet_pool_find(t->pool, &o->cell);
    if (*place < 0 && o->what == EK_DID_UNPIN)
        return ek_fail(e, EK_ESTATE, "'%s' is not pinned there", is->feature);
    if (*place < 0 && o->what != EK_DID_PIN)
        return ek_fail(e, EK_ESTATE, "nothing is known of '%s' there", is->feature);
    if (*place < 0 && ek_fleet_pool_place(t->pool, &o->cell, place))
        return ek_fail(e, EK_ENOMEM, "out of memory");
    return *place < 0 ? ek_fail(e, EK_ELIMIT,
                                "no place is left for that value where it is decided: set "
                                "'fleet.places' higher, or pin all traffic")
                      : EK_OK;
}

static int carry_out_place(const struct ek_fleet_wish *o, const struct carried_out *c,
                           const struct ek_fleet_desk_tools *t, struct ek_error *e)
{
    struct ek_control_pin pin = {.action = o->action,
                                 .until_ms = o->until_ms,
                                 .author = (char *)c->decided.is.who,
                                 .reason = (char *)c->decided.is.why};
    const struct ek_decided *is = &c->decided.is;
    pin.feature = ek_manifest_find_item(t->manifest, o->feature);
    if (pin.feature < 0)
        return ek_fail(e, EK_EUSAGE, "no item feature '%s' where it is decided", is->feature);
    int rc = place_of(o, t, is, &pin.cell, e);
    if (rc)
        return rc;
    if (o->what == EK_DID_PIN)
        return ek_control_pin(t->control, &pin, e);
    if (o->what == EK_DID_UNPIN)
        return ek_control_unpin(t->control, pin.feature, pin.cell, e);
    return ek_control_resume(t->control, pin.feature, pin.cell, t->time_ms, e);
}

/* Nothing makes a place: what nobody has told of has not changed. */
static int accept(const struct ek_fleet_wish *o, struct carried_out *c,
                  const struct ek_fleet_desk_tools *t, struct ek_error *e)
{
    const struct ek_fleet_normal_tools tools = {t->manifest, t->pool, t->told, t->time_ms};
    struct ek_decided *is = &c->decided.is;
    struct ek_finding over;
    int feature = ek_manifest_find_item(t->manifest, o->feature);
    if (feature < 0)
        return ek_fail(e, EK_EUSAGE, "no item feature '%s' where it is decided", is->feature);
    if (!ek_fleet_pool_knows(t->pool, o->cell.dimension))
        return ek_fail(e, EK_EUSAGE, "'%s' is no segment of the rules where it is decided",
                       is->dimension);
    int place = ek_fleet_pool_find(t->pool, &o->cell);
    int rc = ek_fleet_normal_add(t->normal, &tools, feature, place, is, &over, e);
    if (rc)
        return rc;
    ek_control_found(t->control, &over, t->time_ms);
    *t->moved = feature;
    return EK_OK;
}

static int revert(const struct ek_fleet_wish *o, struct carried_out *c,
                  const struct ek_fleet_desk_tools *t, struct ek_error *e)
{
    struct ek_decided *is = &c->decided.is;
    struct ek_rebase one;
    int rc = ek_fleet_normal_remove(t->normal, o->accept, is, &one, e);
    if (rc)
        return rc;
    struct ek_fleet_cell cell = ek_fleet_pool_cell(t->pool, one.cell);
    is->feature = own(c->decided.text[4], ek_text_of(t->manifest->item[one.feature]->name));
    is->dimension = own(c->decided.text[5], cell.dimension);
    is->value = own(c->decided.text[6], cell.value);
    *t->moved = one.feature;
    return EK_OK;
}

static int carry_out(const struct ek_fleet_wish *o, struct carried_out *c,
                     const struct ek_fleet_desk_tools *t, struct ek_error *e)
{
    if (o->what == EK_DID_ACCEPT)
        return accept(o, c, t, e);
    if (o->what == EK_DID_REVERT)
        return revert(o, c, t, e);
    if (o->feature.length)
        return carry_out_place(o, c, t, e);
    ek_control_pause(t->control, o->what == EK_DID_PAUSE, t->time_ms);
    return EK_OK;
}

/* The place of the oldest. */
static struct carried_out *place_for(struct ek_fleet_desk *d, const struct ek_fleet_wish *o,
                                     const char *id)
{
    struct carried_out *c = &d->of[d->count++ % EK_FLEET_ORDERS_KEPT];
    memset(c, 0, sizeof *c);
    memcpy(c->id, id, ID_BYTES);
    memcpy(c->instance, o->id.instance.text, o->id.instance.length);
    c->who = o->id;
    c->who.instance = ek_text_of(c->instance);
    return c;
}

int ek_fleet_desk_take(struct ek_fleet_desk *d, const struct ek_fleet_desk_tools *tools,
                       const void *bytes, size_t length, struct ek_error *e)
{
    struct ek_fleet_wish o;
    struct ek_error why = {0};
    char id[ID_BYTES] = "";
    int rc = ek_fleet_wish_open(&o, bytes, length, tools->manifest, e);
    if (rc)
        return rc;
    id_of(&o.id, id);
    struct carried_out *c = find(d, id);
    if (!c) {
        c = place_for(d, &o, id);
        note(c, &o, tools);
        c->code = (enum ek_code)carry_out(&o, c, tools, &why);
        snprintf(c->refusal, sizeof c->refusal, "%s", why.message);
    }
    c->due = true;
    return EK_OK;
}

bool ek_fleet_desk_owes(const struct ek_fleet_desk *d)
{
    for (int i = 0; i < EK_FLEET_ORDERS_KEPT; i++)
        if (d->of[i].due)
            return true;
    return false;
}

static int answer(const struct ek_fleet_desk *d, struct carried_out *c,
                  int (*write)(void *context, const void *bytes, size_t length), void *context)
{
    struct ek_fleet_reply a = {.id = c->who,
                               .decider = ek_text_of(d->decider),
                               .code = c->code,
                               .refusal = ek_text_of(c->refusal),
                               .decided = {.is = c->decided.is}};
    struct ek_snap w;
    struct ek_buf out;
    ek_buf_init(&out, 0);
    ek_wire_begin(&w, &out, EK_FLEET_ANSWER);
    ek_fleet_reply_put(&w, &a);
    int rc = ek_wire_seal(&w);
    if (!rc)
        rc = write(context, out.data, out.length);
    ek_buf_release(&out);
    return rc;
}

int ek_fleet_desk_answer(struct ek_fleet_desk *d, uint64_t version,
                         int (*write)(void *context, const void *bytes, size_t length),
                         void *context)
{
    for (int i = 0; i < EK_FLEET_ORDERS_KEPT; i++) {
        struct carried_out *c = &d->of[i];
        if (!c->due)
            continue;
        if (!c->told)
            c->decided.is.after = version;
        int rc = answer(d, c, write, context);
        if (rc)
            return rc;
        c->due = false;
        c->told = true;
    }
    return EK_OK;
}
