/* Histograms of `inspect --plot`: training, messages, or both side by side. */
#include "daemon/commands/inspect.h"

#include "base/parse.h"
#include "daemon/base/text_table.h"
#include "daemon/files/field_mapping.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { ROWS = 20, WIDTH = 60, WIDTH_LEAST = 6, EIGHTHS = 8, LABEL = 12, FOOT = 160 };
static const double TAIL = 0.001; /* fraction of the values in each outermost row */

/* Distribution of |values| of one side. */
struct side {
    const char *title;
    const struct ek_sketch *sketch;
    double count[ROWS], most;
};

/* Return ln|x| at a quantile of the finite non-zero values. */
static double quantile(const struct ek_sketch *s, double share)
{
    /* Keys of negative values are 16384 higher, so advance through both signs together. */
    double total = 0, so_far = 0, last = NAN;
    for (int pass = 0; pass < 2; pass++) {
        for (int key = 0; key < EK_SKETCH_NEG_ZERO; key++) {
            double ln = ek_sketch_ln((uint16_t)key);
            if (!isfinite(ln))
                continue;
            double n = (double)(ek_sketch_count(s, (uint16_t)key) +
                                ek_sketch_count(s, (uint16_t)(key + EK_SKETCH_NEG_ZERO)));
            if (!pass)
                total += n;
            else if (n > 0 && (last = ln, so_far += n) >= share * total)
                return ln;
        }
    }
    return last;
}

static void fill(struct side *s, double low, double step)
{
    for (int key = 0; key < EK_SKETCH_KEYS; key++) {
        double ln = ek_sketch_ln((uint16_t)key);
        if (!isfinite(ln))
            continue;
        int row = (int)floor((ln - low) / step);
        row = row < 0 ? 0 : row >= ROWS ? ROWS - 1 : row;
        s->count[row] += (double)ek_sketch_count(s->sketch, (uint16_t)key);
    }
    for (int i = 0; i < ROWS; i++)
        s->most = fmax(s->most, s->count[i]);
}

/* Print a bar relative to the longest one, padded to `width` columns if `pad`. */
static void bar(double share, int width, bool utf8, bool pad, FILE *to)
{
    static const char *const parts[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    int eighths = (int)lround(share * width * EIGHTHS), columns = 0;
    if (!utf8)
        eighths = (int)lround(share * width) * EIGHTHS;
    for (; columns < eighths / EIGHTHS; columns++)
        fputs(utf8 ? "█" : "#", to);
    if (eighths % EIGHTHS)
        columns += fputs(parts[eighths % EIGHTHS], to) >= 0;
    else if (share > 0 && !columns)
        columns += fputs(utf8 ? parts[1] : ".", to) >= 0;
    if (pad)
        fprintf(to, "%*s", width - columns, "");
}

static void foot(const struct side *s, int columns, FILE *to)
{
    struct ek_sketch_summary sum;
    char text[FOOT];
    ek_sketch_summarize(s->sketch, &sum);
    double of = sum.total ? 100 / (double)sum.total : 0;
    int length =
        snprintf(text, sizeof text,
                 "%-*s median %.4g, zero %.1f%%, missing %.1f%%, negative %.1f%% of %" PRIu64,
                 LABEL, s->title, sum.p50, (double)sum.zero * of, (double)sum.missing * of,
                 (double)sum.negative * of, sum.total);
    if (length < columns)
        fprintf(to, "%s\n", text);
    else
        ek_print_wrapped(text, columns - 1, to);
}

/* Return the width of a bar: the columns next to the labels, divided by the sides. */
static int width_of_bars(int columns, int sides)
{
    int all = columns - 1 - LABEL - 1 - 2 * sides, width = all / sides;
    int most = WIDTH / sides;
    return width > most ? most : width < WIDTH_LEAST ? WIDTH_LEAST : width;
}

static void draw(const char *feature, struct side *sides, int count, FILE *to)
{
    double low = INFINITY, high = -INFINITY;
    bool utf8 = ek_terminal_utf8();
    int columns, rows;
    ek_terminal_size(to, &columns, &rows);
    int width = width_of_bars(columns, count);
    for (int i = 0; i < count; i++) {
        low = fmin(low, quantile(sides[i].sketch, TAIL)); /* fmin ignores NaN */
        high = fmax(high, quantile(sides[i].sketch, 1 - TAIL));
    }
    fprintf(to, "%s: |values|, log scale\n", feature);
    double step = fmax((high - low) / ROWS, 1e-3);
    for (int i = 0; isfinite(low) && i < count; i++)
        fill(&sides[i], low, step);
    if (count > 1)
        fprintf(to, "%*s  %-*s  %s\n", LABEL, "", width, sides[0].title, sides[1].title);
    for (int row = 0; isfinite(low) && row < ROWS; row++) {
        fprintf(to, "%*.4g ", LABEL, exp(low + row * step));
        for (int i = 0; i < count; i++) {
            fputs("|", to);
            bar(sides[i].most > 0 ? sides[i].count[row] / sides[i].most : 0, width, utf8,
                i + 1 < count, to);
            fputs(i + 1 < count ? " " : "\n", to);
        }
    }
    for (int i = 0; i < count; i++)
        foot(&sides[i], columns, to);
}

static int find(const struct ek_profile *p, const char *name, struct ek_error *e)
{
    for (int f = 0; f < p->features; f++)
        if (!strcmp(p->name[f], name))
            return f;
    const char *near = ek_nearest_name(name, (const char *const *)p->name, (size_t)p->features);
    if (near)
        ek_fail(e, EK_EUSAGE, "no feature '%s' in the profile, did you mean '%s'?", name, near);
    else
        ek_fail(e, EK_EUSAGE, "no feature '%s' in the profile", name);
    return -1;
}

int ek_inspect_plot(const struct ek_profile *p, const char *feature, FILE *to, struct ek_error *e)
{
    int f = find(p, feature, e);
    if (f < 0)
        return EK_EUSAGE;
    draw(feature, &(struct side){.title = "training", .sketch = p->sketch[f]}, 1, to);
    return EK_OK;
}

/* Values of one feature in messages. */
struct plot_lists {
    int feature;
    struct ek_sketch *sketch;
};

static int add_list(void *context, struct ek_list *q, uint64_t number, struct ek_error *e)
{
    const struct plot_lists *t = context;
    (void)number;
    (void)e;
    for (int i = 0; i < q->items; i++)
        ek_sketch_add(t->sketch, q->x[(size_t)i * (size_t)q->item_features + (size_t)t->feature],
                      1);
    return EK_OK;
}

static int draw_comparison(const struct ek_profile *p, const struct ek_inspect_comparison *b,
                           const struct plot_lists *t, FILE *to, struct ek_error *e)
{
    struct side sides[2] = {{.title = "training"}, {.title = "messages", .sketch = t->sketch}};
    int f = p ? find(p, b->feature, e) : 0;
    if (f < 0)
        return EK_EUSAGE;
    if (p)
        sides[0].sketch = p->sketch[f];
    draw(b->feature, p ? sides : sides + 1, p ? 2 : 1, to);
    return EK_OK;
}

static int read_messages(const char *path, const struct ek_manifest *m,
                         const struct ek_inspect_comparison *b, struct plot_lists *t,
                         struct ek_error *e)
{
    t->feature = ek_manifest_item(m, b->feature);
    if (t->feature < 0)
        return ek_fail(e, EK_EUSAGE, "no item feature '%s' in %s", b->feature, b->manifest);
    if (ek_sketch_new(&t->sketch))
        return ek_fail(e, EK_ENOMEM, "out of memory");
    return ek_message_for_each(m, b->field_mapping, path, add_list, t, e);
}

int ek_inspect_plot_messages(const char *path, const struct ek_inspect_comparison *b, FILE *to,
                             struct ek_error *e)
{
    struct ek_manifest *m = NULL;
    struct ek_profile *p = NULL;
    struct plot_lists t = {0};
    int rc = ek_manifest_load(&m, b->manifest, e);
    if (!rc && b->profile)
        rc = ek_profile_load(&p, b->profile, e);
    if (!rc)
        rc = read_messages(path, m, b, &t, e);
    if (!rc)
        rc = draw_comparison(p, b, &t, to, e);
    ek_sketch_free(t.sketch);
    ek_profile_free(p);
    ek_manifest_free(m);
    return rc;
}
