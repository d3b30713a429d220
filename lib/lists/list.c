#include "lists/list.h"

#include "base/alloc.h"
#include "lists/schema_message.h"
#include "lists/codec_json.h"
#include "schema/manifest.h"

#include <math.h>
#include <string.h>

void ek_list_init(struct ek_list *q)
{
    memset(q, 0, sizeof *q);
}

void ek_list_release(struct ek_list *q)
{
    ek_free(q->x);
    ek_free(q->query);
    ek_free(q->score);
    ek_free(q->label);
    ek_free(q->item_id);
    ek_free(q->place);
    ek_free(q->item_text);
    ek_free(q->log_mean);
    ek_free(q->source);
    ek_json_free(q->json);
    ek_schema_message_free(q->converted);
    ek_list_init(q);
}

static int grow(void **array, size_t count, size_t size)
{
    void *larger = ek_realloc(*array, count, size);
    if (!larger)
        return EK_ENOMEM;
    *array = larger;
    return EK_OK;
}

static int grow_items(struct ek_list *q, size_t n)
{
    if (n <= q->item_capacity)
        return EK_OK;
    size_t want = n + n / 2 + 16;
    if (grow((void **)&q->score, want, sizeof *q->score) ||
        grow((void **)&q->label, want, sizeof *q->label) ||
        grow((void **)&q->item_id, want, sizeof *q->item_id) ||
        grow((void **)&q->place, want, sizeof *q->place) ||
        grow((void **)&q->source, want, sizeof *q->source))
        return EK_ENOMEM;
    memset(q->item_id + q->item_capacity, 0, (want - q->item_capacity) * sizeof *q->item_id);
    q->item_capacity = want;
    return EK_OK;
}

static int grow_values(float **array, size_t *capacity, size_t n)
{
    if (n <= *capacity && *array)
        return EK_OK;
    size_t want = n + n / 2 + 16;
    if (grow((void **)array, want, sizeof **array))
        return EK_ENOMEM;
    *capacity = want;
    return EK_OK;
}

int ek_list_resize(struct ek_list *q, int items, int item_features, int query_features)
{
    size_t values;
    if (items < 0 || item_features < 0 || query_features < 0 ||
        __builtin_mul_overflow((size_t)items, (size_t)item_features, &values))
        return EK_ELIMIT;
    if (grow_items(q, (size_t)items) || grow_values(&q->x, &q->value_capacity, values) ||
        grow_values(&q->query, &q->query_capacity, (size_t)query_features))
        return EK_ENOMEM;
    q->items = items;
    q->list_items = 0;
    q->one_item = false;
    q->sources = 0;
    q->item_features = item_features;
    q->query_features = query_features;
    return EK_OK;
}

bool ek_list_is_partial(const struct ek_list *q)
{
    return q->list_items > q->items || (q->one_item && !q->list_items);
}

int ek_list_reserve_means(struct ek_list *q, int routable)
{
    size_t count = (size_t)routable;
    if (count <= q->mean_capacity && q->log_mean)
        return EK_OK;
    if (grow((void **)&q->log_mean, count ? count : 1, sizeof *q->log_mean))
        return EK_ENOMEM;
    q->mean_capacity = count;
    return EK_OK;
}

char *ek_list_item_id_buffer(struct ek_list *q, int i)
{
    if (q->item_text_capacity < (size_t)q->items) {
        if (grow((void **)&q->item_text, q->item_capacity, EK_NUMBER_TEXT))
            return NULL;
        q->item_text_capacity = q->item_capacity;
    }
    return q->item_text + (size_t)i * EK_NUMBER_TEXT;
}

struct ek_text ek_list_segment(const struct ek_list *q, const char *name)
{
    size_t length = strlen(name);
    for (int i = 0; i < q->segment_count; i++)
        if (q->segments[i].name.length == length && !memcmp(q->segments[i].name.text, name, length))
            return q->segments[i].value;
    return (struct ek_text){NULL, 0};
}

/* Return the bytes of an item without its values. */
static size_t item_bytes(const struct ek_list *q)
{
    return sizeof *q->score + sizeof *q->label + sizeof *q->item_id + sizeof *q->place +
           sizeof *q->source;
}

size_t ek_list_bytes(const struct ek_list *q)
{
    return q->item_capacity * item_bytes(q) + q->value_capacity * sizeof *q->x +
           q->item_text_capacity * EK_NUMBER_TEXT;
}

void ek_list_derive(struct ek_list *q, const struct ek_manifest *m)
{
    int items = ek_list_is_partial(q) ? q->list_items : q->items;
    for (int i = m->query_count - m->derived_count; i < m->query_count; i++)
        q->query[i] = items > 0 ? (float)log(items) : 0;
}
