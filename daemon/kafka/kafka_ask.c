#include "daemon/kafka/kafka_ask.h"

#include <stdio.h>
#include <string.h>

static rd_kafka_resp_err_t read_answer(const struct rd_kafka_metadata *answer,
                                       struct ek_topic_answer *out)
{
    bool one = answer->topic_cnt == 1;
    *out = (struct ek_topic_answer){.heard = true,
                                    .partitions = one ? answer->topics[0].partition_cnt : 0,
                                    .broker = answer->broker_cnt ? answer->brokers[0].id : -1};
    if (!one)
        return RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC;
    return answer->topics[0].err || out->partitions ? answer->topics[0].err
                                                    : RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART;
}

rd_kafka_resp_err_t ek_kafka_ask_topic(rd_kafka_t *client, const char *topic, int wait_ms,
                                       struct ek_topic_answer *out)
{
    const struct rd_kafka_metadata *answer;
    rd_kafka_topic_t *handle = rd_kafka_topic_new(client, topic, NULL);
    *out = (struct ek_topic_answer){0};
    if (!handle)
        return rd_kafka_last_error();
    rd_kafka_resp_err_t err = rd_kafka_metadata(client, 0, handle, &answer, wait_ms);
    if (!err) {
        err = read_answer(answer, out);
        rd_kafka_metadata_destroy(answer);
    }
    rd_kafka_topic_destroy(handle);
    return err;
}

void ek_kafka_hear_leaders(rd_kafka_t *client, const char *topic, int wait_ms)
{
    struct ek_topic_answer ignored;
    ek_kafka_ask_topic(client, topic, wait_ms, &ignored);
}

static bool read_property(const rd_kafka_event_t *event, const char *name, char *value, size_t size)
{
    size_t count = 0, entries = 0;
    const rd_kafka_DescribeConfigs_result_t *result =
        rd_kafka_event_DescribeConfigs_result((rd_kafka_event_t *)(uintptr_t)event);
    const rd_kafka_ConfigResource_t **resource =
        result ? rd_kafka_DescribeConfigs_result_resources(result, &count) : NULL;
    if (!count || rd_kafka_ConfigResource_error(resource[0]))
        return false;
    const rd_kafka_ConfigEntry_t **entry = rd_kafka_ConfigResource_configs(resource[0], &entries);
    for (size_t i = 0; i < entries; i++)
        if (!strcmp(rd_kafka_ConfigEntry_name(entry[i]), name) &&
            rd_kafka_ConfigEntry_value(entry[i])) {
            snprintf(value, size, "%s", rd_kafka_ConfigEntry_value(entry[i]));
            return true;
        }
    return false;
}

bool ek_kafka_ask_property(rd_kafka_t *client, const char *topic, const char *name, int wait_ms,
                           char *value, size_t size)
{
    char why[200];
    rd_kafka_queue_t *answers = rd_kafka_queue_new(client);
    rd_kafka_ConfigResource_t *resource =
        rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, topic);
    rd_kafka_AdminOptions_t *options =
        rd_kafka_AdminOptions_new(client, RD_KAFKA_ADMIN_OP_DESCRIBECONFIGS);
    rd_kafka_AdminOptions_set_request_timeout(options, wait_ms, why, sizeof why);
    rd_kafka_DescribeConfigs(client, &resource, 1, options, answers);
    rd_kafka_event_t *event = rd_kafka_queue_poll(answers, wait_ms);
    bool known = event && !rd_kafka_event_error(event) && read_property(event, name, value, size);
    if (event)
        rd_kafka_event_destroy(event);
    rd_kafka_AdminOptions_destroy(options);
    rd_kafka_ConfigResource_destroy(resource);
    rd_kafka_queue_destroy(answers);
    return known;
}
