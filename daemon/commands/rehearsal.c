#include "daemon/commands/rehearsal.h"

#include "base/alloc.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static bool enforces(const struct ek_rules *rules)
{
    for (int i = 0; i < rules->feature_count; i++)
        if (rules->feature[i].watch && rules->feature[i].mode >= EK_MODE_CANARY)
            return true;
    return false;
}

void ek_rehearsal_init(struct ek_rehearsal *r, const struct ek_assets *assets)
{
    memset(r, 0, sizeof *r);
    r->model = assets->model != NULL;
    r->enforce = enforces(assets->rules);
    ek_query_init(&r->came);
    ek_query_init(&r->goes);
}

void ek_rehearsal_release(struct ek_rehearsal *r)
{
    ek_query_release(&r->came);
    ek_query_release(&r->goes);
    ek_free(r->order);
    ek_free(r->scratch);
}

void ek_rehearsal_event(struct ek_rehearsal *r, const struct ek_event *v)
{
    r->confirmed += v->kind == EK_EVENT_FINDING && v->finding.state == EK_CONFIRMED;
    r->plans += v->kind == EK_EVENT_PLAN;
    ek_told_event(&r->told, v);
}

static int make_room(struct ek_rehearsal *r, size_t items)
{
    if (items <= r->capacity)
        return EK_OK;
    int *order = ek_realloc(r->order, items, sizeof *order);
    if (order)
        r->order = order;
    double *scratch = ek_realloc(r->scratch, items, sizeof *scratch);
    if (scratch)
        r->scratch = scratch;
    if (!order || !scratch)
        return EK_ENOMEM;
    r->capacity = items;
    return EK_OK;
}

/* An item alone has no order. */
static bool can_be_measured(const struct ek_query *q)
{
    if (q->one_item)
        return false;
    for (int i = 0; q->has_label && i < q->items; i++)
        if (q->label[i] < 0)
            return false;
    return q->has_label;
}

static void measure(struct ek_rehearsal *r, const struct ek_query *q, struct ek_metric_mean *mean)
{
    static const struct ek_metric metric = {EK_NDCG, 10};
    ek_rank(q->score, q->items, r->order);
    ek_metric_add(
        mean, ek_metric_of_list(metric, EK_GAIN_EXP, r->order, q->label, q->items, 0, r->scratch),
        EK_EMPTY_SKIP);
}

int ek_rehearsal_anew(struct ek_rehearsal *r, const struct ek_codec *codec, const void *came,
                      size_t came_length, const void *goes, size_t goes_length, struct ek_error *e)
{
    r->anew++;
    int rc = ek_codec_decode(codec, came, came_length, &r->came, e);
    if (rc || !can_be_measured(&r->came))
        return rc;
    rc = ek_codec_decode(codec, goes, goes_length, &r->goes, e);
    if (rc)
        return rc;
    if (make_room(r, (size_t)r->came.items))
        return ek_fail(e, EK_ENOMEM, "no memory to measure a list");
    r->labelled++;
    measure(r, &r->came, &r->before);
    measure(r, &r->goes, &r->after);
    return EK_OK;
}

void ek_rehearsal_tried(struct ek_rehearsal *r, const struct ek_trial *t)
{
    if (t->failed)
        return;
    ek_rank_sums_add(&r->moved_by_plan, &t->ways.moved);
    if (t->ways.has_plain)
        ek_rank_sums_add(&r->moved_by_model, &t->ways.plain);
}

static void print_ranks_row(const char *name, const struct ek_rank_sums *s, FILE *to)
{
    struct ek_rank_change mean = ek_rank_sums_mean(s);
    fprintf(to, "    %-22s %7.3f %8.3f %8.2f %8.3f %8.3f\n", name, mean.tau, mean.top10,
            mean.places, mean.change, ek_rank_sums_quantile(s, .95));
}

/* Of lists in shadow, or outside a canary, too. */
static void print_ranks(const struct ek_rehearsal *r, FILE *to)
{
    if (!r->moved_by_plan.lists)
        return;
    fprintf(to,
            "  ranks of %" PRIu64 " lists that the plan is for, from upstream to\n"
            "    %-22s %7s %8s %8s %8s %8s\n",
            r->moved_by_plan.lists, "(means, change 0..1)", "tau", "top 10", "places", "change",
            "its 95%");
    print_ranks_row("what the plan wants", &r->moved_by_plan, to);
    print_ranks_row("the model alone", &r->moved_by_model, to);
}

static void print_ranks_json(const char *name, const struct ek_rank_sums *s, FILE *to)
{
    struct ek_rank_change mean = ek_rank_sums_mean(s);
    fprintf(to, "\"%s\":", name);
    if (s->lists)
        fprintf(to,
                "{\"lists\":%" PRIu64 ",\"tau\":%.6g,\"top10_overlap\":%.6g,\"places\":%.6g,"
                "\"change\":%.6g,\"change_p95\":%.6g},",
                s->lists, mean.tau, mean.top10, mean.places, mean.change,
                ek_rank_sums_quantile(s, .95));
    else
        fputs("null,", to);
}

static void print_quality(const struct ek_rehearsal *r, FILE *to)
{
    double before = ek_metric_result(&r->before), after = ek_metric_result(&r->after);
    if (!r->before.count)
        return;
    fprintf(to,
            "  NDCG@10 over %zu lists scored anew (gain 2^y - 1, lists without a positive\n"
            "  label skipped):\n"
            "    as they came           %.4f\n"
            "    as forwarded           %.4f  %+.4f\n",
            r->before.count, before, after, after - before);
}

void ek_rehearsal_print(const struct ek_rehearsal *r, FILE *to)
{
    fprintf(to,
            "  byte for byte            %" PRIu64 "\n"
            "  scored anew              %" PRIu64 "\n"
            "  unreadable               %" PRIu64 "\n",
            r->untouched, r->anew, r->unreadable);
    if (r->unscored)
        fprintf(to, "  could not be scored      %" PRIu64 ", forwarded as they came\n",
                r->unscored);
    fprintf(to,
            "  plan changes             %" PRIu64 "\n"
            "  findings confirmed       %" PRIu64 "\n",
            r->plans, r->confirmed);
    ek_told_print(&r->told, to);
    print_ranks(r, to);
    print_quality(r, to);
    if (r->enforce && !r->model)
        fputs("  The rules enforce, but without --model nothing is routed.\n", to);
}

void ek_rehearsal_print_json(const struct ek_rehearsal *r, FILE *to)
{
    fprintf(to,
            "{\"messages\":%" PRIu64 ",\"untouched\":%" PRIu64 ",\"scored_anew\":%" PRIu64
            ",\"unreadable\":%" PRIu64 ",\"unscored\":%" PRIu64 ",\"confirmed\":%" PRIu64
            ",\"plan_changes\":%" PRIu64 ",\"model\":%s,\"enforce\":%s,",
            r->messages, r->untouched, r->anew, r->unreadable, r->unscored, r->confirmed, r->plans,
            r->model ? "true" : "false", r->enforce ? "true" : "false");
    print_ranks_json("ranks_by_plan", &r->moved_by_plan, to);
    print_ranks_json("ranks_by_model", &r->moved_by_model, to);
    fprintf(to,
            "\"labelled\":%" PRIu64 ",\"counted\":%zu,\"gain\":\"exp\","
            "\"empty\":\"skip\",\"ndcg@10\":",
            r->labelled, r->before.count);
    if (r->before.count)
        fprintf(to, "{\"came\":%.9g,\"forwarded\":%.9g}}\n", ek_metric_result(&r->before),
                ek_metric_result(&r->after));
    else
        fputs("null}\n", to);
}
