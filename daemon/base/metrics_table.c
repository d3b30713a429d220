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
    {"evenkeel_paused", GAUGE, "", "1 while every message is forwarded as it came.",
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
     "`pass` as they came, `routed` with other scores, `dead`", NULL},
    {"evenkeel_dead_letters_total", COUNTER, "reason", "Dead letters the broker acknowledged.",
     "`format`: a producer sends what cannot be read; `limit`, `state`, `delivery`, `other`", NULL},
    {"evenkeel_score_failures_total", COUNTER, "",
     "Messages forwarded as they came because they could not be scored.",
     "also those whose topic takes no output as large as that with other scores", NULL},
    {"evenkeel_unreadable_forwarded_total", COUNTER, "",
     "Messages that could not be read and were forwarded as they came, while paused.", "", NULL},
    {"evenkeel_cut_messages_total", COUNTER, "",
     "Messages acknowledged that went out without all that they came with.",
     "`ek-left-out` says without what; most are dead letters [that did not "
     "fit](operations.md#what-does-not-fit)",
     NULL},
    {"evenkeel_consumed_bytes_total", COUNTER, "", "Bytes of message values taken.", "", NULL},
    {"evenkeel_produced_bytes_total", COUNTER, "", "Bytes of message values acknowledged.", "",
     NULL},
    {"evenkeel_observed_queries_total", COUNTER, "", "Queries the guard has observed.",
     "life-long: restored with the state. A query of messages of one item counts with its first",
     NULL},
    {"evenkeel_in_flight_messages", GAUGE, "",
     "Messages read whose output is not yet acknowledged.", "", NULL},
    {"evenkeel_waiting_messages", GAUGE, "", "Those of them that wait for a worker.", "", NULL},
    {"evenkeel_consumer_lag", GAUGE, "topic partition",
     "Messages between the commit position and the end.",
     "of each partition assigned; none while it is not known", NULL},
    {"evenkeel_added_latency_seconds", EK_FAMILY_HISTOGRAM, "le",
     "Time of one message from the consumer to the acknowledgement of its output.", "", NULL},
    {"evenkeel_stage_seconds", EK_FAMILY_HISTOGRAM, "le", "Time of one message with a worker.",
     "the part of it for decode, guard, score and hand over to the producer", NULL},

    {"evenkeel_events_total", COUNTER, "", "Findings, plans and decisions that were told.", "",
     "Findings and routes"},
    {"evenkeel_open_findings", GAUGE, "class state", "Findings that are open.",
     "`state` is `suspected`, then without a class, or `confirmed`", NULL},
    {"evenkeel_oldest_confirmed_finding_seconds", GAUGE, "",
     "How long the oldest of the confirmed findings that are open has been so; 0 without one.",
     "by the clock of this instance. Of findings that came with a restored state since then", NULL},
    {"evenkeel_routes_detected_total", COUNTER, "", "Findings whose action is to route.", "", NULL},
    {"evenkeel_routes_enforced_total", COUNTER, "", "Routes put in force by a plan.",
     "fewer than detected: the mode does not let some through", NULL},
    {"evenkeel_routes_withdrawn_total", COUNTER, "reason", "Routes that a guardrail took back.",
     "the guardrail; `/api/v1/ranks` and the [decision](format/events.md) have the figure", NULL},
    {"evenkeel_plan_version", GAUGE, "", "Version of the plan in force, 0 before the first.", "",
     NULL},
    {"evenkeel_plan_entries", GAUGE, "mode",
     "Entries of the plan with an action that changes scores.",
     "a feature in a segment, or in all traffic; `canary` and `enforce` act, `shadow` would, "
     "`observe` is only told",
     NULL},
    {"evenkeel_beyond_limit_total", COUNTER, "limit",
     "What was beyond a limit: lists without a cell of their own, alarms, findings, events.",
     "[which](format/events.md)", NULL},

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
     "Lists behind the figures of a feature, about the last two windows.",
     "with messages of one item those", NULL},
    {"evenkeel_feature_items", GAUGE, "feature segment", "Items behind them.", "", NULL},

    {"evenkeel_trials_total", COUNTER, "",
     "Lists ranked both ways, by upstream and as the plan wants.", "", "Lists ranked both ways"},
    {"evenkeel_trials_skipped_total", COUNTER, "",
     "Lists that were not, for want of time or memory.",
     "where most are, canaries grow late and guardrails know little: more workers, or a higher "
     "`pipeline.trial_percent`",
     NULL},
    {"evenkeel_rank_lists", GAUGE, "feature segment",
     "Lists of a route that were ranked both ways, since its last step.", "", NULL},
    {"evenkeel_rank_tau", GAUGE, "feature segment",
     "Kendall's tau of upstream and what the plan wants, mean.", "", NULL},
    {"evenkeel_rank_top10_overlap", GAUGE, "feature segment",
     "Share of the first ten that both have, mean.", "", NULL},
    {"evenkeel_rank_places", GAUGE, "feature segment", "Places that an item moves, mean.", "",
     NULL},
    {"evenkeel_rank_change", EK_FAMILY_SUMMARY, "feature segment quantile",
     "How far lists move, 0 the same and 1 the most.", "`0.5`, `0.95`", NULL},

    {"evenkeel_model_compared_lists_total", COUNTER, "",
     "Lists ranked by model and upstream for comparison.", "", "The model"},
    {"evenkeel_model_agreement", GAUGE, "figure",
     "How alike model and upstream rank, mean of the last compared lists.",
     "`tau`, `ndcg@10`, `top1`; of at most 128", NULL},
    {"evenkeel_model_agreement_trained", GAUGE, "figure", "The same as the model file has it.", "",
     NULL},
    {"evenkeel_model_agreement_least", GAUGE, "figure", "What still passes for the same.", "",
     NULL},
    {"evenkeel_model_drifted", GAUGE, "", "1 when model and upstream no longer rank alike.",
     "only where the model file has figures", NULL},

    {"evenkeel_alerts_sent_total", COUNTER, "sink result",
     "Alerts over HTTP, by what came of telling them.",
     "`sent`, `failed` and to be tried again, `refused`; with [sinks](alerts.md) only", "Alerts"},
    {"evenkeel_alerts_waiting", GAUGE, "",
     "Alerts that a sink is still to be told of, each sink counted.", "", NULL},
    {"evenkeel_alerts_oldest_seconds", GAUGE, "", "How long the first of them has been due.", "",
     NULL},
    {"evenkeel_alerts_known", GAUGE, "", "Alerts that fire, or whose end is still to be told.", "",
     NULL},
    {"evenkeel_alerts_lost_total", COUNTER, "", "Events and alerts that there was no room for.",
     "`limits.alerts`", NULL},

    {"evenkeel_kafka_errors_total", COUNTER, "class", "Errors of the Kafka clients.",
     "`retriable`, `message`, `abort`, `fatal`; `credentials`, `tls`, `authorisation`: "
     "[what brokers refuse](operations.md#security)",
     "Kafka"},
    {"evenkeel_rebalances_total", COUNTER, "", "Assignments and revocations of partitions.", "",
     NULL},
    {"evenkeel_commits_total", COUNTER, "", "Offset commits the group accepted.", "", NULL},
    {"evenkeel_transactions_total", COUNTER, "result", "Transactions of exactly-once delivery.",
     "`committed`, `aborted`", NULL},
    {"evenkeel_repeated_messages_total", COUNTER, "",
     "Messages that came again and were sent, but not observed, again.", "", NULL},
    {"evenkeel_replayed_messages_total", COUNTER, "",
     "Messages that were read again after a restore and observed, but not sent, again.", "", NULL},

    {"evenkeel_state_bases_total", COUNTER, "", "States that were written.", "", "State"},
    {"evenkeel_state_bytes_total", COUNTER, "", "Bytes of their records, before compression.", "",
     NULL},
    {"evenkeel_state_age_seconds", GAUGE, "", "Time since the last state was written.",
     "none before the first; near `state.every`", NULL},
    {"evenkeel_state_save_seconds", GAUGE, "",
     "How long lists waited for the last one to be written.", "", NULL},
    {"evenkeel_state_restore_seconds", GAUGE, "",
     "How long the last assignment took to get back the state.", "", NULL},
    {"evenkeel_state_waiting_seconds", GAUGE, "",
     "How long partitions have been waiting for brokers to give back their state.",
     "0 when they do not; they stand still as long", NULL},
    {"evenkeel_state_gaps_total", COUNTER, "reason",
     "Times that a part of the past could not be got back, or counted twice.",
     "`not_found`: a state was not in the topic; `refused`: it was of another manifest, or "
     "damaged; "
     "`retention`: messages that had to be read again were gone; `unsaved`: partitions went away "
     "before what was seen of them was written, while others stayed",
     NULL},

    {"evenkeel_fleet_plan_age_seconds", GAUGE, "", "Time since the plan of the fleet was heard.",
     "the decider tells it every `fleet.tick`", "The fleet"},
    {"evenkeel_fleet_cut_off", GAUGE, "", "1 when it has not been heard for fleet.silent.", "",
     NULL},
    {"evenkeel_fleet_plan_version", GAUGE, "", "Version of the plan heard last.", "", NULL},
    {"evenkeel_fleet_term", GAUGE, "", "Number of deciders that the plan has had.", "", NULL},
    {"evenkeel_fleet_decides", GAUGE, "", "1 when this instance decides for the fleet.",
     "the sum over all is to be 1", NULL},
    {"evenkeel_fleet_instances", GAUGE, "",
     "Instances that the decider has heard of in the last 30 seconds; 0 elsewhere.", "", NULL},
    {"evenkeel_fleet_names_shared", GAUGE, "",
     "Names that two processes go by, as the decider has heard in the last 30 seconds; 0 "
     "elsewhere.",
     "half of what they see is lost: give each a service.instance of its own", NULL},
    {"evenkeel_fleet_plans_late_total", COUNTER, "",
     "Plans that came after lists they were to hold for.", "", NULL},
    {"evenkeel_fleet_plan_entries_missed_total", COUNTER, "",
     "Entries of plans that found no feature or cell here.", "", NULL},
    {"evenkeel_fleet_records_total", COUNTER, "topic result", "Records that this instance wrote.",
     "`ticks` or `plan`; `sent`, or `lost`: one that does not get out within `fleet.silent`, and "
     "its evidence with it",
     NULL},
    {"evenkeel_fleet_ticks_total", COUNTER, "result",
     "Ticks of all instances that the decider here has read.",
     "`taken`, `twice`, `late`, `refused`", NULL},
    {"evenkeel_fleet_cells_beyond_total", COUNTER, "",
     "Cells told of that were beyond fleet.places.", "", NULL},

    {"evenkeel_item_lists_total", COUNTER, "items",
     "Lists put together from messages of one item, by how many of their items came.",
     "`all`, `some`, or `unknown` where messages have no `list_items`", "Messages of one item"},
    {"evenkeel_left_out_items_total", COUNTER, "reason",
     "Items that are part of no list: of a query that had them already, or whose list was taken.",
     "`repeated`, `late`", NULL},
    {"evenkeel_forgotten_queries_total", COUNTER, "",
     "Queries forgotten before message.query_within was over.", "raise `limits.item_queries`",
     NULL},

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
