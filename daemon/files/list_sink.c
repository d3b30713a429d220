#include "daemon/files/list_sink.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/parse.h"
#include "base/json.h"
#include "lists/letor_write.h"
#include "offline/world/synthetic_lists.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct ek_list_sink {
    const struct ek_list_sink_options *o;
    struct ek_upstream *upstream;
    struct ek_writer *writer;
    struct ek_buf bytes;
    uint64_t queries, items;
};

static void free_sink(struct ek_list_sink *s)
{
    ek_upstream_free(s->upstream);
    ek_buf_release(&s->bytes);
    ek_free(s);
}

int ek_list_sink_open(struct ek_list_sink **out, const struct ek_list_sink_options *o,
                      struct ek_error *e)
{
    struct ek_list_sink *s = ek_calloc(1, sizeof *s);
    if (!s)
        return ek_fail(e, EK_ENOMEM, "no memory for the output");
    s->o = o;
    ek_buf_init(&s->bytes, 0);
    int rc = ek_upstream_new(&s->upstream, &o->upstream, e);
    if (!rc)
        rc = ek_writer_open(&s->writer, o->path, e);
    if (rc) {
        free_sink(s);
        return rc;
    }
    *out = s;
    return EK_OK;
}

struct ek_upstream *ek_list_sink_upstream(struct ek_list_sink *s)
{
    return s->upstream;
}

static int add_line_end(struct ek_list_sink *s, struct ek_error *e)
{
    return ek_buf_text(&s->bytes, "\n") ? ek_fail(e, EK_ENOMEM, "no memory for a line") : EK_OK;
}

/* Mean ln|x| of the usable values of a feature; NaN without any. */
static double mean_of(const struct ek_query *q, int feature)
{
    double sum = 0, count = 0;
    for (int i = 0; i < q->items; i++) {
        double x = fabs((double)q->x[(size_t)i * (size_t)q->item_features + (size_t)feature]);
        if (!isfinite(x) || x == 0)
            continue;
        sum += log(x);
        count++;
    }
    return count > 0 ? sum / count : (double)NAN;
}

/* A model of lists can score an item with the means of its list. */
static int take_means(struct ek_query *q, const struct ek_manifest *m, struct ek_error *e)
{
    if (ek_query_mean_room(q, m->routable_count))
        return ek_fail(e, EK_ENOMEM, "no memory for %d means", m->routable_count);
    for (int f = 0; f < m->item_count; f++)
        if (m->routable_of_item[f] >= 0)
            q->log_mean[m->routable_of_item[f]] = mean_of(q, f);
    q->has_log_means = true;
    return EK_OK;
}

static int encode_items(struct ek_list_sink *s, struct ek_query *q, struct ek_error *e)
{
    const struct ek_manifest *m = s->o->upstream.manifest;
    int rc = take_means(q, m, e);
    for (int i = 0; !rc && i < q->items; i++) {
        rc = ek_codec_encode_item(m, q, i, s->o->encoding, &s->bytes, e);
        if (!rc && s->o->encoding >= EK_FEATURES_JSON)
            rc = add_line_end(s, e);
    }
    q->has_log_means = false;
    return rc;
}

/* JSON has one message a line. */
static int encode(struct ek_list_sink *s, struct ek_query *q, struct ek_error *e)
{
    if (s->o->layout == EK_LAYOUT_ITEM)
        return encode_items(s, q, e);
    int rc = ek_codec_encode(s->o->upstream.manifest, q, s->o->encoding, &s->bytes, e);
    return !rc && s->o->encoding >= EK_FEATURES_JSON ? add_line_end(s, e) : rc;
}

int ek_list_sink_put(struct ek_list_sink *s, struct ek_query *q, uint64_t number,
                     struct ek_error *e)
{
    const struct ek_manifest *m = s->o->upstream.manifest;
    if (s->o->sources) {
        q->sources = s->o->sources;
        ek_sources_draw(q->source, q->items, q->sources, number, s->o->upstream.seed);
    }
    int rc = ek_upstream_apply(s->upstream, q, number, e);
    if (rc)
        return rc;
    ek_buf_clear(&s->bytes);
    s->queries++;
    s->items += (uint64_t)q->items;
    rc = s->o->letor ? ek_letor_write(m, q, number + 1, &s->bytes, e) : encode(s, q, e);
    return rc ? rc : ek_writer_write(s->writer, s->bytes.data, s->bytes.length, e);
}

static void warn_of_idle_faults(const struct ek_list_sink *s)
{
    for (size_t i = 0; i < s->o->upstream.fault_count; i++)
        if (!ek_upstream_hits(s->upstream, i))
            fprintf(stderr, "evenkeel %s: warning: fault '%s' hit no query\n", s->o->command,
                    s->o->upstream.faults[i]);
}

static int tell(const struct ek_list_sink *s, struct ek_error *e)
{
    struct ek_buf line;
    struct ek_json_writer of;
    ek_json_begin_line(&of, &line);
    ek_json_add_text(&of, "output", s->o->path);
    ek_json_add_count(&of, "queries", s->queries);
    ek_json_add_count(&of, "items", s->items);
    if (!s->o->letor)
        ek_json_add_count(&of, "messages", s->o->layout == EK_LAYOUT_ITEM ? s->items : s->queries);
    ek_json_open(&of, "faults", '[');
    for (size_t i = 0; i < s->o->upstream.fault_count; i++) {
        ek_json_open(&of, NULL, '{');
        ek_json_add_text(&of, "fault", s->o->upstream.faults[i]);
        ek_json_add_count(&of, "queries", ek_upstream_hits(s->upstream, i));
        ek_json_close(&of, '}');
    }
    ek_json_close(&of, ']');
    return ek_json_end_line(&of, stdout, e);
}

int ek_list_sink_close(struct ek_list_sink *s, struct ek_error *e)
{
    int rc = ek_writer_close(s->writer, e);
    if (!rc)
        warn_of_idle_faults(s);
    if (!rc && s->o->json)
        rc = tell(s, e);
    free_sink(s);
    return rc;
}

void ek_list_sink_abandon(struct ek_list_sink *s)
{
    if (!s)
        return;
    ek_writer_abandon(s->writer);
    free_sink(s);
}

int ek_encoding_parse(const char *text, enum ek_feature_encoding *out, struct ek_error *e)
{
    static const char *const names[] = {"array", "bin", "map", "json", "json-map"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(text, names[i])) {
            *out = (enum ek_feature_encoding)i;
            return EK_OK;
        }
    return ek_fail(e, EK_EUSAGE, "unknown encoding '%s' (array, bin, map, json, json-map)", text);
}

int ek_layout_parse(const char *text, enum ek_message_layout *out, struct ek_error *e)
{
    bool item = !strcmp(text, "item");
    if (!item && strcmp(text, "list") != 0)
        return ek_fail(e, EK_EUSAGE, "unknown layout '%s' (list, item)", text);
    *out = item ? EK_LAYOUT_ITEM : EK_LAYOUT_LIST;
    return EK_OK;
}
