/* The topic that states are written to: how it is written, and whether it is fit for that.
 *
 * It must be compacted, have as many partitions as the largest input, and take a record of 260 KiB.
 * What is wrong is said with the command that mends it. Threads: those of the client.
 */
#ifndef EK_DAEMON_KAFKA_STATE_TOPIC_H
#define EK_DAEMON_KAFKA_STATE_TOPIC_H

#include "daemon/config/config.h"

#include <librdkafka/rdkafka.h>
#include <stddef.h>

/* What the broker says of it; -1 where it does not say. */
struct ek_state_topic_facts {
    int partitions; /* 0: it is not there */
    int compacted;
    size_t batch_bytes;   /* the most of a batch */
    int input_partitions; /* of the largest input; 0: none is there */
};

/* A handle whose records are compressed as well as the client can. EK_EIO: NULL. */
rd_kafka_topic_t *ek_state_topic_new(rd_kafka_t *client, const char *name, struct ek_error *e);
/* EK_ESTATE, fatal, with the remedy. */
int ek_state_topic_check(const struct ek_config *c, const struct ek_state_topic_facts *facts,
                         struct ek_error *e);

#endif
