/* Detection of two processes with one instance name, and of harmless cases that look alike. */
#include "daemon/fleet/fleet_status.h"
#include "daemon/views/event_log.h"
#include "serve/assets.h"
#include "fleet/pool.h"
#include "fleet/fleet_instance.h"
#include "tests/check.h"
#include "tests/stream_world.h"

#include <string.h>

enum { FIRST = 1000, SECOND = 2000, TICK_MS = 1000 };

struct told {
    struct ek_pool_instances *all;
    int64_t clock_ms;
};

static void begin(struct told *t)
{
    ck_assert_int_eq(ek_pool_instances_new(&t->all), EK_OK);
    t->clock_ms = 7 * EK_FLEET_EXPIRED_MS;
}

/* Receive a report of that name and start time, half a second later. */
static enum ek_fleet_arrival comes(struct told *t, const char *name, uint64_t start,
                                   uint64_t number)
{
    const struct ek_fleet_head head = {
        .instance = {name, strlen(name)}, .start = start, .number = number};
    t->clock_ms += TICK_MS / 2;
    struct ek_pool_instance *i = ek_pool_instances_find(t->all, head.instance, t->clock_ms);
    ck_assert_ptr_nonnull(i);
    return ek_pool_instance_classify(i, &head, t->clock_ms);
}

static size_t shared(const struct told *t, const char **name)
{
    return ek_pool_instances_next_duplicate(t->all, 0, t->clock_ms, name);
}

START_TEST(a_name_that_two_processes_go_by_is_told_until_one_of_them_is_gone)
{
    struct told t;
    const char *name = "";
    begin(&t);
    comes(&t, "other", SECOND, 1);
    comes(&t, "same", FIRST, 1);
    for (uint64_t n = 1; n <= EK_FLEET_ARRIVALS; n++) {
        comes(&t, "same", SECOND, n);
        ck_assert_uint_eq(shared(&t, &name), 0);
        ck_assert_int_eq(comes(&t, "same", FIRST, n + 1), EK_FLEET_LATE);
    }
    ck_assert_uint_gt(shared(&t, &name), 0);
    ck_assert_str_eq(name, "same");
    ck_assert_uint_eq(ek_pool_instances_next_duplicate(t.all, 2, t.clock_ms, &name), 0);
    t.clock_ms += EK_FLEET_EXPIRED_MS;
    ck_assert_uint_gt(shared(&t, &name), 0);
    t.clock_ms++;
    ck_assert_uint_eq(shared(&t, &name), 0);
    ek_pool_instances_free(t.all);
}
END_TEST

/* Its last records arrive after its successor's first, and at the same time. */
START_TEST(an_instance_that_was_restarted_is_not_told_whatever_it_left_on_the_way)
{
    struct told t;
    const char *name;
    begin(&t);
    comes(&t, "a", FIRST, 1);
    comes(&t, "a", SECOND, 1);
    for (uint64_t n = 2; n < 20; n++)
        comes(&t, "a", FIRST, n);
    comes(&t, "a", SECOND, 2);
    comes(&t, "a", FIRST, 20);
    comes(&t, "a", SECOND, 3);
    ck_assert_uint_eq(shared(&t, &name), 0);
    ek_pool_instances_free(t.all);
}
END_TEST

START_TEST(restarts_that_lie_apart_do_not_add_up)
{
    struct told t;
    const char *name;
    begin(&t);
    comes(&t, "a", FIRST, 1);
    for (uint64_t n = 1; n < 20; n++) {
        comes(&t, "a", FIRST + n, 1);
        comes(&t, "a", FIRST + n - 1, 2);
        ck_assert_uint_eq(shared(&t, &name), 0);
        t.clock_ms += EK_FLEET_EXPIRED_MS;
    }
    ek_pool_instances_free(t.all);
}
END_TEST

/* A leader that receives reports, and its events. */
struct decider {
    struct stream_world world;
    struct ek_assets assets;
    struct ek_detector *detector; /* of both processes: their findings are irrelevant */
    struct ek_fleet_instance *member;
    struct ek_fleet_pool *pool;
    struct ek_event_log *event_log;
    struct ek_metrics *metrics;
    struct ek_fleet_event_sink event_sink;
    struct ek_fleet_names names;
    uint64_t number; /* of the newest reports */
    int64_t clock_ms;
};

static void new_pool(struct decider *d)
{
    ek_fleet_pool_free(d->pool);
    ck_assert_int_eq(ek_fleet_pool_new(&d->pool, d->world.manifest, d->world.profile,
                                       d->world.rules, 1, 16, NULL),
                     EK_OK);
}

static void begin_deciding(struct decider *d)
{
    memset(d, 0, sizeof *d);
    d->clock_ms = 7 * EK_FLEET_EXPIRED_MS;
    stream_world_start(&d->world, "version: 1\n", 200, 1);
    d->assets = (struct ek_assets){
        .manifest = d->world.manifest, .profile = d->world.profile, .rules = d->world.rules};
    ck_assert_int_eq(ek_codec_new(&d->assets.codec, d->world.manifest, NULL, NULL, NULL), EK_OK);
    ck_assert_int_eq(
        ek_detector_new(&d->detector, d->world.manifest, d->world.profile, d->world.rules, NULL),
        EK_OK);
    const struct ek_fleet_instance_setup setup = {d->world.profile, "same", FIRST, 0};
    ck_assert_int_eq(ek_fleet_instance_new(&d->member, d->detector, &setup, NULL), EK_OK);
    d->event_log = ek_event_log_new(100);
    d->metrics = ek_metrics_new();
    ck_assert(d->event_log && d->metrics);
    ck_assert_int_eq(ek_guard_service_new(&d->event_sink.guard, &d->assets, d->event_log,
                                          d->metrics, NULL, NULL),
                     EK_OK);
    new_pool(d);
}

static void end_deciding(struct decider *d)
{
    ek_guard_service_free(d->event_sink.guard);
    ek_event_log_free(d->event_log);
    ek_metrics_free(d->metrics);
    ek_fleet_pool_free(d->pool);
    ek_fleet_instance_free(d->member);
    ek_detector_free(d->detector);
    ek_codec_free(d->assets.codec);
    stream_world_end(&d->world);
}

static void tick_comes(struct decider *d, uint64_t start)
{
    const struct ek_fleet_head head = {.instance = {"same", 4},
                                       .start = start,
                                       .number = d->number,
                                       .manifest = d->world.manifest->hash,
                                       .profile = ek_fleet_pool_profile(d->pool)};
    struct ek_buf record;
    ek_buf_init(&record, 0);
    ck_assert_int_eq(ek_evidence_report_write(d->detector, &head, 1, &record), EK_OK);
    ck_assert_int_eq(ek_fleet_pool_add(d->pool, record.data, record.length, d->clock_ms, NULL),
                     EK_OK);
    ek_buf_release(&record);
}

/* Receive reports of two processes with one name for that many intervals; check each. */
static void both_run(struct decider *d, int ticks)
{
    for (int i = 0; i < ticks; i++) {
        d->number++;
        d->clock_ms += TICK_MS;
        tick_comes(d, FIRST);
        tick_comes(d, SECOND);
        ek_fleet_names_check(&d->names, d->pool, d->clock_ms, &d->event_sink);
    }
}

static void look_later(struct decider *d, const struct ek_fleet_pool *pool, int64_t ms)
{
    d->clock_ms += ms;
    ek_fleet_names_check(&d->names, pool, d->clock_ms, &d->event_sink);
}

/* Check the total number of events and the state of the last one. */
static void has_told(const struct decider *d, uint64_t events, const char *state)
{
    struct ek_buf last;
    ek_buf_init(&last, 0);
    ck_assert_uint_eq(ek_event_log_count(d->event_log), events);
    ck_assert_int_eq(ek_event_log_last(d->event_log, 1, &last), EK_OK);
    ck_assert_ptr_nonnull(strstr(ek_buf_string(&last), state));
    ek_buf_release(&last);
}

START_TEST(a_name_is_not_told_to_be_free_because_the_decider_begins_anew)
{
    struct decider d;
    begin_deciding(&d);
    both_run(&d, 2 * EK_FLEET_ARRIVALS);
    has_told(&d, 1, "\"state\":\"duplicate_instance\"");
    new_pool(&d); /* a reload */
    look_later(&d, d.pool, 1);
    both_run(&d, 2 * EK_FLEET_ARRIVALS);
    has_told(&d, 1, "\"state\":\"duplicate_instance\"");
    end_deciding(&d);
}
END_TEST

START_TEST(a_name_that_is_not_seen_shared_for_a_while_is_told_to_be_free)
{
    struct decider d;
    begin_deciding(&d);
    both_run(&d, 2 * EK_FLEET_ARRIVALS);
    look_later(&d, NULL, EK_FLEET_EXPIRED_MS); /* another leader */
    has_told(&d, 1, "\"state\":\"duplicate_instance\"");
    look_later(&d, NULL, 1);
    has_told(&d, 2, "\"state\":\"instance_unique\"");
    look_later(&d, NULL, EK_FLEET_EXPIRED_MS);
    both_run(&d, 2 * EK_FLEET_ARRIVALS);
    has_told(&d, 3, "\"state\":\"duplicate_instance\"");
    end_deciding(&d);
}
END_TEST

Suite *suite_fleet_names(void)
{
    return ek_suite("fleet_names",
                    a_name_that_two_processes_go_by_is_told_until_one_of_them_is_gone,
                    an_instance_that_was_restarted_is_not_told_whatever_it_left_on_the_way,
                    restarts_that_lie_apart_do_not_add_up,
                    a_name_is_not_told_to_be_free_because_the_decider_begins_anew,
                    a_name_that_is_not_seen_shared_for_a_while_is_told_to_be_free);
}
