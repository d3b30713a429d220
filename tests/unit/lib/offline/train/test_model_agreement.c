/* Agreement of a model with a scorer, over lists in memory. */
#include "offline/train/distillation.h"

#include "base/alloc.h"
#include "score/scorer.h"
#include "tests/check.h"
#include "tests/plain_model.h"
#include "tests/stream.h"

#include <stdlib.h>
#include <unistd.h>

enum { LISTS = 60 };

struct scene {
    struct ek_manifest *manifest;
    struct ek_model *model;
    struct ek_dataset data;
    struct ek_upstream_scores upstream;
};

/* Lists with the model's scores under `treatment` as upstream scores. */
static void begin(struct scene *s, const struct ek_treatment *treatment)
{
    char path[] = "/tmp/ek-agreement-XXXXXX";
    struct ek_scorer *scorer;
    struct stream stream;
    memset(s, 0, sizeof *s);
    close(mkstemp(path));
    s->manifest = stream_manifest();
    s->model = ek_save_plain_model(s->manifest, path);
    unlink(path);
    for (int i = 0; i < 2 * s->model->routable_count; i++)
        s->model->slope[i] = -1;
    ck_assert_int_eq(ek_scorer_new(&scorer, s->model, NULL), EK_OK);
    ek_dataset_init(&s->data, 3, 1);
    stream_start(&stream, 4);
    for (int i = 0; i < LISTS; i++) {
        struct ek_list *q = stream_next(&stream);
        ck_assert_int_eq(ek_scorer_score(scorer, q, treatment, q->score, NULL), EK_OK);
        ck_assert_int_eq(ek_dataset_add(&s->data, q, NULL), EK_OK);
        ck_assert_int_eq(ek_upstream_scores_add(&s->upstream, q), EK_OK);
    }
    stream_end(&stream);
    ek_scorer_free(scorer);
}

static void end(struct scene *s)
{
    ek_upstream_scores_release(&s->upstream);
    ek_dataset_release(&s->data);
    ek_model_free(s->model);
    ek_manifest_free(s->manifest);
}

static struct ek_model_agreement measure(const struct scene *s, const struct ek_treatment *t)
{
    struct ek_model_agreement f;
    ck_assert_int_eq(ek_model_agreement_measure(s->model, &s->data, &s->upstream, t, &f, NULL),
                     EK_OK);
    return f;
}

START_TEST(a_model_is_faithful_to_its_own_scores_and_not_to_others)
{
    struct scene s;
    begin(&s, NULL);
    struct ek_model_agreement f = measure(&s, NULL);
    ck_assert_uint_eq(f.lists, LISTS);
    for (int i = 0; i < EK_AGREEMENT_STATISTICS; i++)
        ck_assert(fabs(f.mean[i] - 1) < 1e-12 && f.sd[i] < 1e-12);
    for (size_t i = 0; i < s.upstream.count; i++)
        s.upstream.value[i] = -s.upstream.value[i];
    f = measure(&s, NULL);
    ck_assert_double_eq_tol(f.mean[EK_AGREEMENT_TAU], -1, 1e-12);
    ck_assert(f.mean[EK_AGREEMENT_TOP1] == 0);
    end(&s);
}
END_TEST

START_TEST(lists_whose_scores_tell_no_order_are_left_out)
{
    struct scene s;
    begin(&s, NULL);
    for (size_t i = s.data.offset[0]; i < s.data.offset[1]; i++)
        s.upstream.value[i] = 1;
    s.upstream.value[s.data.offset[1]] = NAN;
    struct ek_model_agreement f = measure(&s, NULL);
    ck_assert_uint_eq(f.lists, LISTS - 2);
    ck_assert_double_eq_tol(f.mean[EK_AGREEMENT_TAU], 1, 1e-12);
    end(&s);
}
END_TEST

START_TEST(a_model_of_a_fixed_choice_is_measured_under_it)
{
    static const struct ek_treatment routed[2] = {{EK_ACT_ROUTE, 0}, {EK_ACT_NONE, 0}};
    struct scene s;
    begin(&s, routed);
    ck_assert(measure(&s, NULL).mean[EK_AGREEMENT_TAU] < .9);
    ck_assert_double_eq_tol(measure(&s, routed).mean[EK_AGREEMENT_TAU], 1, 1e-12);
    s.model->trained.routed = ek_calloc(2, sizeof *s.model->trained.routed);
    s.model->trained.routed[0] = true;
    ck_assert_double_eq_tol(measure(&s, NULL).mean[EK_AGREEMENT_TAU], 1, 1e-12);
    end(&s);
}
END_TEST

START_TEST(a_model_of_other_features_is_refused)
{
    struct scene s;
    struct ek_model_agreement f;
    begin(&s, NULL);
    s.data.item_features = 2;
    ck_assert_int_eq(ek_model_agreement_measure(s.model, &s.data, &s.upstream, NULL, &f, NULL),
                     EK_ESTATE);
    end(&s);
}
END_TEST

Suite *suite_model_agreement(void)
{
    return ek_suite("model agreement", a_model_is_faithful_to_its_own_scores_and_not_to_others,
                    lists_whose_scores_tell_no_order_are_left_out,
                    a_model_of_a_fixed_choice_is_measured_under_it,
                    a_model_of_other_features_is_refused);
}
