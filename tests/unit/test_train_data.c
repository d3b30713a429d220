/* What training makes of its lists: what it draws for them, and what it does about odd ones. */
#include "offline/train.h"
#include "tests/check.h"
#include "tests/train_set.h"

#include <math.h>

enum { F = EK_SMALL_FEATURES, M = EK_SMALL_QUERIES };

/* Lists of the same twelve items: what a step loses then differs by what it draws alone. */
static void fill_alike(struct ek_dataset *d, int lists)
{
    struct ek_query q;
    struct ek_error e;
    ek_query_init(&q);
    ck_assert_int_eq(ek_query_resize(&q, 12, F, M), EK_OK);
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
    ek_query_release(&q);
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
    if (p->step == l->count) /* told again at the end of the epoch */
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
    o.learning_rate = 1e-30; /* the weights stay what they are */
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

Suite *suite_train_data(void)
{
    return ek_suite("train data", no_two_lists_of_any_epoch_draw_the_same_numbers);
}
