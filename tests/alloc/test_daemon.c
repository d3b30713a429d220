/* Allocation failures in the data that a stage keeps for pages, alerts and partitions. */
#include "tests/alloc/scratch.h"
#include "tests/alloc/sweep.h"
#include "tests/check.h"
#include "tests/stream_world.h"

#include "base/file.h"
#include "daemon/views/agreement_cache.h"
#include "daemon/alerts/alert_registry.h"
#include "daemon/alerts/alerts.h"
#include "daemon/alerts/alert.h"
#include "daemon/views/feature_stats.h"
#include "daemon/fleet/fleet.h"
#include "daemon/views/event_log.h"
#include "daemon/views/traffic_history.h"
#include "daemon/kafka/partition_offsets.h"
#include "daemon/base/log.h"
#include "daemon/base/metrics.h"
#include "daemon/http/otlp_export.h"
#include "daemon/guard/pause.h"
#include "daemon/tools/data/list_writer.h"
#include "daemon/state/checkpoint_internal.h"
#include "daemon/config/auth.h"

#include <string.h>

static const char *const MEMBERS[] = {"price"};
static const struct ek_event FINDING = {.kind = EK_EVENT_FINDING,
                                        .query = 1298,
                                        .time_ms = 1790001121472,
                                        .finding = {.at = {"price", "arm", "B"},
                                                    .state = EK_CONFIRMED,
                                                    .number = 1,
                                                    .incident = 9,
                                                    .class = EK_SCALE,
                                                    .factor = 100.3,
                                                    .fraction = 1,
                                                    .action = EK_ACT_ROUTE,
                                                    .mode = EK_MODE_ENFORCE,
                                                    .members = 1,
                                                    .member = MEMBERS,
                                                    .text = "price, arm=B: values x100"}};
static struct ek_event_entry ENTRIES[] = {
    {.at = {"price", "arm", "B"}, .action = EK_ACT_ROUTE, .mode = EK_MODE_ENFORCE}};
static const struct ek_event PLAN = {.kind = EK_EVENT_PLAN, .plan = {2, 1, ENTRIES}};

/* These calls return only a code. */
static int said(int rc, struct ek_error *e)
{
    return rc ? ek_fail(e, (enum ek_code)rc, "out of memory") : EK_OK;
}

/* A failed event leaves the log unchanged, and a retry succeeds. */
static int keep_events(struct ek_error *e)
{
    struct ek_event_log *j = ek_event_log_new(4);
    struct ek_event_log_change change;
    struct ek_buf out;
    int good = 1;
    ek_buf_init(&out, 0);
    int rc = j ? ek_event_log_add(j, &PLAN, "{}", 0, &change) : EK_ENOMEM;
    if (!rc) {
        rc = ek_event_log_add(j, &FINDING, "{}", 0, &change);
        if (rc)
            good = ek_event_log_count(j) == 1 && !ek_event_log_open(j) && !change.detected &&
                   (ek_event_log_add(j, &FINDING, "{}", 0, &change) || ek_event_log_open(j) == 1);
    }
    if (!rc)
        rc = ek_event_log_findings(j, NULL, &out);
    if (!rc)
        rc = ek_event_log_last(j, 100, &out);
    ek_buf_release(&out);
    ek_event_log_free(j);
    return good ? said(rc, e) : ek_fail(e, EK_ESTATE, "the journal is not as it was");
}

START_TEST(events_without_memory_are_not_half_kept)
{
    ek_sweep(keep_events);
}
END_TEST

static int tell(struct ek_error *e)
{
    static const struct ek_alert_rule rule = {.min_severity = EK_ALERT_INFO};
    const struct ek_alert_times when = {1000, 1790001121472};
    struct ek_alert_update news;
    struct ek_alert_registry *b = ek_alert_registry_new(8);
    struct ek_alert_queue *q = b ? ek_alert_queue_new(b, &rule, 1, 0) : NULL;
    int rc = q ? EK_OK : EK_ENOMEM, good = 1;
    ek_alert_update_read(&news, &FINDING);
    if (!rc) {
        rc = ek_alert_registry_add(b, &news, true, false, when);
        if (rc)
            good = !ek_alert_registry_count(b) &&
                   (ek_alert_registry_add(b, &news, true, false, when) ||
                    ek_alert_registry_count(b) == 1);
    }
    if (!rc && ek_alert_queue_next(q, 0, 2000))
        ek_alert_queue_finish(q, 0, EK_ALERT_SENT, 0, 2000);
    ek_alert_queue_free(q);
    ek_alert_registry_free(b);
    return good ? said(rc, e) : ek_fail(e, EK_ESTATE, "the book is not as it was");
}

START_TEST(alerts_without_memory_are_not_half_kept)
{
    ek_sweep(tell);
}
END_TEST

static int otlp(struct ek_buf *text)
{
    static const struct ek_otlp_resource resource = {.service = "hotels", .version = "1"};
    struct ek_buf request;
    ek_buf_init(&request, 0);
    const char *metrics = ek_buf_string(text);
    int rc = metrics ? ek_otlp_metrics(metrics, &resource, &request) : EK_ENOMEM;
    ek_buf_release(&request);
    return rc;
}

static int metrics(struct ek_error *e)
{
    static const struct ek_lag lags[] = {{"scored", 0, 3}, {"scored", 1, 4}};
    struct ek_metrics *m = ek_metrics_new();
    struct ek_agreement_cache *a = ek_agreement_cache_new();
    struct ek_checkpoint_status *s = ek_checkpoint_status_new("states");
    struct ek_pause *p = ek_pause_new();
    struct ek_traffic_history *t = ek_traffic_history_new();
    struct ek_buf out;
    ek_buf_init(&out, 0);
    int rc = m && a && s && p && t ? ek_metrics_lags(m, lags, 2) : EK_ENOMEM;
    if (!rc)
        rc = ek_metrics_write(m, &out);
    if (!rc)
        rc = ek_agreement_cache_metrics(a, &out);
    if (!rc)
        rc = ek_agreement_cache_json(a, &out);
    if (!rc)
        rc = ek_checkpoint_status_metrics(s, 0, 0, &out);
    if (!rc)
        rc = ek_checkpoint_status_json(s, 0, &out);
    if (!rc)
        rc = ek_pause_json(p, &out);
    if (!rc)
        rc = ek_traffic_history_json(t, &out);
    ek_buf_clear(&out);
    if (!rc)
        rc = ek_metrics_write(m, &out);
    if (!rc)
        rc = otlp(&out);
    ek_buf_release(&out);
    ek_traffic_history_free(t);
    ek_pause_free(p);
    ek_checkpoint_status_free(s);
    ek_agreement_cache_free(a);
    ek_metrics_free(m);
    return said(rc, e);
}

START_TEST(pages_without_memory_leave_nothing)
{
    ek_sweep(metrics);
}
END_TEST

/* A message without an in-flight record is accepted on a retry. */
static int take_messages(struct ek_error *e)
{
    struct ek_partition_offsets *l = ek_partition_offsets_new();
    struct ek_partition *assignment = l ? ek_partition_offsets_open(l, "scored", 3, 0) : NULL;
    int rc = assignment ? ek_partition_set_checkpoint(assignment, "pointer") : EK_ENOMEM, good = 1;
    for (int i = 0; i < 200 && !rc; i++) {
        struct ek_inflight *t = ek_partition_offsets_start(l, assignment, i);
        if (!t) {
            rc = EK_ENOMEM;
            t = ek_partition_offsets_start(l, assignment, i);
            good = assignment->next == i;
        }
        if (t)
            ek_partition_offsets_finish(l, t);
        good = good && (!t || assignment->next == i + 1);
    }
    ek_partition_offsets_free(l);
    return good ? said(rc, e) : ek_fail(e, EK_ESTATE, "a position moved otherwise");
}

START_TEST(messages_without_memory_can_be_taken_again)
{
    ek_sweep(take_messages);
}
END_TEST

static struct stream_world world;
static struct ek_live_sketches *traffic;

static int board_pages(struct ek_error *e)
{
    struct ek_feature_stats *b = ek_feature_stats_new(world.manifest, world.rules, traffic);
    struct ek_event_log *j = ek_event_log_new(4);
    struct ek_buf out;
    ek_buf_init(&out, 0);
    int rc = b && j ? ek_feature_stats_reserve(b, ek_live_sketches_cells(traffic)) : EK_ENOMEM;
    for (int i = 0; i < ek_live_sketches_cells(traffic) && !rc; i++)
        rc = ek_feature_stats_update(b, 60000);
    if (!rc)
        rc = ek_feature_stats_features(b, &out);
    if (!rc)
        rc = ek_feature_stats_feature(b, "price", NULL, &out);
    if (!rc)
        rc = ek_feature_stats_metrics(b, j, 4, &out);
    ek_buf_release(&out);
    ek_event_log_free(j);
    ek_feature_stats_free(b);
    return said(rc, e);
}

START_TEST(pages_of_features_without_memory_leave_nothing)
{
    static const char rules[] = "version: 1\nsegments: [arm]\n";
    struct ek_cells *cells;
    stream_world_start(&world, rules, 400, 41);
    ck_assert_int_eq(ek_cells_new(&cells, world.rules->segment, world.rules->segment_count, 8), 0);
    ck_assert_int_eq(
        ek_live_sketches_new(&traffic, world.manifest, world.profile, world.rules, cells, NULL),
        EK_OK);
    for (int i = 0; i < 50; i++) {
        int16_t ids[EK_CELLS_PER_LIST];
        struct ek_list *q = stream_next(&world.stream);
        ck_assert_int_eq(ek_cells_lookup(cells, q, 1, ids), EK_OK);
        ck_assert_int_eq(
            ek_live_sketches_list(traffic, ids, 1 + ek_cells_dimensions(cells), 0, q, NULL), EK_OK);
    }
    ek_sweep(board_pages);
    ek_live_sketches_free(traffic);
    ek_cells_free(cells);
    stream_world_end(&world);
}
END_TEST

static int give_order(struct ek_error *e)
{
    struct ek_fleet_commands *o = NULL;
    const struct ek_order w = {.kind = EK_DECIDED_PAUSE};
    struct ek_buf out;
    uint64_t number;
    ek_buf_init(&out, 0);
    int rc = ek_fleet_commands_new(&o, "one", 1);
    if (!rc)
        rc = ek_fleet_commands_submit(o, &w, 0, 0, &number);
    if (!rc)
        rc = ek_fleet_commands_json(o, &out);
    ek_buf_release(&out);
    ek_fleet_commands_free(o);
    return said(rc, e);
}

static int draw(struct ek_error *e)
{
    struct ek_segment_sampler d = {0};
    int rc = ek_segment_sampler_add(&d, "arm=A,B", e);
    if (!rc)
        rc = ek_segment_sampler_add(&d, "app=x,y,z", e);
    ek_segment_sampler_release(&d);
    return rc;
}

static int tokens(struct ek_error *e)
{
    struct ek_tokens *t;
    int rc = ek_tokens_load(&t, ek_scratch("tokens").path, e);
    if (!rc)
        ek_tokens_free(t);
    return rc;
}

static int logs(struct ek_error *e)
{
    struct ek_log *l = ek_log_new(stderr, EK_LOG_ERROR);
    ek_log_free(l);
    return said(l ? EK_OK : EK_ENOMEM, e);
}

START_TEST(orders_tokens_and_values_without_memory_leave_nothing)
{
    ck_assert_int_eq(ek_file_write(ek_scratch("tokens").path,
                                   "ana 0123456789abcdef\nben 0123456789aaaaaa\n", NULL),
                     EK_OK);
    ek_sweep(give_order);
    ek_sweep(draw);
    ek_sweep(tokens);
    ek_sweep(logs);
}
END_TEST

Suite *suite_daemon(void)
{
    return ek_suite("a stage without memory", events_without_memory_are_not_half_kept,
                    alerts_without_memory_are_not_half_kept, pages_without_memory_leave_nothing,
                    messages_without_memory_can_be_taken_again,
                    pages_of_features_without_memory_leave_nothing,
                    orders_tokens_and_values_without_memory_leave_nothing);
}
