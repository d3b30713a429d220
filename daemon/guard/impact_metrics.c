#include "daemon/guard/impact_metrics.h"

#include "base/json.h"
#include "daemon/base/metrics.h"
#include "guard/event_json.h"

#include <math.h>
#include <string.h>

enum { DIGITS = 6 };

static void add_number(struct ek_json_writer *w, const char *key, double value)
{
    ek_json_add_rounded(w, key, value, DIGITS);
}

void ek_json_add_rank_sums(struct ek_json_writer *w, const struct ek_rank_sums *s)
{
    struct ek_rank_change mean = ek_rank_sums_mean(s);
    ek_json_add_count(w, "lists", s->lists);
    add_number(w, "tau", mean.tau);
    add_number(w, "top10_overlap", mean.top10);
    add_number(w, "places", mean.places);
    add_number(w, "change", mean.change);
    add_number(w, "change_p95", ek_rank_sums_quantile(s, .95));
}

/* Add the sums, null without lists. */
static void add_sums(struct ek_json_writer *w, const char *key, const struct ek_rank_sums *s)
{
    if (!s->lists) {
        ek_json_add_null(w, key);
        return;
    }
    ek_json_open(w, key, '{');
    ek_json_add_rank_sums(w, s);
    ek_json_close(w, '}');
}

void ek_json_add_guardrail(struct ek_json_writer *w, const char *key,
                           const struct ek_impact_view *v, bool present)
{
    if (!present) {
        ek_json_add_null(w, key);
        return;
    }
    ek_json_open(w, key, '{');
    ek_json_add_text(w, "guardrail", ek_guardrail_name(v->guardrail));
    add_number(w, "observed", v->observed);
    add_number(w, "limit", v->limit);
    ek_json_close(w, '}');
}

static void add_counts(struct ek_json_writer *w, const struct ek_impact_view *v)
{
    const struct ek_comparison_sums *s = v->sums;
    ek_json_add_count(w, "compared", s->compared);
    ek_json_add_count(w, "compared_exclusive", s->alone);
    ek_json_add_count(w, "routed", s->acts);
    ek_json_add_count(w, "not_scored", s->failed + s->unscored);
    add_sums(w, "plan_vs_upstream", &s->moved);
    add_sums(w, "model_vs_upstream", &s->plain);
    add_sums(w, "output_vs_upstream", &s->acted);
    ek_json_open(w, "harm", '{');
    ek_json_add_count(w, "lists", s->measured);
    add_number(w, "evidence", v->stats.worse);
    ek_json_close(w, '}');
    add_number(w, "latency_p99_ms", v->stats.latency_p99_ms);
}

static void add_route(struct ek_json_writer *w, const struct ek_impact_view *v)
{
    const struct ek_plan_entry *e = v->entry;
    ek_json_open(w, NULL, '{');
    ek_json_add_text(w, "feature", v->feature);
    ek_json_add_segment(w, "segment", v->dimension, v->value);
    ek_json_add_text(w, "mitigation", ek_action_name(e->treatment.action));
    ek_json_add_text(w, "mode", ek_mode_name(v->mode));
    add_number(w, "percent", v->mode == EK_MODE_CANARY ? e->percent / 100. : (double)NAN);
    add_counts(w, v);
    ek_json_add_guardrail(w, "rolled_back", v, v->rolled_back);
    ek_json_add_guardrail(w, "would_roll_back", v,
                          !v->rolled_back && v->guardrail != EK_GUARDRAIL_NONE);
    ek_json_close(w, '}');
}

/* Add the routes of a feature; NULL: all. */
static void add_routes(struct ek_json_writer *w, const char *key, const struct ek_guard *g,
                       const char *feature)
{
    struct ek_impact_view v;
    int at = 0;
    ek_json_open(w, key, '[');
    while (ek_guard_impact(g, &at, &v))
        if (!feature || !strcmp(v.feature, feature))
            add_route(w, &v);
    ek_json_close(w, ']');
}

int ek_impact_write(const struct ek_guard *g, struct ek_buf *out)
{
    struct ek_json_writer w;
    ek_json_init(&w, out);
    ek_json_open(&w, NULL, '{');
    ek_json_add_count(&w, "plan_version", ek_guard_plan_version(g));
    ek_json_add_count(&w, "stale_comparisons", ek_guard_stale_comparisons(g));
    add_routes(&w, "routes", g, NULL);
    ek_json_close(&w, '}');
    return w.rc ? w.rc : ek_buf_text(out, "\n");
}

static int add_page(void *context, struct ek_guard **guard, struct ek_error *e)
{
    (void)e;
    return ek_impact_write(*guard, context);
}

int ek_impact_routes_write(const struct ek_guard *g, const char *feature, struct ek_buf *out)
{
    struct ek_json_writer w;
    ek_json_init(&w, out);
    add_routes(&w, NULL, g, feature);
    return w.rc;
}

struct feature_query {
    const char *feature;
    struct ek_buf *out;
};

static int add_feature(void *context, struct ek_guard **guard, struct ek_error *e)
{
    const struct feature_query *one = context;
    (void)e;
    return ek_impact_routes_write(*guard, one->feature, one->out);
}

int ek_impact_json(struct ek_guard_service *guard, const char *feature, struct ek_buf *out)
{
    struct feature_query one = {feature, out};
    return ek_guard_service_with_guard(guard, add_feature, &one, NULL);
}

int ek_impact_page(struct ek_guard_service *guard, struct ek_buf *out)
{
    return ek_guard_service_with_guard(guard, add_page, out, NULL);
}

struct figure {
    const char *name;
    const char *label; /* additional label; "": none */
};

/* Samples of a family are adjacent. */
static const struct figure FIGURES[] = {
    {"evenkeel_rank_compared_lists", ""},
    {"evenkeel_rank_kendall_tau", ""},
    {"evenkeel_rank_top10_overlap", ""},
    {"evenkeel_rank_displacement_mean", ""},
    {"evenkeel_rank_footrule", ",quantile=\"0.5\""},
    {"evenkeel_rank_footrule", ",quantile=\"0.95\""},
};
enum { FIGURE_COUNT = sizeof FIGURES / sizeof *FIGURES };

/* Return the value of FIGURES[figure]. */
static double get_figure(const struct ek_comparison_sums *s, int figure)
{
    struct ek_rank_change mean = ek_rank_sums_mean(&s->moved);
    const double values[FIGURE_COUNT] = {(double)s->compared,
                                         mean.tau,
                                         mean.top10,
                                         mean.places,
                                         ek_rank_sums_quantile(&s->moved, .5),
                                         ek_rank_sums_quantile(&s->moved, .95)};
    return values[figure];
}

static int add_sample(int figure, const struct ek_impact_view *v, struct ek_buf *out)
{
    const struct figure *f = &FIGURES[figure];
    double value = get_figure(v->sums, figure);
    if (!isfinite(value))
        return out->rc;
    ek_buf_printf(out, "%s{feature=\"", f->name);
    ek_metrics_label(v->feature, out);
    ek_buf_text(out, "\",segment=\"");
    ek_metrics_segment(v->dimension, v->value, out);
    return ek_buf_printf(out, "\"%s} %.6g\n", f->label, value);
}

static int add_families(void *context, struct ek_guard **guard, struct ek_error *e)
{
    struct ek_buf *out = context;
    struct ek_impact_view v;
    int rc = EK_OK;
    (void)e;
    for (int i = 0; !rc && i < FIGURE_COUNT; i++) {
        const struct figure *f = &FIGURES[i];
        int at = 0;
        if (!i || strcmp(f->name, f[-1].name) != 0)
            rc = ek_metrics_head(f->name, out);
        for (int k = 0; !rc && k < EK_IMPACT_ROUTES && ek_guard_impact(*guard, &at, &v); k++)
            rc = add_sample(i, &v, out);
    }
    return rc;
}

int ek_impact_metrics(struct ek_guard_service *guard, struct ek_buf *out)
{
    return ek_guard_service_with_guard(guard, add_families, out, NULL);
}
