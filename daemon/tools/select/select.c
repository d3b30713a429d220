#include "base/alloc.h"
#include "base/file.h"
#include "base/json.h"
#include "base/portable.h"
#include "daemon/base/command.h"
#include "daemon/base/text_table.h"
#include "daemon/files/file_kind.h"
#include "daemon/tools/select/select_args.h"
#include "daemon/tools/select/select_choose.h"
#include "daemon/tools/select/select_picture.h"
#include "daemon/tools/select/select_reduce.h"
#include "daemon/tools/select/select_watch.h"
#include "daemon/training/train_args.h"
#include "offline/train/evaluate.h"
#include "yaml/yaml.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ranking quality of each feature set: a network is trained as by `train` with the reduced
 * manifest, and measured on other lists. */
struct crossval_result {
    double ndcg3[EK_SHARES_MAX + 1], ndcg10[EK_SHARES_MAX + 1]; /* by set; last: all features */
};

/* Copy a data set with only the kept features. */
static int columns(struct ek_dataset *out, const struct ek_dataset *d, const bool *keep, int kept,
                   struct ek_error *e)
{
    struct ek_list q;
    int rc = EK_OK;
    ek_list_init(&q);
    ek_dataset_init(out, kept, d->query_features);
    for (size_t i = 0; i < d->lists && !rc; i++) {
        struct ek_list from;
        ek_dataset_view(d, i, &from);
        rc = ek_list_resize(&q, from.items, kept, from.query_features)
                 ? ek_fail(e, EK_ENOMEM, "out of memory")
                 : EK_OK;
        if (rc)
            break;
        float *x = q.x;
        for (int item = 0; item < from.items; item++)
            for (int f = 0; f < d->item_features; f++)
                if (keep[f])
                    *x++ = from.x[(size_t)item * (size_t)d->item_features + (size_t)f];
        memcpy(q.query, from.query, (size_t)from.query_features * sizeof *q.query);
        memcpy(q.label, from.label, (size_t)from.items * sizeof *q.label);
        q.has_label = true;
        rc = ek_dataset_add(out, &q, e);
    }
    ek_list_release(&q);
    return rc;
}

struct cross_validate {
    struct ek_progress progress;
    struct ek_pool *pool;
    struct ek_select_args *args;
    const struct ek_select_data *data;
    const struct ek_dataset *lists;
    /* current training; number of trainings; features of the current one */
    int number, count, features;
};

static int show(void *context, const struct ek_train_progress *p)
{
    struct cross_validate *j = context;
    char note[80];
    snprintf(note, sizeof note, "%d feature%s, epoch %d of %d", j->features,
             j->features > 1 ? "s" : "", p->epoch, p->epochs);
    ek_progress_update(&j->progress, (uint64_t)j->number * p->steps + p->step,
                       (uint64_t)j->count * p->steps, note);
    return 0;
}

static void run_parts(void *context, void (*task)(void *arg, int i), void *arg, int count)
{
    ek_pool_run(((struct cross_validate *)context)->pool, task, arg, count);
}

static int train(struct cross_validate *j, struct ek_model **model, const struct ek_manifest *m,
                 const struct ek_dataset *learn, const struct ek_dataset *vali)
{
    struct ek_train_args t = {.routing = "random"};
    ek_train_defaults(&t.options);
    int rc = ek_train_args_apply_manifest(&t, m, NULL);
    if (rc) {
        j->args->e = t.e;
        return rc;
    }
    if (j->args->epochs)
        t.options.epochs = j->args->epochs;
    t.options.seed = j->args->seed;
    t.options.progress = show;
    t.options.run = run_parts;
    t.options.context = j;
    return ek_train(model, m, learn, vali, &t.options, NULL, &j->args->e);
}

static int measure(struct cross_validate *j, const struct ek_manifest *m,
                   const struct ek_dataset set[3], double *ndcg3, double *ndcg10)
{
    struct ek_evaluation v = {.metric = {{EK_NDCG, 3}, {EK_NDCG, 10}},
                              .metric_count = 2,
                              .gain = EK_GAIN_EXP,
                              .empty = EK_EMPTY_SKIP};
    struct ek_model *model = NULL;
    int rc = train(j, &model, m, &set[0], &set[1]);
    if (!rc)
        rc = ek_evaluate(model, &set[2], &v, &j->args->e);
    if (!rc) {
        *ndcg3 = ek_metric_result(&v.mean[0]);
        *ndcg10 = ek_metric_result(&v.mean[1]);
    }
    ek_model_free(model);
    return rc;
}

/* Train and measure one set of features, given the text of its manifest. */
static int measure_set(struct cross_validate *j, const struct ek_buf *text, const bool *keep,
                       double *ndcg3, double *ndcg10)
{
    const struct ek_dataset *const whole[3] = {j->data->train, j->data->vali, j->lists};
    struct ek_dataset set[3];
    struct ek_manifest *m = NULL;
    struct ek_buf reduced;
    const char *reason;
    ek_buf_init(&reduced, 0);
    int rc = ek_manifest_reduce(j->data->m, text, keep, &reduced, &reason, &j->args->e);
    if (!rc)
        rc = ek_manifest_parse(&m, "the reduced manifest", (const char *)reduced.data,
                               reduced.length, &j->args->e);
    memset(set, 0, sizeof set);
    for (int i = 0; i < 3 && !rc; i++)
        rc = columns(&set[i], whole[i], keep, m->item_count, &j->args->e);
    if (!rc) {
        j->features = m->item_count;
        rc = measure(j, m, set, ndcg3, ndcg10);
    }
    for (int i = 0; i < 3; i++)
        ek_dataset_release(&set[i]);
    ek_manifest_free(m);
    ek_buf_release(&reduced);
    return rc;
}

/* text: of the manifest's file. lists: for the measurement. Shows progress. Returns 0, EK_EUSAGE,
 * or an error of ek_train. */
static int selection_crossval(struct crossval_result *out, const struct ek_selection *s,
                              struct ek_select_args *a, const struct ek_select_data *d,
                              const struct ek_buf *text, const struct ek_dataset *lists)
{
    struct cross_validate j = {
        .pool = d->pool, .args = a, .data = d, .lists = lists, .count = s->set_count + 1};
    bool *keep = ek_calloc((size_t)s->features, sizeof *keep);
    int rc = keep ? EK_OK : ek_fail(&a->e, EK_ENOMEM, "out of memory");
    char note[60];
    ek_progress_start(&j.progress, "training");
    for (j.number = 0; j.number < j.count && !rc; j.number++) {
        const struct ek_feature_set *set = j.number < s->set_count ? &s->set[j.number] : NULL;
        if (set && j.number && set->count == set[-1].count) { /* equal to the previous set */
            out->ndcg3[j.number] = out->ndcg3[j.number - 1];
            out->ndcg10[j.number] = out->ndcg10[j.number - 1];
            continue;
        }
        for (int i = 0; i < s->features; i++)
            keep[i] = !set || ek_feature_set_rank(set, i);
        rc = measure_set(&j, text, keep, &out->ndcg3[j.number], &out->ndcg10[j.number]);
    }
    snprintf(note, sizeof note, "%d networks", j.count);
    if (!rc)
        ek_progress_finish(&j.progress, note);
    ek_free(keep);
    return rc;
}

/* Output of `select`, as text or JSON. */

enum { CELL_BYTES = 24, CELLS = 7, WIDTH = 79 };

/* Sort selected features by their order, then the others by relevance. */
static int by_rank(const void *a, const void *b, void *context)
{
    const struct ek_selection *s = context;
    const struct ek_feature_set *last = &s->set[s->set_count - 1];
    int i = *(const int *)a, j = *(const int *)b;
    int x = ek_feature_set_rank(last, i), y = ek_feature_set_rank(last, j);
    if (x || y)
        return !x ? 1 : !y ? -1 : x - y;
    if (s->candidate[i] != s->candidate[j])
        return s->candidate[i] ? -1 : 1;
    double p = s->relevance[i].ndcg, q = s->relevance[j].ndcg;
    return p != q ? (p > q ? -1 : 1) : i - j;
}

static int *sorted(const struct ek_selection *s, struct ek_error *e)
{
    int *order = ek_calloc((size_t)s->features, sizeof *order);
    if (!order) {
        ek_fail(e, EK_ENOMEM, "out of memory");
        return NULL;
    }
    for (int i = 0; i < s->features; i++)
        order[i] = i;
    ek_sort_with(order, (size_t)s->features, sizeof *order, by_rank, (void *)(uintptr_t)s);
    return order;
}

/* sign: always print a sign, for differences. */
static void number(char *cell, int digits, bool sign, double x)
{
    if (isnan(x))
        snprintf(cell, CELL_BYTES, "-");
    else if (sign)
        snprintf(cell, CELL_BYTES, "%+.*f", digits, x);
    else
        snprintf(cell, CELL_BYTES, "%.*f", digits, x);
}

/* Set the titles of the method's columns between relevance and name. */
static int method_titles(const struct ek_selection *s, const char **title)
{
    int n = 0;
    if (s->nfs.features)
        title[n++] = "frequency";
    if (s->importance) {
        title[n++] = "lost";
        title[n++] = "sd";
        title[n++] = "routed";
        title[n++] = "silenced";
    }
    if (s->cluster)
        title[n++] = "cluster";
    return n;
}

static int method_cells(const struct ek_selection *s, int item, char (*cell)[CELL_BYTES])
{
    int n = 0;
    if (s->nfs.features)
        number(cell[n++], 1, false, s->nfs.frequency[item]);
    if (s->importance) {
        const struct ek_importance *i = &s->importance[item];
        number(cell[n++], 4, true, i->lost);
        number(cell[n++], 4, false, i->sd);
        number(cell[n++], 4, true, i->routed);
        number(cell[n++], 4, true, i->silenced);
    }
    if (s->cluster && s->cluster[item] >= 0)
        snprintf(cell[n++], CELL_BYTES, "%d", s->cluster[item] + 1);
    else if (s->cluster)
        snprintf(cell[n++], CELL_BYTES, "-");
    return n;
}

static int add_row(struct ek_text_table *table, const struct ek_selection *s,
                   const struct ek_manifest *m, int item)
{
    char cell[CELLS][CELL_BYTES], rank[CELL_BYTES] = "-", relevance[CELL_BYTES],
                                  redundancy[CELL_BYTES] = "-";
    const char *texts[EK_TEXT_TABLE_COLUMNS_MAX];
    const struct ek_feature_set *last = &s->set[s->set_count - 1];
    int n = 0, place = ek_feature_set_rank(last, item), more = method_cells(s, item, cell);
    if (place)
        snprintf(rank, sizeof rank, "%d", place);
    number(relevance, 4, false, s->relevance[item].ndcg);
    if (s->candidate[item])
        number(redundancy, 2, false, ek_selection_redundancy(s, item, last));
    texts[n++] = rank;
    texts[n++] = relevance;
    texts[n++] = s->relevance[item].constant  ? "constant"
                 : s->relevance[item].falling ? "low"
                                              : "high";
    texts[n++] = redundancy;
    for (int i = 0; i < more; i++)
        texts[n++] = cell[i];
    texts[n++] = m->item[item]->name;
    return ek_text_table_add(table, texts);
}

static int print_features(const struct ek_selection *s, const struct ek_manifest *m, FILE *to,
                          struct ek_error *e)
{
    const char *title[EK_TEXT_TABLE_COLUMNS_MAX] = {"rank", "relevance", "best", "like"};
    int n = 4 + method_titles(s, title + 4);
    title[n++] = "feature";
    int *order = sorted(s, e);
    if (!order)
        return EK_ENOMEM;
    struct ek_text_table *table = ek_text_table_new(title, n);
    int rc = table ? EK_OK : EK_ENOMEM;
    for (int i = 0; i < s->features && !rc; i++)
        rc = add_row(table, s, m, order[i]);
    if (!rc)
        ek_text_table_print(table, to);
    ek_text_table_free(table);
    ek_free(order);
    return rc ? ek_fail(e, rc, "out of memory") : EK_OK;
}

static void print_legend(const struct ek_selection *s, const struct ek_select_args *a, FILE *to)
{
    char text[400];
    fputc('\n', to);
    snprintf(text, sizeof text,
             "relevance: NDCG@%d of ranking by the feature alone, in the better direction (gain "
             "2^y - 1, lists without a positive label skipped); like: largest similarity to "
             "another selected one, 0 to 1",
             a->cutoff);
    ek_print_wrapped(text, WIDTH, to);
    if (s->importance) {
        snprintf(text, sizeof text,
                 "lost: NDCG@%d that the model loses when the feature is shuffled (%d times), of "
                 "%.4f; routed, silenced: the loss when it is routed or blanked",
                 a->cutoff, a->repeats, s->whole);
        ek_print_wrapped(text, WIDTH, to);
    }
    if (s->nfs.features) {
        snprintf(
            text, sizeof text,
            "frequency: weight of the groups of salient features with this feature; %zu of %zu "
            "groups are more frequent than by chance; the re-ranker's validation NDCG@10 is %.4f",
            s->nfs.kept, s->nfs.groups, s->nfs.vali_ndcg10);
        ek_print_wrapped(text, WIDTH, to);
    }
}

static int print_crossval(const struct ek_selection *s, const struct crossval_result *j, FILE *to,
                          struct ek_error *e)
{
    static const char *const titles[] = {"share", "features", "NDCG@3", "NDCG@10"};
    struct ek_text_table *table = ek_text_table_new(titles, 4);
    int rc = table ? EK_OK : EK_ENOMEM;
    for (int i = 0; i <= s->set_count && !rc; i++) {
        char share[CELL_BYTES] = "-", count[CELL_BYTES], at3[CELL_BYTES], at10[CELL_BYTES];
        const char *texts[] = {i < s->set_count ? share : "all", count, at3, at10};
        if (i < s->set_count && s->set[i].share > 0)
            snprintf(share, sizeof share, "%g%%", s->set[i].share);
        snprintf(count, sizeof count, "%d", i < s->set_count ? s->set[i].count : s->features);
        number(at3, 4, false, j->ndcg3[i]);
        number(at10, 4, false, j->ndcg10[i]);
        rc = ek_text_table_add(table, texts);
    }
    if (!rc) {
        fputc('\n', to);
        ek_text_table_print(table, to);
    }
    ek_text_table_free(table);
    return rc ? ek_fail(e, rc, "out of memory") : EK_OK;
}

/* Print the sets, unless each is a prefix of the largest. */
static int print_sets(const struct ek_selection *s, const struct ek_manifest *m, FILE *to,
                      struct ek_error *e)
{
    struct ek_buf line;
    int rc = EK_OK;
    ek_buf_init(&line, 0);
    if (s->set_count > 1)
        fputc('\n', to);
    for (int i = 0; i < s->set_count && s->set_count > 1 && !rc; i++) {
        const struct ek_feature_set *set = &s->set[i];
        ek_buf_clear(&line);
        rc = ek_buf_printf(&line, "%g%%:", set->share);
        for (int k = 0; k < set->count && !rc; k++)
            rc = ek_buf_printf(&line, "%s %s", k ? "," : "", m->item[set->item[k]]->name);
        const char *text = rc ? NULL : ek_buf_string(&line);
        if (text)
            ek_print_wrapped(text, WIDTH, to);
        else
            rc = EK_ENOMEM;
    }
    ek_buf_release(&line);
    return rc ? ek_fail(e, rc, "out of memory") : EK_OK;
}

/* Print the fractions with fewer features than requested. */
static void print_short(const struct ek_selection *s, FILE *to)
{
    for (int i = 0; i < s->set_count; i++) {
        const struct ek_feature_set *set = &s->set[i];
        if (set->count < set->desired)
            fprintf(to, "\n%g%% would be %d features; only %d of them vary\n", set->share,
                    set->desired, set->count);
    }
}

/* judged: NULL without training. Return 0 or EK_ENOMEM. */
static int selection_print(const struct ek_selection *s, const struct ek_select_args *a,
                           const struct ek_manifest *m, const struct crossval_result *crossval,
                           FILE *to, struct ek_error *e)
{
    int rc = print_features(s, m, to, e);
    if (rc)
        return rc;
    print_legend(s, a, to);
    rc = print_sets(s, m, to, e);
    if (!rc)
        print_short(s, to);
    return rc || !crossval ? rc : print_crossval(s, crossval, to, e);
}

static void feature_json(struct ek_json_writer *to, const struct ek_selection *s,
                         const struct ek_manifest *m, int item)
{
    const struct ek_feature_set *last = &s->set[s->set_count - 1];
    ek_json_open(to, NULL, '{');
    ek_json_add_text(to, "name", m->item[item]->name);
    ek_json_add_count(to, "index", (uint64_t)m->item[item]->index);
    int rank = ek_feature_set_rank(last, item);
    ek_json_add_number(to, "rank", rank ? rank : (double)NAN);
    ek_json_add_number(to, "relevance", s->relevance[item].ndcg);
    ek_json_add_text(to, "best", s->relevance[item].falling ? "low" : "high");
    ek_json_add_flag(to, "constant", s->relevance[item].constant);
    ek_json_add_number(to, "like", ek_selection_redundancy(s, item, last));
    if (s->nfs.features) {
        ek_json_add_number(to, "saliency", s->nfs.saliency[item]);
        ek_json_add_number(to, "frequency", s->nfs.frequency[item]);
    }
    if (s->importance) {
        ek_json_add_number(to, "lost", s->importance[item].lost);
        ek_json_add_number(to, "sd", s->importance[item].sd);
        ek_json_add_number(to, "routed", s->importance[item].routed);
        ek_json_add_number(to, "silenced", s->importance[item].silenced);
    }
    if (s->cluster)
        ek_json_add_number(to, "cluster",
                           s->cluster[item] < 0 ? (double)NAN : s->cluster[item] + 1);
    ek_json_close(to, '}');
}

static void set_json(struct ek_json_writer *to, const struct ek_selection *s,
                     const struct ek_manifest *m, const struct crossval_result *crossval, int i)
{
    const struct ek_feature_set *set = i < s->set_count ? &s->set[i] : NULL;
    ek_json_open(to, NULL, '{');
    ek_json_add_count(to, "wanted", (uint64_t)(set ? set->desired : s->features));
    ek_json_add_number(to, "share", set ? (set->share > 0 ? set->share : NAN) : 100);
    ek_json_add_count(to, "count", (uint64_t)(set ? set->count : s->features));
    ek_json_open(to, "features", '[');
    for (int k = 0; k < (set ? set->count : s->features); k++)
        ek_json_add_text(to, NULL, m->item[set ? set->item[k] : k]->name);
    ek_json_close(to, ']');
    if (crossval) {
        ek_json_add_number(to, "ndcg@3", crossval->ndcg3[i]);
        ek_json_add_number(to, "ndcg@10", crossval->ndcg10[i]);
    }
    ek_json_close(to, '}');
}

static int selection_print_json(const struct ek_selection *s, const struct ek_select_args *a,
                                const struct ek_manifest *m, const struct crossval_result *crossval,
                                FILE *out, struct ek_error *e)
{
    struct ek_buf line;
    struct ek_json_writer to;
    int *order = sorted(s, e);
    if (!order)
        return EK_ENOMEM;
    ek_json_begin_line(&to, &line);
    ek_json_add_text(&to, "method", ek_select_method_name(a->method));
    ek_json_add_count(&to, "cutoff", (uint64_t)a->cutoff);
    ek_json_add_text(&to, "gain", "exp");
    ek_json_add_text(&to, "empty", "skip");
    if (s->importance)
        ek_json_add_number(&to, "whole", s->whole);
    if (s->nfs.features) {
        ek_json_add_number(&to, "vali_ndcg@10", s->nfs.vali_ndcg10);
        ek_json_add_count(&to, "groups", s->nfs.groups);
        ek_json_add_count(&to, "kept", s->nfs.kept);
    }
    ek_json_open(&to, "features", '[');
    for (int i = 0; i < s->features; i++)
        feature_json(&to, s, m, order[i]);
    ek_json_close(&to, ']');
    ek_json_open(&to, "sets", '[');
    for (int i = 0; i < s->set_count + (crossval != NULL); i++)
        set_json(&to, s, m, crossval, i);
    ek_json_close(&to, ']');
    ek_free(order);
    return ek_json_end_line(&to, out, e);
}

/* Command `select`: selects features to train on, or to watch. */

/* Inputs; {0} may be released. */
struct loaded {
    struct ek_buf text; /* of the manifest */
    struct ek_manifest *m;
    struct ek_model *model;
    struct ek_dataset train, vali, test;
    struct ek_pool *pool;
};

static int load_model(struct loaded *l, struct ek_select_args *a)
{
    if (!a->model)
        return EK_OK;
    int rc = ek_model_load(&l->model, a->model, &a->e);
    if (rc) {
        l->model = NULL;
        return ek_kind_explain(a->model, EK_KIND_MODEL, &a->e);
    }
    rc = ek_model_require_network(l->model, a->model, "--model needs", &a->e);
    if (rc)
        return rc;
    rc = ek_model_check(l->model, l->m, &a->e);
    if (rc)
        ek_error_place(&a->e, a->model, 0, 0);
    return rc;
}

static int load(struct loaded *l, struct ek_select_args *a)
{
    int rc = ek_file_read(a->manifest, &l->text, &a->e);
    if (!rc)
        rc = ek_manifest_parse(&l->m, a->manifest, (const char *)l->text.data, l->text.length,
                               &a->e);
    if (rc) {
        l->m = NULL;
        return ek_kind_explain(a->manifest, EK_KIND_MANIFEST, &a->e);
    }
    if (a->count > l->m->item_count)
        return ek_fail(&a->e, EK_EUSAGE, "--count %d: the manifest has %d item features", a->count,
                       l->m->item_count);
    rc = load_model(l, a);
    if (!rc)
        rc = ek_files_read(a->watch ? &a->data : &a->train, l->m, &l->train, &a->e);
    if (!rc && !a->watch)
        rc = ek_files_read(&a->vali, l->m, &l->vali, &a->e);
    if (!rc && a->test.count)
        rc = ek_files_read(&a->test, l->m, &l->test, &a->e);
    if (!rc)
        l->pool = ek_pool_new((int)a->threads);
    return rc;
}

static void release(struct loaded *l)
{
    ek_pool_free(l->pool);
    ek_dataset_release(&l->train);
    ek_dataset_release(&l->vali);
    ek_dataset_release(&l->test);
    ek_model_free(l->model);
    ek_manifest_free(l->m);
    ek_buf_release(&l->text);
}

static int write_reduced(struct ek_select_args *a, const struct loaded *l,
                         const struct ek_selection *s)
{
    struct ek_buf out;
    const char *reason = NULL;
    bool *keep = ek_calloc((size_t)s->features, sizeof *keep);
    if (!keep)
        return ek_fail(&a->e, EK_ENOMEM, "out of memory");
    for (int i = 0; i < s->features; i++)
        keep[i] = ek_feature_set_rank(&s->set[0], i) > 0;
    ek_buf_init(&out, 0);
    int rc = ek_manifest_reduce(l->m, &l->text, keep, &out, &reason, &a->e);
    if (!rc)
        rc = ek_file_write_bytes(a->output, out.data, out.length, &a->e);
    if (!rc && reason)
        fprintf(stderr, "evenkeel: '%s' is rewritten without the comments of '%s': %s\n", a->output,
                a->manifest, reason);
    ek_buf_release(&out);
    ek_free(keep);
    return rc;
}

static int draw(struct ek_select_args *a, const struct loaded *l, const struct ek_selection *s)
{
    int rc = a->scatter ? ek_selection_scatter(s, a, l->m, a->scatter, &a->e) : EK_OK;
    if (!rc && a->dendrogram)
        rc = ek_selection_dendrogram(s, a, l->m, a->dendrogram, &a->e);
    return rc;
}

static int choose(struct ek_select_args *a, const struct loaded *l)
{
    struct ek_select_data d = {l->m, &l->train, &l->vali, l->model, l->pool};
    struct ek_selection s;
    struct crossval_result crossval;
    int rc = ek_selection_make(&s, a, &d);
    if (!rc && a->output)
        rc = write_reduced(a, l, &s);
    if (!rc)
        rc = draw(a, l, &s);
    if (!rc && a->cross_validate)
        rc =
            selection_crossval(&crossval, &s, a, &d, &l->text, a->test.count ? &l->test : &l->vali);
    if (!rc)
        rc = (a->json ? selection_print_json : selection_print)(
            &s, a, l->m, a->cross_validate ? &crossval : NULL, ek_select_table(a), &a->e);
    ek_selection_release(&s);
    return rc;
}

int ek_cmd_select(int argc, char **argv)
{
    struct ek_select_args a;
    struct loaded l = {0};
    ek_select_args_parse(&a, argc, argv);
    ek_buf_init(&l.text, EK_YAML_BYTES_MAX);
    const char *const output[] = {a.output, a.scatter, a.dendrogram};
    int rc = ek_writer_try(output, sizeof output / sizeof *output, &a.e);
    if (!rc)
        rc = load(&l, &a);
    if (!rc)
        rc = a.watch ? ek_select_watch(&a, l.m, l.model, &l.train, l.pool) : choose(&a, &l);
    release(&l);
    return rc ? ek_cli_fail(&a.e) : EK_EXIT_OK;
}
