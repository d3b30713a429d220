#!/usr/bin/env python3
"""Generate docs/log-events.md from the calls of the log in daemon/ and the table of meanings below."""
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAIRS = "daemon/guard/event_line.c"

# event: meaning
MEANINGS = {
    "abort_timeout": "The abort of the open transaction was not confirmed at shutdown. Brokers abort it after `transaction.timeout.ms`",
    "alert_delivery_failed": "A sink did not accept an alert, which is sent again",
    "alert_dropped": "An alert was lost: out of memory, too many pending, or rejected by the alert topic",
    "alert_refused": "A sink rejected an alert permanently, which is not sent again",
    "alert_sent": "A sink accepted an alert",
    "alerts_undelivered": "The process stops with `pending` alerts that no sink has accepted",
    "batches_reduced": "The limit of a topic was lowered: a new producer makes smaller batches",
    "build_info": "Versions, at the start",
    "checkpoint_delivery_failed": "The state topic rejected a record of a checkpoint. The next checkpoint includes it",
    "checkpoint_failed": "A checkpoint could not be encoded",
    "checkpoint_skipped": "Partitions were lost before their checkpoint was written, so some lists may count twice",
    "checkpoint_suspended": "The state topic takes no checkpoint. Messages flow without; it is tried again with growing pauses",
    "close_timeout": "The consumer could not leave its group in time. The group notices after the session timeout",
    "commit_timeout": "The last offset commit was not confirmed at shutdown, so messages may be read again",
    "config_warning": "A warning about the configuration or its files, as `evenkeel check` prints it",
    "dead_letter_dropped": "The dead-letter topic rejected the copy of a message that was forwarded",
    "dead_letter_sent": "A message was sent to the dead-letter topic for the reason in `message`",
    "dead_letter_truncated": "A dead letter lacks the parts in `message`, which did not fit its topic",
    "dead_letters_limited": "The dead-letter topic accepts smaller messages than `limits.message_bytes`, so some will be truncated",
    "decision_recorded": "The plan or an accepted level changed ([decision](format/events.md#decision))",
    "drain_timeout": "In-flight messages were not acknowledged within `service.shutdown_timeout`. They are read again",
    "event_dropped": "An event was lost because memory ran out",
    "feature_stats_unavailable": "The feature statistics of the HTTP API were not updated because memory ran out",
    "fencing_failed": "The open transaction of an instance that has left the group could not be ended, for the reason in `message`. Brokers end it after `limits.transaction_timeout`",
    "finding": "A finding changed its state ([finding](format/events.md#finding)); `debug`: new figures of a confirmed one. `factor`, `unit` and similar keys are missing if unknown",
    "fleet_duplicate_instance": "Two processes use one `service.instance`. Reports of one are dropped",
    "fleet_join_failed": "The guard could not join the fleet and uses its own plan",
    "fleet_plan_dropped": "The leader could not encode its plan",
    "fleet_plan_recovered": "Plans are received again after `fleet_plan_stale`",
    "fleet_plan_stale": "No plan was received for `fleet.leader_timeout`. The last plan stays in force",
    "fleet_record_dropped": "A record for a fleet topic was not delivered",
    "fleet_record_rejected": "A record in a fleet topic is invalid or from an incompatible instance, and is ignored",
    "fleet_records_delivered": "Records are delivered again after `fleet_record_dropped`",
    "fleet_report_dropped": "An evidence report could not be encoded",
    "fleet_result_dropped": "The result of an operator command was lost because memory ran out",
    "fleet_rules_rejected": "The leader could not apply reloaded rules or assets",
    "fleet_suspected": "The combined evidence of the fleet raised an alarm for `feature`",
    "fleet_topic_misconfigured": "A fleet topic has an unsuitable cleanup policy or retention",
    "fleet_topic_recovered": "A fleet topic is readable again",
    "fleet_topic_unreadable": "A fleet topic cannot be read",
    "guard_event": "An event that was pending in a restored checkpoint, as JSON",
    "handover_failed": "A checkpoint was not written before its partition was revoked. The next owner reads messages since the previous one again",
    "headers_omitted": "A message was forwarded without its headers, which cannot be read",
    "http_listening": "The HTTP server accepts connections at this address",
    "input_condition_ended": "A condition of the input is over",
    "input_condition_started": "A [condition of the input](monitor.md#conditions-of-the-input) holds, for the reason in `message`",
    "input_paused": "Too many messages are in flight, so reading stopped",
    "input_resumed": "Reading continues after `input_paused`",
    "kafka_error": "An error of a Kafka client, classified in `message` ([errors](kafka-access.md#if-a-broker-rejects-the-client))",
    "kafka_log": "A log line of librdkafka",
    "leader_elected": "This instance became the leader of the fleet",
    "leader_resigned": "This instance is no longer the leader of the fleet",
    "librdkafka_outdated": "The configured assignor is unsafe with this version of librdkafka",
    "limit_exceeded": "A limit was reached ([limit](format/events.md#limit))",
    "log_lines_dropped": "The reader of the log is too slow: `count` lines were dropped",
    "messages_lost": "The topic deleted messages before they were read",
    "model_agreement_changed": "Model and upstream ranker no longer agree (`state=drifted`), or agree again (`state=recovered`)",
    "model_profile_mismatched": "Model and profile are of different data",
    "model_routing_mismatched": "The rules route features that were not routed in training",
    "offsets_rewound": "A partition is read again from `offset`, after an aborted transaction",
    "otlp_export_failed": "The metrics could not be exported to `otlp.endpoint`. Exports continue; a further failure is not logged",
    "otlp_export_recovered": "Metrics are exported again after `otlp_export_failed`",
    "partitions_assigned": "A partition was assigned to this instance",
    "partitions_lost": "Partitions were lost without a revocation, so their offsets are not committed",
    "partitions_revoked": "A partition was revoked from this instance",
    "pause_save_failed": "A pause could not be stored in the state and ends with the process",
    "plan_topic_recovered": "`plan.topic` takes records again after `plan_topic_unavailable`",
    "plan_topic_unavailable": "`plan.topic` is missing or refuses records; it is tried again every 5 s, and lists flow on",
    "plan_changed": "A new plan is in force ([plan](format/events.md#plan))",
    "owner_awaited": "Committed offsets wait for a transaction of the instance in `message`, which is a member of the group",
    "owner_fenced": "The instance in `message` has left the group, and its transactional id was taken, which ends an open transaction",
    "position_pending": "The position of a partition waits for brokers",
    "reload_completed": "A reload was applied. `carried_over` is `all`, or `counters_only` if evidence, findings and routes restart",
    "reload_refused": "An error of a rejected reload. Nothing changed",
    "reload_warning": "A changed key that requires a restart, or rules that act less than before",
    "replay_started": "Messages from `from` on are read again to restore the state without output",
    "request_unauthorized": "Requests without a valid token: `count` since the last such line, at most one line in 10 seconds",
    "restore_completed": "The state of the assigned partitions is restored",
    "restore_pending": "The state topic cannot be read yet. No message is processed until it can",
    "route_rolled_back": "A guardrail rolled back a route. `observed` exceeds `limit`",
    "score_failed": "A list could not be scored and was forwarded unchanged",
    "scores_missing": "Lists have no score at `message.score`, so they cannot be re-scored",
    "service_started": "The process reads its input",
    "service_stopped": "The process ends. The level is `error` after a fatal error",
    "service_stopping": "Shutdown started",
    "state_disabled": "`state.topic` is not set, so a restart discards findings and routes",
    "state_lost": "A checkpoint could not be restored for the reason in `message`",
    "state_profile_mismatched": "The checkpoint is of another profile: counters are restored, evidence, findings and plan are not",
    "state_restored": "A checkpoint was restored",
    "subscribe_failed": "The subscription to the input topics failed and is tried again",
    "topic_found": "A missing input topic exists now",
    "topic_limits_unknown": "The size limit of a topic cannot be read. The default of brokers is assumed",
    "topic_missing": "A topic does not exist",
    "topic_recreated": "The input topic was deleted and created again. Reading begins at its start",
    "transaction_aborted": "A transaction was aborted and its messages are processed again with a new producer",
    "transaction_lost": "Brokers ended the transaction, or another producer took its id: its messages are processed again with a new producer",
    "transactional_id_set": "The transactional id of this instance",
    "undecodable_forwarded": "A message could not be read, for the reason in `message`, and was forwarded unchanged",
    "undecodable_skipped": "A message could not be read, for the reason in `message`, and there is no output topic to forward it to",
}

HEAD = """# Log events

This reference is generated from the calls of the log with `make reference`; do not edit it.

The log is written to stderr in logfmt, one event per line:

```text
time=2026-11-22T14:02:05.250Z level=info event=finding state=confirmed feature=price segment=arm=B class=scale factor=100.3 unit=cents ...
```

- `log.level` sets the lowest level that is written.
- `log.format: json` writes each line as a JSON object with the same keys.
- Values with other characters than letters, digits and `_-.:/=@+` are quoted as JSON strings.
- An event is written at most ten times in a second, and once in ten seconds while it goes on.
  A line with `suppressed` then counts the omitted lines: `event=dead_letter_sent suppressed=6990`.
  Lines of [events](format/events.md) (`finding`, `plan_changed`, `decision_recorded`, `limit_exceeded`, `route_rolled_back`, `model_agreement_changed`) are never suppressed.
- Names are `<object>_<participle>`, and stay stable between versions.

| event | level | keys | meaning |
|---|---|---|---|
"""

CALL = re.compile(r"\b(ek_log_write|ek_log_text|ek_log_pairs|ek_inflight_log|log_errors|emit_count)\s*\(")
LITERAL = re.compile(r'"((?:\\.|[^"\\])*)"')
LEVEL = re.compile(r"EK_LOG_(DEBUG|INFO|WARN|ERROR)")
KEY = re.compile(r"(?:^| )(\w+)=")
LEVELS = ("DEBUG", "INFO", "WARN", "ERROR")
COMMENT = re.compile(r"/\*.*?\*/", re.S)


class Event:
    def __init__(self):
        self.levels, self.keys, self.places = set(), [], []

    def add(self, levels, keys, place):
        self.levels |= set(levels)
        self.keys += [key for key in keys if key not in self.keys]
        self.places.append(place)


def arguments(text, start):
    """Return the arguments of the call whose first argument starts at `start`."""
    found, depth, begin, at = [], 0, start, start
    while at < len(text):
        if text[at] == '"':
            at = LITERAL.match(text, at).end()
            continue
        if text[at] in "({[":
            depth += 1
        elif text[at] in ")}]":
            if not depth:
                return found + [text[begin:at].strip()]
            depth -= 1
        elif text[at] == "," and not depth:
            found.append(text[begin:at].strip())
            begin = at + 1
        at += 1
    return found


def strings(text):
    return "".join(LITERAL.findall(text)).replace('\\"', '"')


def array(text, name):
    """Return the initializer of a static array of the file, or ''."""
    match = re.search(rf"\b{name}\[\w*\] = \{{(.*?)\}}", text, re.S)
    return match.group(1) if match else ""


def keys_of(function, args):
    if function == "ek_log_write":
        return KEY.findall(strings(args[3]))
    if function == "ek_inflight_log":
        return ["topic", "partition", "offset"] + ([] if args[4] == "NULL" else ["class"]) + ["message"]
    return [args[3].strip('"')] if function == "emit_count" else ["message"]


def pair_keys(text):
    """Return {event: keys} of the lines that add_pairs() of event_line.c writes."""
    def keys(body):
        found = []
        for match in re.finditer(r'\badd_(\w+)\(out(?:, "(\w+)")?|printf\(out, " (\w+)=|buf_text\(out, " (\w+)=', body):
            inner, key = match.group(1), match.group(2) or match.group(3) or match.group(4)
            found += [key] if key else keys(functions[inner]) if inner in functions else []
        return found
    functions = dict(re.findall(r"^static void add_(\w+)\([^)]*\)\n\{(.*?)^\}", text, re.M | re.S))
    cases = dict(re.findall(r"case EK_EVENT_(\w+):\n(.*?)return;", functions["pairs"], re.S))
    agreement = ["tau", "ndcg@10", "top1"]
    drift = keys(cases["MODEL_DRIFT"])
    drift[drift.index("lists") + 1:drift.index("lists") + 1] = agreement
    return {"finding": keys(cases["FINDING"]), "plan_changed": keys(cases["PLAN"]), "decision_recorded": keys(cases["DECISION"]),
            "route_rolled_back": keys(cases["DECISION"]), "limit_exceeded": keys(cases["LIMIT"]), "model_agreement_changed": drift,
            "guard_event": keys(cases["TEXT"])}


def find_events(read, names):
    """Return ({event: Event}, errors) of the C sources `names`."""
    events, errors = {}, []
    for name in names:
        text = COMMENT.sub(lambda m: re.sub(r"[^\n]", " ", m.group(0)), read(name))
        pairs = pair_keys(text) if name == PAIRS else {}
        for match in CALL.finditer(text):
            args = arguments(text, match.end())
            line = text.count("\n", 0, match.start()) + 1
            place = f"{name}:{line}"
            if len(args) < 3 or re.match(r"(struct|const|enum) ", args[0]) or args[2] in ("event", "r->event"):
                continue  # a definition, or a function that passes the event on
            literals = LITERAL.findall(args[2]) or LITERAL.findall(array(text, args[2].split("[")[0]))
            levels = LEVEL.findall(args[1]) or LEVEL.findall(array(text, args[1].split("[")[0]))
            if not literals or not levels:
                errors.append(f"{place}: event and level of the log must be literals")
            for i, event in enumerate(literals):
                keys = pairs.get(event) or keys_of(match.group(1), args)
                events.setdefault(event, Event()).add(levels[i:i + 1] if len(levels) == len(literals) else levels, keys, place)
    return events, errors


def page(events):
    rows = []
    for name in sorted(events):
        one = events[name]
        levels = ", ".join(f"`{level.lower()}`" for level in LEVELS if level in one.levels)
        keys = ", ".join(f"`{key}`" for key in one.keys)
        rows.append(f"| `{name}` | {levels} | {keys} | {MEANINGS.get(name, '')} |\n")
    return HEAD + "".join(rows)


def sources(root):
    found = []
    for base, _, files in os.walk(os.path.join(root, "daemon")):
        found += [os.path.relpath(os.path.join(base, f), root) for f in files if f.endswith(".c")]
    return sorted(found)


def main():
    def read(name):
        with open(os.path.join(ROOT, name), encoding="utf-8") as f:
            return f.read()
    events, errors = find_events(read, sources(ROOT))
    errors += [f"{name}: no meaning in deploy/log_events.py" for name in sorted(set(events) - set(MEANINGS))]
    errors += [f"{name}: not in the code" for name in sorted(set(MEANINGS) - set(events))]
    for error in errors:
        print(error, file=sys.stderr)
    sys.stdout.write(page(events))
    return 1 if errors else 0


if __name__ == "__main__":
    sys.exit(main())
