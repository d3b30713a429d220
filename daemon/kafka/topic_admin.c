#include "daemon/kafka/topic_admin.h"

#include "base/alloc.h"
#include "daemon/base/clock.h"
#include "daemon/kafka/client.h"
#include "daemon/kafka/topics.h"

#include <stdio.h>
#include <string.h>

enum { SETTINGS = 4, REQUEST_TIMEOUT_MS = 1000, RETRY_MS = 300, TEXT_BYTES = 500 };

struct ek_topic_admin {
    rd_kafka_t *client;
    struct ek_kafka_watch watch;
    int wait_ms;
};

int ek_topic_admin_open(struct ek_topic_admin **out, const struct ek_brokers *brokers, int wait_ms,
                        struct ek_error *e)
{
    struct ek_topic_admin *a = ek_calloc(1, sizeof *a);
    if (!a)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    a->wait_ms = wait_ms;
    a->watch = (struct ek_kafka_watch){.role = "admin client", .owner = a};
    a->watch.trouble = ek_kafka_health_new();
    int rc = a->watch.trouble ? ek_kafka_client(&a->client, RD_KAFKA_PRODUCER, brokers, NULL, 0,
                                                NULL, &a->watch, e)
                              : ek_fail(e, EK_ENOMEM, "out of memory");
    if (rc)
        ek_topic_admin_free(a);
    else
        *out = a;
    return rc;
}

void ek_topic_admin_free(struct ek_topic_admin *a)
{
    if (!a)
        return;
    if (a->client)
        rd_kafka_destroy(a->client);
    ek_kafka_health_free(a->watch.trouble);
    ek_free(a);
}

static int fail(struct ek_topic_admin *a, rd_kafka_resp_err_t err, const char *topic,
                struct ek_error *e)
{
    struct ek_kafka_health_state why;
    char text[TEXT_BYTES];
    if (ek_kafka_health_get(a->watch.trouble, &why))
        return ek_fail(e, EK_EIO, "%s", why.text);
    ek_kafka_errmsg(text, sizeof text, &a->watch, err, EK_KAFKA_ADMIN, topic, NULL);
    return ek_fail(e, EK_EIO, "%s", text);
}

int ek_topic_admin_find(struct ek_topic_admin *a, const char *topic, int *partitions,
                        struct ek_error *e)
{
    int64_t until = ek_now_ms() + a->wait_ms;
    struct ek_topic_info info;
    rd_kafka_resp_err_t err;
    do {
        rd_kafka_poll(a->client, 0);
        err = ek_kafka_get_topic(a->client, topic, REQUEST_TIMEOUT_MS, &info);
    } while (!info.responded && ek_now_ms() < until);
    *partitions = info.partitions;
    bool missing = info.responded && err == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART;
    return err && !missing ? fail(a, err, topic, e) : EK_OK;
}

void ek_topic_admin_release(struct ek_text_list *names)
{
    for (size_t i = 0; i < names->count; i++)
        ek_free(names->items[i]);
    ek_free(names->items);
    *names = (struct ek_text_list){NULL, 0};
}

static int copy_names(const struct rd_kafka_metadata *answer, struct ek_text_list *out)
{
    *out = (struct ek_text_list){NULL, 0};
    out->items = ek_calloc((size_t)answer->topic_cnt + 1, sizeof *out->items);
    for (int i = 0; out->items && i < answer->topic_cnt; i++) {
        const char *name = answer->topics[i].topic;
        if (!strncmp(name, "__", 2))
            continue;
        out->items[out->count] = ek_strdup(name);
        if (!out->items[out->count++])
            break;
    }
    if (out->items && (!out->count || out->items[out->count - 1]))
        return EK_OK;
    ek_topic_admin_release(out);
    return EK_ENOMEM;
}

int ek_topic_admin_list(struct ek_topic_admin *a, struct ek_text_list *out, struct ek_error *e)
{
    int64_t until = ek_now_ms() + a->wait_ms;
    const struct rd_kafka_metadata *answer;
    rd_kafka_resp_err_t err;
    do {
        rd_kafka_poll(a->client, 0);
        err = rd_kafka_metadata(a->client, 1, NULL, &answer, REQUEST_TIMEOUT_MS);
    } while (err && ek_now_ms() < until);
    if (err)
        return fail(a, err, NULL, e);
    int rc = copy_names(answer, out);
    rd_kafka_metadata_destroy(answer);
    return rc ? ek_fail(e, rc, "out of memory") : EK_OK;
}

bool ek_topic_admin_get(struct ek_topic_admin *a, const char *topic, const char *property,
                        char *value, size_t size)
{
    return ek_kafka_get_topic_property(a->client, topic, property, a->wait_ms, value, size);
}

static rd_kafka_resp_err_t read_result(rd_kafka_queue_t *queue, int wait_ms)
{
    size_t count = 0;
    rd_kafka_event_t *event = rd_kafka_queue_poll(queue, wait_ms);
    if (!event)
        return RD_KAFKA_RESP_ERR__TIMED_OUT;
    rd_kafka_resp_err_t err = rd_kafka_event_error(event);
    const rd_kafka_topic_result_t **results =
        err ? NULL
            : rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(event),
                                                  &count);
    if (!err)
        err = count ? rd_kafka_topic_result_error(results[0]) : RD_KAFKA_RESP_ERR_UNKNOWN;
    rd_kafka_event_destroy(event);
    return err;
}

static rd_kafka_resp_err_t create_once(struct ek_topic_admin *a, const struct ek_topic_need *need)
{
    char why[TEXT_BYTES];
    rd_kafka_NewTopic_t *fresh =
        rd_kafka_NewTopic_new(need->name, need->partitions, -1, why, sizeof why);
    if (!fresh)
        return RD_KAFKA_RESP_ERR__INVALID_ARG;
    for (int i = 0; i < SETTINGS && need->setting[i].name; i++)
        rd_kafka_NewTopic_set_config(fresh, need->setting[i].name, need->setting[i].value);
    rd_kafka_queue_t *queue = rd_kafka_queue_new(a->client);
    rd_kafka_CreateTopics(a->client, &fresh, 1, NULL, queue);
    rd_kafka_resp_err_t err = read_result(queue, a->wait_ms);
    rd_kafka_queue_destroy(queue);
    rd_kafka_NewTopic_destroy(fresh);
    return err;
}

int ek_topic_admin_create(struct ek_topic_admin *a, const struct ek_topic_need *need,
                          struct ek_error *e)
{
    int64_t until = ek_now_ms() + a->wait_ms;
    rd_kafka_resp_err_t err;
    while ((err = create_once(a, need)) &&
           ek_kafka_classify(err, EK_KAFKA_ADMIN) == EK_KAFKA_RETRIABLE && ek_now_ms() < until)
        rd_kafka_poll(a->client, RETRY_MS);
    if (!err || err == RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS)
        return EK_OK;
    return fail(a, err, need->name, e);
}
