#include "tests/kafka/admin.h"

#include <librdkafka/rdkafka.h>

#include <stdio.h>
#include <string.h>

enum { ANSWER_MS = 15000 };
#define TRANSACTION_MS "900000" /* the longest that brokers allow */

struct word {
    const char *text;
    int value;
};
static const struct word OPERATIONS[] = {
    {"Read", RD_KAFKA_ACL_OPERATION_READ},
    {"Write", RD_KAFKA_ACL_OPERATION_WRITE},
    {"Describe", RD_KAFKA_ACL_OPERATION_DESCRIBE},
    {"DescribeConfigs", RD_KAFKA_ACL_OPERATION_DESCRIBE_CONFIGS},
    {"IdempotentWrite", RD_KAFKA_ACL_OPERATION_IDEMPOTENT_WRITE},
    {NULL, 0},
};
/* The protocol uses one number for brokers in settings and for the cluster in ACLs. */
static const struct word RESOURCES[] = {{"topic", RD_KAFKA_RESOURCE_TOPIC},
                                        {"group", RD_KAFKA_RESOURCE_GROUP},
                                        {"cluster", RD_KAFKA_RESOURCE_BROKER},
                                        {NULL, 0}};

struct asking {
    rd_kafka_t *client;
    rd_kafka_queue_t *queue;
};

static int value_of(const struct word *words, const char *text)
{
    while (words->text && strcmp(words->text, text) != 0)
        words++;
    return words->value;
}

static struct asking ask(const char *brokers)
{
    char why[200];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    rd_kafka_conf_set(conf, "bootstrap.servers", brokers, why, sizeof why);
    struct asking a = {.client = rd_kafka_new(RD_KAFKA_PRODUCER, conf, why, sizeof why)};
    a.queue = rd_kafka_queue_new(a.client);
    return a;
}

static int told(const char *what, const char *why)
{
    fprintf(stderr, "ektool: %s: %s\n", what, why);
    return 1;
}

static const char *text_of(const rd_kafka_error_t *e)
{
    return e ? rd_kafka_error_string(e) : NULL;
}

/* Revoking an absent ACL is an error of the test. */
static const char *revoke_error(rd_kafka_event_t *event)
{
    size_t count = 0, taken = 0;
    const rd_kafka_DeleteAcls_result_response_t **r =
        rd_kafka_DeleteAcls_result_responses(rd_kafka_event_DeleteAcls_result(event), &count);
    const char *why = count ? text_of(rd_kafka_DeleteAcls_result_response_error(r[0])) : NULL;
    if (count)
        rd_kafka_DeleteAcls_result_response_matching_acls(r[0], &taken);
    return why || taken ? why : "there is no such right";
}

static const char *empty_error(rd_kafka_event_t *event)
{
    const rd_kafka_topic_partition_list_t *list =
        rd_kafka_DeleteRecords_result_offsets(rd_kafka_event_DeleteRecords_result(event));
    return list->cnt && list->elems[0].err ? rd_kafka_err2str(list->elems[0].err) : NULL;
}

/* Return the error of the only result, NULL for none. */
static const char *result_error(rd_kafka_event_t *event)
{
    size_t count = 0;
    if (rd_kafka_event_error(event))
        return rd_kafka_event_error_string(event);
    switch (rd_kafka_event_type(event)) {
    case RD_KAFKA_EVENT_CREATEACLS_RESULT: {
        const rd_kafka_acl_result_t **r =
            rd_kafka_CreateAcls_result_acls(rd_kafka_event_CreateAcls_result(event), &count);
        return count ? text_of(rd_kafka_acl_result_error(r[0])) : NULL;
    }
    case RD_KAFKA_EVENT_DELETEACLS_RESULT:
        return revoke_error(event);
    case RD_KAFKA_EVENT_DELETERECORDS_RESULT:
        return empty_error(event);
    case RD_KAFKA_EVENT_DELETETOPICS_RESULT: {
        const rd_kafka_topic_result_t **r =
            rd_kafka_DeleteTopics_result_topics(rd_kafka_event_DeleteTopics_result(event), &count);
        return count && rd_kafka_topic_result_error(r[0]) ? rd_kafka_topic_result_error_string(r[0])
                                                          : NULL;
    }
    case RD_KAFKA_EVENT_CREATEPARTITIONS_RESULT: {
        const rd_kafka_topic_result_t **r = rd_kafka_CreatePartitions_result_topics(
            rd_kafka_event_CreatePartitions_result(event), &count);
        return count && rd_kafka_topic_result_error(r[0]) ? rd_kafka_topic_result_error_string(r[0])
                                                          : NULL;
    }
    case RD_KAFKA_EVENT_ALTERCONFIGS_RESULT: {
        const rd_kafka_ConfigResource_t **r = rd_kafka_AlterConfigs_result_resources(
            rd_kafka_event_AlterConfigs_result(event), &count);
        return count && rd_kafka_ConfigResource_error(r[0])
                   ? rd_kafka_ConfigResource_error_string(r[0])
                   : NULL;
    }
    default:
        return "an answer of which it is not known whether it is good";
    }
}

static int finish(struct asking *a, const char *what)
{
    rd_kafka_event_t *event = rd_kafka_queue_poll(a->queue, ANSWER_MS);
    const char *why = event ? result_error(event) : "no answer";
    int status = why ? told(what, why) : 0;
    if (event)
        rd_kafka_event_destroy(event);
    rd_kafka_queue_destroy(a->queue);
    rd_kafka_destroy(a->client);
    return status;
}

int ek_admin_right(const char *brokers, bool give, const char *user, const char *operation,
                   const char *resource, const char *name)
{
    char why[200] = "";
    struct asking a = ask(brokers);
    rd_kafka_ResourceType_t kind = (rd_kafka_ResourceType_t)value_of(RESOURCES, resource);
    rd_kafka_AclOperation_t what = (rd_kafka_AclOperation_t)value_of(OPERATIONS, operation);
    rd_kafka_AclBinding_t *one =
        give ? rd_kafka_AclBinding_new(kind, name, RD_KAFKA_RESOURCE_PATTERN_LITERAL, user, "*",
                                       what, RD_KAFKA_ACL_PERMISSION_TYPE_ALLOW, why, sizeof why)
             : rd_kafka_AclBindingFilter_new(kind, name, RD_KAFKA_RESOURCE_PATTERN_LITERAL, user,
                                             "*", what, RD_KAFKA_ACL_PERMISSION_TYPE_ALLOW, why,
                                             sizeof why);
    if (!one) {
        rd_kafka_queue_destroy(a.queue);
        rd_kafka_destroy(a.client);
        return told(resource, why);
    }
    if (give)
        rd_kafka_CreateAcls(a.client, &one, 1, NULL, a.queue);
    else
        rd_kafka_DeleteAcls(a.client, &one, 1, NULL, a.queue);
    rd_kafka_AclBinding_destroy(one);
    return finish(&a, operation);
}

int ek_admin_delete_topic(const char *brokers, const char *topic)
{
    struct asking a = ask(brokers);
    rd_kafka_DeleteTopic_t *gone = rd_kafka_DeleteTopic_new(topic);
    rd_kafka_DeleteTopics(a.client, &gone, 1, NULL, a.queue);
    rd_kafka_DeleteTopic_destroy(gone);
    return finish(&a, topic);
}

int ek_admin_set_topic(const char *brokers, const char *topic, char *const *settings, int count)
{
    struct asking a = ask(brokers);
    rd_kafka_ConfigResource_t *config = rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, topic);
    for (int i = 0; i < count; i += 2)
        rd_kafka_ConfigResource_set_config(config, settings[i], settings[i + 1]);
    rd_kafka_AlterConfigs(a.client, &config, 1, NULL, a.queue);
    rd_kafka_ConfigResource_destroy(config);
    return finish(&a, topic);
}

int ek_admin_grow_topic(const char *brokers, const char *topic, int partitions)
{
    char why[200] = "";
    struct asking a = ask(brokers);
    rd_kafka_NewPartitions_t *more =
        rd_kafka_NewPartitions_new(topic, (size_t)partitions, why, sizeof why);
    rd_kafka_CreatePartitions(a.client, &more, 1, NULL, a.queue);
    rd_kafka_NewPartitions_destroy(more);
    return finish(&a, topic);
}

int ek_admin_empty(const char *brokers, const char *topic, int partition, long long before)
{
    struct asking a = ask(brokers);
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(list, topic, partition)->offset = before;
    rd_kafka_DeleteRecords_t *records = rd_kafka_DeleteRecords_new(list);
    rd_kafka_DeleteRecords(a.client, &records, 1, NULL, a.queue);
    rd_kafka_DeleteRecords_destroy(records);
    rd_kafka_topic_partition_list_destroy(list);
    return finish(&a, topic);
}

/* Return a producer that has taken the transactional id, or NULL with a message on stderr. */
static rd_kafka_t *take_id(const char *brokers, const char *transactional_id)
{
    char why[200];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    rd_kafka_conf_set(conf, "bootstrap.servers", brokers, why, sizeof why);
    rd_kafka_conf_set(conf, "transaction.timeout.ms", TRANSACTION_MS, why, sizeof why);
    rd_kafka_conf_set(conf, "transactional.id", transactional_id, why, sizeof why);
    rd_kafka_t *client = rd_kafka_new(RD_KAFKA_PRODUCER, conf, why, sizeof why);
    rd_kafka_error_t *e = rd_kafka_init_transactions(client, ANSWER_MS);
    if (!e)
        return client;
    told(transactional_id, text_of(e));
    rd_kafka_error_destroy(e);
    rd_kafka_destroy(client);
    return NULL;
}

int ek_admin_fence(const char *brokers, const char *transactional_id)
{
    rd_kafka_t *client = take_id(brokers, transactional_id);
    if (!client)
        return 1;
    rd_kafka_destroy(client);
    return 0;
}

int ek_admin_hold(const char *brokers, const char *group, const char *topic, int partition,
                  const char *transactional_id)
{
    rd_kafka_t *client = take_id(brokers, transactional_id);
    if (!client)
        return 1;
    rd_kafka_consumer_group_metadata_t *member = rd_kafka_consumer_group_metadata_new(group);
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(list, topic, partition)->offset = 0;
    rd_kafka_error_t *e = rd_kafka_begin_transaction(client);
    if (!e)
        e = rd_kafka_send_offsets_to_transaction(client, list, member, ANSWER_MS);
    int rc = e ? told(transactional_id, text_of(e)) : 0;
    rd_kafka_error_destroy(e);
    rd_kafka_topic_partition_list_destroy(list);
    rd_kafka_consumer_group_metadata_destroy(member);
    rd_kafka_destroy(client);
    return rc;
}

int ek_admin_hold_output(const char *brokers, const char *topic, const char *transactional_id)
{
    static char value[] = "held";
    rd_kafka_t *client = take_id(brokers, transactional_id);
    if (!client)
        return 1;
    rd_kafka_error_t *e = rd_kafka_begin_transaction(client);
    rd_kafka_resp_err_t err =
        e ? rd_kafka_error_code(e)
          : rd_kafka_producev(client, RD_KAFKA_V_TOPIC(topic),
                              RD_KAFKA_V_VALUE(value, sizeof value - 1), RD_KAFKA_V_END);
    if (!err)
        err = rd_kafka_flush(client, ANSWER_MS);
    rd_kafka_error_destroy(e);
    rd_kafka_destroy(client);
    return err ? told(transactional_id, rd_kafka_err2str(err)) : 0;
}

int ek_admin_commit(const char *brokers, const char *group, const char *topic, long long offset,
                    const char *metadata)
{
    char why[200];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    rd_kafka_conf_set(conf, "bootstrap.servers", brokers, why, sizeof why);
    rd_kafka_conf_set(conf, "group.id", group, why, sizeof why);
    rd_kafka_t *client = rd_kafka_new(RD_KAFKA_CONSUMER, conf, why, sizeof why);
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_t *p = rd_kafka_topic_partition_list_add(list, topic, 0);
    p->offset = offset;
    p->metadata_size = strlen(metadata);
    p->metadata = rd_kafka_mem_malloc(NULL, p->metadata_size);
    memcpy(p->metadata, metadata, p->metadata_size);
    rd_kafka_resp_err_t err = rd_kafka_commit(client, list, 0);
    rd_kafka_topic_partition_list_destroy(list);
    rd_kafka_destroy(client);
    return err ? told(group, rd_kafka_err2str(err)) : 0;
}
