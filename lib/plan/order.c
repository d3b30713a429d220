/* Operator commands: validation, and application by the controller. */
#include "plan/order.h"

#include "base/date.h"
#include "base/parse.h"
#include "plan/controller_internal.h"

#include <string.h>

/* Set the flag of an unknown name. */
static int mark_name(struct ek_error *e)
{
    if (e)
        e->flags |= EK_ERR_NAME;
    return EK_EUSAGE;
}

int ek_order_find_feature(const struct ek_manifest *m, const char *name, int *feature,
                          struct ek_error *e)
{
    for (*feature = 0; *feature < m->watched_count; ++*feature)
        if (!strcmp(m->item[*feature]->name, name))
            return EK_OK;
    const char *near = ek_manifest_suggest(m, EK_ROLE_ITEM, name);
    if (ek_manifest_query(m, name) >= 0)
        ek_fail(e, EK_EUSAGE,
                "query feature '%s' is not watched: set 'watch: true' in the manifest", name);
    else if (near)
        ek_fail(e, EK_EUSAGE, "no item feature '%s', did you mean '%s'?", name, near);
    else
        ek_fail(e, EK_EUSAGE, "no item feature '%s' in the manifest", name);
    return mark_name(e);
}

int ek_order_parse_action(const char *name, enum ek_action *action, struct ek_error *e)
{
    const char *words[EK_ACTION_COUNT];
    int found = ek_action_parse(name);
    for (int i = 0; i < EK_ACTION_COUNT; i++)
        words[i] = ek_action_name((enum ek_action)i);
    const char *near = found < 0 ? ek_nearest_name(name, words, EK_ACTION_COUNT) : NULL;
    if (found == EK_ACT_REPAIR || found == EK_ACT_AUTO)
        return ek_fail(e, EK_EUSAGE, "a pin cannot repair, it has no factor: take 'route'");
    if (found >= 0) {
        *action = (enum ek_action)found;
        return EK_OK;
    }
    return near ? ek_fail(e, EK_EUSAGE, "unknown action '%.60s', did you mean '%s'?", name, near)
                : ek_fail(e, EK_EUSAGE,
                          "unknown action '%.60s', expected none, alert, route, route_normalized, "
                          "blank, route_per_source or fill",
                          name);
}

const char *ek_order_cell_value(const struct ek_order *o)
{
    return o->value && strcmp(o->value, EK_SEGMENT_OTHER) != 0 ? o->value : NULL;
}

/* ---------------------------------------------------------------- validation */

static int check_segment(const struct ek_rules *rules, const struct ek_order *o, struct ek_error *e)
{
    for (int d = 0; d < rules->segment_count; d++)
        if (o->segment && !strcmp(rules->segment[d], o->segment))
            return o->value ? EK_OK
                            : ek_fail(e, EK_EUSAGE, "segment '%s' needs a value", o->segment);
    if (!o->segment)
        return EK_OK;
    const char *near = ek_nearest_name(o->segment, (const char *const *)rules->segment,
                                       (size_t)rules->segment_count);
    if (near)
        ek_fail(e, EK_EUSAGE, "no segment '%s', did you mean '%s'?", o->segment, near);
    else
        ek_fail(e, EK_EUSAGE, "no segment '%s': 'segments' of the rules must name it", o->segment);
    return mark_name(e);
}

static int check_text(const char *what, const char *text, size_t most, struct ek_error *e)
{
    size_t length = text ? strlen(text) : 0;
    return length > most
               ? ek_fail(e, EK_EUSAGE, "the %s has %zu bytes, at most %zu", what, length, most)
               : EK_OK;
}

static int check_action(const struct ek_controller *c, int item, enum ek_action action,
                        struct ek_error *e)
{
    const struct ek_manifest *m = c->setup.manifest;
    if (action == EK_ACT_NONE || action == EK_ACT_ALERT)
        return EK_OK;
    if (c->setup.means.features)
        return ek_action_routes(action)
                   ? ek_fail(e, EK_ESTATE, "action '%s' needs %s", ek_action_name(action),
                             c->setup.means.ranker ? "a network of 'evenkeel train' as the model"
                                                   : "'output.writes: scores'")
                   : EK_OK;
    if (m->routable_of_item[item] < 0)
        return ek_fail(e, EK_EUSAGE,
                       "action '%s' needs a routable feature, and '%s' is not one: take 'none' or "
                       "'alert'",
                       ek_action_name(action), m->item[item]->name);
    return c->setup.means.model && action != EK_ACT_FILL
               ? EK_OK
               : ek_fail(e, EK_ESTATE, "there is no model for action '%s'", ek_action_name(action));
}

bool ek_order_has_action(const struct ek_controller *c, int item, enum ek_action action)
{
    return action != EK_ACT_REPAIR && action != EK_ACT_AUTO && !check_action(c, item, action, NULL);
}

static int check_until(int64_t until_ms, int64_t time_ms, struct ek_error *e)
{
    char end[EK_DATE_TEXT], now[EK_DATE_TEXT];
    if (until_ms < 0)
        return ek_fail(e, EK_EUSAGE, "the end of a pin must not be negative");
    if (until_ms && time_ms && until_ms <= time_ms)
        return ek_fail(e, EK_EUSAGE,
                       "the pin would be over: it ends at %s, and the stream is at %s",
                       ek_date_text(until_ms, end), ek_date_text(time_ms, now));
    return EK_OK;
}

static int check_pin(const struct ek_controller *c, const struct ek_order *o, int feature,
                     int64_t time_ms, struct ek_error *e)
{
    const char *value = ek_order_cell_value(o);
    size_t length = value ? strlen(value) : 0;
    if (length > EK_SEGMENT_BYTES_MAX)
        return ek_fail(e, EK_EUSAGE,
                       "a value that is pinned has at most %d bytes, not %zu: lists with longer "
                       "ones are watched together",
                       EK_SEGMENT_BYTES_MAX, length);
    int rc = check_action(c, feature, o->action, e);
    return rc ? rc : check_until(o->until_ms, time_ms, e);
}

static bool needs_feature(enum ek_decision_kind kind)
{
    return kind == EK_DECIDED_PIN || kind == EK_DECIDED_UNPIN || kind == EK_DECIDED_ACCEPT;
}

/* *feature: feature of the command, or -1. */
static int check(const struct ek_controller *c, const struct ek_order *o, int64_t time_ms,
                 int *feature, struct ek_error *e)
{
    *feature = -1;
    int rc = check_text("author", o->author, EK_AUTHOR_BYTES, e);
    if (!rc)
        rc = check_text("reason", o->reason, EK_REASON_BYTES, e);
    if (!rc && !o->feature && needs_feature(o->kind))
        rc = ek_fail(e, EK_EUSAGE, "the command needs the name of a feature");
    if (rc || !o->feature)
        return rc;
    rc = ek_order_find_feature(c->setup.manifest, o->feature, feature, e);
    if (!rc)
        rc = check_segment(c->setup.rules, o, e);
    return rc || o->kind != EK_DECIDED_PIN ? rc : check_pin(c, o, *feature, time_ms, e);
}

int ek_controller_check(const struct ek_controller *c, const struct ek_order *o, int64_t time_ms,
                        struct ek_error *e)
{
    int feature;
    return check(c, o, time_ms, &feature, e);
}

/* ----------------------------------------------------------------- execution */

static int no_cell(const struct ek_order *o, struct ek_error *e)
{
    return ek_fail(e, EK_ELIMIT,
                   "no cell is left for %s=%s, all are in use: set 'limits.segments' (in a fleet "
                   "'fleet.max_fleet_segments', too) higher, or pin all traffic",
                   o->segment, o->value);
}

/* Only a pin assigns a cell. */
static int cell_for_pin(struct ek_controller *c, const struct ek_order *o, int *cell,
                        struct ek_error *e)
{
    const struct ek_controller_cells *cells = &c->setup.cells;
    *cell = o->segment ? cells->assign(cells->context, o->segment, ek_order_cell_value(o)) : 0;
    if (*cell < -1)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    return *cell < 0 ? no_cell(o, e) : EK_OK;
}

static int find_cell(const struct ek_controller *c, const struct ek_order *o, int *cell,
                     struct ek_error *e)
{
    const struct ek_controller_cells *cells = &c->setup.cells;
    *cell = o->segment ? cells->find(cells->context, o->segment, ek_order_cell_value(o)) : 0;
    if (*cell >= 0)
        return EK_OK;
    if (o->kind == EK_DECIDED_UNPIN)
        return ek_fail(e, EK_ESTATE, "'%s' is not pinned there", o->feature);
    return ek_fail(e, EK_ESTATE,
                   "no lists of %s=%s are watched on their own: wait for the first, or raise "
                   "'limits.segments', above which values are watched together",
                   o->segment, o->value);
}

static int pin(struct ek_controller *c, const struct ek_order *o, int feature, struct ek_error *e)
{
    struct ek_controller_pin p = {.feature = feature, .is = *o};
    int rc = cell_for_pin(c, o, &p.cell, e);
    if (!rc)
        rc = ek_controller_pin(c, &p, e);
    if (!rc)
        ek_controller_retain_cells(c); /* the next segment value must not take the cell */
    return rc;
}

/* Apply a command for one feature. */
static int apply(struct ek_controller *c, const struct ek_order *o, int feature, int64_t time_ms,
                 struct ek_decision_record *m, struct ek_error *e)
{
    const struct ek_controller_levels *levels = &c->setup.levels;
    int cell;
    if (o->kind == EK_DECIDED_PIN)
        return pin(c, o, feature, e);
    int rc = find_cell(c, o, &cell, e);
    if (rc)
        return rc;
    if (o->kind == EK_DECIDED_UNPIN)
        return ek_controller_unpin(c, feature, cell, e);
    if (o->kind == EK_DECIDED_ACCEPT)
        return levels->accept(levels->context, feature, cell, m, e);
    return ek_controller_resume(c, feature, cell, time_ms, e);
}

int ek_controller_apply_order(struct ek_controller *c, const struct ek_order *o, int64_t time_ms,
                              struct ek_decision_record *m, struct ek_error *e)
{
    const struct ek_controller_levels *levels = &c->setup.levels;
    int feature, rc = check(c, o, time_ms, &feature, e);
    *m = ek_decision_get(o->kind);
    m->action = o->action;
    m->actor = o->author;
    m->reason = o->reason;
    m->feature = o->feature;
    m->dimension = o->segment;
    m->value = ek_order_cell_value(o);
    if (rc)
        return rc;
    if (o->kind == EK_DECIDED_REVERT)
        return levels->revert(levels->context, o->version, m, e);
    if (o->feature)
        return apply(c, o, feature, time_ms, m, e);
    ek_controller_pause(c, o->kind == EK_DECIDED_PAUSE, time_ms);
    return EK_OK;
}
