#include "daemon/commands/moved.h"

#include "guard/event.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { SEGMENT_COLUMNS = 15 };

struct entry {
    int cell, feature;
    struct ek_feature_view view;
};

struct moved {
    struct entry entry[EK_MOVED_MOST];
    int count;
};

/* Keeps the furthest, in order; of equals the first that came. */
static void insert(struct moved *m, const struct entry *e)
{
    double far = ek_feature_view_moved(&e->view);
    int at = m->count;
    while (at > 0 && ek_feature_view_moved(&m->entry[at - 1].view) < far)
        at--;
    if (at == EK_MOVED_MOST)
        return;
    m->count += m->count < EK_MOVED_MOST;
    memmove(m->entry + at + 1, m->entry + at, (size_t)(m->count - at - 1) * sizeof *m->entry);
    m->entry[at] = *e;
}

static void look(struct ek_traffic *t, struct moved *m)
{
    struct ek_feature_view views[EK_SPANS];
    for (int c = 0; c < ek_traffic_cells(t); c++)
        for (int f = 0; f < ek_traffic_features(t); f++) {
            if (!ek_traffic_view(t, c, f, views))
                break;
            struct entry e = {c, f, views[EK_SPAN_RECENT]};
            if (ek_feature_view_moved(&e.view) >= EK_MOVED_LEAST)
                insert(m, &e);
        }
}

/* Values come from messages: a terminal shall not obey them. */
static void segment_text(struct ek_traffic *t, int cell, char text[SEGMENT_COLUMNS + 1])
{
    const char *dimension, *value;
    ek_traffic_cell(t, cell, &dimension, &value);
    snprintf(text, SEGMENT_COLUMNS + 1, "%s%s%s", dimension ? dimension : "all",
             dimension ? "=" : "",
             !dimension ? ""
             : value    ? value
                        : EK_SEGMENT_OTHER);
    for (; *text; text++)
        if (!isprint((unsigned char)*text))
            *text = '?';
}

static int add_row(struct ek_traffic *t, const char *name, const struct entry *e,
                   struct ek_buf *out)
{
    char segment[SEGMENT_COLUMNS + 1];
    const struct ek_divergence *d = &e->view.divergence;
    segment_text(t, e->cell, segment);
    return ek_buf_printf(out, "    %-17.17s %-15s %6.3f %5.3f %10.4g %10.4g %6.1f%%\n", name,
                         segment, d->psi, d->ks, e->view.values.quantile[EK_MEDIAN],
                         ek_traffic_training(t)[e->feature].quantile[EK_MEDIAN],
                         100 * e->view.values.missing);
}

static int add_object(struct ek_traffic *t, const char *name, const struct entry *e, int first,
                      struct ek_buf *out)
{
    const char *dimension, *value;
    ek_traffic_cell(t, e->cell, &dimension, &value);
    int rc = ek_buf_text(out, first ? "{\"feature\":" : ",{\"feature\":");
    if (!rc)
        rc = ek_buf_json(out, name, strlen(name));
    if (!rc)
        rc = ek_buf_text(out, ",\"segment\":");
    if (!rc)
        rc = ek_segment_json(out, dimension, value);
    if (!rc)
        rc = ek_buf_text(out, ",\"training\":");
    if (!rc)
        rc = ek_values_json(out, &ek_traffic_training(t)[e->feature]);
    if (!rc)
        rc = ek_buf_text(out, ",\"recent\":");
    if (!rc)
        rc = ek_feature_view_json(out, &e->view);
    return rc ? rc : ek_buf_text(out, "}");
}

int ek_moved_write(struct ek_traffic *t, const struct ek_manifest *m, struct ek_buf *table,
                   struct ek_buf *json)
{
    struct moved moved = {.count = 0};
    look(t, &moved);
    int rc = ek_buf_text(json, "[");
    if (!rc && moved.count)
        rc = ek_buf_printf(table,
                           "  furthest from training at the end (the last two windows):\n"
                           "    %-17s %-15s %6s %5s %10s %10s %7s\n",
                           "feature", "segment", "psi", "ks", "median", "training", "missing");
    for (int i = 0; !rc && i < moved.count; i++) {
        const struct entry *e = &moved.entry[i];
        const char *name = m->item[e->feature]->name;
        rc = add_row(t, name, e, table);
        if (!rc)
            rc = add_object(t, name, e, !i, json);
    }
    return rc ? rc : ek_buf_text(json, "]");
}
