#include "daemon/kafka/topics.h"

#include "base/alloc.h"
#include "daemon/base/clock.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static rd_kafka_resp_err_t read_answer(const struct rd_kafka_metadata *answer,
                                       struct ek_topic_info *out)
{
    bool one = answer->topic_cnt == 1;
    *out = (struct ek_topic_info){.responded = true,
                                  .partitions = one ? answer->topics[0].partition_cnt : 0,
                                  .broker = answer->broker_cnt ? answer->brokers[0].id : -1};
    if (!one)
        return RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC;
    return answer->topics[0].err || out->partitions ? answer->topics[0].err
                                                    : RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART;
}

rd_kafka_resp_err_t ek_kafka_get_topic(rd_kafka_t *client, const char *topic, int wait_ms,
                                       struct ek_topic_info *out)
{
    const struct rd_kafka_metadata *answer;
    rd_kafka_topic_t *handle = rd_kafka_topic_new(client, topic, NULL);
    *out = (struct ek_topic_info){0};
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

void ek_kafka_refresh_leaders(rd_kafka_t *client, const char *topic, int wait_ms)
{
    struct ek_topic_info ignored;
    ek_kafka_get_topic(client, topic, wait_ms, &ignored);
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

bool ek_kafka_get_topic_property(rd_kafka_t *client, const char *topic, const char *name,
                                 int wait_ms, char *value, size_t size)
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

/* A broker responds to a connection in order, so a request waits for the previous fetch (500
 * ms). */
enum { LOOK_EVERY_MS = 10000, LOOK_MS = 1000, LOG_INTERVAL_MS = 600000 };

struct place {
    atomic_bool missing;
    int64_t next_log_ms; /* time of the next log line */
};

struct ek_topics {
    const struct ek_text_list *names;
    struct ek_log *log;
    struct place *places;
    int64_t due_ms;
    bool requested, settled; /* all requested once; all exist */
};

struct ek_topics *ek_topics_new(const struct ek_text_list *names, struct ek_log *log)
{
    struct ek_topics *t = ek_calloc(1, sizeof *t);
    if (!t)
        return NULL;
    t->names = names;
    t->log = log;
    t->places = ek_calloc(names->count, sizeof *t->places);
    if (t->places)
        return t;
    ek_free(t);
    return NULL;
}

void ek_topics_free(struct ek_topics *t)
{
    if (!t)
        return;
    ek_free(t->places);
    ek_free(t);
}

/* Return false without a response. *there is false only if the topic is known to be missing. */
static bool find_topic(rd_kafka_t *client, const char *topic, bool *there)
{
    struct ek_topic_info answer;
    *there = ek_kafka_get_topic(client, topic, LOOK_MS, &answer) !=
             RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART;
    return answer.responded;
}

/* Store the result and log changes. Return true if a missing topic has appeared. */
static bool note(struct ek_topics *t, size_t number, bool there, int64_t now_ms)
{
    struct place *p = &t->places[number];
    bool was_missing = atomic_exchange(&p->missing, !there);
    if (there && was_missing)
        ek_log_write(t->log, EK_LOG_INFO, "topic_found", "topic=%s", t->names->items[number]);
    if (there || (was_missing && now_ms < p->next_log_ms))
        return there && was_missing;
    p->next_log_ms = now_ms + LOG_INTERVAL_MS;
    ek_log_write(t->log, EK_LOG_WARN, "topic_missing", "topic=%s", t->names->items[number]);
    return false;
}

bool ek_topics_poll(struct ek_topics *t, rd_kafka_t *client)
{
    int64_t now_ms = ek_now_ms();
    bool there = true, found = false, all = true, answered = true;
    if (t->settled || now_ms < t->due_ms)
        return false;
    for (size_t i = 0; answered && i < t->names->count; i++) {
        if (t->requested && !ek_topics_missing(t, i))
            continue;
        answered = find_topic(client, t->names->items[i], &there);
        if (answered)
            found |= note(t, i, there, now_ms);
        all = all && answered && there;
    }
    t->settled = all;
    t->requested = t->requested || answered;
    t->due_ms = ek_now_ms() + LOOK_EVERY_MS;
    return found;
}

void ek_topics_recheck(struct ek_topics *t)
{
    t->settled = t->requested = false;
}

bool ek_topics_missing(const struct ek_topics *t, size_t number)
{
    return atomic_load(&t->places[number].missing);
}

bool ek_topic_is_awaited(int64_t *since_ms, const char *topic, struct ek_log *log)
{
    int64_t now = ek_now_ms();
    if (!*since_ms) {
        *since_ms = now;
        ek_log_write(log, EK_LOG_WARN, "topic_missing", "topic=%s", topic);
    }
    return now - *since_ms < EK_TOPIC_WAIT_MS;
}
