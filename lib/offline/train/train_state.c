#include "offline/train/train_state.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "assets/tensors.h"

#include <math.h>
#include <string.h>

static const char IDENTITY_KEY[] = "evenkeel_training";
/* IDENTITY_ROOM: the numbers of all features twice, and the rest. */
enum { CHECKPOINT_VERSION = 2, IDENTITY_ROOM = 16 * EK_FEATURES_MAX + 4096 };

int ek_train_state_init(struct ek_train_state *s, enum ek_optimizer_kind kind, size_t count,
                        size_t learned, size_t lists)
{
    memset(s, 0, sizeof *s);
    s->count = count;
    s->lists = lists;
    s->parameter = ek_calloc_aligned(count, sizeof *s->parameter);
    s->average = ek_calloc_aligned(count, sizeof *s->average);
    s->best = ek_calloc_aligned(count, sizeof *s->best);
    s->order = ek_calloc(lists, sizeof *s->order);
    if (!s->parameter || !s->average || !s->best || !s->order ||
        ek_optimizer_init(&s->optimizer, kind, learned)) {
        ek_train_state_release(s);
        return EK_ENOMEM;
    }
    for (size_t i = 0; i < lists; i++)
        s->order[i] = i;
    return EK_OK;
}

void ek_train_state_release(struct ek_train_state *s)
{
    ek_optimizer_release(&s->optimizer);
    ek_free(s->parameter);
    ek_free(s->average);
    ek_free(s->best);
    ek_free(s->order);
    memset(s, 0, sizeof *s);
}

/* Return a hash of all values of a dataset. */
static uint64_t hash_of(const struct ek_dataset *d)
{
    uint64_t h = ek_hash(d->offset, (d->lists + 1) * sizeof *d->offset, 0);
    h = ek_hash(d->x, d->items * (size_t)d->item_features * sizeof *d->x, h);
    h = ek_hash(d->query, d->lists * (size_t)d->query_features * sizeof *d->query, h);
    return ek_hash(d->label, d->items * sizeof *d->label, h);
}

static void add_shape(struct ek_buf *to, const struct ek_model_shape *shape)
{
    ek_buf_text(to, "hidden=");
    for (int i = 0; i < shape->hidden_count; i++)
        ek_buf_printf(to, i ? ",%d" : "%d", shape->hidden[i]);
    ek_buf_printf(to, "\ngate=%d\nmask_input=%d\nlist_free=%d\nlog_input=%d\ntransform=%s\n",
                  shape->gate_size, shape->mask_input, shape->list_free, (int)shape->log_input,
                  ek_transform_name(shape->transform));
}

int ek_train_identity(struct ek_buf *to, const struct ek_manifest *m,
                      const struct ek_train_options *o, const struct ek_dataset *train,
                      const struct ek_dataset *vali)
{
    if (ek_buf_reserve(to, IDENTITY_ROOM))
        return EK_ENOMEM;
    ek_buf_printf(to, "version=%d\nmanifest=%016llx\ntrain=%016llx\nvali=%016llx\n",
                  CHECKPOINT_VERSION, (unsigned long long)m->hash,
                  (unsigned long long)hash_of(train), (unsigned long long)hash_of(vali));
    ek_buf_printf(to, "seed=%llu\nloss=%s\nsamples=%d\ncutoff=%d\nrouting=%s\nroutable=",
                  (unsigned long long)o->seed, ek_loss_name(o->loss), o->samples, o->cutoff,
                  ek_routing_name(o->routing));
    for (int k = 0; k < m->routable_count; k++)
        ek_buf_printf(to, k ? ",%d" : "%d", m->routable[k]);
    ek_buf_text(to, "\nrouted=");
    for (int i = 0; i < o->static_count; i++)
        ek_buf_printf(to, i ? ",%d" : "%d", o->static_routed[i]);
    ek_buf_text(to, "\n");
    add_shape(to, &o->shape);
    ek_buf_printf(to, "keep_clean=%.17g\nshift=%.17g\nepochs=%d\nbatch=%d\noptimizer=%d\n",
                  o->keep_clean, o->shift, o->epochs, o->batch_lists, (int)o->optimizer);
    ek_buf_printf(to, "rate=%.17g\ndecay=%.17g\naverage=%.17g\nbatch_norm=%d\ndropout=%.17g\n",
                  o->learning_rate, o->weight_decay, o->average, o->network.batch_norm,
                  o->network.dropout);
    return ek_buf_string(to) ? EK_OK : EK_ENOMEM;
}

/* Scalars of the state in file order. The patience may differ between the runs of a training, so it
 * is not included. */
enum { EPOCH, STEP, BEST_EPOCH, OPTIMIZER_STEP, RNG, WHOLE_COUNT = RNG + 4 };
enum { LOSS, VALI, BEST, EPOCH_LOSS, REAL_COUNT };

/* Array of a state with its name in the file. */
struct part {
    const char *name;
    enum ek_dtype type;
    size_t count, bytes;
    void *data;
};
enum { PARTS = 8 };

static void list_parts(const struct ek_train_state *s, uint64_t *whole, double *real,
                       struct part *parts)
{
    size_t count = s->count, learned = s->optimizer.count;
    const struct part all[PARTS] = {
        {"parameter", EK_F32, count, sizeof(float), s->parameter},
        {"average", EK_F32, count, sizeof(float), s->average},
        {"best", EK_F32, count, sizeof(float), s->best},
        {"optimizer.mean", EK_F32, learned, sizeof(float), s->optimizer.mean},
        {"optimizer.square", EK_F32, learned, sizeof(float), s->optimizer.square},
        {"order", EK_U64, s->lists, sizeof(uint64_t), s->order},
        {"whole", EK_U64, WHOLE_COUNT, sizeof(uint64_t), whole},
        {"real", EK_F64, REAL_COUNT, sizeof(double), real},
    };
    memcpy(parts, all, sizeof all);
}

static int fill(struct ek_tensors *t, const struct ek_train_state *s, const char *identity)
{
    const struct ek_train_progress *at = &s->at;
    uint64_t whole[WHOLE_COUNT] = {(uint64_t)at->epoch, at->step, (uint64_t)at->best_epoch,
                                   s->optimizer.step};
    double real[REAL_COUNT] = {at->loss, at->vali_ndcg10, at->best_ndcg10, s->epoch_loss};
    struct part parts[PARTS];
    memcpy(whole + RNG, s->order_rng.s, sizeof s->order_rng.s);
    list_parts(s, whole, real, parts);
    for (int i = 0; i < PARTS; i++) {
        const struct part *p = &parts[i];
        struct ek_tensor *to = ek_tensors_add(t, p->name, p->type, 1, &p->count);
        if (!to)
            return EK_ENOMEM;
        memcpy(to->data, p->data, p->count * p->bytes);
    }
    return ek_tensors_set_text(t, IDENTITY_KEY, identity);
}

int ek_train_state_save(const struct ek_train_state *s, const char *identity, const char *path,
                        struct ek_error *e)
{
    struct ek_tensors *t;
    if (ek_tensors_new(&t))
        return ek_fail(e, EK_ENOMEM, "out of memory");
    int code = fill(t, s, identity) ? ek_fail(e, EK_ENOMEM, "out of memory")
                                    : ek_tensors_write(t, path, e);
    ek_tensors_free(t);
    return code;
}

static size_t line_length(const char *text)
{
    return strcspn(text, "\n");
}

/* Return EK_EUSAGE naming the first line in which two runs differ. */
static int check_identity(const char *there, const char *here, const char *path, struct ek_error *e)
{
    while (*there && *here) {
        size_t a = line_length(there), b = line_length(here);
        if (a != b || memcmp(there, here, a) != 0)
            return ek_fail_at(e, EK_EUSAGE, path, 0, 0,
                              "a checkpoint of another run, with '%.*s' where this one has '%.*s'",
                              (int)a, there, (int)b, here);
        there += a + (there[a] != 0);
        here += b + (here[b] != 0);
    }
    return *there || *here ? ek_fail_at(e, EK_EUSAGE, path, 0, 0, "a checkpoint of another run")
                           : EK_OK;
}

static bool all_finite(const struct part *p)
{
    const float *x = p->data;
    for (size_t i = 0; p->type == EK_F32 && i < p->count; i++)
        if (!isfinite(x[i]))
            return false;
    return true;
}

/* Return true if each list occurs once, by a sum of hashes. */
static bool is_order(const struct ek_train_state *s)
{
    uint64_t there = 0, desired = 0;
    for (size_t i = 0; i < s->lists; i++) {
        if (s->order[i] >= s->lists)
            return false;
        there += ek_hash(&s->order[i], sizeof s->order[i], 0);
        desired += ek_hash(&(uint64_t){i}, sizeof(uint64_t), 0);
    }
    return there == desired;
}

static bool sound(const struct ek_train_state *s, const struct part *parts, const uint64_t *whole)
{
    for (int i = 0; i < PARTS; i++)
        if (!all_finite(&parts[i]))
            return false;
    if (!is_order(s))
        return false;
    /* the generator would never leave the zero state */
    if (!(whole[RNG] | whole[RNG + 1] | whole[RNG + 2] | whole[RNG + 3]))
        return false;
    return whole[STEP] <= s->at.steps && whole[EPOCH] <= (uint64_t)s->at.epochs &&
           whole[BEST_EPOCH] <= whole[EPOCH];
}

static int load_state(struct ek_train_state *s, const struct ek_tensors *t, const char *path,
                      struct ek_error *e)
{
    uint64_t whole[WHOLE_COUNT];
    double real[REAL_COUNT];
    struct part parts[PARTS];
    list_parts(s, whole, real, parts);
    for (int i = 0; i < PARTS; i++) {
        const struct part *p = &parts[i];
        const struct ek_tensor *from;
        int code = ek_tensors_expect(t, p->name, p->type, 1, &p->count, &from, e);
        if (code)
            return code;
        memcpy(p->data, from->data, p->count * p->bytes);
    }
    if (!sound(s, parts, whole))
        return ek_fail_at(e, EK_EFORMAT, path, 0, 0, "a checkpoint with impossible numbers");
    s->at.epoch = (int)whole[EPOCH];
    s->at.step = (size_t)whole[STEP];
    s->at.best_epoch = (int)whole[BEST_EPOCH];
    s->optimizer.step = whole[OPTIMIZER_STEP];
    memcpy(s->order_rng.s, whole + RNG, sizeof s->order_rng.s);
    s->at.loss = real[LOSS];
    s->at.vali_ndcg10 = real[VALI];
    s->at.best_ndcg10 = real[BEST];
    s->epoch_loss = real[EPOCH_LOSS];
    return EK_OK;
}

int ek_train_state_load(struct ek_train_state *s, const char *identity, const char *path,
                        struct ek_error *e)
{
    struct ek_tensors *t;
    int code = ek_tensors_read(&t, path, e);
    if (code)
        return code;
    const char *there = ek_tensors_text(t, IDENTITY_KEY);
    code = there ? check_identity(there, identity, path, e)
                 : ek_fail_at(e, EK_EFORMAT, path, 0, 0, "not a checkpoint of training");
    if (!code)
        code = load_state(s, t, path, e);
    ek_tensors_free(t);
    return code;
}
