#include "guard/drift_event.h"

#include <inttypes.h>
#include <math.h>

static int add_number(struct ek_buf *b, const char *before, double value)
{
    return isnan(value) ? ek_buf_printf(b, "%snull", before)
                        : ek_buf_printf(b, "%s%.4g", before, value);
}

int ek_agreement_figures_json(struct ek_buf *b, const struct ek_agreement_view *v)
{
    int rc = ek_buf_text(b, ",\"figures\":{");
    for (int i = 0; !rc && i < EK_FIGURES; i++) {
        rc = ek_buf_printf(b, "%s\"%s\":{", i ? "," : "", ek_figure_name((enum ek_figure)i));
        if (!rc)
            rc = add_number(b, "\"now\":", v->now[i]);
        if (!rc)
            rc = add_number(b, ",\"trained\":", v->trained[i]);
        if (!rc)
            rc = add_number(b, ",\"least\":", v->least[i]);
        if (!rc)
            rc = ek_buf_text(b, "}");
    }
    return rc ? rc : ek_buf_text(b, "}");
}

/* What people read; no quotes in it. */
static int add_sentence(struct ek_buf *b, const struct ek_agreement_view *v)
{
    const double *now = v->now, *trained = v->trained;
    int rc = ek_buf_printf(
        b,
        ",\"text\":\"model and upstream %s: over %d lists since query %" PRIu64
        " Kendall tau is %.3f (when the model was made %.3f), NDCG@10 under the upstream order "
        "%.3f "
        "(%.3f), the first item the same in %.0f%% (%.0f%%)",
        v->state == EK_AGREEMENT_DRIFTED ? "have drifted apart" : "rank alike again", v->recent,
        v->since_query, now[EK_FIGURE_TAU], trained[EK_FIGURE_TAU], now[EK_FIGURE_NDCG10],
        trained[EK_FIGURE_NDCG10], 100 * now[EK_FIGURE_TOP1], 100 * trained[EK_FIGURE_TOP1]);
    if (!rc && v->state == EK_AGREEMENT_DRIFTED)
        rc = ek_buf_text(b,
                         "; a list that is routed now gets the order of the model, not that of the "
                         "upstream scorer: if that was changed on purpose, capture healthy "
                         "traffic, train with --teacher upstream and put the new model in place; "
                         "if not, something it reads has changed that no finding tells");
    return rc ? rc : ek_buf_text(b, "\"");
}

int ek_event_model_drift(struct ek_buf *out, const struct ek_agreement_view *v, uint64_t query,
                         int64_t time_ms)
{
    ek_buf_clear(out);
    int rc = ek_buf_printf(out,
                           "{\"event\":\"model_drift\",\"state\":\"%s\",\"query\":%" PRIu64
                           ",\"time_ms\":%" PRId64 ",\"since_query\":%" PRIu64 ",\"lists\":%d",
                           v->state == EK_AGREEMENT_DRIFTED ? "drifted" : "recovered", query,
                           time_ms, v->since_query, v->recent);
    if (!rc)
        rc = ek_agreement_figures_json(out, v);
    if (!rc)
        rc = add_sentence(out, v);
    return rc ? rc : ek_buf_text(out, "}");
}
