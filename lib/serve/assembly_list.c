#include "serve/assembly_list.h"

#include "base/alloc.h"

#include <string.h>

enum { ROWS_AT_FIRST = 8, ROWS_EXPECTED_MOST = 64 };

int ek_partial_new(struct ek_partial_list **out, int query_features)
{
    struct ek_partial_list *l = ek_calloc(1, sizeof *l);
    if (!l)
        return EK_ENOMEM;
    l->query = ek_calloc((size_t)query_features, sizeof *l->query);
    if (!l->query) {
        ek_partial_free(l);
        return EK_ENOMEM;
    }
    *out = l;
    return EK_OK;
}

void ek_partial_free(struct ek_partial_list *l)
{
    if (!l)
        return;
    ek_free(l->x);
    ek_free(l->note);
    ek_free(l->query);
    ek_free(l->text);
    ek_free(l);
}

size_t ek_partial_bytes(const struct ek_partial_list *l, int features, int query_features)
{
    size_t row = (size_t)features * sizeof *l->x + sizeof *l->note;
    return sizeof *l + (size_t)l->capacity * row + (size_t)query_features * sizeof *l->query +
           l->text_capacity;
}

static int copy_texts(struct ek_partial_list *l, const struct ek_list *item)
{
    size_t length = 0;
    for (int i = 0; i < item->segment_count; i++)
        length += item->segments[i].name.length + item->segments[i].value.length;
    if (length > l->text_capacity) {
        char *text = ek_realloc(l->text, length, 1);
        if (!text)
            return EK_ENOMEM;
        l->text = text;
        l->text_capacity = length;
    }
    char *to = l->text;
    l->segment_count = item->segment_count;
    for (int i = 0; i < item->segment_count; i++) {
        const struct ek_text both[] = {item->segments[i].name, item->segments[i].value};
        for (int k = 0; k < 2; k++) {
            l->length[i][k] = (uint32_t)both[k].length;
            if (both[k].length)
                memcpy(to, both[k].text, both[k].length);
            to += both[k].length;
        }
    }
    return EK_OK;
}

int ek_partial_start(struct ek_partial_list *l, const struct ek_list *item, int64_t time_ms)
{
    if (copy_texts(l, item))
        return EK_ENOMEM;
    l->items = 0;
    l->time_ms = time_ms;
    memcpy(l->query, item->query, (size_t)item->query_features * sizeof *l->query);
    return EK_OK;
}

bool ek_partial_has(const struct ek_partial_list *l, uint64_t id)
{
    for (int i = 0; id && i < l->items; i++)
        if (l->note[i].id == id)
            return true;
    return false;
}

/* The announced length may be wrong, so it is limited. */
static int rows_for(const struct ek_partial_list *l, const struct ek_list *item)
{
    if (l->capacity)
        return 2 * l->capacity;
    if (item->list_items <= ROWS_AT_FIRST)
        return ROWS_AT_FIRST;
    return item->list_items < ROWS_EXPECTED_MOST ? item->list_items : ROWS_EXPECTED_MOST;
}

static int grow(struct ek_partial_list *l, const struct ek_list *item)
{
    int room = rows_for(l, item);
    float *x = ek_realloc(l->x, (size_t)room * (size_t)item->item_features, sizeof *x);
    if (!x)
        return EK_ENOMEM;
    l->x = x;
    struct ek_item_note *note = ek_realloc(l->note, (size_t)room, sizeof *note);
    if (!note)
        return EK_ENOMEM;
    l->note = note;
    l->capacity = room;
    return EK_OK;
}

int ek_partial_add(struct ek_partial_list *l, const struct ek_list *item, uint64_t id)
{
    size_t row = (size_t)item->item_features;
    if (l->items == l->capacity && grow(l, item))
        return EK_ENOMEM;
    memcpy(l->x + (size_t)l->items * row, item->x, row * sizeof *l->x);
    l->note[l->items++] = (struct ek_item_note){id, item->score[0]};
    return EK_OK;
}

/* Use hashes as ids: readers only compare them. */
static int get_items(const struct ek_partial_list *l, struct ek_list *q)
{
    for (int i = 0; i < l->items; i++) {
        char *room = ek_list_item_id_buffer(q, i);
        if (!room)
            return EK_ENOMEM;
        memcpy(room, &l->note[i].id, sizeof l->note[i].id);
        q->item_id[i] = (struct ek_text){l->note[i].id ? room : NULL, sizeof l->note[i].id};
        q->score[i] = l->note[i].score;
    }
    return EK_OK;
}

static void get_segments(const struct ek_partial_list *l, struct ek_list *q)
{
    const char *at = l->text;
    q->segment_count = l->segment_count;
    for (int i = 0; i < l->segment_count; i++) {
        q->segments[i].name = (struct ek_text){at, l->length[i][0]};
        at += l->length[i][0];
        q->segments[i].value = (struct ek_text){at, l->length[i][1]};
        at += l->length[i][1];
    }
}

int ek_partial_get(const struct ek_partial_list *l, int features, int query_features,
                   int list_items, struct ek_list *q)
{
    if (ek_list_resize(q, l->items, features, query_features))
        return EK_ENOMEM;
    memcpy(q->x, l->x, (size_t)l->items * (size_t)features * sizeof *q->x);
    memcpy(q->query, l->query, (size_t)query_features * sizeof *q->query);
    q->id = (struct ek_text){NULL, 0};
    q->time_ms = l->time_ms;
    q->list_items = list_items;
    get_segments(l, q);
    return get_items(l, q);
}
