#include "daemon/alerts/alert_text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static const double ALL_LISTS = .995; /* a share that rounds to 100% */

/* A text of fixed size that grows at its end; what does not fit is left out. */
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

/* "21 Nov 14:02 UTC": people and machines stand in many time zones. */
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

static const char *said_of(const char *class)
{
    static const char *const said[][2] = {
        {"offset", "a constant is added to the values"},
        {"items", "some items of a list are on another scale"},
        {"missing", "another share of values is missing"},
        {"zero", "another share of values is zero"},
        {"sign", "another share of values is negative"},
        {"stuck", "nearly all values of a list are equal"},
        {"clip", "values are cut off at a bound"},
        {"new_category", "values that training did not have, or had seldom"},
    };
    for (size_t i = 0; i < sizeof said / sizeof *said; i++)
        if (!strcmp(class, said[i][0]))
            return said[i][1];
    return "something has changed";
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
        add(l, ": %s", said_of(a->class));
}

static void add_where(struct line *l, const struct ek_alert *a)
{
    if (isfinite(a->share) && a->share < ALL_LISTS)
        add(l, " in %.2g%% of the lists", 100 * a->share);
    if (strcmp(a->segment, "all") != 0)
        add(l, " on %s", a->segment);
    add_since(l, a->since_ms);
}

/* The event's sentence names the likeliest conversion, and how sure it is. */
static void add_unit(struct line *l, const char *text)
{
    static const char *const words[] = {"; looks like ", "; could be "};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        const char *at = strstr(text, words[i]);
        if (at)
            add(l, ", %.*s", (int)strcspn(at + 2, ";"), at + 2);
    }
}

static bool is(const char *a, const char *b)
{
    return !strcmp(a, b);
}

static const char *done(const char *action)
{
    return is(action, "route") || is(action, "route_spread") ? "routed to the wide path"
           : is(action, "silence")                           ? "left out of the ranking"
           : is(action, "rescale")                           ? "divided by the factor"
                                                             : "";
}

static void add_action(struct line *l, const struct ek_alert_finding *f)
{
    const char *what = done(f->action);
    if (!*what)
        add(l, "nothing is done about it, the rules only ask to tell");
    else if (*f->limit)
        add(l, "not %s: the limit %s keeps that back", what, f->limit);
    else if (is(f->mode, "observe") || is(f->mode, "shadow"))
        add(l, "not %s: the mode is %s", what, f->mode);
    else if (is(f->mode, "canary"))
        add(l, "%s for a part of the queries that grows", what);
    else
        add(l, "%s", what);
}

void ek_alert_tell_drift(struct ek_alert *a, const struct ek_alert_finding *f)
{
    struct line action = {.length = 0}, line = {.length = 0};
    add_action(&action, f);
    ek_alert_copy(a->action, sizeof a->action, action.text);
    add_effect(&line, a, f);
    add_where(&line, a);
    add_unit(&line, f->text);
    add(&line, "; %s", a->action);
    ek_alert_copy(a->summary, sizeof a->summary, line.text);
    ek_alert_copy(a->evidence, sizeof a->evidence, f->text);
}

static const char *const ACTIONS[EK_ALERT_KINDS] = {
    [EK_ALERT_ROUTE_WITHDRAWN] = "the faulty feature is ranked with as it comes, until somebody "
                                 "lets the route begin anew (evenkeel resume)",
    [EK_ALERT_LIMIT_REACHED] =
        "what is beyond the limit is told, and nothing else is done about it",
    [EK_ALERT_PAUSED] = "every message goes out as it came, until somebody resumes",
    [EK_ALERT_FLEET_CUT_OFF] = "the last plan stays in force; this instance hears of no other",
    [EK_ALERT_FLEET_NAME_SHARED] = "what the one says that started first is dropped, until each "
                                   "has a service.instance of its own",
    [EK_ALERT_RELOAD_REFUSED] = "what was in force before stays in force",
    [EK_ALERT_MODEL_DRIFT] = "nothing is done about it: routes would rank by this model",
    [EK_ALERT_TEST] = "nothing: somebody tries whether alerts arrive",
};

static void add_other(struct line *l, const struct ek_alert *a)
{
    switch (a->kind) {
    case EK_ALERT_ROUTE_WITHDRAWN:
        add(l, "the route of %s", a->feature);
        if (strcmp(a->segment, "all") != 0)
            add(l, " on %s", a->segment);
        add(l, " was withdrawn by a guardrail");
        break;
    case EK_ALERT_LIMIT_REACHED:
        add(l, "the limit %s is reached", a->limit);
        break;
    case EK_ALERT_PAUSED:
        add(l, "evenkeel is paused");
        break;
    case EK_ALERT_FLEET_CUT_OFF:
        add(l, "instance %s does not hear the fleet", a->instance);
        break;
    case EK_ALERT_FLEET_NAME_SHARED:
        add(l, "two processes of the fleet go by the name %s", a->instance);
        break;
    case EK_ALERT_RELOAD_REFUSED:
        add(l, "a reload was refused");
        break;
    case EK_ALERT_MODEL_DRIFT:
        add(l, "model and upstream no longer rank alike");
        break;
    default:
        add(l, "a test of alerts");
        break;
    }
    add_since(l, a->since_ms);
}

void ek_alert_tell_other(struct ek_alert *a, const char *detail)
{
    struct line line = {.length = 0};
    add_other(&line, a);
    ek_alert_copy(a->action, sizeof a->action, ACTIONS[a->kind]);
    ek_alert_copy(a->evidence, sizeof a->evidence, detail);
    if (*detail && a->kind != EK_ALERT_MODEL_DRIFT) /* whose sentence is long */
        add(&line, ": %s", detail);
    add(&line, "; %s", a->action);
    ek_alert_copy(a->summary, sizeof a->summary, line.text);
}
