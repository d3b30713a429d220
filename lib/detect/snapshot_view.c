#include "detect/snapshot_view.h"

#include "base/alloc.h"
#include "detect/detector_internal.h"

#include <math.h>

void ek_snapshot_view_free(struct ek_snapshot_view *v)
{
    if (!v)
        return;
    for (int f = 0; v->feature && f < v->head.kind.features; f++)
        ek_free(v->feature[f]);
    ek_free(v->feature);
    ek_free(v->evidence);
    ek_free(v->change);
    ek_cells_free(v->cells);
    ek_free(v);
}

/* Sizes that the bytes behind them can hold, and that this program has too. */
static int check_sizes(const struct ek_detector_kind *k, const struct ek_snap *s,
                       struct ek_error *e)
{
    size_t room = (size_t)(s->end - s->at) / sizeof(uint32_t);
    if (k->bets != EK_BETS || k->bounds != EK_BOUNDS || k->history != EK_HISTORY)
        return ek_fail(e, EK_ESTATE, "snapshot is of another build of the detector");
    if ((size_t)k->features > room || (size_t)k->cells > room || k->cells > INT16_MAX ||
        k->dimensions > EK_DIMENSIONS_MAX)
        return ek_snapshot_damaged(EK_EFORMAT, "head", e);
    return EK_OK;
}

static void read_names(struct ek_snapshot_view *v, struct ek_snap *s)
{
    char *name[EK_DIMENSIONS_MAX] = {NULL};
    v->feature = ek_calloc((size_t)v->head.kind.features, sizeof *v->feature);
    v->evidence = ek_calloc((size_t)v->head.kind.features, sizeof *v->evidence);
    if (!v->feature || !v->evidence)
        s->rc = EK_ENOMEM;
    for (int f = 0; f < v->head.kind.features && !s->rc; f++)
        ek_snap_text(s, &v->feature[f]);
    for (int i = 0; i < v->head.kind.dimensions; i++)
        ek_snap_text(s, &name[i]);
    if (!s->rc)
        s->rc = ek_cells_new(&v->cells, name, v->head.kind.dimensions, v->head.kind.cells);
    for (int i = 0; i < v->head.kind.dimensions; i++)
        ek_free(name[i]);
}

static void read_cells(struct ek_snapshot_view *v, struct ek_snap *s)
{
    ek_cells_snap(v->cells, s);
}

static void read_lists(struct ek_snapshot_view *v, struct ek_snap *s)
{
    ek_snap_u64(s, &v->lists);
}

static void read_history(struct ek_snapshot_view *v, struct ek_snap *s)
{
    ek_snap_u64(s, &v->remembered);
    if (v->remembered > EK_HISTORY)
        v->remembered = EK_HISTORY;
}

static double evidence_ln(const struct ek_evidence *one, const float *weight)
{
    double sum = 0;
    for (int i = 0; i < EK_BETS; i++)
        sum += (double)weight[i] * (double)one->r[i];
    return log(sum);
}

static void read_evidence(struct ek_snapshot_view *v, struct ek_snap *s)
{
    float weight[EK_BETS];
    ek_bet_weights_fill(weight);
    for (int cell = 0; cell < ek_cells_count(v->cells) && !s->rc; cell++)
        for (int f = 0; f < v->head.kind.features; f++) {
            struct ek_evidence one;
            ek_evidence_snap(&one, s);
            double ln = evidence_ln(&one, weight);
            if (!cell || ln > v->evidence[f].ln)
                v->evidence[f] = (struct ek_snapshot_evidence){ln, cell};
        }
}

static void read_categories(struct ek_snapshot_view *v, struct ek_snap *s)
{
    (void)v;
    (void)s;
}

static struct ek_snapshot_change change_of(const struct ek_episode *e)
{
    int scale = ek_episode_has_level(e);
    return (struct ek_snapshot_change){
        .number = e->number,
        .cause = e->cause,
        .confirmed = e->phase == EK_PHASE_CONFIRMED,
        .feature = e->feature,
        .cell = e->cell,
        .signal = e->bet < EK_BETS ? ek_bet_name(e->bet) : ek_category_bet_name(e->bet),
        .class = e->diagnosis.class,
        .factor = scale ? exp(e->diagnosis.level.shift_ln) : NAN,
        .share = scale ? e->diagnosis.level.share : NAN,
        .since_query = e->since_query,
        .since_ms = e->since_ms,
        .lists = e->lists,
    };
}

static void read_changes(struct ek_snapshot_view *v, struct ek_snap *s)
{
    const struct ek_snap_bounds bounds = {v->head.kind.features, v->head.kind.query_features,
                                          ek_cells_count(v->cells)};
    uint32_t ever[2];
    int places;
    ek_snap_raw(s, ever, sizeof ever);
    ek_snap_int(s, &places, 0, EK_EPISODES_MAX);
    v->change = ek_calloc((size_t)places, sizeof *v->change);
    if (!v->change)
        s->rc = EK_ENOMEM;
    for (int i = 0; i < places && !s->rc; i++) {
        struct ek_episode e = {0};
        ek_episode_snap(&e, s, &bounds);
        if (!s->rc && e.phase != EK_WATCHING)
            v->change[v->changes++] = change_of(&e);
    }
}

static void read_findings(struct ek_snapshot_view *v, struct ek_snap *s)
{
    uint64_t fetched;
    ek_snap_u64(s, &v->waiting);
    ek_snap_u64(s, &fetched);
    v->waiting -= fetched;
}

static const struct {
    const char *tag;
    void (*read)(struct ek_snapshot_view *v, struct ek_snap *s);
} sections[] = {{"CELL", read_cells},    {"LIST", read_lists},      {"HIST", read_history},
                {"EVID", read_evidence}, {"CATE", read_categories}, {"EPIS", read_changes},
                {"FIND", read_findings}};

static int read_all(struct ek_snapshot_view *v, struct ek_snap *s, struct ek_error *e)
{
    ek_snapshot_head_snap(&v->head, s);
    int rc = s->rc ? ek_snapshot_damaged(s->rc, "head", e) : check_sizes(&v->head.kind, s, e);
    if (rc) {
        v->head.kind.features = 0; /* there are none to free */
        return rc;
    }
    read_names(v, s);
    if (s->rc)
        return ek_snapshot_damaged(s->rc, "names", e);
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        struct ek_snap section = ek_snapshot_take(s, sections[i].tag);
        if (!section.rc)
            sections[i].read(v, &section);
        if (section.rc)
            return ek_snapshot_damaged(section.rc, sections[i].tag, e);
    }
    return EK_OK;
}

int ek_snapshot_view_new(struct ek_snapshot_view **out, const void *bytes, size_t length,
                         struct ek_error *e)
{
    struct ek_snap s;
    int rc = ek_snapshot_open(bytes, length, &s, e);
    if (rc)
        return rc;
    struct ek_snapshot_view *v = ek_calloc(1, sizeof *v);
    if (!v)
        return ek_snapshot_damaged(EK_ENOMEM, "head", e);
    rc = read_all(v, &s, e);
    if (rc)
        ek_snapshot_view_free(v);
    else
        *out = v;
    return rc;
}
