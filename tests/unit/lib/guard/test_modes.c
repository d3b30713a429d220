/* Modes: unchanged bytes, changed scores, and their events. */
#include "lists/codec.h"
#include "detect/dedup.h"
#include "evenkeel.h"
#include "serve/assets.h"
#include "guard/guard_fleet.h"
#include "guard/guard_internal.h"
#include "tests/check.h"
#include "tests/items.h"
#include "tests/stream_assets.h"

#include <string.h>

enum { BEFORE = 200, FAULTY = 400 };

struct bench {
    struct ek_assets assets;
    struct ek_guard *guard;
    struct stream stream;
    struct ek_buf message;
    enum ek_feature_encoding encoding;
    int confirmed, said[5]; /* lists or items by outcome */
    char plan[1000];
};

static void setup(struct bench *b, const char *rules, enum ek_feature_encoding encoding, bool items)
{
    static const struct ek_mapping one_by_one = {.layout = EK_LAYOUT_ITEM};
    memset(b, 0, sizeof *b);
    b->encoding = encoding;
    stream_assets_open(&b->assets, rules, items ? &one_by_one : NULL);
    ck_assert_int_eq(ek_guard_new(&b->guard, &b->assets, NULL), EK_OK);
    stream_start(&b->stream, 21);
    ek_buf_init(&b->message, 0);
}

static void teardown(struct bench *b)
{
    ek_buf_release(&b->message);
    stream_end(&b->stream);
    ek_guard_free(b->guard);
    ek_assets_release(&b->assets);
}

static void read_events(struct bench *b)
{
    const char *text;
    while (ek_guard_next_event(b->guard, &text)) {
        b->confirmed += strstr(text, "\"state\":\"confirmed\"") != NULL;
        if (strstr(text, "\"event\":\"plan\""))
            snprintf(b->plan, sizeof b->plan, "%s", text);
    }
}

/* Send `message` through the guard. Return whether it came out unchanged. */
static bool passes(struct bench *b)
{
    size_t length;
    struct ek_error e;
    int rc = ek_guard_observe(b->guard, b->message.data, b->message.length, 0, &e);
    ck_assert_msg(!rc, "%s", e.message);
    const void *out = ek_guard_score(b->guard, &length, &e);
    ck_assert_msg(out != NULL, "%s", e.message);
    for (int w = 0; w < 5; w++)
        b->said[w] +=
            !strcmp(ek_guard_action(b->guard), ek_list_outcome_name((enum ek_list_outcome)w));
    read_events(b);
    return out == b->message.data && length == b->message.length;
}

static struct ek_list *next(struct bench *b, int i)
{
    struct ek_list *q = stream_next(&b->stream);
    if (i >= BEFORE)
        stream_scale(q, 0, 100);
    item_means(q, b->assets.manifest);
    return q;
}

static void put(struct bench *b, const struct ek_list *q, int item)
{
    const struct ek_manifest *m = b->assets.manifest;
    ek_buf_clear(&b->message);
    int rc = item < 0 ? ek_codec_encode(m, q, b->encoding, &b->message, NULL)
                      : ek_codec_encode_item(m, q, item, b->encoding, &b->message, NULL);
    ck_assert_int_eq(rc, EK_OK);
}

/* Check that every output equals its input. */
static void assert_untouched(const char *rules, enum ek_feature_encoding encoding, bool items,
                             bool shadow)
{
    struct bench b;
    setup(&b, rules, encoding, items);
    for (int i = 0; i < BEFORE + FAULTY; i++) {
        struct ek_list *q = next(&b, i);
        for (int item = items ? 0 : -1; item < (items ? q->items : 0); item++) {
            put(&b, q, item);
            ck_assert(passes(&b));
        }
    }
    ck_assert_int_eq(b.confirmed, 1);
    ck_assert(shadow ? b.said[EK_LIST_SHADOW] > FAULTY / 2 : !b.said[EK_LIST_SHADOW]);
    ck_assert(!b.said[EK_LIST_ROUTED] && !b.said[EK_LIST_CANARY]);
    ck_assert_int_eq(strstr(b.plan, "\"mode\":\"shadow\"") != NULL, shadow);
    teardown(&b);
}

static const char SHADOW[] = "version: 1\ndefaults: {mode: shadow, confirmation_lists: 64}\n";
static const char OBSERVE[] = "version: 1\ndefaults: {mode: observe, confirmation_lists: 64}\n";

START_TEST(in_shadow_and_observe_bytes_are_those_that_came)
{
    static const enum ek_feature_encoding encoding[] = {EK_FEATURES_ARRAY, EK_FEATURES_JSON};
    for (int i = 0; i < 2; i++) {
        assert_untouched(SHADOW, encoding[i], false, true);
        assert_untouched(OBSERVE, encoding[i], false, false);
        assert_untouched(SHADOW, encoding[i], true, true);
    }
}
END_TEST

/* The header is per list; membership depends only on the query ids. */
START_TEST(a_canary_acts_on_the_queries_of_its_buckets_and_no_others)
{
    static const char rules[] =
        "version: 1\ndefaults: {mode: canary, confirmation_lists: 64, canary: "
        "{initial_percent: 30, step_percent: 30, max_percent: 60, step_interval: 10m, min_lists: "
        "9}}\n";
    struct bench b;
    int since = 0;
    setup(&b, rules, EK_FEATURES_ARRAY, false);
    for (int i = 0; i < BEFORE + 2 * FAULTY; i++) {
        struct ek_list *q = next(&b, i);
        put(&b, q, -1);
        bool passed = passes(&b);
        if (!b.confirmed || !since++)
            continue;
        ck_assert_int_eq(!passed, ek_canary_bucket(q) < 3000);
        ck_assert_str_eq(ek_guard_action(b.guard), passed ? "pass" : "canary");
    }
    ck_assert(b.said[EK_LIST_CANARY] > since / 5 && b.said[EK_LIST_CANARY] < since / 2);
    ck_assert_ptr_nonnull(
        strstr(b.plan, "\"mode\":\"canary\",\"percent\":30,\"source\":\"finding\""));
    teardown(&b);
}
END_TEST

/* The fault affects all traffic; the rules set another mode for arm B. */
START_TEST(lists_of_a_segment_have_its_mode)
{
    static const char rules[] =
        "version: 1\nsegments: [arm]\n"
        "defaults: {mode: observe, confirmation_lists: 64, mode_in: {arm: {B: enforce}}}\n";
    struct bench b;
    int routed = 0;
    setup(&b, rules, EK_FEATURES_ARRAY, false);
    for (int i = 0; i < BEFORE + 2 * FAULTY; i++) {
        put(&b, next(&b, i), -1);
        bool passed = passes(&b);
        ck_assert(passed || b.stream.arm_b);
        routed += !passed;
    }
    ck_assert_int_ge(b.confirmed, 1);
    ck_assert_int_gt(routed, FAULTY / 4);
    teardown(&b);
}
END_TEST

Suite *suite_modes(void)
{
    return ek_suite("modes", in_shadow_and_observe_bytes_are_those_that_came,
                    a_canary_acts_on_the_queries_of_its_buckets_and_no_others,
                    lists_of_a_segment_have_its_mode);
}
