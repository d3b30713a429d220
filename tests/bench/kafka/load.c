/* load: lists of 20 items and 136 features for the benchmarks on a broker.
 *
 *     load assets FOLDER      features.yaml, profile.ekp, model.safetensors
 *     load send BROKERS TOPIC COUNT bin|array PARTITIONS FAULTY_FROM PER_SECOND
 *
 * Lists from number FAULTY_FROM on have five features multiplied by 100, and the times of
 * PER_SECOND lists per second. Partitions are used in round robin; each message has a key and its
 * send time.
 */
#include "base/buf.h"
#include "lists/codec.h"
#include "schema/manifest.h"
#include "assets/profile.h"
#include "daemon/kafka/tool_client.h"
#include "tests/bench/bench.h"
#include "tests/bench/world.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FEATURES = 136, ITEMS = 20, TRAINING = 10000, WAIT_MS = 60000, PATH_BYTES = 4096 };
static const int64_t began_ms = 1790000000000;

static int told(const struct ek_error *e)
{
    char text[700];
    fprintf(stderr, "load: %s\n", ek_error_text(e, text, sizeof text));
    return EXIT_FAILURE;
}

static const char *path_of(char *room, const char *folder, const char *name)
{
    snprintf(room, PATH_BYTES, "%s/%s", folder, name);
    return room;
}

static int write_manifest(const char *path)
{
    struct ek_buf text;
    FILE *f = fopen(path, "w");
    ek_buf_init(&text, 0);
    ek_bench_manifest_text(&text, FEATURES, false);
    if (!f || fwrite(text.data, 1, text.length, f) != text.length || fclose(f)) {
        perror(path);
        return EXIT_FAILURE;
    }
    ek_buf_release(&text);
    return 0;
}

static int assets(const char *folder)
{
    char path[PATH_BYTES];
    struct ek_error e = {0};
    struct ek_manifest *m = ek_bench_manifest(FEATURES);
    struct ek_profile *p = ek_bench_list_profile(m, 1, TRAINING, ITEMS, NULL);
    struct ek_model *model = ek_bench_model(m);
    int rc = write_manifest(path_of(path, folder, "features.yaml"));
    if (!rc && (ek_profile_save(p, path_of(path, folder, "profile.ekp"), &e) ||
                ek_model_save(model, path_of(path, folder, "model.safetensors"), &e)))
        rc = told(&e);
    ek_model_free(model);
    ek_profile_free(p);
    ek_manifest_free(m);
    return rc;
}

struct sending {
    int64_t count, faulty_from, per_second;
    int partitions;
    enum ek_feature_encoding encoding;
};

static int send_lists(struct ek_tool_producer *s, const struct sending *w, struct ek_error *e)
{
    struct ek_manifest *m = ek_bench_manifest(FEATURES);
    struct ek_bench_list list;
    struct ek_buf bytes;
    int rc = 0;
    ek_bench_list_init(&list, 2);
    ek_buf_init(&bytes, 0);
    for (int64_t i = 0; !rc && i < w->count; i++) {
        ek_bench_list_next(&list, FEATURES, ITEMS);
        list.q.time_ms = began_ms + 1000 * i / w->per_second;
        if (i >= w->faulty_from)
            ek_bench_fault(&list.q);
        ek_buf_clear(&bytes);
        rc = ek_codec_encode(m, &list.q, w->encoding, &bytes, e);
        const struct ek_kafka_record r = {.partition = (int)(i % w->partitions),
                                          .offset = -1,
                                          .timestamp_ms = -1,
                                          .key = list.id,
                                          .key_length = strlen(list.id),
                                          .bytes = bytes.data,
                                          .length = bytes.length};
        rc = rc ? rc : ek_tool_producer_send(s, &r, e);
    }
    ek_buf_release(&bytes);
    ek_bench_list_release(&list);
    ek_manifest_free(m);
    return rc ? rc : ek_tool_producer_flush(s, WAIT_MS, e);
}

static int do_send(char **word)
{
    const struct sending w = {.count = ek_bench_number(word[2]),
                              .encoding =
                                  strcmp(word[3], "bin") ? EK_FEATURES_ARRAY : EK_FEATURES_BIN,
                              .partitions = (int)ek_bench_number(word[4]),
                              .faulty_from = ek_bench_number(word[5]),
                              .per_second = ek_bench_number(word[6])};
    struct ek_error e = {0};
    struct ek_tool_producer *s;
    if (ek_tool_producer_new(&s, word[0], word[1], EK_TOOL_PRODUCER_ORDERED, &e))
        return told(&e);
    int rc = send_lists(s, &w, &e);
    ek_tool_producer_free(s);
    return rc ? told(&e) : 0;
}

int main(int argc, char **argv)
{
    if (argc == 3 && !strcmp(argv[1], "assets"))
        return assets(argv[2]);
    if (argc == 9 && !strcmp(argv[1], "send") && ek_bench_number(argv[6]) > 0 &&
        ek_bench_number(argv[8]) > 0)
        return do_send(argv + 2);
    fputs("usage: load assets FOLDER | send BROKERS TOPIC COUNT bin|array PARTITIONS FAULTY_FROM "
          "PER_SECOND\n",
          stderr);
    return 2;
}
