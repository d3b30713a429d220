#include "serve/assembly.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "lists/list.h"
#include "plan/plan.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

struct ek_item_note {
    uint64_t id; /* hash of the item id; 0: none */
    double score;
};

struct ek_partial_list {
    int items, capacity;       /* rows: used, allocated */
    float *x;                  /* [room, item features] */
    struct ek_item_note *note; /* [room] */
    float *query;              /* [query features] */
    int segment_count;
    uint32_t length[EK_SEGMENTS_MAX][2]; /* of name and value of each segment */
    char *text;                          /* concatenated strings of segments */
    size_t text_capacity;
    int64_t time_ms;
    struct ek_partial_list *next; /* of the reusable lists */
};

enum { ROWS_AT_FIRST = 8, ROWS_EXPECTED_MOST = 64 };

static void partial_free(struct ek_partial_list *l)
{
    if (!l)
        return;
    ek_free(l->x);
    ek_free(l->note);
    ek_free(l->query);
    ek_free(l->text);
    ek_free(l);
}

/* Create an empty list; call partial_start before items are added. Return 0 or EK_ENOMEM. */
static int partial_new(struct ek_partial_list **out, int query_features)
{
    struct ek_partial_list *l = ek_calloc(1, sizeof *l);
    if (!l)
        return EK_ENOMEM;
    l->query = ek_calloc((size_t)query_features, sizeof *l->query);
    if (!l->query) {
        partial_free(l);
        return EK_ENOMEM;
    }
    *out = l;
    return EK_OK;
}

/* Return the memory of a list with these numbers of features in bytes. */
static size_t partial_bytes(const struct ek_partial_list *l, int features, int query_features)
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

/* Remove all items and copy the list fields of a message. Return 0, or EK_ENOMEM with the list
 * unchanged. */
static int partial_start(struct ek_partial_list *l, const struct ek_list *item, int64_t time_ms)
{
    if (copy_texts(l, item))
        return EK_ENOMEM;
    l->items = 0;
    l->time_ms = time_ms;
    memcpy(l->query, item->query, (size_t)item->query_features * sizeof *l->query);
    return EK_OK;
}

/* Return whether the list has an item with this id hash; false for hash 0, an item without id. */
static bool partial_has(const struct ek_partial_list *l, uint64_t id)
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

/* Append a copy of the item of a message, with the hash of its id (0: none). Return 0, or
 * EK_ENOMEM; on error the list is unchanged. */
static int partial_add(struct ek_partial_list *l, const struct ek_list *item, uint64_t id)
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

/* Copy the list to *q, which is resized; its segments are views of this list. `list_items`: as in
 * struct ek_list. Return 0, or an error of ek_list_resize. */
static int partial_get(const struct ek_partial_list *l, int features, int query_features,
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

void ek_plan_history_release(struct ek_plan_history *p)
{
    for (int i = 0; i < EK_PLAN_HISTORY; i++)
        ek_free(p->plan[i]);
    *p = (struct ek_plan_history){.count = 0};
}

static bool same(const struct ek_plan *a, const struct ek_plan *b)
{
    if (a->version != b->version || a->normal != b->normal || !ek_plan_same(a, b))
        return false;
    for (int i = 0; i < a->count; i++)
        if (a->entry[i].feature != b->entry[i].feature || a->entry[i].cell != b->entry[i].cell ||
            a->entry[i].treatment.value != b->entry[i].treatment.value)
            return false;
    return true;
}

/* Copy only used entries and modes: most plans are short. */
static void copy(struct ek_plan *to, const struct ek_plan *from)
{
    memcpy(to, from, offsetof(struct ek_plan, entry) + (size_t)from->count * sizeof *from->entry);
    memcpy(to->mode, from->mode, (size_t)from->modes * sizeof *from->mode);
}

static struct ek_plan **place(struct ek_plan_history *p, uint64_t number)
{
    return &p->plan[number % EK_PLAN_HISTORY];
}

static struct ek_plan *reserve_plan(struct ek_plan_history *p, uint64_t number)
{
    struct ek_plan **to = place(p, number);
    if (!*to)
        *to = ek_calloc(1, sizeof **to);
    return *to;
}

int ek_plan_history_add(struct ek_plan_history *p, const struct ek_plan *plan, uint64_t *number)
{
    if (!p->count || !same(*place(p, p->count - 1), plan)) {
        struct ek_plan *to = reserve_plan(p, p->count);
        if (!to)
            return EK_ENOMEM;
        copy(to, plan);
        p->count++;
    }
    *number = p->count - 1;
    return EK_OK;
}

const struct ek_plan *ek_plan_history_find(const struct ek_plan_history *p, uint64_t number)
{
    if (number >= p->count || p->count - number > EK_PLAN_HISTORY)
        return NULL;
    return p->plan[number % EK_PLAN_HISTORY];
}

void ek_plan_history_reset_cell(struct ek_plan_history *p, int cell)
{
    for (int k = 0; k < EK_PLAN_HISTORY; k++) {
        struct ek_plan *plan = p->plan[k];
        int kept = 0;
        for (int i = 0; plan && i < plan->count; i++)
            if (plan->entry[i].cell != cell)
                plan->entry[kept++] = plan->entry[i];
        if (plan)
            plan->count = kept;
        kept = 0;
        for (int i = 0; plan && i < plan->modes; i++)
            if (plan->mode[i].cell != cell)
                plan->mode[kept++] = plan->mode[i];
        if (plan)
            plan->modes = kept;
    }
}

void ek_plan_history_serialize(struct ek_plan_history *p, struct ek_serialize *s, int features,
                               int cells)
{
    ek_serialize_u64(s, &p->count);
    ek_serialize_require(s, p->count < (uint64_t)1 << 62); /* leaves later numbers */
    uint64_t kept = p->count < EK_PLAN_HISTORY ? p->count : EK_PLAN_HISTORY;
    for (uint64_t i = p->count - kept; i < p->count && !s->rc; i++) {
        struct ek_plan *plan = reserve_plan(p, i);
        if (plan)
            ek_plan_serialize(plan, s, features, cells);
        else
            s->rc = EK_ENOMEM;
    }
}

enum {
    QUERIES_MOST = 1 << 20, /* per checkpoint */
    ITEMS_MOST = 1 << 30,   /* items per list in a checkpoint */
    SPARE_SHARE = 64        /* a list with more than 1/64 of the memory is freed, not reused */
};

struct known {
    uint64_t key;
    int64_t begun_ms; /* event time */
    uint64_t plan;
    struct ek_partial_list *list; /* NULL: no pending items */
    uint32_t next;                /* next in the hash chain: index + 1 */
    int expected;                 /* items of the list; 0: unknown */
    int seen;                     /* counted items */
    int open;                     /* not emitted yet */
};

struct ek_assembly {
    int features, query_features;
    struct ek_assembly_limits limits;
    struct known *known;  /* ring [limits.queries] */
    uint64_t first, last; /* number of the oldest and of the next list */
    uint32_t *chain;      /* [mask + 1] index + 1; 0: empty */
    uint64_t mask;
    uint64_t oldest_open;          /* all older lists have no pending items */
    struct known *ready;           /* complete list */
    struct ek_partial_list *given; /* the last emitted list; the caller reads its strings */
    struct ek_partial_list *spare;
    size_t bytes; /* of all lists including `given` and `spare` */
    uint64_t pending;
    struct ek_assembly_counts counts;
};

static int out_of_memory(struct ek_error *e)
{
    return ek_fail(e, EK_ENOMEM, "out of memory");
}

static void set_limits(struct ek_assembly *a, const struct ek_assembly_limits *limits)
{
    a->limits = *limits;
    if (!a->limits.queries)
        a->limits.queries = EK_ASSEMBLY_LISTS;
    if (!a->limits.items)
        a->limits.items = EK_ITEMS_DEFAULT_MAX;
    if (!a->limits.bytes)
        a->limits.bytes = EK_ASSEMBLY_BYTES;
    if (!a->limits.within_ms)
        a->limits.within_ms = EK_ASSEMBLY_TIMEOUT_MS;
}

int ek_assembly_new(struct ek_assembly **out, int features, int query_features,
                    const struct ek_assembly_limits *limits, struct ek_error *e)
{
    struct ek_assembly *a = ek_calloc(1, sizeof *a);
    if (!a)
        return out_of_memory(e);
    a->features = features;
    a->query_features = query_features;
    set_limits(a, limits);
    for (a->mask = 1; a->mask < (uint64_t)a->limits.queries; a->mask *= 2)
        ;
    a->chain = ek_calloc(a->mask, sizeof *a->chain);
    a->mask--;
    a->known = ek_calloc((size_t)a->limits.queries, sizeof *a->known);
    if (!a->chain || !a->known) {
        ek_assembly_free(a);
        return out_of_memory(e);
    }
    *out = a;
    return EK_OK;
}

static struct known *at(const struct ek_assembly *a, uint64_t number)
{
    return &a->known[number % (uint64_t)a->limits.queries];
}

void ek_assembly_free(struct ek_assembly *a)
{
    if (!a)
        return;
    for (uint64_t i = a->first; i < a->last; i++)
        partial_free(at(a, i)->list);
    partial_free(a->given);
    while (a->spare) {
        struct ek_partial_list *l = a->spare;
        a->spare = l->next;
        partial_free(l);
    }
    ek_free(a->known);
    ek_free(a->chain);
    ek_free(a);
}

static uint64_t key_of(const struct ek_list *item)
{
    return ek_hash(item->id.text, item->id.length, 0);
}

static uint64_t id_of(const struct ek_list *item)
{
    struct ek_text id = item->item_id[0];
    uint64_t hash = id.text ? ek_hash(id.text, id.length, 0) : 0;
    return hash || !id.text ? hash : 1;
}

static uint32_t *chain_of(const struct ek_assembly *a, uint64_t key)
{
    return &a->chain[ek_hash(&key, sizeof key, a->limits.salt) & a->mask];
}

static struct known *find(const struct ek_assembly *a, uint64_t key)
{
    uint32_t place = *chain_of(a, key);
    while (place && a->known[place - 1].key != key)
        place = a->known[place - 1].next;
    return place ? &a->known[place - 1] : NULL;
}

/* Add a list; needs a free entry. */
static struct known *enter(struct ek_assembly *a, const struct known *k)
{
    struct known *to = at(a, a->last++);
    uint32_t *chain = chain_of(a, k->key);
    *to = *k;
    to->next = *chain;
    *chain = (uint32_t)(to - a->known) + 1;
    return to;
}

static void evict_oldest(struct ek_assembly *a)
{
    struct known *k = at(a, a->first++);
    uint32_t place = (uint32_t)(k - a->known) + 1, *link = chain_of(a, k->key);
    while (*link != place)
        link = &a->known[*link - 1].next;
    *link = k->next;
    if (a->oldest_open < a->first)
        a->oldest_open = a->first;
}

static size_t bytes_of(const struct ek_assembly *a, const struct ek_partial_list *l)
{
    return l ? partial_bytes(l, a->features, a->query_features) : 0;
}

static void drop(struct ek_assembly *a, struct ek_partial_list *l)
{
    a->bytes -= bytes_of(a, l);
    partial_free(l);
}

static void return_list(struct ek_assembly *a, struct ek_partial_list *l)
{
    if (bytes_of(a, l) > a->limits.bytes / SPARE_SHARE) {
        drop(a, l);
        return;
    }
    l->next = a->spare;
    a->spare = l;
}

static struct ek_partial_list *pop_spare(struct ek_assembly *a)
{
    struct ek_partial_list *l = a->spare;
    if (l)
        a->spare = l->next;
    else if (!partial_new(&l, a->query_features))
        a->bytes += bytes_of(a, l);
    return l;
}

/* Start a list with its first item. Return NULL if out of memory. */
static struct ek_partial_list *begin(struct ek_assembly *a, const struct ek_list *item, uint64_t id,
                                     int64_t time_ms)
{
    struct ek_partial_list *l = pop_spare(a);
    if (!l)
        return NULL;
    size_t before = bytes_of(a, l);
    int rc = partial_start(l, item, time_ms);
    if (!rc)
        rc = partial_add(l, item, id);
    a->bytes += bytes_of(a, l) - before;
    if (!rc)
        return l;
    return_list(a, l);
    return NULL;
}

static int add_item(struct ek_assembly *a, struct ek_partial_list *l, const struct ek_list *item,
                    uint64_t id)
{
    size_t before = bytes_of(a, l);
    int rc = partial_add(l, item, id);
    a->bytes += bytes_of(a, l) - before;
    return rc;
}

/* Return the number of a known list. */
static uint64_t number_of(const struct ek_assembly *a, const struct known *k)
{
    uint64_t place = (uint64_t)(k - a->known), queries = (uint64_t)a->limits.queries;
    return a->first + (place + queries - a->first % queries) % queries;
}

/* Add a new item to its list. */
static int add_to(struct ek_assembly *a, struct known *k, const struct ek_list *item, uint64_t id,
                  int64_t time_ms)
{
    if (k->list) {
        if (add_item(a, k->list, item, id))
            return EK_ENOMEM;
    } else {
        k->list = begin(a, item, id, time_ms);
        if (!k->list)
            return EK_ENOMEM;
        if (number_of(a, k) < a->oldest_open)
            a->oldest_open = number_of(a, k);
    }
    if (k->expected < item->list_items)
        k->expected = item->list_items;
    k->seen++;
    if ((k->expected && k->seen >= k->expected) || k->list->items >= a->limits.items)
        a->ready = k;
    return EK_OK;
}

static int add_first(struct ek_assembly *a, const struct known *first, const struct ek_list *item,
                     uint64_t id, int64_t time_ms)
{
    struct known *k = enter(a, first);
    if (add_to(a, k, item, id, time_ms)) {
        *chain_of(a, k->key) = k->next;
        a->last--;
        return EK_ENOMEM;
    }
    a->pending++;
    return EK_OK;
}

int ek_assembly_add(struct ek_assembly *a, const struct ek_list *item, int64_t time_ms,
                    int64_t now_ms, uint64_t plan, struct ek_error *e)
{
    uint64_t key = key_of(item), id = id_of(item);
    struct known *k = find(a, key);
    int rc = EK_OK;
    if (!k) {
        struct known first = {.key = key, .begun_ms = now_ms, .plan = plan, .open = 1};
        rc = add_first(a, &first, item, id, time_ms);
    } else if (!k->open) {
        a->counts.late++;
    } else if (k->list && partial_has(k->list, id)) {
        a->counts.repeated++;
    } else {
        rc = add_to(a, k, item, id, time_ms);
    }
    return rc ? out_of_memory(e) : EK_OK;
}

static bool is_over(const struct ek_assembly *a, const struct known *k, int64_t now_ms)
{
    return now_ms < k->begun_ms || now_ms - k->begun_ms >= a->limits.within_ms;
}

/* Return the oldest list that must be emitted before it, or a later one, can be evicted. Evict
 * lists without pending items. */
static struct known *oldest_due(struct ek_assembly *a, int64_t now_ms)
{
    while (a->first < a->last) {
        struct known *k = at(a, a->first);
        bool over = is_over(a, k, now_ms);
        if (!over && a->last - a->first < (uint64_t)a->limits.queries)
            break;
        if (k->list)
            return k;
        a->counts.evicted += !over;
        evict_oldest(a);
    }
    return NULL;
}

static struct known *oldest_with_items(struct ek_assembly *a)
{
    while (a->oldest_open < a->last && !at(a, a->oldest_open)->list)
        a->oldest_open++;
    return a->oldest_open < a->last ? at(a, a->oldest_open) : NULL;
}

/* Return the list to emit because memory exceeds the limit. */
static struct known *too_many(struct ek_assembly *a)
{
    while (a->bytes > a->limits.bytes && a->spare) {
        struct ek_partial_list *l = a->spare;
        a->spare = l->next;
        drop(a, l);
    }
    return a->bytes > a->limits.bytes ? oldest_with_items(a) : NULL;
}

static void count(struct ek_assembly *a, const struct known *k)
{
    if (!k->expected)
        a->counts.unknown++;
    else if (k->seen < k->expected)
        a->counts.incomplete++;
    else
        a->counts.complete++;
}

int ek_assembly_next(struct ek_assembly *a, int64_t now_ms, struct ek_list *list, bool *some,
                     struct ek_error *e)
{
    *some = false;
    if (a->given)
        return_list(a, a->given);
    a->given = NULL;
    struct known *k = a->ready;
    if (!k)
        k = oldest_due(a, now_ms);
    if (!k)
        k = too_many(a);
    if (!k)
        return EK_OK;
    if (partial_get(k->list, a->features, a->query_features, k->expected, list))
        return out_of_memory(e);
    count(a, k);
    a->given = k->list;
    k->list = NULL;
    k->open = 0;
    a->ready = NULL;
    a->pending--;
    *some = true;
    return EK_OK;
}

bool ek_assembly_plan(const struct ek_assembly *a, const struct ek_list *item, uint64_t *plan)
{
    const struct known *k = find(a, key_of(item));
    if (k)
        *plan = k->plan;
    return k;
}

void ek_assembly_set_plan(struct ek_assembly *a, const struct ek_list *item, uint64_t plan)
{
    find(a, key_of(item))->plan = plan;
}

struct ek_assembly_counts ek_assembly_get_counts(const struct ek_assembly *a)
{
    return a->counts;
}

uint64_t ek_assembly_pending(const struct ek_assembly *a)
{
    return a->pending;
}

size_t ek_assembly_bytes(const struct ek_assembly *a)
{
    return a->bytes;
}

static void known_serialize(struct known *k, struct ek_serialize *s)
{
    ek_serialize_u64(s, &k->key);
    ek_serialize_i64(s, &k->begun_ms);
    ek_serialize_u64(s, &k->plan);
    ek_serialize_int(s, &k->expected, 0, INT32_MAX);
    ek_serialize_int(s, &k->seen, 0, ITEMS_MOST);
    ek_serialize_int(s, &k->open, 0, 1);
    ek_serialize_require(s, k->begun_ms >= 0);
}

/* With a smaller limit the last lists remain. */
static void read_one(struct ek_assembly *a, struct ek_serialize *s)
{
    struct known k = {.list = NULL};
    known_serialize(&k, s);
    ek_serialize_require(s, !find(a, k.key));
    if (s->rc)
        return;
    if (a->last - a->first == (uint64_t)a->limits.queries)
        evict_oldest(a);
    enter(a, &k);
}

void ek_assembly_serialize(struct ek_assembly *a, struct ek_serialize *s)
{
    int known = (int)(a->last - a->first);
    ek_serialize_u64(s, &a->pending);
    ek_serialize_int(s, &known, 0, QUERIES_MOST);
    for (uint64_t i = 0; i < (uint64_t)known && !s->rc; i++)
        if (ek_serialize_is_reading(s))
            read_one(a, s);
        else
            known_serialize(at(a, a->first + i), s);
}

void ek_assembly_merge(struct ek_assembly *into, const struct ek_assembly *from)
{
    into->pending += from->pending;
    for (uint64_t i = from->first; i < from->last; i++) {
        struct known k = *at(from, i);
        k.list = NULL;
        k.plan = EK_NO_PLAN;
        if (!find(into, k.key) && into->last - into->first < (uint64_t)into->limits.queries - 1)
            enter(into, &k);
    }
}
