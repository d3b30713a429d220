/* Rollouts under random times, statistics and rules: a canary only adds lists, and restored
 * rollouts continue identically. */
#include "base/rng.h"
#include "plan/plan.h"
#include "plan/rollout.h"
#include "tests/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FEATURES = 3, CELLS = 4, TURNS = 3000, WORLDS = 40, MINUTE = 60000 };

struct world {
    struct ek_rng r;
    struct ek_rules rules;
    struct ek_canary canary;
    struct ek_rollouts *rollouts, *stopped; /* a continuous one, and one repeatedly restored */
    int64_t now;
    int steps, rolled_back, relapses; /* counts */
};

static double one_of(struct ek_rng *r, double a, double b)
{
    return ek_rng_uniform(r) < .5 ? a : b;
}

static void open_world(struct world *w, uint64_t seed)
{
    memset(w, 0, sizeof *w);
    ek_rng_seed(&w->r, seed);
    w->rules.min_duration_ms = MINUTE * (int64_t)(1 + ek_rng_uniform_int(&w->r, 20));
    w->rules.max_duration_ms =
        w->rules.min_duration_ms * (int64_t)(1 + ek_rng_uniform_int(&w->r, 9));
    w->canary =
        (struct ek_canary){.initial_percent = one_of(&w->r, 0, 7.25),
                           .step_percent = one_of(&w->r, 3, .01 + 50 * ek_rng_uniform(&w->r)),
                           .max_percent = one_of(&w->r, 100, 7.25 + 90 * ek_rng_uniform(&w->r)),
                           .step_interval_ms = MINUTE * (int64_t)(1 + ek_rng_uniform_int(&w->r, 9)),
                           .min_lists = 1 + (int)ek_rng_uniform_int(&w->r, 50)};
    w->canary.abort_if = (struct ek_guardrails){.rank_change_p95 = one_of(&w->r, 0, .9),
                                                .error_rate = one_of(&w->r, 0, .2),
                                                .worse_than_unmitigated = true};
    w->rollouts = calloc(1, sizeof *w->rollouts);
    w->stopped = calloc(1, sizeof *w->stopped);
    ck_assert(w->rollouts && w->stopped);
    w->now = MINUTE * (int64_t)ek_rng_uniform_int(&w->r, 1000);
}

static void close_world(struct world *w)
{
    free(w->rollouts);
    free(w->stopped);
}

static struct ek_rollout_stats random_figures(struct world *w)
{
    uint64_t acted = ek_rng_uniform_int(&w->r, 120);
    return (struct ek_rollout_stats){.compared = ek_rng_uniform_int(&w->r, 100),
                                     .acted = acted,
                                     .failed = ek_rng_uniform_int(&w->r, acted + 1) / 6,
                                     .dead_rate_elsewhere = NAN,
                                     .rank_change_p95 = pow(ek_rng_uniform(&w->r), .5),
                                     .latency_p99_ms = NAN,
                                     .latency_before_ms = NAN,
                                     .worse = 10020 * ek_rng_uniform(&w->r)};
}

/* Check the permitted effects of one evaluation. */
static void assert_look(const struct world *w, const struct ek_rollout *before,
                        const struct ek_rollout *after, enum ek_rollout_change turn,
                        const struct ek_rollout_stats *f)
{
    int step = (int)floor(w->canary.step_percent * 100 + .5);
    ck_assert_int_ge(after->percent, before->percent); /* only adds lists */
    ck_assert(turn != EK_ROLLOUT_UNCHANGED || after->percent == before->percent);
    ck_assert(turn == EK_ROLLOUT_ROLLED_BACK ||
              ek_rollout_may_act(after) == ek_rollout_may_act(before));
    if (turn == EK_ROLLOUT_STEPPED) {
        ck_assert_int_le(after->percent - before->percent, step);
        ck_assert_int_le(after->percent, (int)floor(w->canary.max_percent * 100 + .5));
        ck_assert(w->now - before->step_ms >= w->canary.step_interval_ms);
        ck_assert(f->compared >= (uint64_t)w->canary.min_lists);
        ck_assert(after->step_ms == w->now);
    }
}

/* Apply one random operation to both; the results must be equal. */
static void take_turn(struct world *w)
{
    int feature = (int)ek_rng_uniform_int(&w->r, FEATURES),
        cell = (int)ek_rng_uniform_int(&w->r, CELLS);
    double kind = ek_rng_uniform(&w->r);
    enum ek_mode mode = ek_rng_uniform(&w->r) < .3 ? EK_MODE_ENFORCE : EK_MODE_CANARY;
    struct ek_rollout_stats f = random_figures(w);
    for (int which = 0; which < 2; which++) {
        struct ek_rollouts *s = which ? w->stopped : w->rollouts;
        struct ek_rollout *r = ek_rollout_find(s, feature, cell), before;
        if (kind < .02) {
            ek_rollout_end(s, feature, cell, w->now);
        } else if (kind < .07 || !r) {
            r = ek_rollout_begin(s, feature, cell, &w->rules, &w->canary, w->now);
            w->relapses += r->relapses > 0;
        } else if (kind < .08 && r->rolled_back) {
            ek_rollout_resume(r, &w->canary, w->now);
        } else {
            before = *r;
            enum ek_rollout_change turn = ek_rollout_step(r, mode, &w->canary, &f, w->now);
            assert_look(w, &before, r, turn, &f);
            w->steps += turn == EK_ROLLOUT_STEPPED;
            w->rolled_back += turn == EK_ROLLOUT_ROLLED_BACK;
        }
        int64_t hold = r ? ek_rollout_min_duration_ms(r, &w->rules) : w->rules.min_duration_ms;
        ck_assert(hold >= w->rules.min_duration_ms && hold <= w->rules.max_duration_ms);
    }
}

static void save_and_load(struct world *w)
{
    struct ek_buf bytes, again;
    ek_buf_init(&bytes, 0);
    ek_buf_init(&again, 0);
    struct ek_serialize out = {.out = &bytes}, second = {.out = &again};
    struct ek_rollouts before = *w->stopped;
    ek_rollouts_serialize(w->stopped, &out, FEATURES, CELLS);
    for (int i = 0; i < before.count; i++) /* writing changes nothing */
        ck_assert(!memcmp(&before.one[i], &w->stopped->one[i], sizeof *before.one));
    memset(w->stopped, 0xff, sizeof *w->stopped);
    w->stopped->count = 0;
    struct ek_serialize in = {.at = bytes.data, .end = bytes.data + bytes.length};
    ek_rollouts_serialize(w->stopped, &in, FEATURES, CELLS);
    ck_assert(!out.rc && !in.rc && in.at == in.end);
    ek_rollouts_serialize(w->rollouts, &second, FEATURES, CELLS);
    ck_assert_uint_eq(again.length, bytes.length);
    ck_assert(!memcmp(again.data, bytes.data, bytes.length));
    ek_buf_release(&bytes);
    ek_buf_release(&again);
}

START_TEST(a_canary_only_ever_adds_queries_and_goes_on_after_a_restart)
{
    int steps = 0, rolled_back = 0, relapses = 0;
    for (uint64_t seed = 0; seed < WORLDS; seed++) {
        struct world w;
        open_world(&w, 700 + seed);
        for (int i = 0; i < TURNS; i++) {
            w.now += (int64_t)ek_rng_uniform_int(&w.r, MINUTE / 2);
            take_turn(&w);
            if (ek_rng_uniform_int(&w.r, 20) == 0)
                save_and_load(&w);
        }
        steps += w.steps;
        rolled_back += w.rolled_back;
        relapses += w.relapses;
        close_world(&w);
    }
    ck_assert_msg(steps > 200 && rolled_back > 200 && relapses > 200, "%d steps, %d %d", steps,
                  rolled_back, relapses);
}
END_TEST

/* Invalid bytes are rejected. */
START_TEST(what_could_not_be_is_not_read)
{
    struct world w;
    struct ek_rng r;
    ek_rng_seed(&r, 5);
    open_world(&w, 9);
    for (int i = 0; i < 200; i++)
        take_turn(&w);
    struct ek_buf bytes;
    ek_buf_init(&bytes, 0);
    struct ek_serialize out = {.out = &bytes};
    ek_rollouts_serialize(w.rollouts, &out, FEATURES, CELLS);
    for (int i = 0; i < 3000; i++) {
        size_t at = ek_rng_uniform_int(&r, bytes.length);
        uint8_t was = bytes.data[at];
        bytes.data[at] = (uint8_t)ek_rng_u64(&r);
        struct ek_serialize in = {.at = bytes.data, .end = bytes.data + bytes.length};
        memset(w.stopped, 0, sizeof *w.stopped);
        ek_rollouts_serialize(w.stopped, &in, FEATURES, CELLS);
        for (int k = 0; k < w.stopped->count && !in.rc; k++) {
            const struct ek_rollout *one = &w.stopped->one[k];
            ck_assert(one->feature >= 0 && one->feature < FEATURES && one->cell >= 0 &&
                      one->cell < CELLS && one->percent >= 0 && one->percent <= EK_PERCENT_WHOLE &&
                      one->relapses >= 0 && one->step_ms >= 0 && one->ended_ms >= -1);
            ck_assert_ptr_nonnull(ek_guardrail_name(one->rolled_back));
        }
        bytes.data[at] = was;
    }
    ek_buf_release(&bytes);
    close_world(&w);
}
END_TEST

Suite *suite_rollout(void)
{
    return ek_suite("rollout", a_canary_only_ever_adds_queries_and_goes_on_after_a_restart,
                    what_could_not_be_is_not_read);
}
