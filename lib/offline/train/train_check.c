#include "offline/train/train_check.h"

#include "score/metrics.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>

int ek_train_check_options(const struct ek_manifest *m, const struct ek_train_options *o,
                           struct ek_error *e)
{
    if (o->epochs < 1)
        return ek_fail(e, EK_EUSAGE, "training needs at least one epoch");
    if (o->patience < 0)
        return ek_fail(e, EK_EUSAGE, "the patience must not be negative");
    if (o->samples < 0 || o->cutoff < 0)
        return ek_fail(e, EK_EUSAGE, "samples and cut-off of a loss must not be negative");
    if ((o->samples || o->cutoff) && o->loss != EK_APPROX_NDCG)
        return ek_fail(e, EK_EUSAGE, "samples and a cut-off are for the loss approxndcg");
    if (o->batch_lists < 1)
        return ek_fail(e, EK_EUSAGE, "a batch has at least one list");
    if (!(o->learning_rate > 0) || !isfinite(o->learning_rate))
        return ek_fail(e, EK_EUSAGE, "the learning rate must be positive");
    if (!(o->weight_decay >= 0) || !isfinite(o->weight_decay))
        return ek_fail(e, EK_EUSAGE, "the weight decay must not be negative");
    if (!(o->average >= 0) || !isfinite(o->average))
        return ek_fail(e, EK_EUSAGE, "the power of the averaging must not be negative");
    if (!(o->keep_clean >= 0 && o->keep_clean <= 1))
        return ek_fail(e, EK_EUSAGE, "the share of clean lists is 0 to 1");
    if (!(o->shift >= 0 && o->shift <= 1))
        return ek_fail(e, EK_EUSAGE, "the share of lists with another scale is 0 to 1");
    if (!(o->network.dropout >= 0 && o->network.dropout < 1))
        return ek_fail(e, EK_EUSAGE, "dropout is a share of at least 0 and below 1");
    for (int i = 0; i < o->static_count; i++)
        if (o->static_routed[i] < 0 || o->static_routed[i] >= m->routable_count)
            return ek_fail(e, EK_EUSAGE, "there is no routable feature number %d",
                           o->static_routed[i]);
    return EK_OK;
}

static void __attribute__((format(printf, 2, 3)))
warn(const struct ek_train_options *o, const char *format, ...)
{
    char text[400];
    va_list args;
    if (!o->warn)
        return;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    o->warn(o->context, text);
}

/* Number of lists without a gradient, by reason. */
struct census {
    size_t single, without_positive, equal, teaching;
};

static bool all_equal(const float *x, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (x[i] != x[0])
            return false;
    return true;
}

static struct census count_lists(const struct ek_dataset *d)
{
    struct census c = {0};
    for (size_t q = 0; q < d->lists; q++) {
        size_t n = d->offset[q + 1] - d->offset[q];
        const float *label = d->label + d->offset[q];
        if (n < 2)
            c.single++;
        else if (!ek_has_positive(label, (int)n))
            c.without_positive++;
        else if (all_equal(label, n))
            c.equal++;
        else
            c.teaching++;
    }
    return c;
}

static int check_labels_of(const char *name, const struct ek_dataset *d, size_t q,
                           struct ek_error *e)
{
    float high = 0;
    for (size_t i = d->offset[q]; i < d->offset[q + 1]; i++) {
        float y = d->label[i];
        if (!(y >= 0))
            return ek_fail(e, EK_EUSAGE,
                           "list %zu of the %s data, item %zu: a label must be a number of at "
                           "least 0, not %g",
                           q + 1, name, i - d->offset[q] + 1, (double)y);
        if (y > EK_LABEL_MAX)
            return ek_fail(e, EK_EUSAGE,
                           "list %zu of the %s data, item %zu: label %g is above %g, too large for "
                           "a gain of 2^y - 1; give grades, as 0 to 4, or logarithms of counts",
                           q + 1, name, i - d->offset[q] + 1, (double)y, (double)EK_LABEL_MAX);
        high = y > high ? y : high;
    }
    if (high > 0 && high < EK_TRAIN_LABEL_MIN)
        return ek_fail(e, EK_EUSAGE,
                       "list %zu of the %s data: its highest label, %g, is below %g and no gain of "
                       "2^y - 1 is left of it; multiply all labels",
                       q + 1, name, (double)high, (double)EK_TRAIN_LABEL_MIN);
    return EK_OK;
}

static int check_labels(const char *name, const struct ek_dataset *d, struct ek_error *e)
{
    int code = EK_OK;
    for (size_t q = 0; q < d->lists && !code; q++)
        code = check_labels_of(name, d, q, e);
    return code;
}

static int check_lists(const char *name, const struct ek_dataset *d,
                       const struct ek_train_options *o, struct ek_error *e)
{
    struct census c = count_lists(d);
    if (!c.teaching && c.without_positive == d->lists)
        return ek_fail(e, EK_EUSAGE, "the %s data has no list with a positive label", name);
    if (!c.teaching)
        return ek_fail(e, EK_EUSAGE,
                       "the %s data has no list with two items of different labels, so there is "
                       "no order to %s",
                       name, name[0] == 't' ? "learn" : "judge by");
    if (c.single)
        warn(o, "%zu of %zu lists of the %s data have one item and no order", c.single, d->lists,
             name);
    if (c.without_positive)
        warn(o, "%zu of %zu lists of the %s data have no positive label and are skipped",
             c.without_positive, d->lists, name);
    if (c.equal)
        warn(o, "%zu of %zu lists of the %s data have the same label on all items", c.equal,
             d->lists, name);
    return EK_OK;
}

static bool same(float a, float b)
{
    return a == b || (isnan(a) && isnan(b));
}

/* Return true if a column of `rows` rows has a finite nonzero value. */
static bool occurs(const float *x, size_t rows, size_t columns)
{
    for (size_t i = 0; i < rows; i++)
        if (isfinite(x[i * columns]) && x[i * columns] != 0)
            return true;
    return false;
}

static bool constant(const float *x, size_t rows, size_t columns)
{
    for (size_t i = 1; i < rows; i++)
        if (!same(x[i * columns], x[0]))
            return false;
    return true;
}

static bool constant_in_lists(const struct ek_dataset *d, size_t feature)
{
    size_t columns = (size_t)d->item_features;
    for (size_t q = 0; q < d->lists; q++) {
        size_t first = d->offset[q], n = d->offset[q + 1] - first;
        if (!constant(d->x + first * columns + feature, n, columns))
            return false;
    }
    return true;
}

static bool odd_column(const char *feature, const float *x, size_t rows, size_t columns,
                       const struct ek_train_options *o)
{
    bool there = occurs(x, rows, columns);
    if (!there)
        warn(o,
             "feature '%s' never occurs in the training data: is the manifest that of another "
             "set?",
             feature);
    else if (constant(x, rows, columns))
        warn(o, "feature '%s' is always %g in the training data; the model cannot learn from it",
             feature, (double)x[0]);
    else
        return false;
    return true;
}

/* Item features that never occur, the first of them, and the number that differ within a list. */
struct columns {
    size_t absent, first_absent, differing;
};

static struct columns count_columns(const struct ek_dataset *d)
{
    struct columns c = {0};
    size_t columns = (size_t)d->item_features;
    for (size_t f = columns; f-- > 0;) {
        if (!occurs(d->x + f, d->items, columns)) {
            c.absent++;
            c.first_absent = f;
        }
        c.differing += !constant_in_lists(d, f);
    }
    return c;
}

/* Reject a manifest that must belong to other data. */
static int check_manifest(const struct ek_manifest *m, const struct ek_dataset *d,
                          struct ek_error *e)
{
    struct columns c = count_columns(d);
    int all = m->item_count;
    if ((double)c.absent > EK_TRAIN_ABSENT_MAX * (double)all)
        return ek_fail(e, EK_EUSAGE,
                       "%zu of the %d item features of the manifest never occur in the training "
                       "data, first '%s' (index %d): take the manifest of this set, or leave out "
                       "what the set has not",
                       c.absent, all, m->item[c.first_absent]->name,
                       m->item[c.first_absent]->index);
    if (!c.differing)
        return ek_fail(e, EK_EUSAGE,
                       "none of the %d item features of the manifest ever differs within a list of "
                       "the training data, so its items are all alike: take the manifest of "
                       "this set",
                       all);
    return EK_OK;
}

static void check_features(const struct ek_manifest *m, const struct ek_dataset *d,
                           const struct ek_train_options *o)
{
    size_t items = (size_t)d->item_features, queries = (size_t)d->query_features;
    for (size_t f = 0; f < items; f++)
        if (!odd_column(m->item[f]->name, d->x + f, d->items, items, o) && constant_in_lists(d, f))
            warn(o,
                 "item feature '%s' never differs within a list of the training data: is it a "
                 "query feature, or the manifest that of another set?",
                 m->item[f]->name);
    for (size_t f = 0; f < queries; f++)
        odd_column(m->query[f]->name, d->query + f, d->lists, queries, o);
}

int ek_train_check_data(const char *name, const struct ek_manifest *m, const struct ek_dataset *d,
                        bool features, const struct ek_train_options *o, struct ek_error *e)
{
    if (d->item_features != m->item_count || d->query_features != m->query_count)
        return ek_fail(e, EK_ESTATE, "the %s data has other features than the manifest", name);
    int code = check_labels(name, d, e);
    if (!code)
        code = check_lists(name, d, o, e);
    if (!code && features)
        code = check_manifest(m, d, e);
    if (!code && features)
        check_features(m, d, o);
    return code;
}
