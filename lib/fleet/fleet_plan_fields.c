#include "fleet/fleet_plan_fields.h"

#include "detect/level_offset.h"

#include <math.h>
#include <string.h>

/* Words of the record format. */
static const char *const SOURCES[EK_PLAN_SOURCE_COUNT] = {"finding", "person", "rules"};

static int source_parse(const char *word)
{
    for (int i = 0; i < EK_PLAN_SOURCE_COUNT; i++)
        if (!strcmp(word, SOURCES[i]))
            return i;
    return -1;
}

static int rail_parse(const char *word)
{
    for (int i = 0; i < EK_GUARDRAIL_COUNT; i++)
        if (!strcmp(word, ek_guardrail_name((enum ek_guardrail)i)))
            return i;
    return -1;
}

enum ek_guardrail ek_fleet_guardrail_walk(struct ek_serialize *w, enum ek_guardrail rail)
{
    return (enum ek_guardrail)ek_wire_word(w, ek_guardrail_name(rail), rail_parse);
}

enum ek_class ek_fleet_class_walk(struct ek_serialize *w, enum ek_class class)
{
    return (enum ek_class)ek_wire_word(w, ek_class_name(class), ek_class_parse);
}

static void walk_place(struct ek_serialize *w, const struct ek_fleet_dimensions *d,
                       struct ek_fleet_place *p)
{
    ek_wire_cell(w, d, &p->cell);
    ek_wire_text(w, &p->feature, EK_FLEET_NAME_MAX);
}

static enum ek_action walk_action(struct ek_serialize *w, enum ek_action a)
{
    return (enum ek_action)ek_wire_word(w, ek_action_name(a), ek_action_parse);
}

static enum ek_mode walk_mode(struct ek_serialize *w, enum ek_mode m)
{
    return (enum ek_mode)ek_wire_word(w, ek_mode_name(m), ek_mode_parse);
}

/* Added to the percentage of an entry that a repair follows. */
enum { WITH_REPAIR = 1 << 14 };

void ek_fleet_entry_walk(struct ek_serialize *w, const struct ek_fleet_dimensions *d,
                         struct ek_fleet_entry *e)
{
    struct ek_plan_entry *is = &e->is;
    uint64_t min_duration_ms = (uint64_t)is->min_duration_ms;
    int percent = is->percent | (is->repair.by == EK_REPAIR_UNKNOWN ? 0 : WITH_REPAIR);
    walk_place(w, d, &e->place);
    is->treatment.action = walk_action(w, is->treatment.action);
    ek_serialize_f64(w, &is->treatment.value);
    is->mode = walk_mode(w, is->mode);
    ek_wire_int(w, &percent, WITH_REPAIR + EK_PERCENT_WHOLE);
    is->percent = percent & ~WITH_REPAIR;
    is->by = (enum ek_plan_source)ek_wire_word(w, SOURCES[is->by], source_parse);
    ek_serialize_f64(w, &is->repair.factor);
    ek_wire_text(w, &e->query_feature, EK_FLEET_NAME_MAX);
    ek_wire_time(w, &is->since_ms);
    ek_wire_time(w, &is->until_ms);
    ek_wire_number(w, &min_duration_ms, (uint64_t)EK_FLEET_TIME_MAX);
    is->min_duration_ms = (int64_t)min_duration_ms;
    ek_wire_u32(w, &is->restarts);
    ek_record_reader_require(w, isfinite(is->treatment.value) && is->since_ms >= 0 &&
                                    is->until_ms >= -1 && is->percent <= EK_PERCENT_WHOLE);
    if (percent & WITH_REPAIR)
        ek_plan_repair_serialize(&is->repair, w);
}

void ek_fleet_mode_walk(struct ek_serialize *w, const struct ek_fleet_dimensions *d,
                        struct ek_fleet_mode *m)
{
    bool own = m->is.own;
    walk_place(w, d, &m->place);
    m->is.mode = walk_mode(w, m->is.mode);
    ek_wire_flag(w, &own);
    m->is.own = own;
}

void ek_fleet_rollout_walk(struct ek_serialize *w, const struct ek_fleet_dimensions *d,
                           struct ek_fleet_rollout *r)
{
    struct ek_rollout *is = &r->is;
    walk_place(w, d, &r->place);
    ek_wire_int(w, &is->percent, EK_PERCENT_WHOLE);
    ek_wire_time(w, &is->step_ms);
    is->rolled_back = ek_fleet_guardrail_walk(w, is->rolled_back);
    ek_serialize_f64(w, &is->observed);
    ek_serialize_f64(w, &is->limit);
    ek_wire_int(w, &is->relapses, INT32_MAX);
    ek_wire_time(w, &is->ended_ms);
    ek_wire_number(w, &is->compared, UINT64_MAX);
    ek_wire_u32(w, &is->restarts);
    ek_wire_u32(w, &is->context.episode);
    is->context.class = ek_fleet_class_walk(w, is->context.class);
    ek_serialize_f64(w, &is->context.factor);
    ek_serialize_f64(w, &is->context.factor_low);
    ek_serialize_f64(w, &is->context.factor_high);
    ek_serialize_f64(w, &is->context.share);
    ek_record_reader_require(w, is->step_ms >= 0 && is->ended_ms >= -1);
}

struct ek_fleet_place ek_fleet_order_place(const struct ek_order *o)
{
    const struct ek_fleet_cell cell = {ek_text_from(o->segment),
                                       ek_text_from(ek_order_cell_value(o))};
    return (struct ek_fleet_place){cell, ek_text_from(o->feature)};
}

struct order_fields {
    struct ek_fleet_place place;
    enum ek_action action;
    int64_t until_ms;
    struct ek_text author, reason;
};

static void walk_order(struct ek_serialize *w, const struct ek_fleet_dimensions *d,
                       struct order_fields *o)
{
    walk_place(w, d, &o->place);
    o->action = walk_action(w, o->action);
    ek_wire_time(w, &o->until_ms);
    ek_wire_text(w, &o->author, EK_AUTHOR_BYTES);
    ek_wire_text(w, &o->reason, EK_REASON_BYTES);
    ek_record_reader_require(w, o->action != EK_ACT_REPAIR && o->until_ms >= 0);
}

void ek_fleet_order_walk(struct ek_serialize *w, const struct ek_fleet_dimensions *d,
                         const struct ek_fleet_place *place, const struct ek_order *o)
{
    struct order_fields fields = {*place, o->action, o->until_ms, ek_text_from(o->author),
                                  ek_text_from(o->reason)};
    walk_order(w, d, &fields);
}

/* Copy with a terminator; return NULL for an empty string. */
static const char *copy_of(char *to, struct ek_text text)
{
    if (text.length)
        memcpy(to, text.text, text.length);
    to[text.length] = 0;
    return text.length ? to : NULL;
}

void ek_fleet_order_get(struct ek_serialize *w, const struct ek_fleet_dimensions *d,
                        struct ek_fleet_order_read *o)
{
    struct order_fields fields = {.until_ms = 0};
    walk_order(w, d, &fields);
    o->is = (struct ek_order){.kind = EK_DECIDED_PIN,
                              .feature = copy_of(o->feature, fields.place.feature),
                              .segment = copy_of(o->segment, fields.place.cell.dimension),
                              .value = copy_of(o->value, fields.place.cell.value),
                              .action = fields.action,
                              .until_ms = fields.until_ms,
                              .author = copy_of(o->author, fields.author),
                              .reason = copy_of(o->reason, fields.reason)};
    if (o->is.segment && !fields.place.cell.value.text)
        o->is.value = EK_SEGMENT_OTHER;
}

void ek_fleet_accept_walk(struct ek_serialize *w, const struct ek_fleet_dimensions *d,
                          struct ek_fleet_accept *a)
{
    walk_place(w, d, &a->place);
    ek_serialize_f64(w, &a->shift_ln);
    ek_wire_number(w, &a->version, UINT64_MAX >> 1);
    ek_wire_time(w, &a->since_ms);
    ek_wire_time(w, &a->time_ms);
    ek_wire_text(w, &a->author, EK_AUTHOR_BYTES);
    ek_wire_text(w, &a->reason, EK_REASON_BYTES);
    ek_record_reader_require(w, fabs(a->shift_ln) <= EK_OFFSET_MAX_LN && a->version > 0);
}

void ek_fleet_limits_walk(struct ek_serialize *w, struct ek_fleet_limits *l)
{
    int limited = (int)l->limited;
    ek_wire_int(w, &limited, EK_EXCEEDS_PLAN - 1);
    l->limited = (enum ek_exceeds)limited;
    ek_wire_time(w, &l->free_ms);
    ek_wire_flag(w, &l->was_full);
    ek_wire_flag(w, &l->paused);
    ek_wire_time(w, &l->paused_ms);
    ek_record_reader_require(w, l->free_ms >= -1);
}
