/* Layer normalization of rows, and its gradient against differences. */
#include "tests/check.h"

#include "base/rng.h"
#include "offline/select/nfs_network.h"

#include <math.h>
#include <string.h>

enum { ROWS = 3, WIDTH = 16 };

static void draw(float *x, size_t count, uint64_t seed)
{
    struct ek_rng r;
    ek_rng_seed(&r, seed);
    for (size_t i = 0; i < count; i++)
        x[i] = (float)(3 + 2 * ek_rng_normal(&r));
}

static double blamed(const float *x, const float *dy)
{
    float y[ROWS * WIDTH], scale[ROWS];
    double sum = 0;
    ek_layer_norm(x, ROWS, WIDTH, y, scale);
    for (size_t i = 0; i < (size_t)ROWS * WIDTH; i++)
        sum += (double)dy[i] * (double)y[i];
    return sum;
}

START_TEST(rows_get_mean_0_and_deviation_1)
{
    float x[ROWS * WIDTH], y[ROWS * WIDTH], scale[ROWS];
    draw(x, (size_t)ROWS * WIDTH, 1);
    ek_layer_norm(x, ROWS, WIDTH, y, scale);
    for (size_t r = 0; r < ROWS; r++) {
        double sum = 0, squares = 0;
        for (size_t i = 0; i < WIDTH; i++) {
            sum += (double)y[r * WIDTH + i];
            squares += pow((double)y[r * WIDTH + i], 2);
        }
        ck_assert_double_eq_tol(sum, 0, 1e-5);
        ck_assert_double_eq_tol(squares / WIDTH, 1, 1e-4);
    }
}
END_TEST

START_TEST(a_row_of_equal_elements_gives_zeros)
{
    float x[WIDTH], y[WIDTH], scale, zeros[WIDTH] = {0};
    for (size_t i = 0; i < WIDTH; i++)
        x[i] = 7;
    ek_layer_norm(x, 1, WIDTH, y, &scale);
    ck_assert_mem_eq(y, zeros, sizeof y);
    ck_assert(isfinite(scale));
}
END_TEST

START_TEST(its_gradient_is_that_of_differences_and_is_added)
{
    float x[ROWS * WIDTH], y[ROWS * WIDTH], dy[ROWS * WIDTH], dx[ROWS * WIDTH], scale[ROWS];
    draw(x, (size_t)ROWS * WIDTH, 2);
    draw(dy, (size_t)ROWS * WIDTH, 3);
    for (size_t i = 0; i < (size_t)ROWS * WIDTH; i++)
        dx[i] = 1;
    ek_layer_norm(x, ROWS, WIDTH, y, scale);
    ek_layer_norm_backward(y, scale, dy, ROWS, WIDTH, dx);
    for (size_t i = 0; i < (size_t)ROWS * WIDTH; i++) {
        float held = x[i], h = 0x1p-6f;
        x[i] = held + h;
        double above = blamed(x, dy);
        x[i] = held - h;
        double below = blamed(x, dy);
        x[i] = held;
        ck_assert_double_eq_tol((double)dx[i] - 1, (above - below) / (2 * (double)h), 2e-3);
    }
}
END_TEST

Suite *suite_layer_norm(void)
{
    return ek_suite("row_norm", rows_get_mean_0_and_deviation_1,
                    a_row_of_equal_elements_gives_zeros,
                    its_gradient_is_that_of_differences_and_is_added);
}
