/* Watched query features of the hotel world: healthy traffic is no evidence, and a change of unit
 * is found with its factor, unit and segment. */
#include "detect/detector.h"
#include "offline/fit/profile_fit.h"
#include "offline/world/faults.h"
#include "offline/world/hotel.h"
#include "tests/check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char RULES[] = "version: 1\n"
                            "defaults: {stratify_by: market}\n"
                            "segments: [arm]\n";
static const char *const WATCHED[] = {"stay_nights", "destination_price", "lead_days"};

enum { TRAINING = 20000, HEALTHY = 100000, BEFORE = 1000, FAULTY = 600, WATCHED_COUNT = 3 };

struct world {
    struct ek_manifest *m;
    struct ek_hotel *hotel;
    struct ek_rules *rules;
    struct ek_profile *p;
    struct ek_list q;
};

/* Return the manifest of the hotel world with watched query features. */
static struct ek_manifest *watched_manifest(void)
{
    static const char mark[] = ", role: query,";
    struct ek_manifest *m = NULL;
    char text[8192] = "";
    const char *rest = ek_hotel_manifest(), *line;
    for (; *rest; rest = line) {
        line = strchr(rest, '\n') + 1;
        size_t length = (size_t)(line - rest), used = strlen(text);
        const char *role = strstr(rest, mark);
        bool watched = false;
        for (int i = 0; i < WATCHED_COUNT; i++) {
            const char *name = strstr(rest, WATCHED[i]);
            watched |= role && role < line && name && name < role;
        }
        size_t head = watched ? (size_t)(role - rest) + strlen(mark) : length;
        snprintf(text + used, sizeof text - used, "%.*s%s%.*s", (int)head, rest,
                 watched ? " watch: true," : "", (int)(length - head), rest + head);
    }
    struct ek_error e;
    ck_assert_msg(!ek_manifest_parse(&m, "m", text, strlen(text), &e), "%s", e.message);
    ck_assert_int_eq(m->watched_count, m->item_count + WATCHED_COUNT);
    return m;
}

static void begin(struct world *w)
{
    struct ek_profile_fit *fit = NULL;
    memset(w, 0, sizeof *w);
    w->m = watched_manifest();
    ek_list_init(&w->q);
    ck_assert_int_eq(ek_hotel_new(&w->hotel, 7, NULL), EK_OK);
    ck_assert_int_eq(ek_rules_parse(&w->rules, w->m, "r", RULES, strlen(RULES), NULL), EK_OK);
    ck_assert_int_eq(ek_profile_fit_new(&fit, w->m, "market", NULL), EK_OK);
    for (uint64_t i = 0; i < TRAINING; i++) {
        ck_assert_int_eq(ek_hotel_list(w->hotel, i, &w->q, NULL), EK_OK);
        ck_assert_int_eq(ek_profile_fit_add(fit, &w->q, NULL), EK_OK);
    }
    ck_assert_int_eq(ek_profile_fit_finish(fit, &w->p, NULL), EK_OK);
    ek_profile_fit_free(fit);
}

static void end(struct world *w)
{
    ek_profile_free(w->p);
    ek_rules_free(w->rules);
    ek_hotel_free(w->hotel);
    ek_list_release(&w->q);
    ek_manifest_free(w->m);
}

static void observe(struct world *w, struct ek_detector *d, uint64_t i, const struct ek_fault *f)
{
    uint64_t number = TRAINING + i;
    ck_assert_int_eq(ek_hotel_list(w->hotel, number, &w->q, NULL), EK_OK);
    if (f)
        ek_fault_apply(f, &w->q, i, 1);
    ck_assert_int_eq(ek_detector_observe(d, &w->q, w->q.time_ms, NULL), EK_OK);
}

START_TEST(healthy_query_features_have_no_finding)
{
    struct world w;
    struct ek_detector *d = NULL;
    struct ek_finding f;
    int findings = 0;
    begin(&w);
    ck_assert_int_eq(ek_detector_new(&d, w.m, w.p, w.rules, NULL), EK_OK);
    for (uint64_t i = 0; i < HEALTHY; i++) {
        observe(&w, d, i, NULL);
        while (ek_detector_next(d, &f))
            findings++;
    }
    ck_assert_int_eq(findings, 0);
    ek_detector_free(d);
    end(&w);
}
END_TEST

struct expected {
    const char *fault, *feature;
    double factor;
    const char *unit; /* NULL: any */
    enum ek_class class;
    bool segment;
    int lists; /* most of the segment until it is confirmed */
};

/* Inject a fault; exactly its feature has a finding. */
static void try_fault(struct world *w, const struct expected *x)
{
    struct ek_detector *d = NULL;
    struct ek_finding f, found = {.feature = -1};
    struct ek_fault fault;
    struct ek_error e;
    int at = 0;
    ck_assert_msg(!ek_fault_parse(&fault, w->m, x->fault, &e), "%s", e.message);
    ck_assert_int_eq(ek_detector_new(&d, w->m, w->p, w->rules, NULL), EK_OK);
    for (int i = 0; i < BEFORE + FAULTY; i++) {
        observe(w, d, (uint64_t)i, &fault);
        while (ek_detector_next(d, &f)) {
            if (f.state != EK_CONFIRMED && f.state != EK_UPDATED)
                continue;
            ck_assert_str_eq(w->m->item[f.feature]->name, x->feature);
            at = at ? at : i + 1 - BEFORE;
            found = f;
            if (found.value)
                ck_assert_str_eq(found.value, "B");
        }
    }
    ck_assert_msg(found.feature >= 0, "%s is not found", x->fault);
    ck_assert_msg(found.class == x->class, "%s is found as %s with spread %g in %g, x%g", x->fault,
                  ek_class_name(found.class), found.spread_ratio, found.share, found.factor);
    ck_assert_int_eq(found.value != NULL, x->segment);
    ck_assert_int_le(at, x->lists);
    if (x->class == EK_SCALE) {
        ck_assert_double_gt(found.factor_high, .97 * x->factor);
        ck_assert_double_lt(found.factor_low, 1.03 * x->factor);
        ck_assert_double_lt(found.factor_high, 2 * found.factor_low);
    }
    if (x->unit) {
        ck_assert_int_gt(found.unit_count, 0);
        ck_assert_str_eq(found.unit[0].unit->id, x->unit);
    }
    ck_assert_int_eq(found.query_feature, -1);
    ek_detector_free(d);
    ek_fault_release(&fault);
}

/* Try faults [count] in a world of their own. */
static void try_faults(const struct expected *all, size_t count)
{
    struct world w;
    begin(&w);
    ck_assert_ptr_nonnull(w.p->query_slopes);
    for (size_t i = 0; i < count; i++)
        try_fault(&w, &all[i]);
    end(&w);
}

START_TEST(a_unit_of_a_query_feature_is_found_with_its_segment)
{
    static const struct expected all[] = {
        {"stay_nights=x24,from=1000", "stay_nights", 24, "days_to_hours", EK_SCALE, false, 64},
        {"stay_nights=x24,from=1000,arm=B", "stay_nights", 24, "days_to_hours", EK_SCALE, true,
         128},
        {"destination_price=x100,from=1000", "destination_price", 100, NULL, EK_SCALE, false, 64},
        {"lead_days=x24,from=1000,arm=B", "lead_days", 24, "days_to_hours", EK_SCALE, true, 256},
    };
    try_faults(all, sizeof all / sizeof *all);
}
END_TEST

/* Prices follow the usual price of the destination: if that is wrong, prices are not. */
START_TEST(a_level_that_follows_a_faulty_query_has_no_finding)
{
    static const struct expected all[] = {
        {"destination_price=x2,from=1000", "destination_price", 2, NULL, EK_SCALE, false, 256},
        {"destination_price=x0.5,from=1000,arm=B", "destination_price", .5, NULL, EK_SCALE, true,
         400},
        {"price=x0.5,from=1000", "price", .5, NULL, EK_SCALE, false, 16},
        {"price=x2,from=1000,arm=B", "price", 2, NULL, EK_SCALE, true, 64},
    };
    try_faults(all, sizeof all / sizeof *all);
}
END_TEST

/* One value per list shows no spread, so that the scatter between lists tells a power or an offset
 * from a factor. */
START_TEST(another_scatter_between_lists_is_no_factor)
{
    static const struct expected all[] = {
        {"lead_days=^2,from=1000", "lead_days", 0, NULL, EK_SHAPE, false, 256},
        {"stay_nights=+10,from=1000", "stay_nights", 0, NULL, EK_SHAPE, false, 256},
        {"stay_nights=nan,from=1000", "stay_nights", 0, NULL, EK_MISSING, false, 256},
        {"lead_days=zero,from=1000,arm=B", "lead_days", 0, NULL, EK_ZERO, true, 256},
        {"lead_days=neg,from=1000", "lead_days", 0, NULL, EK_SIGN, false, 256},
    };
    try_faults(all, sizeof all / sizeof *all);
}
END_TEST

Suite *suite_query_watch(void)
{
    return ek_suite("query_watch", healthy_query_features_have_no_finding,
                    a_unit_of_a_query_feature_is_found_with_its_segment,
                    a_level_that_follows_a_faulty_query_has_no_finding,
                    another_scatter_between_lists_is_no_factor);
}
