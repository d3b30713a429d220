#include "daemon/base/metrics_table.h"

#include <string.h>

#define COUNTER EK_FAMILY_COUNTER
#define GAUGE   EK_FAMILY_GAUGE

static const struct ek_family FAMILIES[] = {
    {"evenkeel_build_info", GAUGE, "version", "Version of the program, as a label.", "",
     "The instance"},
    {"evenkeel_service_info", GAUGE, "service", "Name of the service, as a label.",
     "`service.name` of the configuration", NULL},
    {"evenkeel_ready", GAUGE, "",
     "1 when partitions are assigned and no condition prevents output.",
     "as `/ready`, which gives the [condition](monitor.md#conditions-of-the-input)", NULL},
    {"evenkeel_assigned_partitions", GAUGE, "", "Partitions assigned to this instance.", "", NULL},
    {"evenkeel_workers", GAUGE, "", "Threads that decode and score messages.", "", NULL},
    {"evenkeel_paused", GAUGE, "", "1 while every message is forwarded unchanged.",
     "[the kill switch](operate.md#pause)", NULL},
    {"evenkeel_reloads_total", COUNTER, "result", "Reloads of rules, profile and model, by result.",
     "`done`, `refused`", NULL},
    {"evenkeel_last_reload_successful", GAUGE, "",
     "1 when the last reload succeeded or none was requested.", "", NULL},
    {"evenkeel_last_reload_success_timestamp_seconds", GAUGE, "",
     "Time when rules, profile and model were last loaded, since 1970.", "", NULL},
    {"evenkeel_log_lines_dropped_total", COUNTER, "",
     "Log lines dropped because the reader of the log is too slow.", "", NULL},
    {"evenkeel_http_requests_total", COUNTER, "code",
     "HTTP requests answered, by class of the status.", "`2xx`, `4xx`, `5xx`", NULL},

    {"evenkeel_messages_consumed_total", COUNTER, "", "Messages read from the input topics.", "",
     "Traffic"},
    {"evenkeel_messages_total", COUNTER, "result",
     "Messages acknowledged by the brokers, by result.",
     "`passed` unchanged or, without an output topic, only observed; `routed` with new scores; "
     "`dead_lettered`",
     NULL},
    {"evenkeel_dead_letters_total", COUNTER, "reason",
     "Dead letters acknowledged by the brokers, by reason.",
     "`format`: the producer sent an undecodable message; `limit`, `state`, `delivery`, `other`",
     NULL},
    {"evenkeel_score_failures_total", COUNTER, "",
     "Messages forwarded unchanged because they could not be scored.",
     "includes messages with a topic that does not accept the larger output", NULL},
    {"evenkeel_undecodable_forwarded_total", COUNTER, "",
     "Messages that could not be decoded and were forwarded unchanged.",
     "with `output.undecodable: forward`, or while paused", NULL},
    {"evenkeel_unreadable_fields_total", COUNTER, "field",
     "Lists with an optional field that could not be read and counts as absent.",
     "`time`, `segments`", NULL},
    {"evenkeel_headers_omitted_total", COUNTER, "",
     "Messages forwarded without the headers of evenkeel, which did not fit the topic.", "", NULL},
    {"evenkeel_repaired_values_total", COUNTER, "effect",
     "Feature values repaired in the output or for the scores of trees, by effect.",
     "`written`, or `withheld` by shadow or a canary", NULL},
    {"evenkeel_truncated_messages_total", COUNTER, "",
     "Acknowledged messages sent without part of their contents.",
     "the header `ek-truncated` lists the parts; most are dead letters [beyond the size "
     "limit](records.md#size-limits)",
     NULL},
    {"evenkeel_consumed_bytes_total", COUNTER, "",
     "Bytes of message values read from the input topics.", "", NULL},
    {"evenkeel_produced_bytes_total", COUNTER, "",
     "Bytes of message values acknowledged by the brokers.", "", NULL},
    {"evenkeel_unobserved_lists_total", COUNTER, "",
     "Lists that are no evidence in any segment, because the traffic is dense.",
     "with `pipeline.observe: auto`; they are in `evenkeel_observed_lists_total`", NULL},
    {"evenkeel_observed_lists_total", COUNTER, "", "Lists observed by the guard.",
     "restored with the state, so not reset by a restart. A list of item messages counts with its "
     "first item",
     NULL},
    {"evenkeel_undecodable_messages_total", COUNTER, "", "Messages that could not be decoded.",
     "the first reason is in `/api/v1/status`", NULL},
    {"evenkeel_input_lost_messages_total", COUNTER, "",
     "Messages that the topic deleted before they were read.",
     "by retention, or with the topic; each loss is an event with its offsets", NULL},
    {"evenkeel_input_condition", GAUGE, "condition", "1 while a condition of the input holds.",
     "[conditions](monitor.md#conditions-of-the-input): `undecodable`, "
     "`partly_undecodable`, `silent`, `stalled`, `unreachable`, `topic_missing`, "
     "`messages_lost`, `degraded`, "
     "`unmapped`",
     NULL},
    {"evenkeel_in_flight_messages", GAUGE, "",
     "Messages read, with an output that is not acknowledged.", "", NULL},
    {"evenkeel_queued_messages", GAUGE, "", "Messages in flight that wait for a worker.", "", NULL},
    {"evenkeel_consumer_lag", GAUGE, "topic partition",
     "Messages between the committed offset and the end of a partition.",
     "of each assigned partition; absent while unknown", NULL},
    {"evenkeel_end_to_end_duration_seconds", EK_FAMILY_HISTOGRAM, "le",
     "Time from the consumer's read of a message to the acknowledgment of its output.", "", NULL},
    {"evenkeel_processing_duration_seconds", EK_FAMILY_HISTOGRAM, "le",
     "Time that a worker spends on one message.",
     "decoding, guard, scoring and handover to the producer", NULL},

    {"evenkeel_events_total", COUNTER, "", "Findings, plans and decisions reported.", "",
     "Findings and routes"},
    {"evenkeel_open_findings", GAUGE, "class state", "Open findings, by class and state.",
     "`state` is `suspected`, without a class, or `confirmed`", NULL},
    {"evenkeel_oldest_confirmed_finding_age_seconds", GAUGE, "",
     "Age of the oldest open confirmed finding; 0 without one.",
     "by the clock of this instance; for restored findings since the restore", NULL},
    {"evenkeel_routes_detected_total", COUNTER, "", "Findings that request a route.", "", NULL},
    {"evenkeel_routes_enforced_total", COUNTER, "", "Routes that a plan put into effect.",
     "fewer than detected, because the mode may prevent a route", NULL},
    {"evenkeel_routes_rolled_back_total", COUNTER, "reason", "Routes rolled back by a guardrail.",
     "the guardrail; `/api/v1/impact` and the [decision](format/events.md) have the value", NULL},
    {"evenkeel_plan_version", GAUGE, "", "Version of the current plan; 0 before the first.", "",
     NULL},
    {"evenkeel_plan_entries", GAUGE, "mode",
     "Entries of the plan with an action that changes scores, by mode.",
     "a feature in a segment, or in all traffic; `canary` and `enforce` act, `shadow` is only "
     "compared, `observe` only reported",
     NULL},
    {"evenkeel_limit_exceeded_total", COUNTER, "limit",
     "Lists, alarms, findings and events above a limit.", "[limits](format/events.md)", NULL},

    {"evenkeel_feature_state", GAUGE, "feature segment",
     "State of a feature: 0 ok, 1 suspected, 2 confirmed.", "", "Features"},
    {"evenkeel_feature_scale_ratio", GAUGE, "feature segment",
     "Geometric mean of the absolute values over that in training.",
     "100 when a price changes from dollars to cents", NULL},
    {"evenkeel_feature_psi", GAUGE, "feature segment",
     "Population stability index against training.", "", NULL},
    {"evenkeel_feature_psi_expected", GAUGE, "feature segment",
     "Expected population stability index by chance with as many independent items.", "", NULL},
    {"evenkeel_feature_ks", GAUGE, "feature segment", "Kolmogorov-Smirnov distance from training.",
     "0 to 1", NULL},
    {"evenkeel_feature_missing_ratio", GAUGE, "feature segment", "Fraction of missing values.", "",
     NULL},
    {"evenkeel_feature_zero_ratio", GAUGE, "feature segment", "Fraction of zeros.", "", NULL},
    {"evenkeel_feature_quantile", EK_FAMILY_SUMMARY, "feature segment quantile",
     "Quantiles of a feature's values.", "`0.05`, `0.5`, `0.95`", NULL},
    {"evenkeel_feature_lists", GAUGE, "feature segment",
     "Lists in the statistics of a feature, about the last two windows.",
     "with item messages, the number of items", NULL},
    {"evenkeel_feature_items", GAUGE, "feature segment",
     "Items in the statistics of a feature, about the last two windows.", "", NULL},

    {"evenkeel_shadow_scored_lists_total", COUNTER, "",
     "Lists scored twice: by upstream and by the plan.", "", "Shadow scoring"},
    {"evenkeel_shadow_scoring_skipped_lists_total", COUNTER, "",
     "Lists without shadow scoring, for lack of CPU time or memory.",
     "if most are skipped, canaries grow slowly and guardrails have little data: add workers, or "
     "raise `pipeline.shadow_scoring_cpu_percent`",
     NULL},
    {"evenkeel_rank_compared_lists", GAUGE, "feature segment",
     "Shadow-scored lists of a route since its last step.", "", NULL},
    {"evenkeel_rank_kendall_tau", GAUGE, "feature segment",
     "Mean of Kendall's tau between the upstream order and the order of the plan.", "", NULL},
    {"evenkeel_rank_top10_overlap", GAUGE, "feature segment",
     "Mean fraction of the first ten items that the upstream order and the order of the plan "
     "share.",
     "", NULL},
    {"evenkeel_rank_displacement_mean", GAUGE, "feature segment",
     "Mean number of positions that an item moves.", "", NULL},
    {"evenkeel_rank_footrule", EK_FAMILY_SUMMARY, "feature segment quantile",
     "Spearman's footrule of the upstream order and the order of the plan over its maximum.",
     "`0.5`, `0.95`", NULL},

    {"evenkeel_model_compared_lists_total", COUNTER, "",
     "Lists scored by the model for comparison with upstream.", "", "The model"},
    {"evenkeel_model_agreement", GAUGE, "statistic",
     "Agreement of model and upstream order, mean of the last compared lists.",
     "`tau`, `ndcg@10`, `top1`; of at most 128 lists", NULL},
    {"evenkeel_model_agreement_reference", GAUGE, "statistic",
     "Agreement of model and upstream order recorded in the model file.", "", NULL},
    {"evenkeel_model_agreement_threshold", GAUGE, "statistic",
     "Agreement below which the model has drifted.", "", NULL},
    {"evenkeel_model_drifted", GAUGE, "", "1 when model and upstream no longer agree.",
     "only if the model file contains the agreement", NULL},

    {"evenkeel_alerts_sent_total", COUNTER, "sink result",
     "Alerts sent over HTTP, by sink and result.",
     "`sent`; `failed`, to be retried; `refused`; only with [sinks](alerts.md)", "Alerts"},
    {"evenkeel_alerts_pending", GAUGE, "", "Alerts not yet delivered, counted once for each sink.",
     "", NULL},
    {"evenkeel_alerts_oldest_pending_age_seconds", GAUGE, "",
     "Age of the oldest alert that is due and not delivered.", "", NULL},
    {"evenkeel_alerts_active", GAUGE, "",
     "Alerts that are firing, or whose resolution is not sent.", "", NULL},
    {"evenkeel_alerts_dropped_total", COUNTER, "", "Events and alerts dropped for lack of room.",
     "raise `alerting.max_active`", NULL},

    {"evenkeel_kafka_errors_total", COUNTER, "class", "Errors of the Kafka clients, by class.",
     "`retriable`, `message`, `abortable`, `fatal`; `credentials`, `tls`, `authorization`: "
     "[Kafka access](kafka-access.md)",
     "Kafka"},
    {"evenkeel_rebalances_total", COUNTER, "", "Assignments and revocations of partitions.", "",
     NULL},
    {"evenkeel_commits_total", COUNTER, "", "Offset commits accepted by the group coordinator.", "",
     NULL},
    {"evenkeel_transactions_total", COUNTER, "result",
     "Transactions of exactly-once delivery, by result.", "`committed`, `aborted`", NULL},
    {"evenkeel_reprocessed_messages_total", COUNTER, "effect",
     "Messages processed again after a restart or rebalance.",
     "`output_only`: sent again, not observed again; `state_only`: observed again after a restore, "
     "not sent again",
     NULL},

    {"evenkeel_checkpoints_total", COUNTER, "", "Checkpoints written.", "", "State"},
    {"evenkeel_checkpoint_bytes_total", COUNTER, "",
     "Bytes of checkpoint records, before compression.", "", NULL},
    {"evenkeel_checkpoint_age_seconds", GAUGE, "", "Time since the last checkpoint was written.",
     "absent before the first; about `state.checkpoint_interval`", NULL},
    {"evenkeel_checkpoint_duration_seconds", GAUGE, "",
     "Time that lists waited for the last checkpoint to be written.", "", NULL},
    {"evenkeel_restore_duration_seconds", GAUGE, "",
     "Time that the last assignment took to restore the state.", "", NULL},
    {"evenkeel_restore_pending_seconds", GAUGE, "",
     "Time that partitions have waited for brokers to return their state.",
     "0 when none waits; waiting partitions are not read", NULL},
    {"evenkeel_state_loss_total", COUNTER, "reason",
     "Events in which part of the state was lost or counted twice.",
     "`not_found`: a checkpoint was not in the topic; `refused`: it was damaged, or of another "
     "manifest; `retention`: messages to be read again were deleted; `unsaved`: partitions were "
     "revoked before their state was written, while others stayed",
     NULL},

    {"evenkeel_fleet_plan_age_seconds", GAUGE, "", "Time since a plan of the fleet was received.",
     "the leader sends it every `fleet.report_interval`", "The fleet"},
    {"evenkeel_fleet_plan_stale", GAUGE, "",
     "1 when no plan was received for fleet.leader_timeout.", "", NULL},
    {"evenkeel_fleet_plan_version", GAUGE, "", "Version of the last plan received.", "", NULL},
    {"evenkeel_fleet_term", GAUGE, "", "Number of leaders that the fleet has had.", "", NULL},
    {"evenkeel_fleet_is_leader", GAUGE, "", "1 when this instance leads the fleet.",
     "the sum over all instances must be 1", NULL},
    {"evenkeel_fleet_instances", GAUGE, "",
     "Instances that reported to the leader in the last 30 seconds; 0 on other instances.", "",
     NULL},
    {"evenkeel_fleet_duplicate_instances", GAUGE, "",
     "Instance names used by two processes in the last 30 seconds; 0 except on the leader.",
     "half of their evidence is lost: set a unique `service.instance`", NULL},
    {"evenkeel_fleet_plans_late_total", COUNTER, "",
     "Plans received after lists that they applied to.", "", NULL},
    {"evenkeel_fleet_plan_unresolved_entries_total", COUNTER, "",
     "Entries of plans with an unknown feature or segment.", "", NULL},
    {"evenkeel_fleet_records_total", COUNTER, "topic result",
     "Fleet records written by this instance, by topic and result.",
     "`evidence` or `plan`; `sent`, or `lost`: not delivered within `fleet.leader_timeout`, so its "
     "evidence is lost",
     NULL},
    {"evenkeel_fleet_reports_received_total", COUNTER, "result",
     "Evidence reports read by the leader, by result.",
     "`accepted`, `duplicate`, `late`, `rejected`", NULL},
    {"evenkeel_fleet_segments_dropped_total", COUNTER, "",
     "Reported segments above fleet.max_fleet_segments.", "", NULL},

    {"evenkeel_assembled_lists_total", COUNTER, "complete",
     "Lists assembled from item messages, by completeness.",
     "`true`, `false`, or `unknown` if messages have no `list_items`", "Item messages"},
    {"evenkeel_dropped_items_total", COUNTER, "reason",
     "Items assigned to no list, because they were repeated or late.", "`repeated`, `late`", NULL},
    {"evenkeel_assembly_evicted_lists_total", COUNTER, "", "Lists evicted before assembly.timeout.",
     "raise `assembly.max_lists`", NULL},

    {"process_cpu_seconds_total", COUNTER, "", "User and system CPU time spent.", "",
     "The process"},
    {"process_resident_memory_bytes", GAUGE, "", "Resident memory.", "", NULL},
    {"process_virtual_memory_bytes", GAUGE, "", "Virtual memory.", "", NULL},
    {"process_open_fds", GAUGE, "", "Open file descriptors.", "", NULL},
    {"process_max_fds", GAUGE, "", "Maximum number of open file descriptors.", "", NULL},
    {"process_start_time_seconds", GAUGE, "", "Start time of the process, since 1970.", "", NULL},
};

const struct ek_family *ek_family_at(size_t i)
{
    return i < sizeof FAMILIES / sizeof *FAMILIES ? &FAMILIES[i] : NULL;
}

const struct ek_family *ek_family_find(const char *name)
{
    for (size_t i = 0; i < sizeof FAMILIES / sizeof *FAMILIES; i++)
        if (!strcmp(FAMILIES[i].name, name))
            return &FAMILIES[i];
    return NULL;
}

const char *ek_family_type_name(enum ek_family_type type)
{
    static const char *const names[] = {"counter", "gauge", "histogram", "summary"};
    return names[type];
}

int ek_metrics_head(const char *name, struct ek_buf *out)
{
    const struct ek_family *f = ek_family_find(name);
    if (!f)
        return out->rc = EK_EUSAGE;
    return ek_buf_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, f->help, name,
                         ek_family_type_name(f->type));
}
