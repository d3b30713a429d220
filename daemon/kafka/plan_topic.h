/* Plan topic: one compacted JSON record per entry of the plan, for programs that apply it.
 *
 * A separate thread reads the topic once, then writes all entries, and a tombstone for each other
 * key. After that it writes changed entries, and a tombstone for each entry that ends. A topic that
 * is missing or refuses records is logged once, and everything is repeated until it takes them; the
 * stage does not wait for it. Threads: one, but for the callbacks, which the thread calls.
 */
#ifndef EK_DAEMON_KAFKA_PLAN_TOPIC_H
#define EK_DAEMON_KAFKA_PLAN_TOPIC_H

#include "base/error.h"
#include "daemon/base/log.h"
#include "daemon/base/metrics.h"
#include "daemon/config/config.h"
#include "guard/plan_json.h"

#include <stdbool.h>

struct ek_plan_topic;

struct ek_plan_topic_tools {
    const struct ek_config *config; /* with a plan topic */
    struct ek_metrics *metrics;
    struct ek_log *log;
    void *context;
    /* Copy the plan unless *out has it, as ek_plan_view_copy. */
    int (*copy)(void *context, struct ek_plan_document *out, bool *changed);
    /* Return whether this instance writes: it is the only one, or the leader, and has a plan. */
    bool (*is_writer)(void *context);
    /* The topic does not take records, because of `text`; NULL: it does. Called once a second. */
    void (*degraded)(void *context, const char *text);
};

/* Create producer and consumer, without waiting for a broker. The tools are copied; their objects
 * must outlive it. Return 0, EK_ENOMEM, or EK_ECONFIG for invalid properties of clients. */
int ek_plan_topic_new(struct ek_plan_topic **out, const struct ek_plan_topic_tools *tools,
                      struct ek_error *e);
/* Start the thread. Return 0, or EK_EIO if it does not start. */
int ek_plan_topic_start(struct ek_plan_topic *t, struct ek_error *e);
/* Stop the thread, within about a second. NULL is allowed. */
void ek_plan_topic_stop(struct ek_plan_topic *t);
/* Free the topic, after ek_plan_topic_stop. NULL is allowed. */
void ek_plan_topic_free(struct ek_plan_topic *t);

#endif
