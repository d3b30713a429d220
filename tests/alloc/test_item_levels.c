/* Levels by item without memory: a table is made, applied to a list, written and read again. */
#include "assets/item_levels.h"
#include "assets/learned_levels.h"
#include "base/error.h"
#include "tests/alloc/sweep.h"
#include "tests/check.h"

enum { ITEMS = 4, FEATURES = 2 };

struct scene {
    struct ek_item_levels *made, *read;
    struct ek_item_levels_scratch scratch;
    struct ek_list_moments *moments;
    struct ek_tensors *file;
    struct ek_list q;
};

static int make_table(struct scene *s)
{
    int rc = ek_item_levels_new(&s->made, 1, 1);
    if (rc)
        return rc;
    s->made->key[0] = ek_item_key(ek_text_from("a"));
    ek_item_levels_index(s->made);
    rc = ek_list_resize(&s->q, ITEMS, FEATURES, 0);
    for (int i = 0; !rc && i < ITEMS; i++) {
        s->q.item_id[i] = ek_text_from(i ? "a" : "b");
        s->q.x[FEATURES * i] = s->q.x[FEATURES * i + 1] = 2;
    }
    return rc ? rc : ek_list_moments_new(&s->moments, FEATURES);
}

static int apply_table(struct scene *s)
{
    static const float pivot[16];
    struct ek_list_stats record[FEATURES];
    ek_list_moments_compute(s->moments, s->q.x, ITEMS, pivot);
    ek_list_stats_compute(s->moments, ITEMS, pivot, record);
    return ek_item_levels_apply(s->made, NULL, &s->q, &s->scratch, s->moments, pivot, record);
}

static int use_table(struct ek_error *e)
{
    struct scene s = {0};
    ek_list_init(&s.q);
    int rc = make_table(&s);
    if (!rc)
        rc = apply_table(&s);
    if (!rc)
        rc = ek_tensors_new(&s.file);
    if (!rc)
        rc = ek_item_levels_write(s.made, s.file);
    if (rc)
        ek_fail(e, (enum ek_code)rc, "out of memory");
    else
        rc = ek_item_levels_read(&s.read, s.file, FEATURES, e);
    ek_item_levels_scratch_release(&s.scratch);
    ek_list_moments_free(s.moments);
    ek_list_release(&s.q);
    ek_tensors_free(s.file);
    ek_item_levels_free(s.made);
    ek_item_levels_free(s.read);
    return rc;
}

static int make_learned(struct ek_error *e)
{
    static const float far[FEATURES];
    struct ek_learned_levels *t = NULL;
    int rc = ek_learned_levels_new(&t, far, FEATURES);
    ek_learned_levels_free(t);
    return rc ? ek_fail(e, EK_ENOMEM, "out of memory") : EK_OK;
}

START_TEST(levels_by_item_without_memory_leave_nothing)
{
    ek_sweep(use_table);
    ek_sweep(make_learned);
}
END_TEST

Suite *suite_item_levels(void)
{
    return ek_suite("item levels", levels_by_item_without_memory_leave_nothing);
}
