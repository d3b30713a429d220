/* latency: end-to-end latency from a producer through a stage to a consumer.
 *
 *     latency BROKERS IN OUT PARTITIONS PER_SECOND COUNT bin|array FAULTY_FROM
 *
 * Sends COUNT prepared lists (see load.c) to IN at an even rate. The key is the scheduled send
 * time, so that a slow sender does not hide the delay. Reads OUT from its end; with IN and OUT
 * equal it measures the path without a stage. Prints, for the second half of the messages, the rate
 * per second, then p50 p90 p99 p99.9 and the maximum in milliseconds.
 */
#include "base/buf.h"
#include "lists/codec.h"
#include "schema/manifest.h"
#include "tests/bench/bench.h"
#include "tests/bench/world.h"

#include <librdkafka/rdkafka.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FEATURES = 136, ITEMS = 20, WAIT_MS = 100, FLUSH_MS = 20000 };
static const int64_t second_ns = 1000000000, start_ns = 1000000000, patience_ns = 20000000000;

struct work {
    const char *brokers, *in, *out;
    int partitions;
    int64_t rate, count;
    struct ek_buf *message;
    double *delay_ms;
    int64_t got, kept;
    int64_t first_ns, last_ns; /* arrival of the first and last measured message */
};

static void die(const char *what, const char *why)
{
    fprintf(stderr, "latency: %s: %s\n", what, why);
    exit(EXIT_FAILURE);
}

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * second_ns + t.tv_nsec;
}

static void set(rd_kafka_conf_t *conf, const char *name, const char *value)
{
    char why[300];
    if (rd_kafka_conf_set(conf, name, value, why, sizeof why))
        die(name, why);
}

static rd_kafka_t *client(const struct work *w, rd_kafka_type_t type)
{
    char why[300], group[64];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    set(conf, "bootstrap.servers", w->brokers);
    if (type == RD_KAFKA_PRODUCER) {
        set(conf, "linger.ms", "0");
    } else {
        snprintf(group, sizeof group, "latency-%lld", (long long)now_ns());
        set(conf, "group.id", group);
        set(conf, "fetch.wait.max.ms", "5");
        set(conf, "enable.partition.eof", "true");
    }
    rd_kafka_t *rk = rd_kafka_new(type, conf, why, sizeof why);
    if (!rk)
        die("client", why);
    return rk;
}

static void make_messages(struct work *w, enum ek_feature_encoding encoding, int64_t faulty_from)
{
    struct ek_manifest *m = ek_bench_manifest(FEATURES);
    struct ek_bench_list list;
    w->message = ek_bench_memory((size_t)w->count, sizeof *w->message);
    w->delay_ms = ek_bench_memory((size_t)w->count, sizeof *w->delay_ms);
    ek_bench_list_init(&list, 3);
    for (int64_t i = 0; i < w->count; i++) {
        ek_bench_list_next(&list, FEATURES, ITEMS);
        if (i >= faulty_from)
            ek_bench_fault(&list.q);
        ek_buf_init(&w->message[i], 0);
        if (ek_codec_encode(m, &list.q, encoding, &w->message[i], NULL))
            abort();
    }
    ek_bench_list_release(&list);
    ek_manifest_free(m);
}

static void wait_until(int64_t due)
{
    for (int64_t left = due - now_ns(); left > 0; left = due - now_ns())
        nanosleep(&(struct timespec){left / second_ns, left % second_ns}, NULL);
}

static void *send_all(void *context)
{
    struct work *w = context;
    rd_kafka_t *rk = client(w, RD_KAFKA_PRODUCER);
    int64_t began = now_ns() + start_ns;
    for (int64_t i = 0; i < w->count; i++) {
        int64_t due = began + i * second_ns / w->rate;
        rd_kafka_resp_err_t err;
        wait_until(due);
        while ((err = rd_kafka_producev(
                    rk, RD_KAFKA_V_TOPIC(w->in), RD_KAFKA_V_PARTITION((int32_t)(i % w->partitions)),
                    RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_KEY(&due, sizeof due),
                    RD_KAFKA_V_VALUE(w->message[i].data, w->message[i].length), RD_KAFKA_V_END)) ==
               RD_KAFKA_RESP_ERR__QUEUE_FULL)
            rd_kafka_poll(rk, 1);
        if (err)
            die("send", rd_kafka_err2str(err));
        rd_kafka_poll(rk, 0);
    }
    if (rd_kafka_flush(rk, FLUSH_MS))
        die("send", "not all was acknowledged");
    rd_kafka_destroy(rk);
    return NULL;
}

static rd_kafka_t *open_at_end(const struct work *w)
{
    rd_kafka_t *rk = client(w, RD_KAFKA_CONSUMER);
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(w->partitions);
    for (int p = 0; p < w->partitions; p++)
        rd_kafka_topic_partition_list_add(list, w->out, p)->offset = RD_KAFKA_OFFSET_END;
    rd_kafka_poll_set_consumer(rk);
    if (rd_kafka_assign(rk, list))
        die(w->out, "cannot be read");
    rd_kafka_topic_partition_list_destroy(list);
    int64_t until = now_ns() + patience_ns;
    for (int at_end = 0; at_end < w->partitions && now_ns() < until;) {
        rd_kafka_message_t *m = rd_kafka_consumer_poll(rk, WAIT_MS);
        at_end += m && m->err == RD_KAFKA_RESP_ERR__PARTITION_EOF;
        if (m)
            rd_kafka_message_destroy(m);
    }
    return rk;
}

static void take(struct work *w, const rd_kafka_message_t *m)
{
    int64_t due;
    if (m->err || m->key_len != sizeof due)
        return;
    memcpy(&due, m->key, sizeof due);
    if (++w->got <= w->count / 2)
        return;
    w->last_ns = now_ns();
    if (!w->kept)
        w->first_ns = w->last_ns;
    w->delay_ms[w->kept++] = (double)(w->last_ns - due) / 1e6;
}

static double came_per_second(const struct work *w)
{
    return (double)w->kept * (double)second_ns / (double)(w->last_ns - w->first_ns + 1);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double quantile(const struct work *w, double q)
{
    int64_t at = (int64_t)(q * (double)w->kept);
    return w->delay_ms[at < w->kept ? at : w->kept - 1];
}

int main(int argc, char **argv)
{
    struct work w = {0};
    pthread_t sender;
    if (argc != 9 || ek_bench_number(argv[4]) < 1 || ek_bench_number(argv[5]) < 1 ||
        ek_bench_number(argv[6]) < 2) {
        fputs("usage: latency BROKERS IN OUT PARTITIONS PER_SECOND COUNT bin|array FAULTY_FROM\n",
              stderr);
        return 2;
    }
    w.brokers = argv[1], w.in = argv[2], w.out = argv[3];
    w.partitions = (int)ek_bench_number(argv[4]), w.rate = ek_bench_number(argv[5]),
    w.count = ek_bench_number(argv[6]);
    make_messages(&w, strcmp(argv[7], "bin") ? EK_FEATURES_ARRAY : EK_FEATURES_BIN,
                  ek_bench_number(argv[8]));
    rd_kafka_t *rk = open_at_end(&w);
    if (pthread_create(&sender, NULL, send_all, &w))
        die("sender", "no thread");
    int64_t until = now_ns() + start_ns + w.count * second_ns / w.rate + patience_ns;
    while (w.got < w.count && now_ns() < until) {
        rd_kafka_message_t *m = rd_kafka_consumer_poll(rk, WAIT_MS);
        if (m) {
            take(&w, m);
            rd_kafka_message_destroy(m);
        }
    }
    pthread_join(sender, NULL);
    rd_kafka_consumer_close(rk);
    rd_kafka_destroy(rk);
    if (w.got < w.count)
        die(w.out, "not everything came");
    qsort(w.delay_ms, (size_t)w.kept, sizeof *w.delay_ms, by_value);
    printf("%.1f %.3f %.3f %.3f %.3f %.3f\n", came_per_second(&w), quantile(&w, .5),
           quantile(&w, .9), quantile(&w, .99), quantile(&w, .999), w.delay_ms[w.kept - 1]);
    return 0;
}
