/* Random numbers: the properties that the generator and training depend on. */
#include "base/rng.h"
#include "tests/check.h"

START_TEST(a_shuffle_keeps_every_value)
{
    for (uint64_t seed = 0; seed < 200; seed++) {
        struct ek_rng r;
        int values[17], seen[17] = {0};
        ek_rng_seed(&r, seed);
        for (int i = 0; i < 17; i++)
            values[i] = i;
        ek_rng_shuffle(&r, values, 17);
        for (int i = 0; i < 17; i++)
            seen[values[i]]++;
        for (int i = 0; i < 17; i++)
            ck_assert_int_eq(seen[i], 1);
    }
}
END_TEST

Suite *suite_rng(void)
{
    return ek_suite("rng", a_shuffle_keeps_every_value);
}
