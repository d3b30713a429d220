/* Messages of one item: split lists, and items with given values. */
#ifndef EK_TESTS_ITEMS_H
#define EK_TESTS_ITEMS_H

#include "schema/manifest.h"
#include "lists/list.h"
#include "tests/check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ITEM_FEATURES = 2, ITEM_QUERY_FEATURES = 1 };

static inline struct ek_text item_text(const char *text)
{
    return (struct ek_text){text, text ? strlen(text) : 0};
}

/* Set an item of a query, with an id or NULL; both strings must outlive it. Its values are `value`
 * and `value` + .5. */
static inline void item_make(struct ek_list *q, const char *query, const char *id, int list_items,
                             float value)
{
    ck_assert_int_eq(ek_list_resize(q, 1, ITEM_FEATURES, ITEM_QUERY_FEATURES), EK_OK);
    q->id = item_text(query);
    q->one_item = true;
    q->list_items = list_items;
    q->item_id[0] = item_text(id);
    q->time_ms = -1;
    q->x[0] = value;
    q->x[1] = value + .5f;
    q->query[0] = 10 * value;
    q->score[0] = 100 * (double)value;
    q->segment_count = 0;
}

/* Set the mean logarithms of a list as its sender computes them. Needs room for every routable
 * feature. */
static inline void item_means(struct ek_list *list, const struct ek_manifest *m)
{
    ck_assert_int_eq(ek_list_reserve_means(list, m->routable_count), EK_OK);
    for (int f = 0; f < m->item_count; f++) {
        double sum = 0, count = 0;
        for (int i = 0; i < list->items; i++) {
            double x = fabs((double)list->x[i * m->item_count + f]);
            sum += isfinite(x) && x != 0 ? log(x) : 0;
            count += isfinite(x) && x != 0;
        }
        if (m->routable_of_item[f] >= 0)
            list->log_mean[m->routable_of_item[f]] = count > 0 ? sum / count : NAN;
    }
    list->has_log_means = true;
}

#endif
