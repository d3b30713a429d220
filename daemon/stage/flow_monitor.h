/* Conditions of the message flow: undecodable input, silence, a stall, lost messages, a helper that
 * is away, fields that no message has. For /ready, status, the page, metrics and alerts.
 *
 * Workers add messages, the reading thread adds progress, and a thread of its own evaluates the
 * conditions once a second, so that a blocked stage is reported too. Times are monotonic
 * milliseconds. Threads: any, but for _new and _free.
 */
#ifndef EK_DAEMON_STAGE_FLOW_MONITOR_H
#define EK_DAEMON_STAGE_FLOW_MONITOR_H

#include "base/buf.h"
#include "base/error.h"
#include "lists/list.h"
#include "rules/rules.h"

#include <stdbool.h>
#include <stdint.h>

struct ek_alerts;
struct ek_guard_service;
struct ek_log;

enum {
    EK_FLOW_STALL_MS = 10000, /* without output while the input has more */
    EK_FLOW_SILENCE_MIN_MS = 60000,
    EK_FLOW_SILENCE_NEW_MS = 3600000, /* at least, before a gap is usual */
    EK_FLOW_SILENCE_GAPS = 30,        /* usual gaps between messages without one */
    EK_FLOW_USUAL_MESSAGES = 100,     /* before a gap is usual */
    EK_FLOW_UNMAPPED_LISTS = 100,     /* lists without a field that is expected */
    EK_FLOW_PARTLY_MESSAGES =
        10, /* undecodable ones among the newest, and EK_FLOW_PARTLY_PERCENT */
    EK_FLOW_PARTLY_PERCENT = 1,
    EK_FLOW_LOST_MS = 3600000, /* how long a loss stays a condition */
    EK_FLOW_TEXT_BYTES = 600
};

enum ek_flow_condition {
    EK_FLOW_UNDECODABLE, /* nothing decoded since the start, or most of the newest messages */
    EK_FLOW_PARTLY_UNDECODABLE, /* fewer, but not only single ones */
    EK_FLOW_SILENT,             /* no message for much longer than usual, or since the start */
    EK_FLOW_STALLED,            /* no output while the input has more */
    EK_FLOW_UNREACHABLE,        /* brokers do not answer, or refuse this client */
    EK_FLOW_TOPIC_MISSING,      /* an input topic does not exist */
    EK_FLOW_MESSAGES_LOST,      /* the log dropped messages before they were read */
    EK_FLOW_DEGRADED,           /* a helper is away, and the flow continues without it */
    EK_FLOW_UNMAPPED,           /* no list has a field that rules or configuration name */
    EK_FLOW_CONDITIONS
};

struct ek_flow_state {
    bool active;
    int64_t since_ms;
    char text[EK_FLOW_TEXT_BYTES]; /* "" unless active */
};

struct ek_flow_view {
    struct ek_flow_state condition[EK_FLOW_CONDITIONS];
    uint64_t decoded, undecodable, lost;
    int64_t message_age_ms;                /* -1: no message since the start */
    bool never_decoded;                    /* messages came, and none could be read */
    char first_reason[EK_FLOW_TEXT_BYTES]; /* of the newest undecodable messages, or "" */
    char unreadable[EK_UNREADABLE_BYTES];  /* reason that an optional field counts as absent */
    char unmapped[EK_FLOW_TEXT_BYTES];     /* "segment bucket, time"; or "" */
};

/* Progress of a stage. */
struct ek_flow_progress {
    uint64_t consumed, handled; /* messages read; finished, with output or without */
    uint64_t in_flight;
    int64_t lag; /* -1: unknown */
    int partitions;
};

struct ek_flow_monitor;

/* Return the name of a condition, a static string: "undecodable", "partly_undecodable", "silent",
 * "stalled", "unreachable", "topic_missing", "messages_lost", "degraded" or "unmapped". */
const char *ek_flow_condition_name(enum ek_flow_condition which);

/* Create a monitor in which no condition holds. silence_ms: time without a message that counts as
 * silence; 0: by the usual gap. forwards: messages are forwarded, not only observed. copies_to:
 * topic of the copies of undecodable messages, or NULL; it must outlive the monitor. Return NULL if
 * out of memory. */
struct ek_flow_monitor *ek_flow_monitor_new(int64_t silence_ms, bool forwards,
                                            const char *copies_to, int64_t now_ms);
void ek_flow_monitor_free(struct ek_flow_monitor *m);

/* Fields that messages should have. */
struct ek_flow_fields {
    const struct ek_rules *rules; /* which name dimensions; NULL: none */
    bool time, scores;
    int query_features; /* first query features of a list, one of which should have a value */
};

/* Set the fields that messages should have. The names are copied. Call it also after a reload;
 * known fields stay known. */
void ek_flow_monitor_expect(struct ek_flow_monitor *m, const struct ek_flow_fields *fields);

/* Add a decoded list, which is not kept. has_time: the message has its time. */
void ek_flow_monitor_add_list(struct ek_flow_monitor *m, const struct ek_list *q, bool has_time);
/* Count an undecodable message. Position and reason are copied, unless those of another one of the
 * newest messages are present. */
void ek_flow_monitor_add_undecodable(struct ek_flow_monitor *m, const char *topic, int partition,
                                     int64_t offset, const char *reason);
/* Count offsets from .. to - 1 of a partition as gone before they were read. */
void ek_flow_monitor_add_loss(struct ek_flow_monitor *m, const char *topic, int partition,
                              int64_t from, int64_t to, int64_t now_ms);
/* Set a condition that others observe (unreachable, topic_missing, degraded) with its copied text,
 * or clear it (text NULL). */
void ek_flow_monitor_set(struct ek_flow_monitor *m, enum ek_flow_condition which, const char *text,
                         int64_t now_ms);
/* Add the progress. The reading thread calls it in each step. */
void ek_flow_monitor_add_progress(struct ek_flow_monitor *m, const struct ek_flow_progress *p,
                                  int64_t now_ms);

/* Evaluate the conditions. One thread, once a second. */
void ek_flow_monitor_evaluate(struct ek_flow_monitor *m, int64_t now_ms);
/* Set *out to the current view at the monotonic time now_ms. Any thread. */
void ek_flow_monitor_get(struct ek_flow_monitor *m, int64_t now_ms, struct ek_flow_view *out);
/* Return the most serious condition, "ok", or "no_data" before the first message; a static
 * string. */
const char *ek_flow_state_name(const struct ek_flow_view *v);
/* Return the reason of that condition, or "". */
const char *ek_flow_state_text(const struct ek_flow_view *v);
/* Append the active conditions with their reasons as a JSON array. Return 0 or EK_ENOMEM. */
int ek_flow_conditions_json(const struct ek_flow_view *v, int64_t now_ms, struct ek_buf *out);
/* Return whether a segment dimension that the rules name was in no list yet. */
bool ek_flow_monitor_lacks_segment(const struct ek_flow_monitor *m);

/* Append the view at the monotonic time now_ms as a JSON object. Return 0 or EK_ENOMEM. */
int ek_flow_monitor_json(struct ek_flow_monitor *m, int64_t now_ms, struct ek_buf *out);
/* Append the metric families at the monotonic time now_ms. Return 0 or EK_ENOMEM. */
int ek_flow_monitor_metrics(struct ek_flow_monitor *m, int64_t now_ms, struct ek_buf *out);

/* Thread that evaluates the conditions once a second and reports each change: a log line, an event,
 * an alert. It takes the guard's lock only after log and alerts, so that a blocked worker is
 * reported too. */
struct ek_flow_watch;

struct ek_flow_watch_tools { /* must outlive the thread */
    struct ek_flow_monitor *flow;
    struct ek_guard_service *guard;
    struct ek_alerts *alerts; /* may be NULL */
    struct ek_log *log;
    const char *instance; /* name in a fleet, or NULL */
    void *context;
    /* Called before each evaluation, to set conditions that others observe. */
    void (*look)(void *context, int64_t now_ms);
};

/* Start the thread; `tools` must outlive it. End it with ek_flow_watch_stop. Return 0, EK_ENOMEM,
 * or EK_EIO if it does not start. */
int ek_flow_watch_start(struct ek_flow_watch **out, const struct ek_flow_watch_tools *tools,
                        struct ek_error *e);
/* Stop the thread and free it; NULL is a no-op. The thread that started it. */
void ek_flow_watch_stop(struct ek_flow_watch *w);

#endif
