/* The consumer: messages in, contiguous offsets committed.
 *
 * Every message comes with a ticket; its offset is committed once the ticket and all before it in
 * its partition are done (daemon/lanes.h). When partitions are taken away in good order the hook
 * drains what is in flight first, then the offsets are committed; when they are lost nothing is.
 * Assignment is eager `range` unless the configuration says otherwise.
 * Owner: the caller. Threads: one, except ek_input_topic_missing.
 */
#ifndef EK_DAEMON_KAFKA_INPUT_H
#define EK_DAEMON_KAFKA_INPUT_H

#include "daemon/config.h"
#include "daemon/lanes.h"
#include "daemon/log.h"
#include "daemon/metrics.h"

struct ek_input;

struct ek_message {
    const void *bytes; /* NULL for a value that is null */
    size_t length;
    int64_t timestamp_ms; /* -1 unknown */
    const char *topic;
    int partition;
    int64_t offset;
    struct ek_ticket *ticket; /* holds the message alive; finish it with ek_lanes_done */
};

struct ek_input_hooks {
    void *context;
    /* Wait until every open lane is idle, at most wait_ms. */
    void (*drain)(void *context, int64_t wait_ms);
    /* Partitions were assigned or taken away. */
    void (*assigned)(void *context, bool ready, int partitions);
};

int ek_input_new(struct ek_input **out, const struct ek_config *c, struct ek_lanes *lanes,
                 const struct ek_input_hooks *hooks, struct ek_metrics *metrics, struct ek_log *log,
                 struct ek_error *e);

/* Joins the group. */
int ek_input_subscribe(struct ek_input *in, struct ek_error *e);

/* The next message within wait_ms, if any: *got tells. Fails only for good (fatal). */
int ek_input_poll(struct ek_input *in, int wait_ms, struct ek_message *m, bool *got,
                  struct ek_error *e);

/* Stops fetching, or goes on; polling keeps the membership alive meanwhile. */
void ek_input_pause(struct ek_input *in, bool pause);

/* Commits what moved since the last time, without waiting. */
void ek_input_commit(struct ek_input *in);
/* Asks, when it is time to, which input topics are there. */
void ek_input_look_for_topics(struct ek_input *in);
/* True when topic `number` of the configuration was not there at the last look. Any thread. */
bool ek_input_topic_missing(const struct ek_input *in, size_t number);
/* Updates the lags shown in the metrics. */
void ek_input_lags(struct ek_input *in);

/* Leaves the group in good order (the hook drains, offsets are committed), within wait_ms. */
void ek_input_close(struct ek_input *in, int64_t wait_ms);
void ek_input_free(struct ek_input *in);

#endif
