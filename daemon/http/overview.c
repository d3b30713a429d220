#include "daemon/http/overview.h"

#include "base/error.h"

#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { TEXT_BYTES = 1200 };

/* The pages, read. */
struct pages {
    json_t *findings, *plan, *ranks, *status, *ready;
};

static bool read_pages(struct pages *p, const struct ek_overview_of *of)
{
    *p = (struct pages){json_loads(of->findings, 0, NULL), json_loads(of->plan, 0, NULL),
                        json_loads(of->ranks, 0, NULL), json_loads(of->status, 0, NULL),
                        json_loads(of->ready, 0, NULL)};
    return p->findings && p->plan && p->ranks && p->status && p->ready;
}

static void release_pages(struct pages *p)
{
    json_decref(p->findings);
    json_decref(p->plan);
    json_decref(p->ranks);
    json_decref(p->status);
    json_decref(p->ready);
}

static const char *text_of(const json_t *o, const char *key)
{
    const char *text = json_string_value(json_object_get(o, key));
    return text ? text : "";
}

static bool says(const json_t *o, const char *key, const char *word)
{
    return !strcmp(text_of(o, key), word);
}

static double number_of(const json_t *o, const char *key)
{
    return json_number_value(json_object_get(o, key));
}

static json_t *sentence(const char *format, ...) __attribute__((format(printf, 1, 2)));

static json_t *sentence(const char *format, ...)
{
    char text[TEXT_BYTES];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    json_t *s = json_string(text);
    return s ? s : json_string("?"); /* a name was cut within a letter */
}

static bool is_confirmed(const json_t *finding)
{
    return !says(finding, "state", "suspected");
}

/* How far it has moved, for which comes first. */
static double gravity(const json_t *finding)
{
    double factor = number_of(finding, "factor"), share = number_of(finding, "share");
    double moved = factor > 0 ? fabs(log(factor)) : 1;
    return (is_confirmed(finding) ? 1000 : 0) + moved * (share > 0 ? share : 1);
}

static bool same_place(const json_t *a, const json_t *b)
{
    return json_equal(json_object_get(a, "feature"), json_object_get(b, "feature")) &&
           json_equal(json_object_get(a, "segment"), json_object_get(b, "segment"));
}

/* Of an array, what is about that place; NULL: nothing. */
static json_t *find_place(const json_t *all, const json_t *place)
{
    size_t i;
    json_t *one;
    json_array_foreach(all, i, one)
    {
        if (same_place(one, place))
            return one;
    }
    return NULL;
}

static json_t *doing_text(const char *feature, const json_t *doing)
{
    const char *mode = text_of(doing, "mode"), *action = text_of(doing, "action");
    const json_t *withdrawn = json_object_get(doing, "withdrawn");
    char what[TEXT_BYTES / 2];
    if (json_is_object(withdrawn))
        return sentence("nothing any more: the guardrail %s took the route of %s back",
                        text_of(withdrawn, "rail"), feature);
    if (!*action || !strcmp(action, "none") || !strcmp(action, "alert"))
        return sentence("nothing: it is only told");
    if (!strncmp(action, "route", strlen("route")))
        snprintf(what, sizeof what, "the model ranks these lists without the level of %s", feature);
    else
        snprintf(what, sizeof what, "the action on %s is %s", feature, action);
    if (!strcmp(mode, "enforce"))
        return sentence("%s", what);
    if (!strcmp(mode, "canary"))
        return sentence("%s, for %.4g%% of the queries so far", what, number_of(doing, "percent"));
    if (!strcmp(mode, "shadow"))
        return sentence("nothing goes out changed; beside the traffic %s", what);
    return sentence("nothing: it is observed; in enforce %s", what);
}

/* route: of the ranks; cell: of the plan; NULL where there is none. */
static json_t *doing_of(const json_t *finding, json_t *route, json_t *cell)
{
    json_t *from = route ? route : cell, *doing = json_object();
    const char *mode = from ? text_of(from, "mode") : "observe";
    json_object_set_new(doing, "action", json_string(text_of(from ? from : finding, "action")));
    json_object_set_new(doing, "mode", json_string(mode));
    json_t *percent = from ? json_object_get(from, "percent") : NULL;
    json_object_set(doing, "percent", percent ? percent : json_null());
    json_t *withdrawn = route ? json_object_get(route, "withdrawn") : NULL;
    json_object_set(doing, "withdrawn", withdrawn ? withdrawn : json_null());
    json_object_set_new(doing, "text", doing_text(text_of(finding, "feature"), doing));
    return doing;
}

/* What the lists would be like in the order they come in, beside that of the plan. */
static json_t *without_of(const json_t *route)
{
    json_t *moved = json_object_get(route, "moved"), *without;
    if (!json_is_object(moved))
        return json_null();
    without = json_copy(moved);
    json_object_set_new(
        without, "text",
        sentence("in the order they come in, an item of these lists stands %.2g places elsewhere "
                 "than the plan has it, and %.0f%% of the first ten are the same (%.0f lists)",
                 number_of(moved, "places"), 100 * number_of(moved, "top10_overlap"),
                 number_of(moved, "lists")));
    return without;
}

static json_t *problem_of(const struct pages *p, json_t *finding)
{
    static const char *const same[] = {
        "cause",      "feature",     "members", "segment",  "state",       "class",  "factor",
        "factor_low", "factor_high", "share",   "since_ms", "since_query", "episode"};
    json_t *problem = json_object();
    json_t *route = find_place(json_object_get(p->ranks, "routes"), finding);
    json_t *cell = find_place(json_object_get(p->plan, "cells"), finding);
    for (size_t i = 0; i < sizeof same / sizeof *same; i++) {
        json_t *value = json_object_get(finding, same[i]);
        json_object_set(problem, same[i], value ? value : json_null());
    }
    json_object_set(problem, "what", json_object_get(finding, "text"));
    json_object_set_new(problem, "doing", doing_of(finding, route, cell));
    json_object_set_new(problem, "without", without_of(route));
    return problem;
}

/* Whether another finding speaks for this one: the gravest of a cause, the first of equals. */
static bool is_spoken_for(const json_t *findings, size_t number, const json_t *finding)
{
    size_t i;
    json_t *other, *cause = json_object_get(finding, "cause");
    json_array_foreach(findings, i, other)
    {
        if (i == number || !json_is_string(cause) ||
            !json_equal(cause, json_object_get(other, "cause")))
            continue;
        double more = gravity(other) - gravity(finding);
        if (more > 0 || (!(more < 0) && i < number))
            return true;
    }
    return false;
}

/* The gravest first. */
static void put(json_t *problems, const json_t *finding, json_t *problem)
{
    size_t at = 0;
    while (at < json_array_size(problems) &&
           gravity(json_array_get(problems, at)) >= gravity(finding))
        at++;
    json_array_insert_new(problems, at, problem);
}

static json_t *problems_of(const struct pages *p)
{
    size_t i;
    json_t *finding, *problems = json_array();
    json_array_foreach(p->findings, i, finding)
    {
        if (!is_spoken_for(p->findings, i, finding))
            put(problems, finding, problem_of(p, finding));
    }
    return problems;
}

struct summary {
    const char *level;
    size_t confirmed, suspected;
    bool acts;
    double since_ms; /* NaN: since no time */
};

static struct summary sum_up(const struct pages *p, const json_t *problems)
{
    struct summary s = {.since_ms = NAN};
    size_t i;
    json_t *one;
    json_array_foreach(problems, i, one)
    {
        const json_t *doing = json_object_get(one, "doing");
        s.confirmed += is_confirmed(one);
        s.suspected += !is_confirmed(one);
        s.acts |= (says(doing, "mode", "enforce") || says(doing, "mode", "canary")) &&
                  !json_is_object(json_object_get(doing, "withdrawn"));
        if (is_confirmed(one) || !s.confirmed)
            s.since_ms = fmin(s.since_ms, number_of(one, "since_ms"));
    }
    const json_t *paused = json_object_get(p->status, "paused");
    s.level = json_is_object(paused)                              ? "paused"
              : !json_is_true(json_object_get(p->ready, "ready")) ? "not_ready"
              : s.confirmed                                       ? s.acts ? "acting" : "found"
              : s.suspected                                       ? "watching"
                                                                  : "fine";
    if (json_is_object(paused))
        s.since_ms = number_of(paused, "since_ms");
    return s;
}

static json_t *summary_text(const struct pages *p, const struct summary *s, const json_t *problems)
{
    const json_t *first = json_array_get(problems, 0);
    if (!strcmp(s->level, "paused"))
        return sentence("paused: every list goes out as it came");
    if (!strcmp(s->level, "not_ready"))
        return sentence("not ready: %s", text_of(p->ready, "reason"));
    if (!s->confirmed && !s->suspected)
        return sentence("nothing is wrong: all features look like training");
    if (!s->confirmed)
        return sentence("%zu suspected, none is confirmed", s->suspected);
    return sentence("%s%s. What is done: %s",
                    s->confirmed > 1 ? "several things are wrong, first of all: " : "",
                    text_of(first, "what"), text_of(json_object_get(first, "doing"), "text"));
}

static int add_text(const char *text, size_t length, void *out)
{
    return ek_buf_add(out, text, length);
}

static json_t *overview_of(const struct pages *p, const struct ek_overview_of *of)
{
    json_t *o = json_object(), *problems = problems_of(p);
    struct summary s = sum_up(p, problems);
    json_object_set_new(o, "level", json_string(s.level));
    json_object_set_new(o, "text", summary_text(p, &s, problems));
    json_object_set_new(o, "since_ms",
                        isnan(s.since_ms) ? json_null() : json_integer((json_int_t)s.since_ms));
    json_object_set_new(o, "features", json_integer(of->features));
    json_object_set_new(o, "cells", json_integer(of->cells));
    static const char *const of_status[] = {"observed_queries", "paused", "plan_version"};
    for (size_t i = 0; i < sizeof of_status / sizeof *of_status; i++)
        json_object_set(o, of_status[i], json_object_get(p->status, of_status[i]));
    json_object_set(o, "ready", json_object_get(p->ready, "ready"));
    json_object_set(o, "reason", json_object_get(p->ready, "reason"));
    json_object_set_new(o, "problems", problems);
    return o;
}

int ek_overview_write(const struct ek_overview_of *of, struct ek_buf *out)
{
    struct pages p;
    int rc = EK_EFORMAT;
    if (read_pages(&p, of)) {
        json_t *o = overview_of(&p, of);
        rc =
            json_dump_callback(o, add_text, out, JSON_COMPACT) ? EK_ENOMEM : ek_buf_text(out, "\n");
        json_decref(o);
    }
    release_pages(&p);
    return rc;
}
