#include "daemon/config.h"
#include "daemon/options.h"

#define AT(member) .offset = offsetof(struct ek_config, member)
#define KIB(n)     ((int64_t)(n) << 10)
#define MIB(n)     ((int64_t)(n) << 20)
#define SECONDS(n) ((int64_t)(n)*1000)
#define FIELD(name, member, path, what)                                                            \
    {                                                                                              \
        .key = "message." name, .type = EK_OPTION_TEXT, AT(member), .initial = path, .help = what  \
    }
#define LATER(path, what)                                                                          \
    {                                                                                              \
        .key = path, .type = EK_OPTION_LATER, .help = what                                         \
    }

static const struct ek_option OPTIONS[] = {
    {.key = "service.name",
     .type = EK_OPTION_TEXT,
     AT(service_name),
     .initial = "evenkeel",
     .help = "name of this service in status, logs and Kafka client ids"},

    {.key = "input.brokers",
     .type = EK_OPTION_TEXT,
     AT(brokers),
     .required = true,
     .help = "bootstrap servers, host:port with commas between"},
    {.key = "input.topics",
     .type = EK_OPTION_TEXTS,
     AT(topics),
     .required = true,
     .help = "topics to read, all with scored lists of the same manifest"},
    {.key = "input.group",
     .type = EK_OPTION_TEXT,
     AT(group),
     .required = true,
     .help = "consumer group; its committed offsets are where a restart goes on"},
    {.key = "input.start",
     .type = EK_OPTION_CHOICE,
     AT(start),
     .initial = "earliest",
     .choices = "earliest latest",
     .help = "where to begin while the group has no committed offset"},
    {.key = "input.delivery",
     .type = EK_OPTION_CHOICE,
     AT(delivery),
     .initial = "at_least_once",
     .choices = "at_least_once",
     .later = "exactly_once",
     .help = "what a crash may do: at_least_once repeats messages and loses none"},
    {.key = "input.librdkafka",
     .type = EK_OPTION_PROPERTIES,
     AT(librdkafka),
     .help = "librdkafka properties for consumer and producer, passed through"},

    {.key = "message.encoding",
     .type = EK_OPTION_CHOICE,
     AT(encoding),
     .initial = "msgpack",
     .choices = "msgpack",
     .later = "json",
     .help = "how messages are written"},
    {.key = "message.layout",
     .type = EK_OPTION_CHOICE,
     AT(layout),
     .initial = "list",
     .choices = "list",
     .later = "item",
     .help = "one message per list"},
    FIELD("query", query, "query", "path of the id of a list"),
    FIELD("time_ms", time_ms, "time_ms", "path of its time in milliseconds since 1970"),
    FIELD("segments", segments, "segments", "path of the mapping of segment names to values"),
    FIELD("query_features", query_features, "query_features", "path of the query features"),
    FIELD("manifest", manifest_hash, "manifest",
          "path of the hash of the manifest, where messages carry it"),
    FIELD("items", items, "items", "path of the array of items"),
    FIELD("item_id", item_id, "id", "path of the id of an item, from the item"),
    FIELD("score", score, "score", "path of its upstream score, from the item"),
    FIELD("features", features, "features", "path of its features, from the item"),
    FIELD("label", label, "label", "path of its label, from the item"),

    {.key = "output.topic",
     .type = EK_OPTION_TEXT,
     AT(output_topic),
     .required = true,
     .help = "topic for the lists, byte for byte or with other scores"},
    {.key = "output.dead_letter",
     .type = EK_OPTION_TEXT,
     AT(dead_letter),
     .required = true,
     .help = "topic for messages that cannot be read, unchanged, with the reason in headers"},
    {.key = "output.librdkafka",
     .type = EK_OPTION_PROPERTIES,
     AT(output_librdkafka),
     .help = "librdkafka properties for the producer alone; they win over input.librdkafka"},

    {.key = "assets.manifest",
     .type = EK_OPTION_PATH,
     AT(manifest),
     .required = true,
     .reloadable = true,
     .help = "feature manifest"},
    {.key = "assets.profile",
     .type = EK_OPTION_PATH,
     AT(profile),
     .required = true,
     .reloadable = true,
     .help = "training statistics, made by evenkeel profile"},
    {.key = "assets.model",
     .type = EK_OPTION_PATH,
     AT(model),
     .reloadable = true,
     .help = "routable model, made by evenkeel train; without it lists are watched only"},
    {.key = "assets.rules",
     .type = EK_OPTION_PATH,
     AT(rules),
     .reloadable = true,
     .help = "rules; without them the built-in ones, which observe only"},

    LATER("state", "state that survives in a compacted topic"),
    LATER("fleet", "several instances that act as one"),

    {.key = "alerts.kafka.topic",
     .type = EK_OPTION_TEXT,
     AT(alert_topic),
     .help = "topic for findings and plans, one JSON object per message"},
    LATER("alerts.alertmanager", "alerts to Alertmanager"),
    LATER("alerts.webhook", "alerts to a webhook"),

    {.key = "http.listen",
     .type = EK_OPTION_TEXT,
     AT(listen),
     .initial = "127.0.0.1:9464",
     .help = "address and port of /metrics, /ready and the API; off for none"},
    {.key = "http.events",
     .type = EK_OPTION_INT,
     AT(events_kept),
     .initial = "4096",
     .low = 1,
     .high = 1000000,
     .help = "events kept in memory for /api/v1/events"},
    LATER("http.token_file", "the bearer token of calls that change something"),

    {.key = "log.level",
     .type = EK_OPTION_CHOICE,
     AT(log_level),
     .initial = "info",
     .choices = "debug info warn error",
     .reloadable = true,
     .help = "the least serious lines that are written"},

    {.key = "limits.message_bytes",
     .type = EK_OPTION_BYTES,
     AT(message_bytes),
     .initial = "4MiB",
     .low = KIB(1),
     .high = MIB(512),
     .help = "largest message; consumer and producer agree on it"},
    {.key = "limits.items",
     .type = EK_OPTION_INT,
     AT(items_max),
     .initial = "10000",
     .low = 1,
     .high = 1000000,
     .help = "items of a list"},
    {.key = "limits.in_flight_messages",
     .type = EK_OPTION_INT,
     AT(in_flight_messages),
     .initial = "10000",
     .low = 1,
     .high = 1000000,
     .help = "outputs that may wait for their acknowledgement before reading stops"},
    {.key = "limits.in_flight_bytes",
     .type = EK_OPTION_BYTES,
     AT(in_flight_bytes),
     .initial = "64MiB",
     .low = MIB(1),
     .high = MIB(4096),
     .help = "their size before reading stops"},
    {.key = "limits.commit_every",
     .type = EK_OPTION_DURATION,
     AT(commit_every_ms),
     .initial = "1s",
     .low = 10,
     .high = SECONDS(3600),
     .help = "how often acknowledged offsets are committed"},
    {.key = "limits.shutdown",
     .type = EK_OPTION_DURATION,
     AT(shutdown_ms),
     .initial = "10s",
     .low = 100,
     .high = SECONDS(3600),
     .help = "longest time for draining, on shutdown and when partitions are taken away"},
    LATER("limits.features", "features of a manifest"),
    LATER("limits.cells", "cells that are tracked"),
};

const struct ek_option *ek_option_at(size_t number)
{
    return &OPTIONS[number];
}

size_t ek_option_count(void)
{
    return sizeof OPTIONS / sizeof *OPTIONS;
}

size_t ek_option_number(const struct ek_option *o)
{
    return (size_t)(o - OPTIONS);
}
