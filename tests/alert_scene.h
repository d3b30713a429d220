/* Alert registry with two sinks (Slack and Alertmanager), a clock, and events for it. */
#ifndef EK_TESTS_ALERT_SCENE_H
#define EK_TESTS_ALERT_SCENE_H

#include "daemon/alerts/alert_registry.h"
#include "daemon/alerts/alerts.h"
#include "tests/check.h"
#include "tests/event_from.h"

#include <stdio.h>
#include <string.h>

enum { WAIT_MS = 5000, SLACK = 0, MANAGER = 1, SINKS = 2, REPEAT_MS = 60000 };

struct scene {
    struct ek_alert_registry *book;
    struct ek_alert_queue *queue;
    int64_t now_ms;
};

static inline void begin(struct scene *s, size_t limit)
{
    static const struct ek_alert_rule rules[SINKS] = {
        [SLACK] = {.min_severity = EK_ALERT_INFO},
        [MANAGER] = {.min_severity = EK_ALERT_INFO, .deduplicates = true, .repeat_ms = REPEAT_MS}};
    s->now_ms = 1000000;
    s->book = ek_alert_registry_new(limit);
    s->queue = ek_alert_queue_new(s->book, rules, SINKS, WAIT_MS);
    ck_assert(s->book && s->queue);
}

static inline void end(struct scene *s)
{
    ek_alert_queue_free(s->queue);
    ek_alert_registry_free(s->book);
}

static inline struct ek_alert_times when(const struct scene *s)
{
    return (struct ek_alert_times){s->now_ms, 1790001200000 + s->now_ms};
}

static inline void hear_as(struct scene *s, const char *json, bool ours, bool recalled)
{
    struct ek_alert_update news;
    ek_alert_update_read(&news, event_from(json));
    ck_assert_int_eq(ek_alert_registry_add(s->book, &news, ours, recalled, when(s)), 0);
}

static inline void hear(struct scene *s, const char *json)
{
    hear_as(s, json, true, false);
}

struct finding {
    const char *feature, *state, *cause, *members, *action, *mode;
};

static inline const char *json_of(const struct finding *f)
{
    static char json[2000];
    snprintf(
        json, sizeof json,
        "{\"event\":\"finding\",\"finding_id\":\"%s-1\",\"state\":\"%s\",\"list\":1298,"
        "\"time_ms\":1790001121472,\"feature\":\"%s\",\"segment\":{\"arm\":\"B\"},"
        "\"class\":\"scale\",\"factor\":100.3,\"factor_low\":98.9,\"factor_high\":101.8,"
        "\"fraction\":1,\"spread_ratio\":1.002,\"units\":[\"cents\"],\"since_list\":1225,"
        "\"unit_matches\":[{\"unit\":\"cents\",\"ratio\":100,\"match\":\"fits\"}],"
        "\"since_ms\":1790001058400,\"mitigation\":\"%s\",\"mode\":\"%s\",\"incident_id\":\"%s\","
        "\"features\":[%s],\"text\":\"%s, arm=B: values are multiplied by 100.3 since list "
        "1225; looks like amounts in cents; action: route\"}",
        f->feature, f->state, f->feature, f->action ? f->action : "route",
        f->mode ? f->mode : "enforce", f->cause ? f->cause : "c-9",
        f->members ? f->members : "\"price\"", f->feature);
    return json;
}

static inline void price(struct scene *s, const char *state)
{
    hear(s, json_of(&(struct finding){.feature = "price", .state = state}));
}

/* Deliver every due alert to one sink. Return their number; set *last to the last one. */
static inline int told(struct scene *s, size_t sink, struct ek_alert *last)
{
    const struct ek_alert_entry *e;
    int count = 0;
    while ((e = ek_alert_queue_next(s->queue, sink, s->now_ms))) {
        if (last)
            *last = e->alert;
        ek_alert_queue_finish(s->queue, sink, EK_ALERT_SENT, 0, s->now_ms);
        count++;
    }
    return count;
}

#define WITHDRAWN                                                                                  \
    "{\"event\":\"decision\",\"type\":\"rollback\",\"time_ms\":1,\"feature\":\"price\","           \
    "\"segment\":{\"arm\":\"B\"},\"guardrail\":\"rank_change_p95\"}"

static inline int firing(struct scene *s)
{
    int count = 0;
    for (size_t i = 0; i < ek_alert_registry_count(s->book); i++)
        count += ek_alert_registry_get(s->book, i)->alert.firing;
    return count;
}

#endif
