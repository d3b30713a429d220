/* The configuration of `evenkeel run`: a plain struct, filled from YAML, from defaults, or in code.
 *
 * One table (daemon/config/config_keys.h) says which keys there are, their types, ranges, defaults
 * and units; everything here goes through it. Durations are milliseconds, sizes bytes. Paths are
 * absolute or relative to the working directory once they are in the struct: relative ones of a
 * file were resolved against the folder of that file. Owner: the caller, ek_config_free. Read-only
 * while a stage uses it. No value here is NaN; texts that are not set are NULL.
 *
 *     struct ek_config *c;
 *     ek_config_new(&c, e);
 *     ek_config_set(c, "input.brokers", "127.0.0.1:9092", e);
 *     ek_config_set(c, "input.topics", "scored", e);
 *     ek_config_set(c, "input.group", "demo", e);
 *     ek_config_set(c, "output.topic", "ranked", e);
 *     ek_config_set(c, "output.dead_letter_topic", "ranked.dead", e);
 *     ek_config_finish(c, e);
 */
#ifndef EK_DAEMON_CONFIG_CONFIG_H
#define EK_DAEMON_CONFIG_CONFIG_H

#include "base/buf.h"
#include "base/error.h"
#include "base/error_list.h"
#include "daemon/config/config_sinks.h"
#include "evenkeel.h"
#include "yaml/keys.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { EK_WORKERS_MAX = 16, EK_FLEET_TOPIC_BYTES = 300 };
enum ek_start { EK_START_EARLIEST, EK_START_LATEST };
enum ek_core_dumps { EK_CORE_DUMPS_AUTO, EK_CORE_DUMPS_ALLOWED };
enum ek_delivery { EK_AT_LEAST_ONCE, EK_EXACTLY_ONCE };

struct ek_property {
    char *name, *value;
    bool secret;       /* the value is not to be shown */
    long line, column; /* where it stood, 0 when set in code */
};

struct ek_property_list {
    struct ek_property *items;
    size_t count;
};

struct ek_config {
    char *path;                  /* of the file, NULL when made in code */
    struct ek_key_place *places; /* of each row of the table, where the file has the key */
    struct ek_error_list notes;  /* what is no fault, but should be known; with places */
    bool part; /* values that nobody uses and that could not be had are not there */
    char *service_name;
    int64_t core_dumps; /* enum ek_core_dumps */
    char *instance;     /* NULL: one that nobody has had */
    char *brokers;
    struct ek_text_list topics;
    char *group;
    int64_t start;    /* enum ek_start */
    int64_t delivery; /* enum ek_delivery */
    struct ek_property_list librdkafka;
    int64_t encoding, layout; /* 1: JSON; enum ek_message_layout */
    int64_t query_within_ms;
    /* Paths of the fields, dotted for depth; the last four from an item. */
    char *query, *time_ms, *segments, *query_features, *manifest_hash, *items, *item;
    char *list_items, *log_means, *source;
    char *item_id, *score, *features, *label;
    char *output_topic, *dead_letter;
    struct ek_property_list output_librdkafka;
    char *model, *profile, *manifest, *rules;
    char *fleet_topic, *fleet_ticks_topic; /* NULL: alone; NULL: by the other's name */
    int64_t fleet_tick_ms, fleet_silent_ms, fleet_cells, fleet_places;
    char *alert_topic; /* NULL: none */
    struct ek_alert_sinks sinks;
    char *public_url; /* NULL: nowhere */
    char *runbook;
    int64_t alerts_max, alert_wait_ms, alert_timeout_ms;
    char *state_topic; /* NULL: nothing is kept */
    int64_t state_every_ms;
    char *listen;     /* "127.0.0.1:9464"; "off": no HTTP */
    char *token_file; /* NULL: nobody may change anything over HTTP */
    int64_t http_connections, http_per_address, http_streams, http_request_ms;
    struct ek_text_list http_hosts; /* none: as docs/config.md has it */
    int64_t log_level;              /* enum ek_log_level */
    int64_t message_bytes, items_max, item_queries, item_bytes, cells, in_flight_messages,
        in_flight_bytes;
    int64_t commit_every_ms; /* 0: auto */
    int64_t shutdown_ms, transaction_bytes, transaction_ms;
    int64_t workers; /* 0: auto */
    int64_t batch, max_latency_ms, trial_percent;
    int64_t events_kept, feature_cells;
};

/* The built-in values. EK_ENOMEM. */
int ek_config_new(struct ek_config **out, struct ek_error *e);
void ek_config_free(struct ek_config *c);

/* Sets one key by its path ("input.brokers"); the text is what would stand in the file. A list key
 * gets one more element, `input.librdkafka` takes "name=value". EK_ECONFIG for an unknown key, a
 * wrong or unavailable value. */
int ek_config_set(struct ek_config *c, const char *key, const char *text, struct ek_error *e);

/* Holds the whole against itself: what is required is there, topics differ, limits fit. Call after
 * the last ek_config_set; the loaders below do it themselves. */
int ek_config_finish(const struct ek_config *c, struct ek_error *e);
/* The same, going on after a fault: all of them are added to `faults`, and the code is 0 then. */
int ek_config_finish_all(const struct ek_config *c, struct ek_error_list *faults,
                         struct ek_error *e);
/* Check the librdkafka properties of a configuration: 0, or EK_ECONFIG with the place of the first
 * invalid one. With `faults` (may be NULL) all of them are added there and the result is 0. */
typedef int ek_config_property_check(const struct ek_config *c, struct ek_error_list *faults,
                                     struct ek_error *e);
/* Set the check that ek_config_finish calls last. daemon/kafka sets it before main() runs, so that
 * reading a configuration does not depend on librdkafka. */
void ek_config_set_property_check(ek_config_property_check *check);
/* Check a librdkafka property: EK_ECONFIG, without a place, for one by which acknowledged outputs
 * may be lost. */
int ek_config_reject_property(const struct ek_property *p, struct ek_error *e);
/* How many workers a stage has: what `pipeline.workers` says, or makes of the processors. */
int ek_config_workers(const struct ek_config *c);
/* The number of an input topic among `input.topics`; their count when it is none. */
size_t ek_config_topic(const struct ek_config *c, const char *topic);
/* How often it commits, in milliseconds: what `input.commit_interval` says, or makes of the
 * delivery.
 */
int64_t ek_config_commit_interval_ms(const struct ek_config *c);
/* The topic of a fleet's ticks: what `fleet.evidence_topic` says, or makes of the other's name. */
void ek_config_evidence_topic(const struct ek_config *c, char topic[EK_FLEET_TOPIC_BYTES]);
/* Gives an error the place where the file has `key`, or at least the file. */
void ek_config_place(const struct ek_config *c, const char *key, struct ek_error *e);

/* True when a property holds a secret, by its name or because it was read from a file, or there are
 * tokens, or sinks of alerts, whose addresses are secrets. */
bool ek_config_has_secret(const struct ek_config *c);

/* Reads a file (or text; `name` stands in errors and its folder is where relative paths start).
 * Errors have the place. `${NAME}` in values is replaced from the environment, `${file:PATH}` by
 * the content of a file; `$${` stands for `${`. *out untouched on failure. */
int ek_config_load(struct ek_config **out, const char *path, struct ek_error *e);
int ek_config_parse(struct ek_config **out, const char *name, const char *text, size_t length,
                    struct ek_error *e);

/* As ek_config_load, for who uses only values whose keys begin with one of these [NULL at the end]:
 * of any other one whose `${...}` cannot be had (not set here, or not to be read by this user) it
 * is no fault, and it is not there, nor is a sink of alerts with it. The rest is read and held
 * against itself as ever. */
int ek_config_load_part(struct ek_config **out, const char *path, const char *const *uses,
                        struct ek_error *e);

/* As ek_config_parse, but goes on after a fault: all of them are in `faults` (the first one is the
 * error, too). */
int ek_config_parse_all(struct ek_config **out, const char *name, const char *text, size_t length,
                        struct ek_error_list *faults, struct ek_error *e);
/* The same of a text that was read already. What its reading put into `faults` counts. */
struct ek_yaml;
int ek_config_from_tree(struct ek_config **out, const struct ek_yaml *yaml,
                        struct ek_error_list *faults, struct ek_error *e);
/* The same for who uses only some of it, as above; ends at the first fault. */
int ek_config_part_from_tree(struct ek_config **out, const struct ek_yaml *yaml,
                             const char *const *uses, struct ek_error *e);

/* How messages are written, as the configuration says. The texts are its own. */
struct ek_mapping;
struct ek_codec_limits;
void ek_config_mapping(const struct ek_config *c, struct ek_mapping *mapping,
                       struct ek_codec_limits *limits);
/* Loads the assets that the configuration names, with its field names and limits. What is wrong
 * with them is EK_ECONFIG at the key that names the file. `faults` as in ek_config_parse_all. */
int ek_config_assets(struct ek_assets **out, const struct ek_config *c,
                     struct ek_error_list *faults, struct ek_error *e);
/* Loads `http.token_file`; NULL where none is named. Errors as above; `e` is needed. out NULL: only
 * to see whether it can be. */
struct ek_tokens;
int ek_config_tokens(struct ek_tokens **out, const struct ek_config *c, struct ek_error *e);
/* The whole configuration as YAML that ek_config_parse reads again, secrets as "***". */
int ek_config_print(const struct ek_config *c, struct ek_buf *out);

#endif
