/* The demo is evaluated by the traffic that it sent. */
#include "daemon/demo/demo_source.h"
#include "daemon/files/upstream_sim.h"
#include "lists/codec.h"
#include "offline/world/hotel.h"
#include "tests/check.h"
#include "tests/plain_model.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

static const char MODEL[] = "build/demo-feed-test.safetensors";

struct bench {
    struct ek_manifest *m;
    struct ek_demo_source *feed;
};

static void open_bench(struct bench *b)
{
    const char *text = ek_hotel_manifest();
    ck_assert_int_eq(ek_manifest_parse(&b->m, "hotel", text, strlen(text), NULL), EK_OK);
    ek_model_free(ek_save_plain_model(b->m, MODEL));
    ck_assert_int_eq(ek_demo_source_new(&b->feed, b->m, MODEL, MODEL, 5, NULL), EK_OK);
}

static void close_bench(struct bench *b)
{
    ek_demo_source_free(b->feed);
    ek_manifest_free(b->m);
    unlink(MODEL);
}

START_TEST(only_arm_b_is_broken_and_its_ranking_suffers_or_stays)
{
    struct bench b;
    int broken = 0, moved = 0;
    open_bench(&b);
    for (uint64_t i = 0; i < 400; i++) {
        const void *bytes;
        size_t length;
        struct ek_demo_result r;
        bool faulty = i >= 200;
        ck_assert_int_eq(ek_demo_source_next(b.feed, faulty, 17, &bytes, &length, NULL), EK_OK);
        ck_assert_int_eq(ek_demo_source_evaluate(b.feed, bytes, length, false, &r, NULL), EK_OK);
        ck_assert_uint_eq(r.number, i);
        ck_assert(r.untouched);
        ck_assert_int_eq(r.broken, faulty && r.concerned);
        ck_assert(r.upstream == r.guarded);
        ck_assert(r.broken || r.upstream == r.clean);
        ck_assert(r.unrouted == r.upstream); /* by the same model */
        broken += r.broken;
        moved += r.upstream != r.clean;
    }
    ck_assert_int_gt(broken, 60);
    ck_assert_int_lt(broken, 140);
    ck_assert_int_gt(moved, 10);
    close_bench(&b);
}
END_TEST

START_TEST(other_scores_are_noticed_and_judged_by_themselves)
{
    struct bench b;
    struct ek_codec *codec;
    struct ek_list q;
    struct ek_buf out;
    struct ek_demo_result r;
    const void *bytes;
    size_t length;
    double best_first[EK_HOTEL_ITEMS_MAX];
    open_bench(&b);
    ek_list_init(&q);
    ek_buf_init(&out, 0);
    ck_assert_int_eq(ek_codec_new(&codec, b.m, NULL, NULL, NULL), EK_OK);
    ck_assert_int_eq(ek_demo_source_next(b.feed, true, 17, &bytes, &length, NULL), EK_OK);
    ck_assert_int_eq(ek_codec_decode(codec, bytes, length, &q, NULL), EK_OK);
    ck_assert_int_eq(q.time_ms, 17);
    for (int k = 0; k < q.items; k++)
        best_first[k] = (double)q.label[k];
    ck_assert_int_eq(ek_codec_patch(&q, bytes, length, best_first, &out, NULL), EK_OK);
    ck_assert_int_eq(ek_demo_source_evaluate(b.feed, out.data, out.length, true, &r, NULL), EK_OK);
    ck_assert(!r.untouched);
    ck_assert(r.routed);
    ck_assert_double_eq_tol(r.guarded, 1, 1e-12);
    ek_codec_free(codec);
    ek_list_release(&q);
    ek_buf_release(&out);
    close_bench(&b);
}
END_TEST

START_TEST(a_search_that_was_never_sent_is_refused)
{
    struct bench b, other;
    const void *bytes;
    size_t length;
    struct ek_demo_result r;
    struct ek_error e;
    open_bench(&b);
    open_bench(&other);
    ck_assert_int_eq(ek_demo_source_next(b.feed, false, 17, &bytes, &length, NULL), EK_OK);
    ck_assert_int_eq(ek_demo_source_evaluate(other.feed, bytes, length, false, &r, &e), EK_EFORMAT);
    ck_assert_str_eq(e.message, "unknown search 'q-0' in the output");
    ck_assert_int_ne(ek_demo_source_evaluate(b.feed, "x", 1, false, &r, &e), EK_OK);
    close_bench(&b);
    close_bench(&other);
}
END_TEST

Suite *suite_demo_source(void)
{
    return ek_suite("demo_feed", only_arm_b_is_broken_and_its_ranking_suffers_or_stays,
                    other_scores_are_noticed_and_judged_by_themselves,
                    a_search_that_was_never_sent_is_refused);
}
