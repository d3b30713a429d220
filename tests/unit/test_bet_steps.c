/* Evidence steps: what they compute, and the same bits on every instruction set, so that machines
 * of different kinds take the same decisions on the same stream.
 */
#include "base/rng.h"
#include "num/bet_steps_isa.h"
#include "tests/check.h"

#include <math.h>
#include <string.h>

enum { FEATURES = 33, LISTS = 400, ROWS = 16 };

/* Rows of tables, made up, and the evidence of some features. */
struct world {
    float row[ROWS][EK_BET_ROW], line[2][EK_BET_ROW], fair[EK_BET_LANES], weight[EK_BET_LANES];
    float r[FEATURES][EK_BET_LANES];
    uint8_t share[FEATURES][4];
};

static void make(struct world *w, struct ek_rng *r)
{
    memset(w, 0, sizeof *w);
    for (int i = 0; i < ROWS; i++)
        for (int lane = 0; lane < EK_BET_ROW; lane++)
            w->row[i][lane] = (float)exp(.5 * ek_rng_normal(r));
    for (int lane = 0; lane < EK_BET_ROW; lane++) {
        w->line[0][lane] = lane % 2 ? .6f : 1.3f;
        w->line[1][lane] = lane % 2 ? .02f : -.01f;
    }
    for (int lane = 0; lane < EK_BET_LANES; lane++) {
        w->fair[lane] = (float)(1 - .1 * ek_rng_uniform(r));
        w->weight[lane] = (float)ek_rng_uniform(r);
    }
}

static void draw(struct world *w, struct ek_bet_step *step, struct ek_rng *r)
{
    static const float any[EK_BET_ROW] = {9, 9, 9, 9, 9, 9, 9, 9};
    static const float none[EK_BET_ROW] = {1, 1, 1, 1, 1, 1, 9, 9};
    for (int f = 0; f < FEATURES; f++) {
        for (int i = 0; i < 4; i++)
            w->share[f][i] = (uint8_t)(ek_rng_below(r, 4) ? ek_rng_below(r, 65) : 255);
        step[f] =
            (struct ek_bet_step){w->r[f],
                                 {w->row[ek_rng_below(r, ROWS)], w->row[ek_rng_below(r, ROWS)]},
                                 {w->row[ek_rng_below(r, ROWS)], w->row[ek_rng_below(r, ROWS)]},
                                 ek_rng_below(r, 8) ? any : none,
                                 w->line[0],
                                 w->share[f],
                                 w->fair};
    }
}

/* The stream of a seed under one instruction set: evidence at its end, and all totals. */
static void run(enum ek_isa isa, struct world *w, float (*total)[FEATURES],
                float (*level)[FEATURES])
{
    struct ek_bet_step step[FEATURES];
    struct ek_rng r;
    ek_rng_seed(&r, 8);
    make(w, &r);
    for (int i = 0; i < LISTS; i++) {
        draw(w, step, &r);
        ek_bet_steps_fn_of(isa)(step, FEATURES, w->weight, total[i], level[i]);
    }
}

START_TEST(every_instruction_set_takes_the_same_decisions)
{
    static struct world want, got;
    static float total[2][LISTS][FEATURES], level[2][LISTS][FEATURES];
    run(EK_ISA_PORTABLE, &want, total[0], level[0]);
    for (int isa = 0; isa < EK_ISAS; isa++) {
        if (!ek_isa_has((enum ek_isa)isa))
            continue;
        run((enum ek_isa)isa, &got, total[1], level[1]);
        ck_assert_mem_eq(&got, &want, sizeof want);
        ck_assert_mem_eq(total[1], total[0], sizeof *total);
        ck_assert_mem_eq(level[1], level[0], sizeof *level);
    }
}
END_TEST

START_TEST(a_step_is_shiryaev_roberts_with_the_product_of_its_rows)
{
    static struct world w;
    struct ek_bet_step step[FEATURES];
    float total[FEATURES], level[FEATURES], e[EK_BET_LANES];
    struct ek_rng r;
    ek_rng_seed(&r, 9);
    make(&w, &r);
    draw(&w, step, &r);
    for (int lane = 0; lane < EK_BET_LANES; lane++)
        w.r[0][lane] = (float)lane;
    ek_bet_values(&step[0], e);
    ek_bet_steps(step, FEATURES, w.weight, total, level);
    double all = 0, of_level = 0;
    for (int lane = 0; lane < EK_BET_LANES; lane++) {
        double want = ((double)lane + 1) * e[lane];
        ck_assert_double_eq_tol(w.r[0][lane], want, 1e-5 * want + 1e-9);
        all += w.weight[lane] * want;
        if (lane < 2 * EK_BET_ROW && lane % EK_BET_ROW < EK_BET_LEVEL_LANES)
            of_level += w.weight[lane] * want;
    }
    ck_assert_double_eq_tol(total[0], all, 1e-5 * all);
    ck_assert_double_eq_tol(level[0], of_level, 1e-5 * of_level);
}
END_TEST

START_TEST(a_share_that_is_not_known_is_no_evidence)
{
    static struct world w;
    struct ek_bet_step step[FEATURES];
    struct ek_rng r;
    float e[EK_BET_LANES];
    ek_rng_seed(&r, 10);
    make(&w, &r);
    draw(&w, step, &r);
    memcpy(w.share[0], (uint8_t[]){255, 32, 0, 64}, 4);
    ek_bet_values(&step[0], e);
    ck_assert_float_eq_tol(e[16], w.fair[16], 1e-6);
    ck_assert_float_eq_tol(e[17], w.fair[17] * (.6f + .02f * 32), 1e-5);
    ck_assert_float_eq_tol(e[18], w.fair[18] * 1.3f, 1e-5);
    ck_assert_msg(fabsf(e[21] - w.fair[21] * (.6f + .02f * 32)) < 1e-5f,
                  "the bold bets see the same shares");
}
END_TEST

START_TEST(a_bet_on_a_fall_takes_a_share_that_was_rounded_down_for_more)
{
    static struct world w;
    struct ek_bet_step step[FEATURES];
    struct ek_rng r;
    float e[EK_BET_LANES];
    ek_rng_seed(&r, 10);
    make(&w, &r);
    draw(&w, step, &r);
    w.share[0][0] = 10;
    ek_bet_values(&step[0], e);
    ck_assert_float_eq_tol(e[16], w.fair[16] * (1.3f - .01f * 11), 1e-5);
}
END_TEST

Suite *suite_bet_steps(void)
{
    return ek_suite("bet_steps", every_instruction_set_takes_the_same_decisions,
                    a_step_is_shiryaev_roberts_with_the_product_of_its_rows,
                    a_share_that_is_not_known_is_no_evidence,
                    a_bet_on_a_fall_takes_a_share_that_was_rounded_down_for_more);
}
