#include "offline/train/train_shard.h"

#include "base/alloc.h"

#include <math.h>
#include <string.h>

static int train_shift_init(struct ek_train_shift *s, const struct ek_model *m, size_t longest);

enum { RUN_ROWS = 256, RUN_LISTS = 64, VALIDATION_CUTOFF = 10 };

int ek_train_shard_init(struct ek_train_shard *s, const struct ek_train_shared *shared,
                        size_t longest)
{
    const struct ek_network *n = &shared->network;
    memset(s, 0, sizeof *s);
    s->shared = shared;
    s->gradient = ek_calloc_aligned(n->parameters, sizeof *s->gradient);
    s->run_lists = RUN_LISTS;
    s->mask = ek_calloc(s->run_lists, n->routable * sizeof *s->mask);
    s->score = ek_calloc(longest, sizeof *s->score);
    s->noise = ek_calloc(longest, sizeof *s->noise);
    s->slope = ek_calloc(longest, sizeof *s->slope);
    s->scratch = ek_calloc(longest, sizeof *s->scratch);
    s->sum = ek_calloc(longest, sizeof *s->sum);
    s->order = ek_calloc(longest, sizeof *s->order);
    s->pick = ek_calloc(n->routable, sizeof *s->pick);
    if (s->gradient && s->mask && s->score && s->noise && s->slope && s->scratch && s->sum &&
        s->order && s->pick &&
        !ek_pass_init(&s->pass, n, longest > RUN_ROWS ? longest : RUN_ROWS) &&
        !train_shift_init(&s->shift, shared->model, longest))
        return EK_OK;
    ek_train_shard_release(s);
    return EK_ENOMEM;
}

static void train_shift_release(struct ek_train_shift *s)
{
    ek_encoder_release(&s->encoder);
    ek_free(s->x);
    ek_free(s->part);
    ek_free(s->pick);
    memset(s, 0, sizeof *s);
}

void ek_train_shard_release(struct ek_train_shard *s)
{
    void *const arrays[] = {s->gradient, s->mask,  s->score, s->noise, s->slope,
                            s->scratch,  s->order, s->pick,  s->sum};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        ek_free(arrays[i]);
    ek_pass_release(&s->pass);
    train_shift_release(&s->shift);
    memset(s, 0, sizeof *s);
}

int ek_train_shard_reserve(struct ek_train_shard *s, size_t rows, size_t lists)
{
    const struct ek_network *n = &s->shared->network;
    if (lists > s->run_lists) {
        float *mask = ek_calloc(lists, n->routable * sizeof *mask);
        if (!mask)
            return EK_ENOMEM;
        ek_free(s->mask);
        s->mask = mask;
        s->run_lists = lists;
    }
    if (rows <= s->pass.rows)
        return EK_OK;
    ek_pass_release(&s->pass);
    return ek_pass_init(&s->pass, n, rows + rows / 4);
}

static void draw_random_mask(struct ek_train_shard *s, struct ek_rng *r, float *mask)
{
    size_t count = s->shared->network.routable;
    if (ek_rng_uniform(r) >= s->part.routed || !count)
        return;
    size_t size = 1 + (size_t)ek_rng_uniform_int(r, count);
    for (size_t k = 0; k < count; k++)
        s->pick[k] = (int)k;
    ek_rng_shuffle(r, s->pick, count);
    for (size_t i = 0; i < size; i++)
        mask[s->pick[i]] = 1;
}

static void draw_mask(struct ek_train_shard *s, struct ek_rng *r, float *mask)
{
    const struct ek_train_options *o = s->shared->options;
    memset(mask, 0, s->shared->network.routable * sizeof *mask);
    if (o->routing == EK_ROUTING_RANDOM)
        draw_random_mask(s, r, mask);
    for (int i = 0; o->routing == EK_ROUTING_STATIC && i < o->static_count; i++)
        mask[o->static_routed[i]] = 1;
}

enum purpose { FOR_MASK, FOR_NOISE, FOR_SHIFT, PURPOSES };

/* Larger than the positions of an epoch. Epochs stay below 2^20, so streams do not reach those of
 * dropout. */
enum { EPOCH_BITS = 40 };

static uint64_t stream_of(const struct ek_train_part *p, size_t place)
{
    return ((uint64_t)p->epoch << EPOCH_BITS) + place;
}

static struct ek_rng numbers_of(const struct ek_train_part *p, size_t place, enum purpose purpose)
{
    struct ek_rng r;
    ek_rng_seed_stream(&r, p->seed, stream_of(p, place) * PURPOSES + (uint64_t)purpose);
    return r;
}

static size_t list_at(const struct ek_train_part *p, size_t place)
{
    return p->lists ? p->lists[place] : place;
}

static float *mask_at(const struct ek_train_shard *s, const struct ek_train_run *run, size_t place)
{
    return s->mask + (place - run->from) * s->shared->network.routable;
}

static struct ek_network_list input_at(const struct ek_train_shard *s,
                                       const struct ek_train_run *run, size_t place)
{
    return ek_encoded_list(s->part.set, list_at(&s->part, place), mask_at(s, run, place));
}

static const double HIGHEST_FACTOR = 1000;

static int train_shift_init(struct ek_train_shift *s, const struct ek_model *m, size_t longest)
{
    size_t features = (size_t)m->item_features, queries = (size_t)m->query_features;
    memset(s, 0, sizeof *s);
    if (ek_encoder_init(&s->encoder, m))
        return EK_ENOMEM;
    s->x = ek_calloc(longest, features * sizeof *s->x);
    s->pick = ek_calloc((size_t)m->routable_count, sizeof *s->pick);
    if (m->transform == EK_TRANSFORM_MIXTURE)
        s->part = ek_calloc(longest, features * EK_TRANSFORM_PARTS * sizeof *s->part);
    float *query = ek_calloc(queries, sizeof *query);
    /* encoding the longest list allocates all memory of the encoder */
    bool ready = s->x && s->pick && query && (s->part || m->transform != EK_TRANSFORM_MIXTURE) &&
                 !ek_encode(&s->encoder, s->x, (int)longest, query, NULL);
    ek_free(query);
    if (ready)
        return EK_OK;
    train_shift_release(s);
    return EK_ENOMEM;
}

static void scale_column(float *x, size_t items, size_t features, double factor)
{
    for (size_t i = 0; i < items; i++)
        x[i * features] = (float)(factor * (double)x[i * features]);
}

/* With probability `share`, replace l->item and l->part of list q by its encoding at other scales.
 * The result is valid until the next call. */
static void train_shift_list(struct ek_train_shift *s, double share, const struct ek_encoded *set,
                             size_t q, struct ek_rng *r, struct ek_network_list *l)
{
    const struct ek_model *m = s->encoder.model;
    const struct ek_dataset *d = set->data;
    size_t features = set->features, count = (size_t)m->routable_count;
    if (ek_rng_uniform(r) >= share || !count)
        return;
    memcpy(s->x, d->x + d->offset[q] * features, l->items * features * sizeof *s->x);
    size_t size = 1 + (size_t)ek_rng_uniform_int(r, count);
    for (size_t k = 0; k < count; k++)
        s->pick[k] = (int)k;
    ek_rng_shuffle(r, s->pick, count);
    for (size_t i = 0; i < size; i++) {
        double power = 2 * ek_rng_uniform(r) - 1;
        scale_column(s->x + m->routable[s->pick[i]], l->items, features,
                     pow(HIGHEST_FACTOR, power));
    }
    ek_encode(&s->encoder, s->x, (int)l->items, d->query + q * set->queries, NULL);
    l->item = s->encoder.item;
    if (s->part) {
        ek_encoded_parts(&s->encoder, s->x, l->items, s->part);
        l->part = s->part;
    }
}

/* Load the lists from position `from` on that fit. */
static void load_run(struct ek_train_shard *s, size_t from)
{
    struct ek_train_run run = {from, from, 0};
    while (run.to < s->part.to && run.to - run.from < s->run_lists) {
        struct ek_network_list l = input_at(s, &run, run.to);
        if (run.rows + l.items > s->pass.rows)
            break;
        struct ek_rng r = numbers_of(&s->part, run.to, FOR_MASK);
        draw_mask(s, &r, mask_at(s, &run, run.to));
        if (s->part.shift > 0) {
            r = numbers_of(&s->part, run.to, FOR_SHIFT);
            train_shift_list(&s->shift, s->part.shift, s->part.set, list_at(&s->part, run.to), &r,
                             &l);
        }
        ek_network_load(&s->shared->network, s->shared->turned, &s->pass, run.rows, &l);
        run.rows += l.items;
        run.to++;
    }
    s->run = run;
}

/* Streams of dropout, disjoint from those of masks and noise. */
static const uint64_t STREAM_DROPOUT = (uint64_t)1 << 63;

static void draw_masks(float *keep, size_t count, double dropout, struct ek_rng *r)
{
    float kept = (float)(1 / (1 - dropout));
    for (size_t i = 0; i < count; i++)
        keep[i] = ek_rng_uniform(r) < dropout ? 0 : kept;
}

/* Draw the dropout of each hidden layer for the lists of the run. */
static void draw_dropout(struct ek_train_shard *s)
{
    const struct ek_network *n = &s->shared->network;
    const struct ek_train_part *p = &s->part;
    for (size_t at = s->run.from, row = 0; at < s->run.to; at++) {
        size_t items = input_at(s, &s->run, at).items;
        for (int i = 1; i < n->layers; i++) {
            struct ek_rng r;
            ek_rng_seed_stream(&r, p->seed,
                               STREAM_DROPOUT + stream_of(p, at) * EK_LAYERS_MAX + (uint64_t)i);
            size_t stride = n->layer[i].stride;
            draw_masks(s->pass.keep[i] + row * stride, items * stride, n->dropout, &r);
        }
        row += items;
    }
}

static void draw_noise(struct ek_train_shard *s, size_t place, size_t count)
{
    struct ek_rng r = numbers_of(&s->part, place, FOR_NOISE);
    for (size_t i = 0; i < count; i++)
        s->noise[i] = 0.5 * ek_rng_uniform(&r);
}

static const float *labels_at(const struct ek_train_shard *s, size_t place)
{
    const struct ek_dataset *d = s->part.set->data;
    return d->label + d->offset[list_at(&s->part, place)];
}

/* Return the loss of the current list and write its gradient to s->slope. */
static double loss_of(struct ek_train_shard *s, size_t place, struct ek_list_loss *list)
{
    const struct ek_train_options *o = s->shared->options;
    if (o->samples) {
        struct ek_rng r = numbers_of(&s->part, place, FOR_NOISE);
        return ek_loss_stochastic(list, o->samples, &r, s->noise, s->sum);
    }
    if (o->loss == EK_LISTMLE)
        draw_noise(s, place, (size_t)list->n);
    return ek_loss_compute(o->loss, list);
}

/* Add the loss and the backward pass of one list with rows from `row` on. */
static void learn_list(struct ek_train_shard *s, size_t place, size_t row,
                       const struct ek_network_list *input)
{
    const struct ek_train_shared *shared = s->shared;
    struct ek_list_loss list = {.n = (int)input->items,
                                .score = s->score,
                                .label = labels_at(s, place),
                                .noise = s->noise,
                                .gradient = s->slope,
                                .scratch = s->scratch,
                                .order = s->order,
                                .cutoff = shared->options->cutoff};
    ek_network_score(&shared->network, shared->parameter, &s->pass, row, input, s->score);
    s->loss += loss_of(s, place, &list) / s->part.divisor;
    for (size_t i = 0; i < input->items; i++)
        s->slope[i] /= s->part.divisor;
    ek_network_backward_list(&shared->network, shared->parameter, &s->pass, row, input, s->slope,
                             s->gradient);
}

static void learn_run(struct ek_train_shard *s)
{
    for (size_t at = s->run.from, row = 0; at < s->run.to; at++) {
        struct ek_network_list input = input_at(s, &s->run, at);
        learn_list(s, at, row, &input);
        row += input.items;
    }
}

static void open_run(struct ek_train_shard *s, size_t from)
{
    const struct ek_network *n = &s->shared->network;
    load_run(s, from);
    if (n->dropout > 0)
        draw_dropout(s);
    if (n->norm)
        ek_norm_measure(n, &s->pass, s->run.rows, 0);
}

static void clear(struct ek_train_shard *s)
{
    memset(s->gradient, 0, s->shared->network.parameters * sizeof *s->gradient);
    s->loss = 0;
}

void ek_train_shard_open(struct ek_train_shard *s)
{
    clear(s);
    open_run(s, s->part.from);
}

void ek_train_shard_forward(struct ek_train_shard *s, int layer)
{
    const struct ek_train_shared *shared = s->shared;
    const struct ek_network *n = &shared->network;
    ek_norm_forward(n, &shared->norm, &s->pass, s->run.rows, layer);
    ek_network_forward_layer(n, shared->parameter, shared->turned, &s->pass, s->run.rows, layer,
                             true);
    if (layer + 1 == n->layers)
        learn_run(s);
    else if (n->norm)
        ek_norm_measure(n, &s->pass, s->run.rows, layer + 1);
}

void ek_train_shard_backward(struct ek_train_shard *s, int layer)
{
    const struct ek_train_shared *shared = s->shared;
    ek_network_backward_layer(&shared->network, shared->parameter, &s->pass, s->run.rows, layer,
                              s->gradient);
    ek_norm_backward(&shared->network, &shared->norm, &s->pass, s->run.rows, layer);
}

static void blame_mixture(struct ek_train_shard *s)
{
    const struct ek_train_shared *shared = s->shared;
    for (size_t at = s->run.from, row = 0; at < s->run.to; at++) {
        struct ek_network_list l = input_at(s, &s->run, at);
        ek_network_backward_mixture(&shared->network, shared->turned, &s->pass, row, &l,
                                    s->gradient);
        row += l.items;
    }
}

void ek_train_shard_close(struct ek_train_shard *s, int layer)
{
    const struct ek_train_shared *shared = s->shared;
    ek_norm_finish(&shared->network, &shared->norm, &s->pass, s->run.rows, layer);
    ek_network_backward_relu(&shared->network, &s->pass, s->run.rows, layer);
    if (!layer && shared->network.mixes)
        blame_mixture(s);
}

void ek_train_shard_train(struct ek_train_shard *s)
{
    int layers = s->shared->network.layers;
    clear(s);
    for (size_t at = s->part.from; at < s->part.to; at = s->run.to) {
        open_run(s, at);
        for (int i = 0; i < layers; i++)
            ek_train_shard_forward(s, i);
        for (int i = layers - 1; i >= 0; i--) {
            ek_train_shard_backward(s, i);
            ek_train_shard_close(s, i);
        }
    }
}

void ek_train_shard_validate(struct ek_train_shard *s)
{
    const struct ek_train_shared *shared = s->shared;
    const struct ek_metric metric = {EK_NDCG, VALIDATION_CUTOFF};
    memset(&s->ndcg, 0, sizeof s->ndcg);
    for (size_t at = s->part.from; at < s->part.to;) {
        load_run(s, at);
        ek_network_forward(&shared->network, shared->parameter, shared->turned, &s->pass,
                           s->run.rows);
        for (size_t row = 0; at < s->run.to; at++) {
            struct ek_network_list input = input_at(s, &s->run, at);
            int n = (int)input.items;
            ek_network_score(&shared->network, shared->parameter, &s->pass, row, &input, s->score);
            ek_rank(s->score, n, s->order);
            ek_metric_add(&s->ndcg,
                          ek_metric_compute(metric, EK_GAIN_EXP, s->order, labels_at(s, at), n, 0,
                                            s->scratch),
                          EK_EMPTY_SKIP);
            row += input.items;
        }
    }
}
