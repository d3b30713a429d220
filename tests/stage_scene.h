/* Stage in this process on generated hotel lists, with librdkafka's mock cluster. */
#ifndef EK_TESTS_STAGE_SCENE_H
#define EK_TESTS_STAGE_SCENE_H

#include "daemon/base/clock.h"
#include "daemon/http/pages.h"
#include "daemon/kafka/mock_cluster.h"
#include "daemon/kafka/tool_client.h"
#include "daemon/stage/stage.h"
#include "serve/assets.h"
#include "offline/world/hotel.h"
#include "offline/fit/profile_fit.h"
#include "tests/check.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { WAIT_MS = 240000, LISTS = 60, TRAINING = 100, MANY = 2000 };

struct scene {
    struct ek_assets assets;
    struct ek_hotel *hotel;
    struct ek_mock *mock;
    struct ek_config *config;
    struct ek_stage *stage;
    void (*change)(struct ek_list *q, uint64_t i); /* applied to each sent list; NULL: none */
    int spread;                                    /* partitions used in round robin; 0: by key */
    pthread_t thread;
    int rc;
    struct ek_error error;
};

/* Files of trained profiles by number of lists. Each test is a process of its own; the first one
 * that needs a profile trains it for the others. */
enum { SHARED_PROFILES = 4, SHARED_BYTES = 4 << 20 };

static struct shared_profile {
    uint64_t lists;
    size_t length; /* written last; 0: not trained yet */
    char bytes[SHARED_BYTES];
} * shared_profiles;

__attribute__((constructor)) static void share_profiles(void)
{
    shared_profiles = mmap(NULL, SHARED_PROFILES * sizeof *shared_profiles, PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

/* Return the place of a profile, or NULL if none is left. */
static inline struct shared_profile *find_shared(uint64_t lists)
{
    for (int i = 0; i < SHARED_PROFILES && shared_profiles != MAP_FAILED; i++)
        if (shared_profiles[i].lists == lists || !shared_profiles[i].length)
            return &shared_profiles[i];
    return NULL;
}

static inline void save_shared(struct scene *s, struct shared_profile *to, uint64_t lists)
{
    char path[] = "/tmp/ek-profile-XXXXXX";
    close(mkstemp(path));
    ck_assert_int_eq(ek_profile_save(s->assets.profile, path, NULL), 0);
    FILE *from = fopen(path, "rb");
    size_t length = fread(to->bytes, 1, SHARED_BYTES, from);
    fclose(from);
    unlink(path);
    to->lists = lists;
    to->length = length < SHARED_BYTES ? length : 0;
}

static inline void load_shared(struct scene *s, const struct shared_profile *from)
{
    char path[] = "/tmp/ek-profile-XXXXXX";
    FILE *to = fdopen(mkstemp(path), "wb");
    ck_assert_uint_eq(fwrite(from->bytes, 1, from->length, to), from->length);
    ck_assert_int_eq(fclose(to), 0);
    ck_assert_int_eq(ek_profile_load(&s->assets.profile, path, NULL), 0);
    unlink(path);
}

static inline void train_new(struct scene *s, uint64_t lists)
{
    struct ek_profile_fit *fit;
    struct ek_list q;
    ck_assert_int_eq(ek_profile_fit_new(&fit, s->assets.manifest, NULL, NULL), 0);
    ek_list_init(&q);
    for (uint64_t i = 0; i < lists; i++) {
        ck_assert_int_eq(ek_hotel_list(s->hotel, i, &q, NULL), 0);
        ck_assert_int_eq(ek_profile_fit_add(fit, &q, NULL), 0);
    }
    ck_assert_int_eq(ek_profile_fit_finish(fit, &s->assets.profile, NULL), 0);
    ek_list_release(&q);
    ek_profile_fit_free(fit);
}

static inline void train(struct scene *s, uint64_t lists)
{
    struct shared_profile *shared = find_shared(lists);
    ek_profile_free(s->assets.profile);
    s->assets.profile = NULL;
    if (shared && shared->length) {
        load_shared(s, shared);
        return;
    }
    train_new(s, lists);
    if (shared)
        save_shared(s, shared, lists);
}

static inline void make_assets(struct scene *s)
{
    const char *text = ek_hotel_manifest();
    ck_assert_int_eq(ek_manifest_parse(&s->assets.manifest, "m", text, strlen(text), NULL), 0);
    ck_assert_int_eq(ek_hotel_new(&s->hotel, 1, NULL), 0);
    train(s, TRAINING);
    ck_assert_int_eq(ek_rules_default(&s->assets.rules, s->assets.manifest, NULL), 0);
    ck_assert_int_eq(ek_codec_new(&s->assets.codec, s->assets.manifest, NULL, NULL, NULL), 0);
}

static inline void set(struct scene *s, const char *key, const char *value)
{
    struct ek_error e;
    ck_assert_msg(!ek_config_set(s->config, key, value, &e), "%s: %s", key, e.message);
}

static inline void make_topics(struct scene *s, int partitions)
{
    static const char *const topics[] = {"scored", "ranked", "ranked.dead"};
    for (size_t i = 0; i < sizeof topics / sizeof *topics; i++)
        ck_assert_int_eq(ek_mock_topic(s->mock, topics[i], partitions, NULL), 0);
}

static inline void begin_with(struct scene *s, int partitions)
{
    struct ek_error e;
    memset(s, 0, sizeof *s);
    make_assets(s);
    ck_assert_int_eq(ek_mock_start(&s->mock, &e), 0);
    ck_assert_int_eq(ek_config_new(&s->config, &e), 0);
    set(s, "input.brokers", ek_mock_brokers(s->mock));
    set(s, "input.topics", "scored");
    set(s, "input.group", "g");
    set(s, "output.topic", "ranked");
    set(s, "output.dead_letter_topic", "ranked.dead");
    set(s, "output.undecodable", "dead_letter");
    set(s, "input.commit_interval", "50ms");
    make_topics(s, partitions);
}

static inline void begin(struct scene *s)
{
    begin_with(s, 1);
}

static inline void end(struct scene *s)
{
    ek_mock_stop(s->mock);
    ek_config_free(s->config);
    ek_hotel_free(s->hotel);
    ek_assets_release(&s->assets);
}

static inline void *run(void *context)
{
    struct scene *s = context;
    s->rc = ek_stage_run(s->stage, &s->error);
    return NULL;
}

/* Start the stage. `log` may be NULL. */
static inline void start_with(struct scene *s, struct ek_log *log)
{
    struct ek_error e;
    ck_assert_msg(!ek_stage_new(&s->stage, s->config, &s->assets, log, &e), "%s", e.message);
    ck_assert_int_eq(pthread_create(&s->thread, NULL, run, s), 0);
}

static inline void start(struct scene *s)
{
    start_with(s, NULL);
}

static inline void join(struct scene *s)
{
    ek_stage_stop(s->stage);
    ck_assert_int_eq(pthread_join(s->thread, NULL), 0);
    ck_assert_msg(!s->rc, "%s", s->error.message);
}

static inline void finish(struct scene *s)
{
    join(s);
    ek_stage_free(s->stage);
    s->stage = NULL;
}

static inline struct ek_stage_stats wait_within(struct scene *s, uint64_t handled, int64_t ms)
{
    struct ek_stage_stats t;
    int64_t until = ek_now_ms() + ms;
    do {
        nanosleep(&(struct timespec){0, 5000000}, NULL);
        ek_stage_stats(s->stage, &t);
    } while ((!t.ready || t.passed + t.routed + t.dead < handled) && ek_now_ms() < until);
    ck_assert_uint_eq(t.passed + t.routed + t.dead, handled);
    return t;
}

static inline struct ek_stage_stats wait_for(struct scene *s, uint64_t handled)
{
    return wait_within(s, handled, WAIT_MS);
}

static inline void make_message(struct scene *s, uint64_t i, struct ek_list *q,
                                struct ek_buf *message)
{
    ck_assert_int_eq(ek_hotel_list(s->hotel, i, q, NULL), 0);
    if (s->change)
        s->change(q, i);
    ek_buf_clear(message);
    ck_assert_int_eq(ek_codec_encode(s->assets.manifest, q, EK_FEATURES_ARRAY, message, NULL), 0);
}

/* Send lists [from, to), every tenth one truncated. */
static inline void feed(struct scene *s, uint64_t from, uint64_t to)
{
    struct ek_tool_producer *sender;
    struct ek_error e;
    struct ek_list q;
    struct ek_buf message;
    ek_list_init(&q);
    ek_buf_init(&message, 0);
    ck_assert_int_eq(ek_tool_producer_new(&sender, ek_mock_brokers(s->mock), "scored",
                                          EK_TOOL_PRODUCER_ORDERED, &e),
                     0);
    for (uint64_t i = from; i < to; i++) {
        make_message(s, i, &q, &message);
        struct ek_kafka_record r = {.partition = s->spread ? (int)(i % (uint64_t)s->spread) : -1,
                                    .timestamp_ms = 1000 + (int64_t)i,
                                    .key = "k",
                                    .key_length = 1,
                                    .bytes = message.data,
                                    .length = message.length - (i % 10 == 9)};
        ck_assert_int_eq(ek_tool_producer_send(sender, &r, &e), 0);
    }
    ck_assert_int_eq(ek_tool_producer_flush(sender, WAIT_MS, &e), 0);
    ek_tool_producer_free(sender);
    ek_buf_release(&message);
    ek_list_release(&q);
}

/* Shorten a list so that the mock cluster retains all of them. */
static inline void make_short(struct ek_list *q, uint64_t i)
{
    (void)i;
    q->items = q->items > 5 ? 5 : q->items;
}

static inline bool page_has(struct ek_stage *stage, const char *path, const char *part)
{
    struct ek_buf body;
    const char *type = NULL;
    ek_buf_init(&body, 0);
    const struct ek_api api = {.stage = stage};
    ck_assert_uint_eq(ek_http_page(&api, path, NULL, &type, &body), 200);
    bool found = strstr(ek_buf_string(&body), part) != NULL;
    ek_buf_release(&body);
    return found;
}

static inline void wait_for_page(struct ek_stage *stage, const char *path, const char *part)
{
    int64_t until = ek_now_ms() + WAIT_MS;
    while (!page_has(stage, path, part) && ek_now_ms() < until)
        nanosleep(&(struct timespec){0, 5000000}, NULL);
    ck_assert_msg(page_has(stage, path, part), "%s: no '%s'", path, part);
}

#endif
