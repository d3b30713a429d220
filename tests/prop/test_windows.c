/* Windows equal those of the rows under any events between closing and packing. */
#include "base/alloc.h"
#include "base/rng.h"
#include "num/windows.h"
#include "tests/check.h"

#include <math.h>
#include <string.h>

enum { KEPT = 3, WINDOWS = 40, ROWS_MAX = 300 };

/* Every window so far, one sketch per feature. */
struct plain {
    int64_t number;
    uint64_t lists;
    struct ek_sketch **feature;
};

struct world {
    int features, windows;
    struct plain window[WINDOWS];
    struct ek_windows *ours;
    struct ek_sketch *want, *got;
    struct ek_rng r;
    float x[ROWS_MAX * 40];
};

static struct ek_sketch *empty(void)
{
    struct ek_sketch *s = NULL;
    ck_assert_int_eq(ek_sketch_new(&s), EK_OK);
    return s;
}

static void start(struct world *w, int features, uint64_t seed)
{
    w->features = features;
    w->windows = 0;
    w->want = empty();
    w->got = empty();
    ek_rng_seed(&w->r, seed);
    ck_assert_int_eq(ek_windows_new(&w->ours, features, KEPT, NULL), EK_OK);
}

static void end(struct world *w)
{
    for (int i = 0; i < w->windows; i++) {
        for (int f = 0; f < w->features; f++)
            ek_sketch_free(w->window[i].feature[f]);
        ek_free(w->window[i].feature);
    }
    ek_windows_free(w->ours);
    ek_sketch_free(w->want);
    ek_sketch_free(w->got);
}

static struct plain *window_of(struct world *w, int64_t number)
{
    if (w->windows && w->window[w->windows - 1].number == number)
        return &w->window[w->windows - 1];
    struct plain *last = &w->window[w->windows++];
    *last = (struct plain){number, 0, ek_calloc((size_t)w->features, sizeof *last->feature)};
    for (int f = 0; f < w->features; f++)
        last->feature[f] = empty();
    return last;
}

static float any_value(struct ek_rng *r)
{
    uint32_t bits = (uint32_t)ek_rng_u64(r);
    float x;
    memcpy(&x, &bits, sizeof x);
    return ek_rng_uniform_int(r, 20) ? (float)exp(3 + ek_rng_normal(r)) : x;
}

static void add_list(struct world *w, int64_t number)
{
    struct plain *p = window_of(w, number);
    int rows = (int)ek_rng_uniform_int(&w->r, ek_rng_uniform_int(&w->r, 10) ? 25 : ROWS_MAX);
    for (int i = 0; i < rows * w->features; i++) {
        w->x[i] = any_value(&w->r);
        ek_sketch_add(p->feature[i % w->features], w->x[i], 1);
    }
    p->lists++;
    ck_assert_int_eq(ek_windows_add(w->ours, number, w->x, rows), EK_OK);
}

static void ck_same(const struct world *w)
{
    ck_assert_uint_eq(ek_sketch_total(w->want), ek_sketch_total(w->got));
    for (int key = 0; key < EK_SKETCH_KEYS; key++)
        ck_assert_uint_eq(ek_sketch_count(w->want, (uint16_t)key),
                          ek_sketch_count(w->got, (uint16_t)key));
}

/* Compare a feature over the windows first .. last, or over the lifetime. */
static void look(struct world *w, int feature, int64_t first, int64_t last, int life)
{
    uint64_t lists = 0, got;
    ek_sketch_clear(w->want);
    ek_sketch_clear(w->got);
    for (int i = 0; i < w->windows; i++) {
        const struct plain *p = &w->window[i];
        int kept = w->windows - 1 - i <= KEPT && p->number >= first && p->number <= last;
        if (!life && !kept)
            continue;
        ek_sketch_merge(w->want, p->feature[feature]);
        lists += p->lists;
    }
    got = life ? ek_windows_life(w->ours, feature, w->got)
               : ek_windows_get(w->ours, feature, first, last, w->got);
    ck_assert_uint_eq(got, lists);
    ck_same(w);
}

static void look_anywhere(struct world *w, int64_t number)
{
    int feature = (int)ek_rng_uniform_int(&w->r, (uint64_t)w->features);
    int64_t first = number - (int64_t)ek_rng_uniform_int(&w->r, KEPT + 2);
    look(w, feature, first, first + (int64_t)ek_rng_uniform_int(&w->r, KEPT + 2),
         !ek_rng_uniform_int(&w->r, 3));
}

/* `slices` 0: never pack explicitly, so that each close packs the rest. */
static void run(int features, uint64_t seed, int slices)
{
    static struct world w;
    start(&w, features, seed);
    int64_t number = 5;
    while (w.windows < WINDOWS) {
        int step = (int)ek_rng_uniform_int(&w.r, 12);
        if (!step)
            number += ek_rng_uniform_int(&w.r, 8) ? 1 : -2;
        if (step == 1)
            look_anywhere(&w, number);
        if (step == 2 && slices)
            ck_assert_int_eq(ek_windows_pack(w.ours, (int)ek_rng_uniform_int(&w.r, 12)), EK_OK);
        if (step > 2)
            add_list(&w, number);
    }
    for (int f = 0; f < features; f++) {
        look(&w, f, number - 5, number, 0);
        look(&w, f, 0, 0, 1);
    }
    end(&w);
}

START_TEST(windows_are_those_of_the_rows_however_far_their_packing_is)
{
    static const int features[] = {1, 7, 16, 17, 40};
    for (size_t i = 0; i < sizeof features / sizeof *features; i++)
        for (uint64_t seed = 0; seed < 6; seed++)
            run(features[i], 10 * i + seed, seed > 0);
}
END_TEST

/* More rows than a set's hot counters hold, without packing. */
START_TEST(a_window_of_many_rows_does_not_run_over_the_one_before)
{
    static struct world w;
    start(&w, 17, 3);
    add_list(&w, 1);
    for (int i = 0; i < 4000; i++)
        add_list(&w, 2);
    ck_assert_int_eq(ek_windows_unpacked(w.ours), 0);
    for (int f = 0; f < 17; f++)
        for (int64_t number = 1; number <= 2; number++)
            look(&w, f, number, number, 0);
    end(&w);
}
END_TEST

Suite *suite_windows(void)
{
    return ek_suite("windows", windows_are_those_of_the_rows_however_far_their_packing_is,
                    a_window_of_many_rows_does_not_run_over_the_one_before);
}
