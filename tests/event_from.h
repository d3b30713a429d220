/* Events for tests, built from JSON. Missing keys get the value for unknown. */
#ifndef EK_TESTS_EVENT_FROM_H
#define EK_TESTS_EVENT_FROM_H

#include "guard/event.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { EVENT_LIST_MAX = 64 };

static inline const char *event_text(const json_t *o, const char *key)
{
    return json_string_value(json_object_get(o, key));
}

static inline bool event_says(const json_t *o, const char *key, const char *word)
{
    const char *text = event_text(o, key);
    return text && !strcmp(text, word);
}

static inline double event_number(const json_t *o, const char *key)
{
    const json_t *value = json_object_get(o, key);
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

static inline int64_t event_integer(const json_t *o, const char *key)
{
    return (int64_t)json_integer_value(json_object_get(o, key));
}

static inline struct ek_event_place event_place(json_t *o)
{
    void *pair = json_object_iter(json_object_get(o, "segment"));
    const char *feature = event_text(o, "feature");
    struct ek_event_place at = {.feature = feature ? feature : ""};
    if (pair) {
        const char *value = json_string_value(json_object_iter_value(pair));
        at.dimension = json_object_iter_key(pair);
        at.value = value && strcmp(value, EK_SEGMENT_OTHER) != 0 ? value : NULL;
    }
    return at;
}

static inline int event_name(const json_t *o, const char *key, int count,
                             const char *(*name)(int number), int none)
{
    for (int i = 0; i < count; i++)
        if (event_says(o, key, name(i)))
            return i;
    return none;
}

static inline const char *event_state_name(int i)
{
    return ek_finding_state_name((enum ek_finding_state)i);
}

static inline const char *event_bound_name(int i)
{
    return i == EK_BOUND_NONE ? "" : ek_bound_name((enum ek_bound)i);
}

static inline const char *event_did_name(int i)
{
    return ek_decision_kind_name((enum ek_decision_kind)i);
}

static inline const char *event_rail_name(int i)
{
    return i == EK_GUARDRAIL_NONE ? "" : ek_guardrail_name((enum ek_guardrail)i);
}

static inline enum ek_action event_action(const json_t *o)
{
    const char *text = event_text(o, "mitigation");
    int action = text ? ek_action_parse(text) : -1;
    return action < 0 ? EK_ACT_NONE : (enum ek_action)action;
}

static inline enum ek_mode event_mode(const json_t *o)
{
    const char *text = event_text(o, "mode");
    int mode = text ? ek_mode_parse(text) : -1;
    return mode < 0 ? EK_MODE_ENFORCE : (enum ek_mode)mode;
}

static inline enum ek_class event_class(const json_t *o)
{
    const char *text = event_text(o, "class");
    int class = text ? ek_class_parse(text) : -1;
    return class < 0 ? EK_CLASS_NONE : (enum ek_class) class;
}

/* Number of an episode name such as "price-17". */
static inline uint32_t event_episode(const char *text)
{
    const char *number = text ? strrchr(text, '-') : NULL;
    return number ? (uint32_t)strtoul(number + 1, NULL, 10) : 0;
}

static inline int event_list(const json_t *list, const char **out, int most)
{
    int count = 0;
    for (size_t i = 0; i < json_array_size(list) && count < most; i++)
        out[count++] = json_string_value(json_array_get(list, i));
    return count;
}

static inline void event_finding(struct ek_event_finding *f, json_t *o)
{
    static const char *members[EVENT_LIST_MAX];
    static const char word[] = "query_feature:";
    const char *cause = event_text(o, "incident_id"), *text = event_text(o, "text");
    f->at = event_place(o);
    f->state = (enum ek_finding_state)event_name(o, "state", EK_RECOVERED + 1, event_state_name,
                                                 EK_SUSPECTED);
    f->number = event_episode(event_text(o, "finding_id"));
    f->incident = cause ? event_episode(cause) : (uint32_t)event_integer(o, "incident_id");
    f->since_query = (uint64_t)event_integer(o, "since_list");
    f->since_ms = event_integer(o, "since_ms");
    f->class = event_class(o);
    f->factor = event_number(o, "factor");
    f->factor_low = event_number(o, "factor_low");
    f->factor_high = event_number(o, "factor_high");
    f->fraction = event_number(o, "fraction");
    f->value_fraction = event_number(o, "value_fraction");
    f->trained_fraction = event_number(o, "trained_fraction");
    f->spread_ratio = event_number(o, "spread_ratio");
    f->exponent = event_number(o, "exponent");
    f->units = event_list(json_object_get(o, "units"), f->unit, 1 + EK_UNIT_MATCHES);
    json_t *matches = json_object_get(o, "unit_matches");
    for (int i = 0; i < f->units && matches; i++) {
        f->ratio[i] = event_number(json_array_get(matches, (size_t)i), "ratio");
        f->match[i] = event_text(json_array_get(matches, (size_t)i), "match");
    }
    if (f->units && !strncmp(f->unit[0], word, sizeof word - 1))
        f->query_feature = f->unit[0] + sizeof word - 1;
    f->trigger = event_text(o, "trigger");
    f->reason = event_text(o, "reason");
    f->action = event_action(o);
    f->mode = event_mode(o);
    f->paused = json_is_true(json_object_get(o, "paused"));
    f->no_model = json_is_true(json_object_get(o, "no_model"));
    f->blocked_by =
        (enum ek_bound)event_name(o, "blocked_by", EK_BOUNDS_ALL, event_bound_name, EK_BOUND_NONE);
    f->members = event_list(json_object_get(o, "features"), members, EVENT_LIST_MAX);
    f->member = members;
    f->text = text ? text : "";
}

static inline void event_plan(struct ek_event_plan *p, json_t *o)
{
    static struct ek_event_entry entries[EVENT_LIST_MAX];
    const json_t *cells = json_object_get(o, "entries");
    p->version = (uint64_t)event_integer(o, "version");
    p->entry = entries;
    for (size_t i = 0; i < json_array_size(cells) && p->count < EVENT_LIST_MAX; i++) {
        json_t *cell = json_array_get(cells, i);
        double percent = event_number(cell, "percent");
        entries[p->count++] = (struct ek_event_entry){.at = event_place(cell),
                                                      .action = event_action(cell),
                                                      .mode = event_mode(cell),
                                                      .percent = isnan(percent) ? 100 : percent};
    }
}

static inline void event_decision(struct ek_decision_record *m, json_t *o)
{
    struct ek_event_place at = event_place(o);
    *m = ek_decision_get((enum ek_decision_kind)event_name(o, "type", EK_DECISION_KINDS,
                                                           event_did_name, EK_DECIDED_STEP));
    m->number = (uint64_t)event_integer(o, "sequence");
    m->query = (uint64_t)event_integer(o, "list");
    m->time_ms = event_integer(o, "time_ms");
    m->actor = event_text(o, "actor");
    m->reason = event_text(o, "reason");
    m->action = event_action(o);
    m->after = (uint64_t)event_integer(json_object_get(o, "plan"), "after");
    m->request = event_text(o, "request");
    m->feature = event_text(o, "feature");
    m->dimension = at.dimension;
    m->value = at.value;
    m->guardrail = (enum ek_guardrail)event_name(o, "guardrail", EK_GUARDRAIL_COUNT,
                                                 event_rail_name, EK_GUARDRAIL_NONE);
    m->observed = event_number(o, "observed");
    m->limit = event_number(o, "limit");
}

static inline void event_fleet(struct ek_event_fleet *f, json_t *o)
{
    f->state = event_text(o, "state");
    f->instance = event_text(o, "instance");
    f->text = event_text(o, "text");
    f->name =
        event_says(o, "state", "duplicate_instance") || event_says(o, "state", "instance_unique");
    f->wrong = event_says(o, "state", "plan_stale") || event_says(o, "state", "duplicate_instance");
}

static inline void event_reload(struct ek_event_reload *r, json_t *o)
{
    const json_t *first = json_array_get(json_object_get(o, "errors"), 0);
    r->done = event_says(o, "result", "done");
    r->file = event_text(first, "file");
    r->message = event_text(first, "message");
    r->line = (long)event_integer(first, "line");
    r->column = (long)event_integer(first, "column");
    r->outcome = "\"errors\":[]";
}

static inline void event_input(struct ek_event_input *i, json_t *o)
{
    i->condition = event_text(o, "condition");
    i->instance = event_text(o, "instance");
    i->text = event_text(o, "text");
    i->topic = event_text(o, "topic");
    i->partition = (int)event_integer(o, "partition");
    i->from = event_integer(o, "from");
    i->count = event_integer(o, "count");
    i->active = event_says(o, "state", "begun");
}

static inline void event_drift(struct ek_event_model_drift *d, json_t *o)
{
    const char *text = event_text(o, "text");
    d->view.state = event_says(o, "state", "drifted") ? EK_AGREEMENT_DRIFTED : EK_AGREEMENT_HOLDS;
    d->view.since_query = (uint64_t)event_integer(o, "since_list");
    d->text = text ? text : "";
}

static inline enum ek_event_kind event_kind(const json_t *o)
{
    for (int i = EK_EVENT_FINDING; i < EK_EVENT_KINDS; i++)
        if (event_says(o, "event", ek_event_kind_name((enum ek_event_kind)i)))
            return (enum ek_event_kind)i;
    return EK_EVENT_TEXT;
}

/* Return the event; valid until the next call. Invalid JSON gives kind EK_EVENT_TEXT. */
static inline const struct ek_event *event_from(const char *json)
{
    static json_t *o;
    static struct ek_event v;
    json_decref(o);
    o = json_loads(json, 0, NULL);
    memset(&v, 0, sizeof v);
    v.kind = event_kind(o);
    v.query = (uint64_t)event_integer(o, "list");
    v.time_ms = event_integer(o, "time_ms");
    if (v.kind == EK_EVENT_TEXT)
        v.text = json;
    else if (v.kind == EK_EVENT_FINDING)
        event_finding(&v.finding, o);
    else if (v.kind == EK_EVENT_PLAN)
        event_plan(&v.plan, o);
    else if (v.kind == EK_EVENT_DECISION)
        event_decision(&v.decision, o);
    else if (v.kind == EK_EVENT_LIMIT)
        v.limit.bound =
            (enum ek_bound)event_name(o, "limit", EK_BOUNDS_ALL, event_bound_name, EK_BOUND_EVENTS);
    else if (v.kind == EK_EVENT_MODEL_DRIFT)
        event_drift(&v.model_drift, o);
    else if (v.kind == EK_EVENT_FLEET)
        event_fleet(&v.fleet, o);
    else if (v.kind == EK_EVENT_INPUT)
        event_input(&v.input, o);
    else
        event_reload(&v.reload, o);
    return &v;
}

#endif
