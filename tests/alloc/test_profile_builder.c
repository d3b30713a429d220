/* A profile of arrays without memory: clean errors, and no incomplete file. */
#include "evenkeel.h"
#include "base/error.h"
#include "base/file.h"
#include "tests/alloc/scratch.h"
#include "tests/alloc/sweep.h"
#include "tests/check.h"

#include <string.h>

static const char MANIFEST[] = "features:\n"
                               "  - {name: price, index: 1, role: item}\n"
                               "  - {name: nights, index: 2, role: query}\n";

enum { LISTS = 40, ITEMS = 3 };

static int add(struct ek_profile_builder *b, int i, struct ek_error *e)
{
    const struct ek_segment_value segment = {"market", i % 2 ? "DE" : "US"};
    float x[ITEMS] = {(float)(10 + i), (float)(20 + i % 7), 30};
    const float nights = (float)(1 + i % 3);
    const struct ek_array_list list = {.time_ms = 1 + i,
                                       .segment = &segment,
                                       .segments = 1,
                                       .query_features = &nights,
                                       .query_count = 1,
                                       .features = x,
                                       .items = ITEMS,
                                       .feature_count = 1,
                                       .item_stride = 1,
                                       .feature_stride = 1};
    return ek_profile_builder_add(b, &list, e);
}

static int make_profile(struct ek_error *e)
{
    struct ek_scratch m = ek_scratch("builder.yaml"), p = ek_scratch("builder.ekp");
    struct ek_profile_builder *b = NULL;
    int rc = ek_profile_builder_new(&b, m.path, "market", e);
    for (int i = 0; i < LISTS && !rc; i++)
        rc = add(b, i, e);
    if (!rc)
        rc = ek_profile_builder_save(b, p.path, e);
    ek_profile_builder_free(b);
    return rc;
}

START_TEST(a_profile_without_memory_leaves_nothing)
{
    struct ek_writer *w;
    ck_assert_int_eq(ek_writer_open(&w, ek_scratch("builder.yaml").path, NULL), EK_OK);
    ck_assert_int_eq(ek_writer_write(w, MANIFEST, strlen(MANIFEST), NULL), EK_OK);
    ck_assert_int_eq(ek_writer_close(w, NULL), EK_OK);
    ek_sweep(make_profile);
}
END_TEST

Suite *suite_profile_builder(void)
{
    return ek_suite("profile_builder", a_profile_without_memory_leaves_nothing);
}
