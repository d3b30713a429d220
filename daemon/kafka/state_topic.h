/* Checkpoint topic: handle and validation.
 *
 * The topic must be compacted and accept records of 260 KiB. It may have any number of partitions.
 * Errors include the command that fixes the topic.
 */
#ifndef EK_DAEMON_KAFKA_STATE_TOPIC_H
#define EK_DAEMON_KAFKA_STATE_TOPIC_H

#include "daemon/config/config.h"

#include <librdkafka/rdkafka.h>
#include <stddef.h>

/* Topic properties; -1 if the broker does not return one. */
struct ek_state_topic_facts {
    int partitions; /* 0: missing */
    int compacted;
    size_t batch_bytes;   /* maximum batch size */
    int input_partitions; /* of the largest input; 0: no input exists */
};

/* Return a topic handle with the best compression codec of the client, or NULL with EK_EIO in `e`.
 * Destroy it with rd_kafka_topic_destroy. */
rd_kafka_topic_t *ek_state_topic_new(rd_kafka_t *client, const struct ek_config *c,
                                     struct ek_error *e);
/* Check the properties of the topic. Return 0, or fatal EK_ESTATE with a remedy. */
int ek_state_topic_check(const struct ek_config *c, const struct ek_state_topic_facts *facts,
                         struct ek_error *e);

#endif
