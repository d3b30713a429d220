/* The board as Prometheus text: the recent figures of the cells with the most lists. */
#include "daemon/views/feature_board.h"

#include "base/alloc.h"
#include "daemon/views/feature_board_internal.h"
#include "daemon/base/metrics.h"
#include "guard/event.h"

#include <math.h>
#include <string.h>

static double lists(const struct ek_feature_view *v)
{
    return (double)v->lists;
}
static double items(const struct ek_feature_view *v)
{
    return (double)v->values.items;
}
static double psi(const struct ek_feature_view *v)
{
    return v->divergence.psi;
}
static double psi_expected(const struct ek_feature_view *v)
{
    return v->divergence.psi_expected;
}
static double ks(const struct ek_feature_view *v)
{
    return v->divergence.ks;
}
static double scale_ratio(const struct ek_feature_view *v)
{
    return v->scale_ratio;
}
static double missing(const struct ek_feature_view *v)
{
    return v->values.missing;
}
static double zero(const struct ek_feature_view *v)
{
    return v->values.zero;
}
static double p05(const struct ek_feature_view *v)
{
    return v->values.quantile[1];
}
static double median(const struct ek_feature_view *v)
{
    return v->values.quantile[EK_MEDIAN];
}
static double p95(const struct ek_feature_view *v)
{
    return v->values.quantile[EK_QUANTILES - 2];
}

struct figure {
    const char *name;
    const char *label; /* one more, with its value; "" without */
    double (*of)(const struct ek_feature_view *v);
};

/* Those of a family stand together. */
static const struct figure FIGURES[] = {
    {"evenkeel_feature_lists", "", lists},
    {"evenkeel_feature_items", "", items},
    {"evenkeel_feature_psi", "", psi},
    {"evenkeel_feature_psi_expected", "", psi_expected},
    {"evenkeel_feature_ks", "", ks},
    {"evenkeel_feature_scale_ratio", "", scale_ratio},
    {"evenkeel_feature_missing_ratio", "", missing},
    {"evenkeel_feature_zero_ratio", "", zero},
    {"evenkeel_feature_quantile", ",quantile=\"0.05\"", p05},
    {"evenkeel_feature_quantile", ",quantile=\"0.5\"", median},
    {"evenkeel_feature_quantile", ",quantile=\"0.95\"", p95},
};

/* What is shown: cells of the board, and the state of their features. */
struct shown {
    const struct ek_board *b;
    const struct ek_board_cell **cell; /* [count] */
    uint8_t *state;                    /* [count, features]: 1 suspected, 2 confirmed */
    int count;
};

static int add_series(const struct shown *s, int cell, int feature, const char *name,
                      const char *label, double value, struct ek_buf *out)
{
    ek_buf_printf(out, "%s{feature=\"", name);
    ek_metrics_label(s->b->manifest->item[feature]->name, out);
    ek_buf_text(out, "\",segment=\"");
    ek_metrics_segment(s->cell[cell]->dimension, s->cell[cell]->value, out);
    return ek_buf_printf(out, "\"%s} %.6g\n", label, value);
}

/* A figure that nothing came for has no sample. */
static int add_figure(const struct shown *s, const struct figure *f, struct ek_buf *out)
{
    bool first = f == FIGURES || strcmp(f->name, f[-1].name) != 0;
    if (first)
        ek_metrics_head(f->name, out);
    for (int c = 0; c < s->count; c++)
        for (int i = 0; i < s->b->features; i++) {
            double value = f->of(&s->cell[c]->views[i][EK_SPAN_RECENT]);
            if (isfinite(value))
                add_series(s, c, i, f->name, f->label, value, out);
        }
    return out->rc;
}

static int add_states(const struct shown *s, struct ek_buf *out)
{
    static const char name[] = "evenkeel_feature_state";
    ek_metrics_head(name, out);
    for (int c = 0; c < s->count; c++)
        for (int i = 0; i < s->b->features; i++)
            add_series(s, c, i, name, "", s->state[c * s->b->features + i], out);
    return out->rc;
}

static void add_state(struct shown *s, const struct ek_event_finding *f)
{
    int feature = ek_manifest_item(s->b->manifest, f->at.feature);
    for (int c = 0; c < s->count && feature >= 0; c++) {
        const struct ek_event_place at = {f->at.feature, s->cell[c]->dimension, s->cell[c]->value};
        uint8_t *state = &s->state[c * s->b->features + feature];
        uint8_t now = f->state == EK_SUSPECTED ? 1 : 2;
        if (ek_event_same_place(&at, &f->at) && now > *state)
            *state = now;
    }
}

static int read_states(void *context, const struct ek_journal_view *v)
{
    for (size_t i = 0; i < v->findings; i++)
        add_state(context, &v->finding[i].event->finding);
    return EK_OK;
}

/* By falling number of lists since the start, so that a cell which is shown tends to stay. */
static void insert(struct shown *s, const struct ek_board_cell *c, int room)
{
    uint64_t lists = c->views[0][EK_SPAN_LIFE].lists;
    int at = s->count;
    while (at > 0 && s->cell[at - 1]->views[0][EK_SPAN_LIFE].lists < lists)
        at--;
    if (at == room)
        return;
    s->count += s->count < room;
    memmove(s->cell + at + 1, s->cell + at, (size_t)(s->count - at - 1) * sizeof *s->cell);
    s->cell[at] = c;
}

static int add_all(struct shown *s, struct ek_journal *j, struct ek_buf *out)
{
    ek_journal_look(j, read_states, s);
    for (size_t i = 0; i < sizeof FIGURES / sizeof *FIGURES; i++)
        add_figure(s, &FIGURES[i], out);
    return add_states(s, out);
}

int ek_board_metrics(struct ek_board *b, struct ek_journal *j, int cells, struct ek_buf *out)
{
    int count, rc = EK_ENOMEM;
    const struct ek_board_cell *all = ek_board_open(b, &count);
    int room = cells < count ? cells : count;
    struct shown s = {.b = b};
    s.cell = ek_calloc((size_t)room, sizeof *s.cell);
    s.state = ek_calloc((size_t)room * (size_t)b->features, sizeof *s.state);
    for (int i = 0; s.cell && i < count; i++)
        if (all[i].complete)
            insert(&s, &all[i], room);
    if (s.cell && s.state)
        rc = add_all(&s, j, out);
    ek_board_close(b);
    ek_free(s.cell);
    ek_free(s.state);
    return rc;
}
