/* Scores under routings: against golden files, and what each treatment does. */
#include "data/model.h"
#include "score/scorer.h"
#include "tests/golden.h"

#include <string.h>

enum { ROOM = 4096 };

static struct ek_model *reference_model(void)
{
    char path[1000];
    struct ek_model *m;
    struct ek_error e;
    if (!golden_reference("model.safetensors", path, sizeof path))
        return NULL;
    ck_assert_int_eq(ek_model_load(&m, path, &e), EK_OK);
    return m;
}

static void fill_query(struct ek_query *q, const struct ek_model *m, const json_t *entry)
{
    const json_t *items = json_object_get(entry, "item_features");
    ck_assert_int_eq(
        ek_query_resize(q, (int)json_array_size(items), m->item_features, m->query_features),
        EK_OK);
    golden_floats(items, q->x);
    golden_floats(json_object_get(entry, "query_features"), q->query);
}

/* All lists of a golden file under all of its masks, to an absolute difference. */
static void check_scores(const struct ek_model *m, json_t *golden, double tolerance)
{
    struct ek_scorer *s;
    struct ek_error e;
    struct ek_query q;
    size_t i;
    json_t *entry, *expected;
    const char *mask;
    ek_query_init(&q);
    ck_assert_int_eq(ek_scorer_new(&s, m, &e), EK_OK);
    json_array_foreach(json_object_get(golden, "lists"), i, entry)
    {
        fill_query(&q, m, entry);
        json_object_foreach(json_object_get(entry, "scores"), mask, expected)
        {
            double scores[ROOM];
            struct ek_treatment t[64] = {{EK_ACT_NONE, 0}};
            json_t *bits = json_object_get(json_object_get(golden, "routing_masks"), mask);
            for (int k = 0; k < m->routable_count; k++)
                if (json_integer_value(json_array_get(bits, (size_t)k)))
                    t[k].action = EK_ACT_ROUTE;
            ck_assert_int_eq(ek_scorer_score(s, &q, t, scores, &e), EK_OK);
            for (int d = 0; d < q.items; d++) {
                double want = json_number_value(json_array_get(expected, (size_t)d));
                ck_assert_msg(fabs(scores[d] - want) < tolerance, "list %zu, %s, item %d: %g, %g",
                              i, mask, d, scores[d], want);
            }
        }
    }
    ck_assert_uint_gt(i, 0);
    ek_scorer_free(s);
    ek_query_release(&q);
}

START_TEST(scores_are_those_of_the_reference)
{
    struct ek_model *m = reference_model();
    if (!m)
        return;
    json_t *golden = golden_load_reference("scores.json");
    check_scores(m, golden, 1e-5);
    json_decref(golden);
    ek_model_free(m);
}
END_TEST

Suite *suite_scorer(void)
{
    return ek_suite("scorer", scores_are_those_of_the_reference);
}
