/* Grammar of faults: every valid form, and every invalid one with its message. */
#include "offline/world/faults.h"
#include "offline/world/hotel.h"
#include "tests/check.h"

#include <stdio.h>
#include <string.h>

static struct ek_manifest *hotel_manifest(void)
{
    struct ek_manifest *m;
    const char *text = ek_hotel_manifest();
    ck_assert_int_eq(ek_manifest_parse(&m, "hotel", text, strlen(text), NULL), EK_OK);
    return m;
}

START_TEST(the_manifest_of_the_hotels_is_read_as_meant)
{
    struct ek_manifest *m = hotel_manifest();
    ck_assert_int_eq(m->item_count, EK_HOTEL_ITEM_FEATURES);
    ck_assert_int_eq(m->query_count, EK_HOTEL_QUERY_FEATURES);
    ck_assert_int_eq(m->routable_count, 10);
    ck_assert_int_eq(ek_manifest_item(m, "price"), 0);
    ck_assert_int_eq(ek_manifest_item(m, "chain"), 12);
    ck_assert_int_eq(ek_manifest_query(m, "stay_nights"), 0);
    ck_assert_int_eq(ek_manifest_query(m, "weekday"), 7);
    ck_assert_str_eq(m->nights_feature, "stay_nights");
    ck_assert_str_eq(m->item[0]->unit, "currency");
    ck_assert_str_eq(m->item[5]->unit, "km");
    ek_manifest_free(m);
}
END_TEST

START_TEST(every_operation_is_understood)
{
    static const struct {
        const char *spec;
        enum ek_fault_op op;
        double value;
    } good[] = {
        {"price=x100", EK_FAULT_SCALE, 100},
        {"price=x0.01", EK_FAULT_SCALE, 0.01},
        {"price=^2", EK_FAULT_POWER, 2},
        {"price=+50", EK_FAULT_ADD, 50},
        {"price=-50.5", EK_FAULT_ADD, -50.5},
        {"price=+1median", EK_FAULT_ADD_MEDIANS, 1},
        {"price=-0.5median", EK_FAULT_ADD_MEDIANS, -0.5},
        {"price=neg", EK_FAULT_NEGATE, 0},
        {"price=*stay_nights", EK_FAULT_QUERY_FEATURE, 0},
        {"price=zero", EK_FAULT_ZERO, 0},
        {"price=nan", EK_FAULT_NAN, 0},
        {"price=currency", EK_FAULT_CURRENCY, 0},
        {"price=recode", EK_FAULT_RECODE, 0},
        {"price==7", EK_FAULT_SET, 7},
        {"price==-7", EK_FAULT_SET, -7},
        {"price==0", EK_FAULT_SET, 0},
    };
    struct ek_manifest *m = hotel_manifest();
    for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
        struct ek_fault f;
        ck_assert_msg(ek_fault_parse(&f, m, good[i].spec, NULL) == EK_OK, "%s", good[i].spec);
        ck_assert_int_eq(f.op, good[i].op);
        ck_assert_double_eq(f.value, good[i].value);
        ck_assert_int_eq(f.item_count, 1);
        ck_assert_int_eq(f.item[0], 0);
        ck_assert_uint_eq(f.from, 0);
        ck_assert_uint_eq(f.to, UINT64_MAX);
        ck_assert_double_eq(f.share, 1);
        ck_assert_double_eq(f.items, 1);
        ck_assert_ptr_null(f.dimension);
        ek_fault_release(&f);
    }
    ek_manifest_free(m);
}
END_TEST

START_TEST(options_may_stand_in_any_order)
{
    struct ek_manifest *m = hotel_manifest();
    struct ek_fault f;
    ck_assert_int_eq(
        ek_fault_parse(&f, m, "taxes,price=x100,arm=B,to=9000,share=0.25,from=5000", NULL), EK_OK);
    ck_assert_int_eq(f.item_count, 2);
    ck_assert_int_eq(f.item[0], 1);
    ck_assert_int_eq(f.item[1], 0);
    ck_assert_uint_eq(f.from, 5000);
    ck_assert_uint_eq(f.to, 9000);
    ck_assert_double_eq(f.share, 0.25);
    ck_assert_str_eq(f.dimension, "arm");
    ck_assert_str_eq(f.segment_value, "B");
    ek_fault_release(&f);
    ck_assert_int_eq(ek_fault_parse(&f, m, "price=*stay_nights@0.5,market=m03", NULL), EK_OK);
    ck_assert_double_eq(f.share, 0.5);
    ck_assert_int_eq(f.query_feature, 0);
    ck_assert_str_eq(f.segment_value, "m03");
    ek_fault_release(&f);
    ck_assert_int_eq(ek_fault_parse(&f, m, "price=x2,items=0.25,share=0.5", NULL), EK_OK);
    ck_assert_double_eq(f.items, 0.25);
    ck_assert_double_eq(f.share, 0.5);
    ek_fault_release(&f);
    ck_assert_int_eq(ek_fault_parse(&f, m, "price=x2,arm=1", NULL), EK_OK);
    ck_assert_str_eq(f.dimension, "arm");
    ek_fault_release(&f);
    ek_manifest_free(m);
}
END_TEST

START_TEST(every_bad_spec_says_what_is_wrong_with_it)
{
    static const char *const bad[][2] = {
        {"", "expected FEATURE=OPERATION"},
        {"price=x100,form=5", "unknown option 'form', did you mean 'from'?"},
        {"price=x100,too=5", "unknown option 'too', did you mean 'to'?"},
        {"price=x100,sahre=0.5", "unknown option 'sahre', did you mean 'share'?"},
        {"price", "expected FEATURE=OPERATION"},
        {"=x2", "a feature name is missing before '='"},
        {"price,=x2", "a feature name is missing before '='"},
        {"prise=x2", "unknown item feature 'prise', did you mean 'price'?"},
        {"bananas=x2", "unknown item feature 'bananas'"},
        {"stay_nights,stay_nights=x2", "feature 'stay_nights' stands twice"},
        {"stay_nights=x2,items=0.5",
         "'stay_nights' is a query feature and has no items: leave out 'items' and 'source'"},
        {"stay_nights=+1median",
         "'stay_nights' is a query feature, which median, currency and recode cannot change"},
        {"price,taxes,price=x2", "feature 'price' stands twice"},
        {"price=", "an operation is missing behind '='"},
        {"price=100", "unknown operation '100' (x100, ^2, +50, -50, +1median, *NAME, neg, zero, "
                      "nan, =7, currency, recode)"},
        {"price=negative", "unknown operation 'negative' (x100, ^2, +50, -50, +1median, *NAME, "
                           "neg, zero, nan, =7, currency, recode)"},
        {"price=x", "'' behind 'x' is no finite number"},
        {"price=xten", "'ten' behind 'x' is no finite number"},
        {"price=xinf", "'inf' behind 'x' is no finite number"},
        {"price=x0", "0 behind 'x' makes no sense, 'zero' sets to 0"},
        {"price=^", "'' behind '^' is no finite number"},
        {"price=^0", "0 behind '^' makes no sense, 'zero' sets to 0"},
        {"price=+", "'' behind '+' is no finite number"},
        {"price=+median", "'' behind '+' is no finite number"},
        {"price=-1medians", "'1medians' behind '-' is no finite number"},
        {"price==", "'' behind '=' is no finite number"},
        {"price=*", "a query feature must follow '*'"},
        {"price=*stay_night", "unknown query feature 'stay_night', did you mean 'stay_nights'?"},
        {"price=*price", "unknown query feature 'price'"},
        {"price=x2@", "the share '' must be a number above 0 and at most 1"},
        {"price=x2@0", "the share '0' must be a number above 0 and at most 1"},
        {"price=x2@1.5", "the share '1.5' must be a number above 0 and at most 1"},
        {"price=x2,share=half", "the share 'half' must be a number above 0 and at most 1"},
        {"price=x2@0.5,share=0.5", "the share stands twice"},
        {"price=x2,items=0", "the share of items '0' must be a number above 0 and at most 1"},
        {"price=x2,items=1,items=1", "the share of items stands twice"},
        {"price=x2,suorce=1", "unknown option 'suorce', did you mean 'source'?"},
        {"price=x2,source=B", "'B' behind 'source' is no number from 0 to 15"},
        {"price=x2,source=16", "'16' behind 'source' is no number from 0 to 15"},
        {"price=x2,source=1,source=1", "'source' stands twice"},
        {"price=x2,itmes=0.5", "unknown option 'itmes', did you mean 'items'?"},
        {"price=x2,from=-1", "'-1' behind 'from' is no query number"},
        {"price=x2,to=", "'' behind 'to' is no query number"},
        {"price=x2,from=1,from=2", "'from' stands twice"},
        {"price=x2,to=1,to=2", "'to' stands twice"},
        {"price=x2,from=5,to=5", "'to' must be above 'from'"},
        {"price=x2,to=0", "'to' must be above 'from'"},
        {"price=x2,arm",
         "'arm' is no option (from=N, to=N, share=S, items=S, source=N, SEGMENT=VALUE)"},
        {"price=x2,", "'' is no option (from=N, to=N, share=S, items=S, source=N, SEGMENT=VALUE)"},
        {"price=x2,arm=", "a segment is written NAME=VALUE, not 'arm='"},
        {"price=x2,=B", "a segment is written NAME=VALUE, not '=B'"},
        {"price=x2,arm=B,market=m01", "only one segment can be named, 'arm' stands already"},
    };
    struct ek_manifest *m = hotel_manifest();
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct ek_error e;
        struct ek_fault f = {.value = 17};
        char want[400];
        snprintf(want, sizeof want, "fault '%s': %s", bad[i][0], bad[i][1]);
        ck_assert_int_eq(ek_fault_parse(&f, m, bad[i][0], &e), EK_EUSAGE);
        ck_assert_str_eq(e.message, want);
        ck_assert_double_eq(f.value, 17);
    }
    ek_manifest_free(m);
}
END_TEST

Suite *suite_faults_parse(void)
{
    return ek_suite("faults_parse", the_manifest_of_the_hotels_is_read_as_meant,
                    every_operation_is_understood, options_may_stand_in_any_order,
                    every_bad_spec_says_what_is_wrong_with_it);
}
