/* Lists as JSON, for generators, converters and tests; live messages are patched. */
#include "lists/codec.h"
#include "lists/codec_inner.h"
#include "lists/codec_json.h"

#include <math.h>

/* After a failure nothing more is taken: no message with a hole. */
struct text {
    struct ek_buf *out;
    int rc;
};

static void add(struct text *t, const char *bytes, size_t length)
{
    if (!t->rc)
        t->rc = ek_buf_add(t->out, bytes, length);
}

static void word(struct text *t, const char *w)
{
    add(t, w, strlen(w));
}

static void quoted(struct text *t, struct ek_text view)
{
    if (!t->rc)
        t->rc = ek_buf_json(t->out, view.text, view.length);
}

/* The comma before all but the first of what an object or array holds, then the key. */
static void key(struct text *t, bool *first, const char *name)
{
    word(t, *first ? "" : ",");
    *first = false;
    quoted(t, ek_text_of(name));
    word(t, ":");
}

static void number(struct text *t, double value)
{
    char digits[EK_JSON_NUMBER_BYTES];
    size_t length = ek_json_double(digits, value);
    add(t, length ? digits : "null", length ? length : 4);
}

static void narrow(struct text *t, float value)
{
    char digits[EK_JSON_NUMBER_BYTES];
    size_t length = ek_json_float(digits, value);
    add(t, length ? digits : "null", length ? length : 4);
}

static void whole(struct text *t, int64_t value)
{
    if (!t->rc)
        t->rc = ek_buf_printf(t->out, "%lld", (long long)value);
}

static void put_array(struct text *t, const float *values, int count)
{
    word(t, "[");
    for (int i = 0; i < count; i++) {
        word(t, i ? "," : "");
        narrow(t, values[i]);
    }
    word(t, "]");
}

static void put_map(struct text *t, const struct ek_feature *const *features, const float *values,
                    int count)
{
    bool first = true;
    word(t, "{");
    for (int i = 0; i < count; i++) {
        if (isnan(values[i]))
            continue;
        key(t, &first, features[i]->name);
        narrow(t, values[i]);
    }
    word(t, "}");
}

static void put_values(struct text *t, enum ek_feature_encoding encoding,
                       const struct ek_feature *const *features, const float *values, int count)
{
    if (encoding == EK_FEATURES_JSON_MAP)
        put_map(t, features, values, count);
    else
        put_array(t, values, count);
}

static void put_item(struct text *t, const struct ek_encode *w, int i)
{
    const struct ek_manifest *m = w->m;
    const struct ek_query *q = w->q;
    bool first = true;
    word(t, "{");
    if (q->item_id && q->item_id[i].text) {
        key(t, &first, "id");
        quoted(t, q->item_id[i]);
    }
    key(t, &first, "score");
    number(t, q->score ? q->score[i] : NAN);
    if (q->has_label) {
        key(t, &first, "label");
        narrow(t, q->label[i]);
    }
    if (q->sources) {
        key(t, &first, "source");
        whole(t, q->source[i]);
    }
    key(t, &first, "features");
    put_values(t, w->encoding, m->item, q->x + (size_t)i * (size_t)m->item_count, m->item_count);
    word(t, "}");
}

static void put_segments(struct text *t, const struct ek_query *q)
{
    word(t, "{");
    for (int i = 0; i < q->segment_count; i++) {
        word(t, i ? "," : "");
        quoted(t, q->segments[i].name);
        word(t, ":");
        quoted(t, q->segments[i].value);
    }
    word(t, "}");
}

static void put_means(struct text *t, const double *mean, int count)
{
    word(t, "[");
    for (int i = 0; i < count; i++) {
        word(t, i ? "," : "");
        number(t, mean[i]);
    }
    word(t, "]");
}

static void put_head(struct text *t, bool *first, const struct ek_encode *w)
{
    const struct ek_manifest *m = w->m;
    const struct ek_query *q = w->q;
    int features = m->query_count - m->derived_count, list_items = ek_encode_list_items(w);
    if (q->id.text) {
        key(t, first, "query");
        quoted(t, q->id);
    }
    if (q->time_ms >= 0) {
        key(t, first, "time_ms");
        whole(t, q->time_ms);
    }
    if (q->segment_count) {
        key(t, first, "segments");
        put_segments(t, q);
    }
    if (features > 0) {
        key(t, first, "query_features");
        put_values(t, w->encoding, m->query, q->query, features);
    }
    if (list_items) {
        key(t, first, "list_items");
        whole(t, list_items);
    }
    if (q->has_log_means) {
        key(t, first, "log_means");
        put_means(t, q->log_mean, m->routable_count);
    }
}

static void put_items(struct text *t, const struct ek_encode *w)
{
    word(t, "[");
    for (int i = 0; i < w->q->items; i++) {
        word(t, i ? "," : "");
        put_item(t, w, i);
    }
    word(t, "]");
}

int ek_encode_json(const struct ek_encode *w, struct ek_buf *out)
{
    struct text t = {out, EK_OK};
    bool first = true;
    word(&t, "{");
    put_head(&t, &first, w);
    key(&t, &first, w->item < 0 ? "items" : "item");
    if (w->item < 0)
        put_items(&t, w);
    else
        put_item(&t, w, w->item);
    word(&t, "}");
    return t.rc;
}
