#include "base/json.h"
#include "daemon/commands/inspect.h"
#include "daemon/files/routing_warning.h"
#include "detect/evalue_tests.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { VALUES_SHOWN = 8 };

static void json_number(FILE *to, const char *key, double value)
{
    if (isfinite(value))
        fprintf(to, ",\"%s\":%.7g", key, value);
    else
        fprintf(to, ",\"%s\":null", key);
}

/* Print the dimensions in which a feature has levels. Returns 0 or EK_ENOMEM. */
static int segments_json(const struct ek_segment_levels *t, int f, FILE *to)
{
    int rc = EK_OK, count = 0;
    for (int d = 0; t && d < t->dimensions; d++) {
        if (!ek_segment_levels_has(t, d, f))
            continue;
        fputs(count++ ? "," : ",\"by_segment\":[", to);
        rc |= ek_json_print_text(t->dimension[d], to);
    }
    if (count)
        fputs("]", to);
    return rc;
}

static int feature_json(const struct ek_profile *p, int f, FILE *to)
{
    const struct ek_baseline *b = &p->baseline[f];
    struct ek_sketch_summary s;
    ek_sketch_summarize(p->sketch[f], &s);
    fprintf(to, "%s{\"name\":", f ? "," : "");
    int rc = ek_json_print_text(p->name[f], to);
    fprintf(to, ",\"lists\":%" PRIu64, b->queries);
    json_number(to, "level_ln", b->level);
    json_number(to, "sd_ln", b->sd);
    json_number(to, "log_mean", b->log_mean);
    json_number(to, "log_sd", b->log_sd);
    json_number(to, "missing", b->share[0]);
    json_number(to, "zero", b->share[1]);
    json_number(to, "negative", b->share[2]);
    json_number(to, "tied", b->share[3]);
    json_number(to, "design_effect", b->deff[EK_RESPECT_LEVEL]);
    json_number(to, "dead_band_ln", ek_baseline_band(b));
    fprintf(to, ",\"lists_to_x1.2\":%d,\"lists_to_x2\":%d", ek_bet_delay(b, 1.2),
            ek_bet_delay(b, 2));
    json_number(to, "p1", s.p01);
    json_number(to, "p50", s.p50);
    json_number(to, "p99", s.p99);
    if (ek_item_levels_has(p->item_levels, f))
        fputs(",\"by_item\":true", to);
    rc |= segments_json(p->segment_levels, f, to);
    if (p->category[f].strata)
        fprintf(to, ",\"values\":%d,\"unknown\":%.7g", p->category[f].count,
                (double)p->category[f].unknown[0]);
    fputs("}", to);
    return rc;
}

/* Return 0 or EK_ENOMEM. */
static int profile_json(const struct ek_profile *p, FILE *to)
{
    fprintf(to,
            "{\"kind\":\"profile\",\"manifest\":\"%016" PRIx64 "\",\"lists\":%" PRIu64
            ",\"items\":%" PRIu64 ",\"stratify_by\":",
            p->manifest_hash, p->queries, p->items);
    int rc = EK_OK;
    if (p->field)
        rc = ek_json_print_text(p->field, to);
    else
        fputs("null", to);
    fprintf(to, ",\"strata\":%d,\"max_rel_error\":%.4g,\"features\":[",
            p->strata > 1 ? p->strata - 1 : 1, ek_sketch_max_rel_error());
    for (int f = 0; f < p->features; f++)
        rc |= feature_json(p, f, to);
    fputs("]}\n", to);
    return rc;
}

/* Return the heaviest value lighter than `below`, or as heavy and after index `after`; -1: none. */
static int next_value(const struct ek_category_table *t, float below, int after)
{
    int best = -1;
    for (int v = 0; v < t->count; v++) {
        float share = t->share[(size_t)v * (size_t)t->strata];
        if (share > below || (share == below && v <= after))
            continue;
        if (best < 0 || share > t->share[(size_t)best * (size_t)t->strata])
            best = v;
    }
    return best;
}

static void category_line(const char *name, const struct ek_category_table *t, FILE *to)
{
    float share = INFINITY;
    fprintf(to, "%-24s %d values, %.2f%% unknown", name, t->count, 100 * (double)t->unknown[0]);
    for (int i = 0, v = -1; i < VALUES_SHOWN && (v = next_value(t, share, v)) >= 0; i++) {
        share = t->share[(size_t)v * (size_t)t->strata];
        fprintf(to, "%s %.7g %.1f%%", i ? "," : ":", (double)t->value[v], 100 * (double)share);
    }
    fputs("\n", to);
}

static void categories(const struct ek_profile *p, FILE *to)
{
    int any = 0;
    for (int f = 0; f < p->features; f++) {
        if (!p->category[f].strata)
            continue;
        fputs(any++ ? ""
                    : "\ncategories: the most frequent values and their fractions of a list\n\n",
              to);
        category_line(p->name[f], &p->category[f], to);
    }
}

static void print_delay(int lists, FILE *to)
{
    if (lists)
        fprintf(to, " %9d", lists);
    else
        fprintf(to, " %9s", "-");
}

static void by_item_line(const struct ek_profile *p, FILE *to)
{
    if (!p->item_levels)
        return;
    fprintf(to, "\ncompared with the levels of %zu items:", p->item_levels->items);
    for (int a = 0; a < p->item_levels->features; a++)
        fprintf(to, "%s %s", a ? "," : "", p->name[p->item_levels->feature[a]]);
    fputs("\n", to);
}

/* Query features are numbered from 1: a profile has no names of them. */
static void by_query_line(const struct ek_profile *p, FILE *to)
{
    const struct ek_query_slopes *t = p->query_slopes;
    if (!t)
        return;
    fputs("\nlevels relative to query features:", to);
    for (int a = 0; a < t->features; a++) {
        fprintf(to, "%s %s (", a ? "," : "", p->name[t->feature[a]]);
        for (int c = 0, n = 0; c < t->queries; c++)
            if (t->slope[a][c] != 0)
                fprintf(to, "%squery feature %d to the power %.2f", n++ ? ", " : "",
                        t->query[c] + 1, (double)t->slope[a][c]);
        fputs(")", to);
    }
    fputs("\n", to);
}

static void query_range_line(const struct ek_profile *p, FILE *to)
{
    const struct ek_query_ranges *r = &p->query_ranges;
    for (int i = 0; i < r->count; i++)
        fprintf(to, "%squery feature %d from %.3g to %.3g",
                i ? ", " : "\nranges: ", r->query[i] + 1, (double)r->low[i], (double)r->high[i]);
    fputs(r->count ? "\n" : "", to);
}

static void by_segment_line(const struct ek_profile *p, FILE *to)
{
    const struct ek_segment_levels *t = p->segment_levels;
    if (!t)
        return;
    fputs("\nlevels by segment, if the rules name it:", to);
    for (int d = 0; d < t->dimensions; d++) {
        int features = ek_segment_levels_features(t, d);
        fprintf(to, "%s %s (%d feature%s)", d ? "," : "", t->dimension[d], features,
                features == 1 ? "" : "s");
    }
    fputs("\n", to);
}

static void sensitivity_table(const struct ek_profile *p, FILE *to)
{
    fprintf(to, "\n%-24s %9s %9s %9s %9s\n", "found after about, lists", "x1.2", "x2", "design",
            "band");
    for (int f = 0; f < p->features; f++) {
        const struct ek_baseline *b = &p->baseline[f];
        if (p->category[f].strata)
            continue;
        fprintf(to, "%-24s", p->name[f]);
        print_delay(ek_bet_delay(b, 1.2), to);
        print_delay(ek_bet_delay(b, 2), to);
        fprintf(to, " %9.3g %8.1f%%\n", fmax(b->deff[EK_RESPECT_LEVEL], 1),
                100 * expm1(ek_baseline_band(b)));
    }
    fprintf(to,
            "\ndesign: lists worth one independent list; band: smaller shifts of the level are "
            "healthy; '-': more than %d lists\n",
            EK_REPORTED_DELAY);
}

static void profile_table(const struct ek_profile *p, FILE *to)
{
    fprintf(to, "profile of %" PRIu64 " lists, %" PRIu64 " items, %d features\n", p->queries,
            p->items, p->features);
    fprintf(to, "manifest %016" PRIx64 ", ", p->manifest_hash);
    if (p->field)
        fprintf(to, "levels by '%s' (%d values)\n", p->field, p->strata - 1);
    else
        fputs("one stratum\n", to);
    fprintf(to, "quantiles are exact to %.2f%%\n\n", 100 * ek_sketch_max_rel_error());
    fprintf(to, "%-24s %9s %10s %8s %8s %8s %6s %10s %10s %10s\n", "feature", "lists", "level",
            "sd ln", "missing", "zero", "neg.", "p1", "p50", "p99");
    for (int f = 0; f < p->features; f++) {
        const struct ek_baseline *b = &p->baseline[f];
        struct ek_sketch_summary s;
        if (p->category[f].strata)
            continue;
        ek_sketch_summarize(p->sketch[f], &s);
        fprintf(to,
                "%-24s %9" PRIu64 " %10.4g %8.3f %7.1f%% %7.1f%% %5.1f%% %10.4g %10.4g %10.4g\n",
                p->name[f], b->queries,
                exp(ek_item_levels_has(p->item_levels, f) ? b->log_mean : b->level), b->sd,
                100 * b->share[0], 100 * b->share[1], 100 * b->share[2], s.p01, s.p50, s.p99);
    }
    fputs("\nlevel: geometric mean of a list's values; sd ln: of its logarithm, over lists\n", to);
    by_item_line(p, to);
    by_query_line(p, to);
    query_range_line(p, to);
    by_segment_line(p, to);
    sensitivity_table(p, to);
    categories(p, to);
}

int ek_inspect_profile(const struct ek_profile *p, enum ek_inspect_form form, FILE *to)
{
    if (form == EK_INSPECT_JSON)
        return profile_json(p, to);
    profile_table(p, to);
    return EK_OK;
}

static const char *log_input_name(enum ek_log_input l)
{
    return l == EK_LOG_ALWAYS ? "always" : l == EK_LOG_ROUTED ? "routed" : "none";
}

static size_t parameters(const struct ek_model *m)
{
    size_t count = 0, inputs = (size_t)m->deep_inputs;
    for (int i = 0; i <= m->hidden_count; i++) {
        size_t outputs = i < m->hidden_count ? (size_t)m->hidden[i] : 1;
        count += outputs * (inputs + 1);
        inputs = outputs;
    }
    size_t gates = (size_t)m->gate_size;
    count += gates * ((size_t)m->query_features + 1);
    return count + 2 * (gates + 1) * (size_t)m->routable_count;
}

static void hidden_sizes(const struct ek_model *m, FILE *to, const char *between)
{
    for (int i = 0; i < m->hidden_count; i++)
        fprintf(to, "%s%d", i ? between : "", m->hidden[i]);
}

static int plain_text(const char *name, FILE *to)
{
    fputs(name, to);
    return EK_OK;
}

/* Write the names of routable features, separated by commas: those always routed, or all. */
static int routables(const struct ek_model *m, bool for_good,
                     int (*put)(const char *name, FILE *to), FILE *to)
{
    int rc = EK_OK;
    const char *between = "";
    for (int k = 0; k < m->routable_count; k++) {
        if (for_good && !(m->trained.routed && m->trained.routed[k]))
            continue;
        fputs(between, to);
        rc |= put(m->item_names[m->routable[k]], to);
        between = ",";
    }
    return rc;
}

static int trained_json(const struct ek_model *m, FILE *to)
{
    if (!m->trained.known) {
        fputs("null", to);
        return EK_OK;
    }
    fprintf(to, "{\"routing\":\"%s\",\"routed\":[", ek_routing_name(m->trained.routing));
    int rc = routables(m, true, ek_json_print_text, to);
    fprintf(to, "],\"seed\":\"%" PRIu64 "\"}", m->trained.seed);
    return rc;
}

static void trained_row(const struct ek_model *m, FILE *to)
{
    const struct ek_trained *t = &m->trained;
    fprintf(to, "  trained         ");
    if (!t->known) {
        fputs("unknown\n", to);
        return;
    }
    fprintf(to, "%s routing", ek_routing_name(t->routing));
    if (t->routed)
        fputs(" of ", to);
    routables(m, true, plain_text, to);
    fprintf(to, "%s%s, seed %" PRIu64 "\n", *t->loss ? ", " : "", t->loss, t->seed);
}

static void agreement_row(const struct ek_model *m, FILE *to)
{
    if (!m->agreement.lists)
        return;
    fputs("  agreement       ", to);
    for (int i = 0; i < EK_AGREEMENT_STATISTICS; i++)
        fprintf(to, "%s%s %.4f", i ? ", " : "",
                ek_agreement_statistic_name((enum ek_agreement_statistic)i), m->agreement.mean[i]);
    fprintf(to, " over %" PRIu64 " lists\n", m->agreement.lists);
}

/* Return 0 or EK_ENOMEM. */
static int model_json(const struct ek_model *m, FILE *to)
{
    fprintf(to, "{\"kind\":\"model\",\"item_features\":%d,\"query_features\":%d,\"hidden\":[",
            m->item_features, m->query_features);
    hidden_sizes(m, to, ",");
    fprintf(to,
            "],\"gate_size\":%d,\"mask_input\":%s,\"list_free\":%s,\"log_input\":\"%s\","
            "\"transform\":\"%s\",\"parameters\":%zu,\"routable\":[",
            m->gate_size, m->mask_input ? "true" : "false", m->list_free ? "true" : "false",
            log_input_name(m->log_input), ek_transform_name(m->transform), parameters(m));
    int rc = routables(m, false, ek_json_print_text, to);
    fputs("],\"trained\":", to);
    rc |= trained_json(m, to);
    fputs(",\"agreement\":", to);
    if (m->agreement.lists)
        ek_routing_agreement_print_json(&m->agreement, to);
    else
        fputs("null", to);
    fputs("}\n", to);
    return rc;
}

static void model_table(const struct ek_model *m, FILE *to)
{
    fputs("routable SIR model\n", to);
    fprintf(to, "  item features   %d, of them routable %d\n", m->item_features, m->routable_count);
    fprintf(to, "  query features  %d\n", m->query_features);
    fprintf(to, "  deep part       %d -> ", m->deep_inputs);
    hidden_sizes(m, to, " -> ");
    fprintf(to, " -> 1, gate of %d\n", m->gate_size);
    fprintf(to, "  inputs          %s, mask %s, logs %s%s\n", ek_transform_name(m->transform),
            m->mask_input ? "yes" : "no", log_input_name(m->log_input),
            m->list_free ? ", list-free" : "");
    fprintf(to, "  parameters      %zu\n", parameters(m));
    trained_row(m, to);
    agreement_row(m, to);
    fputc('\n', to);
    fprintf(to, "%-24s %9s %12s %12s\n", "feature", "routable", "geom. mean", "list sd ln");
    for (int f = 0; f < m->item_features; f++) {
        int k = ek_model_routable(m, m->item_names[f]);
        if (k < 0)
            fprintf(to, "%-24s %9s\n", m->item_names[f], "no");
        else
            fprintf(to, "%-24s %9s %12.4g %12.3f\n", m->item_names[f], "yes", exp(m->log_mean[k]),
                    (double)m->log_sd[k]);
    }
}

static void ranker_table(const struct ek_model *m, FILE *to)
{
    const struct ek_columns *c = ek_model_columns(m);
    const struct ek_trees *t = m->trees;
    if (t) {
        fprintf(to, "trees of %s, format %s\n", ek_model_library(m), t->version);
        fprintf(to, "  objective       %s\n", *t->objective ? t->objective : "unknown");
        fprintf(to, "  trees           %d, at most %.1f nodes per item and tree\n", t->tree_count,
                ek_trees_cost(t) / t->tree_count);
    } else {
        fprintf(to, "ONNX model, in ONNX Runtime %s\n", ek_onnx_version(m->onnx));
    }
    fprintf(to, "  features        %d%s\n", c->count, c->name ? "" : ", without names");
    for (int i = 0; c->name && i < c->count; i++)
        fprintf(to, "    %s\n", c->name[i]);
}

/* Return 0 or EK_ENOMEM. */
static int ranker_json(const struct ek_model *m, FILE *to)
{
    const struct ek_columns *c = ek_model_columns(m);
    const struct ek_trees *t = m->trees;
    int rc = EK_OK;
    fprintf(to, "{\"kind\":\"model\",\"library\":\"%s\",\"version\":", ek_model_library(m));
    rc |= ek_json_print_text(t ? t->version : ek_onnx_version(m->onnx), to);
    if (t) {
        fputs(",\"objective\":", to);
        rc |= ek_json_print_text(t->objective, to);
        fprintf(to, ",\"trees\":%d", t->tree_count);
    }
    fprintf(to, ",\"features\":%d,\"names\":[", c->count);
    for (int i = 0; c->name && i < c->count; i++) {
        fputs(i ? "," : "", to);
        rc |= ek_json_print_text(c->name[i], to);
    }
    fputs("]}\n", to);
    return rc;
}

static int inspect_ranker(const struct ek_model *m, enum ek_inspect_form form, FILE *to)
{
    if (form == EK_INSPECT_JSON)
        return ranker_json(m, to);
    ranker_table(m, to);
    return EK_OK;
}

int ek_inspect_model(const struct ek_model *m, enum ek_inspect_form form, FILE *to)
{
    if (ek_model_library(m))
        return inspect_ranker(m, form, to);
    if (form == EK_INSPECT_JSON)
        return model_json(m, to);
    model_table(m, to);
    return EK_OK;
}
