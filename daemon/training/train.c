/* Command `train`: trains a routable model. */
#include "base/alloc.h"
#include "base/file.h"
#include "base/json.h"
#include "daemon/base/command.h"
#include "daemon/files/file_kind.h"
#include "daemon/files/routing_warning.h"
#include "daemon/training/train_args.h"
#include "offline/train/evaluate.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>

static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
    interrupted = number;
}

/* With a checkpoint file, a signal ends training after the current step. */
static void catch_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal};
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
}

/* Context of the library's callbacks. */
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
    return interrupted != 0;
}

static void warn(void *context, const char *text)
{
    (void)context;
    fprintf(stderr, "evenkeel: %s\n", text);
}

static void run_parts(void *context, void (*task)(void *arg, int i), void *arg, int count)
{
    ek_pool_run(((struct watch *)context)->pool, task, arg, count);
}

/* unrouted: NDCG@10 that `eval` prints for the same `lists` lists. */
static void print_result(const struct ek_train_args *a, const struct ek_train_progress *p,
                         double unrouted, const struct ek_model_agreement *agreement, size_t lists)
{
    bool random = a->options.routing == EK_ROUTING_RANDOM;
    if (a->json) {
        fputs("{\"model\":", stdout);
        ek_json_print_text(a->output, stdout);
        printf(",\"epochs\":%d,\"best_epoch\":%d,\"loss\":%.9g,"
               "\"vali\":{\"ndcg@10\":%.9g},\"gain\":\"%s\",\"empty\":\"skip\"",
               p->epochs, p->best_epoch, p->loss, p->best_ndcg10,
               a->has_teacher ? "teacher" : "exp");
    } else
        printf("%s: best epoch %d of %d, validation NDCG@10 %.4f", a->output, p->best_epoch,
               p->epochs, p->best_ndcg10);
    if (random)
        printf(a->json ? ",\"unrouted\":{\"ndcg@10\":%.9g}"
                       : " under random routing, %.4f without routes",
               unrouted);
    if (!a->json)
        puts(a->has_teacher ? " (the gain of an item is its teacher's exp(score))"
                            : " (gain 2^y - 1, lists without a positive label skipped)");
    if (a->json && a->has_teacher) {
        fputs(",\"agreement\":", stdout);
        ek_routing_agreement_print_json(agreement, stdout);
    } else if (a->has_teacher) {
        ek_routing_agreement_print(agreement, lists, stdout);
    }
    if (a->json)
        puts("}");
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

/* A partly trained model is not written, because its file would look complete. */
static int stopped(struct ek_train_args *a, struct ek_model *model,
                   const struct ek_train_progress *p)
{
    ek_model_free(model);
    return ek_fail(&a->e, EK_ESTATE, "stopped in epoch %d of %d; continue with --resume %s",
                   p->epoch, p->epochs, a->options.checkpoint);
}

/* upstream: scores of the validation lists, used with a teacher. */
static int train_on(struct ek_train_args *a, const struct ek_manifest *m,
                    const struct ek_dataset *train, const struct ek_dataset *vali,
                    const struct ek_upstream_scores *upstream)
{
    struct watch w = {.pool = ek_pool_new((int)a->threads)};
    struct ek_train_progress last;
    struct ek_model *model;
    char note[80];
    double unrouted = NAN;
    a->options.progress = show;
    a->options.run = run_parts;
    a->options.warn = warn;
    a->options.context = &w;
    if (a->options.checkpoint)
        catch_signals();
    ek_progress_start(&w.progress, "training");
    int rc = ek_train(&model, m, train, vali, &a->options, &last, &a->e);
    ek_pool_free(w.pool);
    if (rc)
        return rc;
    if (interrupted && last.step < last.steps)
        return stopped(a, model, &last);
    snprintf(note, sizeof note, "%zu lists, %zu items", train->lists, train->items);
    ek_progress_finish(&w.progress, note);
    rc = unrouted_ndcg10(model, vali, &unrouted, &a->e);
    if (!rc && a->has_teacher)
        rc = ek_model_agreement_measure(model, vali, upstream, NULL, &model->agreement, &a->e);
    if (!rc)
        rc = ek_model_save(model, a->output, &a->e);
    if (!rc)
        print_result(a, &last, unrouted, &model->agreement, vali->lists);
    ek_model_free(model);
    return rc;
}

static int read_lists(const struct ek_train_args *a, const struct ek_files *files,
                      const struct ek_manifest *m, struct ek_dataset *out,
                      struct ek_upstream_scores *upstream, struct ek_error *e)
{
    return a->has_teacher ? ek_files_read_relabeled(files, m, a->config, out, upstream, e)
                          : ek_files_read_labeled(files, m, a->config, out, e);
}

static int read_and_train(struct ek_train_args *a, const struct ek_manifest *m)
{
    struct ek_dataset train, vali;
    struct ek_upstream_scores upstream = {0};
    bool apart = a->vali.count > 0;
    int rc = read_lists(a, &a->train, m, &train, apart ? NULL : &upstream, &a->e);
    ek_dataset_init(&vali, m->item_count, m->query_count);
    if (!rc)
        rc = apart ? read_lists(a, &a->vali, m, &vali, &upstream, &a->e)
                   : ek_train_split(&train, &vali, &upstream, &a->e);
    if (!rc)
        rc = train_on(a, m, &train, &vali, &upstream);
    ek_dataset_release(&vali);
    ek_upstream_scores_release(&upstream);
    ek_dataset_release(&train);
    return rc;
}

static int with_manifest(struct ek_train_args *a)
{
    struct ek_manifest *m;
    int rc = ek_manifest_load(&m, a->manifest, &a->e);
    if (rc)
        return ek_kind_explain(a->manifest, EK_KIND_MANIFEST, &a->e);
    int *routed = ek_calloc((size_t)m->routable_count, sizeof *routed);
    rc = routed ? ek_train_args_apply_manifest(a, m, routed)
                : ek_fail(&a->e, EK_ENOMEM, "out of memory");
    if (!rc)
        rc = ek_writer_try(&a->output, 1, &a->e);
    if (!rc)
        rc = read_and_train(a, m);
    ek_free(routed);
    ek_manifest_free(m);
    return rc;
}

/* Set the manifest from the configuration, if it was not given. */
static int with_config(struct ek_train_args *a)
{
    const struct ek_asset_options options = {.manifest = &a->manifest};
    struct ek_config *owner;
    int rc = ek_asset_options_load(&owner, a->config, &options, &a->e);
    if (!rc)
        rc = with_manifest(a);
    ek_config_free(owner);
    return rc;
}

int ek_cmd_train(int argc, char **argv)
{
    struct ek_train_args a;
    ek_train_args_parse(&a, argc, argv);
    return with_config(&a) ? ek_cli_stopped(interrupted, ek_cli_fail(&a.e)) : EK_EXIT_OK;
}
