/* The plan record: writing, reading, and which of several counts. */
#include "fleet/plan_record.h"

#include "fleet/evidence_report.h"
#include "fleet/fleet_plan_fields.h"
#include "plan/plan.h"

#include <string.h>

enum { NUMBERS = 6 };

static int did_parse(const char *word)
{
    for (int i = 0; i < EK_DIDS; i++)
        if (!strcmp(word, ek_did_name((enum ek_did)i)))
            return i;
    return -1;
}

/* None is empty, and nobody says an empty one. */
static void get_text(struct ek_wire_in *w, char *own, const char **text)
{
    struct ek_text view = ek_wire_get_text(w, EK_FLEET_TEXT_MAX);
    memcpy(own, view.text, view.length);
    own[view.length] = 0;
    *text = view.length ? own : NULL;
}

void ek_fleet_decided_put(struct ek_wire_out *w, const struct ek_decided *m)
{
    const char *const text[] = {m->who,     m->why,       m->request, m->instance,
                                m->feature, m->dimension, m->value};
    const double number[NUMBERS] = {m->factor, m->factor_low, m->factor_high,
                                    m->share,  m->figure,     m->limit};
    ek_wire_put(w, m->number);
    ek_wire_put_word(w, ek_did_name(m->what));
    ek_wire_put(w, m->before);
    ek_wire_put(w, m->after);
    ek_wire_put(w, m->accept);
    ek_wire_put(w, m->normal);
    ek_wire_put_signed(w, m->time_ms);
    ek_wire_put(w, m->episode);
    ek_wire_put_word(w, ek_class_name(m->class));
    ek_wire_put_word(w, ek_action_name(m->action));
    ek_wire_put_word(w, ek_rail_name(m->rail));
    ek_wire_put(w, (uint64_t)(m->percent + 1));
    for (int i = 0; i < NUMBERS; i++)
        ek_wire_put_f64(w, number[i]);
    for (size_t i = 0; i < sizeof text / sizeof *text; i++)
        ek_wire_put_said(w, text[i]);
}

void ek_fleet_decided_get(struct ek_wire_in *w, struct ek_fleet_decided *m)
{
    struct ek_decided *is = &m->is;
    const char **const text[] = {&is->who,     &is->why,       &is->request, &is->instance,
                                 &is->feature, &is->dimension, &is->value};
    double *const number[NUMBERS] = {&is->factor, &is->factor_low, &is->factor_high,
                                     &is->share,  &is->figure,     &is->limit};
    *is = ek_decided_of(EK_DID_ROUTE);
    is->number = ek_wire_get(w, UINT64_MAX >> 1);
    is->what = (enum ek_did)ek_wire_get_word(w, did_parse);
    is->before = ek_wire_get(w, UINT64_MAX >> 1);
    is->after = ek_wire_get(w, UINT64_MAX >> 1);
    is->accept = ek_wire_get(w, UINT64_MAX >> 1);
    is->normal = ek_wire_get(w, UINT64_MAX >> 1);
    is->time_ms = ek_wire_get_signed(w, EK_FLEET_TIME_MAX);
    is->episode = (uint32_t)ek_wire_get(w, UINT32_MAX);
    is->class = (enum ek_class)ek_wire_get_word(w, ek_class_parse);
    is->action = (enum ek_action)ek_wire_get_word(w, ek_action_parse);
    is->rail = (enum ek_rail)ek_wire_get_word(w, ek_fleet_rail_parse);
    is->percent = (int)ek_wire_get(w, EK_PERCENT_WHOLE + 1) - 1;
    for (int i = 0; i < NUMBERS; i++)
        *number[i] = ek_wire_get_f64(w);
    for (size_t i = 0; i < sizeof text / sizeof *text; i++)
        get_text(w, m->text[i], text[i]);
    ek_wire_require(w, is->number > 0);
}

void ek_fleet_plan_begin(struct ek_wire_out *w, struct ek_buf *out,
                         const struct ek_fleet_plan_head *head)
{
    ek_wire_begin(w, out, EK_FLEET_PLAN);
    ek_wire_put_text(w, head->decider);
    ek_wire_put(w, head->term);
    ek_wire_put(w, head->version);
    ek_wire_put(w, head->episodes);
    ek_wire_put_signed(w, head->from_ms);
    ek_wire_put_signed(w, head->clock_ms);
    ek_wire_put_dimensions(w, &head->dimensions);
}

void ek_fleet_ask_put(struct ek_wire_out *w, const struct ek_fleet_ask *ask)
{
    ek_wire_put_text(w, ask->feature);
    ek_wire_put(w, ask->number);
    ek_wire_put(w, ask->rows);
}

static void get_head(struct ek_wire_in *w, struct ek_fleet_plan_head *head)
{
    head->decider = ek_wire_get_text(w, EK_FLEET_NAME_MAX);
    head->term = ek_wire_get(w, UINT64_MAX >> 1);
    head->version = ek_wire_get(w, UINT64_MAX >> 1);
    head->episodes = (uint32_t)ek_wire_get(w, UINT32_MAX);
    head->from_ms = ek_wire_get_signed(w, EK_FLEET_TIME_MAX);
    head->clock_ms = ek_wire_get_signed(w, EK_FLEET_TIME_MAX);
    ek_wire_get_dimensions(w, &head->dimensions);
    ek_wire_require(w, head->decider.length > 0);
}

/* What is read, and who hears of it: NULL while it is only checked. */
struct reading {
    struct ek_wire_in w;
    const struct ek_fleet_plan *plan;
    const struct ek_fleet_plan_hears *hears;
    int rc;                    /* of who hears */
    uint64_t normal, accepted; /* its version; that of the accept read last */
};

static const struct ek_fleet_dimensions *dimensions(const struct reading *r)
{
    return &r->plan->head.dimensions;
}

/* Whether somebody is to hear of what was read last. */
static bool is_heard(const struct reading *r)
{
    return !r->w.bad && r->hears;
}

static void get_entry(struct reading *r)
{
    struct ek_fleet_entry e;
    ek_fleet_entry_get(&r->w, dimensions(r), &e);
    if (is_heard(r) && r->hears->entry)
        r->rc = r->hears->entry(r->hears->context, &e);
}

static void get_mode(struct reading *r)
{
    struct ek_fleet_mode m;
    ek_fleet_mode_get(&r->w, dimensions(r), &m);
    if (is_heard(r) && r->hears->mode)
        r->rc = r->hears->mode(r->hears->context, &m);
}

static void get_wanted(struct reading *r)
{
    struct ek_fleet_entry e;
    ek_fleet_entry_get(&r->w, dimensions(r), &e);
    if (is_heard(r) && r->hears->wanted)
        r->rc = r->hears->wanted(r->hears->context, &e);
}

static void get_rollout(struct reading *r)
{
    struct ek_fleet_rollout rollout;
    ek_fleet_rollout_get(&r->w, dimensions(r), &rollout);
    if (is_heard(r) && r->hears->rollout)
        r->rc = r->hears->rollout(r->hears->context, &rollout);
}

static void get_pin(struct reading *r)
{
    struct ek_fleet_pin pin;
    ek_fleet_pin_get(&r->w, dimensions(r), &pin);
    if (is_heard(r) && r->hears->pin)
        r->rc = r->hears->pin(r->hears->context, &pin);
}

static void get_limits(struct reading *r)
{
    struct ek_fleet_limits l;
    ek_fleet_limits_get(&r->w, &l);
    if (is_heard(r) && r->hears->limits)
        r->rc = r->hears->limits(r->hears->context, &l);
}

static void get_accept(struct reading *r)
{
    struct ek_fleet_accept a;
    ek_fleet_accept_get(&r->w, dimensions(r), &a);
    ek_wire_require(&r->w, a.version > r->accepted && a.version <= r->normal);
    r->accepted = a.version;
    if (is_heard(r) && r->hears->accepted)
        r->rc = r->hears->accepted(r->hears->context, &a);
}

/* A record of version 2 knows of none. */
static void get_normal(struct reading *r)
{
    uint64_t profile = 0;
    r->accepted = r->normal = 0;
    if (!r->w.elder) {
        r->normal = ek_wire_get(&r->w, UINT64_MAX >> 2); /* so that there is always a next one */
        profile = ek_wire_get_u64(&r->w);
    }
    if (is_heard(r) && r->hears->normal)
        r->rc = r->hears->normal(r->hears->context, r->normal, profile);
}

static void get_decided(struct reading *r)
{
    struct ek_fleet_decided m;
    ek_fleet_decided_get(&r->w, &m);
    if (is_heard(r) && r->hears->decided)
        r->rc = r->hears->decided(r->hears->context, &m.is);
}

static void get_finding(struct reading *r)
{
    struct ek_fleet_cell cell;
    struct ek_finding f;
    ek_wire_get_cell(&r->w, dimensions(r), &cell);
    ek_fleet_finding_get(&r->w, r->plan->manifest, &f);
    if (is_heard(r) && r->hears->finding)
        r->rc = r->hears->finding(r->hears->context, &cell, &f);
}

static void get_ask(struct reading *r)
{
    struct ek_fleet_ask ask = {.feature = ek_wire_get_text(&r->w, EK_FLEET_NAME_MAX)};
    ask.number = (uint32_t)ek_wire_get(&r->w, UINT32_MAX);
    ask.rows = (uint32_t)ek_wire_get(&r->w, UINT16_MAX);
    if (is_heard(r) && r->hears->ask)
        r->rc = r->hears->ask(r->hears->context, &ask);
}

static void get_each(struct reading *r, uint64_t most, void (*one)(struct reading *r))
{
    uint64_t count = r->rc ? 0 : ek_wire_get(&r->w, most);
    for (uint64_t i = 0; i < count && !r->w.bad && !r->rc; i++)
        one(r);
}

static struct reading get_all(const struct ek_fleet_plan *p,
                              const struct ek_fleet_plan_hears *hears)
{
    struct reading r = {.w = p->content, .plan = p, .hears = hears};
    get_each(&r, EK_PLAN_MAX, get_entry);
    get_each(&r, EK_PLAN_MODES_MAX, get_mode);
    get_each(&r, EK_PLAN_MAX, get_wanted);
    get_each(&r, EK_ROLLOUTS_MAX, get_rollout);
    get_each(&r, EK_PINS_MAX, get_pin);
    if (!r.rc)
        get_limits(&r);
    if (!r.rc)
        get_normal(&r);
    if (!r.w.elder)
        get_each(&r, EK_REBASES_MAX, get_accept);
    get_each(&r, EK_FLEET_DECIDED_MAX, get_decided);
    get_each(&r, EK_FLEET_FINDINGS_MAX, get_finding);
    get_each(&r, EK_FLEET_ASKS_MAX, get_ask);
    return r;
}

int ek_fleet_plan_open(struct ek_fleet_plan *p, const void *bytes, size_t length,
                       const struct ek_manifest *m, struct ek_error *e)
{
    int rc = ek_wire_open(&p->content, bytes, length, EK_FLEET_PLAN, e);
    if (rc)
        return rc;
    get_head(&p->content, &p->head);
    p->manifest = m;
    struct reading check = get_all(p, NULL);
    return ek_wire_done(&check.w, "plan of a fleet", e);
}

int ek_fleet_plan_tell(const struct ek_fleet_plan *p, const struct ek_fleet_plan_hears *hears)
{
    return get_all(p, hears).rc;
}

int ek_fleet_plan_compare(const struct ek_fleet_plan_head *head, uint64_t term, const char *decider)
{
    if (head->term != term)
        return head->term < term ? -1 : 1;
    return ek_text_compare(head->decider, decider);
}

enum ek_fleet_turn ek_fleet_order_take(struct ek_fleet_order *o,
                                       const struct ek_fleet_plan_head *head)
{
    int later = ek_fleet_plan_compare(head, o->term, o->decider);
    if (later < 0)
        return EK_FLEET_VOID;
    if (!later && head->version == o->version)
        return EK_FLEET_SAME;
    o->term = head->term;
    memcpy(o->decider, head->decider.text, head->decider.length);
    o->decider[head->decider.length] = 0;
    if (head->version <= o->version)
        return EK_FLEET_VOID;
    o->version = head->version;
    return EK_FLEET_NEWER;
}
