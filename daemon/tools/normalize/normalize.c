/* Command `normalize`: selects a transform for each feature. */
#include "daemon/tools/normalize/normalize.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "daemon/base/arguments.h"
#include "daemon/base/command.h"
#include "daemon/base/text_table.h"
#include "daemon/files/file_kind.h"
#include "daemon/tools/select/select_picture.h"
#include "lists/letor.h"
#include "schema/manifest_edit.h"
#include "yaml/yaml.h"

#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <string.h>
#include <strings.h>

/* Return true if every YAML reader accepts the name as a string without quotes. */
static bool is_plain(const char *name)
{
    static const char *const OTHER[] = {"null", "true", "false", "yes", "no",
                                        "on",   "off",  "y",     "n"};
    if (!isalpha((unsigned char)*name) && *name != '_')
        return false;
    for (const char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("_-.", *c))
            return false;
    for (size_t i = 0; i < sizeof OTHER / sizeof *OTHER; i++)
        if (!strcasecmp(name, OTHER[i]))
            return false;
    return true;
}

static int add_line(struct ek_buf *to, const struct ek_choice *c, enum ek_method method)
{
    const char *name = c->feature->name;
    char why[EK_NORMALIZE_REASON_BYTES + 8];
    bool named = method == EK_METHOD_FDM && c->fdm.category && c->scale;
    snprintf(why, sizeof why, "%s%s%s", named ? ek_fdm_name(c->fdm.category) : "",
             named ? ": " : "", c->why);
    ek_buf_text(to, "    ");
    if (is_plain(name))
        ek_buf_text(to, name);
    else
        ek_buf_json(to, name, strlen(name));
    ek_buf_printf(to, ": {scale: %s, why: ", ek_transform_kind_name(c->scale));
    ek_buf_json(to, why, strlen(why));
    return ek_buf_text(to, "}\n");
}

static int make_section(const struct ek_choices *c, struct ek_buf *to)
{
    ek_buf_printf(to, "normalization:\n  method: %s\n  features:\n", ek_method_names()[c->method]);
    for (int f = 0; f < c->manifest->item_count; f++)
        add_line(to, &c->of[f], c->method);
    return to->rc;
}

/* Check that the written manifest parses as the choices. */
static int check(const struct ek_choices *c, const char *name, const struct ek_buf *text,
                 struct ek_error *e)
{
    struct ek_manifest *m;
    struct ek_error why;
    int rc = ek_manifest_parse(&m, name, (const char *)text->data, text->length, &why);
    if (rc == EK_ENOMEM)
        return ek_fail(e, rc, "out of memory");
    if (rc)
        return ek_fail_at(e, EK_ECONFIG, name, why.line, why.column,
                          "cannot insert the section into the file: %.200s", why.message);
    bool same = m->hash == c->manifest->hash;
    for (int f = 0; f < m->item_count && same; f++)
        same = m->item[f]->scale == c->of[f].scale;
    ek_manifest_free(m);
    return same ? EK_OK
                : ek_fail_at(e, EK_ECONFIG, name, 0, 0, "cannot insert the section into the file");
}

/* Write the manifest with the choices as `to`. old: text of its file `from`. Return 0, EK_ECONFIG,
 * EK_EIO or EK_ENOMEM; on error no file is replaced. */
static int write_manifest(const struct ek_choices *c, const char *from, const struct ek_buf *old,
                          const char *to, struct ek_error *e)
{
    struct ek_buf section, text;
    int rc = EK_OK;
    ek_buf_init(&section, EK_YAML_BYTES_MAX);
    ek_buf_init(&text, 2 * EK_YAML_BYTES_MAX);
    if (make_section(c, &section))
        rc = ek_fail(e, EK_ENOMEM, "out of memory");
    const char *lines = rc ? NULL : ek_buf_string(&section);
    if (!rc && !lines)
        rc = ek_fail(e, EK_ENOMEM, "out of memory");
    if (!rc)
        rc = ek_manifest_set_section(from, (const char *)old->data, old->length, "normalization",
                                     lines, &text, e);
    if (!rc)
        rc = check(c, from, &text, e);
    if (!rc)
        rc = ek_file_write_bytes(to, text.data, text.length, e);
    ek_buf_release(&section);
    ek_buf_release(&text);
    return rc;
}

enum {
    COLUMNS = 2,
    MARGIN = 24,
    HEAD = 64,
    CELL_WIDTH = 470,
    CELL_HEIGHT = 150,
    PLOT_WIDTH = 215,
    PLOT_HEIGHT = 66,
    PLOT_TOP = 44, /* within a cell */
    BETWEEN = 20,
    TEXT_BYTES = 240,
    LINE_BYTES = 78 /* of a reason */
};

static double max_count(const struct ek_histogram *h)
{
    double most = 0;
    for (int i = 0; i < EK_NORMALIZE_BINS; i++)
        most = fmax(most, h->count[i]);
    return most;
}

static void draw_ends(struct ek_svg *s, const struct ek_histogram *h, double x, double y,
                      double width, bool both)
{
    char text[32];
    snprintf(text, sizeof text, "%.4g", h->low);
    ek_svg_text(s, "small", x, y, EK_ANCHOR_START, text);
    snprintf(text, sizeof text, "%.4g", h->high);
    if (both && h->high > h->low)
        ek_svg_text(s, "small", x + width, y, EK_ANCHOR_END, text);
}

/* Bar heights are square roots of counts, so that a tail of single values is visible. */
static void draw(struct ek_svg *s, const struct ek_histogram *h, const char *class, double x,
                 double y, double width)
{
    double most = max_count(h), step = width / EK_NORMALIZE_BINS;
    ek_svg_line(s, "axis", x, y + PLOT_HEIGHT, x + width, y + PLOT_HEIGHT);
    if (!(most > 0)) {
        ek_svg_text(s, "small", x, y + PLOT_HEIGHT - 6, EK_ANCHOR_START, "no values");
        return;
    }
    for (int i = 0; i < EK_NORMALIZE_BINS; i++) {
        double height = sqrt(h->count[i] / most) * PLOT_HEIGHT;
        if (height > 0)
            ek_svg_box(s, class, x + i * step, y + PLOT_HEIGHT - height, step * .9, height);
    }
    draw_ends(s, h, x, y + PLOT_HEIGHT + 12, width, width > PLOT_WIDTH / 2.0);
}

static void draw_after(struct ek_svg *s, const struct ek_choice *c, double x, double y)
{
    int columns = ek_scale_columns(c->scale);
    double width = (double)PLOT_WIDTH / columns;
    for (int i = 0; i < columns; i++) {
        double at = x + i * width;
        draw(s, &c->after[i], "main", at, y, columns > 1 ? width - 8 : width);
        if (columns > 1)
            ek_svg_text(s, "small", at + width / 2, y + PLOT_HEIGHT + 24, EK_ANCHOR_MIDDLE,
                        ek_transform_kind_name(ek_scaling_part(c->scale, i)));
    }
}

/* Truncate a string between characters, with "..." at the end. */
static void shorten(char *text, size_t most)
{
    size_t at = ek_utf8_within(text, most);
    if (text[at])
        memcpy(text + at, "...", 4);
}

static void draw_cell(struct ek_svg *s, const struct ek_choice *c, bool named, double x, double y)
{
    char text[TEXT_BYTES];
    snprintf(text, sizeof text - 4, "%s", c->feature->name);
    shorten(text, 40);
    ek_svg_text(s, "title", x, y + 14, EK_ANCHOR_START, text);
    ek_svg_text(s, "title", x + PLOT_WIDTH + BETWEEN, y + 14, EK_ANCHOR_START,
                ek_transform_kind_name(c->scale));
    snprintf(text, sizeof text - 4, "%s%s%s", named ? ek_fdm_name(c->fdm.category) : "",
             named ? ": " : "", c->why);
    shorten(text, LINE_BYTES);
    ek_svg_text(s, "small", x, y + 30, EK_ANCHOR_START, text);
    draw(s, &c->before, "bar", x, y + PLOT_TOP, PLOT_WIDTH);
    draw_after(s, c, x + PLOT_WIDTH + BETWEEN, y + PLOT_TOP);
}

/* Draw the values of each feature before and after scaling, and write the picture as SVG to `path`.
 * Return 0, EK_EIO or EK_ENOMEM; on error no file is replaced. */
static int report_choices(const struct ek_choices *c, const char *path, struct ek_error *e)
{
    struct ek_svg s;
    char text[TEXT_BYTES];
    int features = c->manifest->item_count, rows = (features + COLUMNS - 1) / COLUMNS;
    ek_svg_begin(&s, 2 * MARGIN + COLUMNS * CELL_WIDTH, HEAD + rows * CELL_HEIGHT + MARGIN,
                 "Values of each feature before and after scaling");
    snprintf(text, sizeof text, "%.60s: %s, %llu items of %llu lists",
             c->manifest->set ? c->manifest->set : "features", ek_method_names()[c->method],
             (unsigned long long)c->items, (unsigned long long)c->lists);
    ek_svg_text(&s, "title", MARGIN, MARGIN + 4, EK_ANCHOR_START, text);
    ek_svg_text(
        &s, "label", MARGIN, MARGIN + 22, EK_ANCHOR_START,
        "Left: values before scaling; right: after scaling. Heights are square roots of counts.");
    for (int f = 0; f < features; f++) {
        int row = f / COLUMNS, column = f % COLUMNS;
        draw_cell(&s, &c->of[f], c->method == EK_METHOD_FDM && c->of[f].fdm.category,
                  MARGIN + column * CELL_WIDTH, HEAD + row * CELL_HEIGHT);
    }
    return ek_svg_end(&s, path, e);
}

/* Scaled lists of `normalize --apply`. */

enum { LISTS_BYTES_MAX = 256 << 20 }; /* one list as text */

static bool merges(const struct ek_choices *c)
{
    for (int f = 0; f < c->manifest->item_count; f++)
        if (c->of[f].scale == EK_SCALE_MERGE)
            return true;
    return false;
}

static int check_column(const struct ek_manifest *m, const struct ek_feature *f, const char *part,
                        struct ek_error *e)
{
    char name[EK_NAME_BYTES_MAX + 16];
    snprintf(name, sizeof name, "%s.%s", f->name, part);
    if (strlen(name) > EK_NAME_BYTES_MAX)
        return ek_fail(e, EK_EUSAGE,
                       "merge cannot name the columns of feature '%s': with '.%s' it is longer "
                       "than %d bytes",
                       f->name, part, EK_NAME_BYTES_MAX);
    if (ek_manifest_feature(m, name) >= 0)
        return ek_fail(e, EK_EUSAGE,
                       "merge cannot name the columns of feature '%s': feature '%s' exists",
                       f->name, name);
    return EK_OK;
}

/* Return 0, or EK_EUSAGE if a column of merge would have an invalid name. */
static int check_merge(const struct ek_manifest *m, struct ek_error *e)
{
    int rc = EK_OK;
    for (int f = 0; f < m->item_count; f++)
        for (int i = 0; i < EK_SCALING_MERGED && !rc; i++)
            if (m->item[f]->type != EK_TYPE_CATEGORY)
                rc = check_column(m, m->item[f],
                                  ek_transform_kind_name(ek_scaling_part(EK_SCALE_MERGE, i)), e);
    return rc;
}

/* part: suffix of a column of a merged feature, or NULL. */
static int append_feature(struct ek_buf *to, const struct ek_feature *f, const char *part,
                          int index)
{
    char name[EK_NAME_BYTES_MAX + 16];
    snprintf(name, sizeof name, "%s%s%s", f->name, part ? "." : "", part ? part : "");
    ek_buf_text(to, "  - {name: ");
    ek_buf_json(to, name, strlen(name));
    ek_buf_printf(to, ", index: %d, role: %s%s%s}\n", index,
                  f->role == EK_ROLE_ITEM ? "item" : "query",
                  f->type == EK_TYPE_CATEGORY ? ", type: category" : "",
                  f->missing_expected ? ", missing: expected" : "");
    return to->rc;
}

static int add_items(struct ek_buf *to, const struct ek_choices *c, bool renumber, int *index)
{
    for (int f = 0; f < c->manifest->item_count; f++) {
        const struct ek_choice *one = &c->of[f];
        int columns = ek_scale_columns(one->scale);
        for (int i = 0; i < columns; i++) {
            const char *part =
                columns > 1 ? ek_transform_kind_name(ek_scaling_part(one->scale, i)) : NULL;
            append_feature(to, one->feature, part, renumber ? ++*index : one->feature->index);
        }
    }
    return to->rc;
}

/* Scaled values have no unit, sign or route. Columns keep their numbers unless one becomes
 * several. */
static int describe(struct ek_buf *to, const struct ek_choices *c)
{
    const struct ek_manifest *m = c->manifest;
    bool renumber = merges(c);
    int index = 0, read = m->query_count - m->derived_count;
    ek_buf_text(to, "# Scaled by evenkeel normalize: the values are no longer in units.\n"
                    "version: 1\n");
    if (m->derived_count)
        ek_buf_text(to, "derived_query_features: [log_list_size]\n");
    ek_buf_text(to, "features:\n");
    add_items(to, c, renumber, &index);
    for (int i = 0; i < read; i++)
        append_feature(to, m->query[i], NULL, renumber ? ++index : m->query[i]->index);
    return to->rc;
}

struct output {
    const struct ek_choices *c;
    struct ek_manifest *manifest; /* of the output */
    struct ek_writer *writer;
    struct ek_list in, out;
    struct ek_hash_set ids; /* of all files */
    struct ek_buf text;
    float missing;
    uint64_t lists;
};

/* Reject a list with an id of an earlier file; the reader rejects one within a file. */
static int check_id(struct output *o, const char *path, struct ek_error *e)
{
    struct ek_text id = o->in.id;
    bool added;
    if (ek_hash_set_add(&o->ids, ek_hash(id.text, id.length, 0), &added))
        return ek_fail(e, EK_ENOMEM, "out of memory");
    return added ? EK_OK
                 : ek_fail_at(e, EK_EUSAGE, path, 0, 0,
                              "query '%.*s' is in an earlier file, too; apply the files one by one",
                              (int)id.length, id.text);
}

static int write_list(struct output *o, struct ek_error *e)
{
    struct ek_list *q = &o->in, *s = &o->out;
    if (ek_list_resize(s, q->items, o->manifest->item_count, o->manifest->query_count))
        return ek_fail(e, EK_ENOMEM, "out of memory");
    ek_scaling_apply(o->c->scaling, q->x, (size_t)q->items, o->missing, s->x);
    for (int i = 0; i < q->query_features; i++)
        s->query[i] = q->query[i];
    for (int i = 0; i < q->items; i++) {
        s->label[i] = q->label[i];
        s->item_id[i] = q->item_id[i];
    }
    s->has_label = q->has_label;
    ek_buf_clear(&o->text);
    int rc = ek_letor_write_as(o->manifest, s, q->id, &o->text, e);
    o->lists++;
    return rc ? rc : ek_writer_write(o->writer, o->text.data, o->text.length, e);
}

static int write_file(struct output *o, const char *path, struct ek_progress *progress,
                      struct ek_error *e)
{
    struct ek_letor *letor;
    bool more = true;
    uint64_t done, total, before = o->lists;
    int rc = ek_letor_open(&letor, o->c->manifest, path, e);
    if (rc)
        return rc;
    while (!rc && !(rc = ek_letor_next(letor, &o->in, &more, e)) && more) {
        rc = check_id(o, path, e);
        if (!rc)
            rc = write_list(o, e);
        ek_letor_position(letor, &done, &total);
        ek_progress_update(progress, done, total, path);
    }
    if (!rc && o->lists == before)
        rc = ek_fail_at(e, EK_EFORMAT, path, 0, 0, "the file has no lists");
    ek_letor_close(letor);
    if (rc == EK_EFORMAT)
        ek_kind_explain(path, EK_KIND_LETOR, e);
    return rc;
}

static int write_all(struct output *o, const struct ek_normalize_args *a, struct ek_error *e)
{
    struct ek_progress progress;
    char note[80];
    int rc = ek_writer_open(&o->writer, a->output_data, e);
    if (rc)
        return rc;
    ek_progress_start(&progress, "scaling");
    for (int i = 0; i < a->apply.count && !rc; i++)
        rc = write_file(o, a->apply.path[i], &progress, e);
    if (rc) {
        ek_writer_abandon(o->writer);
        return rc;
    }
    snprintf(note, sizeof note, "%llu lists", (unsigned long long)o->lists);
    ek_progress_finish(&progress, note);
    return ek_writer_close(o->writer, e);
}

/* Write the lists of --apply as --output-data, and their manifest as --output-manifest. Return 0,
 * EK_ECONFIG, EK_EIO or EK_ENOMEM; on error no file is replaced. */
static int apply_choices(const struct ek_choices *c, const struct ek_normalize_args *a,
                         struct ek_error *e)
{
    struct output o = {.c = c, .missing = a->missing_zero ? 0 : NAN};
    struct ek_writer *manifest = NULL;
    struct ek_buf about;
    ek_buf_init(&about, EK_YAML_BYTES_MAX);
    ek_buf_init(&o.text, LISTS_BYTES_MAX);
    ek_list_init(&o.in);
    ek_list_init(&o.out);
    ek_hash_set_init(&o.ids);
    int rc = describe(&about, c) ? ek_fail(e, EK_ENOMEM, "out of memory") : EK_OK;
    if (!rc)
        rc = ek_manifest_parse(&o.manifest, "the scaled manifest", (const char *)about.data,
                               about.length, e);
    if (!rc && a->output_manifest)
        rc = ek_writer_open(&manifest, a->output_manifest, e);
    if (!rc && manifest)
        rc = ek_writer_write(manifest, about.data, about.length, e);
    if (!rc)
        rc = write_all(&o, a, e);
    if (rc)
        ek_writer_abandon(manifest);
    else if (manifest)
        rc = ek_writer_close(manifest, e);
    ek_list_release(&o.in);
    ek_list_release(&o.out);
    ek_hash_set_release(&o.ids);
    ek_manifest_free(o.manifest);
    ek_buf_release(&o.text);
    ek_buf_release(&about);
    return rc;
}

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
    if (a->output_data) /* first, because a damaged line leaves all files as they are */
        rc = apply_choices(c, a, &a->e);
    if (!rc && a->output)
        rc = write_manifest(c, a->manifest, &a->text, a->output, &a->e);
    if (!rc && a->report)
        rc = report_choices(c, a->report, &a->e);
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
    int rc = a->output_data && a->method == EK_METHOD_MERGE ? check_merge(m, &a->e) : EK_OK;
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
    const char *const output[] = {a.output, a.report, a.output_data, a.output_manifest};
    int rc = ek_writer_try(output, sizeof output / sizeof *output, &a.e);
    if (!rc)
        rc = load(&a, &m);
    if (!rc)
        rc = run(&a, m);
    ek_manifest_free(m);
    ek_buf_release(&a.text);
    return rc ? ek_cli_fail(&a.e) : EK_EXIT_OK;
}
