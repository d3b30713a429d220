#include "daemon/base/metrics_table.h"

#include <string.h>

#define COUNTER EK_FAMILY_COUNTER
#define GAUGE   EK_FAMILY_GAUGE

static const struct ek_family FAMILIES[] = {
    {"evenkeel_build_info", GAUGE, "version", "Version, as a label.", "", "The instance"},
    {"evenkeel_service_info", GAUGE, "service", "Name of the service, as a label.",
     "`service.name` of the configuration", NULL},
    {"evenkeel_ready", GAUGE, "",
     "1 when partitions are assigned, topics are there and brokers answer.",
     "as `/ready`, which says why it is 0", NULL},
    {"evenkeel_assigned_partitions", GAUGE, "", "Partitions assigned to this instance.", "", NULL},
    {"evenkeel_workers", GAUGE, "", "Threads that decode and score.", "", NULL},
    {"evenkeel_paused", GAUGE, "", "1 while every message is forwarded unchanged.",
     "[the kill switch](operations.md#the-kill-switch)", NULL},
    {"evenkeel_reloads_total", COUNTER, "result", "Reloads of rules, profile and model.",
     "`done`, `refused`", NULL},
    {"evenkeel_last_reload_successful", GAUGE, "",
     "1 when the last reload was taken, or there was none.", "", NULL},
    {"evenkeel_last_reload_success_timestamp_seconds", GAUGE, "",
     "When rules, profile and model were last taken: at the start, or by a reload.", "", NULL},
    {"evenkeel_http_requests_total", COUNTER, "code", "HTTP requests answered.",
     "the class of the status: `2xx`, `4xx`, `5xx`", NULL},

    {"evenkeel_messages_consumed_total", COUNTER, "", "Messages taken from the input.", "",
     "Traffic"},
    {"evenkeel_messages_total", COUNTER, "result",
     "Messages whose outcome the broker acknowledged.",
     "`passed` unchanged, `routed` with other scores, `dead_lettered`", NULL},
    {"evenkeel_dead_letters_total", COUNTER, "reason", "Dead letters the broker acknowledged.",
     "`format`: a producer sends what cannot be read; `limit`, `state`, `delivery`, `other`", NULL},
    {"evenkeel_score_failures_total", COUNTER, "",
     "Messages forwarded unchanged because they could not be scored.",
     "also those whose topic takes no output as large as that with other scores", NULL},
    {"evenkeel_undecodable_forwarded_total", COUNTER, "",
     "Messages that could not be decoded and were forwarded unchanged, while paused.", "", NULL},
    {"evenkeel_truncated_messages_total", COUNTER, "",
     "Messages acknowledged that went out without all that they came with.",
     "`ek-left-out` says without what; most are dead letters [that did not "
     "fit](operations.md#what-does-not-fit)",
     NULL},
    {"evenkeel_consumed_bytes_total", COUNTER, "", "Bytes of message values taken.", "", NULL},
    {"evenkeel_produced_bytes_total", COUNTER, "", "Bytes of message values acknowledged.", "",
     NULL},
    {"evenkeel_observed_lists_total", COUNTER, "", "Lists that the guard has observed.",
     "life-long: restored with the state. A query of messages of one item counts with its first",
     NULL},
    {"evenkeel_in_flight_messages", GAUGE, "",
     "Messages read whose output is not yet acknowledged.", "", NULL},
    {"evenkeel_queued_messages", GAUGE, "", "Messages in flight that wait for a worker.", "", NULL},
    {"evenkeel_consumer_lag", GAUGE, "topic partition",
     "Messages between the commit position and the end.",
     "of each partition assigned; none while it is not known", NULL},
    {"evenkeel_end_to_end_duration_seconds", EK_FAMILY_HISTOGRAM, "le",
     "Time of one message from the consumer to the acknowledgement of its output.", "", NULL},
    {"evenkeel_processing_duration_seconds", EK_FAMILY_HISTOGRAM, "le",
     "Time that a worker spends on one message.",
     "the part of it for decode, guard, score and hand over to the producer", NULL},

    {"evenkeel_events_total", COUNTER, "", "Findings, plans and decisions reported.", "",
     "Findings and routes"},
    {"evenkeel_open_findings", GAUGE, "class state", "Findings that are open.",
     "`state` is `suspected`, then without a class, or `confirmed`", NULL},
    {"evenkeel_oldest_confirmed_finding_age_seconds", GAUGE, "",
     "How long the oldest of the confirmed findings that are open has been so; 0 without one.",
     "by the clock of this instance. Of findings that came with a restored state since then", NULL},
    {"evenkeel_routes_detected_total", COUNTER, "", "Findings whose action is to route.", "", NULL},
    {"evenkeel_routes_enforced_total", COUNTER, "", "Routes that a plan put into effect.",
     "fewer than detected: the mode does not let some through", NULL},
    {"evenkeel_routes_rolled_back_total", COUNTER, "reason", "Routes that a guardrail rolled back.",
     "the guardrail; `/api/v1/impact` and the [decision](format/events.md) have the figure", NULL},
    {"evenkeel_plan_version", GAUGE, "", "Version of the current plan, 0 before the first.", "",
     NULL},
    {"evenkeel_plan_entries", GAUGE, "mode",
     "Entries of the plan with an action that changes scores.",
     "a feature in a segment, or in all traffic; `canary` and `enforce` act, `shadow` would, "
     "`observe` is only told",
     NULL},
    {"evenkeel_limit_exceeded_total", COUNTER, "limit",
     "Lists, alarms, findings and events beyond a limit.", "[which](format/events.md)", NULL},

    {"evenkeel_feature_state", GAUGE, "feature segment",
     "0 as in training, 1 suspected, 2 confirmed.", "", "Features"},
    {"evenkeel_feature_scale_ratio", GAUGE, "feature segment",
     "Geometric mean of the sizes over that in training.", "100 when a price comes in cents", NULL},
    {"evenkeel_feature_psi", GAUGE, "feature segment",
     "Population stability index against training.", "", NULL},
    {"evenkeel_feature_psi_expected", GAUGE, "feature segment",
     "What psi is by chance with so many independent items.", "", NULL},
    {"evenkeel_feature_ks", GAUGE, "feature segment", "Kolmogorov-Smirnov distance from training.",
     "0 to 1", NULL},
    {"evenkeel_feature_missing_ratio", GAUGE, "feature segment", "Share of missing values.", "",
     NULL},
    {"evenkeel_feature_zero_ratio", GAUGE, "feature segment", "Share of zeros.", "", NULL},
    {"evenkeel_feature_quantile", EK_FAMILY_SUMMARY, "feature segment quantile",
     "Quantiles of the values.", "`0.05`, `0.5`, `0.95`", NULL},
    {"evenkeel_feature_lists", GAUGE, "feature segment",
     "Lists behind the statistics of a feature, about the last two windows.",
     "with messages of one item those", NULL},
    {"evenkeel_feature_items", GAUGE, "feature segment",
     "Items behind the statistics of a feature, about the last two windows.", "", NULL},

    {"evenkeel_shadow_scored_lists_total", COUNTER, "",
     "Lists scored twice: as upstream ranks them, and as the plan would.", "",
     "Lists ranked both ways"},
    {"evenkeel_shadow_scoring_skipped_lists_total", COUNTER, "",
     "Lists not shadow scored, for lack of CPU time or memory.",
     "where most are, canaries grow late and guardrails know little: more workers, or a higher "
     "`pipeline.shadow_scoring_cpu_percent`",
     NULL},
    {"evenkeel_rank_compared_lists", GAUGE, "feature segment",
     "Lists of a route that were shadow scored, since its last step.", "", NULL},
    {"evenkeel_rank_kendall_tau", GAUGE, "feature segment",
     "Kendall's tau of the upstream order and the order of the plan, mean.", "", NULL},
    {"evenkeel_rank_top10_overlap", GAUGE, "feature segment",
     "Fraction of the first ten items that both orders share, mean.", "", NULL},
    {"evenkeel_rank_displacement_mean", GAUGE, "feature segment",
     "Positions that an item moves, mean.", "", NULL},
    {"evenkeel_rank_footrule", EK_FAMILY_SUMMARY, "feature segment quantile",
     "Spearman's footrule of the two orders over its maximum: 0 the same, 1 the most.",
     "`0.5`, `0.95`", NULL},

    {"evenkeel_model_compared_lists_total", COUNTER, "",
     "Lists ranked by model and upstream for comparison.", "", "The model"},
    {"evenkeel_model_agreement", GAUGE, "statistic",
     "Agreement of model and upstream order, mean of the last compared lists.",
     "`tau`, `ndcg@10`, `top1`; of at most 128", NULL},
    {"evenkeel_model_agreement_reference", GAUGE, "statistic",
     "Agreement of model and upstream order in the model file.", "", NULL},
    {"evenkeel_model_agreement_threshold", GAUGE, "statistic",
     "Agreement below which the model has drifted.", "", NULL},
    {"evenkeel_model_drifted", GAUGE, "", "1 when model and upstream no longer agree.",
     "only where the model file has figures", NULL},

    {"evenkeel_alerts_sent_total", COUNTER, "sink result",
     "Alerts over HTTP, by what came of telling them.",
     "`sent`, `failed` and to be tried again, `refused`; with [sinks](alerts.md) only", "Alerts"},
    {"evenkeel_alerts_pending", GAUGE, "",
     "Alerts that a sink is still to be told of, each sink counted.", "", NULL},
    {"evenkeel_alerts_oldest_pending_age_seconds", GAUGE, "",
     "Age of the oldest alert that is due and not delivered.", "", NULL},
    {"evenkeel_alerts_active", GAUGE, "", "Alerts that fire, or whose end is still to be sent.", "",
     NULL},
    {"evenkeel_alerts_dropped_total", COUNTER, "", "Events and alerts dropped for lack of room.",
     "`alerting.max_active`", NULL},

    {"evenkeel_kafka_errors_total", COUNTER, "class", "Errors of the Kafka clients.",
     "`retriable`, `message`, `abort`, `fatal`; `credentials`, `tls`, `authorization`: "
     "[what brokers refuse](operations.md#security)",
     "Kafka"},
    {"evenkeel_rebalances_total", COUNTER, "", "Assignments and revocations of partitions.", "",
     NULL},
    {"evenkeel_commits_total", COUNTER, "", "Offset commits the group accepted.", "", NULL},
    {"evenkeel_transactions_total", COUNTER, "result", "Transactions of exactly-once delivery.",
     "`committed`, `aborted`", NULL},
    {"evenkeel_reprocessed_messages_total", COUNTER, "effect",
     "Messages processed again after a restart or rebalance.",
     "`output_only`: sent again, not observed again; `state_only`: observed again after a restore, "
     "not sent again",
     NULL},

    {"evenkeel_checkpoints_total", COUNTER, "", "Checkpoints written.", "", "State"},
    {"evenkeel_checkpoint_bytes_total", COUNTER, "",
     "Bytes of checkpoint records, before compression.", "", NULL},
    {"evenkeel_checkpoint_age_seconds", GAUGE, "", "Time since the last checkpoint was written.",
     "none before the first; near `state.checkpoint_interval`", NULL},
    {"evenkeel_checkpoint_duration_seconds", GAUGE, "",
     "How long lists waited for the last one to be written.", "", NULL},
    {"evenkeel_restore_duration_seconds", GAUGE, "",
     "How long the last assignment took to get back the state.", "", NULL},
    {"evenkeel_restore_pending_seconds", GAUGE, "",
     "How long partitions have been waiting for brokers to give back their state.",
     "0 when they do not; they stand still as long", NULL},
    {"evenkeel_state_loss_total", COUNTER, "reason",
     "Times that a part of the past could not be got back, or counted twice.",
     "`not_found`: a state was not in the topic; `refused`: it was of another manifest, or "
     "damaged; "
     "`retention`: messages that had to be read again were gone; `unsaved`: partitions went away "
     "before what was seen of them was written, while others stayed",
     NULL},

    {"evenkeel_fleet_plan_age_seconds", GAUGE, "", "Time since the plan of the fleet was received.",
     "the decider tells it every `fleet.report_interval`", "The fleet"},
    {"evenkeel_fleet_plan_stale", GAUGE, "",
     "1 when no plan was received for fleet.leader_timeout.", "", NULL},
    {"evenkeel_fleet_plan_version", GAUGE, "", "Version of the plan received last.", "", NULL},
    {"evenkeel_fleet_term", GAUGE, "", "Number of leaders that the plan has had.", "", NULL},
    {"evenkeel_fleet_is_leader", GAUGE, "", "1 when this instance leads the fleet.",
     "the sum over all is to be 1", NULL},
    {"evenkeel_fleet_instances", GAUGE, "",
     "Instances that the decider has heard of in the last 30 seconds; 0 elsewhere.", "", NULL},
    {"evenkeel_fleet_duplicate_instances", GAUGE, "",
     "Names that two processes go by, as the decider has heard in the last 30 seconds; 0 "
     "elsewhere.",
     "half of what they see is lost: give each a service.instance of its own", NULL},
    {"evenkeel_fleet_plans_late_total", COUNTER, "",
     "Plans received after lists that they should have applied to.", "", NULL},
    {"evenkeel_fleet_plan_unresolved_entries_total", COUNTER, "",
     "Entries of plans that found no feature or cell here.", "", NULL},
    {"evenkeel_fleet_records_total", COUNTER, "topic result", "Records that this instance wrote.",
     "`ticks` or `plan`; `sent`, or `lost`: one that does not get out within "
     "`fleet.leader_timeout`, and "
     "its evidence with it",
     NULL},
    {"evenkeel_fleet_reports_received_total", COUNTER, "result",
     "Evidence reports of all instances that the leader has read.",
     "`accepted`, `duplicate`, `late`, `rejected`", NULL},
    {"evenkeel_fleet_segments_dropped_total", COUNTER, "",
     "Reported segments beyond fleet.max_fleet_segments.", "", NULL},

    {"evenkeel_assembled_lists_total", COUNTER, "complete",
     "Lists assembled from messages of one item.",
     "`true`, `false`, or `unknown` where messages have no `list_items`", "Messages of one item"},
    {"evenkeel_dropped_items_total", COUNTER, "reason",
     "Items that belong to no list: repeated ones, and those that arrived after their list.",
     "`repeated`, `late`", NULL},
    {"evenkeel_assembly_evicted_lists_total", COUNTER, "",
     "Lists evicted before assembly.timeout was over.", "raise `assembly.max_lists`", NULL},

    {"process_cpu_seconds_total", COUNTER, "", "User and system CPU time spent.", "",
     "The process"},
    {"process_resident_memory_bytes", GAUGE, "", "Resident memory.", "", NULL},
    {"process_virtual_memory_bytes", GAUGE, "", "Virtual memory.", "", NULL},
    {"process_open_fds", GAUGE, "", "Open file descriptors.", "", NULL},
    {"process_max_fds", GAUGE, "", "Most file descriptors that may be open.", "", NULL},
    {"process_start_time_seconds", GAUGE, "", "When the process began, since 1970.", "", NULL},
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
