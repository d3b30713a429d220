#include "offline/select/nfs_train.h"

#include "base/alloc.h"
#include "offline/train/loss.h"
#include "offline/train/optimizer.h"
#include "score/encode.h"
#include "score/metrics.h"

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

static int allocate_data(struct ek_nfs_data *d, size_t lists, size_t items)
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
    if (!code && (!f.part || allocate_data(d, lists, from->items)))
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

enum { STREAM_START = 1, STREAM_ORDER = 2 };
static const double WARM_UP = 0.05, WEIGHT_DECAY = 1e-2, AVERAGE = 3;

struct training;

/* Shard of a batch or of the validation lists: positions [from, to) of an order. */
struct shard {
    struct training *of;
    struct ek_nfs_pass pass;
    const struct ek_nfs_data *data;
    const size_t *order; /* NULL: order of the data */
    size_t from, to;
    double divisor, loss;
    float *gradient;
    double *scratch; /* [longest] */
    int *ranked;     /* [longest] */
    struct ek_metric_mean ndcg;
};

struct training {
    const struct ek_nfs_options *options;
    const struct ek_nfs_data *train, *vali;
    struct ek_nfs_network network;
    struct shard shard[EK_NFS_SHARDS];
    struct ek_optimizer optimizer;
    float *parameter, *average, *best, *turned, *gradient;
    const float *in_use; /* parameters of the passes: parameter or average */
    size_t *order;       /* lists with a positive label */
    size_t lists, step, steps, longest;
    double vali_ndcg10, best_ndcg10;
    int best_epoch;
};

void ek_nfs_run_tasks(const struct ek_nfs_options *o, void (*task)(void *arg, int i), void *arg)
{
    if (o->run) {
        o->run(o->context, task, arg, EK_NFS_SHARDS);
        return;
    }
    for (int i = 0; i < EK_NFS_SHARDS; i++)
        task(arg, i);
}

static size_t list_at(const struct shard *s, size_t place)
{
    return s->order ? s->order[place] : place;
}

/* Run the lists from `from` on that fit into a pass. Return the position behind them. */
static size_t forward(struct shard *s, size_t from)
{
    const struct training *t = s->of;
    size_t to = from;
    ek_nfs_pass_clear(&s->pass);
    for (; to < s->to; to++) {
        struct ek_nfs_list l = ek_nfs_data_list(s->data, list_at(s, to));
        if (!ek_nfs_pass_add(&s->pass, &t->network, t->turned, &l))
            break;
    }
    ek_nfs_forward(&t->network, t->in_use, &s->pass);
    return to;
}

static void learn_list(struct shard *s, size_t list, size_t row)
{
    const struct ek_nfs_data *d = s->data;
    size_t first = d->offset[list], items = d->offset[list + 1] - first;
    struct ek_list_loss l = {.n = (int)items,
                             .score = s->pass.score + row,
                             .label = d->label + first,
                             .gradient = s->pass.slope + row,
                             .scratch = s->scratch,
                             .order = s->ranked};
    s->loss += ek_loss_compute(EK_APPROX_NDCG, &l) / s->divisor;
    for (size_t i = 0; i < items; i++)
        l.gradient[i] /= s->divisor;
}

static void learn_task(void *arg, int i)
{
    struct training *t = arg;
    struct shard *s = &t->shard[i];
    memset(s->gradient, 0, t->network.parameters * sizeof *s->gradient);
    s->loss = 0;
    for (size_t at = s->from; at < s->to;) {
        size_t end = forward(s, at);
        for (size_t row = 0; at < end; at++) {
            size_t list = list_at(s, at);
            learn_list(s, list, row);
            row += s->data->offset[list + 1] - s->data->offset[list];
        }
        ek_nfs_backward(&t->network, t->in_use, t->turned, &s->pass, s->gradient);
    }
}

static void judge_list(struct shard *s, size_t list, size_t row)
{
    const struct ek_nfs_data *d = s->data;
    const struct ek_metric metric = {EK_NDCG, 10};
    int n = (int)(d->offset[list + 1] - d->offset[list]);
    ek_rank(s->pass.score + row, n, s->ranked);
    ek_metric_add(&s->ndcg,
                  ek_metric_compute(metric, EK_GAIN_EXP, s->ranked, d->label + d->offset[list], n,
                                    0, s->scratch),
                  EK_EMPTY_SKIP);
}

static void judge_task(void *arg, int i)
{
    struct training *t = arg;
    struct shard *s = &t->shard[i];
    memset(&s->ndcg, 0, sizeof s->ndcg);
    for (size_t at = s->from; at < s->to;) {
        size_t end = forward(s, at);
        for (size_t row = 0; at < end; at++) {
            size_t list = list_at(s, at);
            judge_list(s, list, row);
            row += s->data->offset[list + 1] - s->data->offset[list];
        }
    }
}

/* Distribute the positions [from, to) over the shards. */
static void deal(struct training *t, const struct ek_nfs_data *data, const size_t *order,
                 size_t from, size_t to)
{
    for (size_t i = 0; i < EK_NFS_SHARDS; i++) {
        struct shard *s = &t->shard[i];
        s->data = data;
        s->order = order;
        s->from = from + (to - from) * i / EK_NFS_SHARDS;
        s->to = from + (to - from) * (i + 1) / EK_NFS_SHARDS;
        s->divisor = (double)(to - from);
    }
}

/* Sum the results of the shards in their order. Return the loss of the batch. */
static double collect(struct training *t)
{
    double loss = 0;
    memset(t->gradient, 0, t->network.parameters * sizeof *t->gradient);
    for (size_t i = 0; i < EK_NFS_SHARDS; i++) {
        loss += t->shard[i].loss;
        for (size_t j = 0; j < t->network.parameters; j++)
            t->gradient[j] += t->shard[i].gradient[j];
    }
    return loss;
}

/* Return the learning rate: linear warm-up times a cosine from 1 to 0. */
static double rate(const struct training *t)
{
    double warm = fmin(1, (double)(t->step + 1) / fmax(1, WARM_UP * (double)t->steps));
    double done = (double)t->step / (double)t->steps;
    return t->options->learning_rate * warm * 0.5 * (1 + cos(M_PI * done));
}

static int do_step(struct training *t, size_t from, size_t to, struct ek_error *e)
{
    t->in_use = t->parameter;
    ek_nfs_network_transpose(&t->network, t->in_use, t->turned);
    deal(t, t->train, t->order, from, to);
    ek_nfs_run_tasks(t->options, learn_task, t);
    if (!isfinite(collect(t)))
        return ek_fail(e, EK_ESTATE,
                       "the loss of the re-ranker is no number any more; try a lower learning "
                       "rate");
    ek_optimizer_step(&t->optimizer, t->parameter, t->gradient, rate(t), WEIGHT_DECAY);
    t->step++;
    float weight = (float)((AVERAGE + 1) / ((double)t->step + AVERAGE));
    for (size_t i = 0; i < t->network.parameters; i++)
        t->average[i] += weight * (t->parameter[i] - t->average[i]);
    return EK_OK;
}

static void validate(struct training *t, int epoch)
{
    struct ek_metric_mean all = {0};
    t->in_use = t->average;
    ek_nfs_network_transpose(&t->network, t->in_use, t->turned);
    deal(t, t->vali, NULL, 0, t->vali->lists);
    ek_nfs_run_tasks(t->options, judge_task, t);
    for (size_t i = 0; i < EK_NFS_SHARDS; i++) {
        all.sum += t->shard[i].ndcg.sum;
        all.count += t->shard[i].ndcg.count;
    }
    t->vali_ndcg10 = ek_metric_result(&all);
    if (t->best_epoch && !(t->vali_ndcg10 > t->best_ndcg10))
        return;
    t->best_ndcg10 = t->vali_ndcg10;
    t->best_epoch = epoch;
    memcpy(t->best, t->average, t->network.parameters * sizeof *t->best);
}

static void shuffle(struct training *t, struct ek_rng *r)
{
    for (size_t i = t->lists; i > 1; i--) {
        size_t j = (size_t)ek_rng_uniform_int(r, i), held = t->order[i - 1];
        t->order[i - 1] = t->order[j];
        t->order[j] = held;
    }
}

static int run_epochs(struct training *t, struct ek_error *e)
{
    const struct ek_nfs_options *o = t->options;
    size_t batch = (size_t)o->batch_lists;
    struct ek_rng r;
    ek_rng_seed_stream(&r, o->seed, STREAM_ORDER);
    t->steps = (t->lists + batch - 1) / batch * (size_t)o->epochs;
    for (int epoch = 1; epoch <= o->epochs; epoch++) {
        shuffle(t, &r);
        for (size_t from = 0; from < t->lists; from += batch) {
            size_t to = from + batch < t->lists ? from + batch : t->lists;
            int code = do_step(t, from, to, e);
            if (code)
                return code;
        }
        validate(t, epoch);
        bool stop = o->progress && o->progress(o->context, epoch, o->epochs, t->vali_ndcg10);
        if (stop || (o->patience && epoch - t->best_epoch >= o->patience))
            break;
    }
    return EK_OK;
}

static int init_shard(struct training *t, struct shard *s)
{
    size_t rows = t->longest > EK_NFS_PASS_ROWS ? t->longest : EK_NFS_PASS_ROWS;
    s->of = t;
    s->gradient = ek_calloc_aligned(t->network.parameters, sizeof *s->gradient);
    s->scratch = ek_calloc(t->longest, sizeof *s->scratch);
    s->ranked = ek_calloc(t->longest, sizeof *s->ranked);
    return s->gradient && s->scratch && s->ranked ? ek_nfs_pass_init(&s->pass, &t->network, rows)
                                                  : EK_ENOMEM;
}

static int allocate(struct training *t)
{
    size_t count = t->network.parameters;
    t->parameter = ek_calloc_aligned(count, sizeof *t->parameter);
    t->average = ek_calloc_aligned(count, sizeof *t->average);
    t->best = ek_calloc_aligned(count, sizeof *t->best);
    t->gradient = ek_calloc_aligned(count, sizeof *t->gradient);
    t->turned = ek_calloc_aligned(t->network.turned, sizeof *t->turned);
    t->order = ek_calloc(t->train->lists, sizeof *t->order);
    if (!t->parameter || !t->average || !t->best || !t->gradient || !t->turned || !t->order ||
        ek_optimizer_init(&t->optimizer, EK_ADAMW, count))
        return EK_ENOMEM;
    int code = EK_OK;
    for (size_t i = 0; i < EK_NFS_SHARDS && !code; i++)
        code = init_shard(t, &t->shard[i]);
    return code;
}

static void release(struct training *t)
{
    for (size_t i = 0; i < EK_NFS_SHARDS; i++) {
        ek_nfs_pass_release(&t->shard[i].pass);
        ek_free(t->shard[i].gradient);
        ek_free(t->shard[i].scratch);
        ek_free(t->shard[i].ranked);
    }
    ek_optimizer_release(&t->optimizer);
    ek_free(t->parameter);
    ek_free(t->average);
    ek_free(t->best);
    ek_free(t->gradient);
    ek_free(t->turned);
    ek_free(t->order);
}

static void begin(struct training *t)
{
    const struct ek_nfs_data *d = t->train;
    struct ek_rng r;
    for (size_t q = 0; q < d->lists; q++)
        if (ek_has_positive(d->label + d->offset[q], (int)(d->offset[q + 1] - d->offset[q])))
            t->order[t->lists++] = q;
    ek_rng_seed_stream(&r, t->options->seed, STREAM_START);
    ek_nfs_network_start(&t->network, t->parameter, &r);
}

int ek_nfs_train(struct ek_nfs_ranker *out, const struct ek_nfs_data *train,
                 const struct ek_nfs_data *vali, const struct ek_nfs_options *o, struct ek_error *e)
{
    struct training t = {.options = o, .train = train, .vali = vali};
    t.longest = train->longest > vali->longest ? train->longest : vali->longest;
    ek_nfs_network_init(&t.network, train->features, train->queries);
    int code = allocate(&t);
    if (code)
        ek_fail(e, code, "out of memory");
    if (!code) {
        begin(&t);
        code = run_epochs(&t, e);
    }
    if (!code) {
        *out = (struct ek_nfs_ranker){.network = t.network,
                                      .parameter = t.best,
                                      .turned = t.turned,
                                      .vali_ndcg10 = t.best_ndcg10,
                                      .rows_max = t.shard[0].pass.rows_max};
        ek_nfs_network_transpose(&t.network, out->parameter, out->turned);
        t.best = t.turned = NULL;
    }
    release(&t);
    return code;
}

void ek_nfs_ranker_release(struct ek_nfs_ranker *r)
{
    ek_free(r->parameter);
    ek_free(r->turned);
    memset(r, 0, sizeof *r);
}
