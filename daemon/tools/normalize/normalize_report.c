/* Picture of `normalize --report`: histograms of each feature before and after. */
#include "base/file.h"
#include "daemon/tools/normalize/normalize.h"
#include "daemon/tools/select/select_picture.h"
#include "schema/manifest_edit.h"
#include "yaml/yaml.h"

#include <ctype.h>
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

int ek_normalize_write_manifest(const struct ek_choices *c, const char *from,
                                const struct ek_buf *old, const char *to, struct ek_error *e)
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

int ek_normalize_report(const struct ek_choices *c, const char *path, struct ek_error *e)
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
