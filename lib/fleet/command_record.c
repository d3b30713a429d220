#include "fleet/command_record.h"

#include <inttypes.h>
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
