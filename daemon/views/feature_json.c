/* The board as JSON, for /api/v1/features. */
#include "daemon/views/feature_board.h"

#include "daemon/views/feature_board_internal.h"
#include "daemon/views/tracks.h"
#include "guard/event_json.h"

#include <inttypes.h>
#include <string.h>

static int add_head(const struct ek_board *b, struct ek_buf *out)
{
    return ek_buf_printf(out, "{\"windows\":{\"length_ms\":%" PRId64 ",\"kept\":%d},",
                         b->rules->windows.length_ms, b->rules->windows.kept);
}

static int add_name(const struct ek_board *b, int feature, struct ek_buf *out)
{
    const char *name = b->manifest->item[feature]->name;
    int rc = ek_buf_text(out, "\"feature\":");
    return rc ? rc : ek_buf_json(out, name, strlen(name));
}

static int add_training(const struct ek_board *b, int feature, struct ek_buf *out)
{
    int rc = ek_buf_text(out, ",\"training\":");
    return rc ? rc : ek_values_json(out, &b->training[feature]);
}

static int add_segment(const struct ek_board_cell *c, struct ek_buf *out)
{
    int rc = ek_buf_text(out, "\"segment\":");
    return rc ? rc : ek_segment_json(out, c->dimension, c->value);
}

static int add_view(const char *name, const struct ek_feature_view *v, struct ek_buf *out)
{
    int rc = ek_buf_printf(out, ",\"%s\":", name);
    return rc ? rc : ek_feature_view_json(out, v);
}

/* The segment in which a feature is furthest from training; NULL without any. */
static const struct ek_board_cell *moved_most(const struct ek_board_cell *cells, int count,
                                              int feature)
{
    const struct ek_board_cell *most = NULL;
    for (int i = 1; i < count; i++)
        if (cells[i].complete && cells[i].views[feature][EK_SPAN_RECENT].lists &&
            (!most || ek_feature_view_moved(&cells[i].views[feature][EK_SPAN_RECENT]) >
                          ek_feature_view_moved(&most->views[feature][EK_SPAN_RECENT])))
            most = &cells[i];
    return most;
}

static int add_most(const struct ek_board_cell *most, int feature, struct ek_buf *out)
{
    if (!most)
        return ek_buf_text(out, ",\"moved_most\":null}");
    int rc = ek_buf_text(out, ",\"moved_most\":{");
    if (!rc)
        rc = add_segment(most, out);
    if (!rc)
        rc = add_view("recent", &most->views[feature][EK_SPAN_RECENT], out);
    return rc ? rc : ek_buf_text(out, "}}");
}

static int add_feature(const struct ek_board *b, const struct ek_board_cell *cells, int count,
                       int feature, struct ek_buf *out)
{
    int rc = ek_buf_text(out, feature ? ",\n{" : "\n{");
    if (!rc)
        rc = add_name(b, feature, out);
    if (!rc)
        rc = add_training(b, feature, out);
    if (!rc)
        rc = count && cells[0].complete
                 ? add_view("recent", &cells[0].views[feature][EK_SPAN_RECENT], out)
                 : ek_buf_text(out, ",\"recent\":null");
    return rc ? rc : add_most(moved_most(cells, count, feature), feature, out);
}

int ek_board_features(struct ek_board *b, struct ek_buf *out)
{
    int count;
    const struct ek_board_cell *cells = ek_board_open(b, &count);
    int rc = add_head(b, out);
    if (!rc)
        rc = ek_buf_text(out, "\"features\":[");
    for (int f = 0; !rc && f < b->features; f++)
        rc = add_feature(b, cells, count, f, out);
    ek_board_close(b);
    return rc ? rc : ek_buf_text(out, "]}\n");
}

static int add_cell(const struct ek_board_cell *c, int feature, int first,
                    const struct ek_board_more *more, struct ek_buf *out)
{
    int rc = ek_buf_text(out, first ? "\n{" : ",\n{");
    if (!rc)
        rc = add_segment(c, out);
    for (int span = 0; !rc && span < EK_SPANS; span++)
        rc = add_view(ek_span_name(span), &c->views[feature][span], out);
    if (!rc)
        rc = ek_buf_text(out, ",\"histogram\":");
    if (!rc)
        rc = ek_histogram_json(&c->histograms[feature], out);
    if (!rc && more && more->tracks)
        rc = ek_buf_text(out, ",\"track\":");
    if (!rc && more && more->tracks)
        rc = ek_tracks_json(more->tracks, feature, c->dimension, c->value, out);
    return rc ? rc : ek_buf_text(out, "}");
}

static void no_feature(const struct ek_board *b, const char *name, struct ek_buf *out)
{
    const char *near = ek_manifest_suggest(b->manifest, EK_ROLE_ITEM, name);
    int rc = ek_buf_text(out, "{\"error\":\"no such item feature\",\"did_you_mean\":");
    if (!rc)
        rc = near ? ek_buf_json(out, near, strlen(near)) : ek_buf_text(out, "null");
    if (!rc)
        ek_buf_text(out, "}\n");
}

/* A join or a reload gives the board another manifest meanwhile. */
int ek_board_find(struct ek_board *b, const char *name, struct ek_buf *out)
{
    int count;
    (void)ek_board_open(b, &count);
    int feature = ek_manifest_item(b->manifest, name);
    if (feature < 0)
        no_feature(b, name, out);
    ek_board_close(b);
    return feature;
}

int ek_board_feature(struct ek_board *b, const char *name, const struct ek_board_more *more,
                     struct ek_buf *out)
{
    int count, shown = 0, feature = ek_board_find(b, name, out);
    if (feature < 0)
        return EK_EUSAGE;
    const struct ek_board_cell *cells = ek_board_open(b, &count);
    int rc = add_head(b, out);
    if (!rc)
        rc = add_name(b, feature, out);
    if (!rc)
        rc = add_training(b, feature, out);
    if (!rc)
        rc = ek_buf_printf(out, ",%s\"cells\":[", more ? more->members : "");
    for (int i = 0; !rc && i < count; i++)
        if (cells[i].complete)
            rc = add_cell(&cells[i], feature, !shown++, more, out);
    ek_board_close(b);
    return rc ? rc : ek_buf_text(out, "]}\n");
}
