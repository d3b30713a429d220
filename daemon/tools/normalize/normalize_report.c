/* evenkeel normalize --report: small multiples, a feature a cell, its values before and after. */
#include "daemon/tools/normalize/normalize.h"
#include "daemon/tools/select/svg.h"

#include <math.h>
#include <string.h>

enum {
    COLUMNS = 2,
    MARGIN = 24,
    HEAD = 64,
    CELL_WIDTH = 470,
    CELL_HEIGHT = 150,
    PLOT_WIDTH = 215,
    PLOT_HEIGHT = 66,
    PLOT_TOP = 44, /* in its cell */
    BETWEEN = 20,
    TEXT_BYTES = 240,
    LINE_BYTES = 78 /* of a reason */
};

static double most_of(const struct ek_histogram *h)
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
    ek_svg_words(s, "small", x, y, EK_ANCHOR_START, text);
    snprintf(text, sizeof text, "%.4g", h->high);
    if (both && h->high > h->low)
        ek_svg_words(s, "small", x + width, y, EK_ANCHOR_END, text);
}

/* Bars by the square root of their counts, so that a tail of single values is seen. */
static void draw(struct ek_svg *s, const struct ek_histogram *h, const char *class, double x,
                 double y, double width)
{
    double most = most_of(h), step = width / EK_NORMALIZE_BINS;
    ek_svg_line(s, "axis", x, y + PLOT_HEIGHT, x + width, y + PLOT_HEIGHT);
    if (!(most > 0)) {
        ek_svg_words(s, "small", x, y + PLOT_HEIGHT - 6, EK_ANCHOR_START, "no values");
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
            ek_svg_words(s, "small", at + width / 2, y + PLOT_HEIGHT + 24, EK_ANCHOR_MIDDLE,
                         ek_scale_name(ek_scale_part(c->scale, i)));
    }
}

/* As much of a text as a line holds, cut between characters. */
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
    ek_svg_words(s, "title", x, y + 14, EK_ANCHOR_START, text);
    ek_svg_words(s, "title", x + PLOT_WIDTH + BETWEEN, y + 14, EK_ANCHOR_START,
                 ek_scale_name(c->scale));
    snprintf(text, sizeof text - 4, "%s%s%s", named ? ek_fdm_name(c->fdm.category) : "",
             named ? ": " : "", c->why);
    shorten(text, LINE_BYTES);
    ek_svg_words(s, "small", x, y + 30, EK_ANCHOR_START, text);
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
    ek_svg_words(&s, "title", MARGIN, MARGIN + 4, EK_ANCHOR_START, text);
    ek_svg_words(&s, "label", MARGIN, MARGIN + 22, EK_ANCHOR_START,
                 "Left the values as they are, right what they become; heights are square roots of "
                 "counts.");
    for (int f = 0; f < features; f++) {
        int row = f / COLUMNS, column = f % COLUMNS;
        draw_cell(&s, &c->of[f], c->method == EK_METHOD_FDM && c->of[f].fdm.category,
                  MARGIN + column * CELL_WIDTH, HEAD + row * CELL_HEIGHT);
    }
    return ek_svg_end(&s, path, e);
}
