#include "daemon/tools/normalize/normalize.h"

#include "base/alloc.h"
#include "base/json.h"
#include "base/parse.h"
#include "daemon/base/command.h"
#include "daemon/base/text_table.h"
#include "daemon/training/train_args.h"
#include "offline/scale/crossval.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

/* Add `n` values to a histogram with a known range. */
static void count(struct ek_histogram *h, double x, double n)
{
    double at = h->high > h->low ? (x - h->low) / (h->high - h->low) * EK_NORMALIZE_BINS : 0;
    int bin = at < 0 ? 0 : at >= EK_NORMALIZE_BINS ? EK_NORMALIZE_BINS - 1 : (int)at;
    h->count[bin] += n;
}

/* Fill from the raw values (scaling NULL), or from one column of the scaled values. */
static void fill(struct ek_histogram *h, const struct ek_values *v,
                 const struct ek_scaling *scaling, int feature, int column)
{
    *h = (struct ek_histogram){.low = NAN, .high = NAN};
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < v->entries; i++) {
            double x = (double)v->value[i].x;
            if (scaling)
                x = ek_scaling_value(scaling, feature, column, x);
            if (pass)
                count(h, x, v->value[i].count);
            else {
                h->low = fmin(h->low, x); /* fmin ignores NaN */
                h->high = fmax(h->high, x);
            }
        }
}

/* Set the method if none is set. */
static void decide(struct ek_choice *c, enum ek_method method)
{
    if (c->feature->type == EK_TYPE_CATEGORY) {
        c->scale = EK_SCALE_NONE;
        snprintf(c->why, sizeof c->why, "a category is not scaled");
    } else if (method == EK_METHOD_FDM) {
        c->scale = c->fdm.scale;
        ek_fdm_reason(&c->fdm, c->why, sizeof c->why);
    } else if (method != EK_METHOD_OSM) {
        c->scale = ek_method_scale(method);
        snprintf(c->why, sizeof c->why, "%s for all", ek_transform_kind_name(c->scale));
    }
}

static int choose_one(struct ek_choices *c, int f, const struct ek_values *v, struct ek_error *e)
{
    struct ek_choice *one = &c->of[f];
    ek_fdm(v, &one->fdm);
    one->missing = v->missing;
    one->count = v->count;
    decide(one, c->method);
    int rc = ek_scaling_fit(c->scaling, f, one->scale, v, e);
    if (rc)
        return rc;
    fill(&one->before, v, NULL, f, 0);
    for (int i = 0; i < ek_scale_columns(one->scale); i++)
        fill(&one->after[i], v, c->scaling, f, i);
    return EK_OK;
}

static int choose_all(struct ek_choices *c, const struct ek_profile *profile,
                      const struct ek_dataset *train, struct ek_error *e)
{
    struct ek_progress progress;
    size_t width = (size_t)c->manifest->item_count;
    int rc = EK_OK;
    ek_progress_start(&progress, "choosing");
    for (size_t f = 0; f < width && !rc; f++) {
        struct ek_values v = {0};
        rc = profile ? ek_values_from_sketch(&v, profile->sketch[f], e)
                     : ek_values_from_column(&v, train->x + f, train->items, width, e);
        if (!rc)
            rc = choose_one(c, (int)f, &v, e);
        ek_values_release(&v);
        ek_progress_update(&progress, f + 1, width, c->manifest->item[f]->name);
    }
    return rc;
}

/* Set `part` to lists from .. to of `all`. Only its offsets are its own; the rest are views. */
static int part_of(const struct ek_dataset *all, size_t from, size_t to, struct ek_dataset *part)
{
    size_t first = all->offset[from];
    *part = *all;
    part->lists = to - from;
    part->items = all->offset[to] - first;
    part->x = all->x + first * (size_t)all->item_features;
    part->label = all->label + first;
    part->offset = ek_calloc(part->lists + 1, sizeof *part->offset);
    for (size_t i = 0; part->offset && i <= part->lists; i++)
        part->offset[i] = all->offset[from + i] - first;
    return part->offset ? EK_OK : EK_ENOMEM;
}

static int show(void *context, int done, int of, double map)
{
    char note[80];
    snprintf(note, sizeof note, "%d of %d trainings, MAP %.4f", done, of, map);
    ek_progress_update(context, (uint64_t)done, (uint64_t)of, note);
    return 0;
}

/* map [F + 1] as from ek_osm: each switch is compared with the previous best. */
static void note_switches(const struct ek_choices *c, const enum ek_transform_kind *scale,
                          const double *map)
{
    int features = c->manifest->item_count;
    double before = map[features];
    for (int f = 0; f < features; f++) {
        struct ek_choice *one = &c->of[f];
        one->scale = scale[f];
        snprintf(one->why, sizeof one->why, "MAP %.4f with log, %.4f without", map[f], before);
        before = fmax(before, map[f]);
    }
}

/* Set every element of mask [F]: true for category features, which no method scales, false for
 * others. */
static void normalize_categories(const struct ek_manifest *m, bool *mask)
{
    for (int f = 0; f < m->item_count; f++)
        mask[f] = m->item[f]->type == EK_TYPE_CATEGORY;
}

static int try_switches(const struct ek_choices *c, const struct ek_normalize_args *a,
                        const struct ek_dataset *train, const struct ek_dataset *vali,
                        struct ek_error *e)
{
    struct ek_progress progress;
    struct ek_osm_options o;
    size_t features = (size_t)c->manifest->item_count;
    enum ek_transform_kind *scale = ek_calloc(features, sizeof *scale);
    double *map = ek_calloc(features + 1, sizeof *map);
    bool *category = ek_calloc(features, sizeof *category);
    ek_osm_defaults(&o);
    o.empty = a->empty;
    o.progress = show;
    o.context = &progress;
    ek_progress_start(&progress, "osm");
    o.category = category;
    if (category)
        normalize_categories(c->manifest, category);
    int rc = scale && map && category ? ek_osm(train, vali, &o, scale, map, e)
                                      : ek_fail(e, EK_ENOMEM, "out of memory");
    if (!rc)
        note_switches(c, scale, map);
    ek_free(scale);
    ek_free(map);
    ek_free(category);
    return rc;
}

static int osm(const struct ek_choices *c, const struct ek_normalize_args *a,
               const struct ek_dataset *train, const struct ek_dataset *vali, struct ek_error *e)
{
    struct ek_dataset kept, held_out;
    if (vali)
        return try_switches(c, a, train, vali, e);
    size_t cut = train->lists - train->lists / 5;
    if (cut == train->lists)
        return ek_fail(e, EK_EUSAGE, "%zu lists are too few to hold out a fifth; use --vali",
                       train->lists);
    int rc = part_of(train, 0, cut, &kept), failed = part_of(train, cut, train->lists, &held_out);
    rc = rc || failed ? ek_fail(e, EK_ENOMEM, "out of memory")
                      : try_switches(c, a, &kept, &held_out, e);
    ek_free(kept.offset);
    ek_free(held_out.offset);
    return rc;
}

int ek_choices_make(struct ek_choices *c, const struct ek_normalize_args *a,
                    const struct ek_manifest *m, const struct ek_profile *profile,
                    const struct ek_dataset *train, const struct ek_dataset *vali,
                    struct ek_error *e)
{
    size_t features = (size_t)m->item_count;
    *c = (struct ek_choices){
        .manifest = m,
        .method = a->method,
        .of = ek_calloc(features, sizeof *c->of),
        .lists = profile ? profile->queries : train->lists,
        .items = profile ? profile->items : train->items,
    };
    int rc = c->of ? ek_scaling_new(&c->scaling, m->item_count, e)
                   : ek_fail(e, EK_ENOMEM, "out of memory");
    for (size_t f = 0; f < features && !rc; f++)
        c->of[f].feature = m->item[f];
    if (!rc && a->method == EK_METHOD_OSM)
        rc = osm(c, a, train, vali, e);
    if (!rc)
        rc = choose_all(c, profile, train, e);
    return rc;
}

void ek_choices_release(struct ek_choices *c)
{
    ek_free(c->of);
    ek_scaling_free(c->scaling);
}

struct ek_crossval_report {
    const struct ek_dataset *data;
    const struct ek_folds *folds;
    bool files; /* the parts are the given files */
    const struct ek_crossval_options *options;
    const struct ek_crossval_scores *of;
    int count;
    int against; /* method that the others are tested against, by NDCG@1 */
};

/* Ranking quality of each scaling with a linear ranker over five folds (offline/scale/crossval.h).
 *
 * Five files are the five parts; any other number is read as one and split into five. Called by one
 * thread; uses as many as there are CPUs.
 */

enum { CELL = 24, LINE = 400 };

static const struct {
    const char *title;
    int metric;
} SHOWN[] = {
    {"P@5", EK_CROSSVAL_P + 4},        {"NDCG@1", EK_CROSSVAL_NDCG},
    {"NDCG@3", EK_CROSSVAL_NDCG + 2},  {"NDCG@5", EK_CROSSVAL_NDCG + 4},
    {"NDCG@10", EK_CROSSVAL_NDCG + 9}, {"MAP", EK_CROSSVAL_MAP},
    {"ERR", EK_CROSSVAL_ERR},
};
enum { METRICS_SHOWN = sizeof SHOWN / sizeof *SHOWN, SHOWN_COLUMNS = METRICS_SHOWN + 2 };

static struct ek_paired_test against(const struct ek_crossval_report *r, int a, int b)
{
    struct ek_paired_test t;
    ek_paired_test(r->of[a].first, r->of[b].first, r->data->lists, &t);
    return t;
}

/* Format a p value for the table. */
static void write_p(char *cell, const struct ek_crossval_report *r, int method)
{
    double p = against(r, method, r->against).p;
    if (method == r->against || isnan(p))
        snprintf(cell, CELL, "-");
    else
        snprintf(cell, CELL, p < .0001 ? "<.0001" : "%.4f", p);
}

static int add_row(struct ek_text_table *c, const struct ek_crossval_report *r, int method)
{
    char cell[SHOWN_COLUMNS][CELL];
    const char *texts[SHOWN_COLUMNS] = {r->of[method].name};
    for (int i = 0; i < METRICS_SHOWN; i++) {
        snprintf(cell[i + 1], CELL, "%.4f", ek_metric_result(&r->of[method].mean[SHOWN[i].metric]));
        texts[i + 1] = cell[i + 1];
    }
    write_p(cell[SHOWN_COLUMNS - 1], r, method);
    texts[SHOWN_COLUMNS - 1] = cell[SHOWN_COLUMNS - 1];
    return ek_text_table_add(c, texts);
}

static int print_table(const struct ek_crossval_report *r, FILE *to, struct ek_error *e)
{
    const char *titles[SHOWN_COLUMNS] = {"method"};
    for (int i = 0; i < METRICS_SHOWN; i++)
        titles[i + 1] = SHOWN[i].title;
    titles[SHOWN_COLUMNS - 1] = "p";
    struct ek_text_table *c = ek_text_table_new(titles, SHOWN_COLUMNS);
    int rc = c ? EK_OK : EK_ENOMEM;
    for (int i = 0; i < r->count && !rc; i++)
        rc = add_row(c, r, i);
    if (!rc)
        ek_text_table_print(c, to);
    ek_text_table_free(c);
    return rc ? ek_fail(e, EK_ENOMEM, "out of memory") : EK_OK;
}

static void print_rules(const struct ek_crossval_report *r, FILE *to)
{
    static const char *const empty[] = {"are skipped", "count 0", "count 1"};
    char line[LINE];
    int parts = r->folds->parts;
    snprintf(line, sizeof line,
             "%zu lists in %d parts%s; %d folds: RankSVM trained on %d parts, C selected from %g "
             "to %g by MAP on the next, tested on the last",
             r->data->lists, parts, r->files ? ", the files" : " of equal size", parts, parts - 2,
             ek_crossval_c(0), ek_crossval_c(EK_CROSSVAL_CS - 1));
    ek_print_wrapped(line, 79, to);
    snprintf(line, sizeof line,
             "gain %s; lists without a relevant item %s; equal scores keep the order of the file; "
             "maximum label of ERR %g; p: two-sided paired t-test of NDCG@1 against %s",
             r->options->gain == EK_GAIN_EXP ? "2^y - 1" : "y", empty[r->options->empty],
             r->count ? r->of[0].max_label : 0, r->count ? r->of[r->against].name : "none");
    ek_print_wrapped(line, 79, to);
    fputc('\n', to);
}

/* Return the number of folds that chose the first or last value of the grid. */
static int at_edge(const struct ek_crossval_scores *j, int edge)
{
    int count = 0;
    for (int f = 0; f < j->parts; f++)
        count += j->fold[f].edge == edge;
    return count;
}

static int unsettled(const struct ek_crossval_scores *j)
{
    int count = 0;
    for (int f = 0; f < j->parts; f++)
        count += j->fold[f].unsettled;
    return count;
}

static void print_remark(const struct ek_crossval_report *r, const char *what, int edge, FILE *to)
{
    char line[LINE];
    int n = 0;
    for (int i = 0; i < r->count; i++) {
        int count = edge ? at_edge(&r->of[i], edge) : unsettled(&r->of[i]);
        if (count && n < LINE)
            n += snprintf(line + n, LINE - (size_t)n, "%s%s (%d)", n ? ", " : what, r->of[i].name,
                          count);
    }
    if (n)
        ek_print_wrapped(line, 79, to);
}

/* Return 0 or EK_ENOMEM. */
static int crossval_print(const struct ek_crossval_report *r, FILE *to, struct ek_error *e)
{
    print_rules(r, to);
    int rc = print_table(r, to, e);
    if (rc)
        return rc;
    print_remark(r, "the largest C was selected, so a larger one may rank better (folds): ", 1, to);
    print_remark(r, "the smallest C was selected (folds): ", -1, to);
    print_remark(r, "a C was skipped, because training did not converge (times): ", 0, to);
    return EK_OK;
}

static void add_metrics(struct ek_json_writer *s, const struct ek_metric_mean *mean)
{
    char name[CELL];
    ek_json_open(s, "metrics", '{');
    for (int i = 0; i < EK_CROSSVAL_METRICS; i++)
        ek_json_add_number(s, ek_crossval_metric_name(i, name, sizeof name),
                           ek_metric_result(&mean[i]));
    ek_json_close(s, '}');
}

static void add_fold(struct ek_json_writer *s, const struct ek_crossval_fold *f)
{
    ek_json_open(s, NULL, '{');
    ek_json_add_number(s, "c", f->c);
    ek_json_add_text(s, "edge", f->edge ? f->edge < 0 ? "least" : "largest" : NULL);
    ek_json_add_integer(s, "unsettled", f->unsettled);
    ek_json_add_number(s, "vali_map", f->vali_map);
    ek_json_add_count(s, "columns", f->columns);
    ek_json_add_count(s, "lists", f->mean[0].lists);
    ek_json_add_count(s, "counted", f->mean[EK_CROSSVAL_MAP].count);
    add_metrics(s, f->mean);
    ek_json_close(s, '}');
}

static void add_tests(struct ek_json_writer *s, const struct ek_crossval_report *r, int method)
{
    ek_json_open(s, "t_tests", '{');
    for (int i = 0; i < r->count; i++) {
        if (i == method)
            continue;
        struct ek_paired_test t = against(r, method, i);
        ek_json_open(s, r->of[i].name, '{');
        ek_json_add_number(s, "mean", t.mean);
        ek_json_add_number(s, "t", t.t);
        ek_json_add_number(s, "degrees", t.degrees);
        ek_json_add_number(s, "p", t.p);
        ek_json_close(s, '}');
    }
    ek_json_close(s, '}');
}

static void add_method(struct ek_json_writer *s, const struct ek_crossval_report *r, int method)
{
    const struct ek_crossval_scores *j = &r->of[method];
    ek_json_open(s, NULL, '{');
    ek_json_add_text(s, "method", j->name);
    add_metrics(s, j->mean);
    ek_json_add_count(s, "counted", j->mean[EK_CROSSVAL_MAP].count);
    ek_json_open(s, "folds", '[');
    for (int f = 0; f < j->parts; f++)
        add_fold(s, &j->fold[f]);
    ek_json_close(s, ']');
    add_tests(s, r, method);
    ek_json_close(s, '}');
}

/* Print {"lists":..,"methods":[{"method","columns","metrics","counted","folds","t_tests"}]}.
 * metrics: p@1 .. p@10, ndcg@1 .. ndcg@10, map, err; t_tests: differences in NDCG@1 from the other
 * methods. Return 0 or EK_ENOMEM. */
static int crossval_print_json(const struct ek_crossval_report *r, FILE *to, struct ek_error *e)
{
    static const char *const empty[] = {"skip", "0", "1"};
    struct ek_buf line;
    struct ek_json_writer s;
    ek_json_begin_line(&s, &line);
    ek_json_add_count(&s, "lists", r->data->lists);
    ek_json_add_count(&s, "items", r->data->items);
    ek_json_add_integer(&s, "parts", r->folds->parts);
    ek_json_add_flag(&s, "parts_are_files", r->files);
    ek_json_add_text(&s, "gain", r->options->gain == EK_GAIN_EXP ? "exp" : "linear");
    ek_json_add_text(&s, "empty", empty[r->options->empty]);
    ek_json_add_text(&s, "ties", "input order");
    ek_json_add_number(&s, "max_label", r->count ? r->of[0].max_label : 0);
    ek_json_open(&s, "c", '[');
    for (int i = 0; i < EK_CROSSVAL_CS; i++)
        ek_json_add_number(&s, NULL, ek_crossval_c(i));
    ek_json_close(&s, ']');
    ek_json_open(&s, "methods", '[');
    for (int i = 0; i < r->count; i++)
        add_method(&s, r, i);
    ek_json_close(&s, ']');
    return ek_json_end_line(&s, to, e);
}

/* The simplest first: the others are tested against it. */
static const enum ek_method ALL[EK_METHOD_COUNT] = {
    EK_METHOD_MINMAX, EK_METHOD_LOG,   EK_METHOD_ARCTAN, EK_METHOD_ZSCORE, EK_METHOD_CDF,
    EK_METHOD_LOG1P,  EK_METHOD_MERGE, EK_METHOD_FDM,    EK_METHOD_OSM};

struct contest {
    struct ek_crossval_method method[EK_METHOD_COUNT];
    struct ek_crossval_result of[EK_METHOD_COUNT];
    struct ek_crossval_scores out[EK_METHOD_COUNT];
    int count;
    bool *category; /* [F] */
    struct ek_crossval_options options;
    struct ek_dataset data;
    struct ek_folds folds;
    bool files;
    struct ek_progress progress;
    struct ek_pool *pool;
};

static void enter(struct contest *c, enum ek_method method)
{
    struct ek_crossval_method *m = &c->method[c->count];
    m->method = method;
    ek_osm_defaults(&m->osm);
    m->osm.empty = c->options.empty;
    m->osm.category = c->category;
    c->of[c->count++] = ek_crossval_from_method(m);
}

static int enter_named(struct contest *c, const char *name, size_t length, struct ek_error *e)
{
    const char *const *known = ek_method_names();
    char word[40];
    snprintf(word, sizeof word, "%.*s", (int)length, name);
    for (int i = 0; i < c->count; i++)
        if (!strcmp(c->of[i].name, word))
            return ek_fail(e, EK_EUSAGE, "duplicate method '%s'", word);
    for (int i = 0; i < EK_METHOD_COUNT; i++)
        if (!strcmp(known[i], word)) {
            enter(c, (enum ek_method)i);
            return EK_OK;
        }
    const char *near = ek_nearest_name(word, known, EK_METHOD_COUNT);
    if (near)
        return ek_fail(e, EK_EUSAGE, "unknown method '%s', did you mean '%s'?", word, near);
    return ek_fail(
        e, EK_EUSAGE,
        "unknown method '%s'; use minmax, log, arctan, zscore, cdf, log1p, merge, fdm or osm",
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
    c->files = letor->count == EK_FOLDS_DEFAULT;
    return c->files ? ek_folds_from_parts(&c->folds, lists, letor->count, e)
                    : ek_folds_split(&c->folds, c->data.lists, EK_FOLDS_DEFAULT, e);
}

static int show_scores(void *context, int done, int of, const char *name)
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
    struct ek_crossval_report r = {.data = &c->data,
                                   .folds = &c->folds,
                                   .files = c->files,
                                   .options = &c->options,
                                   .of = c->out,
                                   .count = c->count};
    return json ? crossval_print_json(&r, stdout, e) : crossval_print(&r, stdout, e);
}

static int run_crossval(struct contest *c, bool json, struct ek_error *e)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    c->pool = ek_pool_new(processors < 1                  ? 1
                          : processors > EK_FOLDS_DEFAULT ? EK_FOLDS_DEFAULT
                                                          : (int)processors);
    c->options.progress = show_scores;
    c->options.run = run_folds;
    c->options.context = c;
    ek_progress_start(&c->progress, "judging");
    int rc = ek_crossval(&c->data, &c->folds, c->of, c->count, &c->options, c->out, e);
    ek_progress_finish(&c->progress, NULL);
    ek_pool_free(c->pool);
    if (rc)
        return rc;
    rc = print(c, json, e);
    for (int i = 0; i < c->count; i++)
        ek_crossval_scores_release(&c->out[i]);
    return rc;
}

int ek_normalize_crossval(const struct ek_files *letor, const struct ek_manifest *m,
                          const char *methods, enum ek_empty empty, bool json, struct ek_error *e)
{
    struct contest c = {0};
    ek_crossval_defaults(&c.options);
    c.options.empty = empty;
    ek_dataset_init(&c.data, m->item_count, m->query_count);
    c.category = ek_calloc((size_t)m->item_count, sizeof *c.category);
    if (c.category)
        normalize_categories(m, c.category);
    int rc = c.category ? enter_all(&c, methods, e) : ek_fail(e, EK_ENOMEM, "out of memory");
    if (!rc)
        rc = read_lists(&c, letor, m, e);
    if (!rc)
        rc = run_crossval(&c, json, e);
    ek_dataset_release(&c.data);
    ek_free(c.category);
    return rc;
}
