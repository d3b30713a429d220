/* Configuration of `evenkeel run`: a plain struct, filled from YAML, from defaults, or in code.
 *
 * The table daemon/config/config_keys.h defines keys, types, ranges, defaults and units. Durations
 * are milliseconds, sizes bytes. Relative paths of a file are resolved against its folder, those
 * set in code against the working directory. Read-only while a stage uses it. No value is NaN;
 * unset strings are NULL. In values of a file, `${NAME}` is an environment variable, `${file:PATH}`
 * the contents of a file, and `$${` means `${`.
 *
 *     struct ek_config *c;
 *     ek_config_new(&c, e);
 *     ek_config_set(c, "input.brokers", "127.0.0.1:9092", e);
 *     ek_config_set(c, "input.topics", "scored", e);
 *     ek_config_set(c, "input.group", "demo", e);
 *     ek_config_set(c, "output.topic", "ranked", e);
 *     ek_config_set(c, "output.dead_letter_topic", "ranked.dead", e);
 *     ek_config_finish(c, NULL, e);
 */
#ifndef EK_DAEMON_CONFIG_CONFIG_H
#define EK_DAEMON_CONFIG_CONFIG_H

#include "base/buf.h"
#include "base/error.h"
#include "base/error_list.h"
#include "evenkeel.h"
#include "lists/codec.h"
#include "yaml/keys.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { EK_WORKERS_MAX = 16, EK_FLEET_TOPIC_BYTES = 300 };
enum ek_offset_reset { EK_OFFSET_RESET_EARLIEST, EK_OFFSET_RESET_LATEST };
enum ek_core_dumps { EK_CORE_DUMPS_AUTO, EK_CORE_DUMPS_ALLOWED };
/* As enum ek_message_encoding. */
enum ek_encoding {
    EK_ENCODING_AUTO,
    EK_ENCODING_MSGPACK,
    EK_ENCODING_JSON,
    EK_ENCODING_AVRO,
    EK_ENCODING_PROTOBUF
};
enum ek_framing { EK_FRAMING_CONFLUENT, EK_FRAMING_NONE };
enum ek_undecodable { EK_UNDECODABLE_FORWARD, EK_UNDECODABLE_DEAD_LETTER };
enum ek_delivery { EK_AT_LEAST_ONCE, EK_EXACTLY_ONCE };
enum ek_observe { EK_OBSERVE_ALL, EK_OBSERVE_AUTO };
enum ek_output_writes { EK_WRITES_SCORES, EK_WRITES_FEATURES };

struct ek_property {
    char *name, *value;
    char *source, *folder; /* if `value` has the contents of files: the text that names them, and
                            * the base of relative paths, NULL: the working directory; else NULL */
    bool secret;           /* never print the value */
    long line, column;     /* position in the file; 0 when set in code */
};

/* Set *out to a copy of *p. Return 0 or EK_ENOMEM; *out then holds nothing. */
int ek_property_copy(struct ek_property *out, const struct ek_property *p, struct ek_error *e);
void ek_property_release(struct ek_property *p);
/* Set *out to the value, with the present contents of its files. The caller frees *out with
 * ek_free. Return 0, EK_ENOMEM, or EK_ECONFIG or EK_ELIMIT for a file that cannot be used. */
int ek_property_read(const struct ek_property *p, char **out, struct ek_error *e);

/* Value of `sasl.oauthbearer.method` for IAM of Amazon MSK (daemon/kafka/login.h). */
#define EK_OAUTH_AWS "aws_msk_iam"

struct ek_property_list {
    struct ek_property *items;
    size_t count;
};

/* Path of a field, or of each of its parts. */
struct ek_config_paths {
    char *path; /* NULL: `items` are set */
    struct ek_named_path *items;
    size_t count;
};

/* HTTP alert sinks: elements of `alerts`, except Kafka, of which there is one. */
enum ek_sink_kind { EK_SINK_ALERTMANAGER, EK_SINK_WEBHOOK, EK_SINK_PAGERDUTY, EK_SINK_KINDS };
enum ek_sink_format { EK_FORMAT_GENERIC, EK_FORMAT_SLACK };
enum { EK_SINK_LABEL_BYTES = 24, EK_SINK_SECTION_BYTES = 32, EK_ALERT_SINKS_MAX = 16 };
/* Values of `severity`, in the order of enum ek_alert_severity. */
#define EK_ALERT_SEVERITY_NAMES "info warning critical"

struct ek_alert_sink {
    enum ek_sink_kind kind;
    char *url, *token, *ca_file, *routing_key; /* NULL: none; all but ca_file are secrets */
    int64_t format;                            /* enum ek_sink_format */
    int64_t severity;                          /* enum ek_alert_severity, minimum */
    int64_t repeat_ms;
    char label[EK_SINK_LABEL_BYTES]; /* "webhook"; "webhook-2" for the second */
    long line, column;               /* of the element */
};

struct ek_alert_sinks {
    struct ek_alert_sink *items;
    size_t count;
};

struct ek_config {
    char *path;                  /* of the file; NULL when made in code */
    struct ek_key_place *places; /* of each row of the table, if the file has the key */
    struct ek_error_list notes;  /* warnings, with positions */
    bool part;                   /* unused values that could not be expanded are missing */
    const char *const *uses;     /* while a file is read: as for ek_config_load */
    char *service_name;
    int64_t core_dumps; /* enum ek_core_dumps */
    char *instance;     /* NULL: generated */
    char *brokers;
    struct ek_text_list topics;
    char *group;
    int64_t offset_reset; /* enum ek_offset_reset */
    int64_t silence_ms;   /* 0: auto */
    int64_t delivery;     /* enum ek_delivery */
    struct ek_property_list librdkafka;
    int64_t encoding, layout; /* enum ek_message_encoding, ek_message_layout */
    bool numeric_strings;
    int64_t framing;             /* enum ek_framing */
    char *schema, *message_type; /* schema file, and its Protobuf message; NULL: none */
    char *registry_url, *registry_user, *registry_password, *registry_token, *registry_ca_file;
    int64_t registry_timeout_ms, registry_cache;
    int64_t assembly_timeout_ms;
    /* Paths of fields, with dots between levels; features and the last four start at an item, with
     * columns at the message. */
    char *query, *time_ms, *manifest_hash, *items, *item, *list_items, *log_means;
    struct ek_config_paths segments, query_features, features;
    char *item_id, *score, *label, *source;
    char *output_topic, *dead_letter_topic; /* dead_letter_topic NULL: none */
    int64_t undecodable;                    /* enum ek_undecodable */
    int64_t output_writes;                  /* enum ek_output_writes */
    int64_t wide_columns;                   /* 1: append them to each list */
    struct ek_property_list output_librdkafka;
    char *model, *profile, *manifest, *rules;
    char *plan_topic;                         /* NULL: none */
    char *fleet_topic, *fleet_evidence_topic; /* NULL: no fleet; NULL: derived from fleet_topic */
    int64_t fleet_report_interval_ms, fleet_leader_timeout_ms, max_reported_segments,
        max_fleet_segments;
    char *alert_topic; /* NULL: none */
    struct ek_alert_sinks sinks;
    char *public_url; /* NULL: not shown */
    char *runbook;
    int64_t alerts_max_active, alerts_group_wait_ms, alerts_send_timeout_ms;
    char *state_topic; /* NULL: state is not saved */
    int64_t checkpoint_interval_ms;
    char *listen;     /* "127.0.0.1:9464"; "off": no HTTP server */
    char *token_file; /* NULL: no changes over HTTP */
    int64_t http_max_connections, http_max_connections_per_ip, http_max_event_streams,
        http_request_timeout_ms;
    struct ek_text_list http_allowed_hosts; /* empty: default of docs/config.md */
    char *otlp_endpoint;                    /* NULL: no export */
    int64_t otlp_export_interval_ms;
    int64_t log_level;  /* enum ek_log_level */
    int64_t log_format; /* enum ek_log_format */
    int64_t message_bytes, items_max, assembly_max_lists, assembly_max_bytes, max_segments,
        in_flight_messages, in_flight_bytes;
    int64_t commit_interval_ms; /* 0: auto */
    int64_t shutdown_timeout_ms, transaction_bytes, transaction_ms;
    int64_t workers; /* 0: auto */
    int64_t batch_size, linger_ms, shadow_scoring_cpu_percent;
    int64_t observe; /* enum ek_observe */
    int64_t event_history, max_feature_segments;
};

/* Create a configuration of defaults; free *out with ek_config_free. Return 0 or EK_ENOMEM. */
int ek_config_new(struct ek_config **out, struct ek_error *e);
void ek_config_free(struct ek_config *c);

/* Set a key by its path ("input.brokers") to a value written as in the file. Appends to lists;
 * `input.librdkafka` takes "name=value". Return 0, EK_ENOMEM, EK_EUSAGE for a key of an element of
 * `alerts`, or EK_ECONFIG for an unknown key or an invalid or unavailable value; the key is then
 * unchanged. */
int ek_config_set(struct ek_config *c, const char *key, const char *text, struct ek_error *e);

/* Add the librdkafka property `name=value` for all clients, with `${...}` expanded as in a file,
 * because all users of the machine can read a command line. Return 0, EK_ECONFIG for a text that is
 * not name=value or a `${...}` that cannot be expanded, EK_ELIMIT for an expanded text that is too
 * long, or EK_ENOMEM; on error the configuration is unchanged. */
int ek_config_set_property(struct ek_config *c, const char *text, struct ek_error *e);

/* Check the whole configuration: required keys, distinct topics, consistent limits. Call after the
 * last ek_config_set; the loaders below include it. Return 0, EK_ENOMEM, or EK_ECONFIG at the first
 * invalid key; with `faults`, add all errors there and return 0. */
int ek_config_finish(const struct ek_config *c, struct ek_error_list *faults, struct ek_error *e);
/* Check librdkafka properties. Returns 0, or EK_ECONFIG with the position of the first invalid one.
 * With `faults`, adds all errors there and returns 0. */
typedef int ek_config_property_check(const struct ek_config *c, struct ek_error_list *faults,
                                     struct ek_error *e);
/* Set the check of librdkafka properties that ek_config_finish calls last. daemon/kafka calls this
 * before main(), so that reading a configuration does not depend on librdkafka. */
void ek_config_set_property_check(ek_config_property_check *check);
/* Return 0, or EK_ECONFIG, without a position, for a property that may lose acknowledged outputs.
 */
int ek_config_reject_property(const struct ek_property *p, struct ek_error *e);
/* Return the number of workers: `pipeline.workers`, or derived from the CPUs. */
int ek_config_workers(const struct ek_config *c);
/* Return the index in `input.topics`, or their count if the topic is not in it. */
size_t ek_config_topic(const struct ek_config *c, const char *topic);
/* Return the milliseconds between commits: `input.commit_interval`, or derived from the
 * delivery. */
int64_t ek_config_commit_interval_ms(const struct ek_config *c);
/* Write the name of the topic of evidence reports: `fleet.evidence_topic`, or derived from
 * `fleet.topic`. */
void ek_config_evidence_topic(const struct ek_config *c, char topic[EK_FLEET_TOPIC_BYTES]);
/* Set the position of an error to that of `key` in the file, or to the file alone; no effect
 * without a file or if the error has a position. */
void ek_config_place(const struct ek_config *c, const char *key, struct ek_error *e);

/* Return true if two lists have the same sinks with the same settings. */
bool ek_config_sinks_same(const struct ek_alert_sinks *a, const struct ek_alert_sinks *b);

/* Return true if there are tokens, alert sinks (their URLs are secrets), credentials of AWS, a URL
 * with a user, or a property that is a secret by its name or was read from a file. */
bool ek_config_has_secret(const struct ek_config *c);

struct ek_yaml;
/* Read a file. uses [ends with NULL]: prefixes of the keys that are used; NULL: all. Other values
 * with a `${...}` that cannot be expanded, because it is unset or unreadable for this user, are
 * left out, with their alert sink. With `uses` a required key may be missing unless it is an
 * element. All other checks apply. Return 0, EK_EIO, EK_ENOMEM, or EK_ECONFIG with a position; *out
 * is then unchanged. The caller frees *out. */
int ek_config_load(struct ek_config **out, const char *path, const char *const *uses,
                   struct ek_error *e);
/* Read a configuration from a text in memory. `name` appears in errors, and its folder is the base
 * of relative paths. With `faults`, continue after errors and add all; `e` is the first one. Return
 * 0, EK_ENOMEM, or EK_ECONFIG with a position; *out is then unchanged. The caller frees *out. */
int ek_config_parse(struct ek_config **out, const char *name, const char *text, size_t length,
                    struct ek_error_list *faults, struct ek_error *e);
/* Read a configuration from a parsed file, which is not kept; `uses` as for ek_config_load,
 * `faults` as for ek_config_parse. Errors that the parser has added to `faults` fail the call, too.
 * Return 0, EK_ENOMEM, or EK_ECONFIG; *out is then unchanged. */
int ek_config_from_tree(struct ek_config **out, const struct ek_yaml *yaml, const char *const *uses,
                        struct ek_error_list *faults, struct ek_error *e);

/* Load the assets that the configuration names, with its field names and limits; free *out with
 * ek_assets_free. `faults` as in ek_config_parse. Return 0, EK_ECONFIG at the key of the file
 * for an error in an asset, EK_EIO or EK_ENOMEM. */
int ek_config_assets(struct ek_assets **out, const struct ek_config *c,
                     struct ek_error_list *faults, struct ek_error *e);
/* Set what the configuration decides for loaded assets: cells, assembly of items, what is written,
 * wide columns. c: NULL: as loaded. writes_features: NULL: as configured. Return 0, EK_ENOMEM, or
 * EK_ECONFIG if the manifest has no wide columns. */
int ek_config_apply(struct ek_assets *a, const struct ek_config *c, const bool *writes_features,
                    struct ek_error *e);
/* Return whether the rules act in a segment, but can only report for lack of a model; *e has the
 * warning, at the key of the rules. */
bool ek_config_lacks_model(const struct ek_config *c, const struct ek_assets *a,
                           struct ek_error *e);
struct ek_tokens;
/* Load the tokens of `http.token_file`, which the caller frees with ek_tokens_free; *out is NULL
 * without the key and on errors. out NULL: only check the file. `e` is required. Return 0,
 * EK_ENOMEM, or EK_ECONFIG at the key for an unreadable or invalid file. */
int ek_config_tokens(struct ek_tokens **out, const struct ek_config *c, struct ek_error *e);
/* Append the configuration as YAML that ek_config_parse can read, with secrets as "***". Return 0
 * or EK_ENOMEM. */
int ek_config_print(const struct ek_config *c, struct ek_buf *out);

/* Identity of the instance: a name that is unique in its group, and random numbers. */
enum {
    EK_INSTANCE_BYTES = 200,
    EK_GROUP_BYTES_MAX = 255,
    EK_TRANSACTIONAL_ID_BYTES = sizeof "evenkeel-255--" + EK_GROUP_BYTES_MAX + EK_INSTANCE_BYTES
};

/* Write `service.instance`, or a new unique name. Return 0, or EK_EIO if no random numbers are
 * available. */
int ek_instance_name(const struct ek_config *c, char name[EK_INSTANCE_BYTES], struct ek_error *e);
/* Write the transactional id of an instance of the group, which ends with its name. Return the
 * length without the name. */
size_t ek_transactional_id(const struct ek_config *c, const char *name,
                           char id[EK_TRANSACTIONAL_ID_BYTES]);

/* Return a new unpredictable number, or 0 if no random numbers are available. */
uint64_t ek_instance_salt(void);

#endif
