#include "fleet/command_record.h"

#include "base/alloc.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void walk_id(struct ek_serialize *w, struct ek_order_id *id)
{
    ek_wire_text(w, &id->instance, EK_FLEET_NAME_MAX);
    ek_wire_number(w, &id->start, UINT64_MAX);
    ek_wire_number(w, &id->number, UINT64_MAX);
    ek_record_reader_require(w, id->instance.length && id->number);
}

int ek_fleet_order_write(const struct ek_order *o, uint64_t manifest, struct ek_buf *out)
{
    const struct ek_fleet_place place = ek_fleet_order_place(o);
    struct ek_fleet_dimensions own = {o->segment != NULL, {place.cell.dimension}};
    struct ek_order_id id = o->id;
    struct ek_serialize w;
    ek_record_writer_start(&w, out, EK_FLEET_COMMAND);
    walk_id(&w, &id);
    ek_serialize_u64(&w, &manifest);
    ek_wire_word(&w, ek_decision_kind_name(o->kind), ek_decision_kind_parse);
    ek_wire_dimensions(&w, &own);
    ek_fleet_order_walk(&w, &own, &place, o);
    ek_record_write(&w, o->version);
    return ek_record_writer_finish(&w);
}

static void read_order(struct ek_serialize *w, struct ek_fleet_order_read *o, uint64_t *manifest)
{
    struct ek_fleet_dimensions dimensions = {0};
    struct ek_order_id id;
    walk_id(w, &id);
    ek_serialize_u64(w, manifest);
    enum ek_decision_kind kind =
        (enum ek_decision_kind)ek_wire_word(w, NULL, ek_decision_kind_parse);
    ek_wire_dimensions(w, &dimensions);
    ek_fleet_order_get(w, &dimensions, o);
    o->is.id = id;
    o->is.kind = kind;
    o->is.version = ek_record_get(w, UINT64_MAX >> 1);
    bool of_all = kind == EK_DECIDED_PAUSE || kind == EK_DECIDED_REVERT;
    bool of_one = kind == EK_DECIDED_PIN || kind == EK_DECIDED_UNPIN || kind == EK_DECIDED_ACCEPT;
    ek_record_reader_require(w, (kind == EK_DECIDED_REVERT) == (o->is.version > 0));
    ek_record_reader_require(w, o->is.feature ? of_one || kind == EK_DECIDED_RESUME
                                              : of_all || kind == EK_DECIDED_RESUME);
}

static int ended(const struct ek_serialize *w, const char *what, struct ek_error *e)
{
    return w->rc || w->at != w->end
               ? ek_fail(e, EK_EFORMAT, "fleet record is no %s: its content is damaged", what)
               : EK_OK;
}

int ek_fleet_order_open(struct ek_fleet_order_read *o, const void *bytes, size_t length,
                        const struct ek_manifest *m, struct ek_error *e)
{
    struct ek_serialize w;
    uint64_t manifest;
    int rc = ek_record_reader_open(&w, bytes, length, EK_FLEET_COMMAND, e);
    if (rc)
        return rc;
    read_order(&w, o, &manifest);
    rc = ended(&w, "order", e);
    if (!rc && manifest != m->hash)
        rc = ek_fail(e, EK_ESTATE, "an order of an instance with another manifest");
    return rc;
}

void ek_fleet_reply_write(struct ek_serialize *w, const struct ek_fleet_reply *a)
{
    struct ek_order_id id = a->id;
    struct ek_text decider = a->decider, refusal = a->refusal;
    walk_id(w, &id);
    ek_wire_text(w, &decider, EK_FLEET_NAME_MAX);
    ek_record_write(w, (uint64_t)a->code);
    if (a->code)
        ek_wire_text(w, &refusal, EK_FLEET_TEXT_MAX);
    else
        ek_fleet_decision_write(w, &a->decided.is);
}

int ek_fleet_reply_open(struct ek_fleet_reply *a, const void *bytes, size_t length,
                        struct ek_error *e)
{
    struct ek_serialize w;
    int rc = ek_record_reader_open(&w, bytes, length, EK_FLEET_REPLY, e);
    if (rc)
        return rc;
    walk_id(&w, &a->id);
    ek_wire_text(&w, &a->decider, EK_FLEET_NAME_MAX);
    a->code = (enum ek_code)ek_record_get(&w, 255);
    a->refusal = (struct ek_text){0};
    if (a->code)
        ek_wire_text(&w, &a->refusal, EK_FLEET_TEXT_MAX);
    else
        ek_fleet_decision_read(&w, &a->decided);
    ek_record_reader_require(&w, a->code || a->decided.is.request);
    return ended(&w, "answer", e);
}

/* Operator commands that the leader applies. */
enum { ID_BYTES = EK_FLEET_NAME_MAX + 44, REFUSAL_BYTES = sizeof((struct ek_error *)0)->message };

struct applied_order {
    struct ek_fleet_order_read order; /* number 0: unused entry; the instance name is `instance` */
    char instance[EK_FLEET_NAME_MAX + 1];
    char request[ID_BYTES]; /* "instance/start/number" */
    enum ek_code code;
    char refusal[REFUSAL_BYTES];
    struct ek_decision_record decided; /* refers to strings of command, manifest and cells */
    bool due, written; /* reply pending; reply written once, so its version is final */
};

struct ek_leader_commands {
    char decider[EK_FLEET_NAME_MAX + 1];
    struct applied_order of[EK_FLEET_COMMANDS_RETAINED];
    uint64_t count;
};

int ek_leader_commands_new(struct ek_leader_commands **out, const char *decider)
{
    struct ek_leader_commands *d = ek_calloc(1, sizeof *d);
    if (!d)
        return EK_ENOMEM;
    snprintf(d->decider, sizeof d->decider, "%s", decider);
    *out = d;
    return EK_OK;
}

void ek_leader_commands_free(struct ek_leader_commands *d)
{
    ek_free(d);
}

static struct applied_order *find(struct ek_leader_commands *d, const struct ek_order_id *id)
{
    for (int i = 0; i < EK_FLEET_COMMANDS_RETAINED; i++) {
        const struct ek_order_id *own = &d->of[i].order.is.id;
        if (own->number == id->number && own->start == id->start &&
            ek_text_same(own->instance, id->instance))
            return &d->of[i];
    }
    return NULL;
}

/* Replace the oldest entry. */
static struct applied_order *keep(struct ek_leader_commands *d, const void *bytes, size_t length,
                                  const struct ek_manifest *m)
{
    struct applied_order *c = &d->of[d->count++ % EK_FLEET_COMMANDS_RETAINED];
    struct ek_order_id *id = &c->order.is.id;
    memset(c, 0, sizeof *c);
    ek_fleet_order_open(&c->order, bytes, length, m, NULL); /* strings remain in the entry */
    snprintf(c->request, sizeof c->request, "%.*s/%" PRIu64 "/%" PRIu64, (int)id->instance.length,
             id->instance.text, id->start, id->number);
    memcpy(c->instance, id->instance.text, id->instance.length);
    id->instance.text = c->instance;
    return c;
}

static void apply(struct applied_order *c, struct ek_controller *control, int64_t time_ms,
                  uint64_t version)
{
    struct ek_error why = {.message = ""};
    c->code =
        (enum ek_code)ek_controller_apply_order(control, &c->order.is, time_ms, &c->decided, &why);
    memcpy(c->refusal, why.message, sizeof c->refusal);
    c->decided.number = 1; /* instances number replies separately */
    c->decided.before = c->decided.after = version;
    c->decided.time_ms = time_ms;
    c->decided.request = c->request;
}

int ek_leader_commands_run(struct ek_leader_commands *d, struct ek_controller *control,
                           const struct ek_manifest *m, int64_t time_ms, uint64_t version,
                           const void *bytes, size_t length, struct ek_error *e)
{
    struct ek_fleet_order_read o;
    int rc = ek_fleet_order_open(&o, bytes, length, m, e);
    if (rc)
        return rc;
    struct applied_order *c = find(d, &o.is.id);
    if (!c) {
        c = keep(d, bytes, length, m);
        apply(c, control, time_ms, version);
    }
    c->due = true;
    return EK_OK;
}

bool ek_leader_commands_has_replies(const struct ek_leader_commands *d)
{
    for (int i = 0; i < EK_FLEET_COMMANDS_RETAINED; i++)
        if (d->of[i].due)
            return true;
    return false;
}

static int answer(const struct ek_leader_commands *d, struct applied_order *c,
                  int (*write)(void *context, const void *bytes, size_t length), void *context)
{
    struct ek_fleet_reply a = {.id = c->order.is.id,
                               .decider = ek_text_from(d->decider),
                               .code = c->code,
                               .refusal = ek_text_from(c->refusal),
                               .decided = {.is = c->decided}};
    struct ek_serialize w;
    struct ek_buf out;
    ek_buf_init(&out, 0);
    ek_record_writer_start(&w, &out, EK_FLEET_REPLY);
    ek_fleet_reply_write(&w, &a);
    int rc = ek_record_writer_finish(&w);
    if (!rc)
        rc = write(context, out.data, out.length);
    ek_buf_release(&out);
    return rc;
}

int ek_leader_commands_reply(struct ek_leader_commands *d, uint64_t version,
                             int (*write)(void *context, const void *bytes, size_t length),
                             void *context)
{
    for (int i = 0; i < EK_FLEET_COMMANDS_RETAINED; i++) {
        struct applied_order *c = &d->of[i];
        if (!c->due)
            continue;
        if (!c->written)
            c->decided.after = version;
        int rc = answer(d, c, write, context);
        if (rc)
            return rc;
        c->due = false;
        c->written = true;
    }
    return EK_OK;
}
