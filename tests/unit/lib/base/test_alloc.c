/* A long-running process returns freed memory to the system. */
#include "base/alloc.h"
#include "tests/check.h"

#include <malloc.h>
#include <stdbool.h>

enum { LARGE = 48 << 20, SMALLER = 33 << 20, PART = 64 << 10, PARTS = 512, FREE = 8 << 20 };

/* A sanitizer's own heap is not measured. */
static bool seen(void)
{
    void *p = ek_calloc(1, 1);
    bool used = ek_alloc_used() > 0;
    ek_free(p);
    return used;
}

START_TEST(what_is_large_goes_back_when_it_is_freed_also_after_something_larger)
{
    if (!seen())
        return;
    ek_alloc_limit_cache();
    ek_free(ek_calloc(LARGE, 1));
    void *p = ek_calloc(SMALLER, 1);
    ck_assert_ptr_nonnull(p);
    ck_assert_uint_ge(mallinfo2().hblkhd, SMALLER);
    ek_free(p);
    ck_assert_uint_eq(mallinfo2().hblkhd, 0);
}
END_TEST

START_TEST(a_heap_that_has_grown_by_small_parts_shrinks_again)
{
    static void *part[PARTS];
    if (!seen())
        return;
    ek_alloc_limit_cache();
    ek_free(ek_calloc(LARGE, 1));
    size_t before = mallinfo2().arena;
    for (int i = 0; i < PARTS; i++)
        part[i] = ek_calloc(PART, 1);
    ck_assert_uint_ge(mallinfo2().arena, before + PARTS * PART / 2);
    for (int i = PARTS; i-- > 0;)
        ek_free(part[i]);
    ck_assert_uint_le(mallinfo2().arena, before + FREE);
}
END_TEST

Suite *suite_alloc(void)
{
    return ek_suite("alloc", what_is_large_goes_back_when_it_is_freed_also_after_something_larger,
                    a_heap_that_has_grown_by_small_parts_shrinks_again);
}
