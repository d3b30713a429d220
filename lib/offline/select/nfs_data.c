#include "offline/select/nfs_data.h"

#include "base/alloc.h"
#include "score/encode.h"

#include <math.h>
#include <string.h>

static const double PART_MAX = 10;

/* Return the number of lists into which a list is split. */
static size_t pieces_of(size_t items)
{
    return items ? (items + EK_NFS_LIST_ITEMS_MAX - 1) / EK_NFS_LIST_ITEMS_MAX : 1;
}

static size_t items_of(const struct ek_dataset *d, size_t list)
{
    return d->offset[list + 1] - d->offset[list];
}

static int allocate(struct ek_nfs_data *d, size_t lists, size_t items)
{
    d->offset = ek_calloc(lists + 1, sizeof *d->offset);
    d->part = ek_calloc(items * d->features, EK_NFS_PARTS * sizeof *d->part);
    d->query = ek_calloc(lists, d->queries * sizeof *d->query);
    d->label = ek_calloc(items, sizeof *d->label);
    d->there = ek_calloc(items, d->features * sizeof *d->there);
    return d->offset && d->part && d->query && d->label && d->there ? EK_OK : EK_ENOMEM;
}

/* State while data is filled. */
struct filling {
    struct ek_nfs_data *to;
    const struct ek_dataset *from;
    struct ek_encoder encoder;
    float *part; /* [F, EK_TRANSFORM_PARTS] */
};

static void fill_item(struct filling *f, size_t item)
{
    static const int kept[EK_NFS_PARTS] = {EK_PART_ZSCORE, EK_PART_CDF, EK_PART_LOG1P};
    struct ek_nfs_data *d = f->to;
    const float *x = f->from->x + item * d->features;
    float *to = d->part + d->items * d->features * EK_NFS_PARTS;
    ek_transform_parts(&f->encoder.transformer, x, f->part);
    for (size_t i = 0; i < d->features; i++) {
        d->there[d->items * d->features + i] = isfinite(x[i]);
        for (size_t k = 0; k < EK_NFS_PARTS; k++)
            *to++ = f->part[i * EK_TRANSFORM_PARTS + (size_t)kept[k]];
    }
    d->label[d->items++] = f->from->label[item];
}

/* Add items `first`, `first` + step ... of a list as one list. */
static void fill_piece(struct filling *f, size_t list, size_t first, size_t step)
{
    struct ek_nfs_data *d = f->to;
    for (size_t i = first; i < items_of(f->from, list); i += step)
        fill_item(f, f->from->offset[list] + i);
    memcpy(d->query + d->lists * d->queries, f->encoder.query, d->queries * sizeof *d->query);
    size_t items = d->items - d->offset[d->lists];
    d->longest = items > d->longest ? items : d->longest;
    d->offset[++d->lists] = d->items;
}

static int fill(struct filling *f)
{
    const struct ek_dataset *from = f->from;
    for (size_t q = 0; q < from->lists; q++) {
        size_t pieces = pieces_of(items_of(from, q));
        /* One item is enough for the query features; the parts are computed per item. */
        int n = items_of(from, q) ? 1 : 0;
        if (ek_encode(&f->encoder, from->x + from->offset[q] * f->to->features, n,
                      from->query + q * f->to->queries, NULL))
            return EK_ENOMEM;
        for (size_t i = 0; i < pieces; i++)
            fill_piece(f, q, i, pieces);
    }
    return EK_OK;
}

int ek_nfs_data_init(struct ek_nfs_data *d, const struct ek_model *m, const struct ek_dataset *from,
                     struct ek_error *e)
{
    struct filling f = {.to = d, .from = from};
    size_t lists = 0;
    memset(d, 0, sizeof *d);
    d->features = (size_t)m->item_features;
    d->queries = (size_t)m->query_features;
    for (size_t q = 0; q < from->lists; q++)
        lists += pieces_of(items_of(from, q));
    f.part = ek_calloc(d->features, EK_TRANSFORM_PARTS * sizeof *f.part);
    int code = ek_encoder_init(&f.encoder, m);
    if (!code && (!f.part || allocate(d, lists, from->items)))
        code = EK_ENOMEM;
    if (!code)
        code = fill(&f);
    ek_encoder_release(&f.encoder);
    ek_free(f.part);
    if (!code)
        return EK_OK;
    ek_nfs_data_release(d);
    return ek_fail(e, EK_ENOMEM, "out of memory");
}

void ek_nfs_data_release(struct ek_nfs_data *d)
{
    ek_free(d->offset);
    ek_free(d->part);
    ek_free(d->query);
    ek_free(d->label);
    ek_free(d->there);
    memset(d, 0, sizeof *d);
}

/* Compute mean and 1 / sd of a part over the items that have feature f. */
static void measure_part(const struct ek_nfs_data *d, size_t f, size_t k, double *mean,
                         double *scale)
{
    const float *part = d->part + f * EK_NFS_PARTS + k;
    size_t row = d->features * EK_NFS_PARTS, n = 0;
    double sum = 0, squares = 0;
    for (size_t i = 0; i < d->items; i++)
        if (d->there[i * d->features + f]) {
            sum += (double)part[i * row];
            n++;
        }
    *mean = n ? sum / (double)n : 0;
    for (size_t i = 0; i < d->items; i++)
        if (d->there[i * d->features + f])
            squares += pow((double)part[i * row] - *mean, 2);
    double sd = n ? sqrt(squares / (double)n) : 0;
    *scale = sd > 1e-6 ? 1 / sd : 0; /* smaller sd is rounding error */
}

void ek_nfs_data_measure(const struct ek_nfs_data *d, double *mean, double *scale)
{
    for (size_t f = 0; f < d->features; f++)
        for (size_t k = 0; k < EK_NFS_PARTS; k++)
            measure_part(d, f, k, &mean[f * EK_NFS_PARTS + k], &scale[f * EK_NFS_PARTS + k]);
}

void ek_nfs_data_standardize(struct ek_nfs_data *d, const double *mean, const double *scale)
{
    float *part = d->part;
    for (size_t i = 0; i < d->items; i++)
        for (size_t f = 0; f < d->features; f++)
            for (size_t k = 0; k < EK_NFS_PARTS; k++, part++) {
                size_t at = f * EK_NFS_PARTS + k;
                double y = ((double)*part - mean[at]) * scale[at];
                bool there = d->there[i * d->features + f];
                *part = there ? (float)fmin(PART_MAX, fmax(-PART_MAX, y)) : 0;
            }
}

struct ek_nfs_list ek_nfs_data_list(const struct ek_nfs_data *d, size_t list)
{
    size_t first = d->offset[list];
    return (struct ek_nfs_list){.items = d->offset[list + 1] - first,
                                .part = d->part + first * d->features * EK_NFS_PARTS,
                                .query = d->query + list * d->queries};
}
