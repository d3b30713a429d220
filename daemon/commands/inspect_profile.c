#include "base/json.h"
#include "daemon/commands/inspect.h"

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
    json_number(to, "p1", s.p01);
    json_number(to, "p50", s.p50);
    json_number(to, "p99", s.p99);
    if (p->category[f].strata)
        fprintf(to, ",\"values\":%d,\"unknown\":%.7g", p->category[f].count,
                (double)p->category[f].unknown[0]);
    fputs("}", to);
    return rc;
}

/* Any failure is one of memory. */
static int profile_json(const struct ek_profile *p, FILE *to)
{
    fprintf(to,
            "{\"kind\":\"profile\",\"manifest\":\"%016" PRIx64 "\",\"queries\":%" PRIu64
            ",\"items\":%" PRIu64 ",\"baseline\":",
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

/* The heaviest value that weighs less than `below`, or as much and stands behind `after`; -1: none.
 */
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
        fputs(any++ ? "" : "\ncategories: the heaviest values and their shares of a list\n\n", to);
        category_line(p->name[f], &p->category[f], to);
    }
}

static void profile_table(const struct ek_profile *p, FILE *to)
{
    fprintf(to, "profile of %" PRIu64 " lists, %" PRIu64 " items, %d item features\n", p->queries,
            p->items, p->features);
    fprintf(to, "manifest %016" PRIx64 ", ", p->manifest_hash);
    if (p->field)
        fprintf(to, "levels by '%s' (%d values)\n", p->field, p->strata - 1);
    else
        fputs("one stratum\n", to);
    fprintf(to, "quantiles are right to %.2f%%\n\n", 100 * ek_sketch_max_rel_error());
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
                p->name[f], b->queries, exp(b->level), b->sd, 100 * b->share[0], 100 * b->share[1],
                100 * b->share[2], s.p01, s.p50, s.p99);
    }
    fputs("\nlevel: geometric mean of a list's values; sd ln: of its logarithm, over lists\n", to);
    categories(p, to);
}

int ek_inspect_profile(const struct ek_profile *p, enum ek_inspect_form form, FILE *to)
{
    if (form == EK_INSPECT_JSON)
        return profile_json(p, to);
    profile_table(p, to);
    return EK_OK;
}
