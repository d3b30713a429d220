#include "offline/train/train_batch.h"

#include <math.h>

/* Share of the running statistics that a batch leaves as it was. */
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

/* A part has to go through the network in one run. */
static int make_room(struct ek_train_batch *b)
{
    for (int i = 0; i < EK_TRAIN_SHARDS; i++) {
        const struct ek_train_part *p = &b->shard[i].part;
        const size_t *offset = p->set->data->offset;
        size_t rows = 0;
        for (size_t at = p->from; at < p->to; at++)
            rows += offset[p->lists[at] + 1] - offset[p->lists[at]];
        if (ek_train_shard_room(&b->shard[i], rows, p->to - p->from))
            return EK_ENOMEM;
    }
    return EK_OK;
}

int ek_train_batch_learn(struct ek_train_batch *b)
{
    const struct ek_network *n = &b->shared->network;
    struct ek_norm *norm = &b->shared->norm;
    struct ek_pass *pass[EK_TRAIN_SHARDS];
    size_t rows[EK_TRAIN_SHARDS];
    /* At first a plain mean, so that the start does not linger. */
    double old = fmin(MOMENTUM, (double)b->step / (double)(b->step + 1));
    if (make_room(b))
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
        ek_norm_merge_blame(n, norm, pass, rows, EK_TRAIN_SHARDS, b->layer);
        run_all(b, close_task);
    }
    return EK_OK;
}
