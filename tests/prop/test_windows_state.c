/* Restored windows continue identically, and parts merge to the whole. */
#include "base/rng.h"
#include "num/windows.h"
#include "tests/check.h"

#include <math.h>
#include <string.h>

enum { KEPT = 3, ROWS_MAX = 40, FEATURES_MAX = 20, LISTS = 300 };

struct world {
    int features;
    int64_t number;
    struct ek_rng r;
    int rows;
    float x[ROWS_MAX * FEATURES_MAX];
};

static void start(struct world *w, int features, uint64_t seed)
{
    *w = (struct world){.features = features, .number = 7};
    ek_rng_seed(&w->r, seed);
}

static struct ek_windows *windows(const struct world *w, int kept)
{
    struct ek_windows *new = NULL;
    ck_assert_int_eq(ek_windows_new(&new, w->features, kept, NULL), EK_OK);
    return new;
}

static void draw_list(struct world *w)
{
    if (!ek_rng_uniform_int(&w->r, 12))
        w->number += 1 + (int64_t)ek_rng_uniform_int(&w->r, 2);
    w->rows = (int)ek_rng_uniform_int(&w->r, ROWS_MAX);
    for (int i = 0; i < w->rows * w->features; i++)
        w->x[i] = ek_rng_uniform_int(&w->r, 9) ? (float)exp(3 + ek_rng_normal(&w->r)) : -0.f;
}

static void add(const struct world *w, struct ek_windows *to)
{
    ck_assert_int_eq(ek_windows_add(to, w->number, w->x, w->rows), EK_OK);
}

static void write(struct ek_windows *w, struct ek_buf *out)
{
    struct ek_serialize s = {.out = out};
    ek_buf_init(out, 0);
    ck_assert_int_eq(ek_windows_pack_newest(w), EK_OK);
    ek_windows_life_serialize(w, &s);
    ek_windows_now_serialize(w, &s);
    for (int i = 0; i < ek_windows_places(w); i++)
        ek_windows_place_serialize(w, &s, i);
    ck_assert_int_eq(s.rc, EK_OK);
}

static struct ek_windows *read(const struct world *w, int kept, const struct ek_buf *bytes)
{
    struct ek_windows *new = windows(w, kept);
    struct ek_serialize s = {.at = bytes->data, .end = bytes->data + bytes->length};
    ek_windows_life_serialize(new, &s);
    ek_windows_now_serialize(new, &s);
    for (int i = 0; i < ek_windows_places(new); i++)
        ek_windows_place_serialize(new, &s, i);
    ck_assert_int_eq(s.rc, EK_OK);
    ck_assert(s.at == s.end);
    return new;
}

static void ck_same_bytes(struct ek_windows *a, struct ek_windows *b)
{
    struct ek_buf x, y;
    write(a, &x);
    write(b, &y);
    ck_assert_uint_eq(x.length, y.length);
    ck_assert(!memcmp(x.data, y.data, x.length));
    ek_buf_release(&x);
    ek_buf_release(&y);
}

static void run_on(int features, uint64_t seed)
{
    static struct world w;
    start(&w, features, seed);
    struct ek_windows *through = windows(&w, KEPT), *stopped = windows(&w, KEPT);
    for (int i = 0; i < LISTS; i++) {
        draw_list(&w);
        add(&w, through);
        add(&w, stopped);
        if (ek_rng_uniform_int(&w.r, 10))
            continue;
        struct ek_buf bytes;
        write(stopped, &bytes);
        ek_windows_free(stopped);
        stopped = read(&w, KEPT, &bytes);
        ek_buf_release(&bytes);
        ck_same_bytes(through, stopped);
    }
    ck_same_bytes(through, stopped);
    ek_windows_free(through);
    ek_windows_free(stopped);
}

START_TEST(what_was_read_goes_on_as_what_was_written)
{
    static const int features[] = {1, 7, 16, FEATURES_MAX};
    for (size_t i = 0; i < sizeof features / sizeof *features; i++)
        run_on(features[i], 3 + i);
}
END_TEST

/* Return a span over the windows first .. last, or over all. */
static struct ek_buf span_of(struct ek_windows *w, int feature, int64_t number, uint64_t *lists)
{
    struct ek_sketch *s = NULL;
    struct ek_buf out;
    ek_buf_init(&out, 0);
    ck_assert_int_eq(ek_sketch_new(&s), EK_OK);
    *lists =
        number < 0 ? ek_windows_life(w, feature, s) : ek_windows_get(w, feature, number, number, s);
    ck_assert_int_eq(ek_sketch_write(s, &out), EK_OK);
    ek_sketch_free(s);
    return out;
}

static void ck_same_span(struct ek_windows *a, struct ek_windows *b, int feature, int64_t number)
{
    uint64_t p, q;
    struct ek_buf x = span_of(a, feature, number, &p), y = span_of(b, feature, number, &q);
    ck_assert_uint_eq(p, q);
    ck_assert(x.length == y.length && !memcmp(x.data, y.data, x.length));
    ek_buf_release(&x);
    ek_buf_release(&y);
}

static void ck_same_spans(const struct world *w, struct ek_windows *a, struct ek_windows *b)
{
    for (int f = 0; f < w->features; f++)
        for (int64_t number = -1; number <= w->number; number++)
            ck_same_span(a, b, f, number);
}

/* One part may stop early, so that the other is windows ahead. */
static void run_parts(uint64_t seed)
{
    static struct world w;
    start(&w, 5, seed);
    struct ek_windows *whole = windows(&w, KEPT), *part[2] = {windows(&w, KEPT), windows(&w, KEPT)};
    int stop = (int)ek_rng_uniform_int(&w.r, 2 * LISTS), which = (int)ek_rng_uniform_int(&w.r, 2);
    for (int i = 0; i < LISTS; i++) {
        draw_list(&w);
        add(&w, whole);
        add(&w, part[i < stop ? (int)ek_rng_uniform_int(&w.r, 2) : which]);
    }
    ck_assert_int_eq(ek_windows_merge(part[0], part[1], false), EK_OK);
    ck_same_spans(&w, whole, part[0]);
    for (int i = 0; i < LISTS; i++) {
        draw_list(&w);
        add(&w, whole);
        add(&w, part[0]);
    }
    ck_same_spans(&w, whole, part[0]);
    ek_windows_free(whole);
    ek_windows_free(part[0]);
    ek_windows_free(part[1]);
}

START_TEST(parts_make_up_the_whole)
{
    for (uint64_t seed = 0; seed < 12; seed++)
        run_parts(seed);
}
END_TEST

START_TEST(windows_of_another_length_count_for_life_only)
{
    static struct world w;
    start(&w, 5, 4);
    struct ek_windows *whole = windows(&w, KEPT), *into = windows(&w, KEPT),
                      *from = windows(&w, 2 * KEPT);
    struct ek_windows *alone = windows(&w, KEPT);
    for (int i = 0; i < LISTS; i++) {
        draw_list(&w);
        add(&w, whole);
        add(&w, i % 2 ? into : from);
        if (i % 2)
            add(&w, alone);
    }
    ck_assert_int_eq(ek_windows_merge(into, from, true), EK_OK);
    for (int f = 0; f < w.features; f++) {
        ck_same_span(whole, into, f, -1);
        for (int64_t number = 0; number <= w.number; number++)
            ck_same_span(alone, into, f, number);
    }
    ek_windows_free(whole);
    ek_windows_free(alone);
    ek_windows_free(into);
    ek_windows_free(from);
}
END_TEST

Suite *suite_windows_state(void)
{
    return ek_suite("windows in the state", what_was_read_goes_on_as_what_was_written,
                    parts_make_up_the_whole, windows_of_another_length_count_for_life_only);
}
