#include "daemon/kafka/side_records.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "daemon/base/url.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

void ek_cloud_event_init(struct ek_cloud_event *out, const char *service, const struct ek_event *v,
                         const char *json, int64_t now_ms)
{
    const char *kind = ek_event_kind_name(v->kind);
    static const char root[] = "/evenkeel/";
    snprintf(out->id, sizeof out->id, "%016" PRIx64, ek_hash(json, strlen(json), 0));
    snprintf(out->source, sizeof out->source, "%s", root);
    ek_url_escape(service, out->source + sizeof root - 1, sizeof out->source - sizeof root + 1);
    snprintf(out->type, sizeof out->type, "evenkeel.%s", kind ? kind : "event");
    ek_rfc3339(kind ? v->time_ms : now_ms, out->time);
}

rd_kafka_headers_t *ek_kafka_cloud_event(const char *service, const struct ek_event *v,
                                         const char *json, int64_t now_ms)
{
    struct ek_cloud_event e;
    ek_cloud_event_init(&e, service, v, json, now_ms);
    const char *const pairs[][2] = {
        {"ce_specversion", "1.0"}, {"ce_id", e.id},     {"ce_source", e.source},
        {"ce_type", e.type},       {"ce_time", e.time}, {"content-type", "application/json"},
    };
    size_t count = sizeof pairs / sizeof *pairs;
    rd_kafka_headers_t *headers = rd_kafka_headers_new(count);
    for (size_t i = 0; headers && i < count; i++)
        if (rd_kafka_header_add(headers, pairs[i][0], -1, pairs[i][1], -1)) {
            rd_kafka_headers_destroy(headers);
            headers = NULL;
        }
    return headers;
}

struct record {
    struct record *next;
    rd_kafka_headers_t *headers; /* NULL: none */
    size_t key_length, length;
    char bytes[]; /* key, then value */
};

struct ek_txn_records {
    pthread_mutex_t lock; /* guards the pending records */
    struct record *first, **end;
    size_t count;
    uint64_t lost;
    struct record *sent, **sent_end; /* in the open transaction */
};

struct ek_txn_records *ek_txn_records_new(void)
{
    struct ek_txn_records *r = ek_calloc(1, sizeof *r);
    if (!r)
        return NULL;
    pthread_mutex_init(&r->lock, NULL);
    r->end = &r->first;
    r->sent_end = &r->sent;
    return r;
}

static void free_record(struct record *record)
{
    if (record->headers)
        rd_kafka_headers_destroy(record->headers);
    ek_free(record);
}

static void free_all(struct record *first)
{
    for (struct record *next; first; first = next) {
        next = first->next;
        free_record(first);
    }
}

void ek_txn_records_free(struct ek_txn_records *r)
{
    if (!r)
        return;
    free_all(r->first);
    free_all(r->sent);
    pthread_mutex_destroy(&r->lock);
    ek_free(r);
}

static struct record *pop_first(struct ek_txn_records *r)
{
    struct record *record = r->first;
    r->first = record->next;
    if (!r->first)
        r->end = &r->first;
    r->count--;
    return record;
}

int ek_txn_records_add(struct ek_txn_records *r, const void *key, size_t key_length,
                       const void *value, size_t length, rd_kafka_headers_t *headers)
{
    struct record *record = ek_calloc(1, sizeof *record + key_length + length);
    if (!record)
        return EK_ENOMEM;
    record->headers = headers;
    record->key_length = key_length;
    record->length = length;
    memcpy(record->bytes, key, key_length);
    memcpy(record->bytes + key_length, value, length);
    pthread_mutex_lock(&r->lock);
    *r->end = record;
    r->end = &record->next;
    if (++r->count > EK_RECORDS_MAX) {
        free_record(pop_first(r));
        r->lost++;
    }
    pthread_mutex_unlock(&r->lock);
    return EK_OK;
}

bool ek_txn_records_has_pending(struct ek_txn_records *r)
{
    pthread_mutex_lock(&r->lock);
    bool some = r->first != NULL;
    pthread_mutex_unlock(&r->lock);
    return some;
}

uint64_t ek_txn_records_dropped_count(struct ek_txn_records *r)
{
    pthread_mutex_lock(&r->lock);
    uint64_t lost = r->lost;
    pthread_mutex_unlock(&r->lock);
    return lost;
}

/* Send a copy of the headers, because an aborted record is sent again. */
static bool produce(rd_kafka_t *client, rd_kafka_topic_t *topic, const struct record *record)
{
    char *key = (char *)(uintptr_t)record->bytes, *value = key + record->key_length;
    rd_kafka_headers_t *headers = record->headers ? rd_kafka_headers_copy(record->headers) : NULL;
    if (record->headers && !headers)
        return false;
    rd_kafka_resp_err_t err = rd_kafka_producev(
        client, RD_KAFKA_V_RKT(topic), RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
        RD_KAFKA_V_KEY(key, record->key_length), RD_KAFKA_V_VALUE(value, record->length),
        RD_KAFKA_V_HEADERS(headers), RD_KAFKA_V_END);
    if (err && headers)
        rd_kafka_headers_destroy(headers);
    return !err;
}

bool ek_txn_records_send(struct ek_txn_records *r, rd_kafka_t *client, rd_kafka_topic_t *topic)
{
    bool taken = true;
    pthread_mutex_lock(&r->lock);
    while (taken && r->first) {
        struct record *record = pop_first(r);
        record->next = NULL;
        *r->sent_end = record;
        r->sent_end = &record->next;
        taken = produce(client, topic, record);
    }
    pthread_mutex_unlock(&r->lock);
    return taken;
}

void ek_txn_records_finish(struct ek_txn_records *r, bool committed)
{
    size_t count = 0;
    if (!r->sent)
        return;
    if (committed) {
        free_all(r->sent);
    } else {
        for (const struct record *each = r->sent; each; each = each->next)
            count++;
        pthread_mutex_lock(&r->lock);
        *r->sent_end = r->first;
        if (!r->first)
            r->end = r->sent_end;
        r->first = r->sent;
        r->count += count;
        pthread_mutex_unlock(&r->lock);
    }
    r->sent = NULL;
    r->sent_end = &r->sent;
}
