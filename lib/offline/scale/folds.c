#include "offline/scale/folds.h"

static int check(int parts, struct ek_error *e)
{
    if (parts < EK_FOLDS_LEAST || parts > EK_FOLDS_MOST)
        return ek_fail(e, EK_EUSAGE, "%d parts; folds are made of %d to %d", parts, EK_FOLDS_LEAST,
                       EK_FOLDS_MOST);
    return EK_OK;
}

int ek_folds_cut(struct ek_folds *f, size_t lists, int parts, struct ek_error *e)
{
    int rc = check(parts, e);
    if (rc)
        return rc;
    size_t count = (size_t)parts;
    if (lists < count)
        return ek_fail(e, EK_EUSAGE, "%zu lists are too few for %d parts", lists, parts);
    f->parts = parts;
    for (size_t i = 0; i <= count; i++)
        f->edge[i] = i * (lists / count) + (i < lists % count ? i : lists % count);
    return EK_OK;
}

int ek_folds_given(struct ek_folds *f, const size_t *lists, int parts, struct ek_error *e)
{
    int rc = check(parts, e);
    for (int i = 0; i < parts && !rc; i++)
        if (!lists[i])
            rc = ek_fail(e, EK_EUSAGE, "part %d of %d has no list", i + 1, parts);
    if (rc)
        return rc;
    f->parts = parts;
    f->edge[0] = 0;
    for (int i = 0; i < parts; i++)
        f->edge[i + 1] = f->edge[i] + lists[i];
    return EK_OK;
}

static int add_part(struct ek_dataset *to, const struct ek_folds *f, const struct ek_dataset *d,
                    int part, struct ek_error *e)
{
    int rc = EK_OK;
    for (size_t i = f->edge[part]; i < f->edge[part + 1] && !rc; i++) {
        struct ek_query q;
        ek_dataset_view(d, i, &q);
        rc = ek_dataset_add(to, &q, e);
    }
    return rc;
}

int ek_fold_make(struct ek_fold *out, const struct ek_folds *f, const struct ek_dataset *d,
                 int number, struct ek_error *e)
{
    struct ek_fold fold;
    int vali = (number + f->parts - 2) % f->parts, test = (number + f->parts - 1) % f->parts;
    int rc = EK_OK;
    ek_dataset_init(&fold.train, d->item_features, d->query_features);
    ek_dataset_init(&fold.vali, d->item_features, d->query_features);
    ek_dataset_init(&fold.test, d->item_features, d->query_features);
    fold.first_tested = f->edge[test];
    for (int i = 0; i < f->parts - 2 && !rc; i++)
        rc = add_part(&fold.train, f, d, (number + i) % f->parts, e);
    if (!rc)
        rc = add_part(&fold.vali, f, d, vali, e);
    if (!rc)
        rc = add_part(&fold.test, f, d, test, e);
    if (rc)
        ek_fold_release(&fold);
    else
        *out = fold;
    return rc;
}

void ek_fold_release(struct ek_fold *f)
{
    ek_dataset_release(&f->train);
    ek_dataset_release(&f->vali);
    ek_dataset_release(&f->test);
}
