/* A decision as JSON. */
#include "plan/decisions.h"
#include "guard/event.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static int add_text(struct ek_buf *out, const char *key, const char *text)
{
    if (!text)
        return EK_OK;
    int rc = ek_buf_printf(out, ",\"%s\":", key);
    return rc ? rc : ek_buf_json(out, text, strlen(text));
}

/* Null where nobody said it. */
static int add_said(struct ek_buf *out, const char *key, const char *text)
{
    return text && *text ? add_text(out, key, text) : ek_buf_printf(out, ",\"%s\":null", key);
}

static int add_number(struct ek_buf *out, const char *key, double value)
{
    return isfinite(value) ? ek_buf_printf(out, ",\"%s\":%.6g", key, value) : EK_OK;
}

static int add_what(struct ek_buf *out, const struct ek_decided *m)
{
    int rc = ek_buf_printf(out,
                           "{\"event\":\"decision\",\"number\":%" PRIu64 ",\"query\":%" PRIu64
                           ",\"time_ms\":%" PRId64 ",\"what\":\"%s\"",
                           m->number, m->query, m->time_ms, ek_did_name(m->what));
    if (!rc)
        rc = add_said(out, "who", m->who);
    if (!rc)
        rc = ek_buf_printf(out, ",\"plan\":{\"before\":%" PRIu64 ",\"after\":%" PRIu64 "}",
                           m->before, m->after);
    if (!rc && m->accept)
        rc = ek_buf_printf(out, ",\"accept\":%" PRIu64 ",\"version\":%" PRIu64, m->accept,
                           m->normal);
    return rc;
}

/* Of a feature, where it is about one. */
static int add_where(struct ek_buf *out, const struct ek_decided *m)
{
    int rc = add_text(out, "feature", m->feature);
    if (rc || !m->feature)
        return rc;
    rc = ek_buf_text(out, ",\"segment\":");
    if (!rc)
        rc = ek_segment_json(out, m->dimension, m->value);
    if (!rc && m->action != EK_ACT_NONE)
        rc = ek_buf_printf(out, ",\"action\":\"%s\"", ek_action_name(m->action));
    if (!rc && m->percent >= 0)
        rc = add_number(out, "percent", m->percent / 100.);
    if (!rc && m->episode)
        rc = ek_buf_printf(out, ",\"episode\":\"%s-%" PRIu32 "\"", m->feature, m->episode);
    return rc;
}

static int add_evidence(struct ek_buf *out, const struct ek_decided *m)
{
    int rc = m->class == EK_CLASS_NONE
                 ? EK_OK
                 : ek_buf_printf(out, ",\"class\":\"%s\"", ek_class_name(m->class));
    if (!rc)
        rc = add_number(out, "factor", m->factor);
    if (!rc)
        rc = add_number(out, "factor_low", m->factor_low);
    if (!rc)
        rc = add_number(out, "factor_high", m->factor_high);
    if (!rc)
        rc = add_number(out, "share", m->share);
    if (!rc && m->rail != EK_RAIL_NONE)
        rc = add_text(out, "rail", ek_rail_name(m->rail));
    if (!rc)
        rc = add_number(out, "figure", m->figure);
    return rc ? rc : add_number(out, "limit", m->limit);
}

int ek_decided_json(struct ek_buf *out, const struct ek_decided *m)
{
    size_t begin = out->length;
    int rc = add_what(out, m);
    if (!rc)
        rc = add_where(out, m);
    if (!rc)
        rc = add_evidence(out, m);
    if (!rc)
        rc = add_text(out, "request", m->request);
    if (!rc)
        rc = add_text(out, "instance", m->instance);
    if (!rc)
        rc = add_said(out, "why", m->why);
    if (!rc)
        rc = ek_buf_text(out, "}");
    if (rc)
        out->length = begin;
    return rc;
}
