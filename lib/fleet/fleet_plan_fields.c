#include "fleet/fleet_plan_fields.h"

#include "detect/level_offset.h"

#include <math.h>
#include <string.h>

static int by_parse(const char *word)
{
    for (int i = 0; i < EK_BYS; i++)
        if (!strcmp(word, ek_plan_by_name((enum ek_plan_by)i)))
            return i;
    return -1;
}

int ek_fleet_rail_parse(const char *word)
{
    for (int i = 0; i < EK_RAILS; i++)
        if (!strcmp(word, ek_rail_name((enum ek_rail)i)))
            return i;
    return -1;
}

static void put_place(struct ek_wire_out *w, const struct ek_fleet_dimensions *d,
                      const struct ek_fleet_place *p)
{
    ek_wire_put_cell(w, d, &p->cell);
    ek_wire_put_text(w, p->feature);
}

static void get_place(struct ek_wire_in *w, const struct ek_fleet_dimensions *d,
                      struct ek_fleet_place *p)
{
    ek_wire_get_cell(w, d, &p->cell);
    p->feature = ek_wire_get_text(w, EK_FLEET_NAME_MAX);
}

void ek_fleet_entry_put(struct ek_wire_out *w, const struct ek_fleet_dimensions *d,
                        const struct ek_fleet_entry *e)
{
    const struct ek_plan_entry *is = &e->is;
    put_place(w, d, &e->place);
    ek_wire_put_word(w, ek_action_name(is->treatment.action));
    ek_wire_put_f64(w, is->treatment.value);
    ek_wire_put_word(w, ek_mode_name(is->mode));
    ek_wire_put(w, (uint64_t)is->percent);
    ek_wire_put_word(w, ek_plan_by_name(is->by));
    ek_wire_put_f64(w, is->repair.factor);
    ek_wire_put_text(w, e->query_feature);
    ek_wire_put_signed(w, is->since_ms);
    ek_wire_put_signed(w, is->until_ms);
    ek_wire_put(w, (uint64_t)is->hold_ms);
    ek_wire_put(w, is->turns);
}

void ek_fleet_entry_get(struct ek_wire_in *w, const struct ek_fleet_dimensions *d,
                        struct ek_fleet_entry *e)
{
    struct ek_plan_entry *is = &e->is;
    *e = (struct ek_fleet_entry){.is.repair.query_feature = -1};
    get_place(w, d, &e->place);
    is->treatment.action = (enum ek_action)ek_wire_get_word(w, ek_action_parse);
    is->treatment.value = ek_wire_get_f64(w);
    is->mode = (enum ek_mode)ek_wire_get_word(w, ek_mode_parse);
    is->percent = (int)ek_wire_get(w, EK_PERCENT_WHOLE);
    is->by = (enum ek_plan_by)ek_wire_get_word(w, by_parse);
    is->repair.factor = ek_wire_get_f64(w);
    e->query_feature = ek_wire_get_text(w, EK_FLEET_NAME_MAX);
    is->since_ms = ek_wire_get_signed(w, EK_FLEET_TIME_MAX);
    is->until_ms = ek_wire_get_signed(w, EK_FLEET_TIME_MAX);
    is->hold_ms = (int64_t)ek_wire_get(w, (uint64_t)EK_FLEET_TIME_MAX);
    is->turns = (uint32_t)ek_wire_get(w, UINT32_MAX);
    ek_wire_require(w, isfinite(is->treatment.value) && is->since_ms >= 0 && is->until_ms >= -1);
}

void ek_fleet_mode_put(struct ek_wire_out *w, const struct ek_fleet_dimensions *d,
                       const struct ek_fleet_mode *m)
{
    put_place(w, d, &m->place);
    ek_wire_put_word(w, ek_mode_name(m->is.mode));
    ek_wire_put_flag(w, m->is.own);
}

void ek_fleet_mode_get(struct ek_wire_in *w, const struct ek_fleet_dimensions *d,
                       struct ek_fleet_mode *m)
{
    *m = (struct ek_fleet_mode){.is.cell = -1};
    get_place(w, d, &m->place);
    m->is.mode = (enum ek_mode)ek_wire_get_word(w, ek_mode_parse);
    m->is.own = ek_wire_get_flag(w);
}

void ek_fleet_rollout_put(struct ek_wire_out *w, const struct ek_fleet_dimensions *d,
                          const struct ek_fleet_rollout *r)
{
    const struct ek_rollout *is = &r->is;
    put_place(w, d, &r->place);
    ek_wire_put(w, (uint64_t)is->percent);
    ek_wire_put_signed(w, is->step_ms);
    ek_wire_put_word(w, ek_rail_name(is->withdrawn));
    ek_wire_put_f64(w, is->figure);
    ek_wire_put_f64(w, is->limit);
    ek_wire_put(w, (uint64_t)is->relapses);
    ek_wire_put_signed(w, is->ended_ms);
    ek_wire_put(w, is->tried);
    ek_wire_put(w, is->turns);
    ek_wire_put(w, is->about.episode);
    ek_wire_put_word(w, ek_class_name(is->about.class));
    ek_wire_put_f64(w, is->about.factor);
    ek_wire_put_f64(w, is->about.factor_low);
    ek_wire_put_f64(w, is->about.factor_high);
    ek_wire_put_f64(w, is->about.share);
}

void ek_fleet_rollout_get(struct ek_wire_in *w, const struct ek_fleet_dimensions *d,
                          struct ek_fleet_rollout *r)
{
    struct ek_rollout *is = &r->is;
    *r = (struct ek_fleet_rollout){.is.cell = -1};
    get_place(w, d, &r->place);
    is->percent = (int)ek_wire_get(w, EK_PERCENT_WHOLE);
    is->step_ms = ek_wire_get_signed(w, EK_FLEET_TIME_MAX);
    is->withdrawn = (enum ek_rail)ek_wire_get_word(w, ek_fleet_rail_parse);
    is->figure = ek_wire_get_f64(w);
    is->limit = ek_wire_get_f64(w);
    is->relapses = (int)ek_wire_get(w, INT32_MAX);
    is->ended_ms = ek_wire_get_signed(w, EK_FLEET_TIME_MAX);
    is->tried = ek_wire_get(w, UINT64_MAX);
    is->credit = EK_CREDIT_KNOWN_NOT;
    is->turns = (uint32_t)ek_wire_get(w, UINT32_MAX);
    is->about.episode = (uint32_t)ek_wire_get(w, UINT32_MAX);
    is->about.class = (enum ek_class)ek_wire_get_word(w, ek_class_parse);
    is->about.factor = ek_wire_get_f64(w);
    is->about.factor_low = ek_wire_get_f64(w);
    is->about.factor_high = ek_wire_get_f64(w);
    is->about.share = ek_wire_get_f64(w);
    ek_wire_require(w, is->step_ms >= 0 && is->ended_ms >= -1);
}

void ek_fleet_pin_put(struct ek_wire_out *w, const struct ek_fleet_dimensions *d,
                      const struct ek_fleet_pin *p)
{
    put_place(w, d, &p->place);
    ek_wire_put_word(w, ek_action_name(p->action));
    ek_wire_put_signed(w, p->until_ms);
    ek_wire_put_text(w, p->author);
    ek_wire_put_text(w, p->reason);
}

void ek_fleet_pin_get(struct ek_wire_in *w, const struct ek_fleet_dimensions *d,
                      struct ek_fleet_pin *p)
{
    get_place(w, d, &p->place);
    p->action = (enum ek_action)ek_wire_get_word(w, ek_action_parse);
    p->until_ms = ek_wire_get_signed(w, EK_FLEET_TIME_MAX);
    p->author = ek_wire_get_text(w, EK_AUTHOR_BYTES);
    p->reason = ek_wire_get_text(w, EK_REASON_BYTES);
    ek_wire_require(w, p->action != EK_ACT_RESCALE && p->until_ms >= 0);
}

void ek_fleet_accept_put(struct ek_wire_out *w, const struct ek_fleet_dimensions *d,
                         const struct ek_fleet_accept *a)
{
    put_place(w, d, &a->place);
    ek_wire_put_f64(w, a->shift_ln);
    ek_wire_put(w, a->version);
    ek_wire_put_signed(w, a->since_ms);
    ek_wire_put_signed(w, a->time_ms);
    ek_wire_put_text(w, a->author);
    ek_wire_put_text(w, a->reason);
}

void ek_fleet_accept_get(struct ek_wire_in *w, const struct ek_fleet_dimensions *d,
                         struct ek_fleet_accept *a)
{
    get_place(w, d, &a->place);
    a->shift_ln = ek_wire_get_f64(w);
    a->version = ek_wire_get(w, UINT64_MAX >> 1);
    a->since_ms = ek_wire_get_signed(w, EK_FLEET_TIME_MAX);
    a->time_ms = ek_wire_get_signed(w, EK_FLEET_TIME_MAX);
    a->author = ek_wire_get_text(w, EK_AUTHOR_BYTES);
    a->reason = ek_wire_get_text(w, EK_REASON_BYTES);
    ek_wire_require(w, fabs(a->shift_ln) <= EK_REBASE_MOST_LN && a->version > 0);
}

void ek_fleet_limits_put(struct ek_wire_out *w, const struct ek_fleet_limits *l)
{
    ek_wire_put(w, (uint64_t)l->limited);
    ek_wire_put_signed(w, l->free_ms);
    ek_wire_put_flag(w, l->was_full);
    ek_wire_put_flag(w, l->paused);
    ek_wire_put_signed(w, l->paused_ms);
}

void ek_fleet_limits_get(struct ek_wire_in *w, struct ek_fleet_limits *l)
{
    l->limited = (enum ek_exceeds)ek_wire_get(w, EK_EXCEEDS_PLAN - 1);
    l->free_ms = ek_wire_get_signed(w, EK_FLEET_TIME_MAX);
    l->was_full = ek_wire_get_flag(w);
    l->paused = ek_wire_get_flag(w);
    l->paused_ms = ek_wire_get_signed(w, EK_FLEET_TIME_MAX);
    ek_wire_require(w, l->free_ms >= -1);
}
