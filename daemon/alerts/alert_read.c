#include "daemon/alerts/alert_read.h"

#include "base/error.h"
#include "daemon/alerts/alert_text.h"
#include "yaml/json_parse.h"
#include "guard/event.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

bool ek_alert_concerns(const char *json)
{
    static const char *const kinds[] = {"finding", "decision",    "limit",
                                        "reload",  "model_drift", "fleet"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (ek_event_is(json, kinds[i]))
            return true;
    return false;
}

static const char *text_of(const json_t *event, const char *key)
{
    const char *text = json_string_value(json_object_get(event, key));
    return text ? text : "";
}

static bool says(const json_t *event, const char *key, const char *word)
{
    return !strcmp(text_of(event, key), word);
}

static double number_of(const json_t *event, const char *key)
{
    const json_t *value = json_object_get(event, key);
    return json_is_number(value) ? json_number_value(value) : NAN;
}

static int64_t time_of(const json_t *event, const char *key)
{
    return (int64_t)json_integer_value(json_object_get(event, key));
}

static void take_place(struct ek_alert *a, const json_t *event)
{
    void *pair = json_object_iter(json_object_get(event, "segment"));
    enum { HALF_BYTES = 201 };
    char key[HALF_BYTES], text[HALF_BYTES], both[2 * HALF_BYTES];
    ek_alert_copy(a->feature, sizeof a->feature, text_of(event, "feature"));
    if (!pair) {
        snprintf(a->segment, sizeof a->segment, "all");
        return;
    }
    const char *value = json_string_value(json_object_iter_value(pair));
    ek_alert_copy(key, sizeof key, json_object_iter_key(pair));
    ek_alert_copy(text, sizeof text, value ? value : "");
    snprintf(both, sizeof both, "%s=%s", key, text);
    ek_alert_copy(a->segment, sizeof a->segment, both);
}

/* Its own feature is among the members once it is confirmed. */
static void take_members(struct ek_alert *a, const json_t *event)
{
    char all[2 * EK_ALERT_TEXT_BYTES] = "";
    size_t i, length = 0;
    json_t *member;
    a->features_count = 0;
    json_array_foreach(json_object_get(event, "members"), i, member)
    {
        const char *name = json_string_value(member);
        if (!name)
            continue;
        a->features_count++;
        if (length < sizeof all)
            length += (size_t)snprintf(all + length, sizeof all - length, "%s%s",
                                       length ? ", " : "", name);
    }
    if (!a->features_count)
        a->features_count = 1;
    ek_alert_copy(a->features, sizeof a->features, *all ? all : a->feature);
}

/* "query_feature:stay_nights", when it is the likeliest. */
static const char *query_feature_of(const json_t *event)
{
    static const char word[] = "query_feature:";
    const char *unit = json_string_value(json_array_get(json_object_get(event, "units"), 0));
    return unit && !strncmp(unit, word, sizeof word - 1) ? unit + sizeof word - 1 : "";
}

static void read_open_finding(struct ek_alert *a, const json_t *event)
{
    take_members(a, event);
    ek_alert_copy(a->class, sizeof a->class, text_of(event, "class"));
    a->factor = number_of(event, "factor");
    a->factor_low = number_of(event, "factor_low");
    a->factor_high = number_of(event, "factor_high");
    a->share = number_of(event, "share");
    a->since_ms = time_of(event, "since_ms");
    const struct ek_alert_finding f = {.action = text_of(event, "action"),
                                       .mode = text_of(event, "mode"),
                                       .limit = text_of(event, "limit"),
                                       .text = text_of(event, "text"),
                                       .query_feature = query_feature_of(event),
                                       .exponent = number_of(event, "exponent"),
                                       .spread_ratio = number_of(event, "spread_ratio")};
    ek_alert_tell_drift(a, &f);
}

static void read_finding(struct ek_alert_news *n, const json_t *event)
{
    struct ek_alert *a = &n->alert;
    a->kind = EK_ALERT_DRIFT;
    take_place(a, event);
    ek_alert_copy(n->episode, sizeof n->episode, text_of(event, "episode"));
    ek_alert_copy(n->cause, sizeof n->cause, text_of(event, "cause"));
    ek_alert_copy(n->limit, sizeof n->limit, text_of(event, "limit"));
    if (says(event, "state", "confirmed") || says(event, "state", "updated")) {
        n->what = EK_ALERT_FINDING_OPEN;
        read_open_finding(a, event);
    } else if (says(event, "state", "dismissed") || says(event, "state", "recovered")) {
        n->what = EK_ALERT_FINDING_CLOSED;
    }
}

static void fires(struct ek_alert_news *n, enum ek_alert_kind kind, const char *detail)
{
    n->what = EK_ALERT_FIRES;
    n->alert.kind = kind;
    ek_alert_tell_other(&n->alert, detail);
}

static void ends(struct ek_alert_news *n, enum ek_alert_kind kind)
{
    n->what = EK_ALERT_ENDS;
    n->alert.kind = kind;
}

static void read_withdrawal(struct ek_alert_news *n, const json_t *event)
{
    char detail[EK_ALERT_TEXT_BYTES];
    double figure = number_of(event, "figure"), limit = number_of(event, "limit");
    const char *rail = text_of(event, "rail");
    take_place(&n->alert, event);
    if (isfinite(figure) && isfinite(limit))
        snprintf(detail, sizeof detail, "%.60s is %.4g, the rules allow %.4g", rail, figure, limit);
    else
        ek_alert_copy(detail, sizeof detail, text_of(event, "why"));
    fires(n, EK_ALERT_ROUTE_WITHDRAWN, detail);
}

/* Whatever is decided about a route after it was withdrawn is the end of that. */
static bool is_about_a_route(const json_t *event)
{
    static const char *const words[] = {"route", "relapse", "resume", "pin", "accept"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (says(event, "what", words[i]))
            return *text_of(event, "feature") != 0;
    return false;
}

static void read_decision(struct ek_alert_news *n, const json_t *event)
{
    char detail[EK_ALERT_TEXT_BYTES];
    const char *who = text_of(event, "who"), *why = text_of(event, "why");
    bool whole = !*text_of(event, "feature");
    if (says(event, "what", "withdraw")) {
        read_withdrawal(n, event);
    } else if (is_about_a_route(event)) {
        take_place(&n->alert, event);
        ends(n, EK_ALERT_ROUTE_WITHDRAWN);
    } else if (says(event, "what", "pause") && whole) {
        snprintf(detail, sizeof detail, "%s%.200s%s%.500s", *who ? "by " : "", who,
                 *who && *why ? ", " : "", why);
        fires(n, EK_ALERT_PAUSED, detail);
    } else if (says(event, "what", "resume") && whole) {
        ends(n, EK_ALERT_PAUSED);
    }
}

static void read_reload(struct ek_alert_news *n, const json_t *event)
{
    char detail[EK_ALERT_TEXT_BYTES];
    const json_t *first = json_array_get(json_object_get(event, "faults"), 0);
    if (says(event, "result", "done")) {
        ends(n, EK_ALERT_RELOAD_REFUSED);
        return;
    }
    const char *file = text_of(first, "file");
    long line = (long)time_of(first, "line"), column = (long)time_of(first, "column");
    if (*file && line > 0)
        snprintf(detail, sizeof detail, "%.200s:%ld:%ld: %.500s", file, line, column,
                 text_of(first, "message"));
    else
        snprintf(detail, sizeof detail, "%.200s%s%.500s", file, *file ? ": " : "",
                 text_of(first, "message"));
    fires(n, EK_ALERT_RELOAD_REFUSED, detail);
}

static void read_limit(struct ek_alert_news *n, const json_t *event)
{
    ek_alert_copy(n->alert.limit, sizeof n->alert.limit, text_of(event, "limit"));
    fires(n, EK_ALERT_LIMIT_REACHED, text_of(event, "text"));
}

static void read_drift(struct ek_alert_news *n, const json_t *event)
{
    if (says(event, "state", "drifted"))
        fires(n, EK_ALERT_MODEL_DRIFT, text_of(event, "text"));
    else
        ends(n, EK_ALERT_MODEL_DRIFT);
}

static void read_fleet(struct ek_alert_news *n, const json_t *event)
{
    bool name = says(event, "state", "name_shared") || says(event, "state", "name_free");
    enum ek_alert_kind kind = name ? EK_ALERT_FLEET_NAME_SHARED : EK_ALERT_FLEET_CUT_OFF;
    ek_alert_copy(n->alert.instance, sizeof n->alert.instance, text_of(event, "instance"));
    if (says(event, "state", "cut_off") || says(event, "state", "name_shared"))
        fires(n, kind, text_of(event, "text"));
    else
        ends(n, kind);
}

static void read_event(struct ek_alert_news *n, const json_t *event)
{
    static const struct {
        const char *kind;
        void (*read)(struct ek_alert_news *n, const json_t *event);
    } readers[] = {{"finding", read_finding}, {"decision", read_decision},
                   {"limit", read_limit},     {"reload", read_reload},
                   {"fleet", read_fleet},     {"model_drift", read_drift}};
    n->alert.since_ms = time_of(event, "time_ms");
    n->alert.firing = true;
    n->alert.factor = n->alert.factor_low = n->alert.factor_high = n->alert.share = NAN;
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++)
        if (says(event, "event", readers[i].kind))
            readers[i].read(n, event);
}

int ek_alert_read(struct ek_alert_news *out, const char *json)
{
    json_error_t why;
    json_t *event;
    int rc = ek_json_parse(&event, json, strlen(json), 0, &why);
    if (rc)
        return rc;
    *out = (struct ek_alert_news){.what = EK_ALERT_NO_NEWS};
    read_event(out, event);
    json_decref(event);
    return EK_OK;
}
