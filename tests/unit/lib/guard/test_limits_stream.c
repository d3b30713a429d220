/* Named limits reachable by lists: open changes, unfetched findings and events, retained history.
 * Up to a limit nothing is lost; above it the loss is counted and is the documented part. */
#include "base/alloc.h"
#include "daemon/views/event_log.h"
#include "detect/detector_internal.h"
#include "detect/evidence_export.h"
#include "guard/event_json.h"
#include "guard/guard_internal.h"
#include "tests/event_from.h"
#include "tests/check.h"
#include "tests/must.h"
#include "tests/stream_assets.h"
#include "tests/stream_world.h"

#include <stdlib.h>

enum { TRAINING = 800, WIDE_ITEMS = 6, FAULTY_LISTS = 20, HEALTHY_LISTS = 400 };
static const char OBSERVE[] = "version: 1\nsegments: [arm]\n";

/* Lists with one feature more than the limit of open changes. The first `faulty` are in cents,
 * except the first `well` of them. */
struct wide {
    struct ek_manifest *manifest;
    struct ek_profile *profile;
    struct ek_rules *rules;
    struct ek_detector *detector;
    struct ek_list q;
    struct ek_rng rng;
    char id[32];
    int features, faulty, well;
};

static const struct ek_list *wide_next(struct wide *w)
{
    struct ek_list *q = &w->q;
    ek_list_resize(q, WIDE_ITEMS, w->features, 0);
    snprintf(w->id, sizeof w->id, "q%lld", (long long)++q->time_ms);
    q->id = stream_text(w->id);
    for (int i = 0; i < WIDE_ITEMS * w->features; i++) {
        int f = i % w->features;
        double factor = f < w->faulty && f >= w->well ? 100 : 1;
        q->x[i] = (float)(factor * exp(3 + .3 * ek_rng_normal(&w->rng)));
    }
    for (int i = 0; i < WIDE_ITEMS; i++)
        q->item_id[i] = q->id; /* otherwise a duplicate list */
    return q;
}

static void wide_open(struct wide *w)
{
    static const char rules[] = "version: 1\ndefaults: {confirmation_lists: 8}\n";
    struct ek_profile_fit *fit = NULL;
    struct ek_buf text;
    memset(w, 0, sizeof *w);
    w->features = EK_EPISODES_MAX + 1;
    ek_buf_init(&text, 0);
    must(ek_buf_text(&text, "features:\n"));
    for (int i = 1; i <= w->features; i++)
        must(ek_buf_printf(&text, "- {name: f%d, index: %d, role: item}\n", i, i));
    must(ek_manifest_parse(&w->manifest, "m", (const char *)text.data, text.length, NULL));
    ek_buf_release(&text);
    must(ek_rules_parse(&w->rules, w->manifest, "r", rules, strlen(rules), NULL));
    ek_rng_seed(&w->rng, 1);
    ek_list_init(&w->q);
    must(ek_profile_fit_new(&fit, w->manifest, NULL, NULL));
    for (int i = 0; i < TRAINING; i++)
        must(ek_profile_fit_add(fit, wide_next(w), NULL));
    must(ek_profile_fit_finish(fit, &w->profile, NULL));
    ek_profile_fit_free(fit);
    must(ek_detector_new(&w->detector, w->manifest, w->profile, w->rules, NULL));
}

static void wide_run(struct wide *w, int faulty, int well, int lists)
{
    w->faulty = faulty;
    w->well = well;
    for (int i = 0; i < lists; i++) {
        const struct ek_list *q = wide_next(w);
        ck_assert_int_eq(ek_detector_observe(w->detector, q, q->time_ms, NULL), EK_OK);
    }
}

static void wide_close(struct wide *w)
{
    ek_detector_free(w->detector);
    ek_list_release(&w->q);
    ek_profile_free(w->profile);
    ek_rules_free(w->rules);
    ek_manifest_free(w->manifest);
}

static uint64_t beyond(const struct ek_detector *d, enum ek_bound bound)
{
    return ek_detector_limit_counters(d).count[bound];
}

START_TEST(of_1025_changes_the_last_is_told_when_another_one_has_ended)
{
    enum { LAST = EK_EPISODES_MAX, ENDED = 3 };
    struct wide w;
    wide_open(&w);
    struct ek_detector *d = w.detector;
    wide_run(&w, EK_EPISODES_MAX - 1, 0, FAULTY_LISTS);
    ck_assert_int_eq(ek_detector_changes(d), EK_EPISODES_MAX - 1);
    wide_run(&w, EK_EPISODES_MAX, 0, FAULTY_LISTS);
    ck_assert_int_eq(ek_detector_changes(d), EK_EPISODES_MAX);
    ck_assert_uint_eq(beyond(d, EK_BOUND_CHANGES), 0);
    wide_run(&w, EK_EPISODES_MAX + 1, 0, FAULTY_LISTS);
    ck_assert_int_eq(ek_detector_changes(d), EK_EPISODES_MAX);
    ck_assert_uint_gt(beyond(d, EK_BOUND_CHANGES), 0);
    ck_assert_ptr_null(ek_episode_at(d, 0, LAST));
    for (int i = 0; i < HEALTHY_LISTS && !ek_episode_at(d, 0, LAST); i += FAULTY_LISTS)
        wide_run(&w, EK_EPISODES_MAX + 1, ENDED, FAULTY_LISTS);
    ck_assert_ptr_nonnull(ek_episode_at(d, 0, LAST));
    ck_assert_int_le(ek_detector_changes(d), EK_EPISODES_MAX);
    wide_close(&w);
}
END_TEST

/* A fault starts when all but one of the slots are taken. */
START_TEST(of_findings_that_nobody_fetches_the_newest_4096_are_kept_and_the_others_counted)
{
    struct stream_world w;
    struct ek_detector *d = NULL;
    struct ek_finding f = {0};
    uint64_t kept = 0;
    stream_world_start(&w, OBSERVE, TRAINING, 1);
    must(ek_detector_new(&d, w.manifest, w.profile, w.rules, NULL));
    d->findings = EK_FINDINGS_MAX - 1;
    while (d->findings < EK_FINDINGS_MAX + 2) {
        struct ek_list *q = stream_next(&w.stream);
        ck_assert_uint_lt(w.stream.number, 1000);
        stream_scale(q, 0, 100);
        stream_scale(q, 1, 100);
        ck_assert_int_eq(ek_detector_observe(d, q, q->time_ms, NULL), EK_OK);
        ck_assert_uint_eq(beyond(d, EK_BOUND_FINDINGS),
                          d->findings > EK_FINDINGS_MAX ? d->findings - EK_FINDINGS_MAX : 0);
    }
    for (; ek_detector_next(d, &f); kept++)
        ;
    ck_assert_uint_eq(kept, EK_FINDINGS_MAX);
    ck_assert_uint_eq(f.query + 1, ek_detector_list_count(d)); /* the newest is the last */
    ek_detector_free(d);
    stream_world_end(&w);
}
END_TEST

static void finding(struct ek_event_log *j, int episode, const char *state)
{
    char json[200];
    struct ek_event_log_change change;
    snprintf(json, sizeof json,
             "{\"event\":\"finding\",\"finding_id\":\"e-%d\",\"feature\":\"e\",\"state\":\"%s\"}",
             episode, state);
    ck_assert_int_eq(ek_event_log_add(j, event_from(json), json, episode, &change), EK_OK);
}

static bool is_open(struct ek_event_log *j, int episode)
{
    struct ek_buf out;
    char name[32];
    ek_buf_init(&out, 0);
    must(ek_event_log_findings(j, NULL, &out));
    snprintf(name, sizeof name, "\"e-%d\"", episode);
    bool found = strstr(ek_buf_string(&out), name) != NULL;
    ek_buf_release(&out);
    return found;
}

START_TEST(people_see_1024_open_findings_and_of_more_the_newest)
{
    struct ek_event_log *j = ek_event_log_new(10);
    for (int i = 1; i <= EK_EVENT_LOG_FINDINGS_MAX; i++)
        finding(j, i, "confirmed");
    ck_assert_uint_eq(ek_event_log_open(j), EK_EVENT_LOG_FINDINGS_MAX);
    ck_assert(is_open(j, 1));
    finding(j, 1, "updated"); /* already present, uses no slot */
    ck_assert(is_open(j, 1) && is_open(j, 2));
    finding(j, EK_EVENT_LOG_FINDINGS_MAX + 1, "confirmed");
    ck_assert_uint_eq(ek_event_log_open(j), EK_EVENT_LOG_FINDINGS_MAX);
    ck_assert(!is_open(j, 1) && is_open(j, 2) && is_open(j, EK_EVENT_LOG_FINDINGS_MAX + 1));
    finding(j, 1, "recovered");
    ck_assert_uint_eq(ek_event_log_open(j), EK_EVENT_LOG_FINDINGS_MAX);
    ek_event_log_free(j);
}
END_TEST

/* Add `count` events of that many bytes to a guard. Return the remaining number and the first. */
static int events_left(struct ek_guard *g, int count, size_t bytes, uint64_t *lost)
{
    struct ek_buf event;
    const char *text;
    int left = 0;
    uint64_t before = g->limits.count[EK_BOUND_EVENTS];
    ek_buf_init(&event, 0);
    for (int i = 0; i < count; i++) {
        ek_buf_clear(&event);
        must(ek_buf_printf(&event, "%08d", i));
        while (event.length < bytes)
            must(ek_buf_add(&event, "xxxxxxxx", 8));
        const struct ek_event v = {.kind = EK_EVENT_TEXT, .text = ek_buf_string(&event)};
        ck_assert_int_eq(ek_guard_emit(g, ek_event_copy(&v)), EK_OK);
    }
    *lost = g->limits.count[EK_BOUND_EVENTS] - before;
    for (; ek_guard_next_event(g, &text); left++)
        ck_assert_int_eq(strtol(text, NULL, 10), (int)*lost + left); /* only the oldest are lost */
    ek_buf_release(&event);
    return left;
}

START_TEST(of_events_that_nobody_fetches_the_newest_4096_and_16_mib_are_kept)
{
    enum { MIB = 1 << 20, MANY = EK_EVENTS_MAX, LARGE = EK_EVENTS_BYTES_MAX / MIB };
    static const struct {
        int count;
        size_t bytes;
        uint64_t lost;
    } cases[] = {
        {MANY - 1, 8, 0}, {MANY, 8, 0}, {MANY + 1, 8, 1}, {LARGE, MIB, 0}, {LARGE + 1, MIB, 1}};
    struct ek_assets assets;
    struct ek_guard *g = NULL;
    stream_assets_open(&assets, OBSERVE, NULL);
    ck_assert_int_eq(ek_guard_new(&g, &assets, NULL), EK_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        uint64_t lost;
        int left = events_left(g, cases[i].count, cases[i].bytes, &lost);
        ck_assert_uint_eq(lost, cases[i].lost);
        ck_assert_int_eq(left, cases[i].count - (int)lost);
    }
    ek_guard_free(g);
    ek_assets_release(&assets);
}
END_TEST

START_TEST(the_event_of_a_full_plan_fits_with_the_longest_names_there_are)
{
    enum { VALUES = 250, BYTES = EK_SEGMENT_BYTES_MAX };
    struct stream_world w;
    struct ek_detector *d = NULL;
    struct ek_plan *plan = ek_calloc(1, sizeof *plan);
    struct ek_buf out;
    int cell[VALUES];
    char name[BYTES + 1];
    stream_world_start(&w, OBSERVE, TRAINING, 1);
    must(ek_detector_new(&d, w.manifest, w.profile, w.rules, NULL));
    memset(name, '\1', sizeof name); /* six bytes in JSON */
    for (int i = 0; i < VALUES; i++) {
        name[0] = (char)('\1' + i % 16);
        name[1] = (char)('\1' + i / 16);
        must(ek_detector_retain_cell(d, stream_text("arm"), (struct ek_text){name, BYTES},
                                     &cell[i]));
        ck_assert_int_gt(cell[i], 0);
    }
    plan->count = EK_PLAN_MAX;
    for (int i = 0; i < EK_PLAN_MAX; i++)
        plan->entry[i] =
            (struct ek_plan_entry){.cell = cell[i % VALUES], .treatment = {.action = EK_ACT_ROUTE}};
    ek_buf_init(&out, EK_EVENT_BYTES_MAX);
    struct ek_event *event =
        ek_event_from_plan(w.manifest, ek_detector_registry(d), plan, UINT64_MAX, INT64_MIN);
    ck_assert_ptr_nonnull(event);
    ck_assert_uint_le(event->bytes, EK_EVENT_BYTES_MAX);
    ck_assert_int_eq(ek_event_json(event, &out), EK_OK);
    ek_free(event);
    /* with dimension and feature names of maximum length */
    ck_assert_uint_le(out.length + (size_t)EK_PLAN_MAX * 6 * 2 * EK_NAME_BYTES_MAX,
                      EK_EVENT_BYTES_MAX);
    ek_buf_release(&out);
    ek_free(plan);
    ek_detector_free(d);
    stream_world_end(&w);
}
END_TEST

Suite *suite_limits_stream(void)
{
    return ek_suite("limits of a stream",
                    of_1025_changes_the_last_is_told_when_another_one_has_ended,
                    of_findings_that_nobody_fetches_the_newest_4096_are_kept_and_the_others_counted,
                    people_see_1024_open_findings_and_of_more_the_newest,
                    of_events_that_nobody_fetches_the_newest_4096_and_16_mib_are_kept,
                    the_event_of_a_full_plan_fits_with_the_longest_names_there_are);
}
