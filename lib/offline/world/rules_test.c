#include "offline/world/rules_test.h"

#include "detect/detector.h"
#include "offline/world/faults.h"
#include "offline/world/synthetic_lists.h"
#include "plan/policy.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool same_text(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

/* Return true if the finding is in this segment; NULL, NULL: in all traffic. */
static bool finding_is_in(const struct ek_finding *f, const char *dimension, const char *value)
{
    return same_text(f->dimension, dimension) && same_text(f->value, value);
}

static bool is_active(const struct ek_pin *p, int feature, int64_t now_ms)
{
    return p->feature == feature && (!p->until_ms || now_ms < p->until_ms);
}

/* Return the pin of a finding, or NULL. A pin of its segment takes precedence over one of all
 * traffic. */
static const struct ek_pin *pin_of(const struct ek_rules *rules, int feature,
                                   const struct ek_finding *f, int64_t now_ms)
{
    const struct ek_pin *found = NULL;
    for (int i = 0; i < rules->pin_count; i++) {
        const struct ek_pin *p = &rules->pin[i];
        if (!is_active(p, feature, now_ms))
            continue;
        if (finding_is_in(f, p->dimension, p->value))
            return p;
        if (!p->dimension)
            found = p;
    }
    return found;
}

static const char *limit_of(const struct ek_rules *rules, int feature, const struct ek_finding *f,
                            enum ek_mode mode)
{
    double part = mode == EK_MODE_CANARY ? rules->feature[feature].canary.initial_percent / 100 : 1;
    bool beyond = f->dimension ? rules->max_routed_share <= 0 : part > rules->max_routed_share;
    if (rules->max_routed_features < 1)
        return "max_routed_features";
    return beyond ? "max_routed_share" : NULL;
}

/* Change action and mode of *d, a decision of ek_decide, to those that pins and modes give.
 * `feature` is its index in the manifest, `now_ms` is event time. by [EK_SETTLED_BYTES] receives "
 * by the pin at 9:5", or "" without a change. */
static void rules_resolve(const struct ek_rules *rules, int feature, const struct ek_finding *f,
                          int64_t now_ms, struct ek_decision *d, char *by)
{
    const struct ek_pin *pin = pin_of(rules, feature, f, now_ms);
    by[0] = 0;
    if (pin) {
        bool acts = ek_action_treats(pin->action);
        d->treatment.action = pin->action;
        d->mode = acts ? EK_MODE_ENFORCE : EK_MODE_OBSERVE;
        snprintf(by, EK_SETTLED_BYTES, " by the pin at %ld:%ld", pin->line, pin->column);
        return;
    }
    if (!d->desired || !ek_mode_acts(d->mode))
        return;
    const char *limit = limit_of(rules, feature, f, d->mode);
    if (!limit)
        return;
    d->mode = EK_MODE_OBSERVE;
    snprintf(by, EK_SETTLED_BYTES, " by '%s'", limit);
}

enum { AFTER = 500 }; /* lists beyond twice the expected number, to report late findings */

static const uint64_t WORLD_SEED = 0x72756c6573;

struct run {
    const struct ek_rules *rules;
    const struct ek_manifest *m;
    const struct ek_rules_test *t;
    const struct ek_healthy_lists *from;
    struct ek_detector *detector;
    struct ek_list q;
    struct ek_fault fault;
    int item;           /* index of the item feature; -1: none */
    uint64_t since;     /* faulty lists so far */
    uint64_t suspected; /* number of faulty lists at the first suspicion; 0: none */
    bool ended;
    struct ek_rules_outcome *out;
};

static enum ek_fault_op op_of(enum ek_inject kind)
{
    switch (kind) {
    case EK_INJECT_POWER:
        return EK_FAULT_POWER;
    case EK_INJECT_OFFSET:
        return EK_FAULT_ADD;
    case EK_INJECT_MISSING:
        return EK_FAULT_NAN;
    case EK_INJECT_ZERO:
        return EK_FAULT_ZERO;
    case EK_INJECT_NEGATIVE:
        return EK_FAULT_NEGATE;
    case EK_INJECT_NONE:
    case EK_INJECT_SCALE:
        break;
    }
    return EK_FAULT_SCALE;
}

static void prepare_fault(struct run *r)
{
    const struct ek_rules_test *t = r->t;
    bool any = t->inject != EK_INJECT_NONE;
    r->item = any ? ek_manifest_item(r->m, r->m->features[t->feature].name) : -1;
    r->fault = (struct ek_fault){.item = &r->item,
                                 .item_count = any,
                                 .op = op_of(t->inject),
                                 .value = t->by,
                                 .query_feature = -1,
                                 .to = UINT64_MAX,
                                 .share = t->share,
                                 .items = t->items,
                                 .source = -1,
                                 .dimension = t->dimension,
                                 .segment_value = t->value};
}

static const char *name_of(const struct run *r, int item)
{
    return r->m->item[item]->name;
}

static void cell_text(const char *dimension, const char *value, char *text, size_t size)
{
    if (dimension)
        snprintf(text, size, "%s=%s", dimension, value ? value : "(other)");
    else
        snprintf(text, size, "all traffic");
}

static bool is_near(double value, double desired, double within_percent)
{
    double within = isnan(within_percent) ? EK_RULES_TEST_WITHIN : within_percent;
    return fabs(value - desired) <= within / 100 * fabs(desired);
}

static bool misfit_number(const char *what, double value, double desired, double within, char *text,
                          size_t size)
{
    if (isnan(desired) || is_near(value, desired, within))
        return false;
    snprintf(text, size, "%s %.4g, wanted %.6g within %g%%", what, value, desired,
             isnan(within) ? EK_RULES_TEST_WITHIN : within);
    return true;
}

/* Describe the first difference of a finding from the test. Return false without a difference. */
static bool misfit(const struct run *r, const struct ek_finding *f, char *text, size_t size)
{
    const struct ek_rules_test *t = r->t;
    char by[EK_SETTLED_BYTES];
    static const struct ek_means means = {.model = true};
    struct ek_decision d = ek_decide(r->rules, r->m, &means, f);
    rules_resolve(r->rules, t->feature, f, r->q.time_ms, &d, by);
    if (t->has_segment && !finding_is_in(f, t->found_dimension, t->found_value)) {
        char found[90], desired[90];
        cell_text(f->dimension, f->value, found, sizeof found);
        cell_text(t->found_dimension, t->found_value, desired, sizeof desired);
        snprintf(text, size, "found in %s, wanted in %s", found, desired);
    } else if (t->class != EK_CLASS_NONE && f->class != t->class)
        snprintf(text, size, "class '%s', wanted '%s'", ek_class_name(f->class),
                 ek_class_name(t->class));
    else if (misfit_number("factor", f->factor, t->factor, t->within_percent, text, size) ||
             misfit_number("exponent", f->exponent, t->exponent, t->within_percent, text, size))
        return true;
    else if (t->action >= 0 && (int)d.treatment.action != t->action)
        snprintf(text, size, "action '%s'%s, wanted '%s'", ek_action_name(d.treatment.action), by,
                 ek_action_name((enum ek_action)t->action));
    else if (t->mode >= 0 && (int)d.mode != t->mode)
        snprintf(text, size, "mode '%s'%s, wanted '%s'", ek_mode_name(d.mode), by,
                 ek_mode_name((enum ek_mode)t->mode));
    else
        return false;
    return true;
}

static void add_unexpected(struct run *r, const struct ek_finding *f)
{
    struct ek_rules_outcome *out = r->out;
    char cell[100];
    cell_text(f->dimension, f->value, cell, sizeof cell);
    snprintf(out->text, sizeof out->text, "'%s' was confirmed on '%s' in %s %s%d lists, wanted %s",
             ek_class_name(f->class), name_of(r, f->feature), cell,
             r->since ? "after " : "within the ", r->since ? (int)r->since : EK_RULES_TEST_HEALTHY,
             r->since ? "nothing" : "nothing in healthy lists");
    out->queries = r->since;
    r->ended = true;
}

/* Findings are reported repeatedly: a late match is reported with the first mismatch. */
static void add_expected(struct run *r, const struct ek_finding *f)
{
    struct ek_rules_outcome *out = r->out;
    char wrong[240];
    int desired = r->t->queries;
    bool fits = !misfit(r, f, wrong, sizeof wrong);
    bool in_time = r->since <= (uint64_t)desired;
    if (!fits) {
        if (in_time || !out->text[0])
            snprintf(out->text, sizeof out->text, "%s (after %d lists)", wrong, (int)r->since);
        return;
    }
    r->ended = true;
    out->queries = r->since;
    out->passed = in_time;
    size_t used = in_time ? 0 : strlen(out->text);
    out->text[used] = 0;
    if (!in_time)
        snprintf(out->text + used, sizeof out->text - used, "%s after %d lists, wanted within %d",
                 used ? "; as wanted" : "confirmed", (int)r->since, desired);
}

static void add_findings(struct run *r)
{
    struct ek_finding f;
    while (!r->ended && ek_detector_next(r->detector, &f)) {
        bool ours = f.feature == r->item && r->since;
        if (ours && f.state == EK_SUSPECTED && !r->suspected)
            r->suspected = r->since;
        if (f.state != EK_CONFIRMED && f.state != EK_UPDATED)
            continue;
        if (r->t->nothing || !r->since)
            add_unexpected(r, &f);
        else if (ours)
            add_expected(r, &f);
    }
}

static void swap_items(struct ek_list *q, int a, int b)
{
    float *x = q->x + (size_t)a * (size_t)q->item_features,
          *y = q->x + (size_t)b * (size_t)q->item_features;
    for (int f = 0; f < q->item_features; f++) {
        float value = x[f];
        x[f] = y[f];
        y[f] = value;
    }
    struct ek_text id = q->item_id[a];
    q->item_id[a] = q->item_id[b];
    q->item_id[b] = id;
    uint8_t source = q->source[a];
    q->source[a] = q->source[b];
    q->source[b] = source;
}

/* Sort the items by the changed values, the largest first: the upstream ranker scores these values,
 * so traffic has another order too. */
static void reorder(struct ek_list *q, int item)
{
    const float *x = q->x + item;
    size_t features = (size_t)q->item_features;
    for (int i = 1; i < q->items; i++)
        for (int k = i; k && x[(size_t)k * features] > x[(size_t)(k - 1) * features]; k--)
            swap_items(q, k, k - 1);
}

static int add_list(struct run *r, uint64_t i, bool faulty, struct ek_error *e)
{
    int rc = r->from->next(r->from->context, i, &r->q, e);
    if (rc)
        return rc;
    if (faulty) {
        r->since++;
        if (r->item >= 0 && ek_fault_apply(&r->fault, &r->q, i, WORLD_SEED))
            reorder(&r->q, r->item);
    }
    rc = ek_detector_observe(r->detector, &r->q, r->q.time_ms >= 0 ? r->q.time_ms : (int64_t)i, e);
    if (!rc)
        add_findings(r);
    return rc;
}

/* Set the outcome if no expected finding was confirmed. */
static void conclude(struct run *r)
{
    struct ek_rules_outcome *out = r->out;
    char why[200];
    if (r->ended)
        return;
    if (r->t->nothing) {
        out->passed = true;
        return;
    }
    if (out->text[0])
        return;
    if (r->suspected)
        snprintf(why, sizeof why, "suspected after %d lists and not confirmed", (int)r->suspected);
    else
        snprintf(why, sizeof why, "nothing found on '%s'", name_of(r, r->item));
    snprintf(out->text, sizeof out->text, "%s in %d lists, wanted within %d", why, (int)r->since,
             r->t->queries);
}

static int run_lists(struct run *r, struct ek_error *e)
{
    int within = r->t->queries;
    uint64_t most = (uint64_t)within + (r->t->nothing ? 0 : (uint64_t)within + AFTER), i = 0;
    int rc = EK_OK;
    for (; !rc && !r->ended && i < EK_RULES_TEST_HEALTHY; i++)
        rc = add_list(r, i, false, e);
    for (; !rc && !r->ended && r->since < most; i++)
        rc = add_list(r, i, true, e);
    return rc;
}

int ek_rules_test_run(const struct ek_rules *rules, const struct ek_manifest *m,
                      const struct ek_rules_test *t, const struct ek_healthy_lists *from,
                      struct ek_rules_outcome *out, struct ek_error *e)
{
    struct run r = {.rules = rules, .m = m, .t = t, .from = from, .out = out};
    *out = (struct ek_rules_outcome){0};
    prepare_fault(&r);
    int rc = ek_detector_new(&r.detector, m, from->profile, rules, e);
    if (rc)
        return rc;
    ek_list_init(&r.q);
    rc = run_lists(&r, e);
    if (!rc)
        conclude(&r);
    ek_list_release(&r.q);
    ek_detector_free(r.detector);
    return rc;
}

static int run_each(const struct ek_rules *rules, const struct ek_manifest *m, const char *file,
                    const struct ek_healthy_lists *from, struct ek_error_list *faults,
                    struct ek_error *e)
{
    int rc = EK_OK;
    for (int i = 0; !rc && i < rules->test_count; i++) {
        const struct ek_rules_test *t = &rules->test[i];
        struct ek_rules_outcome outcome;
        rc = ek_rules_test_run(rules, m, t, from, &outcome, e);
        if (rc || outcome.passed)
            continue;
        struct ek_error fault;
        ek_fail_at(&fault, EK_ECONFIG, file, t->line, t->column, "test '%.60s': %s", t->name,
                   outcome.text);
        rc = ek_error_list_add(faults, &fault);
        if (rc == EK_ELIMIT)
            return EK_OK;
        if (rc)
            ek_fail(e, EK_ENOMEM, "out of memory");
    }
    return rc;
}

static int next_made_up(void *world, uint64_t i, struct ek_list *q, struct ek_error *e)
{
    return ek_synthetic_lists_list(world, i, q, e);
}

int ek_rules_tests_run(const struct ek_rules *rules, const struct ek_manifest *m, const char *file,
                       const struct ek_healthy_lists *from, struct ek_error_list *faults,
                       struct ek_error *e)
{
    struct ek_synthetic_lists *world;
    struct ek_profile *profile = NULL;
    if (from || !rules->test_count)
        return from ? run_each(rules, m, file, from, faults, e) : EK_OK;
    int rc = ek_synthetic_lists_new(&world, m, rules, WORLD_SEED, e);
    if (rc)
        return rc;
    rc = ek_synthetic_lists_profile(world, &profile, e);
    if (!rc) {
        const struct ek_healthy_lists made_up = {next_made_up, world, profile};
        rc = run_each(rules, m, file, &made_up, faults, e);
    }
    ek_profile_free(profile);
    ek_synthetic_lists_free(world);
    return rc;
}
