/* forwarder CONFIG: baseline cost of a plain librdkafka program that copies a topic, with the
 * configuration file and client settings of `evenkeel run`.
 *
 * It reads batches from the consumer queue and keeps key, headers, time and partition (by key if
 * the output has another number of partitions). It commits an offset, at the configured interval,
 * after all messages up to it are acknowledged. The in-flight limit is the same. SIGTERM ends it
 * after the last acknowledgment and commit.
 */
#include "daemon/base/clock.h"
#include "base/error.h"
#include "daemon/config/config.h"
#include "daemon/kafka/client.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    BATCH = 256,
    BATCH_WAIT_MS = 20,
    LANES = 256,      /* partitions */
    WINDOW = 1 << 16, /* offsets of a partition between the oldest open one and the newest */
    OFFSET_BITS = 48, /* of the message opaque */
    ANSWER_MS = 10000
};

/* Large enough that the consumer queue never drains: librdkafka 2.0.2 would then sleep for up to a
 * second. */
static const char QUEUE_KBYTES[] = "1048576";

/* Commit position of one input partition. */
struct assignment {
    int64_t open; /* first unacknowledged offset */
    int64_t end;  /* after the last one read */
    int64_t committed;
    unsigned char state[WINDOW]; /* by offset: 1 in flight, 0 acknowledged or absent */
};

struct forwarder {
    struct ek_config *config;
    rd_kafka_t *consumer, *producer;
    rd_kafka_topic_t *out;
    struct assignment *assignment[LANES];
    int64_t in_flight, bytes, commit_due_ms;
    bool same_partitions;
};

static volatile sig_atomic_t stopping;

static void on_signal(int number)
{
    (void)number;
    stopping = 1;
}

static void die(const char *what, const char *why)
{
    fprintf(stderr, "forwarder: %s: %s\n", what, why);
    exit(EXIT_FAILURE);
}

/* Pack partition and offset into the message opaque, so that a message needs no allocation. */
static void *word_of(const rd_kafka_message_t *m)
{
    return (void *)(uintptr_t)((uint64_t)m->partition << OFFSET_BITS | (uint64_t)m->offset);
}

static void on_delivery(rd_kafka_t *rk, const rd_kafka_message_t *m, void *opaque)
{
    struct forwarder *f = opaque;
    uint64_t word = (uint64_t)(uintptr_t)m->_private;
    int64_t offset = (int64_t)(word & ((1ull << OFFSET_BITS) - 1));
    struct assignment *l = f->assignment[word >> OFFSET_BITS];
    (void)rk;
    if (m->err)
        die("delivery", rd_kafka_err2str(m->err));
    l->state[offset % WINDOW] = 0;
    while (l->open < l->end && !l->state[l->open % WINDOW])
        l->open++;
    f->in_flight--;
    f->bytes -= (int64_t)m->len;
}

static struct assignment *lane_of(struct forwarder *f, const rd_kafka_message_t *m)
{
    if (m->partition >= LANES)
        die("input", "too many partitions");
    struct assignment **l = &f->assignment[m->partition];
    if (!*l) {
        *l = calloc(1, sizeof **l);
        if (!*l)
            die("lane", "no memory");
        (*l)->open = (*l)->committed = (*l)->end = m->offset;
    }
    return *l;
}

static void take(struct forwarder *f, const rd_kafka_message_t *m)
{
    struct assignment *l = lane_of(f, m);
    while (m->offset - l->open >= WINDOW)
        rd_kafka_poll(f->producer, BATCH_WAIT_MS);
    l->state[m->offset % WINDOW] = 1;
    l->end = m->offset + 1;
    f->in_flight++;
    f->bytes += (int64_t)m->len;
}

static void forward(struct forwarder *f, rd_kafka_message_t *m)
{
    rd_kafka_headers_t *old, *headers = NULL;
    rd_kafka_timestamp_type_t type;
    rd_kafka_resp_err_t err;
    int64_t stamp = rd_kafka_message_timestamp(m, &type);
    headers =
        rd_kafka_message_headers(m, &old) ? rd_kafka_headers_new(2) : rd_kafka_headers_copy(old);
    rd_kafka_header_add(headers, "ek-plan-version", -1, "0", 1);
    rd_kafka_header_add(headers, "ek-action", -1, "pass", 4);
    take(f, m);
    for (;;) {
        err = rd_kafka_producev(
            f->producer, RD_KAFKA_V_RKT(f->out),
            RD_KAFKA_V_PARTITION(f->same_partitions ? m->partition : RD_KAFKA_PARTITION_UA),
            RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_VALUE(m->payload, m->len),
            RD_KAFKA_V_KEY(m->key, m->key_len), RD_KAFKA_V_TIMESTAMP(stamp < 0 ? 0 : stamp),
            RD_KAFKA_V_HEADERS(headers), RD_KAFKA_V_OPAQUE(word_of(m)), RD_KAFKA_V_END);
        if (err != RD_KAFKA_RESP_ERR__QUEUE_FULL)
            break;
        rd_kafka_poll(f->producer, BATCH_WAIT_MS);
    }
    if (err)
        die("produce", rd_kafka_err2str(err));
}

static void commit(struct forwarder *f, int async)
{
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(LANES);
    for (int p = 0; p < LANES; p++) {
        struct assignment *l = f->assignment[p];
        if (!l || l->open == l->committed)
            continue;
        rd_kafka_topic_partition_list_add(list, f->config->topics.items[0], p)->offset = l->open;
        l->committed = l->open;
    }
    rd_kafka_resp_err_t err =
        list->cnt ? rd_kafka_commit(f->consumer, list, async) : RD_KAFKA_RESP_ERR_NO_ERROR;
    if (err)
        fprintf(stderr, "forwarder: commit: %s\n", rd_kafka_err2str(err));
    rd_kafka_topic_partition_list_destroy(list);
}

static int partitions_of(rd_kafka_t *client, const char *name)
{
    const struct rd_kafka_metadata *answer;
    rd_kafka_topic_t *topic = rd_kafka_topic_new(client, name, NULL);
    rd_kafka_resp_err_t err = rd_kafka_metadata(client, 0, topic, &answer, ANSWER_MS);
    if (err)
        die(name, rd_kafka_err2str(err));
    int count = answer->topic_cnt == 1 ? answer->topics[0].partition_cnt : 0;
    rd_kafka_metadata_destroy(answer);
    rd_kafka_topic_destroy(topic);
    return count;
}

static rd_kafka_t *client(rd_kafka_type_t type, rd_kafka_conf_t *conf)
{
    char why[300];
    rd_kafka_conf_set_log_cb(conf, NULL);
    rd_kafka_t *c = rd_kafka_new(type, conf, why, sizeof why);
    if (!c)
        die("client", why);
    return c;
}

static void open_clients(struct forwarder *f, const char *path)
{
    struct ek_error e = {0};
    rd_kafka_conf_t *consumer, *producer;
    char text[700];
    if (ek_config_load(&f->config, path, NULL, &e) ||
        ek_kafka_conf_consumer(&consumer, f->config, NULL, &e) ||
        ek_kafka_conf_set(consumer, "queued.max.messages.kbytes", QUEUE_KBYTES, &e) ||
        ek_kafka_conf_set(consumer, "auto.offset.reset", "earliest", &e) ||
        ek_kafka_conf_producer(&producer, f->config, &e))
        die(path, ek_error_text(&e, text, sizeof text));
    rd_kafka_conf_set_opaque(producer, f);
    rd_kafka_conf_set_dr_msg_cb(producer, on_delivery);
    f->producer = client(RD_KAFKA_PRODUCER, producer);
    f->consumer = client(RD_KAFKA_CONSUMER, consumer);
    rd_kafka_poll_set_consumer(f->consumer);
    f->out = rd_kafka_topic_new(f->producer, f->config->output_topic, NULL);
    f->same_partitions = partitions_of(f->producer, f->config->topics.items[0]) ==
                         partitions_of(f->producer, f->config->output_topic);
    rd_kafka_topic_partition_list_t *topics = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(topics, f->config->topics.items[0], RD_KAFKA_PARTITION_UA);
    rd_kafka_resp_err_t err = rd_kafka_subscribe(f->consumer, topics);
    if (err)
        die("subscribe", rd_kafka_err2str(err));
    rd_kafka_topic_partition_list_destroy(topics);
}

static void run(struct forwarder *f)
{
    rd_kafka_message_t *m[BATCH];
    rd_kafka_queue_t *queue = rd_kafka_queue_get_consumer(f->consumer);
    while (!stopping) {
        ssize_t count = rd_kafka_consume_batch_queue(queue, BATCH_WAIT_MS, m, BATCH);
        for (ssize_t i = 0; i < count; i++) {
            if (m[i]->err)
                die("input", rd_kafka_message_errstr(m[i]));
            forward(f, m[i]);
            rd_kafka_message_destroy(m[i]);
        }
        rd_kafka_poll(f->producer, 0);
        while (!stopping && (f->in_flight >= f->config->in_flight_messages ||
                             f->bytes >= f->config->in_flight_bytes))
            rd_kafka_poll(f->producer, BATCH_WAIT_MS);
        if (ek_now_ms() >= f->commit_due_ms) {
            commit(f, 1);
            f->commit_due_ms = ek_now_ms() + ek_config_commit_interval_ms(f->config);
        }
    }
    rd_kafka_queue_destroy(queue);
}

int main(int argc, char **argv)
{
    struct forwarder f = {0};
    if (argc != 2) {
        fputs("usage: forwarder CONFIG\n", stderr);
        return 2;
    }
    signal(SIGTERM, on_signal);
    signal(SIGINT, on_signal);
    open_clients(&f, argv[1]);
    run(&f);
    if (rd_kafka_flush(f.producer, ANSWER_MS))
        die("flush", "not all was acknowledged");
    commit(&f, 0);
    rd_kafka_topic_destroy(f.out);
    rd_kafka_consumer_close(f.consumer);
    rd_kafka_destroy(f.consumer);
    rd_kafka_destroy(f.producer);
    for (int p = 0; p < LANES; p++)
        free(f.assignment[p]);
    ek_config_free(f.config);
    return 0;
}
