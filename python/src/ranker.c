#include "ranker.h"

#include "assets/model.h"
#include "assets/model_internal.h"
#include "base/alloc.h"
#include "offline/train/training.h"
#include "schema/manifest.h"
#include "score/scorer.h"
#include "serve/list_values.h"

#include <string.h>

struct ranker_data {
    struct ek_manifest *manifest;
    struct ek_dataset lists;
    struct ek_list list; /* of the current call */
};

int ranker_data_new(struct ranker_data **out, const char *manifest, struct ek_error *e)
{
    struct ranker_data *d = ek_calloc(1, sizeof *d);
    if (!d)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    ek_list_init(&d->list);
    int rc = ek_manifest_load(&d->manifest, manifest, e);
    if (rc) {
        ek_free(d);
        return rc;
    }
    ek_dataset_init(&d->lists, d->manifest->item_count, d->manifest->query_count);
    *out = d;
    return EK_OK;
}

void ranker_data_free(struct ranker_data *d)
{
    if (!d)
        return;
    ek_dataset_release(&d->lists);
    ek_list_release(&d->list);
    ek_manifest_free(d->manifest);
    ek_free(d);
}

int ranker_data_add(struct ranker_data *d, const struct ek_array_list *list, const float *label,
                    struct ek_error *e)
{
    int rc = ek_list_set_values(&d->list, d->manifest, list, e);
    if (rc)
        return rc;
    d->list.has_label = true;
    if (list->items)
        memcpy(d->list.label, label, list->items * sizeof *label);
    return ek_dataset_add(&d->lists, &d->list, e);
}

/* Set *out to the number of a word among the `count` names; unchanged without a word. */
static int find_word(const char *option, const char *word, const char *const *names, int count,
                     int *out, struct ek_error *e)
{
    for (int i = 0; word && i < count; i++)
        if (!strcmp(names[i], word)) {
            *out = i;
            return EK_OK;
        }
    return word ? ek_fail(e, EK_EUSAGE, "'%s': unknown value '%.60s'", option, word) : EK_OK;
}

static int set_words(struct ek_train_options *to, const struct ranker_options *o,
                     struct ek_error *e)
{
    const char *losses[] = {ek_loss_name(EK_LISTNET), ek_loss_name(EK_LISTMLE),
                            ek_loss_name(EK_APPROX_NDCG)};
    const char *routings[] = {ek_routing_name(EK_ROUTING_RANDOM), ek_routing_name(EK_ROUTING_NONE),
                              ek_routing_name(EK_ROUTING_STATIC)};
    const char *logs[] = {ek_log_input_name(EK_LOG_NONE), ek_log_input_name(EK_LOG_ROUTED),
                          ek_log_input_name(EK_LOG_ALWAYS)};
    int loss = to->loss, routing = to->routing, log = o->list_free ? EK_LOG_NONE : EK_LOG_ALWAYS;
    int rc = find_word("loss", o->loss, losses, 3, &loss, e);
    if (!rc)
        rc = find_word("routing", o->routing, routings, 3, &routing, e);
    if (!rc)
        rc = find_word("log_input", o->log_input, logs, 3, &log, e);
    to->loss = (enum ek_loss)loss;
    to->routing = (enum ek_routing)routing;
    to->shape.log_input = (enum ek_log_input)log;
    to->shape.mask_input = to->routing != EK_ROUTING_STATIC;
    return rc;
}

/* `hidden` has at most EK_LAYERS_MAX - 1 layers. */
static void set_numbers(struct ek_train_options *to, const struct ranker_options *o)
{
    if (o->hidden_count > 0) {
        to->shape.hidden_count = o->hidden_count;
        memcpy(to->shape.hidden, o->hidden, (size_t)o->hidden_count * sizeof *o->hidden);
    }
    if (o->epochs > 0)
        to->epochs = o->epochs;
    if (o->batch > 0)
        to->batch_lists = o->batch;
    if (o->rate >= 0)
        to->learning_rate = o->rate;
    if (o->decay >= 0)
        to->weight_decay = o->decay;
    to->static_routed = o->routed;
    to->static_count = o->routed_count;
    to->shape.list_free = o->list_free;
    to->seed = o->seed;
}

static int progress(void *context, const struct ek_train_progress *p)
{
    const struct ranker_options *o = context;
    (void)p;
    return o->progress(o->context);
}

static void warn(void *context, const char *text)
{
    const struct ranker_options *o = context;
    o->warn(o->context, text);
}

static int train_on(struct ranker_data *train, const struct ek_dataset *vali,
                    const struct ek_train_options *o, const char *output,
                    struct ranker_result *result, struct ek_error *e)
{
    struct ek_train_progress last;
    struct ek_model *model;
    int rc = ek_train(&model, train->manifest, &train->lists, vali, o, &last, e);
    if (rc)
        return rc;
    rc = ek_model_save(model, output, e);
    ek_model_free(model);
    *result = (struct ranker_result){last.epochs, last.best_epoch, last.loss, last.best_ndcg10};
    return rc;
}

int ranker_train(struct ranker_data *train, struct ranker_data *vali,
                 const struct ranker_options *o, const char *output, struct ranker_result *result,
                 struct ek_error *e)
{
    struct ek_train_options options;
    struct ek_dataset part;
    struct ranker_options context = *o;
    if (o->hidden_count >= EK_LAYERS_MAX)
        return ek_fail(e, EK_EUSAGE, "'hidden' has more than %d layers", EK_LAYERS_MAX - 1);
    ek_train_defaults(&options);
    ek_train_set_hints(&options, &train->manifest->training);
    set_numbers(&options, o);
    int rc = set_words(&options, o, e);
    options.progress = progress;
    options.warn = warn;
    options.context = &context;
    ek_dataset_init(&part, train->lists.item_features, train->lists.query_features);
    if (!rc && !vali)
        rc = ek_train_split(&train->lists, &part, NULL, e);
    if (!rc)
        rc = train_on(train, vali ? &vali->lists : &part, &options, output, result, e);
    ek_dataset_release(&part);
    return rc;
}

struct ranker {
    struct ek_manifest *manifest;
    struct ek_model *model;
    struct ek_scorer *scorer;
    struct ek_treatment *treatment; /* [K] */
    struct ek_list list;
};

static int load(struct ranker *r, const char *manifest, const char *model, struct ek_error *e)
{
    int rc = ek_manifest_load(&r->manifest, manifest, e);
    if (!rc)
        rc = ek_model_load(&r->model, model, e);
    if (!rc)
        rc = ek_model_require_network(r->model, model, "this class needs", e);
    if (!rc && (rc = ek_model_check(r->model, r->manifest, e)))
        ek_error_place(e, model, 0, 0);
    if (!rc)
        rc = ek_scorer_new(&r->scorer, r->model, e);
    if (rc)
        return rc;
    r->treatment = ek_calloc((size_t)r->model->routable_count + 1, sizeof *r->treatment);
    return r->treatment ? EK_OK : ek_fail(e, EK_ENOMEM, "out of memory");
}

int ranker_new(struct ranker **out, const char *manifest, const char *model, struct ek_error *e)
{
    struct ranker *r = ek_calloc(1, sizeof *r);
    if (!r)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    ek_list_init(&r->list);
    int rc = load(r, manifest, model, e);
    if (rc)
        ranker_free(r);
    else
        *out = r;
    return rc;
}

void ranker_free(struct ranker *r)
{
    if (!r)
        return;
    ek_list_release(&r->list);
    ek_free(r->treatment);
    ek_scorer_free(r->scorer);
    ek_model_free(r->model);
    ek_manifest_free(r->manifest);
    ek_free(r);
}

int ranker_score(struct ranker *r, const struct ek_array_list *list, const int *routed,
                 int routed_count, double *scores, struct ek_error *e)
{
    int rc = ek_list_set_values(&r->list, r->manifest, list, e);
    if (rc)
        return rc;
    const bool *always = routed_count < 0 ? r->model->trained.routed : NULL;
    for (int k = 0; k < r->model->routable_count; k++)
        r->treatment[k] =
            (struct ek_treatment){always && always[k] ? EK_ACT_ROUTE : EK_ACT_NONE, 1};
    for (int i = 0; i < routed_count; i++)
        r->treatment[routed[i]].action = EK_ACT_ROUTE;
    return ek_scorer_score_finite(r->scorer, &r->list, r->treatment, scores, e);
}
