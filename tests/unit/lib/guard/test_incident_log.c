/* Incidents of a guard: start, end, return, limits, checkpoint, merge. */
#include "tests/check.h"
#include "tests/event_from.h"
#include "tests/state_world.h"

#include "guard/guard_incidents.h"
#include "guard/guard_internal.h"
#include "guard/incident_log.h"

enum { TRAINING = 1200, SEED = 8, WORDS = 600 };

static struct ek_incident_log *new_log(void)
{
    struct ek_incident_log *l = NULL;
    must(ek_incident_log_new(&l));
    return l;
}

/* Add a finding event: feature, arm (NULL: all traffic), incident, state, time, factor. */
static void add(struct ek_incident_log *l, const char *feature, const char *arm, int incident,
                const char *state, int time_ms, double factor)
{
    char json[WORDS], segment[64] = "null";
    if (arm)
        snprintf(segment, sizeof segment, "{\"arm\":\"%s\"}", arm);
    snprintf(json, sizeof json,
             "{\"event\":\"finding\",\"finding_id\":\"%s-%d\",\"incident_id\":\"c-%d\","
             "\"state\":\"%s\",\"list\":%d,\"time_ms\":%d,\"feature\":\"%s\",\"segment\":%s,"
             "\"class\":\"scale\",\"factor\":%g,\"factor_low\":1,\"factor_high\":2,\"fraction\":1,"
             "\"units\":[\"cents\"],\"unit_matches\":[{\"unit\":\"cents\",\"ratio\":100,"
             "\"match\":\"listed\"}],\"trigger\":\"level up\",\"since_list\":%d,\"since_ms\":%d,"
             "\"mitigation\":\"repair\",\"mode\":\"enforce\",\"text\":\"%s changed\"}",
             feature, incident, incident, state, time_ms / 10, time_ms, feature, segment, factor,
             time_ms / 10 - 5, time_ms - 50, feature);
    must(ek_incident_log_add(l, event_from(json)));
}

static const struct ek_incident *at(const struct ek_incident_log *l, uint64_t number)
{
    const struct ek_incident *i = ek_incident_log_at(l, number);
    ck_assert_ptr_nonnull(i);
    return i;
}

START_TEST(an_incident_begins_with_a_confirmed_finding_and_ends_with_the_last_one)
{
    struct ek_incident_log *l = new_log();
    add(l, "price", "B", 3, "suspected", 900, 50);
    ck_assert_uint_eq(ek_incident_log_last(l), 0);
    add(l, "price", "B", 3, "confirmed", 1000, 50);
    add(l, "tax", "B", 3, "confirmed", 1100, 100);
    add(l, "price", "B", 3, "updated", 1200, 51);
    ck_assert_uint_eq(ek_incident_log_last(l), 1);
    add(l, "price", "B", 3, "recovered", 2000, 51);
    const struct ek_incident *i = at(l, 1);
    ck_assert(i->state == EK_CONFIRMED && i->to_ms == -1);
    add(l, "tax", "B", 3, "recovered", 2100, 100);
    ck_assert(i->state == EK_RECOVERED && i->id == 3 && i->times == 1);
    ck_assert_int_eq(i->from_ms, 950);
    ck_assert_int_eq(i->to_ms, 2100);
    ck_assert(i->from_list == 95 && i->to_list == 210);
    ck_assert_str_eq(i->finding[i->head].at.feature, "tax"); /* the larger factor */
    ck_assert(i->factor == 100 && i->ratio == 100);
    ck_assert_str_eq(i->unit, "cents");
    ck_assert_str_eq(i->text, "tax changed");
    ek_incident_log_free(l);
}
END_TEST

START_TEST(the_start_of_a_single_finding_may_be_corrected)
{
    struct ek_incident_log *l = new_log();
    add(l, "price", NULL, 1, "confirmed", 1000, 2);
    add(l, "price", NULL, 1, "updated", 1200, 2);
    ck_assert_int_eq(at(l, 1)->from_ms, 1150);
    add(l, "tax", NULL, 1, "confirmed", 1100, 2);
    ck_assert_int_eq(at(l, 1)->from_ms, 1050);
    ek_incident_log_free(l);
}
END_TEST

START_TEST(an_incident_that_returns_is_opened_again)
{
    struct ek_incident_log *l = new_log();
    for (int n = 0; n < 3; n++) {
        add(l, "price", "B", 1, "confirmed", 1000 * (n + 1), 100);
        add(l, "price", "B", 1, "recovered", 1000 * (n + 1) + 500, 100);
    }
    ck_assert_uint_eq(ek_incident_log_last(l), 1);
    ck_assert_int_eq(at(l, 1)->times, 3);
    ck_assert_int_eq(at(l, 1)->from_ms, 950);
    ck_assert_int_eq(at(l, 1)->to_ms, 3500);
    add(l, "price", "B", 2, "confirmed", 9000, 100);
    ck_assert_uint_eq(ek_incident_log_last(l), 2);
    ek_incident_log_free(l);
}
END_TEST

/* A fault is first found in one arm, then in all traffic. */
START_TEST(a_finding_that_another_replaces_is_no_return)
{
    struct ek_incident_log *l = new_log();
    add(l, "price", "B", 1, "confirmed", 1000, 100);
    add(l, "price", "B", 1, "dismissed", 1100, 100);
    ck_assert_int_eq(at(l, 1)->state, EK_DISMISSED);
    add(l, "price", NULL, 1, "confirmed", 1100, 100);
    ck_assert(at(l, 1)->state == EK_CONFIRMED && at(l, 1)->times == 1);
    ck_assert_ptr_null(at(l, 1)->finding[at(l, 1)->head].at.dimension);
    ek_incident_log_free(l);
}
END_TEST

START_TEST(a_rollback_belongs_to_the_incident_of_its_segment)
{
    struct ek_incident_log *l = new_log();
    struct ek_decision_record m = ek_decision_get(EK_DECIDED_ROLLBACK);
    add(l, "price", "B", 1, "confirmed", 1000, 100);
    add(l, "price", "A", 2, "confirmed", 1000, 100);
    m.feature = "price";
    m.dimension = "arm";
    m.value = "B";
    m.guardrail = EK_GUARDRAIL_RANKS;
    m.observed = .7;
    ek_incident_log_add_decision(l, &m);
    ck_assert(at(l, 1)->guardrail == EK_GUARDRAIL_RANKS && at(l, 1)->observed == .7);
    ck_assert_int_eq(at(l, 2)->guardrail, EK_GUARDRAIL_NONE);
    ek_incident_log_free(l);
}
END_TEST

START_TEST(the_last_128_incidents_of_64_findings_are_kept)
{
    struct ek_incident_log *l = new_log();
    char name[16];
    for (int n = 1; n <= EK_INCIDENTS_RETAINED + 1; n++) {
        add(l, "price", "B", n, "confirmed", 100 * n, 100);
        add(l, "price", "B", n, "recovered", 100 * n + 50, 100);
    }
    ck_assert_uint_eq(ek_incident_log_last(l), EK_INCIDENTS_RETAINED + 1);
    ck_assert_ptr_null(ek_incident_log_at(l, 1));
    ck_assert_uint_eq(at(l, 2)->id, 2);
    for (int n = 0; n <= EK_INCIDENT_FINDINGS; n++) {
        snprintf(name, sizeof name, "f%d", n);
        add(l, name, NULL, 999, "confirmed", 50000, 2);
    }
    const struct ek_incident *i = at(l, EK_INCIDENTS_RETAINED + 2);
    ck_assert_int_eq(i->count, EK_INCIDENT_FINDINGS);
    for (int n = 0; n < EK_INCIDENT_FINDINGS; n++) {
        snprintf(name, sizeof name, "f%d", n);
        add(l, name, NULL, 999, "recovered", 60000, 2);
    }
    ck_assert_int_eq(i->state, EK_RECOVERED);
    ek_incident_log_free(l);
}
END_TEST

static struct ek_incident_log *restored(struct ek_incident_log *l)
{
    struct ek_incident_log *own = new_log();
    for (int part = 0; part < EK_INCIDENTS_PARTS; part++) {
        struct ek_buf bytes;
        ek_buf_init(&bytes, 0);
        struct ek_serialize s = {.out = &bytes};
        ek_incident_log_serialize(l, &s, part);
        must(s.rc);
        s = (struct ek_serialize){.at = bytes.data, .end = bytes.data + bytes.length};
        ek_incident_log_serialize(own, &s, part);
        must(s.rc);
        ck_assert_ptr_eq(s.at, s.end);
        ck_assert_int_eq(!ek_incident_log_mark(own, part), !ek_incident_log_mark(l, part));
        for (size_t cut = 0; part == 0 && cut < bytes.length; cut++) {
            struct ek_incident_log *damaged = new_log();
            s = (struct ek_serialize){.at = bytes.data, .end = bytes.data + cut};
            ek_incident_log_serialize(damaged, &s, part);
            ck_assert_int_eq(s.rc, EK_EFORMAT);
            ek_incident_log_free(damaged);
        }
        ek_buf_release(&bytes);
    }
    return own;
}

/* A part of the places is not recorded when the incident seems to end. */
START_TEST(an_incident_of_more_findings_goes_on_with_one_that_was_not_recorded)
{
    struct ek_incident_log *l = new_log();
    char name[16];
    for (int n = 0; n <= EK_INCIDENT_FINDINGS; n++) {
        snprintf(name, sizeof name, "f%d", n);
        add(l, name, NULL, 7, "confirmed", 50000, 2);
    }
    for (int n = 0; n < EK_INCIDENT_FINDINGS; n++) {
        snprintf(name, sizeof name, "f%d", n);
        add(l, name, NULL, 7, "recovered", 60000, 2);
    }
    snprintf(name, sizeof name, "f%d", EK_INCIDENT_FINDINGS);
    add(l, name, NULL, 7, "updated", 70000, 2);
    ck_assert_int_eq(at(l, 1)->state, EK_CONFIRMED);
    struct ek_incident_log *own = restored(l);
    add(own, name, NULL, 7, "recovered", 80000, 2);
    ck_assert_int_eq(at(own, 1)->state, EK_RECOVERED);
    ck_assert_int_eq(at(own, 1)->count, EK_INCIDENT_FINDINGS);
    ek_incident_log_free(own);
    ek_incident_log_free(l);
}
END_TEST

START_TEST(a_restored_log_continues_open_incidents_and_numbers)
{
    struct ek_incident_log *l = new_log();
    add(l, "price", "B", 1, "confirmed", 1000, 100);
    add(l, "price", "B", 1, "recovered", 2000, 100);
    add(l, "tax", NULL, 2, "confirmed", 3000, 100);
    struct ek_incident_log *own = restored(l);
    ck_assert_uint_eq(ek_incident_log_last(own), 2);
    ck_assert(at(own, 1)->state == EK_RECOVERED && at(own, 1)->to_ms == 2000);
    ck_assert_str_eq(at(own, 1)->finding[0].at.value, "B");
    ck_assert_str_eq(at(own, 1)->unit, "cents");
    add(own, "tax", NULL, 2, "recovered", 4000, 100);
    ck_assert_int_eq(at(own, 2)->state, EK_RECOVERED);
    add(own, "price", "B", 1, "confirmed", 5000, 100);
    ck_assert(at(own, 1)->times == 2 && ek_incident_log_last(own) == 2);
    ek_incident_log_free(own);
    ek_incident_log_free(l);
}
END_TEST

/* A new detector numbers its incidents from 1 again. */
START_TEST(a_detached_log_matches_no_number)
{
    struct ek_incident_log *l = new_log();
    add(l, "price", "B", 1, "confirmed", 1000, 100);
    ek_incident_log_detach(l);
    ek_incident_log_end(l, EK_DISMISSED, 300, 3000, NULL, NULL);
    ck_assert(at(l, 1)->state == EK_DISMISSED && at(l, 1)->to_list == 300);
    add(l, "tax", NULL, 1, "confirmed", 4000, 100);
    ck_assert_uint_eq(ek_incident_log_last(l), 2);
    ek_incident_log_free(l);
}
END_TEST

START_TEST(merged_logs_have_common_incidents_once)
{
    struct ek_incident_log *a = new_log(), *b = new_log();
    add(a, "price", "B", 1, "confirmed", 1000, 100);
    add(a, "price", "B", 1, "recovered", 2000, 100);
    add(a, "tax", NULL, 2, "confirmed", 3000, 100);
    add(b, "price", "B", 7, "confirmed", 1000, 100); /* the same */
    add(b, "price", "B", 7, "recovered", 2100, 100);
    add(b, "tax", NULL, 8, "confirmed", 2500, 100); /* open on both sides */
    add(b, "fee", "A", 9, "confirmed", 2600, 3);
    must(ek_incident_log_merge(a, b));
    ck_assert_uint_eq(ek_incident_log_last(a), 3);
    ck_assert_int_eq(at(a, 2)->from_ms, 2450);
    ck_assert_str_eq(at(a, 3)->finding[0].at.feature, "fee");
    add(a, "fee", "A", 4, "updated", 4000, 3); /* renumbered by the merge of the detectors */
    add(a, "fee", "A", 4, "recovered", 5000, 3);
    ck_assert(ek_incident_log_last(a) == 3 && at(a, 3)->state == EK_RECOVERED);
    ek_incident_log_free(b);
    ek_incident_log_free(a);
}
END_TEST

/* ---- of a guard */

struct bench {
    struct ek_assets assets;
    struct ek_guard *guard;
    struct shop shop;
    struct ek_buf message, text;
    struct state_store store;
};

static void cents_in_b(struct shop *s, struct ek_list *q)
{
    for (int i = 0; s->arm_b && i < q->items; i++)
        q->x[2 * i] *= 100;
}

static void run(struct bench *b, struct ek_guard *g, int lists, shop_change *change)
{
    for (int i = 0; i < lists; i++) {
        state_message(&b->shop, &b->assets, &b->message, change);
        must(ek_guard_observe(g, b->message.data, b->message.length, 0, NULL));
    }
}

static struct bench *bench_new(void)
{
    struct bench *b = calloc(1, sizeof *b);
    state_assets_open(&b->assets, STATE_RULES, TRAINING);
    must(ek_guard_new(&b->guard, &b->assets, NULL));
    shop_open(&b->shop, SEED, STATE_MARKETS);
    ek_buf_init(&b->message, 0);
    ek_buf_init(&b->text, 0);
    return b;
}

static void bench_free(struct bench *b)
{
    ek_guard_free(b->guard);
    shop_close(&b->shop);
    ek_buf_release(&b->message);
    ek_buf_release(&b->text);
    state_clear(&b->store);
    ek_assets_release(&b->assets);
    free(b);
}

static const char *shown(struct bench *b, struct ek_guard *g)
{
    ek_buf_clear(&b->text);
    must(ek_guard_incidents(g, 100, NULL, &b->text, NULL));
    return ek_buf_string(&b->text);
}

static bool has(const char *text, const char *part)
{
    return strstr(text, part) != NULL;
}

static struct ek_guard *load(struct bench *b, const struct ek_assets *assets)
{
    struct ek_guard *g = NULL;
    enum ek_restore_result fit;
    struct ek_state *state = state_of(&b->store, 1);
    must(ek_guard_load(&g, assets, state, &fit, NULL));
    ek_state_free(state);
    return g;
}

START_TEST(a_guard_lists_an_incident_with_its_times_and_action_after_a_restart)
{
    struct bench *b = bench_new();
    ck_assert_str_eq(shown(b, b->guard), "[]");
    run(b, b->guard, 100, NULL);
    run(b, b->guard, 300, cents_in_b);
    const char *open = shown(b, b->guard);
    ck_assert_msg(has(open, "\"state\":\"mitigated\",\"feature\":\"price\","
                            "\"segment\":{\"arm\":\"B\"},\"features\":[\"price\"]"),
                  "%s", open);
    ck_assert(has(open, "\"to_ms\":null") && has(open, "\"to_list\":null"));
    run(b, b->guard, 600, NULL);
    const char *past = shown(b, b->guard);
    ck_assert_msg(has(past, "\"state\":\"recovered\""), "%s", past);
    ck_assert(!has(past, "null,\"from_list\"") && has(past, "\"mitigation\":\"route\""));
    ck_assert(!has(past, "\"mitigated_ms\":null") && has(past, "\"times\":1"));
    char *before = strdup(past);
    must(ek_guard_save(b->guard, 0, "", 0, state_put, &b->store, NULL));
    struct ek_guard *g = load(b, &b->assets);
    ck_assert_str_eq(shown(b, g), before);
    ek_guard_free(g);
    free(before);
    bench_free(b);
}
END_TEST

START_TEST(a_guard_with_another_profile_ends_its_open_incidents)
{
    struct bench *b = bench_new();
    struct ek_assets other;
    run(b, b->guard, 100, NULL);
    run(b, b->guard, 300, cents_in_b);
    must(ek_guard_save(b->guard, 0, "", 0, state_put, &b->store, NULL));
    state_assets_open(&other, STATE_RULES, TRAINING / 2);
    struct ek_guard *g = load(b, &other);
    ck_assert_msg(has(shown(b, g), "\"state\":\"dismissed\""), "%s", shown(b, g));
    ek_guard_free(g);
    ek_assets_release(&other);
    bench_free(b);
}
END_TEST

START_TEST(incidents_of_a_feature_are_selected_by_name)
{
    struct bench *b = bench_new();
    struct ek_error e = {0};
    run(b, b->guard, 100, NULL);
    run(b, b->guard, 300, cents_in_b);
    must(ek_guard_incidents(b->guard, 5, "price", &b->text, NULL));
    ck_assert(has(ek_buf_string(&b->text), "\"sequence\":1"));
    ek_buf_clear(&b->text);
    must(ek_guard_incidents(b->guard, 5, "kind", &b->text, NULL));
    ck_assert_str_eq(ek_buf_string(&b->text), "[]");
    ck_assert_int_eq(ek_guard_incidents(b->guard, 5, "prise", &b->text, &e), EK_EUSAGE);
    ck_assert_str_eq(e.message, "no item feature 'prise', did you mean 'price'?");
    bench_free(b);
}
END_TEST

Suite *suite_incident_log(void)
{
    return ek_suite(
        "incident_log", an_incident_begins_with_a_confirmed_finding_and_ends_with_the_last_one,
        the_start_of_a_single_finding_may_be_corrected, an_incident_that_returns_is_opened_again,
        a_finding_that_another_replaces_is_no_return,
        a_rollback_belongs_to_the_incident_of_its_segment,
        the_last_128_incidents_of_64_findings_are_kept,
        an_incident_of_more_findings_goes_on_with_one_that_was_not_recorded,
        a_restored_log_continues_open_incidents_and_numbers, a_detached_log_matches_no_number,
        merged_logs_have_common_incidents_once,
        a_guard_lists_an_incident_with_its_times_and_action_after_a_restart,
        a_guard_with_another_profile_ends_its_open_incidents,
        incidents_of_a_feature_are_selected_by_name);
}
