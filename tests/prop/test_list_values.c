/* A list in arrays has the same findings, plans and state as the same list in a message. */
#include "base/error.h"
#include "guard/event.h"
#include "guard/event_json.h"
#include "tests/check.h"
#include "tests/state_world.h"

#include <float.h>

enum { TRAINING = 3000, LISTS = 1500, FAULT = 300, OVER = 900, RUNS = 4, FLOATS = 4096 };

static const float UNUSED = -1e30f;

/* Two guards: one gets messages, the other one values. */
struct pair {
    struct ek_assets assets;
    struct shop shop;
    struct ek_rng rng;
    struct ek_guard *messages, *values;
    struct ek_buf message;
    float x[FLOATS];
    const char *item_id[64];
    struct ek_segment_value segment[EK_SEGMENTS_MAX];
    int findings, plans;
};

static void price_in_cents(struct shop *s, struct ek_list *q)
{
    struct ek_rng *rng = &s->rng;
    bool faulty = s->number > FAULT && s->number <= OVER && s->arm_b;
    for (int i = 0; i < q->items; i++) {
        q->x[2 * i] *= faulty ? 100 : 1;
        if (ek_rng_uniform(rng) < .02)
            q->x[2 * i] = ek_rng_uniform(rng) < .5 ? NAN : 0;
    }
}

/* Write the features by random strides: rows or columns, with gaps. */
static void lay_out(struct pair *p, const struct ek_list *q, struct ek_array_list *l)
{
    size_t gap = 1 + (size_t)ek_rng_uniform_int(&p->rng, 3);
    bool columns = ek_rng_uniform(&p->rng) < .5;
    l->item_stride = columns ? gap : gap * l->feature_count;
    l->feature_stride = columns ? gap * l->items : gap;
    l->features = p->x;
    for (int i = 0; i < FLOATS; i++)
        p->x[i] = UNUSED;
    for (size_t i = 0; i < l->items; i++)
        for (size_t f = 0; f < l->feature_count; f++)
            p->x[i * l->item_stride + f * l->feature_stride] = q->x[i * l->feature_count + f];
}

static struct ek_array_list list_of(struct pair *p, const struct ek_list *q)
{
    struct ek_array_list l = {.id = q->id.text,
                              .time_ms = q->time_ms,
                              .segment = p->segment,
                              .segments = (size_t)q->segment_count,
                              .query_features = q->query,
                              .query_count = (size_t)q->query_features,
                              .item_id = p->item_id,
                              .items = (size_t)q->items,
                              .feature_count = (size_t)q->item_features,
                              .scores = q->score};
    for (int i = 0; i < q->items; i++)
        p->item_id[i] = q->item_id[i].text;
    for (int i = 0; i < q->segment_count; i++)
        p->segment[i] =
            (struct ek_segment_value){q->segments[i].name.text, q->segments[i].value.text};
    lay_out(p, q, &l);
    return l;
}

static void same_number(double a, double b)
{
    ck_assert(memcmp(&a, &b, sizeof a) == 0);
}

/* The accessors return what the event has. */
static void check_accessors(const struct ek_event *v)
{
    double low, high;
    uint64_t list;
    const struct ek_event_finding *f = &v->finding;
    ck_assert(ek_event_is_finding(v));
    ck_assert_str_eq(ek_event_feature(v), f->at.feature);
    ck_assert_str_eq(ek_event_state(v), ek_finding_state_name(f->state));
    same_number(ek_event_factor(v, &low, &high), f->factor);
    same_number(low, f->factor_low);
    same_number(high, f->factor_high);
    same_number(ek_event_fraction(v), f->fraction);
    ck_assert_int_eq(ek_event_since(v, &list), f->since_ms);
    ck_assert_uint_eq(list, f->since_query);
    ck_assert_uint_eq(ek_event_finding_number(v), f->number);
    ck_assert_int_eq(!ek_event_class(v), f->class == EK_CLASS_NONE);
    ck_assert_str_eq(ek_event_mode(v), "enforce");
    ck_assert_int_eq(!ek_event_segment(v), !f->at.dimension);
    ck_assert_int_eq(!ek_event_segment_value(v), !f->at.dimension);
    if (f->state == EK_CONFIRMED)
        ck_assert_str_eq(ek_event_class(v), "scale");
}

static void same_events(struct pair *p)
{
    const struct ek_event *v;
    const char *json;
    struct ek_buf own;
    ek_buf_init(&own, 0);
    while ((v = ek_guard_pop_event(p->values))) {
        ek_buf_clear(&own);
        ck_assert_int_eq(ek_event_json(v, &own), 0);
        ck_assert_int_eq(ek_guard_next_event(p->messages, &json), 1);
        ck_assert_str_eq(ek_buf_string(&own), json);
        p->plans += v->kind == EK_EVENT_PLAN;
        p->findings += v->kind == EK_EVENT_FINDING;
        if (v->kind == EK_EVENT_FINDING)
            check_accessors(v);
        else
            ck_assert(!ek_event_is_finding(v) && !ek_event_feature(v) && !ek_event_class(v) &&
                      isnan(ek_event_factor(v, NULL, NULL)) && ek_event_since(v, NULL) == -1);
    }
    ck_assert_int_eq(ek_guard_next_event(p->messages, &json), 0);
    ek_buf_release(&own);
}

static void same_state(struct pair *p)
{
    struct state_store *a = calloc(1, sizeof *a), *b = calloc(1, sizeof *b);
    ck_assert_int_eq(ek_guard_save(p->messages, 1, NULL, 0, state_put, a, NULL), EK_OK);
    ck_assert_int_eq(ek_guard_save(p->values, 1, NULL, 0, state_put, b, NULL), EK_OK);
    ck_assert_int_eq(a->count, b->count);
    for (int i = 0; i < a->count; i++) {
        ck_assert_str_eq(a->record[i].key, b->record[i].key);
        ck_assert_uint_eq(a->record[i].length, b->record[i].length);
        ck_assert_msg(!memcmp(a->record[i].bytes, b->record[i].bytes, a->record[i].length),
                      "'%s' differs", a->record[i].key);
    }
    state_clear(a);
    state_clear(b);
    free(a);
    free(b);
}

static void run(uint64_t seed)
{
    struct pair *p = calloc(1, sizeof *p);
    struct ek_error e;
    size_t length = 7;
    state_assets_open(&p->assets, STATE_RULES, TRAINING);
    must(ek_guard_new(&p->messages, &p->assets, NULL));
    must(ek_guard_new(&p->values, &p->assets, NULL));
    shop_open(&p->shop, seed, STATE_MARKETS);
    ek_rng_seed(&p->rng, seed);
    ek_buf_init(&p->message, 0);
    for (int i = 0; i < LISTS; i++) {
        state_message(&p->shop, &p->assets, &p->message, price_in_cents);
        struct ek_array_list l = list_of(p, &p->shop.query);
        must(ek_guard_observe(p->messages, p->message.data, p->message.length, i, NULL));
        ck_assert_msg(!ek_guard_observe_values(p->values, &l, i, &e), "%s", e.message);
        ck_assert_uint_eq(ek_guard_plan_version(p->messages), ek_guard_plan_version(p->values));
        ck_assert_ptr_null(ek_guard_score(p->values, &length, &e));
        ck_assert_int_eq(e.code, EK_ESTATE);
        same_events(p);
    }
    ck_assert_uint_eq(length, 7);
    ck_assert_int_gt(p->findings, 1);
    ck_assert_int_gt(p->plans, 0);
    same_state(p);
    ek_guard_free(p->messages);
    ek_guard_free(p->values);
    shop_close(&p->shop);
    ek_buf_release(&p->message);
    ek_assets_release(&p->assets);
    free(p);
}

START_TEST(values_and_messages_give_the_same_findings_plans_and_state)
{
    for (uint64_t seed = 1; seed <= RUNS; seed++)
        run(seed);
}
END_TEST

static void refused(struct ek_guard *g, struct ek_array_list l, int code, const char *text)
{
    struct ek_error e;
    ck_assert_int_eq(ek_guard_observe_values(g, &l, 0, &e), code);
    ck_assert_str_eq(e.message, text);
    ck_assert_uint_eq(ek_guard_list_count(g), 0);
}

#define WITH(member, wrong)                                                                        \
    __extension__({                                                                                \
        struct ek_array_list changed = good;                                                       \
        changed.member = wrong;                                                                    \
        changed;                                                                                   \
    })

START_TEST(an_invalid_member_is_named_and_the_list_is_not_counted)
{
    struct ek_assets assets;
    struct ek_guard *g;
    float x[4] = {1, 2, 3, 4}, nights = 2;
    const struct ek_segment_value twice[] = {{"arm", "A"}, {"arm", "B"}}, half[] = {{"arm", NULL}};
    struct ek_array_list good = {.items = 2,
                                 .feature_count = 2,
                                 .item_stride = 2,
                                 .feature_stride = 1,
                                 .features = x,
                                 .query_features = &nights,
                                 .query_count = 1};
    state_assets_open(&assets, STATE_RULES, 200);
    must(ek_guard_new(&g, &assets, NULL));
    refused(g, WITH(feature_count, 3), EK_EUSAGE, "'feature_count' is 3, the manifest has 2");
    refused(g, WITH(query_count, 0), EK_EUSAGE, "'query_count' is 0, the manifest has 1");
    refused(g, WITH(items, EK_ITEMS_DEFAULT_MAX + 1), EK_ELIMIT, "'items' is 10001, at most 10000");
    refused(g, WITH(items, SIZE_MAX), EK_ELIMIT, "'items' is 18446744073709551615, at most 10000");
    refused(g, WITH(features, NULL), EK_EUSAGE, "'features' is NULL, but 'items' is 2");
    refused(g, WITH(item_stride, 0), EK_EUSAGE, "'item_stride' is 0, but 'items' is 2");
    refused(g, WITH(feature_stride, 0), EK_EUSAGE,
            "'feature_stride' is 0, but 'feature_count' is 2");
    refused(g, WITH(query_features, NULL), EK_EUSAGE,
            "'query_features' is NULL, but 'query_count' is 1");
    refused(g, WITH(segments, 1), EK_EUSAGE, "'segment' is NULL, but 'segments' is 1");
    refused(g, WITH(segments, 17), EK_ELIMIT, "'segments' is 17, at most 16");
    refused(g, WITH(time_ms, -2), EK_EUSAGE, "'time_ms' is -2, not milliseconds since 1970");
    good.segment = half;
    refused(g, WITH(segments, 1), EK_EUSAGE, "'segment[0].value' is NULL");
    good.segment = twice;
    refused(g, WITH(segments, 2), EK_EUSAGE, "'segment[1].name': duplicate 'arm'");
    must(ek_guard_observe_values(g, &good, 0, NULL));
    good.items = 0;
    good.features = NULL;
    must(ek_guard_observe_values(g, &good, 0, NULL));
    ek_guard_free(g);
    ek_assets_release(&assets);
}
END_TEST

Suite *suite_list_values(void)
{
    return ek_suite("list_values", values_and_messages_give_the_same_findings_plans_and_state,
                    an_invalid_member_is_named_and_the_list_is_not_counted);
}
