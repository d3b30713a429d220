/* What only tests ask of a broker: rights, topics that go, settings that change. */
#ifndef EK_TESTS_KAFKA_ADMIN_H
#define EK_TESTS_KAFKA_ADMIN_H

#include <stdbool.h>

/* Gives a user ("User:alice") the right to an operation ("Read", "Write", "Describe",
 * "IdempotentWrite", "DescribeConfigs") on a resource ("topic", "group", "cluster"), or takes it
 * away. 0, or 1 after a word on stderr. */
int ek_admin_right(const char *brokers, bool give, const char *user, const char *operation,
                   const char *resource, const char *name);
int ek_admin_delete_topic(const char *brokers, const char *topic);
/* Deletes what a partition has before an offset. */
int ek_admin_empty(const char *brokers, const char *topic, int partition, long long before);
/* Commits an offset of partition 0, with what goes with it. */
int ek_admin_commit(const char *brokers, const char *group, const char *topic, long long offset,
                    const char *metadata);
int ek_admin_set_topic(const char *brokers, const char *topic, const char *name, const char *value);

#endif
