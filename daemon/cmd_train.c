/* evenkeel train: training data and manifest to a routable model. */
#include "daemon/check.h"
#include "daemon/cli.h"
#include "daemon/pool.h"
#include "daemon/ranking_args.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/parse.h"
#include "offline/evaluate.h"
#include "offline/train.h"

#include <argp.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct train_args {
    const char *manifest, *output, *routing;
    struct ek_files train, vali, *open; /* open: where further file names go */
    struct ek_train_options options;
    bool log_input_given, loss_given, taught, json;
    /* What was given on the command line; the manifest's hints fill the rest. */
    bool hidden_given, epochs_given, rate_given, decay_given, batch_given;
    uint64_t threads;
    struct ek_error e;
};

enum {
    OPT_TRAIN = 256,
    OPT_VALI,
    OPT_LOSS,
    OPT_ROUTING,
    OPT_LOGS,
    OPT_FREE,
    OPT_HIDDEN,
    OPT_EPOCHS,
    OPT_RATE,
    OPT_DECAY,
    OPT_BATCH,
    OPT_SEED,
    OPT_THREADS,
    OPT_TEACHER,
    OPT_JSON
};

static const struct argp_option OPTIONS[] = {
    {"manifest", 'm', "FILE", 0, "Feature manifest (YAML)", 0},
    {"train", OPT_TRAIN, "FILE...", 0, "LETOR files to learn from; several may follow", 0},
    {"vali", OPT_VALI, "FILE...", 0, "The same, to choose the best epoch", 0},
    {"output", 'o', "FILE", 0, "Model to write (.safetensors)", 0},
    {"teacher", OPT_TEACHER, "WHO", 0,
     "upstream: the files are messages, their scores are what is learned, no labels needed", 0},
    {"loss", OPT_LOSS, "NAME", 0, "listmle, listnet or approxndcg (listmle)", 0},
    {"routing", OPT_ROUTING, "HOW", 0,
     "random, none, or static:FEATURE,... for a fixed choice (random)", 0},
    {"log-input", OPT_LOGS, "WHEN", 0,
     "Centred logs as deep inputs: always, routed or none (always)", 0},
    {"list-free", OPT_FREE, NULL, 0, "A model whose items are scored one by one", 0},
    {"hidden", OPT_HIDDEN, "N,...", 0, "Units of the hidden layers (64,32)", 0},
    {"epochs", OPT_EPOCHS, "N", 0, "Passes over the data (15)", 0},
    {"lr", OPT_RATE, "X", 0, "Highest learning rate (3e-3)", 0},
    {"decay", OPT_DECAY, "X", 0, "Weight decay (1e-4)", 0},
    {"batch", OPT_BATCH, "N", 0, "Lists per step (64)", 0},
    {"seed", OPT_SEED, "N", 0, "Seed of all that is random (0)", 0},
    {"threads", OPT_THREADS, "N", 0, "Threads (as many as processors); no result changes", 0},
    {"json", OPT_JSON, NULL, 0, "Result as JSON", 0},
    {0}};

static uint64_t number(struct argp_state *state, const char *name, const char *arg, uint64_t low,
                       uint64_t high)
{
    uint64_t n = 0;
    if (ek_parse_u64(arg, EK_WHOLE, &n) || n < low || n > high)
        argp_error(state, "--%s needs a whole number from %llu to %llu, not '%s'", name,
                   (unsigned long long)low, (unsigned long long)high, arg);
    return n;
}

static double real(struct argp_state *state, const char *name, const char *arg)
{
    double x = 0;
    if (ek_parse_finite(arg, EK_WHOLE, &x) || x < 0)
        argp_error(state, "--%s needs a number that is not negative, not '%s'", name, arg);
    return x;
}

static void hidden(struct argp_state *state, struct train_args *a, const char *arg)
{
    struct ek_model_shape *shape = &a->options.shape;
    const char *piece;
    size_t length;
    shape->hidden_count = 0;
    for (const char *at = arg; ek_next_piece(&at, &piece, &length);) {
        uint64_t units = 0;
        if (shape->hidden_count == EK_LAYERS_MAX - 1)
            argp_error(state, "--hidden has at most %d layers", EK_LAYERS_MAX - 1);
        if (ek_parse_u64(piece, length, &units) || !units || units > EK_LAYER_WIDTH_MAX)
            argp_error(state, "--hidden needs numbers of units, as in 64,32, not '%s'", arg);
        shape->hidden[shape->hidden_count++] = (int)units;
    }
    a->hidden_given = true;
}

static void file(struct argp_state *state, struct train_args *a, const char *arg)
{
    if (!a->open)
        argp_error(state, "'%s' stands alone; files follow --train or --vali", arg);
    else if (ek_files_add(a->open, arg, &a->e))
        argp_error(state, "%s", a->e.message);
}

static void finish(struct argp_state *state, struct train_args *a)
{
    struct ek_model_shape *shape = &a->options.shape;
    if (!a->manifest || !a->train.count || !a->vali.count || !a->output)
        argp_error(state, "--manifest, --train, --vali and -o are needed");
    if (shape->list_free && !a->log_input_given)
        shape->log_input = EK_LOG_NONE;
    if (shape->list_free && shape->log_input != EK_LOG_NONE)
        argp_error(state, "--list-free needs --log-input none");
    if (a->taught && a->loss_given && a->options.loss != EK_LISTNET)
        argp_error(state, "scores of a teacher are learned with --loss listnet");
    if (a->taught)
        a->options.loss = EK_LISTNET;
}

/* The options that shape the recipe. */
static error_t parse_recipe(int key, const char *arg, struct argp_state *state,
                            struct train_args *a)
{
    static const char *const losses[] = {"listnet", "listmle", "approxndcg"};
    static const char *const logs[] = {"none", "routed", "always"};
    struct ek_train_options *o = &a->options;
    switch (key) {
    case OPT_LOSS:
        o->loss = (enum ek_loss)ek_one_of(state, "loss", arg, losses, 3);
        a->loss_given = true;
        return 0;
    case OPT_LOGS:
        o->shape.log_input = (enum ek_log_input)ek_one_of(state, "log-input", arg, logs, 3);
        a->log_input_given = true;
        return 0;
    case OPT_FREE:
        o->shape.list_free = true;
        return 0;
    case OPT_HIDDEN:
        hidden(state, a, arg);
        return 0;
    case OPT_EPOCHS:
        o->epochs = (int)number(state, "epochs", arg, 1, 100000);
        a->epochs_given = true;
        return 0;
    case OPT_RATE:
        o->learning_rate = real(state, "lr", arg);
        a->rate_given = true;
        return 0;
    case OPT_DECAY:
        o->weight_decay = real(state, "decay", arg);
        a->decay_given = true;
        return 0;
    case OPT_BATCH:
        o->batch_lists = (int)number(state, "batch", arg, 1, 1000000);
        a->batch_given = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct train_args *a = state->input;
    switch (key) {
    case 'm':
        a->manifest = arg;
        return 0;
    case 'o':
        a->output = arg;
        return 0;
    case OPT_TRAIN:
    case OPT_VALI:
        a->open = key == OPT_TRAIN ? &a->train : &a->vali;
        file(state, a, arg);
        return 0;
    case ARGP_KEY_ARG:
        file(state, a, arg);
        return 0;
    case OPT_ROUTING:
        a->routing = arg;
        return 0;
    case OPT_SEED:
        a->options.seed = number(state, "seed", arg, 0, UINT64_MAX);
        return 0;
    case OPT_THREADS:
        a->threads = number(state, "threads", arg, 1, EK_POOL_THREADS_MAX);
        return 0;
    case OPT_TEACHER:
        a->taught = !ek_one_of(state, "teacher", arg, (const char *const[]){"upstream"}, 1);
        return 0;
    case OPT_JSON:
        a->json = true;
        return 0;
    case ARGP_KEY_END:
        finish(state, a);
        return 0;
    default:
        return parse_recipe(key, arg, state, a);
    }
}

static void take_hints(struct train_args *a, const struct ek_training_hints *h)
{
    struct ek_train_options *o = &a->options;
    if (!a->epochs_given && h->epochs > 0)
        o->epochs = h->epochs;
    if (!a->batch_given && h->batch_size > 0)
        o->batch_lists = h->batch_size;
    if (!a->rate_given && h->learning_rate >= 0)
        o->learning_rate = h->learning_rate;
    if (!a->decay_given && h->weight_decay >= 0)
        o->weight_decay = h->weight_decay;
    if (!a->hidden_given && h->hidden_count > 0 && h->hidden_count < EK_LAYERS_MAX) {
        o->shape.hidden_count = h->hidden_count;
        memcpy(o->shape.hidden, h->hidden, (size_t)h->hidden_count * sizeof *h->hidden);
    }
}

/* `routed` has room for K numbers. */
static int take_routing(struct train_args *a, const struct ek_manifest *m, int *routed)
{
    static const char prefix[] = "static:";
    struct ek_train_options *o = &a->options;
    if (!strcmp(a->routing, "random") || !strcmp(a->routing, "none")) {
        o->routing = a->routing[0] == 'r' ? EK_ROUTING_RANDOM : EK_ROUTING_NONE;
        return EK_OK;
    }
    if (strncmp(a->routing, prefix, strlen(prefix)) != 0)
        return ek_fail(&a->e, EK_EUSAGE,
                       "--routing is random, none or static:FEATURE,..., not '%s'", a->routing);
    o->routing = EK_ROUTING_STATIC;
    o->static_routed = routed;
    o->shape.mask_input = false;
    return ek_routable_list(m, a->routing + strlen(prefix), routed, &o->static_count, &a->e);
}

/* What the library calls back with. */
struct watch {
    struct ek_progress progress;
    struct ek_pool *pool;
};

static int show(void *context, const struct ek_train_progress *p)
{
    struct watch *w = context;
    char note[160];
    int n = snprintf(note, sizeof note, "epoch %d of %d, loss %.4f", p->epoch, p->epochs, p->loss);
    if (!isnan(p->vali_ndcg10))
        snprintf(note + n, sizeof note - (size_t)n, ", validation NDCG@10 %.4f", p->vali_ndcg10);
    ek_progress_update(&w->progress, p->step, p->steps, note);
    return 0;
}

static void run_parts(void *context, void (*task)(void *arg, int i), void *arg, int count)
{
    ek_pool_run(((struct watch *)context)->pool, task, arg, count);
}

/* `unrouted`: what `eval` will say of the same lists. */
static void print_result(const struct train_args *a, const struct ek_train_progress *p,
                         double unrouted)
{
    bool random = a->options.routing == EK_ROUTING_RANDOM;
    if (a->json)
        printf("{\"model\":\"%s\",\"epochs\":%d,\"best_epoch\":%d,\"loss\":%.9g,"
               "\"vali\":{\"ndcg@10\":%.9g},\"gain\":\"exp\",\"empty\":\"skip\"",
               a->output, p->epochs, p->best_epoch, p->loss, p->best_ndcg10);
    else
        printf("%s: best epoch %d of %d, validation NDCG@10 %.4f", a->output, p->best_epoch,
               p->epochs, p->best_ndcg10);
    if (random)
        printf(a->json ? ",\"unrouted\":{\"ndcg@10\":%.9g}"
                       : " under random routing, %.4f with nothing routed",
               unrouted);
    puts(a->json ? "}" : " (gain 2^y - 1, lists without a positive label skipped)");
}

static int unrouted_ndcg10(const struct ek_model *model, const struct ek_dataset *vali, double *out,
                           struct ek_error *e)
{
    struct ek_evaluation v = {
        .metric = {{EK_NDCG, 10}}, .metric_count = 1, .gain = EK_GAIN_EXP, .empty = EK_EMPTY_SKIP};
    int rc = ek_evaluate(model, vali, &v, e);
    if (!rc)
        *out = ek_metric_result(&v.mean[0]);
    return rc;
}

static int train_on(struct train_args *a, const struct ek_manifest *m,
                    const struct ek_dataset *train, const struct ek_dataset *vali)
{
    struct watch w = {.pool = ek_pool_new((int)a->threads)};
    struct ek_train_progress last;
    struct ek_model *model;
    char note[80];
    double unrouted = NAN;
    a->options.progress = show;
    a->options.run = run_parts;
    a->options.context = &w;
    ek_progress_start(&w.progress, "training");
    int rc = ek_train(&model, m, train, vali, &a->options, &last, &a->e);
    ek_pool_free(w.pool);
    if (rc)
        return rc;
    snprintf(note, sizeof note, "%zu lists, %zu items", train->lists, train->items);
    ek_progress_finish(&w.progress, note);
    rc = unrouted_ndcg10(model, vali, &unrouted, &a->e);
    if (!rc)
        rc = ek_model_save(model, a->output, &a->e);
    ek_model_free(model);
    if (!rc)
        print_result(a, &last, unrouted);
    return rc;
}

static int read_and_train(struct train_args *a, const struct ek_manifest *m)
{
    struct ek_dataset train, vali;
    int (*read)(const struct ek_files *, const struct ek_manifest *, struct ek_dataset *,
                struct ek_error *) = a->taught ? ek_files_read_taught : ek_files_read;
    int rc = read(&a->train, m, &train, &a->e);
    if (!rc) {
        rc = read(&a->vali, m, &vali, &a->e);
        if (!rc)
            rc = train_on(a, m, &train, &vali);
        ek_dataset_release(&vali);
    }
    ek_dataset_release(&train);
    return rc;
}

/* Hours of training must not be lost to a name that cannot be written. */
static int try_output(struct train_args *a)
{
    struct ek_writer *w;
    int rc = ek_writer_open(&w, a->output, &a->e);
    if (!rc)
        ek_writer_abandon(w);
    return rc;
}

static int with_manifest(struct train_args *a)
{
    struct ek_manifest *m;
    int rc = ek_manifest_load(&m, a->manifest, &a->e);
    if (rc)
        return ek_kind_explain(a->manifest, EK_KIND_MANIFEST, &a->e);
    int *routed = ek_calloc((size_t)m->routable_count, sizeof *routed);
    take_hints(a, &m->training);
    rc = routed ? take_routing(a, m, routed) : ek_fail(&a->e, EK_ENOMEM, "no memory");
    if (!rc)
        rc = try_output(a);
    if (!rc)
        rc = read_and_train(a, m);
    ek_free(routed);
    ek_manifest_free(m);
    return rc;
}

static uint64_t processors(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n < 1 ? 1 : n > EK_TRAIN_SHARDS ? EK_TRAIN_SHARDS : (uint64_t)n;
}

int ek_cmd_train(int argc, char **argv)
{
    static const char doc[] =
        "Trains a ranking model whose routable features can be switched to a scale-free path."
        "\vWhat the manifest says under `training:` holds where no option is given. The plain "
        "model "
        "is --routing none --log-input none.";
    static const struct argp argp = {OPTIONS, parse, "", doc, NULL, NULL, NULL};
    struct train_args a = {.routing = "random", .threads = processors()};
    ek_train_defaults(&a.options);
    argp_err_exit_status = EK_EXIT_USAGE;
    argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, &a);
    return with_manifest(&a) ? ek_cli_fail(&a.e) : EK_EXIT_OK;
}
