#include "daemon/alerts/alert.h"

#include "base/buf.h"
#include "base/hash.h"
#include "daemon/base/text_table.h"

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
    [EK_ALERT_SILENT] = {"silent", "EvenkeelSilent", EK_ALERT_WARNING},
    [EK_ALERT_STALLED] = {"stalled", "EvenkeelStalled", EK_ALERT_CRITICAL},
    [EK_ALERT_UNREACHABLE] = {"unreachable", "EvenkeelUnreachable", EK_ALERT_CRITICAL},
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

void ek_alert_sentence(const struct ek_alert *a, char out[EK_ALERT_SENTENCE_BYTES])
{
    enum { MAX_NAMED = 3 };
    char all[2 * EK_ALERT_SENTENCE_BYTES], more[EK_ALERT_NAME_TEXT_BYTES] = "";
    if (a->features_count > MAX_NAMED)
        snprintf(more, sizeof more, " and %d more", a->features_count - 1);
    snprintf(all, sizeof all, "%s%s%s",
             a->features_count > 1 && !*more ? a->features
             : a->features_count             ? a->feature
                                             : "",
             more, a->summary);
    ek_alert_copy(out, EK_ALERT_SENTENCE_BYTES, all);
    ek_make_safe(out);
}

void ek_alert_copy(char *out, size_t size, const char *text)
{
    snprintf(out, size, "%.*s", (int)ek_utf8_within(text, size - 1), text);
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

static const char *class_text(const char *class)
{
    static const char *const texts[][2] = {
        {"offset", "a constant is added to the values"},
        {"items", "some items of a list have another scale"},
        {"missing", "the fraction of missing values changed"},
        {"zero", "the fraction of zeros changed"},
        {"sign", "the fraction of negative values changed"},
        {"stuck", "nearly all values of a list are equal"},
        {"clip", "values are clipped at a bound"},
        {"new_category", "values that are new or were rare in training"},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (!strcmp(class, texts[i][0]))
            return texts[i][1];
    return "the distribution changed";
}

static void add_effect(struct line *l, const struct ek_alert *a, const struct ek_alert_finding *f)
{
    if (!strcmp(a->class, "scale") && *f->query_feature)
        add(l, " multiplied by %s", f->query_feature);
    else if (!strcmp(a->class, "scale") && isfinite(a->factor))
        add(l, " x%.4g", a->factor);
    else if (!strcmp(a->class, "power") && isfinite(f->exponent))
        add(l, " raised to the power %.3g", f->exponent);
    else if (!strcmp(a->class, "shape") && isfinite(f->spread_ratio))
        add(l, ": spread within lists x%.3g", f->spread_ratio);
    else
        add(l, ": %s", class_text(a->class));
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

static bool equal(const char *a, const char *b)
{
    return !strcmp(a, b);
}

static const char *action_text(const char *action)
{
    return !strncmp(action, "route", 5) ? "routed to the wide path"
           : equal(action, "blank")     ? "left out of the ranking"
           : equal(action, "fill")      ? "filled with typical values"
           : equal(action, "repair")    ? "divided by the factor"
                                        : "";
}

static void add_action(struct line *l, const struct ek_alert_finding *f)
{
    const char *text = action_text(f->action);
    if (!*text)
        add(l, "no action; the rules only report it");
    else if (*f->limit)
        add(l, "not %s: the limit %s is reached", text, f->limit);
    else if (equal(f->mode, "observe") || equal(f->mode, "shadow"))
        add(l, "not %s: the mode is %s", text, f->mode);
    else if (equal(f->mode, "canary"))
        add(l, "%s for a growing fraction of the lists", text);
    else
        add(l, "%s", text);
}

void ek_alert_format_drift(struct ek_alert *a, const struct ek_alert_finding *f)
{
    struct line action = {.length = 0}, line = {.length = 0};
    add_action(&action, f);
    ek_alert_copy(a->action, sizeof a->action, action.text);
    add_effect(&line, a, f);
    add_location(&line, a);
    add_unit(&line, f->text);
    add(&line, "; %s", a->action);
    ek_alert_copy(a->summary, sizeof a->summary, line.text);
    ek_alert_copy(a->evidence, sizeof a->evidence, f->text);
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
    [EK_ALERT_SILENT] = "nothing is done; check the producer of the input",
    [EK_ALERT_STALLED] = "the instance is not ready; consumers of the output wait",
    [EK_ALERT_UNREACHABLE] = "the instance retries; consumers of the output wait",
    [EK_ALERT_MESSAGES_LOST] = "reading continues at the oldest message that is left",
    [EK_ALERT_DEGRADED] = "messages flow without it; it is retried",
    [EK_ALERT_UNMAPPED] = "findings act on no list until messages have the field",
    [EK_ALERT_TEST] = "none; this alert tests the delivery",
};

static void add_input(struct line *l, enum ek_alert_kind kind)
{
    static const char *const texts[EK_ALERT_KINDS] = {
        [EK_ALERT_UNDECODABLE] = "input messages cannot be read",
        [EK_ALERT_SILENT] = "the input is silent",
        [EK_ALERT_STALLED] = "no output although the input has more",
        [EK_ALERT_UNREACHABLE] = "brokers do not answer or refuse this client",
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
    case EK_ALERT_SILENT:
    case EK_ALERT_STALLED:
    case EK_ALERT_UNREACHABLE:
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
    ek_alert_copy(a->action, sizeof a->action, ACTIONS[a->kind]);
    ek_alert_copy(a->evidence, sizeof a->evidence, detail);
    if (*detail && a->kind != EK_ALERT_MODEL_DRIFT) /* its sentence is long */
        add(&line, ": %s", detail);
    add(&line, "; %s", a->action);
    ek_alert_copy(a->summary, sizeof a->summary, line.text);
}
