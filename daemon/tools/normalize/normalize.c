/* Command `normalize`: selects a transform for each feature. */
#include "daemon/tools/normalize/normalize.h"

#include "base/file.h"
#include "base/json.h"
#include "daemon/base/arguments.h"
#include "daemon/base/command.h"
#include "daemon/base/text_table.h"
#include "daemon/files/file_kind.h"
#include "daemon/tools/normalize/normalize_crossval.h"
#include "yaml/yaml.h"

#include <limits.h>
#include <math.h>
#include <sys/stat.h>

enum { WIDE = 79, SPARK_BYTES = EK_FDM_INTERVALS * 4 + 1 };

/* Format the fractions of unique values in ten intervals as bars, relative to the largest. */
static void spark(const struct ek_fdm *f, char text[SPARK_BYTES])
{
    static const char *const BLOCKS[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static const char *const PLAIN[] = {"_", ",", "-", "=", "+", "*", "%", "#"};
    const char *const *heights = ek_terminal_utf8() ? BLOCKS : PLAIN;
    const char *none = ek_terminal_utf8() ? "·" : ".";
    int at = 0;
    for (int j = 0; j < EK_FDM_INTERVALS; j++) {
        double height = f->most > 0 ? f->share[j] / f->most * 8 : 0;
        const char *drawn =
            f->share[j] > 0 ? heights[height > 1 ? (int)ceil(height) - 1 : 0] : none;
        at += snprintf(text + at, (size_t)(SPARK_BYTES - at), "%s", drawn);
    }
}

static int add_row(struct ek_text_table *t, const struct ek_choice *c, bool by_values)
{
    char drawn[SPARK_BYTES], brief[EK_NORMALIZE_REASON_BYTES];
    spark(&c->fdm, drawn);
    if (by_values && c->scale)
        ek_fdm_brief(&c->fdm, brief, sizeof brief);
    else
        snprintf(brief, sizeof brief, "%s", c->why);
    const char *const texts[] = {c->feature->name, ek_fdm_name(c->fdm.category), drawn,
                                 ek_transform_kind_name(c->scale), brief};
    return ek_text_table_add(t, texts);
}

static int normalize_print(const struct ek_choices *c, FILE *to, struct ek_error *e)
{
    bool by_values = c->method == EK_METHOD_FDM;
    const char *const titles[] = {"feature", "FDM", "values", "scale",
                                  by_values ? "reason: unique values" : "why"};
    struct ek_text_table *t = ek_text_table_new(titles, 5);
    struct ek_row_limit room = {WIDE, INT_MAX};
    int rc = t ? EK_OK : EK_ENOMEM;
    for (int f = 0; f < c->manifest->item_count && !rc; f++)
        rc = add_row(t, &c->of[f], by_values);
    if (!rc)
        ek_text_table_fit(t, &room, to);
    ek_text_table_free(t);
    return rc ? ek_fail(e, EK_ENOMEM, "out of memory") : EK_OK;
}

static void add_feature(struct ek_json_writer *s, const struct ek_choice *c)
{
    ek_json_open(s, NULL, '{');
    ek_json_add_text(s, "name", c->feature->name);
    ek_json_add_text(s, "scale", ek_transform_kind_name(c->scale));
    ek_json_add_text(s, "why", c->why);
    ek_json_add_text(s, "category", c->fdm.category ? ek_fdm_name(c->fdm.category) : NULL);
    ek_json_add_number(s, "values", c->count);
    ek_json_add_count(s, "missing", c->missing);
    ek_json_add_number(s, "unique", round(c->fdm.unique));
    ek_json_add_number(s, "min", c->fdm.min);
    ek_json_add_number(s, "max", c->fdm.max);
    ek_json_open(s, "shares", '[');
    for (int j = 0; j < EK_FDM_INTERVALS; j++)
        ek_json_add_number(s, NULL, c->fdm.share[j]);
    ek_json_close(s, ']');
    ek_json_close(s, '}');
}

static int normalize_print_json(const struct ek_choices *c, FILE *to, struct ek_error *e)
{
    struct ek_buf line;
    struct ek_json_writer s;
    ek_json_begin_line(&s, &line);
    ek_json_add_text(&s, "method", ek_method_names()[c->method]);
    ek_json_add_flag(&s, "exact", c->of[0].fdm.exact);
    ek_json_add_count(&s, "lists", c->lists);
    ek_json_add_count(&s, "items", c->items);
    ek_json_open(&s, "features", '[');
    for (int f = 0; f < c->manifest->item_count; f++)
        add_feature(&s, &c->of[f]);
    ek_json_close(&s, ']');
    return ek_json_end_line(&s, to, e);
}

/* Return true if opening the file twice is harmless; a pipe would reach its end. */
static bool can_be_tried(const char *path)
{
    struct stat s;
    return path && !ek_is_stdout(path) && (stat(path, &s) || S_ISREG(s.st_mode));
}

/* Check the outputs before the work. */
static int try_outputs(struct ek_normalize_args *a)
{
    const char *const path[] = {a->output, a->report, a->output_data, a->output_manifest};
    for (size_t i = 0; i < sizeof path / sizeof *path; i++) {
        struct ek_writer *w;
        if (!can_be_tried(path[i]))
            continue;
        int rc = ek_writer_open(&w, path[i], &a->e);
        if (rc)
            return rc;
        ek_writer_abandon(w);
    }
    return EK_OK;
}

/* Keep the manifest's text for --output. */
static int load(struct ek_normalize_args *a, struct ek_manifest **m)
{
    int rc = ek_file_read(a->manifest, &a->text, &a->e);
    if (!rc)
        rc = ek_manifest_parse(m, ek_is_stdout(a->manifest) ? "stdin" : a->manifest,
                               (const char *)a->text.data, a->text.length, &a->e);
    return rc ? ek_kind_explain(a->manifest, EK_KIND_MANIFEST, &a->e) : EK_OK;
}

static int write_results(struct ek_normalize_args *a, const struct ek_choices *c)
{
    int rc = EK_OK;
    if (a->output)
        rc = ek_normalize_write_manifest(c, a->manifest, &a->text, a->output, &a->e);
    if (!rc && a->report)
        rc = ek_normalize_report(c, a->report, &a->e);
    if (!rc && a->output_data)
        rc = ek_normalize_apply(c, a, &a->e);
    bool stdout_used = ek_is_stdout(a->output) || ek_is_stdout(a->report) ||
                       ek_is_stdout(a->output_data) || ek_is_stdout(a->output_manifest);
    if (rc)
        return rc;
    if (a->json)
        return normalize_print_json(c, stdout, &a->e);
    return normalize_print(c, stdout_used ? stderr : stdout, &a->e);
}

static int choose(struct ek_normalize_args *a, const struct ek_manifest *m,
                  const struct ek_profile *p, const struct ek_dataset *train,
                  const struct ek_dataset *vali)
{
    struct ek_choices c;
    int rc = ek_choices_make(&c, a, m, p, train, vali, &a->e);
    if (!rc)
        rc = write_results(a, &c);
    ek_choices_release(&c);
    return rc;
}

static int from_profile(struct ek_normalize_args *a, const struct ek_manifest *m)
{
    struct ek_profile *p;
    int rc = ek_profile_load(&p, a->profile, &a->e);
    if (rc)
        return ek_kind_explain(a->profile, EK_KIND_PROFILE, &a->e);
    rc = ek_profile_check(p, m, &a->e);
    if (rc)
        ek_error_place(&a->e, a->profile, 0, 0);
    else
        rc = choose(a, m, p, NULL, NULL);
    ek_profile_free(p);
    return rc;
}

static int from_lists(struct ek_normalize_args *a, const struct ek_manifest *m)
{
    struct ek_dataset train, vali;
    int rc = ek_normalize_read(&a->letor, m, &train, &a->e);
    ek_dataset_init(&vali, m->item_count, m->query_count);
    if (!rc && a->vali.count)
        rc = ek_normalize_read(&a->vali, m, &vali, &a->e);
    if (!rc)
        rc = choose(a, m, NULL, &train, a->vali.count ? &vali : NULL);
    ek_dataset_release(&train);
    ek_dataset_release(&vali);
    return rc;
}

static int run(struct ek_normalize_args *a, const struct ek_manifest *m)
{
    if (a->cross_validate)
        return ek_normalize_crossval(&a->letor, m, a->crossval_methods, a->empty, a->json, &a->e);
    int rc =
        a->output_data && a->method == EK_METHOD_MERGE ? ek_normalize_check_merge(m, &a->e) : EK_OK;
    if (rc)
        return rc;
    return a->profile ? from_profile(a, m) : from_lists(a, m);
}

int ek_cmd_normalize(int argc, char **argv)
{
    struct ek_normalize_args a;
    ek_normalize_parse(&a, argc, argv);
    struct ek_manifest *m = NULL;
    ek_buf_init(&a.text, EK_YAML_BYTES_MAX);
    int rc = try_outputs(&a);
    if (!rc)
        rc = load(&a, &m);
    if (!rc)
        rc = run(&a, m);
    ek_manifest_free(m);
    ek_buf_release(&a.text);
    return rc ? ek_cli_fail(&a.e) : EK_EXIT_OK;
}
