#include "daemon/commands/inspect.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/date.h"
#include "detect/snapshot_view.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { TOP = 10, CELL_TEXT = 80 };

/* "all", "market=m03", "market=(others)". */
static const char *cell_name(const struct ek_snapshot_view *v, int cell, char text[CELL_TEXT])
{
    const char *dimension = ek_cells_dimension_name(v->cells, cell);
    const char *value = ek_cells_value(v->cells, cell);
    if (dimension)
        snprintf(text, CELL_TEXT, "%s=%s", dimension, value ? value : "(others)");
    else
        snprintf(text, CELL_TEXT, "all");
    return text;
}

/* Feature numbers [features], most evidence first. */
static int *by_evidence(const struct ek_snapshot_view *v)
{
    int *order = ek_calloc((size_t)v->head.kind.features, sizeof *order);
    for (int f = 0; order && f < v->head.kind.features; f++) {
        int at = f;
        for (; at > 0 && v->evidence[order[at - 1]].ln < v->evidence[f].ln; at--)
            order[at] = order[at - 1];
        order[at] = f;
    }
    return order;
}

static void table_head(const struct ek_snapshot_view *v, FILE *to)
{
    fprintf(to,
            "snapshot of a detector\n  manifest        %016" PRIx64
            "\n  profile         %016" PRIx64 "\n  item features   %d\n  lists           %" PRIu64
            ", %" PRIu64
            " of them in the history\n  cells           %d of %d\n  findings        %" PRIu64
            " wait\n\n",
            v->head.manifest, v->head.kind.profile, v->head.kind.features, v->lists, v->remembered,
            ek_cells_count(v->cells), ek_cells_most(v->cells), v->waiting);
    fprintf(to, "%-24s %8s %12s %12s %14s\n", "dimension", "values", "lists", "pooled lists",
            "pooled values");
    for (int d = 0; d < ek_cells_dimensions(v->cells); d++) {
        struct ek_cells_share s = ek_cells_share_of(v->cells, d);
        fprintf(to, "%-24s %8d %12" PRIu64 " %12" PRIu64 " %14.0f\n", s.dimension, s.own, s.lists,
                s.pooled, s.pooled_values);
    }
}

static void table_changes(const struct ek_snapshot_view *v, FILE *to)
{
    char cell[CELL_TEXT], since[EK_DATE_TEXT];
    fprintf(to, "\n%-8s %-24s %-24s %-10s %-13s %10s %8s  %s\n", "change", "feature", "cell",
            "state", "class", "factor", "lists", "since");
    for (int i = 0; i < v->changes; i++) {
        const struct ek_snapshot_change *c = &v->change[i];
        fprintf(to, "%-8" PRIu32 " %-24s %-24s %-10s %-13s ", c->number, v->feature[c->feature],
                cell_name(v, c->cell, cell), c->confirmed ? "confirmed" : "suspected",
                c->confirmed ? ek_class_name(c->class) : "-");
        if (isnan(c->factor))
            fprintf(to, "%10s", "-");
        else
            fprintf(to, "%10.4g", c->factor);
        fprintf(to, " %8" PRIu32 "  %s\n", c->lists, ek_date_text(c->since_ms, since));
    }
}

static void table_evidence(const struct ek_snapshot_view *v, const int *order, FILE *to)
{
    char cell[CELL_TEXT];
    fprintf(to, "\n%-24s %-24s %12s\n", "most evidence", "cell", "ln evidence");
    for (int i = 0; i < v->head.kind.features && i < TOP; i++) {
        const struct ek_snapshot_evidence *one = &v->evidence[order[i]];
        fprintf(to, "%-24s %-24s %12.2f\n", v->feature[order[i]], cell_name(v, one->cell, cell),
                one->ln);
    }
}

/* Numbers without infinities, which JSON does not have. */
static int json_number(struct ek_buf *b, const char *key, double value)
{
    return isfinite(value) ? ek_buf_printf(b, ",\"%s\":%.7g", key, value)
                           : ek_buf_printf(b, ",\"%s\":null", key);
}

static int json_text(struct ek_buf *b, const char *key, const char *text)
{
    int rc = ek_buf_printf(b, ",\"%s\":", key);
    if (rc)
        return rc;
    return text ? ek_buf_json(b, text, strlen(text)) : ek_buf_text(b, "null");
}

/* Codes are added up: any failure is one of memory. */
static int json_cells(const struct ek_snapshot_view *v, struct ek_buf *b)
{
    int rc = ek_buf_text(b, ",\"cells\":[");
    for (int cell = 0; cell < ek_cells_count(v->cells); cell++) {
        rc |= ek_buf_printf(b, "%s{\"number\":%d", cell ? "," : "", cell);
        rc |= json_text(b, "dimension", ek_cells_dimension_name(v->cells, cell));
        rc |= json_text(b, "value", ek_cells_value(v->cells, cell));
        rc |= ek_buf_text(b, "}");
    }
    return rc | ek_buf_text(b, "]");
}

static int json_changes(const struct ek_snapshot_view *v, struct ek_buf *b)
{
    int rc = ek_buf_text(b, ",\"changes\":[");
    for (int i = 0; i < v->changes; i++) {
        const struct ek_snapshot_change *c = &v->change[i];
        rc |= ek_buf_printf(
            b,
            "%s{\"number\":%" PRIu32 ",\"cause\":%" PRIu32 ",\"cell\":%d,\"lists\":%" PRIu32
            ",\"since_query\":%" PRIu64 ",\"since_ms\":%" PRId64,
            i ? "," : "", c->number, c->cause, c->cell, c->lists, c->since_query, c->since_ms);
        rc |= json_text(b, "state", c->confirmed ? "confirmed" : "suspected");
        rc |= json_text(b, "feature", v->feature[c->feature]);
        rc |= json_text(b, "signal", c->signal);
        rc |= json_text(b, "class", c->confirmed ? ek_class_name(c->class) : NULL);
        rc |= json_number(b, "factor", c->factor);
        rc |= json_number(b, "share", c->share);
        rc |= ek_buf_text(b, "}");
    }
    return rc | ek_buf_text(b, "]");
}

static int json_evidence(const struct ek_snapshot_view *v, struct ek_buf *b)
{
    int rc = ek_buf_text(b, ",\"evidence\":[");
    for (int f = 0; f < v->head.kind.features; f++) {
        rc |= ek_buf_printf(b, "%s{\"cell\":%d", f ? "," : "", v->evidence[f].cell);
        rc |= json_text(b, "feature", v->feature[f]);
        rc |= json_number(b, "ln", v->evidence[f].ln);
        rc |= ek_buf_text(b, "}");
    }
    return rc | ek_buf_text(b, "]");
}

static int show_json(const struct ek_snapshot_view *v, FILE *to)
{
    struct ek_buf b;
    ek_buf_init(&b, 0);
    int rc = ek_buf_printf(
        &b,
        "{\"kind\":\"snapshot\",\"manifest\":\"%016" PRIx64 "\",\"profile\":\"%016" PRIx64
        "\",\"lists\":%" PRIu64 ",\"history\":%" PRIu64 ",\"waiting\":%" PRIu64,
        v->head.manifest, v->head.kind.profile, v->lists, v->remembered, v->waiting);
    rc |= json_cells(v, &b);
    rc |= json_changes(v, &b);
    rc |= json_evidence(v, &b);
    rc |= ek_buf_text(&b, "}\n");
    if (!rc)
        fwrite(b.data, 1, b.length, to);
    ek_buf_release(&b);
    return rc ? EK_ENOMEM : EK_OK;
}

static int show_table(const struct ek_snapshot_view *v, FILE *to)
{
    int *order = by_evidence(v);
    if (!order)
        return EK_ENOMEM;
    table_head(v, to);
    table_changes(v, to);
    table_evidence(v, order, to);
    ek_free(order);
    return EK_OK;
}

int ek_inspect_snapshot(const struct ek_buf *bytes, enum ek_inspect_form form, FILE *to,
                        struct ek_error *e)
{
    struct ek_snapshot_view *v;
    int rc = ek_snapshot_view_new(&v, bytes->data, bytes->length, e);
    if (rc)
        return rc;
    rc = form == EK_INSPECT_JSON ? show_json(v, to) : show_table(v, to);
    ek_snapshot_view_free(v);
    return rc ? ek_fail(e, rc, "out of memory") : EK_OK;
}
