#include "fleet/command_record.h"

#include <inttypes.h>
#include <string.h>

static int what_parse(const char *word)
{
    static const enum ek_did known[] = {EK_DID_PIN,    EK_DID_UNPIN,  EK_DID_PAUSE,
                                        EK_DID_RESUME, EK_DID_ACCEPT, EK_DID_REVERT};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (!strcmp(word, ek_did_name(known[i])))
            return (int)known[i];
    return -1;
}

static void walk_id(struct ek_snap *w, struct ek_fleet_wish_id *id)
{
    ek_wire_text(w, &id->instance, EK_FLEET_NAME_MAX);
    ek_wire_number(w, &id->start, UINT64_MAX);
    ek_wire_number(w, &id->number, UINT64_MAX);
    ek_wire_require(w, id->instance.length && id->number);
}

static void walk_order(struct ek_snap *w, struct ek_fleet_wish *o)
{
    walk_id(w, &o->id);
    ek_snap_u64(w, &o->manifest);
    o->what = (enum ek_did)ek_wire_word(w, ek_did_name(o->what), what_parse);
    ek_wire_dimensions(w, &o->dimensions);
    ek_wire_cell(w, &o->dimensions, &o->cell);
    ek_wire_text(w, &o->feature, EK_FLEET_NAME_MAX);
    o->action = (enum ek_action)ek_wire_word(w, ek_action_name(o->action), ek_action_parse);
    ek_wire_time(w, &o->until_ms);
    ek_wire_text(w, &o->author, EK_AUTHOR_BYTES);
    ek_wire_text(w, &o->reason, EK_REASON_BYTES);
    if (!w->elder)
        ek_wire_number(w, &o->accept, UINT64_MAX >> 1);
    bool of_all = o->what == EK_DID_PAUSE || o->what == EK_DID_REVERT ||
                  (o->what == EK_DID_RESUME && !o->feature.length);
    ek_wire_require(w, (o->what == EK_DID_REVERT) == (o->accept > 0));
    ek_wire_require(w, of_all == !o->feature.length);
    ek_wire_require(w, o->action != EK_ACT_RESCALE && o->until_ms >= 0);
}

int ek_fleet_wish_write(const struct ek_fleet_wish *o, struct ek_buf *out)
{
    struct ek_fleet_wish copy = *o;
    struct ek_snap w;
    ek_wire_begin(&w, out, EK_FLEET_ORDER);
    walk_order(&w, &copy);
    return ek_wire_seal(&w);
}

static int ended(const struct ek_snap *w, const char *what, struct ek_error *e)
{
    return w->rc || w->at != w->end
               ? ek_fail(e, EK_EFORMAT, "fleet record is no %s: its content is damaged", what)
               : EK_OK;
}

int ek_fleet_wish_open(struct ek_fleet_wish *o, const void *bytes, size_t length,
                       const struct ek_manifest *m, struct ek_error *e)
{
    struct ek_snap w;
    int rc = ek_wire_open(&w, bytes, length, EK_FLEET_ORDER, e);
    if (rc)
        return rc;
    *o = (struct ek_fleet_wish){.what = EK_DID_PAUSE};
    walk_order(&w, o);
    rc = ended(&w, "order", e);
    if (!rc && o->manifest != m->hash)
        rc = ek_fail(e, EK_ESTATE, "an order of an instance with another manifest");
    return rc;
}

void ek_fleet_reply_put(struct ek_snap *w, const struct ek_fleet_reply *a)
{
    struct ek_fleet_wish_id id = a->id;
    struct ek_text decider = a->decider, refusal = a->refusal;
    walk_id(w, &id);
    ek_wire_text(w, &decider, EK_FLEET_NAME_MAX);
    ek_wire_put(w, (uint64_t)a->code);
    if (a->code)
        ek_wire_text(w, &refusal, EK_FLEET_TEXT_MAX);
    else
        ek_fleet_decided_put(w, &a->decided.is);
}

int ek_fleet_reply_open(struct ek_fleet_reply *a, const void *bytes, size_t length,
                        struct ek_error *e)
{
    struct ek_snap w;
    int rc = ek_wire_open(&w, bytes, length, EK_FLEET_ANSWER, e);
    if (rc)
        return rc;
    walk_id(&w, &a->id);
    ek_wire_text(&w, &a->decider, EK_FLEET_NAME_MAX);
    a->code = (enum ek_code)ek_wire_get(&w, 255);
    a->refusal = (struct ek_text){0};
    if (a->code)
        ek_wire_text(&w, &a->refusal, EK_FLEET_TEXT_MAX);
    else
        ek_fleet_decided_get(&w, &a->decided);
    ek_wire_require(&w, a->code || a->decided.is.request);
    return ended(&w, "answer", e);
}
