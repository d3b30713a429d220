/* meter: write rate of a topic, measured at the broker.
 *
 *     meter BROKERS TOPIC PARTITIONS FROM TO SECONDS PID...
 *
 * Requests the end offsets of all partitions forty times a second, one small request each. Prints
 * the interval from FROM to TO messages: messages, seconds, CPU seconds of each PID (PID/task/TID:
 * of one thread). Gives up after SECONDS.
 *
 *     meter delete BROKERS TOPIC
 */
#include "tests/bench/world.h"
#include "tests/measure.h"

#include <librdkafka/rdkafka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LOOK_MS = 25, ANSWER_MS = 10000, PIDS = 8 };

struct moment {
    int64_t messages;
    double seconds, spent[PIDS];
};

static void die(const char *what, const char *why)
{
    fprintf(stderr, "meter: %s: %s\n", what, why);
    exit(EXIT_FAILURE);
}

/* Return user plus system seconds of a process with its threads, or of one thread. */
static double processor_seconds(const char *pid)
{
    char path[64], text[2048] = "";
    unsigned long user = 0, system = 0;
    snprintf(path, sizeof path, "/proc/%s/stat", pid);
    FILE *f = fopen(path, "r");
    if (!f)
        die(pid, "no such process");
    size_t length = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    text[length] = 0;
    const char *rest = strrchr(text, ')');
    if (!rest || sscanf(rest + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user,
                        &system) != 2)
        die(path, "not understood");
    return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}

static rd_kafka_t *client(const char *brokers)
{
    char why[300];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    if (rd_kafka_conf_set(conf, "bootstrap.servers", brokers, why, sizeof why))
        die(brokers, why);
    rd_kafka_t *rk = rd_kafka_new(RD_KAFKA_PRODUCER, conf, why, sizeof why);
    if (!rk)
        die(brokers, why);
    return rk;
}

/* Timestamp -1 requests the end offsets of all partitions in one request. A topic without a known
 * leader counts as empty. */
static int64_t messages_in(rd_kafka_t *rk, const char *topic, int partitions)
{
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(partitions);
    int64_t sum = 0;
    for (int p = 0; p < partitions; p++)
        rd_kafka_topic_partition_list_add(list, topic, p)->offset = RD_KAFKA_OFFSET_END;
    rd_kafka_resp_err_t err = rd_kafka_offsets_for_times(rk, list, ANSWER_MS);
    for (int p = 0; !err && p < partitions; p++)
        sum += list->elems[p].offset > 0 ? list->elems[p].offset : 0;
    rd_kafka_topic_partition_list_destroy(list);
    return sum;
}

/* Sample the CPU seconds of all processes. */
static void look_at(struct moment *m, char **pids)
{
    for (int i = 0; pids[i]; i++)
        m->spent[i] = processor_seconds(pids[i]);
}

static void tell(const struct moment *first, const struct moment *last, char **pids)
{
    printf("%lld %.4f", (long long)(last->messages - first->messages),
           last->seconds - first->seconds);
    for (int i = 0; pids[i]; i++)
        printf(" %.2f", last->spent[i] - first->spent[i]);
    putchar('\n');
}

static int measure(char **word)
{
    rd_kafka_t *rk = client(word[0]);
    char **pids = word + 6;
    int64_t from = ek_bench_number(word[3]), to = ek_bench_number(word[4]);
    double until = ek_measure_seconds() + (double)ek_bench_number(word[5]);
    struct moment first = {0}, last = {0};
    while (last.messages < to && ek_measure_seconds() < until) {
        last.messages = messages_in(rk, word[1], (int)ek_bench_number(word[2]));
        last.seconds = ek_measure_seconds();
        if (last.messages >= to || (last.messages >= from && !first.seconds))
            look_at(&last, pids);
        if (last.messages >= from && !first.seconds)
            first = last;
        usleep(LOOK_MS * 1000);
    }
    rd_kafka_destroy(rk);
    if (last.messages < to || last.messages == first.messages) {
        fprintf(stderr, "meter: %s has %lld messages\n", word[1], (long long)last.messages);
        return EXIT_FAILURE;
    }
    tell(&first, &last, pids);
    return 0;
}

static int delete_topic(const char *brokers, const char *topic)
{
    rd_kafka_t *rk = client(brokers);
    rd_kafka_queue_t *queue = rd_kafka_queue_new(rk);
    rd_kafka_DeleteTopic_t *one = rd_kafka_DeleteTopic_new(topic);
    rd_kafka_DeleteTopics(rk, &one, 1, NULL, queue);
    rd_kafka_event_t *answer = rd_kafka_queue_poll(queue, ANSWER_MS);
    int failed = !answer || rd_kafka_event_error(answer);
    if (answer)
        rd_kafka_event_destroy(answer);
    rd_kafka_DeleteTopic_destroy(one);
    rd_kafka_queue_destroy(queue);
    rd_kafka_destroy(rk);
    return failed;
}

int main(int argc, char **argv)
{
    if (argc == 4 && !strcmp(argv[1], "delete"))
        return delete_topic(argv[2], argv[3]);
    if (argc > 7 && argc <= 7 + PIDS)
        return measure(argv + 1);
    fputs("usage: meter BROKERS TOPIC PARTITIONS FROM TO SECONDS PID...\n"
          "       meter delete BROKERS TOPIC\n",
          stderr);
    return 2;
}
