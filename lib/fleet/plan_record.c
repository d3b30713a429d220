#include "fleet/plan_record.h"

#include "fleet/evidence_report.h"
#include "fleet/fleet_plan_fields.h"
#include "plan/plan.h"

#include <string.h>

/* NULL is written as an empty string. When reading, `own` holds the string. */
static void walk_text(struct ek_serialize *w, char *own, const char **text)
{
    struct ek_text view = {*text, *text ? strnlen(*text, EK_FLEET_TEXT_MAX) : 0};
    ek_wire_text(w, &view, EK_FLEET_TEXT_MAX);
    if (!ek_serialize_is_reading(w))
        return;
    memcpy(own, view.text, view.length);
    own[view.length] = 0;
    *text = view.length ? own : NULL;
}

/* `text`: storage for strings; NULL: writing. */
static void walk_decided(struct ek_serialize *w, struct ek_decision_record *is,
                         char (*text)[EK_FLEET_TEXT_MAX + 1])
{
    const char **const texts[] = {&is->actor,   &is->reason,    &is->request, &is->instance,
                                  &is->feature, &is->dimension, &is->value};
    double *const number[] = {&is->factor,   &is->factor_low, &is->factor_high,
                              &is->fraction, &is->observed,   &is->limit};
    int percent = is->percent + 1;
    ek_wire_number(w, &is->number, UINT64_MAX >> 1);
    is->kind = (enum ek_decision_kind)ek_wire_word(w, ek_decision_kind_name(is->kind),
                                                   ek_decision_kind_parse);
    ek_wire_number(w, &is->before, UINT64_MAX >> 1);
    ek_wire_number(w, &is->after, UINT64_MAX >> 1);
    ek_wire_number(w, &is->accept, UINT64_MAX >> 1);
    ek_wire_number(w, &is->normal, UINT64_MAX >> 1);
    ek_wire_time(w, &is->time_ms);
    ek_wire_u32(w, &is->finding);
    is->class = ek_fleet_class_walk(w, is->class);
    is->action = (enum ek_action)ek_wire_word(w, ek_action_name(is->action), ek_action_parse);
    is->guardrail = ek_fleet_guardrail_walk(w, is->guardrail);
    ek_wire_int(w, &percent, EK_PERCENT_WHOLE + 1);
    is->percent = percent - 1;
    for (size_t i = 0; i < sizeof number / sizeof *number; i++)
        ek_serialize_f64(w, number[i]);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        walk_text(w, text ? text[i] : NULL, texts[i]);
    ek_record_reader_require(w, is->number > 0);
}

void ek_fleet_decision_write(struct ek_serialize *w, const struct ek_decision_record *m)
{
    struct ek_decision_record copy = *m;
    walk_decided(w, &copy, NULL);
}

void ek_fleet_decision_read(struct ek_serialize *w, struct ek_fleet_decision *m)
{
    m->is = ek_decision_get(EK_DECIDED_ROUTE);
    walk_decided(w, &m->is, m->text);
}

static void walk_head(struct ek_serialize *w, struct ek_fleet_plan_head *head)
{
    ek_wire_text(w, &head->decider, EK_FLEET_NAME_MAX);
    ek_wire_number(w, &head->term, UINT64_MAX >> 1);
    ek_wire_number(w, &head->version, UINT64_MAX >> 1);
    ek_wire_u32(w, &head->episodes);
    ek_wire_time(w, &head->from_ms);
    ek_wire_time(w, &head->clock_ms);
    ek_wire_dimensions(w, &head->dimensions);
    ek_record_reader_require(w, head->decider.length > 0);
}

void ek_fleet_plan_start(struct ek_serialize *w, struct ek_buf *out,
                         const struct ek_fleet_plan_head *head)
{
    struct ek_fleet_plan_head copy = *head;
    ek_record_writer_start(w, out, EK_FLEET_PLAN);
    walk_head(w, &copy);
}

void ek_row_request_walk(struct ek_serialize *w, struct ek_row_request *request)
{
    uint64_t rows = request->rows;
    ek_wire_text(w, &request->feature, EK_FLEET_NAME_MAX);
    ek_wire_u32(w, &request->number);
    ek_wire_number(w, &rows, UINT16_MAX);
    request->rows = (uint32_t)rows;
}

/* State of a read; callbacks NULL: check only. */
struct reading {
    struct ek_serialize w;
    const struct ek_fleet_plan *plan;
    const struct ek_fleet_plan_visitor *callbacks;
    int rc;                    /* of the callbacks */
    uint64_t normal, accepted; /* version of accepted levels; version of the last accept */
};

static const struct ek_fleet_dimensions *dimensions(const struct reading *r)
{
    return &r->plan->head.dimensions;
}

/* Return whether to call a callback for the last field. */
static bool has_visitor(const struct reading *r)
{
    return !r->w.rc && r->callbacks;
}

static void get_entry(struct reading *r)
{
    struct ek_fleet_entry e = {.is.repair.query_feature = -1};
    ek_fleet_entry_walk(&r->w, dimensions(r), &e);
    if (has_visitor(r) && r->callbacks->entry)
        r->rc = r->callbacks->entry(r->callbacks->context, &e);
}

static void get_mode(struct reading *r)
{
    struct ek_fleet_mode m = {.is.cell = -1};
    ek_fleet_mode_walk(&r->w, dimensions(r), &m);
    if (has_visitor(r) && r->callbacks->mode)
        r->rc = r->callbacks->mode(r->callbacks->context, &m);
}

static void get_wanted(struct reading *r)
{
    struct ek_fleet_entry e = {.is.repair.query_feature = -1};
    ek_fleet_entry_walk(&r->w, dimensions(r), &e);
    if (has_visitor(r) && r->callbacks->desired)
        r->rc = r->callbacks->desired(r->callbacks->context, &e);
}

static void get_rollout(struct reading *r)
{
    struct ek_fleet_rollout rollout = {.is.cell = -1, .is.credit = EK_BUDGET_UNKNOWN};
    ek_fleet_rollout_walk(&r->w, dimensions(r), &rollout);
    if (has_visitor(r) && r->callbacks->rollout)
        r->rc = r->callbacks->rollout(r->callbacks->context, &rollout);
}

static void get_pin(struct reading *r)
{
    struct ek_fleet_order_read pin;
    ek_fleet_order_get(&r->w, dimensions(r), &pin);
    if (has_visitor(r) && r->callbacks->pin)
        r->rc = r->callbacks->pin(r->callbacks->context, &pin.is);
}

static void get_limits(struct reading *r)
{
    struct ek_fleet_limits l = {.free_ms = 0};
    ek_fleet_limits_walk(&r->w, &l);
    if (has_visitor(r) && r->callbacks->limits)
        r->rc = r->callbacks->limits(r->callbacks->context, &l);
}

static void get_accept(struct reading *r)
{
    struct ek_fleet_accept a = {.version = 0};
    ek_fleet_accept_walk(&r->w, dimensions(r), &a);
    ek_record_reader_require(&r->w, a.version > r->accepted && a.version <= r->normal);
    r->accepted = a.version;
    if (has_visitor(r) && r->callbacks->accepted)
        r->rc = r->callbacks->accepted(r->callbacks->context, &a);
}

/* Version 2 has no accepted levels. */
static void get_normal(struct reading *r)
{
    uint64_t profile = 0;
    r->accepted = 0;
    r->normal = ek_record_get(&r->w, UINT64_MAX >> 2); /* leaves a next version */
    ek_serialize_u64(&r->w, &profile);
    if (has_visitor(r) && r->callbacks->normal)
        r->rc = r->callbacks->normal(r->callbacks->context, r->normal, profile);
}

static void get_decided(struct reading *r)
{
    struct ek_fleet_decision m;
    ek_fleet_decision_read(&r->w, &m);
    if (has_visitor(r) && r->callbacks->decided)
        r->rc = r->callbacks->decided(r->callbacks->context, &m.is);
}

static void get_finding(struct reading *r)
{
    struct ek_fleet_cell cell;
    struct ek_finding f;
    ek_wire_cell(&r->w, dimensions(r), &cell);
    ek_fleet_finding_walk(&r->w, r->plan->manifest, &f);
    if (has_visitor(r) && r->callbacks->finding)
        r->rc = r->callbacks->finding(r->callbacks->context, &cell, &f);
}

static void read_request(struct reading *r)
{
    struct ek_row_request request = {.rows = 0};
    ek_row_request_walk(&r->w, &request);
    if (has_visitor(r) && r->callbacks->request)
        r->rc = r->callbacks->request(r->callbacks->context, &request);
}

static void get_each(struct reading *r, uint64_t most, void (*one)(struct reading *r))
{
    uint64_t count = r->rc ? 0 : ek_record_get(&r->w, most);
    for (uint64_t i = 0; i < count && !r->w.rc && !r->rc; i++)
        one(r);
}

static struct reading get_all(const struct ek_fleet_plan *p,
                              const struct ek_fleet_plan_visitor *callbacks)
{
    struct reading r = {.w = p->content, .plan = p, .callbacks = callbacks};
    get_each(&r, EK_PLAN_MAX, get_entry);
    get_each(&r, EK_PLAN_MODES_MAX, get_mode);
    get_each(&r, EK_PLAN_MAX, get_wanted);
    get_each(&r, EK_ROLLOUTS_MAX, get_rollout);
    get_each(&r, EK_PINS_MAX, get_pin);
    if (!r.rc)
        get_limits(&r);
    if (!r.rc)
        get_normal(&r);
    get_each(&r, EK_LEVEL_OFFSETS_MAX, get_accept);
    get_each(&r, EK_FLEET_DECISIONS_MAX, get_decided);
    get_each(&r, EK_FLEET_FINDINGS_MAX, get_finding);
    get_each(&r, EK_ROW_REQUESTS_MAX, read_request);
    return r;
}

int ek_fleet_plan_open(struct ek_fleet_plan *p, const void *bytes, size_t length,
                       const struct ek_manifest *m, struct ek_error *e)
{
    int rc = ek_record_reader_open(&p->content, bytes, length, EK_FLEET_PLAN, e);
    if (rc)
        return rc;
    walk_head(&p->content, &p->head);
    p->manifest = m;
    struct reading check = get_all(p, NULL);
    return ek_record_reader_is_done(&check.w, "plan of a fleet", e);
}

int ek_fleet_plan_visit(const struct ek_fleet_plan *p,
                        const struct ek_fleet_plan_visitor *callbacks)
{
    return get_all(p, callbacks).rc;
}

int ek_fleet_plan_compare(const struct ek_fleet_plan_head *head, uint64_t term, const char *decider)
{
    if (head->term != term)
        return head->term < term ? -1 : 1;
    return ek_text_compare(head->decider, decider);
}

enum ek_record_arrival ek_record_order_check(struct ek_record_order *o,
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
