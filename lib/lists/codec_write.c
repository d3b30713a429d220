/* Encoder (msgpack-c) for generators, converters and tests; live messages are patched, not
 * re-encoded. */
#include "lists/codec.h"
#include "lists/codec_internal.h"
#include "lists/codec_json.h"

#include <math.h>
#include <msgpack.h>

/* Output of msgpack-c. After an error nothing more is appended, so no message has a gap. */
struct sink {
    struct ek_buf *out;
    int rc;
};

static int append(void *data, const char *bytes, size_t length)
{
    struct sink *sink = data;
    if (!sink->rc)
        sink->rc = ek_buf_add(sink->out, bytes, length);
    return sink->rc;
}

static void pack_text(msgpack_packer *p, const char *text)
{
    msgpack_pack_str_with_body(p, text, strlen(text));
}

static void pack_view(msgpack_packer *p, struct ek_text view)
{
    msgpack_pack_str_with_body(p, view.text, view.length);
}

static void pack_array(msgpack_packer *p, const float *values, int count)
{
    msgpack_pack_array(p, (size_t)count);
    for (int i = 0; i < count; i++)
        if (isnan(values[i]))
            msgpack_pack_nil(p);
        else
            msgpack_pack_float(p, values[i]);
}

static void pack_bin(msgpack_packer *p, const float *values, int count)
{
    msgpack_pack_bin(p, (size_t)count * sizeof *values);
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    msgpack_pack_bin_body(p, values, (size_t)count * sizeof *values);
#else
    for (int i = 0; i < count; i++) {
        const unsigned char *b = (const unsigned char *)(values + i);
        msgpack_pack_bin_body(p, (unsigned char[]){b[3], b[2], b[1], b[0]}, sizeof *values);
    }
#endif
}

static void pack_map(msgpack_packer *p, const struct ek_feature *const *features,
                     const float *values, int count)
{
    size_t present = 0;
    for (int i = 0; i < count; i++)
        present += !isnan(values[i]);
    msgpack_pack_map(p, present);
    for (int i = 0; i < count; i++) {
        if (isnan(values[i]))
            continue;
        pack_text(p, features[i]->name);
        msgpack_pack_float(p, values[i]);
    }
}

static void pack_values(msgpack_packer *p, enum ek_feature_encoding encoding,
                        const struct ek_feature *const *features, const float *values, int count)
{
    if (encoding == EK_FEATURES_BIN)
        pack_bin(p, values, count);
    else if (encoding == EK_FEATURES_MAP)
        pack_map(p, features, values, count);
    else
        pack_array(p, values, count);
}

static void pack_item(msgpack_packer *p, const struct ek_codec_encode_state *w, bool wide, int i)
{
    const struct ek_manifest *m = w->m;
    const struct ek_list *q = w->q;
    bool id = q->item_id && q->item_id[i].text;
    msgpack_pack_map(p, 2u + id + q->has_label + (q->sources > 0));
    if (id) {
        pack_text(p, "id");
        pack_view(p, q->item_id[i]);
    }
    pack_text(p, "score");
    if (!q->score || isnan(q->score[i]))
        msgpack_pack_nil(p);
    else if (wide)
        msgpack_pack_double(p, q->score[i]);
    else
        msgpack_pack_float(p, (float)q->score[i]);
    if (q->has_label) {
        pack_text(p, "label");
        msgpack_pack_float(p, q->label[i]);
    }
    if (q->sources) {
        pack_text(p, "source");
        msgpack_pack_int(p, q->source[i]);
    }
    pack_text(p, "features");
    pack_values(p, w->encoding, m->item, q->x + (size_t)i * (size_t)m->item_count, m->item_count);
}

/* All scores of a list have the same width, so that patching treats them alike. */
static bool needs_float64(const struct ek_list *q)
{
    for (int i = 0; q->score && i < q->items; i++)
        if (!isnan(q->score[i]) && (double)(float)q->score[i] != q->score[i])
            return true;
    return false;
}

static void pack_means(msgpack_packer *p, const double *mean, int count)
{
    pack_text(p, "log_means");
    msgpack_pack_array(p, (size_t)count);
    for (int i = 0; i < count; i++)
        if (isnan(mean[i]))
            msgpack_pack_nil(p);
        else
            msgpack_pack_double(p, mean[i]);
}

static void pack_head(msgpack_packer *p, const struct ek_codec_encode_state *w)
{
    const struct ek_manifest *m = w->m;
    const struct ek_list *q = w->q;
    int features = m->query_count - m->derived_count, list_items = ek_encode_list_items(w);
    msgpack_pack_map(p, 1u + (q->id.text != NULL) + (q->time_ms >= 0) + (q->segment_count > 0) +
                            (features > 0) + (list_items > 0) + q->has_log_means);
    if (q->id.text) {
        pack_text(p, "query");
        pack_view(p, q->id);
    }
    if (q->time_ms >= 0) {
        pack_text(p, "time_ms");
        msgpack_pack_int64(p, q->time_ms);
    }
    if (q->segment_count) {
        pack_text(p, "segments");
        msgpack_pack_map(p, (size_t)q->segment_count);
        for (int i = 0; i < q->segment_count; i++) {
            pack_view(p, q->segments[i].name);
            pack_view(p, q->segments[i].value);
        }
    }
    if (features > 0) {
        pack_text(p, "query_features");
        pack_values(p, w->encoding, m->query, q->query, features);
    }
    if (list_items) {
        pack_text(p, "list_items");
        msgpack_pack_int(p, list_items);
    }
    if (q->has_log_means)
        pack_means(p, q->log_mean, m->routable_count);
}

static int encode_msgpack(const struct ek_codec_encode_state *w, struct ek_buf *out)
{
    msgpack_packer p;
    struct sink sink = {out, EK_OK};
    bool wide = needs_float64(w->q);
    msgpack_packer_init(&p, &sink, append);
    pack_head(&p, w);
    pack_text(&p, w->item < 0 ? "items" : "item");
    if (w->item >= 0) {
        pack_item(&p, w, wide, w->item);
        return sink.rc;
    }
    msgpack_pack_array(&p, (size_t)w->q->items);
    for (int i = 0; i < w->q->items; i++)
        pack_item(&p, w, wide, i);
    return sink.rc;
}

static int encode_json(const struct ek_codec_encode_state *w, struct ek_buf *out);

static int encode(const struct ek_codec_encode_state *w, struct ek_buf *out, struct ek_error *e)
{
    const struct ek_manifest *m = w->m;
    const struct ek_list *q = w->q;
    size_t start = out->length;
    if (q->item_features != m->item_count || q->query_features != m->query_count)
        return ek_fail(e, EK_ESTATE, "a list of %d and %d features, the manifest has %d and %d",
                       q->item_features, q->query_features, m->item_count, m->query_count);
    int rc = w->encoding >= EK_FEATURES_JSON ? encode_json(w, out) : encode_msgpack(w, out);
    if (!rc)
        return EK_OK;
    ek_buf_truncate(out, start);
    return ek_fail(e, (enum ek_code)rc, "out of memory");
}

int ek_codec_encode(const struct ek_manifest *m, const struct ek_list *q,
                    enum ek_feature_encoding encoding, struct ek_buf *out, struct ek_error *e)
{
    return encode(&(struct ek_codec_encode_state){m, q, encoding, -1}, out, e);
}

int ek_codec_encode_item(const struct ek_manifest *m, const struct ek_list *q, int i,
                         enum ek_feature_encoding encoding, struct ek_buf *out, struct ek_error *e)
{
    return encode(&(struct ek_codec_encode_state){m, q, encoding, i}, out, e);
}

/* After an error nothing more is appended, so no message has a gap. */
struct text {
    struct ek_buf *out;
    int rc;
};

static void add(struct text *t, const char *bytes, size_t length)
{
    if (!t->rc)
        t->rc = ek_buf_add(t->out, bytes, length);
}

static void add_text(struct text *t, const char *w)
{
    add(t, w, strlen(w));
}

static void quoted(struct text *t, struct ek_text view)
{
    if (!t->rc)
        t->rc = ek_buf_json(t->out, view.text, view.length);
}

/* Append a comma unless first, then the key. */
static void key(struct text *t, bool *first, const char *name)
{
    add_text(t, *first ? "" : ",");
    *first = false;
    quoted(t, ek_text_from(name));
    add_text(t, ":");
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

static void write_array(struct text *t, const float *values, int count)
{
    add_text(t, "[");
    for (int i = 0; i < count; i++) {
        add_text(t, i ? "," : "");
        narrow(t, values[i]);
    }
    add_text(t, "]");
}

static void write_map(struct text *t, const struct ek_feature *const *features, const float *values,
                      int count)
{
    bool first = true;
    add_text(t, "{");
    for (int i = 0; i < count; i++) {
        if (isnan(values[i]))
            continue;
        key(t, &first, features[i]->name);
        narrow(t, values[i]);
    }
    add_text(t, "}");
}

static void write_values(struct text *t, enum ek_feature_encoding encoding,
                         const struct ek_feature *const *features, const float *values, int count)
{
    if (encoding == EK_FEATURES_JSON_MAP)
        write_map(t, features, values, count);
    else
        write_array(t, values, count);
}

static void write_item(struct text *t, const struct ek_codec_encode_state *w, int i)
{
    const struct ek_manifest *m = w->m;
    const struct ek_list *q = w->q;
    bool first = true;
    add_text(t, "{");
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
    write_values(t, w->encoding, m->item, q->x + (size_t)i * (size_t)m->item_count, m->item_count);
    add_text(t, "}");
}

static void write_segments(struct text *t, const struct ek_list *q)
{
    add_text(t, "{");
    for (int i = 0; i < q->segment_count; i++) {
        add_text(t, i ? "," : "");
        quoted(t, q->segments[i].name);
        add_text(t, ":");
        quoted(t, q->segments[i].value);
    }
    add_text(t, "}");
}

static void write_means(struct text *t, const double *mean, int count)
{
    add_text(t, "[");
    for (int i = 0; i < count; i++) {
        add_text(t, i ? "," : "");
        number(t, mean[i]);
    }
    add_text(t, "]");
}

static void write_head(struct text *t, bool *first, const struct ek_codec_encode_state *w)
{
    const struct ek_manifest *m = w->m;
    const struct ek_list *q = w->q;
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
        write_segments(t, q);
    }
    if (features > 0) {
        key(t, first, "query_features");
        write_values(t, w->encoding, m->query, q->query, features);
    }
    if (list_items) {
        key(t, first, "list_items");
        whole(t, list_items);
    }
    if (q->has_log_means) {
        key(t, first, "log_means");
        write_means(t, q->log_mean, m->routable_count);
    }
}

static void write_items(struct text *t, const struct ek_codec_encode_state *w)
{
    add_text(t, "[");
    for (int i = 0; i < w->q->items; i++) {
        add_text(t, i ? "," : "");
        write_item(t, w, i);
    }
    add_text(t, "]");
}

/* Append a message as JSON; on error a part of it may remain. */
static int encode_json(const struct ek_codec_encode_state *w, struct ek_buf *out)
{
    struct text t = {out, EK_OK};
    bool first = true;
    add_text(&t, "{");
    write_head(&t, &first, w);
    key(&t, &first, w->item < 0 ? "items" : "item");
    if (w->item < 0)
        write_items(&t, w);
    else
        write_item(&t, w, w->item);
    add_text(&t, "}");
    return t.rc;
}
