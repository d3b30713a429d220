#include "offline/train_shard.h"

#include "base/alloc.h"

#include <string.h>

enum { RUN_ROWS = 256, RUN_LISTS = 64, VALIDATION_CUTOFF = 10 };

/* Lists that pass the network together: places [from, to), `rows` items. */
struct run {
    size_t from, to, rows;
};

int ek_train_shard_init(struct ek_train_shard *s, const struct ek_train_shared *shared,
                        size_t longest)
{
    const struct ek_network *n = &shared->network;
    memset(s, 0, sizeof *s);
    s->shared = shared;
    s->gradient = ek_calloc_aligned(n->parameters, sizeof *s->gradient);
    s->mask = ek_calloc(RUN_LISTS, n->routable * sizeof *s->mask);
    s->score = ek_calloc(longest, sizeof *s->score);
    s->noise = ek_calloc(longest, sizeof *s->noise);
    s->slope = ek_calloc(longest, sizeof *s->slope);
    s->scratch = ek_calloc(longest, sizeof *s->scratch);
    s->order = ek_calloc(longest, sizeof *s->order);
    s->pick = ek_calloc(n->routable, sizeof *s->pick);
    if (s->gradient && s->mask && s->score && s->noise && s->slope && s->scratch && s->order &&
        s->pick && !ek_pass_init(&s->pass, n, longest > RUN_ROWS ? longest : RUN_ROWS))
        return EK_OK;
    ek_train_shard_release(s);
    return EK_ENOMEM;
}

void ek_train_shard_release(struct ek_train_shard *s)
{
    void *const arrays[] = {s->gradient, s->mask,    s->score, s->noise,
                            s->slope,    s->scratch, s->order, s->pick};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        ek_free(arrays[i]);
    ek_pass_release(&s->pass);
    memset(s, 0, sizeof *s);
}

static void draw_random_mask(struct ek_train_shard *s, struct ek_rng *r, float *mask)
{
    size_t count = s->shared->network.routable;
    if (ek_rng_uniform(r) < s->shared->options->keep_clean || !count)
        return;
    size_t size = 1 + (size_t)ek_rng_below(r, count);
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

enum purpose { FOR_MASK, FOR_NOISE, PURPOSES };

static struct ek_rng numbers_of(const struct ek_train_part *p, size_t place, enum purpose purpose)
{
    struct ek_rng r;
    ek_rng_seed_stream(&r, p->seed, (p->stream + place) * PURPOSES + (uint64_t)purpose);
    return r;
}

static size_t list_at(const struct ek_train_part *p, size_t place)
{
    return p->lists ? p->lists[place] : place;
}

static float *mask_at(const struct ek_train_shard *s, const struct run *run, size_t place)
{
    return s->mask + (place - run->from) * s->shared->network.routable;
}

static struct ek_network_list input_at(const struct ek_train_shard *s, const struct run *run,
                                       size_t place)
{
    return ek_encoded_list(s->part.set, list_at(&s->part, place), mask_at(s, run, place));
}

/* Loads lists from place `from` on, as many as fit, and runs them through the deep part. */
static struct run forward_run(struct ek_train_shard *s, size_t from)
{
    const struct ek_train_shared *shared = s->shared;
    struct run run = {from, from, 0};
    while (run.to < s->part.to && run.to - run.from < RUN_LISTS) {
        struct ek_network_list l = input_at(s, &run, run.to);
        if (run.rows + l.items > s->pass.rows)
            break;
        struct ek_rng r = numbers_of(&s->part, run.to, FOR_MASK);
        draw_mask(s, &r, mask_at(s, &run, run.to));
        ek_network_load(&shared->network, &s->pass, run.rows, &l);
        run.rows += l.items;
        run.to++;
    }
    ek_network_forward(&shared->network, shared->parameter, shared->turned, &s->pass, run.rows);
    return run;
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

/* Loss and blame of one list whose rows start at `row`. */
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
                                .order = s->order};
    ek_network_score(&shared->network, shared->parameter, &s->pass, row, input, s->score);
    if (shared->options->loss == EK_LISTMLE)
        draw_noise(s, place, input->items);
    s->loss += ek_loss_of_list(shared->options->loss, &list) / s->part.divisor;
    for (size_t i = 0; i < input->items; i++)
        s->slope[i] /= s->part.divisor;
    ek_network_blame(&shared->network, shared->parameter, &s->pass, row, input, s->slope,
                     s->gradient);
}

void ek_train_shard_learn(struct ek_train_shard *s)
{
    const struct ek_train_shared *shared = s->shared;
    memset(s->gradient, 0, shared->network.parameters * sizeof *s->gradient);
    s->loss = 0;
    for (size_t at = s->part.from; at < s->part.to;) {
        struct run run = forward_run(s, at);
        for (size_t row = 0; at < run.to; at++) {
            struct ek_network_list input = input_at(s, &run, at);
            learn_list(s, at, row, &input);
            row += input.items;
        }
        ek_network_backward(&shared->network, shared->parameter, &s->pass, run.rows, s->gradient);
    }
}

void ek_train_shard_validate(struct ek_train_shard *s)
{
    const struct ek_train_shared *shared = s->shared;
    const struct ek_metric metric = {EK_NDCG, VALIDATION_CUTOFF};
    memset(&s->ndcg, 0, sizeof s->ndcg);
    for (size_t at = s->part.from; at < s->part.to;) {
        struct run run = forward_run(s, at);
        for (size_t row = 0; at < run.to; at++) {
            struct ek_network_list input = input_at(s, &run, at);
            int n = (int)input.items;
            ek_network_score(&shared->network, shared->parameter, &s->pass, row, &input, s->score);
            ek_rank(s->score, n, s->order);
            ek_metric_add(&s->ndcg,
                          ek_metric_of_list(metric, EK_GAIN_EXP, s->order, labels_at(s, at), n, 0,
                                            s->scratch),
                          EK_EMPTY_SKIP);
            row += input.items;
        }
    }
}
