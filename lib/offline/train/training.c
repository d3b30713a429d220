#include "offline/train/training.h"

#include "base/alloc.h"
#include "offline/train/evaluate.h"
#include "offline/train/train_check.h"
#include "offline/train/train_shard.h"
#include "offline/train/train_state.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Random streams; train_shard.c has those of the lists of an epoch. */
enum { STREAM_START = 1, STREAM_ORDER = 2, VALIDATION_SEED = 99 };
enum { PARAMETERS_TO_SPREAD = 1 << 16 };
enum { VALI_PART = 5 }; /* one in so many lists validates, if no others are given */
static const double WARM_UP = 0.05;

struct training {
    const struct ek_train_options *options;
    struct ek_model *model;
    struct ek_input_usage varied;
    struct ek_encoded train, vali;
    struct ek_train_shared shared;
    struct ek_train_shard shard[EK_TRAIN_SHARDS];
    struct ek_train_state state;
    struct ek_buf identity;
    float *turned, *gradient;
    float *folded; /* parameters without normalization, for validation */
    bool stop;
};

void ek_train_defaults(struct ek_train_options *o)
{
    *o = (struct ek_train_options){
        .loss = EK_LISTMLE,
        .routing = EK_ROUTING_RANDOM,
        .shape = {.hidden_count = 2,
                  .hidden = {64, 32},
                  .gate_size = 4,
                  .mask_input = true,
                  .log_input = EK_LOG_ALWAYS},
        .keep_clean = 0.5,
        .shift = 0.3,
        .epochs = 15,
        .batch_lists = 64,
        .learning_rate = 3e-3,
        .weight_decay = 1e-4,
        .average = 3,
    };
}

void ek_train_set_hints(struct ek_train_options *o, const struct ek_training_hints *h)
{
    if (h->epochs > 0)
        o->epochs = h->epochs;
    if (h->batch_size > 0)
        o->batch_lists = h->batch_size;
    if (h->learning_rate >= 0)
        o->learning_rate = h->learning_rate;
    if (h->weight_decay >= 0)
        o->weight_decay = h->weight_decay;
    if (h->hidden_count > 0 && h->hidden_count < EK_LAYERS_MAX) {
        o->shape.hidden_count = h->hidden_count;
        memcpy(o->shape.hidden, h->hidden, (size_t)h->hidden_count * sizeof *h->hidden);
    }
}

int ek_train_split(struct ek_dataset *train, struct ek_dataset *vali,
                   struct ek_upstream_scores *upstream, struct ek_error *e)
{
    struct ek_dataset all = *train;
    struct ek_upstream_scores scores = {0};
    int rc = EK_OK;
    if (upstream) {
        scores = *upstream;
        *upstream = (struct ek_upstream_scores){0};
    }
    ek_dataset_init(train, all.item_features, all.query_features);
    for (size_t i = 0; i < all.lists && !rc; i++) {
        struct ek_dataset *to = all.id[i] % VALI_PART ? train : vali;
        struct ek_list q;
        ek_dataset_view(&all, i, &q);
        q.score = scores.count ? scores.value + all.offset[i] : NULL;
        rc = ek_dataset_add(to, &q, e);
        if (!rc)
            to->id[to->lists - 1] = all.id[i];
        if (!rc && q.score && to == vali && ek_upstream_scores_add(upstream, &q))
            rc = ek_fail(e, EK_ENOMEM, "out of memory");
    }
    ek_dataset_release(&all);
    ek_upstream_scores_release(&scores);
    return rc;
}

static void run_tasks(struct training *t, void (*task)(void *arg, int i))
{
    if (t->options->run) {
        t->options->run(t->options->context, task, t, EK_TRAIN_SHARDS);
        return;
    }
    for (int i = 0; i < EK_TRAIN_SHARDS; i++)
        task(t, i);
}

static void learn_task(void *arg, int i)
{
    ek_train_shard_train(&((struct training *)arg)->shard[i]);
}

static void validate_task(void *arg, int i)
{
    ek_train_shard_validate(&((struct training *)arg)->shard[i]);
}

/* Distribute the positions [from, to) of `whole` over the shards. */
static void deal(struct training *t, struct ek_train_part whole)
{
    size_t first = whole.from, count = whole.to - whole.from;
    for (size_t i = 0; i < EK_TRAIN_SHARDS; i++) {
        struct ek_train_part *p = &t->shard[i].part;
        *p = whole;
        p->from = first + count * i / EK_TRAIN_SHARDS;
        p->to = first + count * (i + 1) / EK_TRAIN_SHARDS;
    }
}

static double divisor_of(const struct training *t, size_t from, size_t to)
{
    const struct ek_dataset *d = t->train.data;
    if (ek_loss_counts_empty(t->options->loss))
        return (double)(to - from);
    size_t positive = 0;
    for (size_t i = from; i < to; i++) {
        size_t first = d->offset[t->state.order[i]], end = d->offset[t->state.order[i] + 1];
        positive += ek_has_positive(d->label + first, (int)(end - first));
    }
    return positive ? (double)positive : 1;
}

/* Return the learning rate: linear warm-up times a cosine from 1 to 0. */
static double rate_at(const struct ek_train_options *o, size_t step, size_t steps)
{
    double warm = fmin(1, (double)(step + 1) / fmax(1, WARM_UP * (double)steps));
    return o->learning_rate * warm * 0.5 * (1 + cos(M_PI * (double)step / (double)steps));
}

/* Run a task on all parts of the parameters. Few parameters do not justify waking threads. */
static void run_parts(struct training *t, void (*task)(void *arg, int i))
{
    if (t->shared.network.parameters >= PARAMETERS_TO_SPREAD)
        run_tasks(t, task);
    else
        for (int i = 0; i < EK_TRAIN_SHARDS; i++)
            task(t, i);
}

static void collect_task(void *arg, int part)
{
    struct training *t = arg;
    size_t count = t->shared.network.parameters;
    size_t from = count * (size_t)part / EK_TRAIN_SHARDS;
    size_t to = count * ((size_t)part + 1) / EK_TRAIN_SHARDS;
    memcpy(t->gradient + from, t->shard[0].gradient + from, (to - from) * sizeof *t->gradient);
    for (int i = 1; i < EK_TRAIN_SHARDS; i++) {
        const float *g = t->shard[i].gradient;
        for (size_t j = from; j < to; j++)
            t->gradient[j] += g[j];
    }
}

/* Sum the results of the shards in fixed order. Return the loss of the batch. */
static double collect(struct training *t)
{
    double loss = 0;
    for (int i = 0; i < EK_TRAIN_SHARDS; i++)
        loss += t->shard[i].loss;
    run_parts(t, collect_task);
    return loss;
}

static void transpose_task(void *arg, int part)
{
    struct training *t = arg;
    ek_network_transpose(&t->shared.network, t->shared.parameter, t->turned, part, EK_TRAIN_SHARDS);
}

/* Weight of the old running statistics per batch. */
static const double MOMENTUM = 0.95;

static void open_task(void *arg, int i)
{
    ek_train_shard_open(&((struct ek_train_batch *)arg)->shard[i]);
}

static void forward_task(void *arg, int i)
{
    struct ek_train_batch *b = arg;
    ek_train_shard_forward(&b->shard[i], b->layer);
}

static void backward_task(void *arg, int i)
{
    struct ek_train_batch *b = arg;
    ek_train_shard_backward(&b->shard[i], b->layer);
}

static void close_task(void *arg, int i)
{
    struct ek_train_batch *b = arg;
    ek_train_shard_close(&b->shard[i], b->layer);
}

static void run_all(struct ek_train_batch *b, void (*task)(void *arg, int i))
{
    const struct ek_train_options *o = b->options;
    if (o->run) {
        o->run(o->context, task, b, EK_TRAIN_SHARDS);
        return;
    }
    for (int i = 0; i < EK_TRAIN_SHARDS; i++)
        task(b, i);
}

/* Reserve memory for each part as a single run. */
static int reserve_batches(struct ek_train_batch *b)
{
    for (int i = 0; i < EK_TRAIN_SHARDS; i++) {
        const struct ek_train_part *p = &b->shard[i].part;
        const size_t *offset = p->set->data->offset;
        size_t rows = 0;
        for (size_t at = p->from; at < p->to; at++)
            rows += offset[p->lists[at] + 1] - offset[p->lists[at]];
        if (ek_train_shard_reserve(&b->shard[i], rows, p->to - p->from))
            return EK_ENOMEM;
    }
    return EK_OK;
}

/* Compute losses and gradients of the shards' parts. Return 0, or EK_ENOMEM. */
static int train_batch_learn(struct ek_train_batch *b)
{
    const struct ek_network *n = &b->shared->network;
    struct ek_norm *norm = &b->shared->norm;
    struct ek_pass *pass[EK_TRAIN_SHARDS];
    size_t rows[EK_TRAIN_SHARDS];
    /* The first batches use a plain mean, so that the start values vanish quickly. */
    double old = fmin(MOMENTUM, (double)b->step / (double)(b->step + 1));
    if (reserve_batches(b))
        return EK_ENOMEM;
    run_all(b, open_task);
    for (int i = 0; i < EK_TRAIN_SHARDS; i++) {
        pass[i] = &b->shard[i].pass;
        rows[i] = b->shard[i].run.rows;
    }
    for (b->layer = 0; b->layer < n->layers; b->layer++) {
        ek_norm_merge(n, norm, pass, rows, EK_TRAIN_SHARDS, b->layer, b->parameter, old);
        run_all(b, forward_task);
    }
    for (b->layer = n->layers - 1; b->layer >= 0; b->layer--) {
        run_all(b, backward_task);
        ek_norm_merge_backward(n, norm, pass, rows, EK_TRAIN_SHARDS, b->layer);
        run_all(b, close_task);
    }
    return EK_OK;
}

/* Compute the gradients of all shards. */
static int learn(struct training *t, struct ek_error *e)
{
    if (!t->shared.network.norm) {
        run_tasks(t, learn_task);
        return EK_OK;
    }
    struct ek_train_batch b = {.shared = &t->shared,
                               .shard = t->shard,
                               .parameter = t->state.parameter,
                               .step = t->state.at.step,
                               .options = t->options};
    return train_batch_learn(&b) ? ek_fail(e, EK_ENOMEM, "out of memory") : EK_OK;
}

/* Add the parameters after a step to the average. */
static void copy_average(struct training *t)
{
    double power = t->options->average;
    if (!(power > 0))
        return;
    float weight = (float)((power + 1) / ((double)t->state.at.step + power));
    for (size_t i = 0; i < t->shared.network.parameters; i++)
        t->state.average[i] += weight * (t->state.parameter[i] - t->state.average[i]);
}

/* Return the parameters of a model exported now. */
static const float *current(const struct training *t)
{
    return t->options->average > 0 ? t->state.average : t->state.parameter;
}

/* Return the current fraction of masks and scale faults, which decreases to 0. The last, small
 * steps then train on lists as in production. */
static double fade(const struct training *t)
{
    return 1 - (double)t->state.at.step / (double)t->state.at.steps;
}

static int do_step(struct training *t, size_t from, size_t to, struct ek_error *e)
{
    const struct ek_train_options *o = t->options;
    run_parts(t, transpose_task);
    deal(t,
         (struct ek_train_part){.set = &t->train,
                                .lists = t->state.order,
                                .from = from,
                                .to = to,
                                .seed = o->seed,
                                .epoch = t->state.at.epoch,
                                .divisor = divisor_of(t, from, to),
                                .routed = fade(t) * (1 - o->keep_clean),
                                .shift = o->routing == EK_ROUTING_RANDOM ? fade(t) * o->shift : 0});
    int code = learn(t, e);
    if (code)
        return code;
    double loss = collect(t);
    if (!isfinite(loss))
        return ek_fail(e, EK_ESTATE,
                       "the loss is no number any more in epoch %d; try a lower learning rate",
                       t->state.at.epoch);
    ek_optimizer_step(&t->state.optimizer, t->state.parameter, t->gradient,
                      rate_at(o, t->state.at.step, t->state.at.steps), o->weight_decay);
    t->state.at.step++;
    copy_average(t);
    t->state.epoch_loss += loss;
    return EK_OK;
}

static bool report(struct training *t)
{
    const struct ek_train_options *o = t->options;
    t->stop = t->stop || (o->progress && o->progress(o->context, &t->state.at) != 0);
    return !t->stop;
}

static void shuffle(struct training *t)
{
    for (size_t i = t->state.lists; i > 1; i--) {
        size_t j = (size_t)ek_rng_uniform_int(&t->state.order_rng, i);
        uint64_t held = t->state.order[i - 1];
        t->state.order[i - 1] = t->state.order[j];
        t->state.order[j] = held;
    }
}

static void validate(struct training *t)
{
    struct ek_metric_mean all = {0};
    ek_norm_fold(&t->shared.network, current(t), t->folded);
    t->shared.parameter = t->folded;
    run_parts(t, transpose_task);
    deal(t, (struct ek_train_part){.set = &t->vali,
                                   .to = t->vali.data->lists,
                                   .seed = VALIDATION_SEED,
                                   .routed = 1 - t->options->keep_clean});
    run_tasks(t, validate_task);
    t->shared.parameter = t->state.parameter;
    for (int i = 0; i < EK_TRAIN_SHARDS; i++) {
        all.sum += t->shard[i].ndcg.sum;
        all.count += t->shard[i].ndcg.count;
    }
    t->state.at.vali_ndcg10 = ek_metric_result(&all);
    if (t->state.at.best_epoch && !(t->state.at.vali_ndcg10 > t->state.at.best_ndcg10))
        return;
    t->state.at.best_ndcg10 = t->state.at.vali_ndcg10;
    t->state.at.best_epoch = t->state.at.epoch;
    memcpy(t->state.best, current(t), t->shared.network.parameters * sizeof *t->state.best);
}

static int save(struct training *t, struct ek_error *e)
{
    const char *path = t->options->checkpoint;
    return path ? ek_train_state_save(&t->state, (const char *)t->identity.data, path, e) : EK_OK;
}

/* Run one epoch, or its rest after a resume. A stop takes effect between two steps. */
static int do_epoch(struct training *t, struct ek_error *e)
{
    size_t lists = t->state.lists, batch = (size_t)t->options->batch_lists;
    size_t batches = (lists + batch - 1) / batch, done = t->state.at.step % batches;
    if (!done) {
        t->state.epoch_loss = 0;
        shuffle(t);
    }
    for (size_t from = done * batch; from < lists; from += batch) {
        int code = do_step(t, from, from + batch < lists ? from + batch : lists, e);
        if (code)
            return code;
        t->state.at.loss = t->state.epoch_loss / (double)++done;
        if (!report(t) && done < batches)
            return save(t, e);
    }
    validate(t);
    report(t);
    return save(t, e);
}

static int allocate(struct training *t)
{
    const struct ek_network *n = &t->shared.network;
    size_t longest = t->train.longest > t->vali.longest ? t->train.longest : t->vali.longest;
    t->gradient = ek_calloc_aligned(n->parameters, sizeof *t->gradient);
    t->folded = ek_calloc_aligned(n->parameters, sizeof *t->folded);
    t->turned = ek_calloc_aligned(n->turned, sizeof *t->turned);
    if (!t->gradient || !t->folded || !t->turned ||
        ek_train_state_init(&t->state, t->options->optimizer, n->parameters, n->learned,
                            t->train.data->lists) ||
        ek_norm_init(&t->shared.norm, n))
        return EK_ENOMEM;
    for (int i = 0; i < EK_TRAIN_SHARDS; i++)
        if (ek_train_shard_init(&t->shard[i], &t->shared, longest))
            return EK_ENOMEM;
    return EK_OK;
}

/* Initialize the state, or load it from the checkpoint. */
static int begin(struct training *t, struct ek_error *e)
{
    const struct ek_train_options *o = t->options;
    size_t batch = (size_t)o->batch_lists, batches = (t->state.lists + batch - 1) / batch;
    t->state.at = (struct ek_train_progress){.epochs = o->epochs,
                                             .steps = batches * (size_t)o->epochs,
                                             .vali_ndcg10 = NAN,
                                             .best_ndcg10 = NAN};
    if (o->resume)
        return ek_train_state_load(&t->state, (const char *)t->identity.data, o->resume, e);
    struct ek_rng r;
    ek_rng_seed_stream(&r, o->seed, STREAM_START);
    ek_network_start(&t->shared.network, t->state.parameter, &r);
    ek_rng_seed_stream(&t->state.order_rng, o->seed, STREAM_ORDER);
    return EK_OK;
}

static int identify(struct training *t, const struct ek_manifest *m, struct ek_error *e)
{
    const struct ek_train_options *o = t->options;
    if (!o->checkpoint && !o->resume)
        return EK_OK;
    return ek_train_identity(&t->identity, m, o, t->train.data, t->vali.data)
               ? ek_fail(e, EK_ENOMEM, "out of memory")
               : EK_OK;
}

static int prepare(struct training *t, const struct ek_manifest *m, const struct ek_dataset *train,
                   const struct ek_dataset *vali, struct ek_error *e)
{
    const struct ek_train_options *o = t->options;
    int code;
    if ((code = ek_train_check_options(m, o, e)) ||
        (code = ek_train_check_data("training", m, train, true, o, e)) ||
        (code = ek_train_check_data("validation", m, vali, false, o, e)) ||
        (code = ek_model_new(&t->model, m, &o->shape, e)) ||
        (code = ek_statistics_fit(t->model, train, e)) ||
        (code = ek_input_usage_find(&t->varied, t->model, train, e)) ||
        (code = ek_encoded_init(&t->train, t->model, train, e)) ||
        (code = ek_encoded_init(&t->vali, t->model, vali, e)))
        return code;
    ek_network_init(&t->shared.network, t->model, &o->network);
    t->shared.network.varied = &t->varied;
    t->shared.model = t->model;
    if (allocate(t))
        return ek_fail(e, EK_ENOMEM, "out of memory");
    t->shared.options = o;
    t->shared.parameter = t->state.parameter;
    t->shared.turned = t->turned;
    code = identify(t, m, e);
    return code ? code : begin(t, e);
}

/* Record the training options in the model. */
static int sign(struct training *t, uint64_t manifest_hash, struct ek_error *e)
{
    const struct ek_train_options *o = t->options;
    struct ek_trained *to = &t->model->trained;
    *to = (struct ek_trained){
        .known = true, .routing = o->routing, .seed = o->seed, .manifest_hash = manifest_hash};
    snprintf(to->loss, sizeof to->loss, "%s", ek_loss_name(o->loss));
    if (o->routing != EK_ROUTING_STATIC)
        return EK_OK;
    to->routed = ek_calloc((size_t)t->model->routable_count, sizeof *to->routed);
    if (!to->routed)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    for (int i = 0; i < o->static_count; i++)
        to->routed[o->static_routed[i]] = true;
    return EK_OK;
}

/* An epoch that a checkpoint interrupted does not count against the patience. */
static bool finished(const struct training *t, size_t batches)
{
    const struct ek_train_progress *at = &t->state.at;
    int patience = t->options->patience, epochs = (int)(at->step / batches);
    return t->stop || at->step == at->steps ||
           (patience && at->best_epoch && epochs - at->best_epoch >= patience);
}

static int run(struct training *t, struct ek_error *e)
{
    size_t batches = t->state.at.steps / (size_t)t->state.at.epochs;
    while (!finished(t, batches)) {
        t->state.at.epoch = 1 + (int)(t->state.at.step / batches);
        int code = do_epoch(t, e);
        if (code)
            return code;
    }
    ek_norm_fold(&t->shared.network, t->state.at.best_epoch ? t->state.best : current(t),
                 t->folded);
    ek_network_export(&t->shared.network, t->folded, t->model);
    return ek_model_describe(t->model, e);
}

static void release(struct training *t)
{
    for (int i = 0; i < EK_TRAIN_SHARDS; i++)
        ek_train_shard_release(&t->shard[i]);
    ek_train_state_release(&t->state);
    ek_buf_release(&t->identity);
    ek_input_usage_release(&t->varied);
    ek_encoded_release(&t->train);
    ek_encoded_release(&t->vali);
    ek_norm_release(&t->shared.norm);
    ek_free(t->gradient);
    ek_free(t->folded);
    ek_free(t->turned);
    ek_model_free(t->model);
    ek_free(t);
}

int ek_train(struct ek_model **out, const struct ek_manifest *m, const struct ek_dataset *train,
             const struct ek_dataset *vali, const struct ek_train_options *o,
             struct ek_train_progress *last, struct ek_error *e)
{
    struct training *t = ek_calloc(1, sizeof *t);
    if (!t)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    t->options = o;
    ek_buf_init(&t->identity, 0);
    int code = prepare(t, m, train, vali, e);
    if (!code)
        code = sign(t, m->hash, e);
    if (!code)
        code = run(t, e);
    if (!code) {
        *out = t->model;
        t->model = NULL;
        if (last)
            *last = t->state.at;
    }
    release(t);
    return code;
}
