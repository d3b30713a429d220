#include "daemon/views/rank_samples.h"

#include "base/alloc.h"
#include "base/json.h"
#include "serve/assets.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { DIGITS = 7 };

typedef char label[EK_SAMPLE_TEXT + 1];

struct item {
    label id;
    int row; /* in the list */
    double value[EK_SAMPLE_ROUTES];
    double upstream, plan;
    int plan_rank;
};

struct ek_rank_sample {
    label query;
    int64_t time_ms;
    uint64_t plan_version;
    bool acting;
    int segments, routes, items, total;
    label segment[EK_SEGMENTS_MAX][2];
    struct route {
        const char *action; /* static */
        char *feature;
    } route[EK_SAMPLE_ROUTES];
    int shown; /* index of the route it was stored for */
    struct item item[EK_SAMPLE_ITEMS];
};

/* Samples of one feature, newest last. */
struct group {
    char *feature;
    int64_t added_ms;
    int count;
    struct ek_rank_sample *list[EK_SAMPLE_LISTS];
};

struct ek_rank_samples {
    pthread_mutex_t lock;
    int count;
    struct group group[EK_SAMPLE_FEATURES];
};

struct ek_rank_samples *ek_rank_samples_new(void)
{
    struct ek_rank_samples *s = ek_calloc(1, sizeof *s);
    if (s)
        pthread_mutex_init(&s->lock, NULL);
    return s;
}

static void clear(struct group *group)
{
    for (int i = 0; i < group->count; i++)
        ek_rank_sample_free(group->list[i]);
    ek_free(group->feature);
    *group = (struct group){0};
}

void ek_rank_samples_free(struct ek_rank_samples *s)
{
    if (!s)
        return;
    for (int i = 0; i < s->count; i++)
        clear(&s->group[i]);
    pthread_mutex_destroy(&s->lock);
    ek_free(s);
}

void ek_rank_sample_free(struct ek_rank_sample *one)
{
    if (!one)
        return;
    for (int i = 0; i < one->routes; i++)
        ek_free(one->route[i].feature);
    ek_free(one);
}

static void copy(label to, struct ek_text from)
{
    size_t length = from.length < EK_SAMPLE_TEXT ? from.length : EK_SAMPLE_TEXT;
    if (from.text)
        memcpy(to, from.text, length);
    to[from.text ? length : 0] = 0;
}

struct place {
    double score;
    int row;
};

/* Compare by decreasing score, then by row. */
static int by_score(const void *a, const void *b)
{
    const struct place *p = a, *q = b;
    if (p->score != q->score)
        return p->score > q->score ? -1 : 1;
    return p->row < q->row ? -1 : 1;
}

/* Return the ranking, to be freed by the caller; NULL if memory runs out. */
static struct place *rank(const double *scores, int n)
{
    struct place *places = ek_calloc((size_t)n, sizeof *places);
    if (!places)
        return NULL;
    for (int i = 0; i < n; i++)
        places[i] = (struct place){isnan(scores[i]) ? (double)-INFINITY : scores[i], i};
    qsort(places, (size_t)n, sizeof *places, by_score);
    return places;
}

static int copy_routes(struct ek_rank_sample *one, const struct ek_context *c)
{
    const struct ek_manifest *m = c->assets->manifest;
    for (int f = 0; f < m->watched_count && one->routes < EK_SAMPLE_ROUTES; f++) {
        int k = c->slot_of_item[f];
        enum ek_action action = k < 0 ? EK_ACT_NONE : c->routing.would[k].action;
        if (action == EK_ACT_NONE)
            continue;
        struct route *r = &one->route[one->routes];
        r->action = ek_action_name(action);
        r->feature = ek_strdup(m->item[f]->name);
        if (!r->feature)
            return EK_ENOMEM;
        for (int i = 0; i < one->items; i++)
            one->item[i].value[one->routes] =
                (double)ek_list_value(&c->query, m, one->item[i].row, f);
        one->routes++;
    }
    return EK_OK;
}

static void copy_segments(struct ek_rank_sample *one, const struct ek_list *q)
{
    for (int i = 0; i < q->segment_count; i++) {
        copy(one->segment[i][0], q->segments[i].name);
        copy(one->segment[i][1], q->segments[i].value);
    }
    one->segments = q->segment_count;
}

static int copy_items(struct ek_rank_sample *one, const struct ek_list *q)
{
    struct place *places = rank(q->score, q->items);
    one->total = q->items;
    one->items = q->items < EK_SAMPLE_ITEMS ? q->items : EK_SAMPLE_ITEMS;
    for (int i = 0; places && i < one->items; i++) {
        struct item *item = &one->item[i];
        item->row = places[i].row;
        item->upstream = q->score[item->row];
        copy(item->id, q->item_id[item->row]);
    }
    ek_free(places);
    return places ? EK_OK : EK_ENOMEM;
}

int ek_rank_sample_new(struct ek_rank_sample **out, const struct ek_rank_samples *s,
                       const struct ek_context *c)
{
    const struct ek_list *q = &c->query;
    struct ek_rank_sample *one = s ? ek_calloc(1, sizeof *one) : NULL;
    *out = NULL;
    if (!one)
        return s ? EK_ENOMEM : EK_OK;
    one->time_ms = q->time_ms;
    one->plan_version = c->plan_version;
    one->acting = c->scored && c->routing.acted == c->routing.desired;
    copy(one->query, q->id);
    copy_segments(one, q);
    int rc = copy_items(one, q);
    if (!rc)
        rc = copy_routes(one, c);
    if (!rc && one->routes)
        *out = one;
    else
        ek_rank_sample_free(one);
    return rc;
}

/* Set the ranks under the plan, among all items. Return false if memory runs out. */
static bool set_plan_ranks(struct ek_rank_sample *one, const double *scores)
{
    struct place *places = rank(scores, one->total);
    for (int at = 0; places && at < one->total; at++)
        for (int i = 0; i < one->items; i++)
            if (one->item[i].row == places[at].row) {
                one->item[i].plan = places[at].score;
                one->item[i].plan_rank = at + 1;
            }
    ek_free(places);
    return places != NULL;
}

static struct group *find(struct ek_rank_samples *s, const char *feature)
{
    for (int i = 0; i < s->count; i++)
        if (!strcmp(s->group[i].feature, feature))
            return &s->group[i];
    return NULL;
}

/* Return the route without a sample for the longest time. Sets *found to its group, NULL: none yet.
 */
static int next_route(struct ek_rank_samples *s, const struct ek_rank_sample *one,
                      struct group **found)
{
    int oldest = 0;
    *found = NULL;
    for (int i = 0; i < one->routes; i++) {
        struct group *group = find(s, one->route[i].feature);
        if (!group) {
            *found = NULL;
            return i;
        }
        if (!*found || group->added_ms < (*found)->added_ms) {
            *found = group;
            oldest = i;
        }
    }
    return oldest;
}

/* Return a new group, evicting the oldest if needed; NULL if memory runs out. */
static struct group *add_group(struct ek_rank_samples *s, const char *feature)
{
    struct group *at = &s->group[0];
    char *name = ek_strdup(feature);
    if (!name)
        return NULL;
    if (s->count < EK_SAMPLE_FEATURES)
        at = &s->group[s->count++];
    for (int i = 0; at->feature && i < s->count; i++)
        at = s->group[i].added_ms < at->added_ms ? &s->group[i] : at;
    clear(at);
    at->feature = name;
    return at;
}

static void add_sample(struct group *group, struct ek_rank_sample *one, int64_t now_ms)
{
    if (group->count == EK_SAMPLE_LISTS) {
        ek_rank_sample_free(group->list[0]);
        group->count--;
        memmove(group->list, group->list + 1, (size_t)group->count * sizeof *group->list);
    }
    group->list[group->count++] = one;
    group->added_ms = now_ms;
}

int ek_rank_samples_add(struct ek_rank_samples *s, struct ek_rank_sample *one, const double *scores,
                        int64_t now_ms)
{
    struct group *group = NULL;
    if (!set_plan_ranks(one, scores)) {
        ek_rank_sample_free(one);
        return EK_ENOMEM;
    }
    pthread_mutex_lock(&s->lock);
    one->shown = next_route(s, one, &group);
    group = group ? group : add_group(s, one->route[one->shown].feature);
    if (group)
        add_sample(group, one, now_ms);
    pthread_mutex_unlock(&s->lock);
    if (group)
        return EK_OK;
    ek_rank_sample_free(one);
    return EK_ENOMEM;
}

static void add_number(struct ek_json_writer *w, const char *key, double x)
{
    ek_json_add_rounded(w, key, x, DIGITS);
}

static void add_item(const struct ek_rank_sample *one, int i, struct ek_json_writer *w)
{
    const struct item *item = &one->item[i];
    ek_json_open(w, NULL, '{');
    ek_json_add_text(w, "id", item->id);
    add_number(w, "value", item->value[one->shown]);
    add_number(w, "upstream_score", item->upstream);
    ek_json_add_integer(w, "upstream_rank", i + 1);
    add_number(w, "plan_score", item->plan);
    ek_json_add_integer(w, "plan_rank", item->plan_rank);
    ek_json_close(w, '}');
}

static void add_routes(const struct ek_rank_sample *one, struct ek_json_writer *w)
{
    ek_json_open(w, "routes", '[');
    for (int i = 0; i < one->routes; i++) {
        ek_json_open(w, NULL, '{');
        ek_json_add_text(w, "feature", one->route[i].feature);
        ek_json_add_text(w, "mitigation", one->route[i].action);
        ek_json_close(w, '}');
    }
    ek_json_close(w, ']');
}

static void add_list(const struct ek_rank_sample *one, struct ek_json_writer *w)
{
    ek_json_break_line(w);
    ek_json_open(w, NULL, '{');
    ek_json_add_text(w, "query_id", one->query);
    if (one->time_ms < 0)
        ek_json_add_null(w, "time_ms");
    else
        ek_json_add_integer(w, "time_ms", one->time_ms);
    ek_json_open(w, "segments", '{');
    for (int i = 0; i < one->segments; i++)
        ek_json_add_text(w, one->segment[i][0], one->segment[i][1]);
    ek_json_close(w, '}');
    ek_json_add_count(w, "plan_version", one->plan_version);
    ek_json_add_flag(w, "acting", one->acting);
    add_routes(one, w);
    ek_json_add_integer(w, "items_total", one->total);
    ek_json_open(w, "items", '[');
    for (int i = 0; i < one->items; i++)
        add_item(one, i, w);
    ek_json_close(w, ']');
    ek_json_close(w, '}');
}

int ek_rank_samples_json(struct ek_rank_samples *s, const char *feature, struct ek_buf *out)
{
    struct ek_json_writer w;
    ek_json_init(&w, out);
    ek_json_open(&w, NULL, '[');
    pthread_mutex_lock(&s->lock);
    const struct group *group = find(s, feature);
    for (int i = group ? group->count : 0; i-- > 0;)
        add_list(group->list[i], &w);
    pthread_mutex_unlock(&s->lock);
    ek_json_close(&w, ']');
    return w.rc;
}
