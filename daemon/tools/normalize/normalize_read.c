#include "daemon/files/check.h"
#include "daemon/base/cli.h"
#include "daemon/tools/normalize/normalize.h"

#include "lists/letor.h"

static int take(struct ek_dataset *d, const struct ek_query *q, struct ek_error *e)
{
    size_t width = (size_t)d->item_features;
    if ((d->items + (size_t)q->items) * width > EK_NORMALIZE_VALUES_MAX)
        return ek_fail(e, EK_ELIMIT,
                       "more than %d values (items times %zu features): take fewer lists, or their "
                       "--profile",
                       EK_NORMALIZE_VALUES_MAX, width);
    return ek_dataset_add(d, q, e);
}

static int read_file(struct ek_dataset *d, const struct ek_manifest *m, const char *path,
                     struct ek_query *q, struct ek_progress *progress, struct ek_error *e)
{
    struct ek_letor *letor;
    bool more = true;
    uint64_t done, total;
    size_t before = d->lists;
    int rc = ek_letor_open(&letor, m, path, e);
    if (rc)
        return rc;
    while (!rc && !(rc = ek_letor_next(letor, q, &more, e)) && more) {
        rc = take(d, q, e);
        ek_letor_position(letor, &done, &total);
        ek_progress_update(progress, done, total, path);
    }
    ek_letor_close(letor);
    if (!rc && d->lists == before)
        return ek_fail_at(e, EK_EFORMAT, path, 0, 0, "there are no lists in it");
    if (rc == EK_EFORMAT)
        ek_kind_explain(path, EK_KIND_LETOR, e);
    return rc;
}

int ek_normalize_read_parts(const struct ek_files *files, const struct ek_manifest *m,
                            struct ek_dataset *d, size_t *lists, struct ek_error *e)
{
    struct ek_progress progress;
    struct ek_query q;
    int rc = EK_OK;
    ek_dataset_init(d, m->item_count, m->query_count);
    ek_query_init(&q);
    ek_progress_start(&progress, "reading");
    for (int i = 0; i < files->count && !rc; i++) {
        size_t before = d->lists;
        rc = read_file(d, m, files->path[i], &q, &progress, e);
        if (lists)
            lists[i] = d->lists - before;
    }
    ek_query_release(&q);
    return rc;
}

int ek_normalize_read(const struct ek_files *files, const struct ek_manifest *m,
                      struct ek_dataset *d, struct ek_error *e)
{
    return ek_normalize_read_parts(files, m, d, NULL, e);
}
