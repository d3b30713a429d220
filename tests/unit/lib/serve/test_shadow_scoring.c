/* Shadow scoring of in-flight lists: no effect on output, no access to message bytes, and results
 * for the desired and the active plan. */
#include "serve/shadow_scoring.h"

#include "base/buf.h"
#include "lists/codec.h"
#include "serve/assets.h"
#include "guard/guard_internal.h"
#include "guard/guard_trials.h"
#include "tests/check.h"
#include "tests/stream_assets.h"

#include <math.h>
#include <stdlib.h>

enum { BEFORE = 200, FAULTY = 300, FACTOR = 100 };

#define RULES "version: 1\ndefaults: {mode: enforce, confirmation_lists: 64, min_duration: 30s}\n"
static const char ROUTE[] = RULES "segments: [arm]\n",
                  RESCALE[] = RULES "features: {price: {actions: {scale: repair}}}\n",
                  SILENCE[] = RULES "features: {price: {actions: {scale: blank}}}\n",
                  BY_SOURCE[] = RULES "features: {price: {actions: {items: route_per_source}}}\n";

/* A guard, the context of its lists, and its events. */
struct side {
    struct ek_guard *guard;
    struct ek_context *context;
    struct ek_buf said;
};

struct scene {
    struct ek_assets assets;
    struct stream stream;
    struct ek_buf message;
    struct side side[2];
};

static void begin(struct scene *s, const char *rules)
{
    struct ek_assets *a = &s->assets;
    memset(s, 0, sizeof *s);
    stream_assets_open(a, rules, NULL);
    stream_start(&s->stream, 21);
    ek_buf_init(&s->message, 0);
    for (int i = 0; i < 2; i++) {
        ck_assert_int_eq(ek_guard_new(&s->side[i].guard, a, NULL), EK_OK);
        ck_assert_int_eq(ek_context_new(&s->side[i].context, a, NULL), EK_OK);
        ek_buf_init(&s->side[i].said, 0);
    }
}

static void end(struct scene *s)
{
    for (int i = 0; i < 2; i++) {
        ek_context_free(s->side[i].context);
        ek_guard_free(s->side[i].guard);
        ek_buf_release(&s->side[i].said);
    }
    ek_buf_release(&s->message);
    stream_end(&s->stream);
    ek_assets_release(&s->assets);
}

/* Encode the next list: prices in cents from BEFORE on, for every other item if the rules are about
 * sources. */
static struct ek_list *next(struct scene *s, bool by_source)
{
    struct ek_list *q = stream_next(&s->stream);
    q->sources = by_source ? 2 : 0;
    for (int i = 0; i < q->items; i++) {
        q->source[i] = i % 2;
        if (s->stream.number > BEFORE && (!by_source || q->source[i]))
            q->x[3 * i] *= FACTOR;
    }
    if (s->stream.number % 7 == 3)
        q->score[0] = NAN; /* it has no order */
    return q;
}

static void encode(struct scene *s, const struct ek_list *q)
{
    ek_buf_clear(&s->message);
    ck_assert_int_eq(ek_codec_encode(s->assets.manifest, q, EK_FEATURES_ARRAY, &s->message, NULL),
                     EK_OK);
}

static const void *pass(struct scene *s, struct side *side, size_t *length)
{
    const char *text;
    ck_assert_int_eq(ek_context_decode(side->context, s->message.data, s->message.length, NULL),
                     EK_OK);
    ck_assert_int_eq(ek_guard_update(side->guard, side->context, 1, NULL), EK_OK);
    const void *out = ek_context_score(side->context, length, NULL);
    ck_assert_ptr_nonnull(out);
    while (ek_guard_next_event(side->guard, &text))
        ck_assert_int_eq(ek_buf_text(&side->said, text), EK_OK);
    return out;
}

static struct ek_comparison try(struct ek_context *c, bool more)
{
    struct ek_comparison t;
    bool valid;
    ck_assert(ek_context_needs_comparison(c));
    ck_assert_int_eq(ek_context_compare(c, more, 0, &t, &valid, NULL), EK_OK);
    ck_assert(valid);
    return t;
}

static int keep(void *to, const char *key, const void *bytes, size_t length)
{
    return ek_buf_text(to, key) || ek_buf_add(to, bytes, length);
}

static void save(struct side *side, struct ek_buf *state)
{
    ek_buf_init(state, 0);
    ck_assert_int_eq(ek_guard_save(side->guard, 1, NULL, 0, keep, state, NULL), EK_OK);
}

static void assert_same(const struct ek_buf *a, const struct ek_buf *b)
{
    ck_assert_uint_eq(a->length, b->length);
    ck_assert_mem_eq(a->data, b->data, a->length);
}

/* Send lists through both guards, one of which compares all; their outputs stay equal. Return the
 * number of comparisons. */
static int pass_beside(struct scene *s, bool by_source)
{
    int tried = 0;
    for (int i = 0; i < BEFORE + FAULTY; i++) {
        struct ek_context *c = s->side[0].context, *plain = s->side[1].context;
        size_t length, expected;
        encode(s, next(s, by_source));
        const void *out = pass(s, &s->side[0], &length);
        if (ek_context_needs_comparison(c)) {
            struct ek_comparison t;
            bool valid;
            ck_assert_int_eq(ek_context_compare(c, i % 4 == 0, .1, &t, &valid, NULL), EK_OK);
            tried += valid;
        }
        const void *one = pass(s, &s->side[1], &expected);
        ck_assert_uint_eq(length, expected);
        ck_assert_mem_eq(out, one, length);
        ck_assert_ptr_eq(ek_context_score(c, &length, NULL), out);
        ck_assert_mem_eq(out, one, length);
        ck_assert_str_eq(ek_context_action(c), ek_context_action(plain));
        ck_assert_uint_eq(ek_context_plan_version(c), ek_context_plan_version(plain));
    }
    return tried;
}

START_TEST(a_trial_changes_no_byte)
{
    static const char *const rules[] = {ROUTE, RESCALE, SILENCE, BY_SOURCE};
    for (int i = 0; i < 4; i++) {
        struct ek_buf state[2];
        struct scene s;
        begin(&s, rules[i]);
        ck_assert_int_gt(pass_beside(&s, rules[i] == BY_SOURCE), 50);
        assert_same(&s.side[0].said, &s.side[1].said);
        for (int k = 0; k < 2; k++)
            save(&s.side[k], &state[k]);
        assert_same(&state[0], &state[1]);
        for (int k = 0; k < 2; k++)
            ek_buf_release(&state[k]);
        end(&s);
    }
}
END_TEST

/* Run lists until the price is routed; the last of them is in the context. */
static void route_price(struct scene *s, struct side *side)
{
    size_t length;
    for (int i = 0; i < BEFORE + FAULTY || s->stream.number % 7 == 3; i++) {
        encode(s, next(s, false));
        pass(s, side, &length);
    }
    ck_assert_str_eq(ek_context_action(side->context), "routed");
}

/* Send the list in a separate buffer that is freed before the comparison, as after an
 * acknowledgment. */
static void try_without_message(struct scene *s, struct ek_context *c,
                                enum ek_feature_encoding encoding,
                                const struct ek_comparison *before)
{
    size_t length;
    struct ek_buf b;
    ek_buf_init(&b, 0);
    ck_assert_int_eq(ek_codec_encode(s->assets.manifest, &s->stream.query, encoding, &b, NULL),
                     EK_OK);
    unsigned char *message = malloc(b.length);
    memcpy(message, b.data, b.length);
    ck_assert_int_eq(ek_context_decode(c, message, b.length, NULL), EK_OK);
    ck_assert_int_eq(ek_guard_update(s->side[0].guard, c, 1, NULL), EK_OK);
    ck_assert_ptr_nonnull(ek_context_score(c, &length, NULL));
    memset(message, 0xc1, b.length);
    free(message);
    struct ek_comparison after = try(c, true);
    ck_assert_mem_eq(&after.result.moved, &before->result.moved, sizeof before->result.moved);
    ck_assert_mem_eq(&after.result.plain, &before->result.plain, sizeof before->result.plain);
    ek_buf_release(&b);
}

START_TEST(a_trial_reads_no_text)
{
    struct scene s;
    begin(&s, ROUTE);
    route_price(&s, &s.side[0]);
    struct ek_context *c = s.side[0].context;
    struct ek_comparison before = try(c, true);
    for (int i = EK_FEATURES_ARRAY; i <= EK_FEATURES_MAP; i++)
        try_without_message(&s, c, (enum ek_feature_encoding)i, &before);
    end(&s);
}
END_TEST

static struct ek_plan *in_force(struct scene *s)
{
    return (struct ek_plan *)ek_controller_plan(s->side[0].guard->control);
}

START_TEST(a_trial_says_how_far_the_output_moves_and_by_which_entry)
{
    struct scene s;
    struct ek_list out;
    struct ek_ranker *ranker;
    struct ek_rank_change desired;
    size_t length;
    bool valid;
    begin(&s, ROUTE);
    route_price(&s, &s.side[0]);
    struct ek_context *c = s.side[0].context;
    struct ek_comparison t = try(c, false);
    const void *bytes = ek_context_score(c, &length, NULL);
    ck_assert_int_eq(ek_ranker_new(&ranker, NULL), EK_OK);
    ek_list_init(&out);
    ck_assert_int_eq(ek_codec_decode(s.assets.codec, bytes, length, &out, NULL), EK_OK);
    ck_assert_int_eq(ek_rank_change_compute(ranker, s.stream.query.score, out.score, out.items,
                                            &desired, &valid, NULL),
                     EK_OK);
    ck_assert_mem_eq(&t.result.moved, &desired, sizeof desired);
    ck_assert(t.acting == 1 && t.entries == 1 && t.entry[0] == 0 && !t.result.has_plain);
    ck_assert_uint_eq(t.plan, in_force(&s)->version);
    ek_list_release(&out);
    ek_ranker_free(ranker);
    end(&s);
}
END_TEST

/* Send the last message through the guard again. */
static void again(struct scene *s, struct side *side)
{
    size_t length;
    pass(s, side, &length);
}

START_TEST(in_shadow_the_bytes_stay_and_the_trial_says_what_would_be)
{
    struct scene s;
    size_t length;
    begin(&s, ROUTE);
    route_price(&s, &s.side[0]);
    struct ek_context *c = s.side[0].context;
    struct ek_comparison acting = try(c, true);
    in_force(&s)->entry[0].mode = EK_MODE_SHADOW;
    const void *out = pass(&s, &s.side[0], &length);
    ck_assert_ptr_eq(out, s.message.data);
    ck_assert_str_eq(ek_context_action(c), "shadow");
    for (int i = 0; i < c->query.items; i++)
        c->scores[i] = i; /* left over from another list */
    struct ek_comparison shadow = try(c, true);
    ck_assert(acting.acting == 1 && !shadow.acting && shadow.entries == 1);
    ck_assert_mem_eq(&shadow.result.moved, &acting.result.moved, sizeof acting.result.moved);
    ck_assert_mem_eq(&shadow.result.plain, &acting.result.plain, sizeof acting.result.plain);
    end(&s);
}
END_TEST

START_TEST(harm_is_measured_where_it_is_known_what_undoes_the_fault)
{
    static const struct ek_plan_repair unknown = {.factor = NAN, .query_feature = -1},
                                       nothing = {.query_feature = -1},
                                       number = {.factor = FACTOR, .query_feature = -1},
                                       nights = {.factor = NAN};
    struct scene s;
    begin(&s, ROUTE);
    route_price(&s, &s.side[0]);
    struct ek_context *c = s.side[0].context;
    struct ek_plan_repair *repair = &in_force(&s)->entry[0].repair;
    for (int i = 0; i < 2; i++) {
        *repair = i ? nothing : unknown;
        again(&s, &s.side[0]);
        ck_assert(!try(c, true).result.has_harm);
        *repair = i ? nights : number;
        again(&s, &s.side[0]);
        ck_assert(try(c, true).result.has_harm && !try(c, false).result.has_harm);
        ck_assert(c->repaired[0].action == EK_ACT_REPAIR && c->repaired[1].action == EK_ACT_NONE);
        ck_assert(c->repaired[0].value == (i ? (double)c->query.query[0] : FACTOR));
    }
    struct ek_comparison t;
    bool valid;
    ck_assert_int_eq(ek_context_compare(c, true, NAN, &t, &valid, NULL), EK_OK);
    ck_assert(t.result.has_plain && !t.result.has_harm);
    end(&s);
}
END_TEST

START_TEST(lists_that_nothing_is_wanted_for_or_that_were_only_looked_at_are_not_tried)
{
    struct scene s;
    size_t length;
    begin(&s, ROUTE);
    struct ek_context *c = s.side[0].context;
    ck_assert(!ek_context_needs_comparison(c));
    encode(&s, next(&s, false));
    pass(&s, &s.side[0], &length);
    ck_assert(!ek_context_needs_comparison(c));
    route_price(&s, &s.side[0]);
    ck_assert(ek_context_needs_comparison(c));
    ck_assert_int_eq(ek_context_decode(c, s.message.data, s.message.length, NULL), EK_OK);
    ck_assert(!ek_context_needs_comparison(c));
    ck_assert_int_eq(ek_guard_peek(s.side[0].guard, c, NULL), EK_OK);
    ck_assert_ptr_nonnull(ek_context_score(c, &length, NULL));
    ck_assert_str_eq(ek_context_action(c), "routed");
    ck_assert(!ek_context_needs_comparison(c));
    struct ek_list *q = next(&s, false);
    q->items = 1;
    encode(&s, q);
    pass(&s, &s.side[0], &length);
    ck_assert_str_eq(ek_context_action(c), "routed");
    ck_assert(!ek_context_needs_comparison(c));
    ck_assert_int_ne(ek_context_decode(c, "\xc1", 1, NULL), EK_OK);
    ck_assert(!ek_context_needs_comparison(c));
    end(&s);
}
END_TEST

START_TEST(figures_of_trials_come_to_the_entry_of_the_plan)
{
    struct scene s;
    struct ek_comparisons *trials;
    struct ek_rank_sums sums = {0};
    size_t length;
    begin(&s, ROUTE);
    route_price(&s, &s.side[0]);
    struct ek_context *c = s.side[0].context;
    ck_assert_int_eq(ek_comparisons_new(&trials, NULL), EK_OK);
    for (int i = 0; i < 40; i++) {
        do
            encode(&s, next(&s, false));
        while (s.stream.number % 7 == 3);
        pass(&s, &s.side[0], &length);
        struct ek_comparison t = try(c, false);
        ck_assert_int_eq(ek_comparisons_add(trials, in_force(&s), &t, NULL), EK_OK);
        ek_rank_sums_add(&sums, &t.result.moved);
    }
    const struct ek_plan_entry *entry = in_force(&s)->entry;
    const struct ek_comparison_sums *of = ek_comparisons_get(trials, entry);
    ck_assert(of && of->compared == 40 && of->alone == 40);
    ck_assert_mem_eq(&of->acted, &sums, sizeof sums);
    ek_comparisons_free(trials);
    end(&s);
}
END_TEST

/* The second plan entry is in shadow next to the first; the list is in both. */
START_TEST(what_a_list_goes_out_with_is_told_apart_from_what_is_in_shadow)
{
    struct scene s;
    struct ek_rank_change alone;
    size_t length;
    begin(&s, ROUTE);
    route_price(&s, &s.side[0]);
    struct ek_plan *plan = in_force(&s);
    struct ek_context *c = s.side[0].context;
    alone = try(c, false).result.moved;
    ck_assert(ek_plan_set(plan, 1, 0, (struct ek_treatment){EK_ACT_BLANK, 0}, 7));
    plan->entry[1].mode = EK_MODE_SHADOW;
    pass(&s, &s.side[0], &length);
    ck_assert_str_eq(ek_context_action(c), "routed");
    struct ek_comparison t = try(c, false);
    ck_assert(t.entries == 2 && t.acting == 1);
    ck_assert_mem_eq(&t.result.out, &alone, sizeof alone);
    ck_assert_mem_ne(&t.result.moved, &alone, sizeof alone);
    end(&s);
}
END_TEST

START_TEST(a_list_that_cannot_be_scored_as_the_plan_wants_is_told_as_such)
{
    struct scene s;
    struct ek_context *broken;
    struct ek_comparison t;
    bool valid;
    begin(&s, ROUTE);
    route_price(&s, &s.side[0]);
    in_force(&s)->entry[0].mode = EK_MODE_SHADOW;
    s.assets.model->weight[1][0] = INFINITY;
    ck_assert_int_eq(ek_context_new(&broken, &s.assets, NULL), EK_OK);
    ck_assert_int_eq(ek_context_decode(broken, s.message.data, s.message.length, NULL), EK_OK);
    ck_assert_int_eq(ek_guard_update(s.side[0].guard, broken, 1, NULL), EK_OK);
    ck_assert(ek_context_needs_comparison(broken));
    ck_assert_int_eq(ek_context_compare(broken, true, 0, &t, &valid, NULL), EK_OK);
    ck_assert(valid && t.failed && t.entries == 1);
    ek_context_free(broken);
    end(&s);
}
END_TEST

/* With and without comparisons in a single thread, as in `replay`. */
START_TEST(the_guard_itself_tries_the_list_it_has_scored_last)
{
    struct scene s;
    struct ek_impact_view v;
    const char *text;
    int at = 0, tried = 0;
    begin(&s, ROUTE);
    struct ek_guard *g = s.side[0].guard;
    for (int i = 0; i < BEFORE + FAULTY; i++) {
        struct ek_comparison t;
        size_t length;
        bool valid;
        encode(&s, next(&s, false));
        ck_assert_int_eq(ek_guard_observe(g, s.message.data, s.message.length, 1, NULL), EK_OK);
        ck_assert_ptr_nonnull(ek_guard_score(g, &length, NULL));
        ck_assert_int_eq(ek_guard_compare(g, &t, &valid, NULL), EK_OK);
        tried += valid;
        while (ek_guard_next_event(g, &text))
            continue;
    }
    ck_assert_int_gt(tried, 50);
    ck_assert(ek_guard_impact(g, &at, &v));
    ck_assert_str_eq(v.feature, "price");
    ck_assert(!v.dimension && v.sums->compared == (uint64_t)tried &&
              v.stats.compared == v.sums->compared);
    ck_assert(v.stats.acted > v.stats.compared && !v.stats.failed); /* some have no order */
    ck_assert(!ek_guard_impact(g, &at, &v));
    end(&s);
}
END_TEST

Suite *suite_shadow_scoring(void)
{
    return ek_suite("trial", a_trial_changes_no_byte, a_trial_reads_no_text,
                    a_trial_says_how_far_the_output_moves_and_by_which_entry,
                    in_shadow_the_bytes_stay_and_the_trial_says_what_would_be,
                    harm_is_measured_where_it_is_known_what_undoes_the_fault,
                    lists_that_nothing_is_wanted_for_or_that_were_only_looked_at_are_not_tried,
                    figures_of_trials_come_to_the_entry_of_the_plan,
                    what_a_list_goes_out_with_is_told_apart_from_what_is_in_shadow,
                    a_list_that_cannot_be_scored_as_the_plan_wants_is_told_as_such,
                    the_guard_itself_tries_the_list_it_has_scored_last);
}
