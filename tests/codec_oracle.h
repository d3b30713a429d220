/* Independent message decoder on msgpack-c, for comparison with the codec. Uses the default field
 * names; for property tests and fuzzing. */
#ifndef EK_TESTS_CODEC_ORACLE_H
#define EK_TESTS_CODEC_ORACLE_H

#include "base/alloc.h"
#include "base/date.h"
#include "lists/codec.h"
#include "lists/codec_wire.h"

#include <math.h>
#include <msgpack.h>
#include <stdio.h>
#include <string.h>

/* Below msgpack-c's limit of 32 levels, so that the codec rejects first. */
enum { EK_ORACLE_DEPTH = 16 };

static const char EK_ORACLE_FEATURES[] =
    "features:\n"
    "  - {name: price, index: 1, role: item, routable: true}\n"
    "  - {name: rating, index: 2, role: item}\n"
    "  - {name: a_feature_with_a_name_too_long_for_a_short_text, index: 3, role: item}\n"
    "  - {name: stars, index: 4, role: item}\n"
    "  - {name: nights, index: 5, role: query}\n"
    "  - {name: guests, index: 6, role: query}\n"
    "derived_query_features: [log_list_size]\n";

static inline bool ek_oracle_is(const msgpack_object *o, const char *text)
{
    return o->type == MSGPACK_OBJECT_STR && o->via.str.size == strlen(text) &&
           !memcmp(o->via.str.ptr, text, o->via.str.size);
}

/* Return the number of occurrences of a key in a map; set *value to the last one. */
static inline int ek_oracle_find(const msgpack_object *map, const char *key,
                                 const msgpack_object **value)
{
    int found = 0;
    for (uint32_t i = 0; i < map->via.map.size; i++)
        if (ek_oracle_is(&map->via.map.ptr[i].key, key)) {
            *value = &map->via.map.ptr[i].val;
            found++;
        }
    return found;
}

static inline bool ek_oracle_number(const msgpack_object *o, double *out)
{
    if (o->type == MSGPACK_OBJECT_POSITIVE_INTEGER)
        *out = (double)o->via.u64;
    else if (o->type == MSGPACK_OBJECT_NEGATIVE_INTEGER)
        *out = (double)o->via.i64;
    else if (o->type == MSGPACK_OBJECT_FLOAT32 || o->type == MSGPACK_OBJECT_FLOAT64)
        *out = o->via.f64;
    else
        return false;
    return true;
}

static inline bool ek_oracle_same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

/* Return whether `o` is a number, a boolean or nil (missing), and equals *got unless `got` is NULL.
 */
static inline bool ek_oracle_value(const msgpack_object *o, const float *got)
{
    double value = o->type == MSGPACK_OBJECT_BOOLEAN ? (double)o->via.boolean : (double)NAN;
    if (o->type != MSGPACK_OBJECT_NIL && o->type != MSGPACK_OBJECT_BOOLEAN &&
        !ek_oracle_number(o, &value))
        return false;
    return !got || ek_oracle_same((double)(float)value, (double)*got);
}

/* Return the last text value of the key `name` in a map, or NULL. */
static inline const msgpack_object *ek_oracle_pair_name(const msgpack_object *pair)
{
    const msgpack_object *name = NULL;
    for (uint32_t i = 0; i < pair->via.map.size; i++)
        if (ek_oracle_is(&pair->via.map.ptr[i].key, "name") &&
            pair->via.map.ptr[i].val.type == MSGPACK_OBJECT_STR)
            name = &pair->via.map.ptr[i].val;
    return name;
}

/* An array of {name, value}. */
static inline bool ek_oracle_pairs(const msgpack_object *o,
                                   const struct ek_feature *const *features, int count,
                                   const float *row)
{
    const msgpack_object nil = {.type = MSGPACK_OBJECT_NIL}, *unused = NULL;
    for (uint32_t i = 0; i < o->via.array.size; i++)
        if (o->via.array.ptr[i].type != MSGPACK_OBJECT_MAP ||
            !ek_oracle_pair_name(&o->via.array.ptr[i]))
            return false;
    for (int f = 0; f < count; f++) {
        const msgpack_object *value = &nil;
        int found = 0;
        for (uint32_t i = 0; i < o->via.array.size; i++) {
            const msgpack_object *pair = &o->via.array.ptr[i];
            if (ek_oracle_is(ek_oracle_pair_name(pair), features[f]->name) &&
                ek_oracle_find(pair, "value", &unused)) {
                ek_oracle_find(pair, "value", &value);
                found++;
            }
        }
        if (found > 1 || !ek_oracle_value(value, row ? row + f : NULL))
            return false;
    }
    return true;
}

static inline bool ek_oracle_map(const msgpack_object *o, const struct ek_feature *const *features,
                                 int count, const float *row)
{
    for (uint32_t i = 0; i < o->via.map.size; i++)
        if (o->via.map.ptr[i].key.type != MSGPACK_OBJECT_STR)
            return false;
    for (int i = 0; i < count; i++) {
        const msgpack_object nil = {.type = MSGPACK_OBJECT_NIL}, *value = &nil;
        int found = ek_oracle_find(o, features[i]->name, &value);
        if (found > 1 || !ek_oracle_value(value, row ? row + i : NULL))
            return false;
    }
    return true;
}

static inline bool ek_oracle_row(const msgpack_object *o, const struct ek_feature *const *features,
                                 int count, const float *row)
{
    if (o->type == MSGPACK_OBJECT_MAP)
        return ek_oracle_map(o, features, count, row);
    if (o->type == MSGPACK_OBJECT_BIN)
        return o->via.bin.size == 4 * (uint32_t)count &&
               (!row || !memcmp(row, o->via.bin.ptr, o->via.bin.size));
    if (o->type == MSGPACK_OBJECT_ARRAY && o->via.array.size &&
        o->via.array.ptr[0].type == MSGPACK_OBJECT_MAP)
        return ek_oracle_pairs(o, features, count, row);
    if (o->type != MSGPACK_OBJECT_ARRAY || o->via.array.size != (uint32_t)count)
        return false;
    for (int i = 0; i < count; i++)
        if (!ek_oracle_value(&o->via.array.ptr[i], row ? row + i : NULL))
            return false;
    return true;
}

enum { EK_ORACLE_DIGITS = 32 };

/* Set the string form of `o`: a string or bin unchanged, an integer as digits, true and false of a
 * segment as words. nil has no string. */
static inline bool ek_oracle_word(const msgpack_object *o, bool segment,
                                  char digits[EK_ORACLE_DIGITS], struct ek_text *word)
{
    *word = (struct ek_text){digits, 0};
    if (o->type == MSGPACK_OBJECT_STR)
        *word = (struct ek_text){o->via.str.ptr, o->via.str.size};
    else if (o->type == MSGPACK_OBJECT_BIN && !segment)
        *word = (struct ek_text){o->via.bin.ptr, o->via.bin.size};
    else if (o->type == MSGPACK_OBJECT_POSITIVE_INTEGER)
        word->length =
            (size_t)snprintf(digits, EK_ORACLE_DIGITS, "%llu", (unsigned long long)o->via.u64);
    else if (o->type == MSGPACK_OBJECT_NEGATIVE_INTEGER)
        word->length = (size_t)snprintf(digits, EK_ORACLE_DIGITS, "%lld", (long long)o->via.i64);
    else if (o->type == MSGPACK_OBJECT_BOOLEAN && segment)
        word->length =
            (size_t)snprintf(digits, EK_ORACLE_DIGITS, "%s", o->via.boolean ? "true" : "false");
    else if (o->type == MSGPACK_OBJECT_NIL)
        word->text = NULL;
    else
        return false;
    return true;
}

static inline bool ek_oracle_same_word(const struct ek_text *a, const struct ek_text *b)
{
    return a->length == b->length && !memcmp(a->text, b->text, a->length);
}

static inline bool ek_oracle_text(const msgpack_object *o, bool segment, const struct ek_text *got)
{
    char digits[EK_ORACLE_DIGITS];
    struct ek_text want;
    if (!ek_oracle_word(o, segment, digits, &want))
        return false;
    if (!got || !want.text)
        return !got || !got->text;
    return got->text && ek_oracle_same_word(got, &want);
}

static inline bool ek_oracle_time(const msgpack_object *o, const int64_t *got)
{
    double value = -1;
    int64_t ms = -1;
    if (o->type == MSGPACK_OBJECT_STR) {
        ek_parse_time_ms(o->via.str.ptr, o->via.str.size, &ms);
        return !got || *got == ms;
    }
    if (o->type == MSGPACK_OBJECT_NIL || !ek_oracle_number(o, &value) ||
        !(value >= 0 && value <= 9e15) || value != floor(value))
        value = -1;
    return !got || (double)*got == value;
}

static inline bool ek_oracle_hash(const msgpack_object *o, uint64_t hash)
{
    char digits[20], text[17] = "";
    snprintf(digits, sizeof digits, "%016llx", (unsigned long long)hash);
    if (o->type == MSGPACK_OBJECT_STR && o->via.str.size == 16) {
        memcpy(text, o->via.str.ptr, 16);
        for (int i = 0; i < 16; i++)
            if (text[i] >= 'A' && text[i] <= 'F')
                text[i] = (char)(text[i] + 'a' - 'A');
        return !strcmp(text, digits);
    }
    return o->type == MSGPACK_OBJECT_NIL ||
           (o->type == MSGPACK_OBJECT_POSITIVE_INTEGER && o->via.u64 == hash) ||
           (o->type == MSGPACK_OBJECT_NEGATIVE_INTEGER && (uint64_t)o->via.i64 == hash);
}

/* Return whether entry i of the map has a name, a value of the right type, and neither is nil. */
static inline bool ek_oracle_is_segment(const msgpack_object *o, uint32_t i)
{
    const msgpack_object_kv *kv = &o->via.map.ptr[i];
    return kv->key.type == MSGPACK_OBJECT_STR && kv->val.type != MSGPACK_OBJECT_NIL &&
           ek_oracle_text(&kv->val, true, NULL);
}

/* Return whether an earlier entry is the segment of that name. */
static inline bool ek_oracle_repeated(const msgpack_object *o, uint32_t i)
{
    for (uint32_t j = 0; j < i; j++)
        if (ek_oracle_is_segment(o, j) &&
            msgpack_object_equal(o->via.map.ptr[i].key, o->via.map.ptr[j].key))
            return true;
    return false;
}

/* Entries that cannot be read count as absent; one more than the limit is an error. */
static inline bool ek_oracle_segments(const msgpack_object *o, const struct ek_list *q)
{
    int count = 0;
    for (uint32_t i = 0; o->type == MSGPACK_OBJECT_MAP && i < o->via.map.size; i++) {
        const msgpack_object_kv *kv = &o->via.map.ptr[i];
        if (kv->key.type != MSGPACK_OBJECT_STR || kv->val.type == MSGPACK_OBJECT_NIL ||
            ek_oracle_repeated(o, i))
            continue;
        if (count == EK_SEGMENTS_MAX)
            return false;
        if (!ek_oracle_is_segment(o, i))
            continue;
        if (q && (count >= q->segment_count ||
                  !ek_oracle_text(&kv->key, true, &q->segments[count].name) ||
                  !ek_oracle_text(&kv->val, true, &q->segments[count].value)))
            return false;
        count++;
    }
    return !q || count == q->segment_count;
}

static inline bool ek_oracle_score(const msgpack_object *o, const struct ek_list *q, int i)
{
    double value = NAN;
    if (o && o->type != MSGPACK_OBJECT_NIL && !ek_oracle_number(o, &value))
        return false;
    return !q || (ek_oracle_same(value, q->score[i]) && (o != NULL) == (q->place[i].length > 0));
}

/* Check that every item has a source, the number of sources, and the source of each item. Sources
 * are numbered by first occurrence; a value of another type is no source. */
static inline bool ek_oracle_sources(const msgpack_object *items, const struct ek_list *q)
{
    char digits[EK_SOURCES_MAX + 1][EK_ORACLE_DIGITS];
    struct ek_text met[EK_SOURCES_MAX + 1];
    int sources = 0, number = 0;
    for (uint32_t i = 0; i < items->via.array.size; i++) {
        const msgpack_object *said = NULL;
        struct ek_text *word = &met[sources];
        if (ek_oracle_find(&items->via.array.ptr[i], "source", &said) != 1 ||
            !ek_oracle_word(said, false, digits[sources], word) || !word->text)
            return q->sources == 0;
        for (number = 0; !ek_oracle_same_word(&met[number], word);)
            number++;
        sources += number == sources;
        if (sources > EK_SOURCES_MAX)
            return q->sources == 0;
        if (q->sources && q->source[i] != number)
            return false;
    }
    return q->sources == sources;
}

static inline bool ek_oracle_item(const msgpack_object *o, const struct ek_manifest *m,
                                  const struct ek_list *q, int i, bool *labeled)
{
    const msgpack_object *id = NULL, *score = NULL, *features = NULL, *label = NULL, *source = NULL;
    double value;
    if (o->type != MSGPACK_OBJECT_MAP || ek_oracle_find(o, "id", &id) > 1 ||
        ek_oracle_find(o, "score", &score) > 1 || ek_oracle_find(o, "label", &label) > 1 ||
        ek_oracle_find(o, "source", &source) > 1 || ek_oracle_find(o, "features", &features) != 1)
        return false;
    *labeled = label && ek_oracle_number(label, &value) && isfinite((float)value);
    if (q && *labeled && !ek_oracle_same((double)(float)value, (double)q->label[i]))
        return false;
    if (id ? !ek_oracle_text(id, false, q ? &q->item_id[i] : NULL) : q && q->item_id[i].text)
        return false;
    return ek_oracle_score(score, q, i) &&
           ek_oracle_row(features, m->item, m->item_count,
                         q ? q->x + (size_t)i * (size_t)m->item_count : NULL);
}

static inline bool ek_oracle_items(const msgpack_object *o, const struct ek_manifest *m,
                                   const struct ek_list *q)
{
    if (o->type != MSGPACK_OBJECT_ARRAY || (q && (int)o->via.array.size != q->items))
        return false;
    bool all = o->via.array.size > 0;
    for (uint32_t i = 0; i < o->via.array.size; i++) {
        bool labeled;
        if (!ek_oracle_item(&o->via.array.ptr[i], m, q, (int)i, &labeled))
            return false;
        all = all && labeled;
    }
    return !q || (q->has_label == all && ek_oracle_sources(o, q));
}

/* Item count of the whole list; at least the items in the message. */
static inline bool ek_oracle_list_items(const msgpack_object *o, const msgpack_object *items,
                                        const struct ek_list *q)
{
    double value = 0;
    bool said = o && ek_oracle_number(o, &value);
    if (said && (!(value >= 0 && value <= 1e9) || value != floor(value) ||
                 value < (double)items->via.array.size))
        return false;
    return !q || q->list_items == (int)value;
}

/* Check for one number or nil per routable feature. */
static inline bool ek_oracle_log_means(const msgpack_object *o, const struct ek_manifest *m,
                                       const struct ek_list *q)
{
    if (!o || o->type != MSGPACK_OBJECT_ARRAY)
        return !q || !q->has_log_means;
    if (o->via.array.size != (uint32_t)m->routable_count || (q && !q->has_log_means))
        return false;
    for (uint32_t k = 0; k < o->via.array.size; k++) {
        const msgpack_object *mean = &o->via.array.ptr[k];
        double value = NAN;
        if ((mean->type != MSGPACK_OBJECT_NIL && !ek_oracle_number(mean, &value)) ||
            fabs(value) > 745 || (q && !ek_oracle_same(value, q->log_mean[k])))
            return false;
    }
    return true;
}

/* The only derived feature: ln of the item count of the whole list. */
static inline bool ek_oracle_derived(const struct ek_manifest *m, const struct ek_list *q)
{
    int items = q->list_items ? q->list_items : q->items;
    return !items || q->query[m->query_count - 1] == (float)log(items);
}

/* Check that the tree is a message and, unless `q` is NULL, equals that list. */
static inline bool ek_oracle_message(const msgpack_object *root, const struct ek_manifest *m,
                                     const struct ek_list *q)
{
    const msgpack_object *id = NULL, *time = NULL, *segments = NULL, *hash = NULL, *query = NULL,
                         *items = NULL, *list_items = NULL, *log_means = NULL;
    if (root->type != MSGPACK_OBJECT_MAP || ek_oracle_find(root, "query", &id) > 1 ||
        ek_oracle_find(root, "time_ms", &time) > 1 ||
        ek_oracle_find(root, "segments", &segments) > 1 ||
        ek_oracle_find(root, "manifest", &hash) > 1 ||
        ek_oracle_find(root, "list_items", &list_items) > 1 ||
        ek_oracle_find(root, "log_means", &log_means) > 1 ||
        ek_oracle_find(root, "query_features", &query) != 1 ||
        ek_oracle_find(root, "items", &items) != 1)
        return false;
    if (id ? !ek_oracle_text(id, false, q ? &q->id : NULL) : q && q->id.text)
        return false;
    if (time ? !ek_oracle_time(time, q ? &q->time_ms : NULL) : q && q->time_ms != -1)
        return false;
    if (segments ? !ek_oracle_segments(segments, q) : q && q->segment_count)
        return false;
    return (!hash || ek_oracle_hash(hash, m->hash)) &&
           ek_oracle_row(query, m->query, m->query_count - m->derived_count, q ? q->query : NULL) &&
           ek_oracle_items(items, m, q) && ek_oracle_list_items(list_items, items, q) &&
           ek_oracle_log_means(log_means, m, q) && (!q || ek_oracle_derived(m, q));
}

/* Check that the message and its patched form differ only in the scores. */
static inline bool ek_oracle_untouched(const struct ek_list *before, const uint8_t *in,
                                       const struct ek_list *after, const struct ek_buf *out,
                                       size_t length)
{
    size_t from = 0, to = 0;
    for (int i = 0; i <= before->items; i++) {
        bool last = i == before->items;
        size_t a = last ? length : before->place[i].offset;
        size_t b = last ? out->length : after->place[i].offset;
        if (a - from != b - to || memcmp(in + from, out->data + to, a - from) != 0)
            return false;
        from = last ? a : a + before->place[i].length;
        to = last ? b : b + after->place[i].length;
    }
    return true;
}

/* Return NULL, or the error in a patched message. `q` is the decoded message. */
static inline const char *ek_oracle_patch(const struct ek_codec *c, const struct ek_list *q,
                                          const uint8_t *bytes, size_t length)
{
    struct ek_buf out;
    struct ek_list again;
    const char *fault = NULL;
    bool placed = true;
    double *scores = ek_calloc((size_t)q->items, sizeof *scores);
    ek_buf_init(&out, 0);
    ek_list_init(&again);
    for (int i = 0; i < q->items; i++) {
        scores[i] = 1.0 / (3 + i);
        placed = placed && q->place[i].length;
    }
    int rc = ek_codec_patch(q, bytes, length, scores, &out, NULL);
    if (rc)
        fault = placed || rc != EK_EFORMAT ? "patching failed" : NULL;
    else if (!placed)
        fault = "patched an item without a score";
    else if (ek_codec_decode(c, out.data, out.length, &again, NULL))
        fault = "the patched message cannot be read";
    else if (!ek_oracle_untouched(q, bytes, &again, &out, length))
        fault = "patching touched more than scores";
    for (int i = 0; !rc && !fault && i < q->items; i++) {
        bool narrow = bytes[q->place[i].offset] == EK_TAG_FLOAT32;
        if (again.score[i] != (narrow ? (double)(float)scores[i] : scores[i]))
            fault = "a patched score is not the one asked for";
    }
    ek_list_release(&again);
    ek_buf_release(&out);
    ek_free(scores);
    return fault;
}

/* Decode and patch with both decoders. Return NULL, or a description of their difference. Sets
 * *accepted to whether the message is valid. The codec must have EK_ORACLE_DEPTH. */
static inline const char *ek_oracle_fault(const struct ek_codec *c, const struct ek_manifest *m,
                                          const uint8_t *bytes, size_t length, bool *accepted)
{
    struct ek_list q;
    struct ek_error e = {0};
    msgpack_unpacked u;
    size_t extent = 0, at = 0;
    const char *fault = NULL;
    ek_list_init(&q);
    msgpack_unpacked_init(&u);
    int rc = ek_codec_decode(c, bytes, length, &q, &e);
    *accepted = !rc;
    if (rc && !e.message[0])
        fault = "refused without a word";
    else if (ek_codec_extent(bytes, length, &extent, NULL) || extent != length)
        fault = rc ? NULL : "accepted what is not one whole object";
    else if (msgpack_unpack_next(&u, (const char *)bytes, length, &at) != MSGPACK_UNPACK_SUCCESS)
        fault = rc ? NULL : "accepted what msgpack-c refuses";
    else if (at != length)
        fault = "the extent is another for msgpack-c";
    else if (!rc && !ek_oracle_message(&u.data, m, &q))
        fault = "read something else than msgpack-c";
    else if (rc && rc != EK_ELIMIT && ek_oracle_message(&u.data, m, NULL))
        fault = "refused a good message";
    if (!rc && !fault)
        fault = ek_oracle_patch(c, &q, bytes, length);
    msgpack_unpacked_destroy(&u);
    ek_list_release(&q);
    return fault;
}

#endif
