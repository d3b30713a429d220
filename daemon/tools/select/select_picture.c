#include "daemon/tools/select/select_picture.h"

#include "base/alloc.h"
#include "base/file.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { SVG_BYTES_MAX = 16 << 20 };

static const char STYLE[] =
    "<style>text{font:12px system-ui,sans-serif;fill:#1d2733}.title{font-size:14px;font-weight:600}"
    ".small{font-size:10px}.label,.small{fill:#52606d}.axis{stroke:#7b8794}.grid{stroke:#d9dfe6}"
    ".bar{fill:#7fa7cf}.mark{fill:#5b8db8;stroke:none}line.mark{stroke:#5b8db8}.main{fill:#c2571a}"
    "line.main{stroke:#c2571a;stroke-width:1.5}.faint{fill:#c3ccd6}line.faint{stroke:#c3ccd6}"
    ".warn{fill:#b42318}line.warn{stroke:#b42318}.back{fill:#fff}"
    "@media(prefers-color-scheme:dark){text{fill:#e4e9ef}.label,.small{fill:#a5b1bf}"
    ".axis{stroke:#8693a2}.grid{stroke:#36424f}.faint{fill:#4b5968}line.faint{stroke:#4b5968}"
    ".back{fill:#151b22}.warn{fill:#ff8a7a}line.warn{stroke:#ff8a7a}}</style>\n";

__attribute__((format(printf, 2, 3))) static void add(struct ek_svg *s, const char *format, ...)
{
    char line[512];
    va_list list;
    va_start(list, format);
    vsnprintf(line, sizeof line, format, list);
    va_end(list);
    int rc = ek_buf_text(&s->text, line);
    if (rc && !s->failed)
        s->failed = rc;
}

static void escaped(struct ek_svg *s, const char *text)
{
    for (const unsigned char *p = (const unsigned char *)text; *p;) {
        size_t length = ek_utf8_length(p, strlen((const char *)p));
        if (*p == '<' || *p == '>' || *p == '&' || *p == '"')
            add(s, "&#%d;", *p);
        else if (!length || *p < ' ')
            add(s, "?");
        else
            add(s, "%.*s", (int)length, (const char *)p);
        p += length ? length : 1;
    }
}

static bool all_finite(const double *x, int count)
{
    for (int i = 0; i < count; i++)
        if (!isfinite(x[i]))
            return false;
    return true;
}

void ek_svg_begin(struct ek_svg *s, double width, double height, const char *title)
{
    s->failed = EK_OK;
    ek_buf_init(&s->text, SVG_BYTES_MAX);
    add(s,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
        "viewBox=\"0 0 %.0f %.0f\" role=\"img\">\n<title>",
        width, height, width, height);
    escaped(s, title);
    add(s, "</title>\n");
    int rc = ek_buf_text(&s->text, STYLE);
    if (rc && !s->failed)
        s->failed = rc;
    ek_svg_box(s, "back", 0, 0, width, height);
}

void ek_svg_box(struct ek_svg *s, const char *class, double x, double y, double width,
                double height)
{
    if (all_finite((double[]){x, y, width, height}, 4))
        add(s, "<rect class=\"%s\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\"/>\n", class,
            x, y, width, height);
}

void ek_svg_line(struct ek_svg *s, const char *class, double x1, double y1, double x2, double y2)
{
    if (all_finite((double[]){x1, y1, x2, y2}, 4))
        add(s, "<line class=\"%s\" x1=\"%.2f\" y1=\"%.2f\" x2=\"%.2f\" y2=\"%.2f\"/>\n", class, x1,
            y1, x2, y2);
}

static void svg_point(struct ek_svg *s, const char *class, double x, double y, double radius,
                      const char *hint)
{
    if (!all_finite((double[]){x, y, radius}, 3))
        return;
    add(s, "<circle class=\"%s\" cx=\"%.2f\" cy=\"%.2f\" r=\"%.2f\"", class, x, y, radius);
    if (!hint) {
        add(s, "/>\n");
        return;
    }
    add(s, "><title>");
    escaped(s, hint);
    add(s, "</title></circle>\n");
}

void ek_svg_text(struct ek_svg *s, const char *class, double x, double y, enum ek_anchor anchor,
                 const char *text)
{
    static const char *const ANCHOR[] = {"start", "middle", "end"};
    if (!all_finite((double[]){x, y}, 2))
        return;
    add(s, "<text class=\"%s\" x=\"%.2f\" y=\"%.2f\" text-anchor=\"%s\">", class, x, y,
        ANCHOR[anchor]);
    escaped(s, text);
    add(s, "</text>\n");
}

int ek_svg_end(struct ek_svg *s, const char *path, struct ek_error *e)
{
    add(s, "</svg>\n");
    int rc = s->failed ? ek_fail(e, s->failed, "out of memory") : EK_OK;
    if (!rc)
        rc = ek_file_write_bytes(path, s->text.data, s->text.length, e);
    ek_buf_release(&s->text);
    return rc;
}

enum { LEFT = 64, TOP = 44, WIDE = 620, HIGH = 420, RIGHT = 150, BOTTOM = 52, TICKS = 5 };
enum { ROW = 18, NAMES = 190, TREE = 520, EDGE = 24, LABEL_HIGH = 12 };

static const struct ek_feature_set *last_set(const struct ek_selection *s)
{
    return &s->set[s->set_count - 1];
}

/* Return the vertical value of the scatter plot. */
static double height_of(const struct ek_selection *s, int item)
{
    return s->nfs.features ? s->nfs.saliency[item] : s->relevance[item].ndcg;
}

struct frame {
    double low, high; /* range of the vertical axis */
};

static double x_of(double redundancy)
{
    return LEFT + WIDE * redundancy;
}

static double y_of(const struct frame *f, double v)
{
    return TOP + HIGH * (1 - (v - f->low) / (f->high - f->low));
}

static struct frame frame_of(const struct ek_selection *s)
{
    struct frame f = {INFINITY, -INFINITY};
    for (int i = 0; i < s->candidates; i++) {
        f.low = fmin(f.low, height_of(s, s->leaf[i]));
        f.high = fmax(f.high, height_of(s, s->leaf[i]));
    }
    double room = 0.05 * (f.high - f.low);
    room = room > 0 ? room : 0.05;
    f.low -= room;
    f.high += room;
    return f;
}

static void draw_axes(struct ek_svg *g, const struct frame *f, const struct ek_select_args *a,
                      bool saliency)
{
    char text[80];
    for (int i = 0; i <= TICKS; i++) {
        double share = (double)i / TICKS, v = f->low + share * (f->high - f->low);
        ek_svg_line(g, "grid", LEFT, y_of(f, v), LEFT + WIDE, y_of(f, v));
        snprintf(text, sizeof text, "%.3f", v);
        ek_svg_text(g, "label", LEFT - 8, y_of(f, v) + 4, EK_ANCHOR_END, text);
        snprintf(text, sizeof text, "%.1f", share);
        ek_svg_text(g, "label", x_of(share), TOP + HIGH + 18, EK_ANCHOR_MIDDLE, text);
    }
    ek_svg_line(g, "axis", LEFT, TOP + HIGH, LEFT + WIDE, TOP + HIGH);
    ek_svg_line(g, "axis", LEFT, TOP, LEFT, TOP + HIGH);
    if (saliency)
        snprintf(text, sizeof text, "mean saliency in the re-ranker");
    else
        snprintf(text, sizeof text, "relevance: NDCG@%d of the feature alone", a->cutoff);
    ek_svg_text(g, "label", LEFT, TOP - 10, EK_ANCHOR_START, text);
    ek_svg_text(g, "label", LEFT + WIDE / 2.0, TOP + HIGH + 38, EK_ANCHOR_MIDDLE,
                "redundancy: similarity to another selected feature");
}

/* Labels of points, moved down where they would overlap. */
struct names {
    double *x, *y, *end; /* of labels drawn so far */
    int count;
};

/* Approximate width of a lower-case letter. */
static const double LETTER = 5.4;

static double free_height(const struct names *n, double x, double end, double y)
{
    for (int i = 0; i < n->count; i++)
        if (n->x[i] < end && x < n->end[i] && fabs(n->y[i] - y) < LABEL_HIGH) {
            y = n->y[i] + LABEL_HIGH;
            i = -1;
        }
    return y;
}

static void draw_points(struct ek_svg *g, const struct ek_selection *s, const struct ek_manifest *m,
                        const struct frame *f, struct names *n)
{
    const struct ek_feature_set *set = last_set(s);
    for (int i = 0; i < s->candidates; i++) {
        int item = s->leaf[i];
        bool chosen = ek_feature_set_rank(set, item) > 0;
        svg_point(g, chosen ? "main" : "mark", x_of(ek_selection_redundancy(s, item, set)),
                  y_of(f, height_of(s, item)), chosen ? 5 : 3.5, m->item[item]->name);
    }
    for (int i = 0; i < set->count; i++) {
        int item = set->item[i];
        double x = x_of(ek_selection_redundancy(s, item, set)) + 8;
        double end = x + LETTER * (double)strlen(m->item[item]->name);
        double y = free_height(n, x, end, y_of(f, height_of(s, item)) + 4);
        n->x[n->count] = x;
        n->end[n->count] = end;
        n->y[n->count++] = y;
        ek_svg_text(g, "small", x, y, EK_ANCHOR_START, m->item[item]->name);
    }
}

int ek_selection_scatter(const struct ek_selection *s, const struct ek_select_args *a,
                         const struct ek_manifest *m, const char *path, struct ek_error *e)
{
    struct ek_svg g;
    struct frame f = frame_of(s);
    size_t count = (size_t)last_set(s)->count;
    struct names n = {ek_calloc(count, sizeof *n.x), ek_calloc(count, sizeof *n.y),
                      ek_calloc(count, sizeof *n.end), 0};
    int rc = n.x && n.y && n.end ? EK_OK : ek_fail(e, EK_ENOMEM, "out of memory");
    if (!rc) {
        char title[80];
        snprintf(title, sizeof title, "%d of %d features, selected by %s", last_set(s)->count,
                 s->features, ek_select_method_name(a->method));
        ek_svg_begin(&g, LEFT + WIDE + RIGHT, TOP + HIGH + BOTTOM, title);
        ek_svg_text(&g, "title", LEFT, 18, EK_ANCHOR_START, title);
        draw_axes(&g, &f, a, s->nfs.features > 0);
        draw_points(&g, s, m, &f, &n);
        rc = ek_svg_end(&g, path, e);
    }
    ek_free(n.x);
    ek_free(n.y);
    ek_free(n.end);
    return rc;
}

/* Positions of the clusters of the tree. */
struct tree {
    double *y, *x; /* [2C - 1] */
    int *order;    /* [C] leaves from the top, then a stack */
    int leaves;
    double scale; /* pixels per distance */
};

/* Order the leaves as in the tree, so that no lines cross. */
static void arrange(const struct ek_selection *s, struct tree *t)
{
    int *stack = t->order + t->leaves, depth = 0, row = 0;
    stack[depth++] = 2 * t->leaves - 2;
    while (depth) {
        int at = stack[--depth];
        if (at < t->leaves) {
            t->y[at] = TOP + ROW * (row + 0.5);
            t->order[row++] = at;
            continue;
        }
        stack[depth++] = s->merge[at - t->leaves].b;
        stack[depth++] = s->merge[at - t->leaves].a;
    }
}

static void draw_merges(struct ek_svg *g, const struct ek_selection *s, struct tree *t, int uncut)
{
    for (int i = 0; i < t->leaves - 1; i++) {
        const struct ek_merge *m = &s->merge[i];
        const char *class = i < uncut ? "mark" : "faint";
        double x = NAMES + t->scale * m->distance;
        ek_svg_line(g, class, t->x[m->a], t->y[m->a], x, t->y[m->a]);
        ek_svg_line(g, class, t->x[m->b], t->y[m->b], x, t->y[m->b]);
        ek_svg_line(g, class, x, t->y[m->a], x, t->y[m->b]);
        t->x[t->leaves + i] = x;
        t->y[t->leaves + i] = (t->y[m->a] + t->y[m->b]) / 2;
    }
}

static void draw_names(struct ek_svg *g, const struct ek_selection *s, const struct ek_manifest *m,
                       const struct tree *t)
{
    for (int i = 0; i < t->leaves; i++) {
        int item = s->leaf[i];
        bool chosen = ek_feature_set_rank(last_set(s), item) > 0;
        if (chosen)
            svg_point(g, "main", NAMES - 6, t->y[i], 3.5, NULL);
        ek_svg_text(g, chosen ? "" : "label", NAMES - 14, t->y[i] + 4, EK_ANCHOR_END,
                    m->item[item]->name);
    }
}

/* Draw the cut that leaves so many clusters: between the last merge made and the next. */
static void draw_cut(struct ek_svg *g, const struct ek_selection *s, const struct tree *t,
                     int clusters)
{
    int done = t->leaves - clusters;
    double low = done > 0 ? s->merge[done - 1].distance : 0;
    double high = done < t->leaves - 1 ? s->merge[done].distance : low;
    double x = NAMES + t->scale * (low + high) / 2;
    char text[40];
    snprintf(text, sizeof text, "%d clusters", clusters);
    ek_svg_line(g, "main", x, TOP - 4, x, TOP + ROW * t->leaves + 4);
    ek_svg_text(g, "small", x, TOP - 8, EK_ANCHOR_MIDDLE, text);
}

static void draw_scale(struct ek_svg *g, const struct tree *t, double most, double bottom)
{
    char text[20];
    ek_svg_line(g, "axis", NAMES, bottom, NAMES + TREE, bottom);
    for (int i = 0; i <= TICKS; i++) {
        double d = most * i / TICKS;
        snprintf(text, sizeof text, "%.2f", d);
        ek_svg_text(g, "label", NAMES + t->scale * d, bottom + 16, EK_ANCHOR_MIDDLE, text);
    }
    ek_svg_text(g, "label", NAMES + TREE / 2.0, bottom + 34, EK_ANCHOR_MIDDLE,
                "distance at which clusters merge: 1 - similarity");
}

static void draw_tree(struct ek_svg *g, const struct ek_selection *s,
                      const struct ek_select_args *a, const struct ek_manifest *m, struct tree *t)
{
    double most = 0, bottom = TOP + ROW * t->leaves + 8;
    char title[80];
    for (int i = 0; i < t->leaves - 1; i++)
        most = fmax(most, s->merge[i].distance);
    most = most > 0 ? most : 1;
    t->scale = TREE / most;
    snprintf(title, sizeof title, "%d features that vary, by %s", t->leaves,
             s->nfs.features ? "saliency in the re-ranker" : "rank correlation");
    ek_svg_begin(g, NAMES + TREE + EDGE, bottom + 44, title);
    ek_svg_text(g, "title", EDGE / 2.0, 18, EK_ANCHOR_START, title);
    for (int i = 0; i < t->leaves; i++)
        t->x[i] = NAMES;
    arrange(s, t);
    int clusters = s->cluster ? s->clusters : 1;
    draw_merges(g, s, t, t->leaves - clusters);
    draw_names(g, s, m, t);
    draw_scale(g, t, most, bottom);
    (void)a;
    if (s->cluster)
        draw_cut(g, s, t, clusters);
}

int ek_selection_dendrogram(const struct ek_selection *s, const struct ek_select_args *a,
                            const struct ek_manifest *m, const char *path, struct ek_error *e)
{
    struct ek_svg g;
    size_t count = 2 * (size_t)s->candidates;
    struct tree t = {ek_calloc(count, sizeof *t.y), ek_calloc(count, sizeof *t.x),
                     ek_calloc(2 * count, sizeof *t.order), s->candidates, 0};
    int rc = t.y && t.x && t.order ? EK_OK : ek_fail(e, EK_ENOMEM, "out of memory");
    if (!rc) {
        draw_tree(&g, s, a, m, &t);
        rc = ek_svg_end(&g, path, e);
    }
    ek_free(t.y);
    ek_free(t.x);
    ek_free(t.order);
    return rc;
}
