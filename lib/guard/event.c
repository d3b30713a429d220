#include "guard/event.h"

#include "guard/sentence.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static int add_text(struct ek_buf *b, const char *text)
{
    return ek_buf_json(b, text, strlen(text));
}

static int add_number(struct ek_buf *b, const char *key, double value)
{
    if (!isfinite(value))
        return ek_buf_printf(b, ",\"%s\":null", key);
    return ek_buf_printf(b, ",\"%s\":%.6g", key, value);
}

int ek_segment_json(struct ek_buf *out, const char *dimension, const char *value)
{
    int rc;
    if (!dimension)
        return ek_buf_text(out, "null");
    if ((rc = ek_buf_text(out, "{")) || (rc = add_text(out, dimension)) ||
        (rc = ek_buf_text(out, ":")) || (rc = add_text(out, value ? value : EK_SEGMENT_OTHER)))
        return rc;
    return ek_buf_text(out, "}");
}

static int add_segment(struct ek_buf *b, const char *dimension, const char *value)
{
    int rc = ek_buf_text(b, ",\"segment\":");
    return rc ? rc : ek_segment_json(b, dimension, value);
}

static int add_units(struct ek_buf *b, const struct ek_manifest *m, const struct ek_finding *f)
{
    int rc = ek_buf_text(b, ",\"units\":[");
    if (!rc && f->query_feature >= 0)
        rc = ek_buf_printf(b, "\"query_feature:%s\"", m->query[f->query_feature]->name);
    for (int i = 0; !rc && i < f->unit_count; i++)
        rc = ek_buf_printf(b, "%s\"%s\"", i ? "," : "", f->unit[i].unit->id);
    return rc ? rc : ek_buf_text(b, "]");
}

static int add_identity(struct ek_buf *b, const struct ek_manifest *m, const struct ek_finding *f)
{
    int rc = ek_buf_printf(b, "{\"event\":\"finding\",\"episode\":\"%s-%" PRIu32 "\"",
                           m->item[f->feature]->name, f->episode);
    if (!rc)
        rc = ek_buf_printf(b, ",\"state\":\"%s\",\"query\":%" PRIu64 ",\"time_ms\":%" PRId64,
                           ek_finding_state_name(f->state), f->query, f->time_ms);
    if (!rc)
        rc = ek_buf_text(b, ",\"feature\":");
    if (!rc)
        rc = add_text(b, m->item[f->feature]->name);
    return rc ? rc : add_segment(b, f->dimension, f->value);
}

static int add_diagnosis(struct ek_buf *b, const struct ek_finding *f)
{
    int rc = f->class == EK_CLASS_NONE
                 ? ek_buf_text(b, ",\"class\":null")
                 : ek_buf_printf(b, ",\"class\":\"%s\"", ek_class_name(f->class));
    if (!rc)
        rc = add_number(b, "factor", f->factor);
    if (!rc)
        rc = add_number(b, "factor_low", f->factor_low);
    if (!rc)
        rc = add_number(b, "factor_high", f->factor_high);
    if (!rc)
        rc = add_number(b, "share", f->share);
    if (!rc)
        rc = add_number(b, "spread_ratio", f->spread_ratio);
    if (!rc && f->class == EK_POWER)
        rc = add_number(b, "exponent", f->exponent);
    return rc;
}

static int add_sentence(struct ek_buf *b, const struct ek_manifest *m, const struct ek_finding *f,
                        const struct ek_decision *decision)
{
    struct ek_buf sentence;
    ek_buf_init(&sentence, b->limit);
    int rc = ek_sentence(&sentence, m, f, decision);
    if (!rc)
        rc = ek_buf_text(b, ",\"text\":");
    if (!rc)
        rc = ek_buf_json(b, (const char *)sentence.data, sentence.length);
    ek_buf_release(&sentence);
    return rc;
}

static int add_members(struct ek_buf *b, const struct ek_manifest *m, const int *members, int count)
{
    int rc = ek_buf_text(b, ",\"members\":[");
    for (int i = 0; !rc && i < count; i++) {
        rc = i ? ek_buf_text(b, ",") : EK_OK;
        if (!rc)
            rc = add_text(b, m->item[members[i]]->name);
    }
    return rc ? rc : ek_buf_text(b, "]");
}

/* A code as short as it can be told from others. */
static int add_change(struct ek_buf *b, const struct ek_category_change *c, int first)
{
    int rc = ek_buf_text(b, first ? "{\"value\":" : ",{\"value\":");
    if (!rc)
        rc = isfinite(c->value) ? ek_buf_printf(b, "%.9g", (double)c->value)
                                : ek_buf_text(b, "null");
    if (!rc)
        rc = add_number(b, "share", c->share);
    if (!rc)
        rc = add_number(b, "trained", c->trained);
    return rc ? rc : ek_buf_text(b, "}");
}

static int add_categories(struct ek_buf *b, const struct ek_finding *f)
{
    int rc = ek_buf_text(b, ",\"categories\":[");
    for (int i = 0; !rc && i < f->category_count; i++)
        rc = add_change(b, &f->category[i], i == 0);
    return rc ? rc : ek_buf_text(b, "]");
}

int ek_event_finding(struct ek_buf *out, const struct ek_manifest *m, const struct ek_finding *f,
                     const struct ek_decision *decision, const int *members, int count)
{
    ek_buf_clear(out);
    int rc = add_identity(out, m, f);
    if (!rc)
        rc = add_diagnosis(out, f);
    if (!rc)
        rc = add_units(out, m, f);
    if (!rc && f->class == EK_NEW_CATEGORY)
        rc = add_categories(out, f);
    if (!rc)
        rc = ek_buf_printf(out,
                           ",\"signal\":\"%s\",\"since_query\":%" PRIu64 ",\"since_ms\":%" PRId64,
                           f->signal, f->since_query, f->since_ms);
    if (!rc)
        rc =
            ek_buf_printf(out, ",\"action\":\"%s\",\"mode\":\"%s\"",
                          ek_action_name(decision->treatment.action), ek_mode_name(decision->mode));
    if (!rc && decision->limited != EK_BOUND_NONE)
        rc = ek_buf_printf(out, ",\"limited\":true,\"limit\":\"%s\"",
                           ek_bound_name(decision->limited));
    if (!rc && decision->paused)
        rc = ek_buf_text(out, ",\"paused\":true");
    if (!rc && decision->stays)
        rc = ek_buf_text(out, ",\"stays\":true");
    if (!rc && f->reason)
        rc = ek_buf_printf(out, ",\"reason\":\"%s\"", f->reason);
    if (!rc)
        rc = f->cause ? ek_buf_printf(out, ",\"cause\":\"c-%" PRIu32 "\"", f->cause)
                      : ek_buf_text(out, ",\"cause\":null");
    if (!rc && f->cause)
        rc = add_members(out, m, members, count);
    if (!rc)
        rc = add_sentence(out, m, f, decision);
    return rc ? rc : ek_buf_text(out, "}");
}

static int add_share(struct ek_buf *b, const struct ek_cells_share *s)
{
    int rc = ek_buf_text(b, "{\"dimension\":");
    if (!rc)
        rc = add_text(b, s->dimension);
    if (!rc)
        rc = ek_buf_printf(b,
                           ",\"own\":%d,\"pooled_values\":%.0f,\"lists\":%" PRIu64
                           ",\"pooled_lists\":%" PRIu64 "}",
                           s->own, s->pooled_values, s->lists, s->pooled);
    return rc;
}

int ek_event_limit(struct ek_buf *out, enum ek_bound bound, int64_t most,
                   const struct ek_cells *cells, uint64_t query, int64_t time_ms)
{
    ek_buf_clear(out);
    int rc = ek_buf_printf(out,
                           "{\"event\":\"limit\",\"limit\":\"%s\",\"max\":%" PRId64
                           ",\"query\":%" PRIu64 ",\"time_ms\":%" PRId64 ",\"text\":\"%s\"",
                           ek_bound_name(bound), most, query, time_ms, ek_bound_text(bound));
    if (!rc && bound == EK_BOUND_CELLS) {
        rc = ek_buf_text(out, ",\"segments\":[");
        for (int i = 0; !rc && i < ek_cells_dimensions(cells); i++) {
            struct ek_cells_share s = ek_cells_share_of(cells, i);
            rc = i ? ek_buf_text(out, ",") : EK_OK;
            if (!rc)
                rc = add_share(out, &s);
        }
        if (!rc)
            rc = ek_buf_text(out, "]");
    }
    return rc ? rc : ek_buf_text(out, "}");
}

static int add_treatment(struct ek_buf *out, const struct ek_plan_entry *e)
{
    return ek_buf_printf(
        out, ",\"action\":\"%s\",\"mode\":\"%s\",\"percent\":%.4g,\"by\":\"%s\"%s}",
        ek_action_name(e->treatment.action), ek_mode_name(e->mode), e->percent / 100.0,
        ek_plan_by_name(e->by), ek_plan_awaits(e) ? ",\"gone\":true" : "");
}

int ek_event_plan(struct ek_buf *out, const struct ek_manifest *m, const struct ek_cells *cells,
                  const struct ek_plan *plan, uint64_t query, int64_t time_ms)
{
    ek_buf_clear(out);
    int rc = ek_buf_printf(out,
                           "{\"event\":\"plan\",\"version\":%" PRIu64 ",\"query\":%" PRIu64
                           ",\"time_ms\":%" PRId64 ",\"cells\":[",
                           plan->version, query, time_ms);
    for (int i = 0; !rc && i < plan->count; i++) {
        const struct ek_plan_entry *entry = &plan->entry[i];
        rc = ek_buf_text(out, i ? ",{\"feature\":" : "{\"feature\":");
        if (!rc)
            rc = add_text(out, m->item[entry->feature]->name);
        if (!rc)
            rc = add_segment(out, ek_cells_dimension_name(cells, entry->cell),
                             ek_cells_value(cells, entry->cell));
        if (!rc)
            rc = add_treatment(out, entry);
    }
    return rc ? rc : ek_buf_text(out, "]}");
}

bool ek_event_is(const char *json, const char *kind)
{
    char head[40];
    int length = snprintf(head, sizeof head, "{\"event\":\"%s\"", kind);
    return !strncmp(json, head, (size_t)length);
}
