#include "daemon/tools/normalize/normalize_judge.h"

#include "daemon/base/cli.h"
#include "daemon/tools/normalize/judge_print.h"
#include "daemon/tools/normalize/normalize.h"
#include "daemon/training/pool.h"

#include "base/alloc.h"
#include "base/parse.h"
#include "offline/scale/crossval.h"

#include <string.h>
#include <unistd.h>

/* The simplest first: others are tested against it. */
static const enum ek_method ALL[EK_METHOD_COUNT] = {
    EK_METHOD_MINMAX, EK_METHOD_LOG,   EK_METHOD_ARCTAN, EK_METHOD_ZSCORE, EK_METHOD_CDF,
    EK_METHOD_LOG1P,  EK_METHOD_MERGE, EK_METHOD_FDM,    EK_METHOD_OSM};

struct contest {
    struct ek_judge_method method[EK_METHOD_COUNT];
    struct ek_judged of[EK_METHOD_COUNT];
    struct ek_judgement out[EK_METHOD_COUNT];
    int count;
    bool *category; /* [F] */
    struct ek_judge_options options;
    struct ek_dataset data;
    struct ek_folds folds;
    bool files;
    struct ek_progress progress;
    struct ek_pool *pool;
};

static void enter(struct contest *c, enum ek_method method)
{
    struct ek_judge_method *m = &c->method[c->count];
    m->method = method;
    ek_osm_defaults(&m->osm);
    m->osm.empty = c->options.empty;
    m->osm.category = c->category;
    c->of[c->count++] = ek_judge_of_method(m);
}

static int enter_named(struct contest *c, const char *name, size_t length, struct ek_error *e)
{
    const char *const *known = ek_method_names();
    char word[40];
    snprintf(word, sizeof word, "%.*s", (int)length, name);
    for (int i = 0; i < c->count; i++)
        if (!strcmp(c->of[i].name, word))
            return ek_fail(e, EK_EUSAGE, "method '%s' comes twice", word);
    for (int i = 0; i < EK_METHOD_COUNT; i++)
        if (!strcmp(known[i], word)) {
            enter(c, (enum ek_method)i);
            return EK_OK;
        }
    const char *near = ek_nearest_word(word, known, EK_METHOD_COUNT);
    if (near)
        return ek_fail(e, EK_EUSAGE, "unknown method '%s', did you mean '%s'?", word, near);
    return ek_fail(e, EK_EUSAGE,
                   "unknown method '%s'; there are minmax, log, arctan, zscore, cdf, "
                   "log1p, merge, fdm and osm",
                   word);
}

static int enter_all(struct contest *c, const char *methods, struct ek_error *e)
{
    int rc = EK_OK;
    for (int i = 0; i < EK_METHOD_COUNT && !methods; i++)
        enter(c, ALL[i]);
    while (methods && !rc) {
        size_t length = strcspn(methods, ",");
        rc = enter_named(c, methods, length, e);
        methods = methods[length] ? methods + length + 1 : NULL;
    }
    return rc;
}

static int read_lists(struct contest *c, const struct ek_files *letor, const struct ek_manifest *m,
                      struct ek_error *e)
{
    size_t lists[EK_FILES_MAX];
    int rc = ek_normalize_read_parts(letor, m, &c->data, lists, e);
    if (rc)
        return rc;
    c->files = letor->count == EK_FOLDS_USUAL;
    return c->files ? ek_folds_given(&c->folds, lists, letor->count, e)
                    : ek_folds_cut(&c->folds, c->data.lists, EK_FOLDS_USUAL, e);
}

static int show(void *context, int done, int of, const char *name)
{
    struct contest *c = context;
    ek_progress_update(&c->progress, (uint64_t)done, (uint64_t)of, name);
    return 0;
}

static void run_folds(void *context, void (*task)(void *arg, int i), void *arg, int count)
{
    ek_pool_run(((struct contest *)context)->pool, task, arg, count);
}

static int print(const struct contest *c, bool json, struct ek_error *e)
{
    struct ek_judge_report r = {.data = &c->data,
                                .folds = &c->folds,
                                .files = c->files,
                                .options = &c->options,
                                .of = c->out,
                                .count = c->count};
    return json ? ek_judge_print_json(&r, stdout, e) : ek_judge_print(&r, stdout, e);
}

static int judge(struct contest *c, bool json, struct ek_error *e)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    c->pool = ek_pool_new(processors < 1                ? 1
                          : processors > EK_FOLDS_USUAL ? EK_FOLDS_USUAL
                                                        : (int)processors);
    c->options.progress = show;
    c->options.run = run_folds;
    c->options.context = c;
    ek_progress_start(&c->progress, "judging");
    int rc = ek_judge(&c->data, &c->folds, c->of, c->count, &c->options, c->out, e);
    ek_progress_finish(&c->progress, NULL);
    ek_pool_free(c->pool);
    if (rc)
        return rc;
    rc = print(c, json, e);
    for (int i = 0; i < c->count; i++)
        ek_judgement_release(&c->out[i]);
    return rc;
}

int ek_normalize_judge(const struct ek_files *letor, const struct ek_manifest *m,
                       const char *methods, enum ek_empty empty, bool json, struct ek_error *e)
{
    struct contest c = {0};
    ek_judge_defaults(&c.options);
    c.options.empty = empty;
    ek_dataset_init(&c.data, m->item_count, m->query_count);
    c.category = ek_calloc((size_t)m->item_count, sizeof *c.category);
    if (c.category)
        ek_normalize_categories(m, c.category);
    int rc = c.category ? enter_all(&c, methods, e)
                        : ek_fail(e, EK_ENOMEM, "no memory for %d features", m->item_count);
    if (!rc)
        rc = read_lists(&c, letor, m, e);
    if (!rc)
        rc = judge(&c, json, e);
    ek_dataset_release(&c.data);
    ek_free(c.category);
    return rc;
}
