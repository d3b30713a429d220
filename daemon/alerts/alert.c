#include "daemon/alerts/alert.h"

#include "base/buf.h"
#include "base/hash.h"
#include "daemon/base/text_table.h"
#include "guard/finding_text.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

struct kind {
    const char *name, *title;
    enum ek_alert_severity severity;
};

static const struct kind KINDS[EK_ALERT_KINDS] = {
    [EK_ALERT_DRIFT] = {"drift", "EvenkeelDrift", EK_ALERT_WARNING},
    [EK_ALERT_ROUTE_ROLLED_BACK] = {"route-rolled-back", "EvenkeelRouteRolledBack",
                                    EK_ALERT_CRITICAL},
    [EK_ALERT_LIMIT_REACHED] = {"limit-reached", "EvenkeelLimitReached", EK_ALERT_WARNING},
    [EK_ALERT_PAUSED] = {"paused", "EvenkeelPaused", EK_ALERT_WARNING},
    [EK_ALERT_FLEET_PLAN_STALE] = {"fleet-plan-stale", "EvenkeelFleetPlanStale", EK_ALERT_CRITICAL},
    [EK_ALERT_FLEET_DUPLICATE_INSTANCE] = {"fleet-duplicate-instance",
                                           "EvenkeelFleetDuplicateInstance", EK_ALERT_CRITICAL},
    [EK_ALERT_RELOAD_REFUSED] = {"reload-refused", "EvenkeelReloadRefused", EK_ALERT_WARNING},
    [EK_ALERT_MODEL_DRIFT] = {"model-drift", "EvenkeelModelDrift", EK_ALERT_WARNING},
    [EK_ALERT_UNDECODABLE] = {"undecodable", "EvenkeelUndecodable", EK_ALERT_CRITICAL},
    [EK_ALERT_PARTLY_UNDECODABLE] = {"partly-undecodable", "EvenkeelPartlyUndecodable",
                                     EK_ALERT_WARNING},
    [EK_ALERT_SILENT] = {"silent", "EvenkeelSilent", EK_ALERT_WARNING},
    [EK_ALERT_STALLED] = {"stalled", "EvenkeelStalled", EK_ALERT_CRITICAL},
    [EK_ALERT_UNREACHABLE] = {"unreachable", "EvenkeelUnreachable", EK_ALERT_CRITICAL},
    [EK_ALERT_TOPIC_MISSING] = {"topic-missing", "EvenkeelTopicMissing", EK_ALERT_CRITICAL},
    [EK_ALERT_MESSAGES_LOST] = {"messages-lost", "EvenkeelMessagesLost", EK_ALERT_CRITICAL},
    [EK_ALERT_DEGRADED] = {"degraded", "EvenkeelDegraded", EK_ALERT_WARNING},
    [EK_ALERT_UNMAPPED] = {"unmapped", "EvenkeelUnmapped", EK_ALERT_WARNING},
    [EK_ALERT_TEST] = {"test", "EvenkeelTest", EK_ALERT_INFO},
};

const char *ek_alert_kind_name(enum ek_alert_kind kind)
{
    return KINDS[kind].name;
}

const char *ek_alert_title(enum ek_alert_kind kind)
{
    return KINDS[kind].title;
}

const char *ek_alert_severity_name(enum ek_alert_severity severity)
{
    static const char *const names[] = {"info", "warning", "critical"};
    return names[severity];
}

/* Limits that block actions let faults through, so they are critical. */
static bool is_plan_limit(const char *limit)
{
    return !strcmp(limit, "plan") || !strncmp(limit, "max_routed_", sizeof "max_routed_" - 1);
}

enum ek_alert_severity ek_alert_get_severity(const struct ek_alert *a)
{
    if (a->kind == EK_ALERT_LIMIT_REACHED && is_plan_limit(a->limit))
        return EK_ALERT_CRITICAL;
    return KINDS[a->kind].severity;
}

bool ek_alert_same(const struct ek_alert *a, const struct ek_alert *b)
{
    return a->kind == b->kind && !strcmp(a->feature, b->feature) &&
           !strcmp(a->segment, b->segment) && !strcmp(a->class, b->class) &&
           !strcmp(a->limit, b->limit) && !strcmp(a->instance, b->instance);
}

/* Append a name with its slashes escaped, so that keys are unique. */
static size_t add_part(char *out, size_t at, size_t size, const char *part)
{
    if (at < size)
        at += (size_t)snprintf(out + at, size - at, "/");
    for (; *part && at < size; part++)
        at += (size_t)snprintf(out + at, size - at, *part == '/' ? "%%2F" : "%c", *part);
    return at;
}

void ek_alert_key(const struct ek_alert *a, const char *service, char out[EK_ALERT_KEY_BYTES])
{
    enum { HASH_BYTES = 17, ALL_BYTES = 4000 };
    char all[ALL_BYTES] = "evenkeel";
    const char *const parts[] = {
        service,    ek_alert_kind_name(a->kind), a->feature, a->segment, a->class, a->limit,
        a->instance};
    size_t length = strlen(all);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (*parts[i])
            length = add_part(all, length, sizeof all, parts[i]);
    if (length < EK_ALERT_KEY_BYTES) {
        snprintf(out, EK_ALERT_KEY_BYTES, "%s", all);
        return;
    }
    ek_alert_copy(out, EK_ALERT_KEY_BYTES - HASH_BYTES, all);
    size_t end = strlen(out);
    snprintf(out + end, EK_ALERT_KEY_BYTES - end, "/%016" PRIx64, ek_hash(all, strlen(all), 0));
}

/* Write the features of the incident but for that of the alert, or their number. */
static void write_others(const struct ek_alert *a, char *out, size_t size)
{
    enum { MAX_NAMED = 3 };
    char all[EK_ALERT_TEXT_BYTES], *rest = all;
    size_t length = 0;
    out[0] = '\0';
    if (a->features_count > MAX_NAMED) {
        snprintf(out, size, "%d features", a->features_count - 1);
        return;
    }
    ek_alert_copy(all, sizeof all, a->features);
    for (char *name; (name = strsep(&rest, ",")) && length < size;) {
        name += strspn(name, " ");
        if (strcmp(name, a->feature) != 0)
            length +=
                (size_t)snprintf(out + length, size - length, "%s%s", length ? ", " : "", name);
    }
}

void ek_alert_sentence(const struct ek_alert *a, char out[EK_ALERT_SENTENCE_BYTES])
{
    char all[3 * EK_ALERT_SENTENCE_BYTES], others[EK_ALERT_TEXT_BYTES];
    const char *end = a->firing ? a->action : a->accepted ? "its level was accepted" : "it is over";
    write_others(a, others, sizeof others);
    snprintf(all, sizeof all, "%s%s%s%s%s%s", a->features_count ? a->feature : "", a->summary,
             *end ? "; " : "", end, *others ? "; with it: " : "", others);
    ek_alert_copy(out, EK_ALERT_SENTENCE_BYTES, all);
    ek_make_safe(out);
}

void ek_alert_copy(char *out, size_t size, const char *text)
{
    snprintf(out, size, "%.*s", (int)ek_utf8_within(text, size - 1), text);
}

static const char *or_empty(const char *text)
{
    return text ? text : "";
}

static const double ALL_LISTS = .995; /* fractions above round to 100% */

/* Bounded string builder; excess text is dropped. */
struct line {
    char text[2 * EK_ALERT_TEXT_BYTES];
    size_t length;
};

static void __attribute__((format(printf, 2, 3))) add(struct line *l, const char *format, ...)
{
    va_list values;
    va_start(values, format);
    int more = vsnprintf(l->text + l->length, sizeof l->text - l->length, format, values);
    va_end(values);
    if (more > 0)
        l->length += (size_t)more < sizeof l->text - l->length ? (size_t)more
                                                               : sizeof l->text - l->length - 1;
}

/* Append the start, in UTC since readers and hosts have different time zones. */
static void add_since(struct line *l, int64_t since_ms)
{
    char text[32];
    struct tm utc;
    time_t seconds = (time_t)(since_ms / 1000);
    if (since_ms <= 0 || !gmtime_r(&seconds, &utc))
        return;
    strftime(text, sizeof text, "%d %b %H:%M", &utc);
    add(l, " since %s UTC", *text == '0' ? text + 1 : text);
}

static const char *class_text(enum ek_class class)
{
    switch (class) {
    case EK_OFFSET:
        return "a constant is added to the values";
    case EK_ITEMS:
        return "some items of a list have another scale";
    case EK_STUCK:
        return "nearly all values of a list are equal";
    case EK_CLIP:
        return "values are clipped at a bound";
    case EK_NEW_CATEGORY:
        return "values that are new or were rare in training";
    default:
        return "the distribution changed";
    }
}

/* Return whether a conversion fits, whose ratio is then the likely factor. */
static bool is_conversion(const struct ek_event_finding *f)
{
    return f->units && f->match[0] && strcmp(f->match[0], "coincidence") != 0;
}

static void add_effect(struct line *l, const struct ek_event_finding *f)
{
    char values[EK_FINDING_VALUES_BYTES];
    if (f->class == EK_SCALE && f->query_feature)
        add(l, " multiplied by %s", f->query_feature);
    else if (f->class == EK_SCALE && is_conversion(f))
        add(l, " x%.4g (%s)", f->ratio[0], f->unit[0]);
    else if (f->class == EK_SCALE && isfinite(f->factor))
        add(l, " x%.4g", f->factor);
    else if (f->class == EK_POWER && isfinite(f->exponent))
        add(l, " raised to the power %.3g", f->exponent);
    else if (f->class == EK_SHAPE && isfinite(f->spread_ratio))
        add(l, ": spread x%.3g", f->spread_ratio);
    else if (ek_class_counts_values(f->class)) {
        ek_finding_values_text(f->class, f->value_fraction, f->trained_fraction, values);
        add(l, ": %s,", values);
    } else
        add(l, ": %s", class_text(f->class));
}

static void add_location(struct line *l, const struct ek_alert *a)
{
    if (isfinite(a->share) && a->share < ALL_LISTS)
        add(l, " in %.2g%% of the lists", 100 * a->share);
    if (strcmp(a->segment, "all") != 0)
        add(l, " on %s", a->segment);
    add_since(l, a->since_ms);
}

/* Append the likely unit conversion, which the event's sentence names. */
static void add_unit(struct line *l, const char *text)
{
    static const char *const words[] = {"; looks like ", "; could be "};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const char *at = strstr(text, words[i]);
        if (at)
            add(l, ", %.*s", (int)strcspn(at + 2, ";"), at + 2);
    }
}

static const char *action_text(enum ek_action action)
{
    return ek_action_routes(action)  ? "routed to the wide path"
           : action == EK_ACT_BLANK  ? "left out of the ranking"
           : action == EK_ACT_FILL   ? "filled with typical values"
           : action == EK_ACT_REPAIR ? "divided by the factor"
                                     : "";
}

static void add_action(struct line *l, const struct ek_event_finding *f)
{
    const char *text = action_text(f->action);
    if (f->no_model)
        add(l, "no action; there is no model");
    else if (!*text)
        add(l, "no action; it is only reported");
    else if (f->blocked_by != EK_BOUND_NONE)
        add(l, "not %s: the limit %s is reached", text, ek_bound_name(f->blocked_by));
    else if (f->paused)
        add(l, "not %s: all is paused", text);
    else if (!ek_mode_acts(f->mode))
        add(l, "not %s: the mode is %s", text, ek_mode_name(f->mode));
    else if (f->mode == EK_MODE_CANARY)
        add(l, "%s for a growing fraction of the lists", text);
    else
        add(l, "%s", text);
}

/* Set summary, evidence and action of a drift from the other members. */
static void format_drift(struct ek_alert *a, const struct ek_event_finding *f)
{
    struct line action = {.length = 0}, line = {.length = 0};
    add_action(&action, f);
    ek_alert_copy(a->action, sizeof a->action, action.text);
    add_effect(&line, f);
    add_location(&line, a);
    add_unit(&line, or_empty(f->text));
    ek_alert_copy(a->summary, sizeof a->summary, line.text);
    ek_alert_copy(a->evidence, sizeof a->evidence, or_empty(f->text));
}

static const char *const ACTIONS[EK_ALERT_KINDS] = {
    [EK_ALERT_ROUTE_ROLLED_BACK] = "lists are ranked with the faulty feature until an operator "
                                   "resumes the route (evenkeel resume)",
    [EK_ALERT_LIMIT_REACHED] = "findings beyond the limit are reported without action",
    [EK_ALERT_PAUSED] =
        "all messages are forwarded unchanged until an operator resumes (evenkeel resume)",
    [EK_ALERT_FLEET_PLAN_STALE] =
        "the last plan stays in force; this instance receives no newer plan",
    [EK_ALERT_FLEET_DUPLICATE_INSTANCE] =
        "reports of the process that started first are dropped; give "
        "each process its own service.instance",
    [EK_ALERT_RELOAD_REFUSED] = "the previous version stays in force",
    [EK_ALERT_MODEL_DRIFT] = "no action; routes would rank with this model",
    [EK_ALERT_UNDECODABLE] = "these messages are not guarded; correct the paths under 'message'",
    [EK_ALERT_PARTLY_UNDECODABLE] =
        "these messages are not guarded; correct their producer or the paths under 'message'",
    [EK_ALERT_SILENT] = "nothing is done; check the producer of the input",
    [EK_ALERT_STALLED] = "the instance is not ready; consumers of the output wait",
    [EK_ALERT_UNREACHABLE] = "the instance retries; consumers of the output wait",
    [EK_ALERT_TOPIC_MISSING] = "the instance is not ready; create the topic or correct its name",
    [EK_ALERT_MESSAGES_LOST] = "reading continues at the oldest message that is left",
    [EK_ALERT_DEGRADED] = "messages flow without it; it is retried",
    [EK_ALERT_UNMAPPED] = "no list is changed while a segment is missing",
    [EK_ALERT_TEST] = "none; this alert tests the delivery",
};

static void add_input(struct line *l, enum ek_alert_kind kind)
{
    static const char *const texts[EK_ALERT_KINDS] = {
        [EK_ALERT_UNDECODABLE] = "input messages cannot be read",
        [EK_ALERT_PARTLY_UNDECODABLE] = "some input messages cannot be read",
        [EK_ALERT_SILENT] = "the input is silent",
        [EK_ALERT_STALLED] = "no output although the input has more",
        [EK_ALERT_UNREACHABLE] = "brokers do not answer or refuse this client",
        [EK_ALERT_TOPIC_MISSING] = "an input topic is missing",
        [EK_ALERT_MESSAGES_LOST] = "input messages were lost before they were read",
        [EK_ALERT_DEGRADED] = "the state topic is not available",
        [EK_ALERT_UNMAPPED] = "an expected field is in no message",
    };
    add(l, "%s", texts[kind]);
}

static void add_other(struct line *l, const struct ek_alert *a)
{
    switch (a->kind) {
    case EK_ALERT_ROUTE_ROLLED_BACK:
        add(l, "a guardrail rolled back the route of %s", a->feature);
        if (strcmp(a->segment, "all") != 0)
            add(l, " on %s", a->segment);
        break;
    case EK_ALERT_LIMIT_REACHED:
        add(l, "limit %s is reached", a->limit);
        break;
    case EK_ALERT_PAUSED:
        add(l, "evenkeel is paused");
        break;
    case EK_ALERT_FLEET_PLAN_STALE:
        add(l, "instance %s receives no plan of its fleet", a->instance);
        break;
    case EK_ALERT_FLEET_DUPLICATE_INSTANCE:
        add(l, "two processes of the fleet have the name %s", a->instance);
        break;
    case EK_ALERT_RELOAD_REFUSED:
        add(l, "a reload was refused");
        break;
    case EK_ALERT_MODEL_DRIFT:
        add(l, "model and upstream no longer agree");
        break;
    case EK_ALERT_UNDECODABLE:
    case EK_ALERT_PARTLY_UNDECODABLE:
    case EK_ALERT_SILENT:
    case EK_ALERT_STALLED:
    case EK_ALERT_UNREACHABLE:
    case EK_ALERT_TOPIC_MISSING:
    case EK_ALERT_MESSAGES_LOST:
    case EK_ALERT_DEGRADED:
    case EK_ALERT_UNMAPPED:
        add_input(l, a->kind);
        break;
    default:
        add(l, "test alert");
        break;
    }
    add_since(l, a->since_ms);
}

void ek_alert_format_other(struct ek_alert *a, const char *detail)
{
    struct line line = {.length = 0};
    add_other(&line, a);
    bool blocks_nothing = a->kind == EK_ALERT_LIMIT_REACHED && !is_plan_limit(a->limit);
    ek_alert_copy(a->action, sizeof a->action, blocks_nothing ? "" : ACTIONS[a->kind]);
    ek_alert_copy(a->evidence, sizeof a->evidence, detail);
    if (*detail && a->kind != EK_ALERT_MODEL_DRIFT) /* its sentence is long */
        add(&line, ": %s", detail);
    ek_alert_copy(a->summary, sizeof a->summary, line.text);
}

static void copy_location(struct ek_alert *a, const struct ek_event_place *at)
{
    enum { HALF_BYTES = 201 };
    char key[HALF_BYTES], text[HALF_BYTES], both[2 * HALF_BYTES];
    ek_alert_copy(a->feature, sizeof a->feature, or_empty(at->feature));
    if (!at->dimension) {
        snprintf(a->segment, sizeof a->segment, "all");
        return;
    }
    ek_alert_copy(key, sizeof key, at->dimension);
    ek_alert_copy(text, sizeof text, at->value ? at->value : EK_SEGMENT_OTHER);
    snprintf(both, sizeof both, "%s=%s", key, text);
    ek_alert_copy(a->segment, sizeof a->segment, both);
}

/* The members of a confirmed finding include its own feature. */
static void copy_members(struct ek_alert *a, const struct ek_event_finding *f)
{
    char all[2 * EK_ALERT_TEXT_BYTES] = "";
    size_t length = 0;
    for (int i = 0; i < f->members && length < sizeof all; i++)
        length += (size_t)snprintf(all + length, sizeof all - length, "%s%s", length ? ", " : "",
                                   f->member[i]);
    a->features_count = f->members ? f->members : 1;
    ek_alert_copy(a->features, sizeof a->features, *all ? all : a->feature);
}

static const char *limit_name(const struct ek_event_finding *f)
{
    return f->blocked_by == EK_BOUND_NONE ? "" : ek_bound_name(f->blocked_by);
}

static void read_open_finding(struct ek_alert *a, const struct ek_event_finding *f)
{
    copy_members(a, f);
    ek_alert_copy(a->class, sizeof a->class,
                  f->class == EK_CLASS_NONE ? "" : ek_class_name(f->class));
    a->factor = f->factor;
    a->factor_low = f->factor_low;
    a->factor_high = f->factor_high;
    a->share = f->fraction;
    a->since_ms = f->since_ms;
    format_drift(a, f);
}

static void read_finding(struct ek_alert_update *n, const struct ek_event_finding *f)
{
    struct ek_alert *a = &n->alert;
    a->kind = EK_ALERT_DRIFT;
    copy_location(a, &f->at);
    n->episode = f->number;
    n->cause = f->incident;
    ek_alert_copy(n->limit, sizeof n->limit, limit_name(f));
    if (ek_finding_is_over(f->state)) {
        n->what = EK_ALERT_FINDING_CLOSED;
        a->accepted = f->reason && !strcmp(f->reason, ek_finding_accepted());
    } else if (f->state != EK_SUSPECTED) {
        n->what = EK_ALERT_FINDING_OPEN;
        read_open_finding(a, f);
    }
}

static void set_firing(struct ek_alert_update *n, enum ek_alert_kind kind, const char *detail)
{
    n->what = EK_ALERT_FIRES;
    n->alert.kind = kind;
    ek_alert_format_other(&n->alert, detail);
}

static void set_ended(struct ek_alert_update *n, enum ek_alert_kind kind)
{
    n->what = EK_ALERT_ENDS;
    n->alert.kind = kind;
}

static void read_rollback(struct ek_alert_update *n, const struct ek_decision_record *m)
{
    char detail[EK_ALERT_TEXT_BYTES];
    if (isfinite(m->observed) && isfinite(m->limit))
        snprintf(detail, sizeof detail, "%.60s is %.4g, the rules allow %.4g",
                 ek_guardrail_name(m->guardrail), m->observed, m->limit);
    else
        ek_alert_copy(detail, sizeof detail, or_empty(m->reason));
    set_firing(n, EK_ALERT_ROUTE_ROLLED_BACK, detail);
}

/* A later decision about a route ends the alert of its rollback. */
static bool ends_rollback(const struct ek_decision_record *m)
{
    return m->feature && (m->kind == EK_DECIDED_ROUTE || m->kind == EK_DECIDED_RELAPSE ||
                          m->kind == EK_DECIDED_RESUME || m->kind == EK_DECIDED_PIN ||
                          m->kind == EK_DECIDED_ACCEPT);
}

static void read_decision(struct ek_alert_update *n, const struct ek_decision_record *m)
{
    char detail[EK_ALERT_TEXT_BYTES];
    const char *actor = or_empty(m->actor), *reason = or_empty(m->reason);
    const struct ek_event_place at = {m->feature, m->dimension, m->value};
    if (m->kind == EK_DECIDED_ROLLBACK) {
        copy_location(&n->alert, &at);
        read_rollback(n, m);
    } else if (ends_rollback(m)) {
        copy_location(&n->alert, &at);
        set_ended(n, EK_ALERT_ROUTE_ROLLED_BACK);
    } else if (m->kind == EK_DECIDED_PAUSE && !m->feature) {
        snprintf(detail, sizeof detail, "%s%.200s%s%.500s", *actor ? "by " : "", actor,
                 *actor && *reason ? ", " : "", reason);
        set_firing(n, EK_ALERT_PAUSED, detail);
    } else if (m->kind == EK_DECIDED_RESUME && !m->feature) {
        set_ended(n, EK_ALERT_PAUSED);
    }
}

static void read_reload(struct ek_alert_update *n, const struct ek_event_reload *r)
{
    char detail[EK_ALERT_TEXT_BYTES];
    const char *file = or_empty(r->file), *message = or_empty(r->message);
    if (r->done) {
        set_ended(n, EK_ALERT_RELOAD_REFUSED);
        return;
    }
    if (*file && r->line > 0)
        snprintf(detail, sizeof detail, "%.200s:%ld:%ld: %.500s", file, r->line, r->column,
                 message);
    else
        snprintf(detail, sizeof detail, "%.200s%s%.500s", file, *file ? ": " : "", message);
    set_firing(n, EK_ALERT_RELOAD_REFUSED, detail);
}

static void read_limit(struct ek_alert_update *n, const struct ek_event_limit *l)
{
    char detail[700];
    snprintf(detail, sizeof detail, "%.200s%s%s", or_empty(l->query_feature),
             l->query_feature ? ": " : "", ek_bound_text(l->bound));
    ek_alert_copy(n->alert.limit, sizeof n->alert.limit, ek_bound_name(l->bound));
    set_firing(n, EK_ALERT_LIMIT_REACHED, detail);
}

static void read_drift(struct ek_alert_update *n, const struct ek_event_model_drift *d)
{
    if (d->view.state == EK_AGREEMENT_DRIFTED)
        set_firing(n, EK_ALERT_MODEL_DRIFT, or_empty(d->text));
    else
        set_ended(n, EK_ALERT_MODEL_DRIFT);
}

static void read_fleet(struct ek_alert_update *n, const struct ek_event_fleet *f)
{
    enum ek_alert_kind kind =
        f->name ? EK_ALERT_FLEET_DUPLICATE_INSTANCE : EK_ALERT_FLEET_PLAN_STALE;
    ek_alert_copy(n->alert.instance, sizeof n->alert.instance, or_empty(f->instance));
    if (f->wrong)
        set_firing(n, kind, or_empty(f->text));
    else
        set_ended(n, kind);
}

static void read_input(struct ek_alert_update *n, const struct ek_event_input *i)
{
    static const struct {
        const char *condition;
        enum ek_alert_kind kind;
    } kinds[] = {{"undecodable", EK_ALERT_UNDECODABLE},
                 {"silent", EK_ALERT_SILENT},
                 {"stalled", EK_ALERT_STALLED},
                 {"unreachable", EK_ALERT_UNREACHABLE},
                 {"degraded", EK_ALERT_DEGRADED},
                 {"messages_lost", EK_ALERT_MESSAGES_LOST},
                 {"unmapped", EK_ALERT_UNMAPPED},
                 {"topic_missing", EK_ALERT_TOPIC_MISSING},
                 {"partly_undecodable", EK_ALERT_PARTLY_UNDECODABLE}};
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        if (strcmp(or_empty(i->condition), kinds[k].condition) != 0)
            continue;
        if (i->active)
            set_firing(n, kinds[k].kind, or_empty(i->text));
        else
            set_ended(n, kinds[k].kind);
    }
}

void ek_alert_update_read(struct ek_alert_update *n, const struct ek_event *v)
{
    *n = (struct ek_alert_update){.what = EK_ALERT_NO_UPDATE};
    n->alert.since_ms = v->time_ms;
    n->alert.firing = true;
    n->alert.factor = n->alert.factor_low = n->alert.factor_high = n->alert.share = NAN;
    switch (v->kind) {
    case EK_EVENT_FINDING:
        read_finding(n, &v->finding);
        return;
    case EK_EVENT_DECISION:
        read_decision(n, &v->decision);
        return;
    case EK_EVENT_LIMIT:
        read_limit(n, &v->limit);
        return;
    case EK_EVENT_RELOAD:
        read_reload(n, &v->reload);
        return;
    case EK_EVENT_MODEL_DRIFT:
        read_drift(n, &v->model_drift);
        return;
    case EK_EVENT_FLEET:
        read_fleet(n, &v->fleet);
        return;
    case EK_EVENT_INPUT:
        read_input(n, &v->input);
        return;
    case EK_EVENT_PLAN:
    case EK_EVENT_TEXT:
    case EK_EVENT_KINDS:
        return;
    }
}
