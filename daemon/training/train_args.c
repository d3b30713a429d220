#include "daemon/training/train_args.h"

#include "base/alloc.h"
#include "base/parse.h"
#include "daemon/base/arguments.h"
#include "daemon/base/command.h"

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

struct ek_pool {
    pthread_mutex_t lock;
    pthread_cond_t begin, end;
    pthread_t thread[EK_POOL_THREADS_MAX];
    int threads; /* started threads */
    void (*task)(void *arg, int i);
    void *arg;
    int next, count, running; /* next .. count-1: parts not started */
    bool closing;
};

/* Run parts until none is left; the lock is released during a part. */
static void work(struct ek_pool *p)
{
    while (p->next < p->count) {
        int i = p->next++;
        p->running++;
        pthread_mutex_unlock(&p->lock);
        p->task(p->arg, i);
        pthread_mutex_lock(&p->lock);
        p->running--;
    }
}

static void *serve(void *pool)
{
    struct ek_pool *p = pool;
    pthread_mutex_lock(&p->lock);
    while (!p->closing) {
        work(p);
        if (!p->running)
            pthread_cond_signal(&p->end);
        pthread_cond_wait(&p->begin, &p->lock);
    }
    pthread_mutex_unlock(&p->lock);
    return NULL;
}

struct ek_pool *ek_pool_new(int threads)
{
    struct ek_pool *p = ek_calloc(1, sizeof *p);
    if (!p)
        return NULL;
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->begin, NULL);
    pthread_cond_init(&p->end, NULL);
    while (p->threads < threads - 1 && p->threads < EK_POOL_THREADS_MAX &&
           !pthread_create(&p->thread[p->threads], NULL, serve, p))
        p->threads++;
    return p;
}

void ek_pool_free(struct ek_pool *p)
{
    if (!p)
        return;
    pthread_mutex_lock(&p->lock);
    p->closing = true;
    pthread_cond_broadcast(&p->begin);
    pthread_mutex_unlock(&p->lock);
    for (int i = 0; i < p->threads; i++)
        pthread_join(p->thread[i], NULL);
    pthread_cond_destroy(&p->end);
    pthread_cond_destroy(&p->begin);
    pthread_mutex_destroy(&p->lock);
    ek_free(p);
}

void ek_pool_run(struct ek_pool *p, void (*task)(void *arg, int i), void *arg, int count)
{
    if (!p) {
        for (int i = 0; i < count; i++)
            task(arg, i);
        return;
    }
    pthread_mutex_lock(&p->lock);
    p->task = task;
    p->arg = arg;
    p->next = 0;
    p->count = count;
    pthread_cond_broadcast(&p->begin);
    work(p);
    while (p->running)
        pthread_cond_wait(&p->end, &p->lock);
    pthread_mutex_unlock(&p->lock);
}

static void set_file(struct argp_state *state, struct ek_train_args *a, const char *arg)
{
    if (!a->open)
        argp_error(state, "unexpected '%s'; files follow --train or --vali", arg);
    else if (ek_files_add(a->open, arg, &a->e))
        argp_error(state, "%s", a->e.message);
}

static void set_train(struct argp_state *state, struct ek_train_args *a, const char *arg)
{
    a->open = &a->train;
    set_file(state, a, arg);
}

static void set_vali(struct argp_state *state, struct ek_train_args *a, const char *arg)
{
    a->open = &a->vali;
    set_file(state, a, arg);
}

static void set_teacher(struct argp_state *state, struct ek_train_args *a, const char *arg)
{
    a->has_teacher = !ek_find_word(state, "teacher", arg, (const char *const[]){"upstream"}, 1);
}

static void set_loss(struct argp_state *state, struct ek_train_args *a, const char *arg)
{
    static const char *const words[] = {"listnet", "listmle", "approxndcg"};
    a->options.loss = (enum ek_loss)ek_find_word(state, "loss", arg, words, 3);
    a->loss_given = true;
}

static void set_logs(struct argp_state *state, struct ek_train_args *a, const char *arg)
{
    static const char *const words[] = {"none", "routed", "always"};
    a->options.shape.log_input = (enum ek_log_input)ek_find_word(state, "log-input", arg, words, 3);
    a->log_input_given = true;
}

static void set_hidden(struct argp_state *state, struct ek_train_args *a, const char *arg)
{
    struct ek_model_shape *shape = &a->options.shape;
    const char *piece;
    size_t length;
    shape->hidden_count = 0;
    for (const char *at = arg; ek_next_field(&at, &piece, &length);) {
        uint64_t units = 0;
        if (shape->hidden_count == EK_LAYERS_MAX - 1)
            argp_error(state, "--hidden takes at most %d layers", EK_LAYERS_MAX - 1);
        if (ek_parse_u64(piece, length, &units) || !units || units > EK_LAYER_WIDTH_MAX)
            argp_error(state, "--hidden needs numbers of units such as 64,32, not '%s'", arg);
        shape->hidden[shape->hidden_count++] = (int)units;
    }
    a->hidden_given = true;
}

static void set_optimizer(struct argp_state *state, struct ek_train_args *a, const char *arg)
{
    static const char *const words[] = {"adamw", "adagrad"};
    a->options.optimizer = (enum ek_optimizer_kind)ek_find_word(state, "optimizer", arg, words, 2);
}

static void set_transform(struct argp_state *state, struct ek_train_args *a, const char *arg)
{
    const char *words[EK_TRANSFORM_MIXTURE + 1];
    for (int i = 0; i <= EK_TRANSFORM_MIXTURE; i++)
        words[i] = ek_transform_name((enum ek_transform)i);
    a->options.shape.transform =
        (enum ek_transform)ek_find_word(state, "transform", arg, words, EK_TRANSFORM_MIXTURE + 1);
}

enum kind { TEXT_OR_FLAG, OWN_PARSER, WHOLE, COUNT, REAL };

/* Option and its value. letter 0: long name only. Texts are stored at an offset in the arguments
 * (ek_cli_store); WHOLE is an int and COUNT a uint64_t from low to high, REAL a double of at least
 * 0. given: offset of a flag that the option was given; 0: none. */
struct row {
    const char *name;
    int letter;
    const char *argument, *text;
    enum kind kind;
    size_t member;
    uint64_t low, high;
    size_t given;
    void (*parse)(struct argp_state *state, struct ek_train_args *a, const char *arg);
};
#define AT(member)                offsetof(struct ek_train_args, member)
#define TEXT(at)                  TEXT_OR_FLAG, AT(at), 0, 0, 0, NULL
#define OWN(parse)                OWN_PARSER, 0, 0, 0, 0, parse
#define INT(at, low, high, given) WHOLE, AT(at), low, high, given, NULL
#define REAL_AT(at, given)        REAL, AT(at), 0, 0, given, NULL

static const struct row ROWS[] = {
    {"manifest", 'm', "FILE", "Feature manifest (YAML)", TEXT(manifest)},
    {"train", 0, "FILE...", "LETOR files, or messages with labels, to train on; takes several",
     OWN(set_train)},
    {"vali", 0, "FILE...",
     "Files with other lists to select the best epoch; default: a fifth of the training lists",
     OWN(set_vali)},
    {"output", 'o', "FILE", "Model to write (.safetensors)", TEXT(output)},
    {"teacher", 0, "WHO",
     "upstream: read messages, and learn their upstream scores in place of labels",
     OWN(set_teacher)},
    {"config", 'c', "FILE", "Configuration of `run`, with manifest and field names of messages",
     TEXT(config)},
    {"loss", 0, "NAME", "Loss: listmle, listnet or approxndcg (listmle)", OWN(set_loss)},
    {"samples", 0, "N", "Gumbel samples of approxndcg, its stochastic form (0: none)",
     INT(options.samples, 0, 1000, 0)},
    {"cutoff", 0, "K", "Cutoff of approxndcg (0: none)", INT(options.cutoff, 0, 1000000, 0)},
    {"routing", 0, "HOW",
     "Routed features in training: random, none, or static:FEATURE,... (random)", TEXT(routing)},
    {"log-input", 0, "WHEN", "Centered logs as deep inputs: always, routed or none (always)",
     OWN(set_logs)},
    {"list-free", 0, NULL, "Train a model that scores each item alone",
     TEXT(options.shape.list_free)},
    {"hidden", 0, "N,...", "Units of the hidden layers (64,32)", OWN(set_hidden)},
    {"transform", 0, "NAME",
     "Transform of item features for the deep part: log1p, raw, zscore, cdf or mixture (log1p)",
     OWN(set_transform)},
    {"batch-norm", 0, NULL, "Normalize the inputs of each layer over the batch (no)",
     TEXT(options.network.batch_norm)},
    {"dropout", 0, "X", "Fraction of each hidden layer's outputs dropped in training (0)",
     REAL_AT(options.network.dropout, 0)},
    {"unrouted-fraction", 0, "SHARE",
     "With random routing: initial fraction of lists without routes (0.5)",
     REAL_AT(options.keep_clean, AT(unrouted_given))},
    {"scale-augmentation", 0, "SHARE",
     "With random routing: initial fraction of lists with scale faults (0.3)",
     REAL_AT(options.shift, AT(scale_given))},
    {"epochs", 0, "N", "Passes over the data (15)",
     INT(options.epochs, 1, 100000, AT(epochs_given))},
    {"patience", 0, "N", "Stop after N epochs without improvement (0: never)",
     INT(options.patience, 0, 100000, 0)},
    {"optimizer", 0, "NAME", "Optimizer: adamw or adagrad (adamw)", OWN(set_optimizer)},
    {"lr", 0, "X", "Maximum learning rate (3e-3)", REAL_AT(options.learning_rate, AT(rate_given))},
    {"decay", 0, "X", "Weight decay (1e-4)", REAL_AT(options.weight_decay, AT(decay_given))},
    {"weight-averaging", 0, "POWER",
     "Average the weights of all steps, step t with weight t^POWER; 0: none (3)",
     REAL_AT(options.average, 0)},
    {"batch", 0, "N", "Lists per step (64)", INT(options.batch_lists, 1, 1000000, AT(batch_given))},
    {"checkpoint", 0, "FILE", "File for the state of training; SIGINT stops after writing it",
     TEXT(options.checkpoint)},
    {"resume", 0, "FILE", "Continue from a checkpoint, with the same options and data",
     TEXT(options.resume)},
    {"seed", 's', "N", "Random seed (0)", COUNT, AT(options.seed), 0, UINT64_MAX, 0, NULL},
    {"threads", 0, "N", "Threads (number of CPUs); results do not depend on them", COUNT,
     AT(threads), 1, EK_POOL_THREADS_MAX, 0, NULL},
    {"json", 0, NULL, "Print the result as JSON", TEXT(json)},
};
enum { ROW_COUNT = sizeof ROWS / sizeof *ROWS, KEY_OF_FIRST = 256 };

static int key_of(size_t row)
{
    return ROWS[row].letter ? ROWS[row].letter : KEY_OF_FIRST + (int)row;
}

static void finish(struct argp_state *state, struct ek_train_args *a)
{
    struct ek_model_shape *shape = &a->options.shape;
    if ((!a->manifest && !a->config) || !a->train.count || !a->output)
        argp_error(state, "--manifest or --config, --train and -o are needed");
    if (shape->list_free && !a->log_input_given)
        shape->log_input = EK_LOG_NONE;
    if (shape->list_free && shape->log_input != EK_LOG_NONE)
        argp_error(state, "--list-free needs --log-input none");
    if ((a->unrouted_given || a->scale_given) && strcmp(a->routing, "random") != 0)
        argp_error(state, "--unrouted-fraction and --scale-augmentation need --routing random");
    if (a->has_teacher && a->loss_given && a->options.loss != EK_LISTNET)
        argp_error(state, "--teacher needs --loss listnet");
    if (a->has_teacher)
        a->options.loss = EK_LISTNET;
}

static void store(const struct row *r, int key, char *arg, struct argp_state *state)
{
    struct ek_train_args *a = state->input;
    const struct ek_cli_slot slot[] = {{key, r->member}, {0}};
    void *member = (char *)a + r->member;
    double x = 0;
    if (r->kind == OWN_PARSER)
        r->parse(state, a, arg);
    else if (r->kind == TEXT_OR_FLAG)
        ek_cli_store(slot, key, arg, a);
    else if (r->kind == WHOLE)
        *(int *)member = (int)ek_cli_parse_integer(state, r->name, arg, r->low, r->high);
    else if (r->kind == COUNT)
        *(uint64_t *)member = ek_cli_parse_integer(state, r->name, arg, r->low, r->high);
    else if (ek_parse_finite(arg, EK_WHOLE, &x) || x < 0)
        argp_error(state, "--%s needs a number of at least 0, not '%s'", r->name, arg);
    else
        *(double *)member = x;
    if (r->given)
        *(bool *)((char *)a + r->given) = true;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    size_t row = 0;
    if (key == ARGP_KEY_ARG)
        set_file(state, state->input, arg);
    else if (key == ARGP_KEY_END)
        finish(state, state->input);
    else {
        while (row < ROW_COUNT && key_of(row) != key)
            row++;
        if (row == ROW_COUNT)
            return ARGP_ERR_UNKNOWN;
        store(&ROWS[row], key, arg, state);
    }
    return 0;
}

static uint64_t processors(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : n > EK_TRAIN_SHARDS ? EK_TRAIN_SHARDS : (uint64_t)n;
}

void ek_train_args_parse(struct ek_train_args *a, int argc, char **argv)
{
    static const char doc[] =
        "Train a ranking model in which features can be routed to a scale-free path.\vOptions "
        "override `training:` of the manifest. The plain model is --routing none --log-input "
        "none.\n\n  evenkeel train -m features.yaml --train t.txt --vali v.txt -o m.safetensors";
    struct argp_option options[ROW_COUNT + 1] = {{0}};
    const struct argp argp = {options, parse, "", doc, NULL, NULL, NULL};
    for (size_t i = 0; i < ROW_COUNT; i++)
        options[i] =
            (struct argp_option){ROWS[i].name, key_of(i), ROWS[i].argument, 0, ROWS[i].text, 0};
    *a = (struct ek_train_args){.routing = "random", .threads = processors()};
    ek_train_defaults(&a->options);
    ek_cli_parse(&argp, argc, argv, ARGP_IN_ORDER, a);
}

/* Apply those hints of the manifest for which no option was given. */
static void set_hints(struct ek_train_args *a, struct ek_training_hints h)
{
    if (a->epochs_given)
        h.epochs = -1;
    if (a->batch_given)
        h.batch_size = -1;
    if (a->rate_given)
        h.learning_rate = -1;
    if (a->decay_given)
        h.weight_decay = -1;
    if (a->hidden_given)
        h.hidden_count = 0;
    ek_train_set_hints(&a->options, &h);
}

int ek_train_args_apply_manifest(struct ek_train_args *a, const struct ek_manifest *m, int *routed)
{
    static const char prefix[] = "static:";
    struct ek_train_options *o = &a->options;
    set_hints(a, m->training);
    if (!strcmp(a->routing, "random") || !strcmp(a->routing, "none")) {
        o->routing = a->routing[0] == 'r' ? EK_ROUTING_RANDOM : EK_ROUTING_NONE;
        return EK_OK;
    }
    if (strncmp(a->routing, prefix, strlen(prefix)) != 0)
        return ek_fail(&a->e, EK_EUSAGE,
                       "--routing needs random, none or static:FEATURE,..., not '%s'", a->routing);
    o->routing = EK_ROUTING_STATIC;
    o->static_routed = routed;
    o->shape.mask_input = false;
    return ek_parse_routables(m, a->routing + strlen(prefix), routed, &o->static_count, &a->e);
}
