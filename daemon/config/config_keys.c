#include "daemon/config/config_keys.h"

#include "daemon/config/config_internal.h"

#define IN_CONFIG(member) EK_KEY_AT(EK_IN_CONFIG, struct ek_config, member)
#define IN_SINK(member)   EK_KEY_AT(EK_IN_SINK, struct ek_alert_sink, member)
#define KIB(n)            ((int64_t)(n) << 10)
#define MIB(n)            ((int64_t)(n) << 20)
#define SECONDS(n)        ((int64_t)(n)*1000)
#define FIELD(name, member, field, what)                                                           \
    {                                                                                              \
        .path = "message." name, .type = EK_KEY_TEXT, IN_CONFIG(member), .built_in = field,        \
        .help = what                                                                               \
    }
#define PATHS(name, member, what)                                                                  \
    {                                                                                              \
        .path = "message." name, .type = EK_KEY_PATHS, IN_CONFIG(member), .built_in = name,        \
        .read = ek_config_read_paths, .help = what                                                 \
    }
#define LATER(name, what)                                                                          \
    {                                                                                              \
        .path = name, .type = EK_KEY_UNAVAILABLE, .help = what                                     \
    }

/* Rows by type; bits: of enum ek_key_flag, 0: none. Rows with other members are written out. */
#define MAP(key, text)                                                                             \
    {                                                                                              \
        .path = key, .type = EK_KEY_MAP, .help = text                                              \
    }
#define TEXT(key, at, value, bits, text)                                                           \
    {                                                                                              \
        .path = key, .type = EK_KEY_TEXT, at, .built_in = value, .flags = bits, .help = text       \
    }
#define PATH(key, at, bits, text)                                                                  \
    {                                                                                              \
        .path = key, .type = EK_KEY_PATH, at, .flags = bits, .help = text                          \
    }
#define CHOICE(key, at, value, words, text)                                                        \
    {                                                                                              \
        .path = key, .type = EK_KEY_CHOICE, at, .built_in = value, .choices = words, .help = text  \
    }
#define NUMBER(key, kind, at, value, least, most, text)                                            \
    {                                                                                              \
        .path = key, .type = EK_KEY_##kind, at, .built_in = value, .low = least, .high = most,     \
        .help = text                                                                               \
    }

static const struct ek_key_row KEYS[] = {
    MAP("service", "name and settings of this instance"),
    TEXT(
        "service.name", IN_CONFIG(service_name), "evenkeel", 0,
        "name of the service in status, logs, alerts and Kafka client ids; with `exactly_once` the "
        "client id of the consumer is its transactional id"),
    TEXT("service.runbook", IN_CONFIG(runbook), NULL, 0,
         "address of docs/runbooks.md where you publish it, which alerts link to"),
    CHOICE("service.core_dumps", IN_CONFIG(core_dumps), "auto", "auto on",
           "`auto` disables core dumps of a process with a secret: a secret librdkafka property, "
           "`http.token_file` or `alerts`"),
    TEXT("service.instance", IN_CONFIG(instance), NULL, 0,
         "unique name of the instance in its group, at most 199 bytes, such as the pod name. "
         "With `exactly_once`, a restart under the same name continues at once; without a name "
         "it waits until the session of the former instance has ended"),
    NUMBER("service.shutdown_timeout", DURATION, IN_CONFIG(shutdown_timeout_ms), "4s", 100,
           SECONDS(3600), "longest time to drain, on shutdown and before partitions are revoked"),

    MAP("input", "topics to read"),
    TEXT("input.brokers", IN_CONFIG(brokers), NULL, EK_KEY_REQUIRED,
         "bootstrap servers, `host:port` separated by commas"),
    {.path = "input.topics",
     .type = EK_KEY_TEXTS,
     IN_CONFIG(topics),
     .flags = EK_KEY_REQUIRED | EK_KEY_OR_ONE,
     .help = "topics to read; all contain scored lists of the same manifest"},
    TEXT("input.group", IN_CONFIG(group), NULL, EK_KEY_REQUIRED,
         "consumer group, at most 255 bytes; a restart continues at its committed offsets"),
    CHOICE("input.offset_reset", IN_CONFIG(offset_reset), "earliest", "earliest latest",
           "start of reading if the group has no committed offset"),
    CHOICE("input.delivery", IN_CONFIG(delivery), "at_least_once", "at_least_once exactly_once",
           "guarantee after a crash: `at_least_once` repeats messages and loses none, "
           "`exactly_once` does neither for consumers with `read_committed`"),
    {.path = "input.commit_interval",
     .type = EK_KEY_DURATION,
     IN_CONFIG(commit_interval_ms),
     .built_in = "auto",
     .low = 10,
     .high = SECONDS(3600),
     .word = "auto",
     .help = "time between commits of acknowledged offsets, or between ends of transactions; auto: "
             "1s, with `exactly_once` 20ms to 100ms by the speed of the brokers"},
    {.path = "input.silence_timeout",
     .type = EK_KEY_DURATION,
     IN_CONFIG(silence_ms),
     .built_in = "auto",
     .low = SECONDS(1),
     .high = SECONDS(31 * 86400),
     .word = "auto",
     .help = "time without a message after which the input is silent; auto: 30 times the usual gap "
             "between messages, at least 60s, and 1h before 100 messages since the start"},
    {.path = "input.librdkafka",
     .type = EK_KEY_PROPERTIES,
     IN_CONFIG(librdkafka),
     .read = ek_config_read_properties,
     .help = "librdkafka properties of consumer and producer"},

    MAP("message", "format of messages, and the paths of their fields"),
    CHOICE("message.encoding", IN_CONFIG(encoding), "auto", "auto msgpack json avro protobuf",
           "encoding of messages; `auto`: MessagePack or JSON, detected in each "
           "message; `avro` and `protobuf` need `message.schema` or `message.registry.url`"),
    PATH(
        "message.schema", IN_CONFIG(schema), 0,
        "schema of all messages: Avro (.avsc), or Protobuf descriptors, as `protoc "
        "--include_imports --descriptor_set_out` writes; the ids of `message.framing` are skipped"),
    TEXT(
        "message.type", IN_CONFIG(message_type), NULL, 0,
        "Protobuf message of `message.schema`, such as `shop.List`; default: the first of its last "
        "file"),
    CHOICE("message.framing", IN_CONFIG(framing), "confluent", "confluent none",
           "start of a message with a schema: `confluent`, a zero byte, the id of the schema in 4 "
           "bytes, and with Protobuf the indexes of its type; `none`"),
    MAP("message.registry",
        "schema registry (REST interface of Confluent's) of Avro or Protobuf messages"),
    TEXT("message.registry.url", IN_CONFIG(registry_url), NULL, EK_KEY_URL,
         "address, such as `http://localhost:8081`; each message names its schema by an id"),
    TEXT("message.registry.user", IN_CONFIG(registry_user), NULL, 0,
         "user of basic authentication"),
    TEXT("message.registry.password", IN_CONFIG(registry_password), NULL, EK_KEY_SECRET,
         "password of basic authentication"),
    TEXT("message.registry.token", IN_CONFIG(registry_token), NULL, EK_KEY_SECRET, "bearer token"),
    PATH("message.registry.ca_file", IN_CONFIG(registry_ca_file), 0,
         "CA certificates (PEM) to verify the server, in place of the system's"),
    NUMBER("message.registry.timeout", DURATION, IN_CONFIG(registry_timeout_ms), "3s", 10,
           SECONDS(60),
           "longest time that a message waits for its schema; after that it cannot be read"),
    NUMBER("message.registry.cache", INT, IN_CONFIG(registry_cache), "100", 1, 10000,
           "maximum number of schemas, together at most 64 MiB; messages of further ones cannot be "
           "read"),
    CHOICE("message.layout", IN_CONFIG(layout), "list", "list item columns",
           "contents of a message: `list`, a list; `item`, one item of a list, with the list id "
           "as key; `columns`, a list with an array for each field of its items"),
    {.path = "message.numeric_strings",
     .type = EK_KEY_BOOL,
     IN_CONFIG(numeric_strings),
     .built_in = "false",
     .help = "whether features, scores, labels and times may be numbers as strings"},
    FIELD("query", query, "query", "path of the list id"),
    FIELD("time_ms", time_ms, "time_ms",
          "path of the list's time: milliseconds or seconds since 1970, or ISO 8601"),
    PATHS("segments", segments,
          "path of the mapping from segment dimensions to values, or the path of each dimension"),
    PATHS("query_features", query_features,
          "path of the query features, or the path of each feature"),
    FIELD("manifest", manifest_hash, "manifest",
          "path of the manifest hash, if messages contain it"),
    FIELD("items", items, "items", "path of the array of items, with layout `list`"),
    FIELD("item", item, "item", "path of the item, with layout `item`"),
    FIELD("list_items", list_items, "list_items",
          "path of the number of items in the complete list, for partial lists or items"),
    FIELD("log_means", log_means, "log_means",
          "path of the complete list's mean logarithms of the routable features"),
    FIELD("item_id", item_id, "id",
          "path of the item id, within the item; with layout `columns`, the path of an array, by "
          "default `ids`; likewise `scores`, `labels`, `sources`"),
    FIELD("score", score, "score", "path of the upstream score, within the item"),
    PATHS("features", features,
          "path of the features, within the item, or the path of each feature; `*`: each is a "
          "field of the item"),
    FIELD("label", label, "label", "path of the label, within the item"),
    FIELD("source", source, "source",
          "path of the item's source in mixed lists (an arm, a supplier), within the item"),

    MAP("assembly", "assembly of items into lists, with layout `item`"),
    NUMBER("assembly.timeout", DURATION, IN_CONFIG(assembly_timeout_ms), "10s", 100, SECONDS(86400),
           "with layout `item`: event time from the first item of a list in which its items get "
           "the same plan and form one list"),
    NUMBER("assembly.max_lists", INT, IN_CONFIG(assembly_max_lists), "65536", 2, 1 << 20,
           "with layout `item`: maximum number of tracked lists, 52 bytes each; above it, the "
           "oldest is evicted before `assembly.timeout`"),
    NUMBER("assembly.max_bytes", SIZE, IN_CONFIG(assembly_max_bytes), "64MiB", MIB(1), MIB(65536),
           "with layout `item`: memory for incomplete lists; above it, the oldest is processed "
           "without its missing items"),

    MAP("output", "topics to write"),
    TEXT("output.topic", IN_CONFIG(output_topic), NULL, 0,
         "topic of the lists, byte for byte, with new scores or with repaired features; without "
         "it, lists are only observed"),
    TEXT("output.dead_letter_topic", IN_CONFIG(dead_letter_topic), NULL, 0,
         "topic for messages that cannot be read, and for outputs that the output topic "
         "rejects, unchanged, with the reason in headers; required with undecodable: "
         "dead_letter"),
    CHOICE("output.undecodable", IN_CONFIG(undecodable), "forward", "forward dead_letter",
           "what becomes of a message that cannot be read: forward sends it on unchanged and "
           "copies it to the dead-letter topic, if there is one; dead_letter sends it there "
           "only"),
    CHOICE("output.writes", IN_CONFIG(output_writes), "scores", "scores features",
           "values that mitigation replaces: scores come from `assets.model`; features are "
           "repaired in place for the user's own ranker, which reads the output topic "
           "(repair.md)"),
    CHOICE("output.wide_columns", IN_CONFIG(wide_columns), "none", "none append",
           "with `writes: features`: append the z, zero and sign columns of the routable features "
           "to the features of each item, for rankers trained with them (repair.md)"),
    {.path = "output.librdkafka",
     .type = EK_KEY_PROPERTIES,
     IN_CONFIG(output_librdkafka),
     .read = ek_config_read_properties,
     .help = "librdkafka properties of the producer only; they override `input.librdkafka`"},

    MAP("plan", "the plan as records, for programs that repair values themselves"),
    TEXT("plan.topic", IN_CONFIG(plan_topic), NULL, 0,
         "compacted topic of this group with a JSON record for each entry of the plan "
         "(dev/formats/plan.md), written by the leader of a fleet or by the only instance"),

    MAP("assets", "trained files and rules"),
    PATH("assets.manifest", IN_CONFIG(manifest), EK_KEY_REQUIRED | EK_KEY_RELOADABLE,
         "feature manifest; a reload rejects another one"),
    PATH("assets.profile", IN_CONFIG(profile), EK_KEY_REQUIRED | EK_KEY_RELOADABLE,
         "training statistics, written by `evenkeel profile`"),
    PATH("assets.model", IN_CONFIG(model), EK_KEY_RELOADABLE,
         "model that scores lists: a network of `evenkeel train`, or the user's own ranker as "
         "LightGBM text, XGBoost JSON or ONNX (repair.md); needed to change scores"),
    PATH("assets.rules", IN_CONFIG(rules), EK_KEY_RELOADABLE, "rules; the defaults only observe"),

    MAP("state", "checkpoints, which a restart restores"),
    TEXT("state.topic", IN_CONFIG(state_topic), NULL, 0,
         "compacted topic of checkpoints, with at least as many partitions as the largest "
         "input topic. A restart or another instance restores them; without the topic, each "
         "start is empty"),
    NUMBER(
        "state.checkpoint_interval", DURATION, IN_CONFIG(checkpoint_interval_ms), "10s", SECONDS(1),
        SECONDS(3600),
        "time between checkpoints. A checkpoint is also written after a finding or the plan "
        "changes and before partitions are revoked. Later messages are read again after a crash"),
    MAP("fleet", "coordination of the instances of the group"),
    TEXT("fleet.topic", IN_CONFIG(fleet_topic), NULL, 0,
         "topic of the common plan of all instances, compacted, with one partition; without "
         "it, each instance has its own plan"),
    TEXT("fleet.evidence_topic", IN_CONFIG(fleet_evidence_topic), NULL, 0,
         "topic of evidence reports, with one partition and a short retention; default: "
         "`fleet.topic` with the suffix `.evidence`"),
    NUMBER("fleet.report_interval", DURATION, IN_CONFIG(fleet_report_interval_ms), "1s", 100,
           SECONDS(60), "time between evidence reports, and between records of an unchanged plan"),
    NUMBER("fleet.leader_timeout", DURATION, IN_CONFIG(fleet_leader_timeout_ms), "10s", SECONDS(1),
           SECONDS(3600),
           "time without a plan after which an instance reports its plan as stale; it keeps "
           "using the last one"),
    NUMBER("fleet.max_reported_segments", INT, IN_CONFIG(max_reported_segments), "32", 1, 4096,
           "maximum number of segments that an instance reports, all traffic first"),
    NUMBER("fleet.max_fleet_segments", INT, IN_CONFIG(max_fleet_segments), "256", 1, 4096,
           "maximum number of segments of all instances, by name, for which evidence is merged"),

    {.path = "alerts",
     .type = EK_KEY_LIST,
     .read = ek_config_read_alerts,
     .help = "alert sinks, one per element"},
    {.path = "alerts.kafka",
     .type = EK_KEY_MAP,
     .read = ek_config_read_kafka,
     .help = "Kafka topic"},
    TEXT("alerts.kafka.topic", IN_CONFIG(alert_topic), NULL, 0,
         "topic of findings and plans, one JSON object per message"),
    MAP("alerts.alertmanager", "Prometheus Alertmanager"),
    TEXT("alerts.alertmanager.url", IN_SINK(url), NULL, EK_KEY_REQUIRED | EK_KEY_URL,
         "address of Alertmanager, such as `http://localhost:9093`; required for this sink"),
    NUMBER("alerts.alertmanager.repeat_interval", DURATION, IN_SINK(repeat_ms), "1m", SECONDS(1),
           SECONDS(3600),
           "time between repetitions of a firing alert; Alertmanager resolves it after four "
           "intervals without one"),
    TEXT("alerts.alertmanager.token", IN_SINK(token), NULL, EK_KEY_SECRET, "bearer token"),
    PATH("alerts.alertmanager.ca_file", IN_SINK(ca_file), 0,
         "CA certificates (PEM) to verify the server, in place of the system's"),
    CHOICE("alerts.alertmanager.min_severity", IN_SINK(severity), "info", EK_ALERT_SEVERITY_NAMES,
           "minimum severity of alerts sent"),
    MAP("alerts.webhook", "webhook"),
    TEXT("alerts.webhook.url", IN_SINK(url), NULL, EK_KEY_REQUIRED | EK_KEY_URL,
         "address to post alerts to; required for this sink"),
    CHOICE("alerts.webhook.format", IN_SINK(format), "generic", "generic slack",
           "body: `generic`, our own JSON, or `slack`, for Slack's incoming webhooks"),
    TEXT("alerts.webhook.token", IN_SINK(token), NULL, EK_KEY_SECRET, "bearer token"),
    PATH("alerts.webhook.ca_file", IN_SINK(ca_file), 0,
         "CA certificates (PEM) to verify the server, in place of the system's"),
    CHOICE("alerts.webhook.min_severity", IN_SINK(severity), "info", EK_ALERT_SEVERITY_NAMES,
           "minimum severity of alerts sent"),
    MAP("alerts.pagerduty", "PagerDuty"),
    TEXT("alerts.pagerduty.routing_key", IN_SINK(routing_key), NULL,
         EK_KEY_REQUIRED | EK_KEY_SECRET,
         "integration key of the Events API v2; required for this sink"),
    TEXT("alerts.pagerduty.url", IN_SINK(url), "https://events.pagerduty.com/v2/enqueue",
         EK_KEY_URL, "address of the Events API v2"),
    PATH("alerts.pagerduty.ca_file", IN_SINK(ca_file), 0,
         "CA certificates (PEM) to verify the server, in place of the system's"),
    CHOICE("alerts.pagerduty.min_severity", IN_SINK(severity), "info", EK_ALERT_SEVERITY_NAMES,
           "minimum severity of alerts sent"),

    MAP("alerting", "timing and limits of alerts"),
    NUMBER("alerting.group_wait", DURATION, IN_CONFIG(alerts_group_wait_ms), "5s", 0, SECONDS(600),
           "time that a new alert waits for others of its incident before it is sent, and that a "
           "resolved alert waits in case the fault returns"),
    NUMBER("alerting.max_active", INT, IN_CONFIG(alerts_max_active), "256", 8, 4096,
           "maximum number of tracked alerts, 6 KiB each; above it, the alert that ended first "
           "is dropped, else the new one"),
    NUMBER("alerting.send_timeout", DURATION, IN_CONFIG(alerts_send_timeout_ms), "10s", 100,
           SECONDS(300), "longest time to send one alert over HTTP, before it is retried"),

    MAP("pipeline", "reading and scoring of lists"),
    {.path = "pipeline.workers",
     .type = EK_KEY_INT,
     IN_CONFIG(workers),
     .built_in = "auto",
     .low = 1,
     .high = EK_WORKERS_MAX,
     .word = "auto",
     .help =
         "threads that decode and score, each with its own partitions; auto: the number of CPUs"},
    NUMBER("pipeline.batch_size", INT, IN_CONFIG(batch_size), "256", 1, 4096,
           "maximum number of messages read, or processed by a worker, at once"),
    NUMBER("pipeline.linger", DURATION, IN_CONFIG(linger_ms), "1ms", 1, SECONDS(10),
           "time that an output waits for others to be sent with it, linger.ms of the producer"),

    NUMBER("pipeline.shadow_scoring_cpu_percent", INT, IN_CONFIG(shadow_scoring_cpu_percent), "5",
           0, 100,
           "share of each worker's time for shadow scoring, on which canaries and guardrails "
           "depend; with 0 no canary grows"),
    CHOICE(
        "pipeline.observe", IN_CONFIG(observe), "all", "all auto",
        "lists that are evidence of faults: all, or with `auto` at least 2,000 per second of each "
        "segment with a higher rate. All lists are scored, repaired and counted; lists of items "
        "are all observed"),

    MAP("http", "metrics, web page and API"),
    TEXT("http.listen", IN_CONFIG(listen), "127.0.0.1:9464", 0,
         "address and port of /metrics, /ready and the API; `off`: none"),
    TEXT("http.public_url", IN_CONFIG(public_url), NULL, EK_KEY_URL,
         "public address of the web page, for links in alerts; default: no links"),
    NUMBER("http.event_history", INT, IN_CONFIG(event_history), "4096", 1, 1000000,
           "number of events kept in memory for /api/v1/events"),
    NUMBER("http.max_connections", INT, IN_CONFIG(http_max_connections), "64", 4, 10000,
           "maximum number of connections; one more closes the one that has waited longest for "
           "its request"),
    NUMBER("http.max_connections_per_ip", INT, IN_CONFIG(http_max_connections_per_ip), "48", 1,
           10000,
           "maximum number of connections from one address; more are closed at once. A reverse "
           "proxy is one address"),
    NUMBER("http.max_event_streams", INT, IN_CONFIG(http_max_event_streams), "16", 0, 1000,
           "maximum number of connections that follow /api/v1/events, and of those that wait for a "
           "plan; more get status 503"),
    NUMBER("http.request_timeout", DURATION, IN_CONFIG(http_request_timeout_ms), "10s", 100,
           SECONDS(600),
           "longest time to receive the headers, and then the body, of a request, and longest "
           "time that a connection may be idle between requests"),
    {.path = "http.allowed_hosts",
     .type = EK_KEY_TEXTS,
     IN_CONFIG(http_allowed_hosts),
     .flags = EK_KEY_OR_ONE,
     .help = "names allowed in the Host header, in addition to IP addresses, localhost and the "
             "name in `http.listen`. Default: all other names too, unless it listens on loopback. "
             "Pages under these names may call the API (Origin header)"},
    PATH("http.token_file", IN_CONFIG(token_file), 0,
         "bearer tokens for changes over HTTP, one per line; without it, changes are forbidden. A "
         "reload reads the file again"),

    MAP("metrics", "extent of /metrics"),
    NUMBER("metrics.max_feature_segments", INT, IN_CONFIG(max_feature_segments), "16", 0, 10000,
           "maximum number of segments with feature metrics, those with the most lists; 0: none"),

    MAP("otlp", "export of metrics by OpenTelemetry"),
    TEXT("otlp.endpoint", IN_CONFIG(otlp_endpoint), NULL, EK_KEY_URL,
         "URL for OTLP over HTTP with JSON, such as `http://localhost:4318/v1/metrics`, which gets "
         "the metrics of /metrics under the same names; default: none"),
    NUMBER("otlp.export_interval", DURATION, IN_CONFIG(otlp_export_interval_ms), "60s", 100,
           SECONDS(3600), "time between exports"),

    MAP("log", "log lines on standard error"),
    {.path = "log.level",
     .type = EK_KEY_CHOICE,
     IN_CONFIG(log_level),
     .built_in = "info",
     .choices = "debug info warn error",
     .flags = EK_KEY_RELOADABLE,
     .help = "minimum level of log lines"},
    CHOICE("log.format", IN_CONFIG(log_format), "logfmt", "logfmt json",
           "format of log lines: key=value pairs, or one JSON object per line"),

    MAP("limits", "sizes, counts and times"),
    NUMBER("limits.message_bytes", SIZE, IN_CONFIG(message_bytes), "4MiB", KIB(1),
           EK_MESSAGE_BYTES_MAX, "largest message, for consumer and producer"),
    NUMBER("limits.items", INT, IN_CONFIG(items_max), "10000", 1, 1000000,
           "maximum number of items in a list"),
    NUMBER("limits.segments", INT, IN_CONFIG(max_segments), "256", 1, 4096,
           "maximum number of segments, each monitored separately: all traffic and the most "
           "frequent segment values"),
    NUMBER("limits.in_flight_messages", INT, IN_CONFIG(in_flight_messages), "10000", 1, 1000000,
           "maximum number of unacknowledged outputs; reading stops above it"),
    NUMBER("limits.in_flight_bytes", SIZE, IN_CONFIG(in_flight_bytes), "64MiB", MIB(1), MIB(4096),
           "maximum size of unacknowledged outputs; reading stops above it. Counts values, keys, "
           "headers and 40 bytes per header"),
    NUMBER("limits.transaction_bytes", SIZE, IN_CONFIG(transaction_bytes), "16MiB", KIB(64),
           MIB(1024),
           "size of outputs, counted likewise, after which a transaction is committed early"),
    NUMBER("limits.transaction_timeout", DURATION, IN_CONFIG(transaction_ms), "10s", SECONDS(1),
           SECONDS(900), "longest duration of a transaction; brokers abort it afterwards"),
    LATER("limits.features", "maximum number of features of a manifest"),
};

const struct ek_key_table *ek_config_keys(void)
{
    static const struct ek_key_table table = {
        .keys = KEYS, .count = sizeof KEYS / sizeof *KEYS, .by_path = true, .no_empty = true};
    return &table;
}

const struct ek_key_row *ek_config_key(const char *path)
{
    return ek_key_find(ek_config_keys(), path);
}
