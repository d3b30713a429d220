/* The board as JSON, for /api/v1/features. */
#include "daemon/views/feature_board.h"

#include "base/json.h"
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
    ek_buf_text(out, "\"feature\":");
    return ek_buf_json(out, name, strlen(name));
}

static int add_training(const struct ek_board *b, int feature, struct ek_buf *out)
{
    ek_buf_text(out, ",\"training\":");
    return ek_values_json(out, &b->training[feature]);
}

static int add_segment(const struct ek_board_cell *c, struct ek_buf *out)
{
    ek_buf_text(out, "\"segment\":");
    return ek_segment_json(out, c->dimension, c->value);
}

static int add_view(const char *name, const struct ek_feature_view *v, struct ek_buf *out)
{
    ek_buf_printf(out, ",\"%s\":", name);
    return ek_feature_view_json(out, v);
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
    ek_buf_text(out, ",\"moved_most\":{");
    add_segment(most, out);
    add_view("recent", &most->views[feature][EK_SPAN_RECENT], out);
    return ek_buf_text(out, "}}");
}

static int add_feature(const struct ek_board *b, const struct ek_board_cell *cells, int count,
                       int feature, struct ek_buf *out)
{
    ek_buf_text(out, feature ? ",\n{" : "\n{");
    add_name(b, feature, out);
    add_training(b, feature, out);
    if (count && cells[0].complete)
        add_view("recent", &cells[0].views[feature][EK_SPAN_RECENT], out);
    else
        ek_buf_text(out, ",\"recent\":null");
    return add_most(moved_most(cells, count, feature), feature, out);
}

int ek_board_features(struct ek_board *b, struct ek_buf *out)
{
    int count;
    const struct ek_board_cell *cells = ek_board_open(b, &count);
    add_head(b, out);
    ek_buf_text(out, "\"features\":[");
    for (int f = 0; f < b->features; f++)
        add_feature(b, cells, count, f, out);
    ek_board_close(b);
    return ek_buf_text(out, "]}\n");
}

static int add_cell(const struct ek_board_cell *c, int feature, int first,
                    const struct ek_board_more *more, struct ek_buf *out)
{
    ek_buf_text(out, first ? "\n{" : ",\n{");
    add_segment(c, out);
    for (int span = 0; span < EK_SPANS; span++)
        add_view(ek_span_name(span), &c->views[feature][span], out);
    ek_buf_text(out, ",\"histogram\":");
    ek_histogram_json(&c->histograms[feature], out);
    if (more && more->tracks) {
        ek_buf_text(out, ",\"track\":");
        ek_tracks_json(more->tracks, feature, c->dimension, c->value, out);
    }
    return ek_buf_text(out, "}");
}

static void no_feature(const struct ek_board *b, const char *name, struct ek_buf *out)
{
    const char *near = ek_manifest_suggest(b->manifest, EK_ROLE_ITEM, name);
    struct ek_json_writer w;
    ek_json_init(&w, out);
    ek_json_open(&w, NULL, '{');
    ek_json_add_text(&w, "error", "no such item feature");
    ek_json_add_text(&w, "did_you_mean", near);
    ek_json_close(&w, '}');
    ek_buf_text(out, "\n");
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
    add_head(b, out);
    add_name(b, feature, out);
    add_training(b, feature, out);
    ek_buf_printf(out, ",%s\"cells\":[", more ? more->members : "");
    for (int i = 0; i < count; i++)
        if (cells[i].complete)
            add_cell(&cells[i], feature, !shown++, more, out);
    ek_board_close(b);
    return ek_buf_text(out, "]}\n");
}
