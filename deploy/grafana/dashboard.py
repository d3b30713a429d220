#!/usr/bin/env python3
"""Writes a Grafana dashboard of deploy/grafana from the lists of panels below: `evenkeel` shows whether it is well,
`evenkeel-internals` why.

  dashboard.py evenkeel > evenkeel.json
"""
import json
import sys

CHOSEN = 'job=~"$job", instance=~"$instance"'
SOURCE = {"type": "prometheus", "uid": "${datasource}"}
WIDE, HIGH, STAT = 24, 8, 4  # the grid of Grafana, the height of a panel, of a number
GOOD, BAD = "green", "red"


def of(name, more=""):
    return f"{name}{{{CHOSEN}{', ' + more if more else ''}}}"


def rate(name, by="instance", more=""):
    return f"sum by ({by}) (rate({of(name, more)}[$__rate_interval]))"


def total(name, by="instance", more=""):
    return f"sum by ({by}) ({of(name, more)})"


def quantile(q, name):
    return f"histogram_quantile({q}, sum by (le) (rate({of(name + '_bucket')}[$__rate_interval])))"


def feature(name):
    return of(name, 'feature=~"$feature", segment=~"$segment"')


FEATURE = "{{feature}} {{segment}}"

# (title, unit, what it shows, [(expression, legend)]), and for a number its colors: [(from, color)].
NOW = [
    # Without scrapes (OTLP) there is no `up`.
    ("Ready", "percentunit", "Instances that have partitions, of all.",
     [(f"(sum({of('evenkeel_ready')}) or vector(0)) / (count({of('up')}) or count({of('evenkeel_ready')}))", "")],
     [(None, BAD), (1, GOOD)]),
    ("Paused", "none", "Instances that forward every list unchanged.", [(f"sum({of('evenkeel_paused')})", "")], [(None, GOOD), (1, BAD)]),
    ("Confirmed findings", "none", "Of the instance that has the most: in a fleet all show the same.",
     [(f"max({total('evenkeel_open_findings', more='state=%sconfirmed%s' % (chr(34), chr(34)))})", "")], [(None, GOOD), (1, BAD)]),
    ("Active routes", "none", "Entries of the plan in mode canary or enforce.",
     [(f"max({total('evenkeel_plan_entries', more='mode=~%scanary|enforce%s' % (chr(34), chr(34)))})", "")], [(None, GOOD)]),
]
WELL = [
    ("Lists", "cps", "Observed lists per second.", [(rate("evenkeel_observed_lists_total"), "{{instance}}")]),
    ("Level of suspected and confirmed features", "none", "Geometric mean relative to training.",
     [(f"{feature('evenkeel_feature_scale_ratio')} and {feature('evenkeel_feature_state')} > 0", FEATURE)]),
    ("Conditions of the input", "none", "Instances with this condition: undecodable, silent, stalled, ...",
     [(f"{total('evenkeel_input_condition', 'condition')} > 0", "{{condition}}")]),
    ("Lag", "none", "Messages between commit position and end.", [(total("evenkeel_consumer_lag"), "{{instance}}")]),
]
# (row, [panel]); three panels are next to each other.
ROWS = [
    ("Traffic", [
        ("Messages taken", "mps", "", [(rate("evenkeel_messages_consumed_total"), "{{instance}}")]),
        ("Outcomes", "mps", "", [(rate("evenkeel_messages_total", "result"), "{{result}}")]),
        ("Bytes", "Bps", "", [(rate("evenkeel_consumed_bytes_total"), "in, {{instance}}"),
                              (rate("evenkeel_produced_bytes_total"), "out, {{instance}}")]),
        ("Lag of partitions", "none", "", [(of("evenkeel_consumer_lag"), "{{topic}} {{partition}}")]),
        ("In flight", "none", "", [(of("evenkeel_in_flight_messages"), "in flight, {{instance}}"),
                                   (of("evenkeel_queued_messages"), "waiting for a worker, {{instance}}")]),
        ("Errors", "mps", "Dead letters, lists that could not be scored, errors of the Kafka clients.",
         [(rate("evenkeel_dead_letters_total", "reason"), "dead, {{reason}}"),
          (rate("evenkeel_score_failures_total"), "not scored, {{instance}}"),
          (rate("evenkeel_kafka_errors_total", "class"), "kafka, {{class}}")]),
    ]),
    ("Latency", [
        ("End-to-end latency", "s", "From the consumer to the acknowledgement of the output.",
         [(quantile(q, "evenkeel_end_to_end_duration_seconds"), f"p{round(100 * q)}") for q in (0.5, 0.95, 0.99)]),
        ("Processing time", "s", "Decode, guard, score, hand over to the producer.",
         [(quantile(q, "evenkeel_processing_duration_seconds"), f"p{round(100 * q)}") for q in (0.5, 0.95, 0.99)]),
        ("Workers busy", "percentunit", "Share of the time of the workers.",
         [(f"{rate('evenkeel_processing_duration_seconds_sum')} / {total('evenkeel_workers')}", "{{instance}}")]),
    ]),
    ("Findings and routes", [
        ("Oldest finding", "s", "Since it was confirmed.", [(f"max({of('evenkeel_oldest_confirmed_finding_age_seconds')})", "")]),
        ("Open findings", "none", "", [(f"max by (class, state) ({of('evenkeel_open_findings')})",
                                        "{{state}} {{class}}")]),
        ("Routes", "none", "Since the process began.",
         [(total("evenkeel_routes_detected_total"), "detected, {{instance}}"),
          (total("evenkeel_routes_enforced_total"), "enforced, {{instance}}"),
          (total("evenkeel_routes_rolled_back_total", "instance, reason"), "rolled back, {{reason}}, {{instance}}")]),
        ("Plan", "none", "Its entries by mode, and its version; in a fleet all are to have the same.",
         [(f"max by (mode) ({of('evenkeel_plan_entries')})", "{{mode}}"),
          (of("evenkeel_plan_version"), "version, {{instance}}")]),
        ("State of features", "none", "1 suspected, 2 confirmed.", [(feature("evenkeel_feature_state"), FEATURE)]),
        ("Scale", "none", "Geometric mean over that of training.", [(feature("evenkeel_feature_scale_ratio"), FEATURE)]),
        ("Stability index over chance", "none", "",
         [(f"{feature('evenkeel_feature_psi')} / {feature('evenkeel_feature_psi_expected')}", FEATURE)]),
        ("Missing", "percentunit", "", [(feature("evenkeel_feature_missing_ratio"), FEATURE)]),
        ("Limits exceeded", "none", "", [(rate("evenkeel_limit_exceeded_total", "limit"), "{{limit}}")]),
        ("Events", "none", "Findings, plans, decisions a second.", [(rate("evenkeel_events_total"), "{{instance}}")]),
    ]),
    ("Ranks moved", [
        ("How far lists move", "percentunit", "0 the same, 1 the most.",
         [(feature("evenkeel_rank_footrule"), FEATURE + " {{quantile}}")]),
        ("Kendall's tau", "none", "Of upstream and what the plan wants.", [(feature("evenkeel_rank_kendall_tau"), FEATURE)]),
        ("Shadow-scored lists", "mps", "", [(rate("evenkeel_shadow_scored_lists_total"), "tried, {{instance}}"),
                                               (rate("evenkeel_shadow_scoring_skipped_lists_total"), "passed over, {{instance}}")]),
        ("First ten in common", "percentunit", "", [(feature("evenkeel_rank_top10_overlap"), FEATURE)]),
        ("Positions an item moves", "none", "", [(feature("evenkeel_rank_displacement_mean"), FEATURE)]),
        ("Model and upstream", "none", "And what still passes for the same.",
         [(of("evenkeel_model_agreement"), "{{statistic}}, {{instance}}"),
          (of("evenkeel_model_agreement_threshold"), "least {{statistic}}, {{instance}}")]),
    ]),
    ("State", [
        ("Checkpoint age", "s", "", [(of("evenkeel_checkpoint_age_seconds"), "{{instance}}")]),
        ("Checkpoints", "Bps", "Before compression.", [(rate("evenkeel_checkpoint_bytes_total"), "{{instance}}")]),
        ("Checkpoint duration", "s", "", [(of("evenkeel_checkpoint_duration_seconds"), "lists waited, {{instance}}"),
                                  (of("evenkeel_restore_duration_seconds"), "restored, {{instance}}"),
                                  (of("evenkeel_restore_pending_seconds"), "waiting for brokers, {{instance}}")]),
        ("State lost", "none", "", [(total("evenkeel_state_loss_total", "reason"), "{{reason}}")]),
        ("Reprocessed", "mps", "", [(rate("evenkeel_reprocessed_messages_total", "effect"), "{{effect}}, {{instance}}")]),
        ("Commits", "none", "A second.", [(rate("evenkeel_commits_total"), "commits, {{instance}}"),
                                          (rate("evenkeel_transactions_total", "result"), "transactions {{result}}"),
                                          (rate("evenkeel_rebalances_total"), "rebalances, {{instance}}")]),
    ]),
    ("Fleet", [
        ("Age of the plan", "s", "", [(of("evenkeel_fleet_plan_age_seconds"), "{{instance}}")]),
        ("Leader", "none", "The sum is to be 1.", [(of("evenkeel_fleet_is_leader"), "{{instance}}"),
                                                        (of("evenkeel_fleet_plan_stale"), "stale plan, {{instance}}")]),
        ("Instances", "none", "", [(f"max({of('evenkeel_fleet_instances')})", "")]),
        ("Records written", "none", "A second.", [(rate("evenkeel_fleet_records_total", "topic, result"),
                                                   "{{topic}} {{result}}")]),
        ("Reports received", "none", "A second.", [(rate("evenkeel_fleet_reports_received_total", "result"), "{{result}}")]),
        ("Plans", "none", "Late ones, and entries that found nothing here.",
         [(of("evenkeel_fleet_plans_late_total"), "late, {{instance}}"),
          (of("evenkeel_fleet_plan_unresolved_entries_total"), "unresolved entries, {{instance}}")]),
    ]),
    ("Instances", [
        ("CPU", "percentunit", "Of one core.", [(rate("process_cpu_seconds_total"), "{{instance}}")]),
        ("Memory", "bytes", "", [(of("process_resident_memory_bytes"), "{{instance}}")]),
        ("Open files", "none", "", [(of("process_open_fds"), "{{instance}}")]),
        ("HTTP requests", "reqps", "", [(rate("evenkeel_http_requests_total", "code"), "{{code}}")]),
        ("Reloads", "none", "1: what is on the disk was taken.", [(of("evenkeel_last_reload_successful"), "{{instance}}")]),
        ("Alerts sent over HTTP", "none", "A second.", [(rate("evenkeel_alerts_sent_total", "sink, result"),
                                                         "{{sink}} {{result}}")]),
        ("Alerts pending", "none", "To be told, each sink counted.",
         [(of("evenkeel_alerts_pending"), "{{instance}}")]),
        ("Running for", "s", "", [(f"time() - {of('process_start_time_seconds')}", "{{instance}}")]),
    ]),
]


def variable(name, query, many=True):
    return {"name": name, "type": "query", "datasource": SOURCE, "definition": query,
            "query": {"query": query, "refId": name}, "refresh": 2, "sort": 1, "multi": many, "includeAll": many,
            "current": {"selected": True, "text": ["All"], "value": ["$__all"]}}


def variables():
    """A service narrows the instances."""
    return [
        {"name": "datasource", "type": "datasource", "query": "prometheus", "label": "source"},
        variable("job", "label_values(evenkeel_build_info, job)"),
        variable("service", 'label_values(evenkeel_service_info{job=~"$job"}, service)'),
        variable("instance", 'label_values(evenkeel_service_info{job=~"$job", service=~"$service"}, instance)'),
        variable("feature", f"label_values({of('evenkeel_feature_state')}, feature)"),
        variable("segment", f"label_values({of('evenkeel_feature_state')}, segment)"),
    ]


OPTIONS = {
    "stat": {"reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False}, "colorMode": "value",
             "graphMode": "area", "justifyMode": "auto", "orientation": "auto", "textMode": "auto",
             "wideLayout": True, "showPercentChange": False, "percentChangeColorMode": "standard"},
    "timeseries": {"legend": {"displayMode": "list", "placement": "bottom", "showLegend": True, "calcs": []},
                   "tooltip": {"mode": "multi", "sort": "desc"}},
}


def colors(steps):
    return {"color": {"mode": "thresholds"},
            "thresholds": {"mode": "absolute", "steps": [{"value": value, "color": color} for value, color in steps]}}


def panel(kind, place, title, unit, text, targets, steps=None):
    x, y, width, height = place
    return {"type": kind, "title": title, "description": text, "datasource": SOURCE,
            "gridPos": {"x": x, "y": y, "w": width, "h": height},
            "fieldConfig": {"defaults": {"unit": unit, **(colors(steps) if steps else {})}, "overrides": []},
            "options": OPTIONS[kind],
            "targets": [{"refId": chr(ord("A") + i), "datasource": SOURCE, "expr": expression, "legendFormat": legend}
                        for i, (expression, legend) in enumerate(targets)]}


def well():
    """Eight panels on one screen."""
    made = [panel("stat", (i * WIDE // 4, 0, WIDE // 4, STAT), *one) for i, one in enumerate(NOW)]
    return made + [panel("timeseries", (i % 2 * WIDE // 2, STAT + i // 2 * HIGH, WIDE // 2, HIGH), *one) for i, one in enumerate(WELL)]


def internals():
    made, y = [], 0
    for title, row in ROWS:
        made.append({"type": "row", "title": title, "collapsed": False, "panels": [],
                     "gridPos": {"x": 0, "y": y, "w": WIDE, "h": 1}})
        for i, one in enumerate(row):
            made.append(panel("timeseries", (i % 3 * WIDE // 3, y + 1 + i // 3 * HIGH, WIDE // 3, HIGH), *one))
        y += 1 + (len(row) + 2) // 3 * HIGH
    return made


BOARDS = {"evenkeel": ("evenkeel", well), "evenkeel-internals": ("evenkeel internals", internals)}


def link():
    """To the other dashboard, with the same time and variables."""
    return {"type": "dashboards", "title": "evenkeel", "tags": ["evenkeel"], "asDropdown": False, "icon": "external link",
            "includeVars": True, "keepTime": True, "targetBlank": False, "tooltip": "", "url": ""}


def dashboard(uid):
    title, panels = BOARDS[uid]
    return {"title": title, "uid": uid, "tags": ["evenkeel"], "schemaVersion": 39, "version": 1,
            "editable": True, "graphTooltip": 1, "refresh": "30s", "time": {"from": "now-3h", "to": "now"},
            "timezone": "", "annotations": {"list": []}, "links": [link()], "templating": {"list": variables()},
            "panels": [{"id": i + 1, **one} for i, one in enumerate(panels())]}


if __name__ == "__main__":
    json.dump(dashboard(sys.argv[1]), sys.stdout, indent=1)
    print()
