#include "offline/train.h"

#include "base/alloc.h"
#include "offline/optimiser.h"
#include "offline/statistics.h"
#include "offline/train_batch.h"
#include "offline/train_shard.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Streams of random numbers; those of steps follow one another from STREAM_STEPS on. */
enum { STREAM_START = 1, STREAM_ORDER = 2, VALIDATION_SEED = 99 };
static const uint64_t STREAM_STEPS = (uint64_t)1 << 32;
static const double WARM_UP = 0.05;

struct training {
    const struct ek_train_options *options;
    struct ek_model *model;
    struct ek_encoded train, vali;
    struct ek_train_shared shared;
    struct ek_train_shard shard[EK_TRAIN_SHARDS];
    struct ek_optimiser optimiser;
    float *parameter, *turned, *gradient, *average, *best;
    float *folded; /* without normalisation, for validation */
    size_t *order;
    struct ek_rng order_rng;
    struct ek_train_progress at;
    double epoch_loss;
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
        .keep_clean = 0.7,
        .shift = 0.3,
        .epochs = 15,
        .batch_lists = 64,
        .learning_rate = 3e-3,
        .weight_decay = 1e-4,
        .average = 3,
    };
}

static bool any_positive(const struct ek_dataset *d)
{
    for (size_t q = 0; q < d->lists; q++)
        if (ek_has_positive(d->label + d->offset[q], (int)(d->offset[q + 1] - d->offset[q])))
            return true;
    return false;
}

static int check_options(const struct ek_manifest *m, const struct ek_train_options *o,
                         struct ek_error *e)
{
    if (o->epochs < 1)
        return ek_fail(e, EK_EUSAGE, "training needs at least one epoch");
    if (o->batch_lists < 1)
        return ek_fail(e, EK_EUSAGE, "a batch has at least one list");
    if (!(o->learning_rate > 0) || !isfinite(o->learning_rate))
        return ek_fail(e, EK_EUSAGE, "the learning rate must be positive");
    if (!(o->weight_decay >= 0) || !isfinite(o->weight_decay))
        return ek_fail(e, EK_EUSAGE, "the weight decay must not be negative");
    if (!(o->keep_clean >= 0 && o->keep_clean <= 1))
        return ek_fail(e, EK_EUSAGE, "the share of clean lists is 0 to 1");
    if (!(o->shift >= 0 && o->shift <= 1))
        return ek_fail(e, EK_EUSAGE, "the share of lists with another scale is 0 to 1");
    if (!(o->average >= 0) || !isfinite(o->average))
        return ek_fail(e, EK_EUSAGE, "the power of the averaging must not be negative");
    if (o->patience < 0)
        return ek_fail(e, EK_EUSAGE, "the patience must not be negative");
    if (!(o->network.dropout >= 0 && o->network.dropout < 1))
        return ek_fail(e, EK_EUSAGE, "dropout is a share of at least 0 and below 1");
    for (int i = 0; i < o->static_count; i++)
        if (o->static_routed[i] < 0 || o->static_routed[i] >= m->routable_count)
            return ek_fail(e, EK_EUSAGE, "there is no routable feature number %d",
                           o->static_routed[i]);
    return EK_OK;
}

static int check_data(const char *name, const struct ek_manifest *m, const struct ek_dataset *d,
                      struct ek_error *e)
{
    if (d->item_features != m->item_count || d->query_features != m->query_count)
        return ek_fail(e, EK_ESTATE, "the %s data has other features than the manifest", name);
    if (!any_positive(d))
        return ek_fail(e, EK_EUSAGE, "the %s data has no list with a positive label", name);
    return EK_OK;
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
    ek_train_shard_learn(&((struct training *)arg)->shard[i]);
}

static void validate_task(void *arg, int i)
{
    ek_train_shard_validate(&((struct training *)arg)->shard[i]);
}

/* Gives every shard its share of the places [from, to) of `whole`. */
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
        size_t first = d->offset[t->order[i]], end = d->offset[t->order[i] + 1];
        positive += ek_has_positive(d->label + first, (int)(end - first));
    }
    return positive ? (double)positive : 1;
}

/* Linear warm-up times a cosine from 1 to 0. */
static double rate_at(const struct ek_train_options *o, size_t step, size_t steps)
{
    double warm = fmin(1, (double)(step + 1) / fmax(1, WARM_UP * (double)steps));
    return o->learning_rate * warm * 0.5 * (1 + cos(M_PI * (double)step / (double)steps));
}

/* Adds up what the shards found, always in their order. Returns the batch's loss. */
static double collect(struct training *t)
{
    double loss = t->shard[0].loss;
    size_t count = t->shared.network.parameters;
    memcpy(t->gradient, t->shard[0].gradient, count * sizeof *t->gradient);
    for (int i = 1; i < EK_TRAIN_SHARDS; i++) {
        const float *g = t->shard[i].gradient;
        for (size_t j = 0; j < count; j++)
            t->gradient[j] += g[j];
        loss += t->shard[i].loss;
    }
    return loss;
}

/* Has the shards find their gradients. */
static int learn(struct training *t, struct ek_error *e)
{
    if (!t->shared.network.norm) {
        run_tasks(t, learn_task);
        return EK_OK;
    }
    struct ek_train_batch b = {.shared = &t->shared,
                               .shard = t->shard,
                               .parameter = t->parameter,
                               .step = t->at.step,
                               .options = t->options};
    return ek_train_batch_learn(&b) ? ek_fail(e, EK_ENOMEM, "no memory for a batch") : EK_OK;
}

/* Takes the parameters after a step into the average. */
static void take_average(struct training *t)
{
    double power = t->options->average;
    if (!(power > 0))
        return;
    float weight = (float)((power + 1) / ((double)t->at.step + power));
    for (size_t i = 0; i < t->shared.network.parameters; i++)
        t->average[i] += weight * (t->parameter[i] - t->average[i]);
}

/* What a model made now would have. */
static const float *current(const struct training *t)
{
    return t->options->average > 0 ? t->average : t->parameter;
}

static int do_step(struct training *t, size_t from, size_t to, struct ek_error *e)
{
    const struct ek_train_options *o = t->options;
    ek_network_turn(&t->shared.network, t->parameter, t->turned);
    deal(t, (struct ek_train_part){.set = &t->train,
                                   .lists = t->order,
                                   .from = from,
                                   .to = to,
                                   .seed = o->seed,
                                   .stream = STREAM_STEPS + t->at.step * (size_t)o->batch_lists,
                                   .divisor = divisor_of(t, from, to),
                                   .shift = o->routing == EK_ROUTING_RANDOM ? o->shift : 0});
    int code = learn(t, e);
    if (code)
        return code;
    double loss = collect(t);
    if (!isfinite(loss))
        return ek_fail(e, EK_ESTATE,
                       "the loss is no number any more in epoch %d; try a lower learning rate",
                       t->at.epoch);
    ek_optimiser_step(&t->optimiser, t->parameter, t->gradient, rate_at(o, t->at.step, t->at.steps),
                      o->weight_decay);
    t->at.step++;
    take_average(t);
    t->epoch_loss += loss;
    return EK_OK;
}

static bool report(struct training *t)
{
    const struct ek_train_options *o = t->options;
    t->stop = t->stop || (o->progress && o->progress(o->context, &t->at) != 0);
    return !t->stop;
}

static void shuffle(struct training *t)
{
    for (size_t i = t->train.data->lists; i > 1; i--) {
        size_t j = (size_t)ek_rng_below(&t->order_rng, i), held = t->order[i - 1];
        t->order[i - 1] = t->order[j];
        t->order[j] = held;
    }
}

static void validate(struct training *t)
{
    struct ek_metric_mean all = {0};
    ek_norm_fold(&t->shared.network, current(t), t->folded);
    ek_network_turn(&t->shared.network, t->folded, t->turned);
    t->shared.parameter = t->folded;
    deal(t, (struct ek_train_part){
                .set = &t->vali, .to = t->vali.data->lists, .seed = VALIDATION_SEED});
    run_tasks(t, validate_task);
    t->shared.parameter = t->parameter;
    for (int i = 0; i < EK_TRAIN_SHARDS; i++) {
        all.sum += t->shard[i].ndcg.sum;
        all.count += t->shard[i].ndcg.count;
    }
    t->at.vali_ndcg10 = ek_metric_result(&all);
    if (t->at.best_epoch && !(t->at.vali_ndcg10 > t->at.best_ndcg10))
        return;
    t->at.best_ndcg10 = t->at.vali_ndcg10;
    t->at.best_epoch = t->at.epoch;
    memcpy(t->best, current(t), t->shared.network.parameters * sizeof *t->best);
}

static int do_epoch(struct training *t, struct ek_error *e)
{
    size_t lists = t->train.data->lists, batch = (size_t)t->options->batch_lists, done = 0;
    t->epoch_loss = 0;
    shuffle(t);
    for (size_t from = 0; from < lists; from += batch) {
        int code = do_step(t, from, from + batch < lists ? from + batch : lists, e);
        if (code)
            return code;
        t->at.loss = t->epoch_loss / (double)++done;
        if (!report(t))
            return EK_OK;
    }
    validate(t);
    report(t);
    return EK_OK;
}

static int allocate(struct training *t)
{
    size_t count = t->shared.network.parameters, lists = t->train.data->lists;
    size_t longest = t->train.longest > t->vali.longest ? t->train.longest : t->vali.longest;
    t->parameter = ek_calloc_aligned(count, sizeof *t->parameter);
    t->gradient = ek_calloc_aligned(count, sizeof *t->gradient);
    t->average = ek_calloc_aligned(count, sizeof *t->average);
    t->best = ek_calloc_aligned(count, sizeof *t->best);
    t->folded = ek_calloc_aligned(count, sizeof *t->folded);
    t->turned = ek_calloc_aligned(t->shared.network.turned, sizeof *t->turned);
    t->order = ek_calloc(lists, sizeof *t->order);
    if (!t->parameter || !t->gradient || !t->average || !t->best || !t->folded || !t->turned ||
        !t->order ||
        ek_optimiser_init(&t->optimiser, t->options->optimiser, t->shared.network.learned) ||
        ek_norm_init(&t->shared.norm, &t->shared.network))
        return EK_ENOMEM;
    for (size_t i = 0; i < lists; i++)
        t->order[i] = i;
    for (int i = 0; i < EK_TRAIN_SHARDS; i++)
        if (ek_train_shard_init(&t->shard[i], &t->shared, longest))
            return EK_ENOMEM;
    return EK_OK;
}

static int prepare(struct training *t, const struct ek_manifest *m, const struct ek_dataset *train,
                   const struct ek_dataset *vali, struct ek_error *e)
{
    const struct ek_train_options *o = t->options;
    int code;
    if ((code = check_options(m, o, e)) || (code = check_data("training", m, train, e)) ||
        (code = check_data("validation", m, vali, e)) ||
        (code = ek_model_new(&t->model, m, &o->shape, e)) ||
        (code = ek_statistics_fit(t->model, train, e)) ||
        (code = ek_encoded_init(&t->train, t->model, train, e)) ||
        (code = ek_encoded_init(&t->vali, t->model, vali, e)))
        return code;
    ek_network_init(&t->shared.network, t->model, &o->network);
    t->shared.model = t->model;
    if (allocate(t))
        return ek_fail(e, EK_ENOMEM, "no memory to train a model");
    t->shared.options = o;
    t->shared.parameter = t->parameter;
    t->shared.turned = t->turned;
    size_t batch = (size_t)o->batch_lists, batches = (train->lists + batch - 1) / batch;
    t->at = (struct ek_train_progress){.epochs = o->epochs,
                                       .steps = batches * (size_t)o->epochs,
                                       .vali_ndcg10 = NAN,
                                       .best_ndcg10 = NAN};
    struct ek_rng r;
    ek_rng_seed_stream(&r, o->seed, STREAM_START);
    ek_network_start(&t->shared.network, t->parameter, &r);
    ek_rng_seed_stream(&t->order_rng, o->seed, STREAM_ORDER);
    return EK_OK;
}

/* Says in the model how it came about. */
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
        return ek_fail(e, EK_ENOMEM, "no memory to train a model");
    for (int i = 0; i < o->static_count; i++)
        to->routed[o->static_routed[i]] = true;
    return EK_OK;
}

static bool out_of_patience(const struct training *t)
{
    int finished = t->at.epoch - 1, patience = t->options->patience;
    return patience && t->at.best_epoch && finished - t->at.best_epoch >= patience;
}

static int run(struct training *t, struct ek_error *e)
{
    for (t->at.epoch = 1; t->at.epoch <= t->at.epochs && !t->stop && !out_of_patience(t);
         t->at.epoch++) {
        int code = do_epoch(t, e);
        if (code)
            return code;
    }
    t->at.epoch--;
    ek_norm_fold(&t->shared.network, t->at.best_epoch ? t->best : current(t), t->folded);
    ek_network_export(&t->shared.network, t->folded, t->model);
    return ek_model_describe(t->model, e);
}

static void release(struct training *t)
{
    for (int i = 0; i < EK_TRAIN_SHARDS; i++)
        ek_train_shard_release(&t->shard[i]);
    ek_optimiser_release(&t->optimiser);
    ek_encoded_release(&t->train);
    ek_encoded_release(&t->vali);
    ek_free(t->parameter);
    ek_free(t->gradient);
    ek_free(t->average);
    ek_free(t->best);
    ek_free(t->folded);
    ek_norm_release(&t->shared.norm);
    ek_free(t->turned);
    ek_free(t->order);
    ek_model_free(t->model);
    ek_free(t);
}

int ek_train(struct ek_model **out, const struct ek_manifest *m, const struct ek_dataset *train,
             const struct ek_dataset *vali, const struct ek_train_options *o,
             struct ek_train_progress *last, struct ek_error *e)
{
    struct training *t = ek_calloc(1, sizeof *t);
    if (!t)
        return ek_fail(e, EK_ENOMEM, "no memory to train a model");
    t->options = o;
    int code = prepare(t, m, train, vali, e);
    if (!code)
        code = sign(t, m->hash, e);
    if (!code)
        code = run(t, e);
    if (!code) {
        *out = t->model;
        t->model = NULL;
        if (last)
            *last = t->at;
    }
    release(t);
    return code;
}
