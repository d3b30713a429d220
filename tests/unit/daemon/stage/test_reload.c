/* Reload of rules, profile and model in a running stage, against librdkafka's mock cluster:
 * acceptance, rejection, and one set of assets per list. */
#include "daemon/base/clock.h"
#include "base/file.h"
#include "daemon/kafka/client.h"
#include "daemon/base/log.h"
#include "daemon/stage/reload.h"
#include "offline/fit/profile_fit.h"
#include "score/scorer.h"
#include "tests/guard_model.h"
#include "tests/stage_scene.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    PARTITIONS = 4,
    MORE_TRAINING = 3000,
    FAULT_FROM = 600,
    BEGUN = 1200,
    SLICE = 200,
    RELOADS = 4
};

static const char MANIFEST[] = "reload-features.yaml", PROFILE[] = "reload.ekp",
                  RULES[] = "reload-rules.yaml", MODEL[] = "reload.safetensors",
                  CONFIG[] = "reload-run.yaml", TOKENS[] = "reload-tokens.txt";
static const char OBSERVE[] = "version: 1\n";
static const char ENFORCE[] = "version: 1\ndefaults: {mode: enforce}\n";
/* Routes for any model. */
static const char ROUTING[] = "version: 1\n"
                              "defaults: {mode: enforce, min_duration: 1h, canary: {abort_if: "
                              "{worse_than_unmitigated: false}}}\n";

/* A stage from a configuration file, with its reload service. */
struct house {
    struct scene s;
    struct ek_config *config;
    struct ek_assets *assets;
    struct ek_tokens *tokens;
    struct ek_reload_service *reload_service;
};

/* Set the time of change of a file, in seconds before now. A file that changed less than 200 ms
 * before a reload is read again. */
static void set_age(const char *path, long seconds)
{
    struct timespec times[2];
    clock_gettime(CLOCK_REALTIME, &times[0]);
    times[0].tv_sec -= seconds;
    times[1] = times[0];
    ck_assert_int_eq(utimensat(AT_FDCWD, path, times, 0), 0);
}

static void write_file(const char *path, const char *text)
{
    struct ek_error e;
    ck_assert_msg(!ek_file_write(path, text, &e), "%s", e.message);
    set_age(path, 10);
}

static void write_config(const struct house *h, const char *more)
{
    char text[1200];
    snprintf(text, sizeof text,
             "input: {brokers: \"%s\", topics: [scored], group: g}\n"
             "output: {topic: ranked, dead_letter_topic: ranked.dead, "
             "undecodable: dead_letter}\n"
             "assets: {manifest: %s, profile: %s, rules: %s, model: %s}\n"
             "http: {listen: \"off\", token_file: %s}\n%s",
             ek_mock_brokers(h->s.mock), MANIFEST, PROFILE, RULES, MODEL, TOKENS, more);
    write_file(CONFIG, text);
}

/* Return a model that ranks by the first features, or against them. */
static struct ek_model *make_model(const struct house *h, float sign)
{
    struct ek_model *m = guard_model(h->s.assets.manifest);
    const struct ek_profile *p = h->s.assets.profile;
    for (int k = 0; k < m->routable_count; k++)
        m->log_mean[k] = p->baseline[m->routable[k]].log_mean;
    for (int q = 0; q < m->query_features; q++)
        m->query_sd[q] = 1;
    for (int i = 0; i < 8; i++)
        m->weight[1][i] *= sign;
    return m;
}

static void write_model(const struct house *h, float sign)
{
    struct ek_model *m = make_model(h, sign);
    ck_assert_int_eq(ek_model_describe(m, NULL), 0);
    ck_assert_int_eq(ek_model_save(m, MODEL, NULL), 0);
    ek_model_free(m);
}

static void write_profile(struct house *h, uint64_t lists)
{
    train(&h->s, lists);
    ck_assert_int_eq(ek_profile_save(h->s.assets.profile, PROFILE, NULL), 0);
}

static void enter(struct house *h, const char *rules)
{
    struct ek_error e;
    memset(h, 0, sizeof *h);
    begin_with(&h->s, PARTITIONS);
    h->s.spread = PARTITIONS;
    h->s.change = make_short;
    write_file(MANIFEST, ek_hotel_manifest());
    write_file(RULES, rules);
    write_file(TOKENS, "ana 0123456789abcdef\n");
    write_profile(h, MORE_TRAINING);
    write_model(h, 1);
    write_config(h, "pipeline: {workers: 3, batch_size: 8}\n");
    ck_assert_msg(!ek_config_load(&h->config, CONFIG, NULL, &e), "%s", e.message);
    ck_assert_msg(!ek_config_assets(&h->assets, h->config, NULL, &e), "%s", e.message);
    ck_assert_int_eq(ek_config_tokens(&h->tokens, h->config, &e), 0);
    ck_assert_msg(!ek_stage_new(&h->s.stage, h->config, h->assets, NULL, &e), "%s", e.message);
    ck_assert_int_eq(
        ek_reload_service_new(&h->reload_service, h->s.stage, h->config, h->tokens, NULL, &e), 0);
}

static void leave(struct house *h)
{
    static const char *const files[] = {MANIFEST, PROFILE, RULES, MODEL, CONFIG, TOKENS};
    ek_reload_service_free(h->reload_service);
    ek_stage_free(h->s.stage);
    ek_tokens_free(h->tokens);
    ek_assets_free(h->assets);
    ek_config_free(h->config);
    end(&h->s);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        unlink(files[i]);
}

/* Return the status of the last reload, after all requested ones. */
static const char *outcome(struct house *h)
{
    static char text[8000];
    struct ek_buf json;
    int64_t until = ek_now_ms() + WAIT_MS;
    do {
        ek_buf_init(&json, 0);
        ck_assert_int_eq(ek_reload_service_json(h->reload_service, &json), 0);
        snprintf(text, sizeof text, "%s", ek_buf_string(&json));
        ek_buf_release(&json);
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    } while (strstr(text, "\"state\":\"loading\"") && ek_now_ms() < until);
    return text;
}

static const char *reload(struct house *h)
{
    ek_reload_service_request(h->reload_service, false, "ana");
    return outcome(h);
}

static void ck_has(const char *text, const char *part)
{
    ck_assert_msg(strstr(text, part) != NULL, "no %s in %s", part, text);
}

static void ck_refused(struct house *h, const char *why)
{
    const struct ek_assets *before = ek_stage_assets(h->s.stage);
    const char *told = reload(h);
    ck_has(told, "\"state\":\"refused\"");
    ck_has(told, why);
    ck_assert_ptr_eq(ek_stage_assets(h->s.stage), before);
}

START_TEST(what_is_sound_is_taken_and_told)
{
    struct house h;
    enter(&h, OBSERVE);
    ck_has(outcome(&h), "\"state\":\"never\"");
    write_file(RULES, ENFORCE);
    write_file(TOKENS, "ben 0123456789abcdef\n");
    const char *told = reload(&h);
    ck_has(told, "{\"state\":\"done\",\"reload\":1,");
    ck_has(told, "\"actor\":\"ana\",\"carried_over\":\"all\",\"errors\":[],\"warnings\":[]}");
    ck_assert_int_eq((int)ek_stage_assets(h.s.stage)->rules->feature[0].mode, EK_MODE_ENFORCE);
    char name[EK_AUTHOR_BYTES + 1];
    ck_assert(ek_tokens_find(h.tokens, "0123456789abcdef", name));
    ck_assert_str_eq(name, "ben");
    ck_assert(page_has(h.s.stage, "/metrics", "evenkeel_reloads_total{result=\"done\"} 1\n"));
    ck_assert(page_has(h.s.stage, "/api/v1/events", "{\"event\":\"reload\",\"result\":\"done\""));
    ck_assert(page_has(h.s.stage, "/api/v1/events", "\"type\":\"reload\",\"actor\":\"ana\""));
    leave(&h);
}
END_TEST

START_TEST(keys_that_take_a_restart_are_named_and_stay)
{
    struct house h;
    enter(&h, OBSERVE);
    write_config(&h, "pipeline: {workers: 5, batch_size: 8}\nlimits: {message_bytes: 1KiB}\n");
    const char *told = reload(&h);
    ck_has(told, "\"state\":\"done\"");
    ck_has(told, "'pipeline.workers' takes a restart: what was in force stays");
    ck_has(told, "'limits.message_bytes' takes a restart");
    ck_assert_ptr_null(strstr(told, "pipeline.batch_size"));
    leave(&h);
}
END_TEST

/* Check that each bad rules file is rejected. */
static int refuse_bad_rules(struct house *h)
{
    DIR *folder = opendir("tests/bad/rules");
    struct dirent *entry;
    int refused = 0;
    ck_assert_ptr_nonnull(folder);
    while ((entry = readdir(folder))) {
        struct ek_buf text;
        char path[400];
        snprintf(path, sizeof path, "tests/bad/rules/%s", entry->d_name);
        ek_buf_init(&text, 0);
        if (!strstr(entry->d_name, ".yaml") || ek_file_read(path, &text, NULL)) {
            ek_buf_release(&text);
            continue;
        }
        FILE *to = fopen(RULES, "wb");
        ck_assert_ptr_nonnull(to);
        fwrite(text.data, 1, text.length, to);
        fclose(to);
        set_age(RULES, 10);
        ek_buf_release(&text);
        ck_refused(h, "'assets.rules': ");
        refused++;
    }
    closedir(folder);
    return refused;
}

START_TEST(a_refused_reload_changes_nothing)
{
    struct house h;
    struct ek_profile *profile;
    enter(&h, OBSERVE);
    ck_assert_int_gt(refuse_bad_rules(&h), 80);
    write_file(RULES, "version: 1\ndefaults: {min_duration: soon, mode: perhaps}\n");
    const char *told = reload(&h);
    ck_has(told, "'min_duration'");
    ck_has(told, "'mode'");
    write_file(RULES, "version: 1\nsegments: [arm]\n");
    ck_refused(&h, "'segments' of the rules has changed");
    unlink(RULES);
    ck_refused(&h, "'assets.rules': ");
    write_file(RULES, OBSERVE);
    profile = h.s.assets.profile;
    for (int f = 0; f < profile->features; f++)
        profile->baseline[f].log_mean += 3;
    ck_assert_int_eq(ek_profile_save(profile, PROFILE, NULL), 0);
    ck_refused(&h, "'assets.model': ");
    ck_refused(&h, "make both from the same data");
    write_file(PROFILE, "none");
    ck_refused(&h, "'assets.profile': ");
    write_profile(&h, TRAINING);
    write_file(MODEL, "none");
    ck_refused(&h, "'assets.model': ");
    write_model(&h, 1);
    write_file(TOKENS, "short\n");
    ck_refused(&h, "'http.token_file': ");
    write_file(TOKENS, "ana 0123456789abcdef\n");
    write_file(CONFIG, "input: {brokers: x, topic: y}\n");
    ck_refused(&h, "did you mean");
    unlink(CONFIG);
    ck_refused(&h, CONFIG);
    ck_assert(page_has(h.s.stage, "/metrics", "evenkeel_reloads_total{result=\"done\"} 0\n"));
    write_config(&h, "");
    ck_has(reload(&h), "\"state\":\"done\"");
    leave(&h);
}
END_TEST

/* Write the rules as an editor that truncates the file and needs a moment for the rest. The first
 * line alone is valid. */
static int64_t nap_ms;
static void *write_slowly(void *context)
{
    const char *text = context, *end = strchr(text, '\n') + 1;
    int64_t begun = ek_now_ms();
    FILE *to = fopen(RULES, "wb");
    ck_assert_ptr_nonnull(to);
    fwrite(text, 1, (size_t)(end - text), to);
    fflush(to);
    nanosleep(&(struct timespec){0, 100000000}, NULL);
    fputs(end, to);
    fclose(to);
    nap_ms = ek_now_ms() - begun;
    return NULL;
}

START_TEST(rules_that_are_being_written_are_read_when_they_are_whole)
{
    enum { SETTLES_MS = 150 }; /* a writer that was not scheduled for longer is no editor */
    struct house h;
    pthread_t writer;
    const char *done;
    enter(&h, ENFORCE);
    do {
        ck_assert(!pthread_create(&writer, NULL, write_slowly, (void *)(uintptr_t)ENFORCE));
        nanosleep(&(struct timespec){0, 30000000}, NULL);
        done = reload(&h);
        ck_assert(!pthread_join(writer, NULL));
        if (nap_ms > SETTLES_MS) /* restore what half a file has changed */
            reload(&h);
    } while (nap_ms > SETTLES_MS);
    ck_has(done, "\"warnings\":[]}");
    ck_assert_int_eq((int)ek_stage_assets(h.s.stage)->rules->feature[0].mode, EK_MODE_ENFORCE);
    write_file(RULES, OBSERVE);
    ck_has(reload(&h),
           "the mode of 'defaults' in the rules has changed from 'enforce' to 'observe'");
    leave(&h);
}
END_TEST

START_TEST(other_segments_are_taken_when_somebody_says_so)
{
    struct house h;
    enter(&h, OBSERVE);
    write_file(RULES, "version: 1\nsegments: [arm]\n");
    ek_reload_service_request(h.reload_service, true, NULL);
    const char *told = outcome(&h);
    ck_has(told, "\"state\":\"done\"");
    ck_has(told, "\"actor\":null,\"carried_over\":\"counters_only\"");
    leave(&h);
}
END_TEST

START_TEST(a_signal_before_the_stage_runs_is_heeded)
{
    struct house h;
    enter(&h, OBSERVE);
    write_file(RULES, ENFORCE);
    ek_reload_service_signal(h.reload_service);
    ek_reload_service_signal(h.reload_service);
    int64_t until = ek_now_ms() + WAIT_MS;
    while (strstr(outcome(&h), "\"state\":\"never\"") && ek_now_ms() < until)
        ;
    ck_has(outcome(&h), "\"state\":\"done\"");
    feed(&h.s, 0, LISTS);
    ck_assert_int_eq(pthread_create(&h.s.thread, NULL, run, &h.s), 0);
    wait_for(&h.s, LISTS);
    join(&h.s);
    leave(&h);
}
END_TEST

/* Prices in cents from a given list on, with upstream scores. */
static void in_cents(struct ek_list *q, uint64_t i)
{
    make_short(q, i);
    for (int k = 0; k < q->items; k++) {
        q->score[k] = k;
        q->x[k * q->item_features] *= i >= FAULT_FROM ? 100 : 1;
    }
}

/* Model of each plan version: that of the reload that created it. */
struct made {
    uint64_t plan;
    float sign;
};

struct reading {
    struct house *h;
    struct made made[RELOADS + 1];
    int count, routed, of[2]; /* models */
};

static float sign_of(const struct reading *r, uint64_t plan)
{
    for (int i = 0; i < r->count; i++)
        if (r->made[i].plan == plan)
            return r->made[i].sign;
    return 0;
}

static uint64_t header_number(const struct ek_kafka_record *r, const char *name)
{
    char text[32] = "";
    for (size_t i = 0; i < r->header_count; i++)
        if (!strcmp(r->headers[i].name, name) && r->headers[i].length < sizeof text)
            memcpy(text, r->headers[i].value, r->headers[i].length);
    return strtoull(text, NULL, 10);
}

/* Score an input list by a model with the price routed. */
static void expect(struct reading *r, uint64_t list, float sign, struct ek_buf *out)
{
    struct scene *s = &r->h->s;
    struct ek_model *m = make_model(r->h, sign);
    struct ek_treatment *t = calloc((size_t)m->routable_count, sizeof *t);
    struct ek_scorer *scorer;
    struct ek_list q;
    struct ek_buf message;
    double scores[16];
    t[0].action = EK_ACT_ROUTE;
    ek_list_init(&q);
    ek_buf_init(&message, 0);
    make_message(s, list, &q, &message);
    ck_assert_int_eq(ek_codec_decode(s->assets.codec, message.data, message.length, &q, NULL), 0);
    ck_assert_int_eq(ek_scorer_new(&scorer, m, NULL), 0);
    ck_assert_int_eq(ek_scorer_score(scorer, &q, t, scores, NULL), 0);
    ck_assert_int_eq(ek_codec_patch(&q, message.data, message.length, scores, out, NULL), 0);
    ek_scorer_free(scorer);
    ek_list_release(&q);
    ek_buf_release(&message);
    ek_model_free(m);
    free(t);
}

static void check_output(struct reading *r, const struct ek_kafka_record *record)
{
    struct ek_buf expected;
    uint64_t list = (uint64_t)record->timestamp_ms - 1000;
    float sign = sign_of(r, header_number(record, "ek-plan-version"));
    bool routed = false;
    for (size_t i = 0; i < record->header_count; i++)
        routed |= !strcmp(record->headers[i].name, "ek-action") &&
                  !memcmp(record->headers[i].value, "routed", 6);
    if (!routed)
        return;
    ck_assert_msg(sign != 0, "list %d is of a plan that no reload made", (int)list);
    ek_buf_init(&expected, 0);
    expect(r, list, sign, &expected);
    ck_assert_uint_eq(expected.length, record->length);
    ck_assert_msg(!memcmp(expected.data, record->bytes, record->length),
                  "list %d was not scored by the model of its plan", (int)list);
    ek_buf_release(&expected);
    r->routed++;
    r->of[sign > 0]++;
}

static uint64_t read_outputs(struct reading *r)
{
    struct ek_merged_consumer *t;
    struct ek_kafka_record record;
    uint64_t n = 0;
    int got;
    ck_assert_int_eq(ek_merged_consumer_new(&t, ek_mock_brokers(r->h->s.mock), "ranked",
                                            EK_MERGED_CONSUMER_UNTIL_END, WAIT_MS, NULL),
                     0);
    for (; !ek_merged_consumer_at_end(t); n += (uint64_t)got) {
        ck_assert_int_eq(ek_merged_consumer_next(t, &record, 100, &got, NULL), 0);
        if (got)
            check_output(r, &record);
    }
    ek_merged_consumer_free(t);
    return n;
}

static uint64_t plan_version(struct house *h)
{
    struct ek_stage_stats t;
    ek_stage_stats(h->s.stage, &t);
    return t.plan_version;
}

/* Send that many more lists in a second thread. */
struct slice {
    struct scene *s;
    uint64_t from, to;
};

static void *feed_slice(void *context)
{
    const struct slice *slice = context;
    feed(slice->s, slice->from, slice->to);
    return NULL;
}

/* Alternate rules with and without routes, each with another model than the last routing one. Half
 * of the lists complete before the reload; the others are sent during it. */
static void reload_in_traffic(struct reading *r, int i)
{
    struct house *h = r->h;
    pthread_t feeder;
    float sign = i % 4 < 2 ? 1 : -1;
    uint64_t from = BEGUN + (uint64_t)i * SLICE;
    struct slice slice = {&h->s, from + SLICE / 2, from + SLICE};
    write_model(h, sign);
    write_file(RULES, i % 2 ? OBSERVE : ROUTING);
    feed(&h->s, from, from + SLICE / 2);
    wait_for(&h->s, from + SLICE / 2);
    ck_assert_int_eq(pthread_create(&feeder, NULL, feed_slice, &slice), 0);
    const char *told = reload(h);
    pthread_join(feeder, NULL);
    ck_has(told, "\"state\":\"done\"");
    if (i % 2 == 0)
        r->made[r->count++] = (struct made){plan_version(h), sign};
    wait_for(&h->s, from + SLICE);
}

/* The plan version of each output identifies its model. */
START_TEST(each_list_has_one_set_of_assets)
{
    struct house h;
    struct reading r = {.h = &h};
    uint64_t lists = BEGUN + RELOADS * SLICE;
    enter(&h, OBSERVE);
    h.s.change = in_cents;
    ck_assert_int_eq(pthread_create(&h.s.thread, NULL, run, &h.s), 0);
    feed(&h.s, 0, FAULT_FROM); /* separately, as partitions are read one after the other */
    wait_for(&h.s, FAULT_FROM);
    feed(&h.s, FAULT_FROM, BEGUN);
    wait_for(&h.s, BEGUN);
    wait_for_page(h.s.stage, "/api/v1/findings", "\"class\":\"scale\"");
    for (int i = 0; i < RELOADS; i++)
        reload_in_traffic(&r, i);
    join(&h.s);
    ck_assert_uint_eq(read_outputs(&r), lists - lists / 10);
    ck_assert_int_gt(r.of[0], 0);
    ck_assert_int_gt(r.of[1], 0);
    leave(&h);
}
END_TEST

Suite *suite_reload(void)
{
    return ek_suite("reload", what_is_sound_is_taken_and_told,
                    keys_that_take_a_restart_are_named_and_stay, a_refused_reload_changes_nothing,
                    rules_that_are_being_written_are_read_when_they_are_whole,
                    other_segments_are_taken_when_somebody_says_so,
                    a_signal_before_the_stage_runs_is_heeded, each_list_has_one_set_of_assets);
}
