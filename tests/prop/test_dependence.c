/* Lists that depend on one another: sessions, autocorrelation, seasons. Healthy traffic gives no
 * finding, independent lists keep their delays, and faults are still found. */
#include "base/rng.h"
#include "detect/detector.h"
#include "offline/fit/profile_fit.h"
#include "tests/check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { FEATURES = 10, ITEMS = 4, USERS = 20, TRAINING = 24000, LISTS = 20000, DAY_MS = 86400000 };

/* How the levels of lists depend on earlier lists. */
enum dependence { INDEPENDENT, SESSIONS, AUTOREGRESSIVE, SEASON, BURSTS, PEAKS, WORLDS };

struct traffic {
    struct ek_rng rng;
    struct ek_list query;
    enum dependence kind;
    int64_t lists, per_day;
    double user[USERS][FEATURES], slow[FEATURES];
    int left[USERS], burst;
    bool rare; /* the last feature is known of every third user only */
    char id[ITEMS][24];
};

static const char *const MANIFEST =
    "features:\n"
    "  - {name: a, index: 1, role: item}\n  - {name: b, index: 2, role: item}\n"
    "  - {name: c, index: 3, role: item}\n  - {name: d, index: 4, role: item}\n"
    "  - {name: e, index: 5, role: item}\n  - {name: f, index: 6, role: item}\n"
    "  - {name: g, index: 7, role: item}\n  - {name: h, index: 8, role: item}\n"
    "  - {name: i, index: 9, role: item}\n  - {name: j, index: 10, role: item}\n";
static const char *const RULES = "version: 1\nsegments: [arm]\n";

static void traffic_start(struct traffic *t, enum dependence kind, uint64_t seed)
{
    memset(t, 0, sizeof *t);
    ek_rng_seed(&t->rng, seed);
    ek_list_init(&t->query);
    t->kind = kind;
    t->per_day = 5000;
}

/* Return the user of the next list. A user leaves after about ten. */
static int next_user(struct traffic *t)
{
    int user = (int)ek_rng_uniform_int(&t->rng, USERS);
    if (t->left[user]-- > 0)
        return user;
    t->left[user] = 5 + (int)ek_rng_uniform_int(&t->rng, 10);
    for (int f = 0; f < FEATURES; f++)
        t->user[user][f] = .4 * ek_rng_normal(&t->rng);
    return user;
}

static double level_of(struct traffic *t, int user, int f)
{
    double day = 2 * M_PI * (double)(t->lists % t->per_day) / (double)t->per_day;
    switch (t->kind) {
    case SESSIONS:
        return t->user[user][f];
    case AUTOREGRESSIVE:
        t->slow[f] = .95 * t->slow[f] + .31 * .4 * ek_rng_normal(&t->rng);
        return t->slow[f];
    case SEASON:
        return .4 * ek_rng_normal(&t->rng) + .15 * sin(day);
    case PEAKS: /* noon and evening, on lists that differ little */
        return .1 * ek_rng_normal(&t->rng) + .3 * (sin(2 * day) > .7);
    default:
        return .4 * ek_rng_normal(&t->rng);
    }
}

static struct ek_list *traffic_next(struct traffic *t)
{
    struct ek_list *q = &t->query;
    int user = next_user(t);
    ek_list_resize(q, ITEMS, FEATURES, 0);
    q->segment_count = 1;
    q->segments[0] = (struct ek_segment){{"arm", 3}, {user % 2 ? "B" : "A", 1}};
    q->time_ms = 1790000000000 + t->lists * (DAY_MS / t->per_day);
    q->has_label = false;
    if (t->kind == BURSTS && !t->burst && ek_rng_uniform_int(&t->rng, 2000) == 0)
        t->burst = 15;
    for (int f = 0; f < FEATURES; f++) {
        double level = level_of(t, user, f);
        for (int i = 0; i < ITEMS; i++)
            q->x[i * FEATURES + f] =
                (t->burst && f < 3) || (t->rare && f == FEATURES - 1 && user % 3)
                    ? NAN
                    : (float)exp(3 + level + .2 * ek_rng_normal(&t->rng));
    }
    for (int i = 0; i < ITEMS; i++) {
        int length = snprintf(t->id[i], sizeof t->id[i], "%lld-%d", (long long)t->lists, i);
        q->item_id[i] = (struct ek_text){t->id[i], (size_t)length};
        q->score[i] = q->label[i] = 0;
    }
    q->id = q->item_id[0];
    t->burst -= t->burst > 0;
    t->lists++;
    return q;
}

/* A detector trained on the first lists of the traffic, which goes on from there. */
struct scene {
    struct traffic t;
    struct ek_manifest *m;
    struct ek_profile *p;
    struct ek_rules *rules;
    struct ek_detector *d;
};

static void scene_train(struct scene *s, int lists)
{
    struct ek_profile_fit *fit;
    ck_assert_int_eq(ek_manifest_parse(&s->m, "m", MANIFEST, strlen(MANIFEST), NULL), EK_OK);
    ck_assert_int_eq(ek_profile_fit_new(&fit, s->m, NULL, NULL), EK_OK);
    for (int i = 0; i < lists; i++)
        ck_assert_int_eq(ek_profile_fit_add(fit, traffic_next(&s->t), NULL), EK_OK);
    ck_assert_int_eq(ek_profile_fit_finish(fit, &s->p, NULL), EK_OK);
    ek_profile_fit_free(fit);
    ck_assert_int_eq(ek_rules_parse(&s->rules, s->m, "r", RULES, strlen(RULES), NULL), EK_OK);
    ck_assert_int_eq(ek_detector_new(&s->d, s->m, s->p, s->rules, NULL), EK_OK);
}

static void scene_start(struct scene *s, enum dependence kind, uint64_t seed)
{
    traffic_start(&s->t, kind, seed);
    scene_train(s, TRAINING);
}

static void scene_end(struct scene *s)
{
    ek_detector_free(s->d);
    ek_rules_free(s->rules);
    ek_profile_free(s->p);
    ek_manifest_free(s->m);
    ek_list_release(&s->t.query);
}

/* Return the list, from 1, of the first confirmed finding with that factor on the first feature, 0
 * if there is none in `lists`; *others: confirmed findings of other features. */
static int lists_to_find(struct scene *s, double factor, int lists, int *others)
{
    int found = 0;
    for (int i = 0; i < lists && !found; i++) {
        struct ek_list *q = traffic_next(&s->t);
        struct ek_finding f;
        for (int item = 0; item < ITEMS; item++)
            q->x[item * FEATURES] *= (float)factor;
        ck_assert_int_eq(ek_detector_observe(s->d, q, q->time_ms, NULL), EK_OK);
        while (ek_detector_next(s->d, &f)) {
            bool confirmed = f.state == EK_CONFIRMED;
            *others += confirmed && f.feature != 0;
            found = confirmed && !f.feature ? i + 1 : found;
        }
    }
    return found;
}

START_TEST(healthy_traffic_has_no_finding_however_its_lists_depend_on_each_other)
{
    for (int kind = 0; kind < WORLDS; kind++) {
        struct scene s;
        int others = 0;
        scene_start(&s, (enum dependence)kind, 71 + (uint64_t)kind);
        int found = lists_to_find(&s, 1, LISTS, &others);
        ck_assert_msg(!found && !others, "world %d: list %d, %d of other features", kind, found,
                      others);
        scene_end(&s);
    }
}
END_TEST

START_TEST(the_design_effect_is_1_for_independent_lists_and_the_session_for_others)
{
    static const double LOW[WORLDS] = {.99, 5, 10, .99, .99, .99},
                        HIGH[WORLDS] = {1.2, 20, 60, 1.3, 1.2, 20};
    for (int kind = 0; kind < WORLDS; kind++) {
        struct scene s;
        double sum = 0;
        scene_start(&s, (enum dependence)kind, 81 + (uint64_t)kind);
        for (int f = 0; f < FEATURES; f++)
            sum += (double)s.p->baseline[f].deff[EK_RESPECT_LEVEL] / FEATURES;
        ck_assert_msg(sum >= LOW[kind] && sum <= HIGH[kind], "world %d: %g", kind, sum);
        if (kind == BURSTS)
            ck_assert_double_ge((double)s.p->baseline[0].deff[EK_RESPECT_SHARES], 8);
        scene_end(&s);
    }
}
END_TEST

/* Few lists with a value do not show the sessions that the other features show. */
START_TEST(a_feature_in_few_lists_has_the_design_effect_of_the_others)
{
    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct scene s;
        double sum = 0;
        traffic_start(&s.t, SESSIONS, seed);
        s.t.rare = true;
        scene_train(&s, 1400);
        for (int f = 0; f < FEATURES - 1; f++)
            sum += (double)s.p->baseline[f].deff[EK_RESPECT_LEVEL] / (FEATURES - 1);
        ck_assert_double_gt(sum, 2);
        ck_assert_double_ge((double)s.p->baseline[FEATURES - 1].deff[EK_RESPECT_LEVEL], .75 * sum);
        scene_end(&s);
    }
}
END_TEST

/* From the first list on: nothing that follows the level may absorb it. */
START_TEST(a_skew_from_the_first_list_on_is_found)
{
    static const struct {
        enum dependence kind;
        double factor;
        int most;
    } CASES[] = {{INDEPENDENT, 100, 80}, {INDEPENDENT, 1.2, 800}, {SEASON, 1.2, 1000},
                 {SESSIONS, 100, 250},   {SESSIONS, 2, 1000},     {PEAKS, 100, 150},
                 {PEAKS, 2, 250}};
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        struct scene s;
        int others = 0;
        scene_start(&s, CASES[i].kind, 91 + i);
        int found = lists_to_find(&s, CASES[i].factor, 2 * CASES[i].most, &others);
        ck_assert_msg(found > 0 && found <= CASES[i].most && !others, "case %zu: %d, %d", i, found,
                      others);
        scene_end(&s);
    }
}
END_TEST

static const double ACTION_THRESHOLD = 1.25; /* of the rules by default */

/* Count the findings of factors on all features, `first` at first and `last` at the end, that are
 * gradual or not. A factor below the action threshold counts as gradual, as neither is acted on. */
static void count_findings(struct scene *s, double first, double last, int lists, int count[2])
{
    for (int i = 0; i < lists; i++) {
        struct ek_list *q = traffic_next(&s->t);
        struct ek_finding f;
        for (int v = 0; v < ITEMS * FEATURES; v++)
            q->x[v] *= (float)(first * pow(last / first, (double)i / lists));
        ck_assert_int_eq(ek_detector_observe(s->d, q, q->time_ms, NULL), EK_OK);
        while (ek_detector_next(s->d, &f))
            if (f.class == EK_SCALE && (f.state == EK_CONFIRMED || f.state == EK_UPDATED))
                count[f.gradual || f.factor_low < ACTION_THRESHOLD]++;
    }
}

/* A rise within five days is gradual, although the level of the lists before a change is noise, as
 * is the difference of two diagnoses. A step of the same size is not. */
START_TEST(a_slow_rise_is_gradual_and_a_step_is_not)
{
    enum { STEPS, GRADUAL };
    for (int kind = 0; kind < WORLDS; kind++) {
        struct scene s;
        int slow[2] = {0}, sudden[2] = {0};
        scene_start(&s, (enum dependence)kind, 1 + kind % 2);
        count_findings(&s, 1, 2, 5 * LISTS, slow);
        ck_assert_msg(!slow[STEPS], "world %d: %d steps, %d gradual", kind, slow[STEPS],
                      slow[GRADUAL]);
        scene_end(&s);
        scene_start(&s, (enum dependence)kind, 1 + kind % 2);
        count_findings(&s, 1, 1, LISTS / 4, sudden);
        count_findings(&s, 3, 3, LISTS / 4, sudden);
        ck_assert_msg(sudden[STEPS] >= FEATURES && !sudden[GRADUAL],
                      "world %d: %d steps, %d gradual", kind, sudden[STEPS], sudden[GRADUAL]);
        scene_end(&s);
    }
}
END_TEST

Suite *suite_dependence(void)
{
    return ek_suite(
        "dependence", healthy_traffic_has_no_finding_however_its_lists_depend_on_each_other,
        the_design_effect_is_1_for_independent_lists_and_the_session_for_others,
        a_feature_in_few_lists_has_the_design_effect_of_the_others,
        a_skew_from_the_first_list_on_is_found, a_slow_rise_is_gradual_and_a_step_is_not);
}
