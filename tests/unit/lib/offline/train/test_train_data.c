/* Training data: random draws per list, and degenerate lists. */
#include "base/alloc.h"
#include "offline/train/evaluate.h"
#include "offline/train/training.h"
#include "offline/train/train_check.h"
#include "score/scorer.h"
#include "tests/check.h"
#include "tests/limit.h"
#include "tests/must.h"
#include "tests/train_set.h"

#include <math.h>

enum { F = EK_SMALL_FEATURES, M = EK_SMALL_QUERIES };

/* Lists of the same twelve items: the loss of a step then depends only on its draws. */
static void fill_alike(struct ek_dataset *d, int lists)
{
    struct ek_list q;
    struct ek_error e;
    ek_list_init(&q);
    ck_assert_int_eq(ek_list_resize(&q, 12, F, M), EK_OK);
    q.has_label = true;
    q.query[0] = 3;
    for (int i = 0; i < 12; i++) {
        q.x[i * F] = (float)(i + 1);
        q.x[i * F + 1] = (float)(i * i + 2);
        q.x[i * F + 2] = (float)(i % 2);
        q.label[i] = i > 0;
    }
    ek_dataset_init(d, F, M);
    for (int i = 0; i < lists; i++)
        ck_assert_int_eq(ek_dataset_add(d, &q, &e), EK_OK);
    ek_list_release(&q);
}

/* The loss of each step, from the running mean of its epoch. */
struct losses {
    double step[200], sum;
    int epoch;
    size_t count, in_epoch;
};

static int note_loss(void *context, const struct ek_train_progress *p)
{
    struct losses *l = context;
    if (p->step == l->count) /* reported again at the end of the epoch */
        return 0;
    if (p->epoch != l->epoch) {
        l->epoch = p->epoch;
        l->sum = 0;
        l->in_epoch = 0;
    }
    double sum = p->loss * (double)++l->in_epoch;
    l->step[l->count++] = sum - l->sum;
    l->sum = sum;
    return 0;
}

static void check_draws(int lists, int batch, double dropout, double clean)
{
    struct ek_manifest *f = ek_small_manifest();
    struct ek_dataset d;
    struct ek_model *m;
    struct ek_error e;
    struct losses l = {0};
    struct ek_train_options o = ek_small_options();
    o.batch_lists = batch;
    o.learning_rate = 1e-30; /* the weights stay constant */
    o.weight_decay = 0;
    o.keep_clean = clean;
    o.network.dropout = dropout;
    o.progress = note_loss;
    o.context = &l;
    fill_alike(&d, lists);
    ck_assert_int_eq(ek_train(&m, f, &d, &d, &o, NULL, &e), EK_OK);
    ck_assert_uint_eq(l.count, (size_t)(4 * ((lists + batch - 1) / batch)));
    for (size_t i = 0; i < l.count; i++)
        for (size_t j = 0; j < i; j++)
            ck_assert_msg(fabs(l.step[i] - l.step[j]) > 1e-9,
                          "batches of %d of %d lists: steps %zu and %zu lose the same", batch,
                          lists, j, i);
    ek_model_free(m);
    ek_dataset_release(&d);
    ek_manifest_free(f);
}

START_TEST(no_two_lists_of_any_epoch_draw_the_same_numbers)
{
    check_draws(24, 1, 0, 1);
    check_draws(25, 1, 0, 0.5);
    check_draws(25, 1, 0.3, 1);
    check_draws(80, 10, 0, 0.5);
    check_draws(30, 4, 0, 0.5); /* the last batch has two */
}
END_TEST

/* Lists with a constant routable feature, a constant other one and a constant query feature. */
static void fill_flat(struct ek_dataset *d, uint64_t seed, int lists)
{
    ek_small_data(d, seed, lists);
    for (size_t i = 0; i < d->items; i++) {
        d->x[i * F + 1] = 4;
        d->x[i * F + 2] = 0;
    }
    for (size_t q = 0; q < d->lists; q++)
        d->query[q] = 2;
}

static void score_all(const struct ek_model *m, const struct ek_dataset *d, bool routed,
                      double *score)
{
    const struct ek_treatment t[2] = {{EK_ACT_NONE, 0}, {routed ? EK_ACT_ROUTE : EK_ACT_NONE, 0}};
    struct ek_scorer *s;
    struct ek_list view;
    struct ek_error e;
    ck_assert_int_eq(ek_scorer_new(&s, m, &e), EK_OK);
    for (size_t q = 0; q < d->lists; q++) {
        ek_dataset_view(d, q, &view);
        ck_assert_int_eq(ek_scorer_score(s, &view, t, score + d->offset[q], &e), EK_OK);
    }
    ek_scorer_free(s);
}

/* Change the features constant in training: all values, or every third item's. */
static void move_flat(struct ek_dataset *d, int how)
{
    static const float to[][2] = {{400, 1}, {0, 7}, {NAN, NAN}, {-4, -100}, {1e30f, 1e30f}};
    for (size_t i = 0; i < d->items; i += how % 2 ? 3 : 1) {
        d->x[i * F + 1] = to[how / 2][0];
        d->x[i * F + 2] = to[how / 2][1];
    }
    for (size_t q = 0; q < d->lists; q++)
        d->query[q] = to[how / 2][0];
}

static void check_flat(const struct ek_train_options *o, const char *name)
{
    struct ek_manifest *f = ek_small_manifest();
    struct ek_dataset train, vali;
    struct ek_model *m;
    struct ek_error e;
    fill_flat(&train, 1, 120);
    fill_flat(&vali, 2, 20);
    ck_assert_int_eq(ek_train(&m, f, &train, &vali, o, NULL, &e), EK_OK);
    ek_dataset_release(&train);
    double *as_trained = ek_calloc(2 * vali.items, sizeof *as_trained);
    double *moved = as_trained + vali.items;
    for (int how = 0; how < 20; how++) {
        bool routed = how >= 10;
        fill_flat(&train, 2, 20);
        score_all(m, &vali, routed, as_trained);
        move_flat(&train, how % 10);
        score_all(m, &train, routed, moved);
        for (size_t i = 0; i < vali.items; i++)
            ck_assert_msg(moved[i] == as_trained[i], "%s, move %d: %g instead of %g", name, how,
                          moved[i], as_trained[i]);
        ek_dataset_release(&train);
    }
    ck_assert(as_trained[0] != as_trained[1]);
    ck_assert(m->item_sd[1] == EK_SD_UNREAD && m->log_sd[1] == EK_SD_UNREAD);
    ck_assert(ek_spread_ratio(m, &vali, 1) == 1);
    ek_free(as_trained);
    ek_model_free(m);
    ek_dataset_release(&vali);
    ek_manifest_free(f);
}

START_TEST(what_never_changed_in_training_moves_no_score_later)
{
    for (int form = 0; form <= 2 * EK_TRANSFORM_MIXTURE + 3; form++) {
        struct ek_train_options o = ek_small_options();
        o.epochs = 1;
        o.shape.transform = (enum ek_transform)(form / 2 % (EK_TRANSFORM_MIXTURE + 1));
        o.network.batch_norm = form % 2;
        o.shape.hidden_count = form % 3;
        if (form > 2 * EK_TRANSFORM_MIXTURE + 1)
            o.shape.log_input = EK_LOG_ROUTED;
        check_flat(&o, ek_transform_name(o.shape.transform));
    }
}
END_TEST

START_TEST(what_a_model_leaves_out_was_not_learned_with)
{
    struct ek_train_options o = ek_small_options();
    struct ek_train_progress last;
    struct ek_manifest *f = ek_small_manifest();
    struct ek_dataset d;
    struct ek_model *m;
    struct ek_error e;
    struct ek_evaluation v = {.metric = {{EK_NDCG, 10}}, .metric_count = 1};
    o.routing = EK_ROUTING_NONE;
    o.shape.transform = EK_TRANSFORM_RAW;
    fill_flat(&d, 1, 120);
    for (size_t i = 0; i < d.items; i++)
        d.x[i * F + 1] = 500;
    ck_assert_int_eq(ek_train(&m, f, &d, &d, &o, &last, &e), EK_OK);
    ck_assert_int_eq(ek_evaluate(m, &d, &v, &e), EK_OK);
    ck_assert_double_eq_tol(ek_metric_result(&v.mean[0]), last.best_ndcg10, 1e-9);
    ek_model_free(m);
    ek_dataset_release(&d);
    ek_manifest_free(f);
}
END_TEST

START_TEST(a_zero_that_training_never_had_has_no_indicator)
{
    struct ek_train_options o = ek_small_options();
    struct ek_manifest *f = ek_small_manifest();
    struct ek_dataset d; /* prices are never 0, ratings sometimes */
    struct ek_model *m;
    struct ek_error e;
    ek_small_data(&d, 1, 120);
    ck_assert_int_eq(ek_train(&m, f, &d, &d, &o, NULL, &e), EK_OK);
    size_t last = (size_t)m->deep_inputs - 1;
    for (int unit = 0; unit < m->hidden[0]; unit++) {
        const float *w = m->weight[0] + (size_t)unit * (last + 1);
        ck_assert(w[last - 1] == 0 && w[last] != 0);
    }
    for (int g = 0; g <= m->gate_size; g++)
        ck_assert(m->zero[2 * g] == 0 && m->zero[2 * g + 1] != 0);
    ek_model_free(m);
    ek_dataset_release(&d);
    ek_manifest_free(f);
}
END_TEST

/* Check that validation on another data set is rejected. */
static void check_refused(const struct ek_dataset *train, const struct ek_dataset *vali,
                          const char *want)
{
    struct ek_train_options o = ek_small_options();
    struct ek_manifest *f = ek_small_manifest();
    struct ek_model *m = NULL;
    struct ek_error e = {0};
    ck_assert_int_eq(ek_train(&m, f, train, vali, &o, NULL, &e), EK_EUSAGE);
    ck_assert_str_eq(e.message, want);
    ck_assert_ptr_null(m);
    ek_manifest_free(f);
}

START_TEST(a_label_that_gives_no_gain_is_named_with_its_place)
{
    struct ek_dataset d, odd;
    ek_small_data(&d, 1, 10);
    ek_small_data(&odd, 1, 10);
    float *label = odd.label + odd.offset[3] + 1;
    *label = 1001;
    check_refused(&odd, &d,
                  "list 4 of the training data, item 2: label 1001 is above 1000, too large for a "
                  "gain of 2^y - 1; give grades, as 0 to 4, or logarithms of counts");
    *label = INFINITY;
    check_refused(&d, &odd,
                  "list 4 of the validation data, item 2: label inf is above 1000, too large for a "
                  "gain of 2^y - 1; give grades, as 0 to 4, or logarithms of counts");
    *label = -1;
    check_refused(&odd, &d,
                  "list 4 of the training data, item 2: a label must be a number of at least 0, "
                  "not -1");
    *label = NAN;
    check_refused(&odd, &d,
                  "list 4 of the training data, item 2: a label must be a number of at least 0, "
                  "not nan");
    for (size_t i = odd.offset[3]; i < odd.offset[4]; i++)
        odd.label[i] = 0;
    *label = 1e-17f;
    check_refused(&odd, &d,
                  "list 4 of the training data: its highest label, 1e-17, is below 1e-09 and no "
                  "gain of 2^y - 1 is left of it; multiply all labels");
    ek_dataset_release(&d);
    ek_dataset_release(&odd);
}
END_TEST

START_TEST(labels_at_the_limits_train_with_every_loss)
{
    struct ek_manifest *f = ek_small_manifest();
    struct ek_dataset d;
    ek_small_data(&d, 1, 40);
    for (size_t i = 0; i < d.items; i++)
        if (i < d.offset[20])
            d.label[i] = 1000; /* for every item: the maximum sum of gains */
        else
            d.label[i] *= 0.5e-9f;
    d.label[0] = 0;
    for (int loss = EK_LISTNET; loss <= EK_APPROX_NDCG; loss++) {
        struct ek_train_options o = ek_small_options();
        struct ek_train_progress last;
        struct ek_model *m;
        struct ek_error e;
        o.loss = (enum ek_loss)loss;
        ck_assert_int_eq(ek_train(&m, f, &d, &d, &o, &last, &e), EK_OK);
        ck_assert(isfinite(last.loss) && last.best_ndcg10 > 0.5 && last.best_ndcg10 <= 1);
        ek_model_free(m);
    }
    ek_dataset_release(&d);
    ek_manifest_free(f);
}
END_TEST

static void count_warning(void *context, const char *text)
{
    int *count = context;
    *count += strstr(text, "the manifest that of another set?") != NULL;
}

/* Return the warnings about a possibly wrong manifest. */
static int doubts(const struct ek_dataset *d)
{
    int count = 0;
    struct ek_train_options o = ek_small_options();
    struct ek_manifest *f = ek_small_manifest();
    struct ek_model *m;
    struct ek_error e;
    o.epochs = 1;
    o.warn = count_warning;
    o.context = &count;
    ck_assert_int_eq(ek_train(&m, f, d, d, &o, NULL, &e), EK_OK);
    ek_model_free(m);
    ek_manifest_free(f);
    return count;
}

static void set_column(struct ek_dataset *d, size_t feature, bool by_list)
{
    for (size_t q = 0; q < d->lists; q++)
        for (size_t i = d->offset[q]; i < d->offset[q + 1]; i++)
            d->x[i * F + feature] = by_list ? (float)(q + 1) : 0;
}

/* Train on a hundred item features, the last `absent` of which are always missing. */
static int train_without(int absent, char said[SAID_BYTES])
{
    enum { ALL = 100, LISTS = 10, ITEMS = 5 };
    struct ek_train_options o = ek_small_options();
    struct ek_manifest *m = NULL;
    struct ek_model *model = NULL;
    struct ek_dataset d;
    struct ek_list q;
    struct ek_rng r;
    struct ek_buf text;
    struct ek_error e = {0};
    ek_rng_seed(&r, 1);
    ek_list_init(&q);
    ek_buf_init(&text, 0);
    must(ek_buf_text(&text, "features:\n"));
    for (int f = 1; f <= ALL; f++)
        must(ek_buf_printf(&text, "- {name: x%d, index: %d, role: item}\n", f, f));
    must(ek_manifest_parse(&m, "m", (const char *)text.data, text.length, NULL));
    ek_dataset_init(&d, ALL, 0);
    must(ek_list_resize(&q, ITEMS, ALL, 0));
    q.has_label = true;
    for (int l = 0; l < LISTS; l++) {
        for (int i = 0; i < ITEMS * ALL; i++)
            q.x[i] = i % ALL < ALL - absent ? (float)exp(ek_rng_normal(&r)) : 0;
        for (int i = 0; i < ITEMS; i++)
            q.label[i] = (float)i;
        must(ek_dataset_add(&d, &q, NULL));
    }
    o.epochs = 1;
    int rc = ek_train(&model, m, &d, &d, &o, NULL, &e);
    ek_error_text(&e, said, SAID_BYTES);
    ek_model_free(model);
    ek_dataset_release(&d);
    ek_list_release(&q);
    ek_buf_release(&text);
    ek_manifest_free(m);
    return rc;
}

START_TEST(half_of_the_item_features_may_be_absent_and_no_more)
{
    ck_limit(train_without, (int)(100 * EK_TRAIN_ABSENT_MAX), "51 of the 100 item features",
             "never occur");
}
END_TEST

START_TEST(a_manifest_of_another_set_is_refused_when_most_is_absent)
{
    struct ek_dataset d;
    ek_small_data(&d, 1, 40);
    ck_assert_int_eq(doubts(&d), 0);
    set_column(&d, 1, false);
    ck_assert_int_eq(doubts(&d), 1); /* one of three */
    set_column(&d, 2, false);
    check_refused(&d, &d,
                  "2 of the 3 item features of the manifest never occur in the training data, "
                  "first 'rating' (index 2): take the manifest of this set, or leave out what the "
                  "set has not");
    ek_dataset_release(&d);
}
END_TEST

START_TEST(a_manifest_of_another_set_is_refused_when_no_item_feature_differs)
{
    struct ek_dataset d;
    ek_small_data(&d, 1, 40);
    set_column(&d, 0, true);
    set_column(&d, 2, true);
    ck_assert_int_eq(doubts(&d), 2);
    set_column(&d, 1, true);
    check_refused(&d, &d,
                  "none of the 3 item features of the manifest ever differs within a list of the "
                  "training data, so its items are all alike: take the manifest of this set");
    ek_dataset_release(&d);
}
END_TEST

Suite *suite_train_data(void)
{
    return ek_suite("train data", no_two_lists_of_any_epoch_draw_the_same_numbers,
                    what_never_changed_in_training_moves_no_score_later,
                    what_a_model_leaves_out_was_not_learned_with,
                    a_zero_that_training_never_had_has_no_indicator,
                    a_label_that_gives_no_gain_is_named_with_its_place,
                    labels_at_the_limits_train_with_every_loss,
                    half_of_the_item_features_may_be_absent_and_no_more,
                    a_manifest_of_another_set_is_refused_when_most_is_absent,
                    a_manifest_of_another_set_is_refused_when_no_item_feature_differs);
}
