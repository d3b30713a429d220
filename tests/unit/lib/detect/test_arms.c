/* Faults of one arm besides those of another. */
#include "detect/merge.h"
#include "tests/detector.h"

static bool has_arm(struct bench *b, const char *arm, int feature)
{
    const struct ek_cells *cells = ek_detector_registry(b->detector);
    for (int cell = 1; cell < ek_cells_count(cells); cell++) {
        const char *value = ek_cells_value(cells, cell);
        if (value && !strcmp(value, arm) && ek_detector_has_open(b->detector, feature, cell))
            return true;
    }
    return false;
}

/* Sizes of arm B are in cents in a fifth of the time, and those of a small arm always rise by a
 * little. */
static void sizes_come_and_go(struct bench *b, struct ek_list *q)
{
    uint64_t n = b->world.stream.number;
    if (n % 25 == 3) {
        q->segments[0].value = stream_text("D");
        stream_scale(q, 1, n > BEFORE ? 1.12 : 1);
    } else if (b->world.stream.arm_b && n % 200 < 40)
        stream_scale(q, 1, 100);
}

START_TEST(a_small_fault_of_an_arm_is_found_while_that_of_another_comes_and_goes)
{
    struct bench b;
    setup(&b, 20);
    run(&b, BEFORE, sizes_come_and_go);
    for (int i = 0; i < 4000 && !has_arm(&b, "D", 1); i++)
        run(&b, 1, sizes_come_and_go);
    ck_assert_int_ge(b.count[EK_RECOVERED], 5);
    ck_assert(has_arm(&b, "D", 1));
    teardown(&b);
}
END_TEST

Suite *suite_arms(void)
{
    return ek_suite("arms", a_small_fault_of_an_arm_is_found_while_that_of_another_comes_and_goes);
}
