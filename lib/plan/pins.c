/* Pins of operators and of the rules, and the pause. */
#include "base/alloc.h"
#include "plan/controller_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { WHY_BYTES = EK_REASON_BYTES + EK_AUTHOR_BYTES + 100 };

static bool is_over(int64_t until_ms, int64_t time_ms)
{
    return until_ms && time_ms >= until_ms;
}

/* ----------------------------------------------------------- pins of operators */

void ek_controller_pin_release(struct ek_controller_pin *p)
{
    ek_free((char *)p->is.author);
    ek_free((char *)p->is.reason);
    *p = (struct ek_controller_pin){.cell = -1};
}

static int number_of(const struct ek_controller *c, int feature, int cell)
{
    int i = 0;
    while (i < c->pins && (c->pin[i].feature != feature || c->pin[i].cell != cell))
        i++;
    return i;
}

static struct ek_controller_pin *find(struct ek_controller *c, int feature, int cell)
{
    int i = number_of(c, feature, cell);
    return i < c->pins ? &c->pin[i] : NULL;
}

int ek_controller_pin_copy(struct ek_controller_pin *to, const struct ek_controller_pin *from)
{
    const struct ek_order *o = &from->is;
    *to = *from;
    to->is.id = (struct ek_order_id){.number = 0};
    to->is.feature = to->is.segment = to->is.value = NULL;
    to->is.author = o->author ? ek_strdup(o->author) : NULL;
    to->is.reason = o->reason ? ek_strdup(o->reason) : NULL;
    if (!o->author == !to->is.author && !o->reason == !to->is.reason)
        return EK_OK;
    ek_controller_pin_release(to);
    return EK_ENOMEM;
}

int ek_controller_pin(struct ek_controller *c, const struct ek_controller_pin *pin,
                      struct ek_error *e)
{
    struct ek_controller_pin own, *place = find(c, pin->feature, pin->cell);
    if (!place && c->pins == EK_PINS_MAX)
        return ek_fail(e, EK_ELIMIT, "at most %d pins: remove one first", EK_PINS_MAX);
    if (ek_controller_pin_copy(&own, pin))
        return ek_fail(e, EK_ENOMEM, "out of memory");
    if (place)
        ek_controller_pin_release(place);
    else
        place = &c->pin[c->pins++];
    *place = own;
    c->stale = true;
    return EK_OK;
}

static void remove_pin(struct ek_controller *c, struct ek_controller_pin *p)
{
    ek_controller_pin_release(p);
    *p = c->pin[--c->pins];
}

/* ----------------------------------------------------------- pins of the rules */

/* Return the cell of a pin of the rules, -1: none yet. */
static int cell_of(const struct ek_controller *c, int pin)
{
    return c->rule_cell[pin] - 1;
}

/* Return the watched feature of a pin, -1: it is not watched. */
static int item_of(const struct ek_controller *c, const struct ek_pin *pin)
{
    const struct ek_manifest *m = c->setup.manifest;
    for (int i = 0; pin->feature >= 0 && i < m->watched_count; i++)
        if (m->item[i] == &m->features[pin->feature])
            return i;
    return -1;
}

static int cell_for(struct ek_controller *c, const char *dimension, const char *value)
{
    const struct ek_controller_cells *cells = &c->setup.cells;
    if (!dimension)
        return 0;
    return cells->assign ? cells->assign(cells->context, dimension, value) : -1;
}

/* Assign cells to pins of the rules as far as possible. */
static void place(struct ek_controller *c)
{
    const struct ek_rules *rules = c->setup.rules;
    bool all = true;
    for (int i = 0; i < rules->pin_count; i++) {
        const struct ek_pin *pin = &rules->pin[i];
        if (c->rule_cell[i] || item_of(c, pin) < 0)
            continue;
        int cell = cell_for(c, pin->dimension, pin->value);
        c->rule_cell[i] = (int16_t)(cell < 0 ? 0 : cell + 1);
        all &= cell >= 0;
        if (cell > 0)
            ek_controller_retain_cells(c); /* the next segment value must not take the cell */
    }
    c->rules_untold = !all && !c->rules_unplaced;
    c->rules_unplaced = !all;
    c->rules_placed = true;
}

/* Return the pin of the rules that has not expired, or -1. */
static int find_rule(const struct ek_controller *c, int feature, int cell)
{
    const struct ek_rules *rules = c->setup.rules;
    for (int i = 0; i < rules->pin_count; i++)
        if (!c->rule_over[i] && cell_of(c, i) == cell && item_of(c, &rules->pin[i]) == feature)
            return i;
    return -1;
}

int ek_controller_unpin(struct ek_controller *c, int feature, int cell, struct ek_error *e)
{
    struct ek_controller_pin *mine = find(c, feature, cell);
    int rule = mine ? -1 : find_rule(c, feature, cell);
    const char *name = c->setup.manifest->item[feature]->name;
    if (mine) {
        remove_pin(c, mine);
        c->stale = true;
        return EK_OK;
    }
    if (rule < 0)
        return ek_fail(e, EK_ESTATE, "'%s' is not pinned there", name);
    return ek_fail(e, EK_ESTATE,
                   "'%s' is pinned there by the rules, line %ld, column %ld: remove that pin from "
                   "the file, or pin another action, which takes precedence",
                   name, c->setup.rules->pin[rule].line, c->setup.rules->pin[rule].column);
}

/* ---------------------------------------------------------- for the current plan */

void ek_controller_pins_retain(const struct ek_controller *c, uint8_t *held)
{
    for (int i = 0; i < c->pins; i++)
        held[c->pin[i].cell] = 1;
    for (int i = 0; i < c->setup.rules->pin_count; i++)
        if (cell_of(c, i) >= 0)
            held[cell_of(c, i)] = 1;
}

bool ek_controller_pins_due(const struct ek_controller *c, int64_t time_ms)
{
    const struct ek_rules *rules = c->setup.rules;
    for (int i = 0; i < c->pins; i++)
        if (is_over(c->pin[i].is.until_ms, time_ms))
            return true;
    for (int i = 0; i < rules->pin_count; i++)
        if (c->rule_over[i] != is_over(rules->pin[i].until_ms, time_ms))
            return true;
    return rules->pin_count && !c->rules_placed;
}

/* Use the spread ratio of the finding, 1 without a finding. */
static struct ek_treatment treatment_of(const struct ek_controller *c, int feature, int cell,
                                        enum ek_action action)
{
    struct ek_treatment t = {action, action == EK_ACT_ROUTE_NORMALIZED ? 1 : 0};
    for (int i = 0; action == EK_ACT_ROUTE_NORMALIZED && i < c->desired.count; i++) {
        const struct ek_plan_entry *e = &c->desired.entry[i];
        if (e->feature == feature && e->cell == cell && e->treatment.action == action)
            t.value = e->treatment.value;
    }
    return t;
}

/* Without a model, pins have no effect. */
static void add_pin(struct ek_controller *c, int *count, int feature, int cell,
                    enum ek_action action, enum ek_plan_source by)
{
    if (ek_means_any(&c->setup.means))
        c->pinned[(*count)++] =
            (struct ek_pinned){feature, cell, treatment_of(c, feature, cell, action), by};
}

int ek_controller_pins_get(struct ek_controller *c, int64_t time_ms)
{
    const struct ek_rules *rules = c->setup.rules;
    int count = 0;
    place(c);
    for (int i = 0; i < c->pins; i++) {
        const struct ek_controller_pin *p = &c->pin[i];
        if (!is_over(p->is.until_ms, time_ms))
            add_pin(c, &count, p->feature, p->cell, p->is.action, EK_BY_OPERATOR);
    }
    for (int i = 0; i < rules->pin_count; i++) {
        const struct ek_pin *p = &rules->pin[i];
        if (cell_of(c, i) >= 0 && !is_over(p->until_ms, time_ms))
            add_pin(c, &count, item_of(c, p), cell_of(c, i), p->action, EK_BY_RULES);
    }
    return count;
}

/* ---------------------------------------------------------------- enumeration */

static struct ek_order order_of(const struct ek_controller *c, const struct ek_controller_pin *p)
{
    const struct ek_controller_cells *cells = &c->setup.cells;
    const char *segment = cells->name_of ? cells->name_of(cells->context, p->cell) : NULL;
    const char *value = segment ? cells->value_of(cells->context, p->cell) : NULL;
    struct ek_order o = p->is;
    o.kind = EK_DECIDED_PIN;
    o.feature = c->setup.manifest->item[p->feature]->name;
    o.segment = segment;
    o.value = segment && !value ? EK_SEGMENT_OTHER : value;
    return o;
}

/* A pin of an operator hides a pin of the rules. */
static bool is_shown(const struct ek_controller *c, int rule, int64_t time_ms)
{
    const struct ek_pin *p = &c->setup.rules->pin[rule];
    int cell = cell_of(c, rule);
    return cell >= 0 && !is_over(p->until_ms, time_ms) &&
           number_of(c, item_of(c, p), cell) == c->pins;
}

int ek_controller_each_pin(const struct ek_controller *c, int64_t time_ms,
                           int (*visit)(void *context, const struct ek_order *pin,
                                        enum ek_plan_source by),
                           void *context)
{
    int rc = EK_OK;
    for (int i = 0; i < c->pins && !rc; i++) {
        const struct ek_order one = order_of(c, &c->pin[i]);
        rc = is_over(c->pin[i].is.until_ms, time_ms) ? EK_OK : visit(context, &one, EK_BY_OPERATOR);
    }
    for (int i = 0; i < c->setup.rules->pin_count && !rc; i++) {
        const struct ek_pin *p = &c->setup.rules->pin[i];
        const struct ek_controller_pin same = {item_of(c, p),
                                               cell_of(c, i),
                                               {.action = p->action,
                                                .until_ms = p->until_ms,
                                                .author = p->author,
                                                .reason = p->reason}};
        if (!is_shown(c, i, time_ms))
            continue;
        const struct ek_order one = order_of(c, &same);
        rc = visit(context, &one, EK_BY_RULES);
    }
    return rc;
}

/* -------------------------------------------------------------------- expiry */

/* Time and versions of the plan without the pin. */
struct when {
    int64_t time_ms;
    uint64_t query, before; /* version of the plan with the pin */
};

static int visit(const struct ek_controller *c, struct ek_decision_record *d, int feature,
                 enum ek_action action, const struct when *when)
{
    const struct ek_controller_callbacks *h = &c->setup.callbacks;
    d->query = when->query;
    d->time_ms = when->time_ms;
    d->before = when->before;
    d->after = ek_controller_plan(c)->version;
    d->feature = c->setup.manifest->item[feature]->name;
    d->action = action;
    return h->decided ? h->decided(h->context, d) : EK_OK;
}

/* cells: names for the cell of the pin. */
static int report_expired(const struct ek_controller *c, enum ek_decision_kind what,
                          const struct ek_controller_pin *p,
                          const struct ek_controller_cells *cells, const char *how,
                          const struct when *when)
{
    struct ek_decision_record d = ek_decision_get(what);
    const struct ek_order *o = &p->is;
    char why[WHY_BYTES];
    snprintf(why, sizeof why, "the pin%s%s %s%s%s", o->author ? " of " : "",
             o->author ? o->author : "", how, o->reason ? ": " : "", o->reason ? o->reason : "");
    d.reason = why;
    d.dimension = cells->name_of ? cells->name_of(cells->context, p->cell) : NULL;
    d.value = cells->value_of ? cells->value_of(cells->context, p->cell) : NULL;
    return visit(c, &d, p->feature, o->action, when);
}

static int report_rules(const struct ek_controller *c, enum ek_decision_kind what,
                        const struct ek_pin *pin, const char *why, const struct when *when)
{
    struct ek_decision_record d = ek_decision_get(what);
    char text[WHY_BYTES];
    snprintf(text, sizeof text, "the pin of the rules, line %ld, column %ld, %s", pin->line,
             pin->column, why);
    d.reason = text;
    d.dimension = pin->dimension;
    d.value = pin->value;
    return visit(c, &d, item_of(c, pin), pin->action, when);
}

/* A pin that expired before the first event time is not reported. */
static int end_rules_pins(struct ek_controller *c, const struct when *when)
{
    const struct ek_rules *rules = c->setup.rules;
    int rc = EK_OK;
    for (int i = 0; i < rules->pin_count; i++) {
        const struct ek_pin *pin = &rules->pin[i];
        bool over = is_over(pin->until_ms, when->time_ms), item = item_of(c, pin) >= 0;
        int reported = EK_OK;
        if (item && over && !c->rule_over[i] && c->rules_timed)
            reported = report_rules(c, EK_DECIDED_EXPIRE, pin, "has expired", when);
        else if (item && !over && cell_of(c, i) < 0 && c->rules_untold)
            reported =
                report_rules(c, EK_DECIDED_LIMIT, pin,
                             "has no cell, all are in use: set 'limits.segments' higher", when);
        c->rule_over[i] = over;
        rc = rc ? rc : reported;
    }
    c->rules_timed |= when->time_ms > 0;
    c->rules_untold = false;
    return rc;
}

int ek_controller_pins_end(struct ek_controller *c, int64_t time_ms, uint64_t query,
                           uint64_t before)
{
    const struct when when = {time_ms, query, before};
    int rc = end_rules_pins(c, &when);
    for (int i = c->pins - 1; i >= 0; i--) {
        if (!is_over(c->pin[i].is.until_ms, time_ms))
            continue;
        int reported =
            report_expired(c, EK_DECIDED_EXPIRE, &c->pin[i], &c->setup.cells, "has expired", &when);
        rc = rc ? rc : reported;
        remove_pin(c, &c->pin[i]);
    }
    return rc;
}

void ek_controller_pins_free(struct ek_controller *c)
{
    while (c->pins)
        ek_controller_pin_release(&c->pin[--c->pins]);
}

/* -------------------------------------------------------------- state, merge */

static void text_serialize(struct ek_serialize *s, const char **text, size_t most)
{
    char *own = (char *)*text;
    int there = own != NULL;
    ek_serialize_int(s, &there, 0, 1);
    if (there)
        ek_serialize_text(s, &own);
    ek_serialize_require(s, !own || strlen(own) <= most);
    *text = own;
}

static void pin_serialize(struct ek_controller_pin *p, struct ek_serialize *s, int features,
                          int cells)
{
    struct ek_order *o = &p->is;
    int action = (int)o->action;
    ek_serialize_int(s, &p->feature, 0, features - 1);
    ek_serialize_int(s, &p->cell, 0, cells - 1);
    ek_serialize_int(s, &action, 0, EK_ACTION_COUNT - 1);
    o->action = (enum ek_action)action;
    ek_serialize_i64(s, &o->until_ms);
    text_serialize(s, &o->author, EK_AUTHOR_BYTES);
    text_serialize(s, &o->reason, EK_REASON_BYTES);
}

void ek_controller_pins_serialize(struct ek_controller *c, struct ek_serialize *s, int features,
                                  int cells)
{
    int count = c->pins;
    ek_serialize_int(s, &count, 0, EK_PINS_MAX);
    for (int i = 0; i < count && !s->rc; i++) {
        struct ek_controller_pin new = {.cell = -1},
                                 *p = ek_serialize_is_reading(s) ? &new : &c->pin[i];
        pin_serialize(p, s, features, cells);
        if (!ek_serialize_is_reading(s))
            continue;
        ek_serialize_require(s, p->is.action != EK_ACT_REPAIR && !find(c, p->feature, p->cell));
        if (s->rc)
            ek_controller_pin_release(p);
        else
            c->pin[c->pins++] = *p;
    }
}

/* Return the local cell for a pin of another controller; -1: none. A segment value keeps a separate
 * cell. */
static int cell_here(struct ek_controller *c, const struct ek_controller *from, int cell,
                     const int16_t *to)
{
    const struct ek_controller_cells *theirs = &from->setup.cells;
    const char *value = theirs->value_of ? theirs->value_of(theirs->context, cell) : NULL;
    if (!value)
        return to[cell];
    return cell_for(c, theirs->name_of(theirs->context, cell), value);
}

int ek_controller_copy_orders(struct ek_controller *c, const struct ek_controller *from,
                              const int16_t *to, int64_t time_ms, uint64_t query)
{
    uint64_t version = ek_controller_plan(c)->version;
    const struct when when = {.time_ms = time_ms, .query = query, .before = version};
    int rc = ek_controller_pins_merge(c, from, to);
    if (from->paused)
        ek_controller_pause(c, true, from->paused_ms);
    for (int i = 0; i < from->pins && !rc; i++)
        if (cell_here(c, from, from->pin[i].cell, to) < 0)
            rc = report_expired(c, EK_DECIDED_UNPIN, &from->pin[i], &from->setup.cells,
                                "is gone, there is no such segment any more or no cell for it",
                                &when);
    return rc;
}

int ek_controller_pins_merge(struct ek_controller *c, const struct ek_controller *from,
                             const int16_t *to)
{
    for (int i = 0; i < from->pins; i++) {
        struct ek_controller_pin pin = from->pin[i];
        pin.cell = cell_here(c, from, pin.cell, to);
        if (pin.cell < 0 || find(c, pin.feature, pin.cell))
            continue;
        int rc = ek_controller_pin(c, &pin, NULL);
        if (rc == EK_ENOMEM)
            return rc;
        ek_controller_retain_cells(c); /* the next segment value must not take the cell */
    }
    return EK_OK;
}

/* ---------------------------------------------------------------------- pause */

bool ek_controller_paused(const struct ek_controller *c)
{
    return c->paused;
}

void ek_controller_pause(struct ek_controller *c, bool paused, int64_t time_ms)
{
    if (c->paused == paused)
        return;
    if (paused)
        c->before = *ek_controller_plan(c);
    else
        ek_rollouts_add_pause(&c->rollouts, time_ms > c->paused_ms ? time_ms - c->paused_ms : 0);
    c->paused = paused;
    c->paused_ms = time_ms;
    c->stale = true;
}
