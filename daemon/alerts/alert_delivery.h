/* Who is to be told of which alert, and when: the queue of what goes out, one per sink.
 *
 * It holds no messages but looks into the book, so that what is told is always the newest state of
 * an alert, and nothing is kept twice. Rules:
 *  - a new alert waits `wait_ms`, for others of its cause; so does an end, for it may come back;
 *  - news of one that was told before come EK_ALERT_PACE_MS after the last at the earliest;
 *  - with repeat_ms it is told again so long after the last time, while it fires;
 *  - of what failed nobody knows whether it arrived: the sink is told how it stands, whatever that
 *    is by then;
 *  - a sink has one message on its way at a time. After a failure it is tried again later and
 *    later, up to EK_ALERT_BACK_OFF_MAX_MS, or as it asks for; what it refuses is not sent again.
 * Pure: time is a parameter, now_ms a clock that only rises. Owner: the caller. Threads: one at a
 * time.
 */
#ifndef EK_DAEMON_ALERTS_ALERT_DELIVERY_H
#define EK_DAEMON_ALERTS_ALERT_DELIVERY_H

#include "daemon/alerts/alert_registry.h"

enum {
    EK_ALERT_PACE_MS = 60000,
    EK_ALERT_BACK_OFF_MAX_MS = 60000,
    EK_ALERT_RETRY_AFTER_MAX_MS = 600000
};

struct ek_alert_rule {
    enum ek_alert_severity least; /* less serious ones are not for this sink */
    bool by_key;       /* it knows an alert again by who it is: what is old may be told anew */
    int64_t repeat_ms; /* 0: never */
};

enum ek_alert_result { EK_ALERT_SENT, EK_ALERT_FAILED, EK_ALERT_REFUSED, EK_ALERT_RESULTS };

struct ek_alert_queue;

/* rules [sinks] are copied. NULL without memory. */
struct ek_alert_queue *ek_alert_queue_new(struct ek_alert_registry *book,
                                          const struct ek_alert_rule *rules, size_t sinks,
                                          int64_t wait_ms);
void ek_alert_queue_free(struct ek_alert_queue *q);

/* What this sink is to be told now, the longest due first; NULL: nothing, or it is busy. It is busy
 * from then on, until it is told what came of it. */
const struct ek_alert_entry *ek_alert_queue_next(struct ek_alert_queue *q, size_t sink,
                                                 int64_t now_ms);
/* From now on nothing waits for others of its cause, or for coming back: the process ends, and the
 * next one takes what it finds open for told. */
void ek_alert_queue_skip_waits(struct ek_alert_queue *q);
/* asked_ms: how long it asks to wait, 0 when it does not. */
void ek_alert_queue_finish(struct ek_alert_queue *q, size_t sink, enum ek_alert_result result,
                           int64_t asked_ms, int64_t now_ms);
/* Until the next is due, 0 when one is; -1: nothing is to come. */
int64_t ek_alert_queue_wait_ms(struct ek_alert_queue *q, int64_t now_ms);
/* Forgets what has ended and everybody knows. */
void ek_alert_queue_remove_ended(struct ek_alert_queue *q, int64_t now_ms);

struct ek_alert_backlog {
    size_t waiting;    /* messages that are due, a sink each; repetitions are none */
    int64_t oldest_ms; /* how long the first of them is due */
};
struct ek_alert_backlog ek_alert_queue_backlog(struct ek_alert_queue *q, int64_t now_ms);

#endif
