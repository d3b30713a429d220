/* A plan in JSON, applied to arrays, gives bit for bit the float32 values that a stage writes into
 * the message of the same list: random plans, levels, lists and strides. */
#include "base/alloc.h"
#include "base/rng.h"
#include "detect/evidence_export.h"
#include "guard/guard_internal.h"
#include "guard/plan_json.h"
#include "serve/context.h"
#include "tests/check.h"

#include <math.h>
#include <string.h>

enum { PLANS = 150, LISTS = 30, ITEMS_MAX = 12, F = 4, M = 2, CELLS = 6, NAMES = 8 };

static const char MANIFEST[] = "features:\n"
                               "  - {name: price, index: 1, role: item, routable: true}\n"
                               "  - {name: stars, index: 2, role: item}\n"
                               "  - {name: 'change/\"%', index: 3, role: item}\n"
                               "  - {name: far, index: 4, role: item}\n"
                               "  - {name: nights, index: 5, role: query}\n"
                               "  - {name: rooms, index: 6, role: query}\n"
                               "derived_query_features: [log_list_size]\n";
static const char RULES[] = "version: 1\nsegments: [arm, app]\n";
static const char *const ITEM[NAMES] = {"h1", "h2", "h3", "h4", "h5", "h6", "h7", "unknown"};

struct world {
    struct ek_rng r;
    struct ek_assets a;
    struct ek_guard *g;
    struct ek_context *c;
    struct ek_plan *plan;
    struct ek_rollouts *rollouts;
    struct ek_plan_document d;
    struct ek_applier *applier;
    int cell[CELLS];
    uint64_t repaired;
};

static int choose(struct world *w, int n)
{
    return (int)ek_rng_uniform_int(&w->r, (uint64_t)n);
}

static float level(struct world *w)
{
    return (float)(4 + ek_rng_normal(&w->r));
}

static int by_key(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

static void make_item_levels(struct world *w, struct ek_profile *p)
{
    ck_assert_int_eq(ek_item_levels_new(&p->item_levels, NAMES - 1, 2), EK_OK);
    struct ek_item_levels *t = p->item_levels;
    t->feature[1] = 3;
    for (int i = 0; i < NAMES - 1; i++)
        t->key[i] = ek_item_key(ek_text_from(ITEM[i]));
    qsort(t->key, NAMES - 1, sizeof *t->key, by_key);
    for (int i = 0; i < 2 * (NAMES - 1); i++)
        t->value[i] = choose(w, 5) ? (float)ek_rng_normal(&w->r) : NAN;
    ek_item_levels_index(t);
}

static void make_segment_levels(struct world *w, struct ek_profile *p)
{
    static const char *const names[] = {"1", "2", "A", "B", "C"};
    ck_assert_int_eq(ek_segment_levels_new(&p->segment_levels, 2, 5, 2), EK_OK);
    struct ek_segment_levels *t = p->segment_levels;
    t->feature[1] = 1;
    t->first[1] = 2;
    t->dimension[0] = ek_strdup("app");
    t->dimension[1] = ek_strdup("arm");
    for (int v = 0; v < 5; v++)
        t->value[v] = ek_strdup(names[v]);
    for (int i = 0; i < 10; i++)
        t->level[i] = i % 2 && i < 4 ? NAN : (float)(.1 * ek_rng_normal(&w->r));
    ek_segment_levels_index(t);
}

static void make_slopes(struct world *w, struct ek_profile *p)
{
    ck_assert_int_eq(ek_query_slopes_new(&p->query_slopes, 2), EK_OK);
    struct ek_query_slopes *t = p->query_slopes;
    t->feature[1] = 2;
    t->queries = 2;
    t->query[1] = M; /* the derived one */
    for (int c = 0; c < 2; c++) {
        t->low[c] = -2;
        t->high[c] = 2;
        t->mean[c] = (float)(.1 * ek_rng_normal(&w->r));
        t->slope[0][c] = (float)ek_rng_normal(&w->r);
    }
    t->slope[1][1] = 1;
}

static void make_profile(struct world *w, int which)
{
    static const float stars[] = {1, 2, 3, 4, 5};
    bool strata = which % 2;
    const char *field = which % 4 == 1 ? "market" : "nights";
    ck_assert_int_eq(
        ek_profile_new(&w->a.profile, w->a.manifest, strata ? 3 : 1, strata ? field : NULL, NULL),
        EK_OK);
    struct ek_profile *p = w->a.profile;
    if (strata) {
        p->stratum[1] = ek_strdup(which % 4 == 1 ? "DE" : "1");
        p->stratum[2] = ek_strdup(which % 4 == 1 ? "US" : "3");
    }
    for (int i = 0; i < F * p->strata; i++)
        p->level[i] = level(w);
    for (int f = 0; f < F; f++) {
        p->baseline[f].log_mean = level(w);
        p->baseline[f].share[1] = f == 2 ? .1f : 0;
        p->baseline[f].share[2] = f == 3 ? .1f : 0;
        for (int i = 0; i < EK_SEASON; i++)
            p->baseline[f].season[i] = (float)(.1 * ek_rng_normal(&w->r));
    }
    memcpy(p->known + EK_KNOWN_VALUES_MAX, stars, sizeof stars);
    p->known_count[1] = 5;
    if (which % 3 == 0)
        make_item_levels(w, p);
    if (which % 3 != 1)
        make_segment_levels(w, p);
    if (which % 5 != 2)
        make_slopes(w, p);
}

static void find_cells(struct world *w)
{
    static const char *const names[CELLS][2] = {{NULL, NULL}, {"arm", "A"},  {"arm", "B"},
                                                {"app", "1"}, {"arm", NULL}, {"app", NULL}};
    for (int i = 0; i < CELLS; i++)
        ck_assert_int_eq(ek_detector_retain_cell(w->g->detector, ek_text_from(names[i][0]),
                                                 ek_text_from(names[i][1]), &w->cell[i]),
                         EK_OK);
}

static void setup(struct world *w, int which)
{
    memset(w, 0, sizeof *w);
    ek_rng_seed_stream(&w->r, 11, (uint64_t)which);
    ck_assert_int_eq(ek_manifest_parse(&w->a.manifest, "m", MANIFEST, strlen(MANIFEST), NULL),
                     EK_OK);
    ck_assert_int_eq(ek_rules_parse(&w->a.rules, w->a.manifest, "r", RULES, strlen(RULES), NULL),
                     EK_OK);
    ck_assert_int_eq(ek_codec_new(&w->a.codec, w->a.manifest, NULL, NULL, NULL), EK_OK);
    make_profile(w, which);
    w->a.writes_features = true;
    w->a.cells = 4;
    ck_assert_int_eq(ek_guard_new(&w->g, &w->a, NULL), EK_OK);
    ck_assert_int_eq(ek_context_new(&w->c, &w->a, NULL), EK_OK);
    w->plan = ek_calloc(1, sizeof *w->plan);
    w->rollouts = ek_calloc(1, sizeof *w->rollouts);
    ek_plan_document_init(&w->d);
    find_cells(w);
}

static void teardown(struct world *w)
{
    ek_plan_document_release(&w->d);
    ek_context_free(w->c);
    ek_guard_free(w->g);
    ek_free(w->plan);
    ek_free(w->rollouts);
    ek_assets_release(&w->a);
}

static struct ek_plan_repair choose_repair(struct world *w)
{
    static const double numbers[] = {100, 1. / 60, 2, .5, 1.609344, 97.31415926535897};
    struct ek_plan_repair r = {.factor = NAN,
                               .query_feature = -1,
                               .by = (enum ek_repair_by)choose(w, EK_REPAIR_COUNT),
                               .number = numbers[choose(w, 6)],
                               .scale = 1 + ek_rng_uniform(&w->r),
                               .exact = choose(w, 2)};
    if (r.by == EK_REPAIR_QUERY_FEATURE)
        r.query_feature = choose(w, M);
    if (r.by == EK_REPAIR_LEVEL && choose(w, 2))
        r.number = 1;
    if (r.by == EK_REPAIR_OFFSET && choose(w, 2))
        r.number = -r.number;
    return r;
}

static void choose_plan(struct world *w)
{
    static const enum ek_action actions[] = {EK_ACT_REPAIR, EK_ACT_BLANK, EK_ACT_FILL, EK_ACT_NONE,
                                             EK_ACT_ROUTE};
    struct ek_plan *p = w->plan;
    p->version = 7;
    for (int i = 0; i < F * CELLS; i++) {
        int cell = w->cell[i % CELLS];
        if (cell < 0 || choose(w, 3))
            continue;
        struct ek_plan_entry *e = &p->entry[p->count++];
        *e = ek_plan_entry_init(i / CELLS, cell, (struct ek_treatment){EK_ACT_REPAIR, 0});
        e->mode = choose(w, 2) ? EK_MODE_ENFORCE : (enum ek_mode)choose(w, EK_MODE_COUNT);
        e->percent = choose(w, 2) ? EK_PERCENT_WHOLE : choose(w, EK_PERCENT_WHOLE);
        e->by = choose(w, 4) ? EK_BY_FINDING : EK_BY_RULES;
        if (e->by == EK_BY_FINDING)
            e->repair = choose_repair(w);
        else
            e->treatment.action = actions[choose(w, 5)];
    }
    for (int i = 0; i < 3 && w->cell[i] >= 0; i++)
        if (!choose(w, 2))
            p->mode[p->modes++] = (struct ek_plan_mode){
                .feature = choose(w, F), .cell = w->cell[i], .mode = EK_MODE_SHADOW, .own = i % 2};
}

/* Give the plan to the guard, and its JSON to the applier. */
static void use_plan(struct world *w)
{
    struct ek_error e;
    const struct ek_controller_memory memory = {
        .plan = w->plan, .desired = w->plan, .rollouts = w->rollouts, .free_ms = -1};
    ek_controller_apply_record(w->g->control, &memory);
    ck_assert_int_eq(ek_guard_write_plan(w->g, &w->d), EK_OK);
    int rc = ek_applier_new(&w->applier, (const char *)w->d.text.data, w->d.text.length, &e);
    ck_assert_msg(!rc, "%s in %.*s", e.message, (int)w->d.text.length,
                  (const char *)w->d.text.data);
    size_t length;
    ck_assert_str_eq(ek_guard_plan(w->g, &length, NULL), ek_buf_string(&w->d.text));
    ck_assert_uint_eq(length, w->d.text.length);
}

static float value(struct world *w)
{
    static const float rare[] = {0, -0.f, NAN, INFINITY, 1e-40f, 3e38f};
    double x = exp(4 + ek_rng_normal(&w->r)) * (choose(w, 2) ? 1 : 100);
    if (!choose(w, 8))
        return rare[choose(w, 6)];
    x = choose(w, 2) ? x : rint(x);
    return (float)(choose(w, 8) ? x : -x);
}

/* One list, in the message and in the arrays. */
struct pair {
    struct ek_list list;
    struct ek_buf message;
    struct ek_segment_value segment[3];
    const char *item_id[ITEMS_MAX];
    char id[20];
    float x[2 * F * ITEMS_MAX];
    struct ek_array_list arrays;
};

static void choose_segments(struct world *w, struct pair *p)
{
    static const char *const values[3][5] = {
        {"A", "B", "C", "D", ""}, {"1", "2", "3", "1", "9"}, {"DE", "US", "FR", "DE", "US"}};
    static const char *const names[3] = {"arm", "app", "market"};
    for (int d = 0; d < 3; d++) {
        if (!choose(w, 6))
            continue;
        const char *is = values[d][choose(w, 5)];
        p->list.segments[p->list.segment_count++] =
            (struct ek_segment){ek_text_from(names[d]), ek_text_from(is)};
        p->segment[p->arrays.segments++] = (struct ek_segment_value){names[d], is};
    }
}

static void fill(struct world *w, struct pair *p, int number)
{
    struct ek_list *l = &p->list;
    int items = choose(w, ITEMS_MAX + 1);
    memset(p, 0, sizeof *p);
    ek_list_init(l);
    ek_buf_init(&p->message, 0);
    ck_assert_int_eq(ek_list_resize(l, items, F, M + 1), EK_OK);
    snprintf(p->id, sizeof p->id, "q%d", number);
    l->id = ek_text_from(p->id);
    l->time_ms = choose(w, 4) ? 1790000000000 + choose(w, 86400000) : -1;
    choose_segments(w, p);
    for (int q = 0; q < M; q++)
        l->query[q] = choose(w, 6) ? (float)(1 + choose(w, 4)) : NAN;
    for (int i = 0; i < items; i++) {
        p->item_id[i] = ITEM[choose(w, NAMES)];
        l->item_id[i] = ek_text_from(p->item_id[i]);
        for (int f = 0; f < F; f++)
            l->x[i * F + f] = value(w);
    }
    ck_assert_int_eq(ek_codec_encode(w->a.manifest, l,
                                     choose(w, 2) ? EK_FEATURES_BIN : EK_FEATURES_ARRAY,
                                     &p->message, NULL),
                     EK_OK);
}

/* Arrange the features by items or by features, with gaps. */
static void arrange(struct world *w, struct pair *p)
{
    struct ek_array_list *a = &p->arrays;
    bool by_item = choose(w, 2);
    a->id = p->id;
    a->time_ms = p->list.time_ms > 0 ? p->list.time_ms : 0;
    a->segment = p->segment;
    a->query_features = p->list.query;
    a->query_count = M;
    a->item_id = p->item_id;
    a->features = p->x;
    a->items = (size_t)p->list.items;
    a->feature_count = F;
    a->item_stride = by_item ? F + 1 : 2;
    a->feature_stride = by_item ? 1 : (size_t)2 * ITEMS_MAX;
    for (size_t i = 0; i < a->items; i++)
        for (size_t f = 0; f < F; f++)
            p->x[i * a->item_stride + f * a->feature_stride] = p->list.x[i * F + f];
}

static bool is_same(float a, float b)
{
    return (isnan(a) && isnan(b)) || !memcmp(&a, &b, sizeof a);
}

static void check_list(struct world *w, int number)
{
    struct pair p;
    struct ek_list after;
    size_t length, changed = 0;
    fill(w, &p, number);
    arrange(w, &p);
    struct ek_error e;
    ck_assert_int_eq(ek_context_decode(w->c, p.message.data, p.message.length, NULL), EK_OK);
    ck_assert_int_eq(ek_guard_peek(w->g, w->c, NULL), EK_OK);
    const void *out = ek_context_score(w->c, &length, &e);
    ck_assert_msg(out != NULL, "%s", e.message);
    ek_list_init(&after);
    ck_assert_int_eq(ek_codec_decode(w->a.codec, out, length, &after, NULL), EK_OK);
    ck_assert_int_eq(ek_plan_apply(w->applier, &p.arrays, &changed, NULL), EK_OK);
    ck_assert_uint_eq(changed, w->c->changed);
    for (size_t i = 0; i < p.arrays.items; i++)
        for (size_t f = 0; f < F; f++) {
            float is = p.x[i * p.arrays.item_stride + f * p.arrays.feature_stride];
            ck_assert_msg(is_same(after.x[i * F + f], is), "%.9g, not %.9g from %.9g: %.*s",
                          (double)is, (double)after.x[i * F + f], (double)p.list.x[i * F + f],
                          (int)w->d.text.length, (const char *)w->d.text.data);
        }
    w->repaired += changed;
    ek_list_release(&after);
    ek_list_release(&p.list);
    ek_buf_release(&p.message);
}

START_TEST(arrays_get_bit_for_bit_the_values_that_a_stage_writes)
{
    uint64_t repaired = 0;
    for (int which = 0; which < PLANS; which++) {
        struct world w;
        setup(&w, which);
        choose_plan(&w);
        use_plan(&w);
        for (int i = 0; i < LISTS; i++)
            check_list(&w, i);
        repaired += w.repaired;
        ek_applier_free(w.applier);
        teardown(&w);
    }
    ck_assert_uint_ge(repaired, (uint64_t)PLANS * LISTS); /* most lists have such values */
}
END_TEST

Suite *suite_plan_apply(void)
{
    return ek_suite("plan_apply", arrays_get_bit_for_bit_the_values_that_a_stage_writes);
}
