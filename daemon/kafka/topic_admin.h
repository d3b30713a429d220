/* Topic administration for commands: find topics and their properties, create them.
 *
 * Each call blocks for up to the time of ek_topic_admin_open. One thread.
 */
#ifndef EK_DAEMON_KAFKA_TOPIC_ADMIN_H
#define EK_DAEMON_KAFKA_TOPIC_ADMIN_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct ek_brokers;
struct ek_text_list;
struct ek_topic_admin;

/* Topic with the properties that it needs. */
struct ek_topic_need {
    const char *name;
    int partitions; /* of a new topic */
    struct {
        const char *name, *value;
    } setting[4]; /* name NULL: no more */
};

/* Create a client; `brokers` may be freed afterwards. Later calls wait at most wait_ms each. Return
 * 0, EK_ENOMEM, EK_ECONFIG for an invalid property, or EK_EIO. */
int ek_topic_admin_open(struct ek_topic_admin **out, const struct ek_brokers *brokers, int wait_ms,
                        struct ek_error *e);
void ek_topic_admin_free(struct ek_topic_admin *a);

/* Set *partitions to the number of partitions, 0 for a missing topic. Return 0, or EK_EIO with a
 * remedy for wrong credentials, TLS and permissions. */
int ek_topic_admin_find(struct ek_topic_admin *a, const char *topic, int *partitions,
                        struct ek_error *e);
/* Set *out to the names of all topics but internal ones, which begin with two underscores; release
 * it with ek_topic_admin_release. Return 0, EK_ENOMEM, or EK_EIO as ek_topic_admin_find. */
int ek_topic_admin_list(struct ek_topic_admin *a, struct ek_text_list *out, struct ek_error *e);
/* Free the names of ek_topic_admin_list. */
void ek_topic_admin_release(struct ek_text_list *names);
/* Write a property of a topic to value [size]. Return false, with `value` undefined, if brokers do
 * not report it. */
bool ek_topic_admin_get(struct ek_topic_admin *a, const char *topic, const char *property,
                        char *value, size_t size);
/* Create a topic with the brokers' replication factor; an existing topic is no error. Return 0 or
 * EK_EIO. */
int ek_topic_admin_create(struct ek_topic_admin *a, const struct ek_topic_need *need,
                          struct ek_error *e);

#endif
