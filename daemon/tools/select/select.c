/* Command `select`: selects features to train on, or to watch. */
#include "base/alloc.h"
#include "base/file.h"
#include "daemon/base/command.h"
#include "daemon/files/file_kind.h"
#include "daemon/tools/select/select_args.h"
#include "daemon/tools/select/select_choose.h"
#include "daemon/tools/select/select_crossval.h"
#include "daemon/tools/select/select_picture.h"
#include "daemon/tools/select/select_print.h"
#include "daemon/tools/select/select_reduce.h"
#include "daemon/tools/select/select_watch.h"
#include "daemon/training/train_args.h"
#include "yaml/yaml.h"

#include <stdio.h>

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

/* Check the outputs before hours of training. */
static int try_outputs(struct ek_select_args *a)
{
    const char *const paths[] = {a->output, a->scatter, a->dendrogram};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        struct ek_writer *w;
        if (!paths[i])
            continue;
        int rc = ek_writer_open(&w, paths[i], &a->e);
        if (rc)
            return rc;
        ek_writer_abandon(w);
    }
    return EK_OK;
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
    struct ek_crossval_result crossval;
    int rc = ek_selection_make(&s, a, &d);
    if (!rc && a->output)
        rc = write_reduced(a, l, &s);
    if (!rc)
        rc = draw(a, l, &s);
    if (!rc && a->cross_validate)
        rc = ek_selection_crossval(&crossval, &s, a, &d, &l->text,
                                   a->test.count ? &l->test : &l->vali);
    if (!rc)
        rc = (a->json ? ek_selection_print_json : ek_selection_print)(
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
    int rc = try_outputs(&a);
    if (!rc)
        rc = load(&l, &a);
    if (!rc)
        rc = a.watch ? ek_select_watch(&a, l.m, l.model, &l.train, l.pool) : choose(&a, &l);
    release(&l);
    return rc ? ek_cli_fail(&a.e) : EK_EXIT_OK;
}
