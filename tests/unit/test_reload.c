/* Other rules, profile and model for a stage that runs, in one process against librdkafka's mock
 * cluster: what is taken, what is refused, and that a list has one set of them.
 */
#include "base/file.h"
#include "daemon/kafka_client.h"
#include "daemon/log.h"
#include "daemon/steward.h"
#include "offline/profile_fit.h"
#include "tests/guard_model.h"
#include "tests/stage_scene.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { PARTITIONS = 4, STREAM = 3000, RELOADS = 12 };

static const char MANIFEST[] = "reload-features.yaml", PROFILE[] = "reload.ekp",
                  RULES[] = "reload-rules.yaml", MODEL[] = "reload.safetensors",
                  CONFIG[] = "reload-run.yaml", TOKENS[] = "reload-tokens.txt";
static const char OBSERVE[] = "version: 1\n";
static const char ENFORCE[] = "version: 1\ndefaults: {mode: enforce}\n";

/* A stage by a configuration file, and who reloads it. */
struct house {
    struct scene s;
    struct ek_config *config;
    struct ek_assets *assets;
    struct ek_tokens *tokens;
    struct ek_steward *steward;
};

static void write_file(const char *path, const char *text)
{
    struct ek_error e;
    ck_assert_msg(!ek_file_write(path, text, &e), "%s", e.message);
}

static void write_config(const struct house *h, const char *more)
{
    char text[1200];
    snprintf(text, sizeof text,
             "input: {brokers: \"%s\", topics: [scored], group: g}\n"
             "output: {topic: ranked, dead_letter: ranked.dead}\n"
             "assets: {manifest: %s, profile: %s, rules: %s, model: %s}\n"
             "http: {listen: \"off\", token_file: %s}\n%s",
             ek_mock_brokers(h->s.mock), MANIFEST, PROFILE, RULES, MODEL, TOKENS, more);
    write_file(CONFIG, text);
}

/* A model that ranks by the first features, or against them. */
static void write_model(const struct house *h, float sign)
{
    struct ek_model *m = guard_model(h->s.assets.manifest);
    const struct ek_profile *p = h->s.assets.profile;
    for (int k = 0; k < m->routable_count; k++)
        m->log_mean[k] = p->baseline[m->routable[k]].log_mean;
    for (int q = 0; q < m->query_features; q++)
        m->query_sd[q] = 1;
    for (int i = 0; i < 8; i++)
        m->weight[1][i] *= sign;
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
    write_profile(h, TRAINING);
    write_model(h, 1);
    write_config(h, "pipeline: {workers: 3, batch: 8}\n");
    ck_assert_msg(!ek_config_load(&h->config, CONFIG, &e), "%s", e.message);
    ck_assert_msg(!ek_config_assets(&h->assets, h->config, NULL, &e), "%s", e.message);
    ck_assert_int_eq(ek_config_tokens(&h->tokens, h->config, &e), 0);
    ck_assert_msg(!ek_stage_new(&h->s.stage, h->config, h->assets, NULL, &e), "%s", e.message);
    ck_assert_int_eq(ek_steward_new(&h->steward, h->s.stage, h->config, h->tokens, NULL, &e), 0);
}

static void leave(struct house *h)
{
    static const char *const files[] = {MANIFEST, PROFILE, RULES, MODEL, CONFIG, TOKENS};
    ek_steward_free(h->steward);
    ek_stage_free(h->s.stage);
    ek_tokens_free(h->tokens);
    ek_assets_free(h->assets);
    ek_config_free(h->config);
    end(&h->s);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        unlink(files[i]);
}

/* What is told of the last reload, once all that were wished are done. */
static const char *outcome(struct house *h)
{
    static char text[8000];
    struct ek_buf json;
    int64_t until = ek_now_ms() + WAIT_MS;
    do {
        ek_buf_init(&json, 0);
        ck_assert_int_eq(ek_steward_reload_json(h->steward, &json), 0);
        snprintf(text, sizeof text, "%s", ek_buf_string(&json));
        ek_buf_release(&json);
        nanosleep(&(struct timespec){0, 1000000}, NULL);
    } while (strstr(text, "\"state\":\"loading\"") && ek_now_ms() < until);
    return text;
}

static const char *reload(struct house *h)
{
    ek_steward_reload(h->steward, false, "ana");
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
    ck_has(told, "\"who\":\"ana\",\"fit\":\"whole\",\"faults\":[],\"notes\":[]}");
    ck_assert_int_eq((int)ek_stage_assets(h.s.stage)->rules->feature[0].mode, EK_MODE_ENFORCE);
    char name[EK_AUTHOR_BYTES + 1];
    ck_assert(ek_tokens_who(h.tokens, "0123456789abcdef", name));
    ck_assert_str_eq(name, "ben");
    ck_assert(page_has(h.s.stage, "/metrics", "evenkeel_reloads_total{result=\"done\"} 1\n"));
    ck_assert(page_has(h.s.stage, "/api/v1/events", "{\"event\":\"reload\",\"result\":\"done\""));
    leave(&h);
}
END_TEST

START_TEST(keys_that_take_a_restart_are_named_and_stay)
{
    struct house h;
    enter(&h, OBSERVE);
    write_config(&h, "pipeline: {workers: 5, batch: 8}\nlimits: {message_bytes: 1KiB}\n");
    const char *told = reload(&h);
    ck_has(told, "\"state\":\"done\"");
    ck_has(told, "'pipeline.workers' takes a restart: what was in force stays");
    ck_has(told, "'limits.message_bytes' takes a restart");
    ck_assert_ptr_null(strstr(told, "pipeline.batch"));
    leave(&h);
}
END_TEST

/* Every one of the bad rules, too, whatever is wrong with it. */
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
    write_file(RULES, "version: 1\ndefaults: {hold: soon, mode: perhaps}\n");
    const char *told = reload(&h);
    ck_has(told, "'hold'");
    ck_has(told, "'mode'");
    write_file(RULES, "version: 1\nsegments: [arm]\n");
    ck_refused(&h, "'segments' of the rules is another one");
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

START_TEST(other_segments_are_taken_when_somebody_says_so)
{
    struct house h;
    enter(&h, OBSERVE);
    write_file(RULES, "version: 1\nsegments: [arm]\n");
    ek_steward_reload(h.steward, true, NULL);
    const char *told = outcome(&h);
    ck_has(told, "\"state\":\"done\"");
    ck_has(told, "\"who\":null,\"fit\":\"other_profile\"");
    leave(&h);
}
END_TEST

START_TEST(a_signal_before_the_stage_runs_is_heeded)
{
    struct house h;
    enter(&h, OBSERVE);
    write_file(RULES, ENFORCE);
    ek_steward_hup(h.steward);
    ek_steward_hup(h.steward);
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

static void *feed_all(void *context)
{
    feed(context, 0, STREAM);
    return NULL;
}

/* While lists flow through several workers the model is another one again and again. */
START_TEST(nothing_is_lost_or_doubled_while_assets_change)
{
    struct house h;
    pthread_t feeder;
    int done = 0;
    enter(&h, OBSERVE);
    ck_assert_int_eq(pthread_create(&h.s.thread, NULL, run, &h.s), 0);
    ck_assert_int_eq(pthread_create(&feeder, NULL, feed_all, &h.s), 0);
    for (int i = 0; i < RELOADS; i++) {
        write_model(&h, i % 2 ? 1 : -1);
        write_file(RULES, i % 2 ? OBSERVE : ENFORCE);
        done += strstr(reload(&h), "\"state\":\"done\"") != NULL;
    }
    ck_assert_int_eq(done, RELOADS);
    pthread_join(feeder, NULL);
    struct ek_stage_stats t = wait_for(&h.s, STREAM);
    ck_assert_uint_eq(t.queries, STREAM - STREAM / 10);
    join(&h.s);
    leave(&h);
}
END_TEST

Suite *suite_reload(void)
{
    return ek_suite(
        "reload", what_is_sound_is_taken_and_told, keys_that_take_a_restart_are_named_and_stay,
        a_refused_reload_changes_nothing, other_segments_are_taken_when_somebody_says_so,
        a_signal_before_the_stage_runs_is_heeded, nothing_is_lost_or_doubled_while_assets_change);
}
