/* Broker administration that only tests need: ACLs, deletions, settings. */
#ifndef EK_TESTS_KAFKA_ADMIN_H
#define EK_TESTS_KAFKA_ADMIN_H

#include <stdbool.h>

/* Grant or revoke a user ("User:alice") an operation ("Read", "Write", "Describe",
 * "IdempotentWrite", "DescribeConfigs") on a resource ("topic", "group", "cluster"). Return 0, or 1
 * with a message on stderr. */
int ek_admin_right(const char *brokers, bool give, const char *user, const char *operation,
                   const char *resource, const char *name);
int ek_admin_delete_topic(const char *brokers, const char *topic);
/* Give a topic so many partitions. */
int ek_admin_grow_topic(const char *brokers, const char *topic, int partitions);
/* Delete the records of a partition before an offset. */
int ek_admin_empty(const char *brokers, const char *topic, int partition, long long before);
/* Commit an offset of partition 0 with its metadata. */
int ek_admin_commit(const char *brokers, const char *group, const char *topic, long long offset,
                    const char *metadata);
/* Register a producer with a transactional id, so that brokers fence the one that has it. */
int ek_admin_fence(const char *brokers, const char *transactional_id);
/* Leave an offset of a partition in an open transaction, as a killed instance does, until it times
 * out after a quarter of an hour or ek_admin_fence. */
int ek_admin_hold(const char *brokers, const char *group, const char *topic, int partition,
                  const char *transactional_id);
/* Leave a message in a topic in an open transaction, likewise. */
int ek_admin_hold_output(const char *brokers, const char *topic, const char *transactional_id);
/* Set `settings` [count], names and values in turn, and all others of the topic to their defaults.
 */
int ek_admin_set_topic(const char *brokers, const char *topic, char *const *settings, int count);

#endif
