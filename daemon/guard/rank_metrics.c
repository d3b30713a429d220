#include "daemon/guard/rank_metrics.h"

#include "daemon/base/metrics.h"
#include "guard/event.h"
#include "guard/guard_trials.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static int add_number(struct ek_buf *out, const char *name, double value)
{
    return isfinite(value) ? ek_buf_printf(out, ",\"%s\":%.6g", name, value)
                           : ek_buf_printf(out, ",\"%s\":null", name);
}

/* Lists, and means of them; nothing of none. */
static int add_sums(struct ek_buf *out, const char *name, const struct ek_rank_sums *s)
{
    struct ek_rank_change mean = ek_rank_sums_mean(s);
    if (!s->lists)
        return ek_buf_printf(out, ",\"%s\":null", name);
    int rc = ek_buf_printf(out, ",\"%s\":{\"lists\":%" PRIu64, name, s->lists);
    if (!rc)
        rc = add_number(out, "tau", mean.tau);
    if (!rc)
        rc = add_number(out, "top10_overlap", mean.top10);
    if (!rc)
        rc = add_number(out, "places", mean.places);
    if (!rc)
        rc = add_number(out, "change", mean.change);
    if (!rc)
        rc = add_number(out, "change_p95", ek_rank_sums_quantile(s, .95));
    return rc ? rc : ek_buf_text(out, "}");
}

static int add_rail(struct ek_buf *out, const char *name, const struct ek_ranks_view *v, bool is)
{
    if (!is)
        return ek_buf_printf(out, ",\"%s\":null", name);
    int rc = ek_buf_printf(out, ",\"%s\":{\"rail\":\"%s\"", name, ek_rail_name(v->rail));
    if (!rc)
        rc = add_number(out, "figure", v->figure);
    if (!rc)
        rc = add_number(out, "limit", v->limit);
    return rc ? rc : ek_buf_text(out, "}");
}

static int add_counts(struct ek_buf *out, const struct ek_ranks_view *v)
{
    const struct ek_trial_sums *s = v->sums;
    int rc = ek_buf_printf(out,
                           ",\"tried\":%" PRIu64 ",\"alone\":%" PRIu64 ",\"acted\":%" PRIu64
                           ",\"not_scored\":%" PRIu64,
                           s->tried, s->alone, s->acts, s->failed + s->unscored);
    if (!rc)
        rc = add_sums(out, "moved", &s->moved);
    if (!rc)
        rc = add_sums(out, "plain", &s->plain);
    if (!rc)
        rc = add_sums(out, "forwarded", &s->acted);
    if (!rc)
        rc = ek_buf_printf(out, ",\"harm\":{\"lists\":%" PRIu64, s->measured);
    if (!rc)
        rc = add_number(out, "evidence", v->figures.worse);
    if (!rc)
        rc = ek_buf_text(out, "}");
    if (!rc)
        rc = add_number(out, "latency_p99_ms", v->figures.latency_p99_ms);
    return rc;
}

static int add_route(struct ek_buf *out, const struct ek_ranks_view *v)
{
    const struct ek_plan_entry *e = v->entry;
    int rc = ek_buf_text(out, "{\"feature\":");
    if (!rc)
        rc = ek_buf_json(out, v->feature, strlen(v->feature));
    if (!rc)
        rc = ek_buf_text(out, ",\"segment\":");
    if (!rc)
        rc = ek_segment_json(out, v->dimension, v->value);
    if (!rc)
        rc = ek_buf_printf(out, ",\"action\":\"%s\",\"mode\":\"%s\"",
                           ek_action_name(e->treatment.action), ek_mode_name(v->mode));
    if (!rc)
        rc =
            add_number(out, "percent", v->mode == EK_MODE_CANARY ? e->percent / 100. : (double)NAN);
    if (!rc)
        rc = add_counts(out, v);
    if (!rc)
        rc = add_rail(out, "withdrawn", v, v->withdrawn);
    if (!rc)
        rc = add_rail(out, "would_be_withdrawn", v, !v->withdrawn && v->rail != EK_RAIL_NONE);
    return rc ? rc : ek_buf_text(out, "}");
}

static int add_page(void *context, struct ek_guard **guard, struct ek_error *e)
{
    const struct ek_guard *g = *guard;
    struct ek_buf *out = context;
    struct ek_ranks_view v;
    int at = 0, count = 0;
    int rc =
        ek_buf_printf(out, "{\"plan_version\":%" PRIu64 ",\"late_trials\":%" PRIu64 ",\"routes\":[",
                      ek_guard_plan_version(g), ek_guard_trials_late(g));
    (void)e;
    while (!rc && ek_guard_ranks(g, &at, &v)) {
        rc = ek_buf_text(out, count++ ? "," : "");
        if (!rc)
            rc = add_route(out, &v);
    }
    return rc ? rc : ek_buf_text(out, "]}\n");
}

struct of_one {
    const char *feature;
    struct ek_buf *out;
};

static int add_of(void *context, struct ek_guard **guard, struct ek_error *e)
{
    const struct of_one *one = context;
    struct ek_ranks_view v;
    int at = 0, count = 0, rc = ek_buf_text(one->out, "[");
    (void)e;
    while (!rc && ek_guard_ranks(*guard, &at, &v)) {
        if (strcmp(v.feature, one->feature) != 0)
            continue;
        rc = ek_buf_text(one->out, count++ ? "," : "");
        rc = rc ? rc : add_route(one->out, &v);
    }
    return rc ? rc : ek_buf_text(one->out, "]");
}

int ek_ranks_of(struct ek_shared_guard *guard, const char *feature, struct ek_buf *out)
{
    struct of_one one = {feature, out};
    return ek_shared_guard_hold(guard, add_of, &one, NULL);
}

int ek_ranks_page(struct ek_shared_guard *guard, struct ek_buf *out)
{
    return ek_shared_guard_hold(guard, add_page, out, NULL);
}

struct figure {
    const char *name;
    const char *label; /* one more, with its value; "" without */
    double (*of)(const struct ek_trial_sums *s);
};

static double tried(const struct ek_trial_sums *s)
{
    return (double)s->tried;
}
static double tau(const struct ek_trial_sums *s)
{
    return ek_rank_sums_mean(&s->moved).tau;
}
static double top10(const struct ek_trial_sums *s)
{
    return ek_rank_sums_mean(&s->moved).top10;
}
static double places(const struct ek_trial_sums *s)
{
    return ek_rank_sums_mean(&s->moved).places;
}
static double median(const struct ek_trial_sums *s)
{
    return ek_rank_sums_quantile(&s->moved, .5);
}
static double p95(const struct ek_trial_sums *s)
{
    return ek_rank_sums_quantile(&s->moved, .95);
}

/* Those of a family stand together. */
static const struct figure FIGURES[] = {
    {"evenkeel_rank_lists", "", tried},
    {"evenkeel_rank_tau", "", tau},
    {"evenkeel_rank_top10_overlap", "", top10},
    {"evenkeel_rank_places", "", places},
    {"evenkeel_rank_change", ",quantile=\"0.5\"", median},
    {"evenkeel_rank_change", ",quantile=\"0.95\"", p95},
};

static int add_sample(const struct figure *f, const struct ek_ranks_view *v, struct ek_buf *out)
{
    double value = f->of(v->sums);
    if (!isfinite(value))
        return EK_OK;
    int rc = ek_buf_printf(out, "%s{feature=\"", f->name);
    if (!rc)
        rc = ek_metrics_label(v->feature, out);
    if (!rc)
        rc = ek_buf_text(out, "\",segment=\"");
    if (!rc)
        rc = ek_metrics_segment(v->dimension, v->value, out);
    return rc ? rc : ek_buf_printf(out, "\"%s} %.6g\n", f->label, value);
}

static int add_families(void *context, struct ek_guard **guard, struct ek_error *e)
{
    struct ek_buf *out = context;
    struct ek_ranks_view v;
    int rc = EK_OK;
    (void)e;
    for (size_t i = 0; !rc && i < sizeof FIGURES / sizeof *FIGURES; i++) {
        const struct figure *f = &FIGURES[i];
        int at = 0;
        if (!i || strcmp(f->name, f[-1].name) != 0)
            rc = ek_metrics_head(f->name, out);
        for (int k = 0; !rc && k < EK_RANKS_SHOWN && ek_guard_ranks(*guard, &at, &v); k++)
            rc = add_sample(f, &v, out);
    }
    return rc;
}

int ek_ranks_metrics(struct ek_shared_guard *guard, struct ek_buf *out)
{
    return ek_shared_guard_hold(guard, add_families, out, NULL);
}
