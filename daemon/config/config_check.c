/* Checks of a whole configuration. Librdkafka properties that could lose messages are errors; those
 * that could stop the program or reorder lists are warnings. */
#include "daemon/base/url.h"
#include "daemon/config/config.h"
#include "daemon/config/config_internal.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { TOPIC_BYTES_MAX = 249 };

static ek_config_property_check *check_properties;

void ek_config_set_property_check(ek_config_property_check *check)
{
    check_properties = check;
}

struct finishing {
    const struct ek_config *c;
    struct ek_error_list *faults; /* NULL: stop at the first */
    struct ek_error *e;
};

/* Set the position of an error to that of `key`. Returns 0 if errors are collected. */
static int add_fault(const struct finishing *f, const char *key, int rc)
{
    if (rc)
        ek_config_place(f->c, key, f->e);
    return ek_error_list_collect(f->faults, rc, f->e);
}

static int check_topic(const char *key, const char *topic, struct ek_error *e)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
    size_t length = strlen(topic);
    if (length > TOPIC_BYTES_MAX || strspn(topic, allowed) != length || !strcmp(topic, ".") ||
        !strcmp(topic, ".."))
        return ek_fail(e, EK_ECONFIG, "'%s': invalid topic name '%s'", key, topic);
    return EK_OK;
}

static int check_input(const struct ek_config *c, size_t i, struct ek_error *e)
{
    static const char key[] = "input.topics";
    const char *topic = c->topics.items[i];
    int rc = check_topic(key, topic, e);
    if (!rc && ek_config_topic(c, topic) < i)
        rc = ek_fail(e, EK_ECONFIG, "'%s': duplicate topic '%s'; remove one", key, topic);
    return rc;
}

/* An output topic must not be an input, because the instance would read its own output. */
static int check_written(const struct ek_config *c, const char *key, const char *topic,
                         struct ek_error *e)
{
    int rc = check_topic(key, topic, e);
    if (!rc && ek_config_topic(c, topic) < c->topics.count)
        rc = ek_fail(e, EK_ECONFIG, "'%s': topic '%s' is also an input; use another one", key,
                     topic);
    return rc;
}

static bool is_missing(const struct ek_key_row *k, const struct ek_config *c)
{
    const void *member = ek_key_member(k, c);
    if (k->type == EK_KEY_TEXTS)
        return !((const struct ek_text_list *)member)->count;
    return k->type == EK_KEY_TEXT && !*(char *const *)member;
}

bool ek_config_needs(const struct ek_config *c, const char *key)
{
    for (size_t i = 0; c->uses && c->uses[i]; i++)
        if (!strcmp(key, c->uses[i]))
            return true;
    return !c->uses;
}

static bool is_required(const struct ek_key_row *k, const struct ek_config *c)
{
    return k->base == EK_IN_CONFIG && k->flags & EK_KEY_REQUIRED && ek_config_needs(c, k->path);
}

/* A key with an invalid value is not also missing. */
static int check_required(const struct finishing *f)
{
    const struct ek_key_table *t = ek_config_keys();
    int rc = EK_OK;
    for (size_t i = 0; !rc && i < t->count; i++) {
        const struct ek_key_row *k = &t->keys[i];
        if (is_required(k, f->c) && is_missing(k, f->c) && !f->c->places[i].line)
            rc = add_fault(f, k->path,
                           ek_fail(f->e, EK_ECONFIG, "'%s' is missing; set it", k->path));
    }
    return rc;
}

static bool same(const char *a, const char *b)
{
    return a && b && !strcmp(a, b);
}

/* Messages that are withheld need a place. */
static int check_undecodable(const struct finishing *f)
{
    if (f->c->undecodable != EK_UNDECODABLE_DEAD_LETTER || f->c->dead_letter_topic || f->c->part)
        return EK_OK;
    return add_fault(
        f, "output.undecodable",
        ek_fail(f->e, EK_ECONFIG,
                "'output.undecodable' is dead_letter: set 'output.dead_letter_topic'"));
}

static bool has_schemas(const struct ek_config *c)
{
    return c->encoding == EK_ENCODING_AVRO || c->encoding == EK_ENCODING_PROTOBUF;
}

/* Return why features cannot grow by wide columns, with the remedy; NULL: they can. */
static const char *find_obstacle(const struct ek_config *c)
{
    if (c->output_writes != EK_WRITES_FEATURES)
        return "needs messages whose features are written: set 'output.writes: features'";
    if (!c->output_topic && !c->part)
        return "needs an output: set 'output.topic'";
    if (has_schemas(c))
        return "cannot append to messages whose schema fixes the fields: compute the columns in "
               "the ranker (evenkeel.wide_columns of the Python package)";
    if (c->layout == EK_LAYOUT_COLUMNS)
        return "needs the features of an item in one array or map, and 'message.layout' is "
               "columns: compute the columns in the ranker (evenkeel.wide_columns)";
    return c->features.count || same(c->features.path, "*")
               ? "needs the features of an item in one array or map, and "
                 "'message.features' maps each one: compute the columns in the "
                 "ranker (evenkeel.wide_columns)"
               : NULL;
}

static int check_wide_columns(const struct finishing *f)
{
    static const char key[] = "output.wide_columns";
    const char *why = f->c->wide_columns ? find_obstacle(f->c) : NULL;
    return why ? add_fault(f, key, ek_fail(f->e, EK_ECONFIG, "'%s' %s", key, why)) : EK_OK;
}

/* Check the keys that only some encodings have. */
static int check_schema_keys(const struct finishing *f)
{
    const struct ek_config *c = f->c;
    const char *key = c->schema ? "message.schema" : "message.registry.url";
    if (!has_schemas(c) && (c->schema || c->registry_url))
        return add_fault(f, key,
                         ek_fail(f->e, EK_ECONFIG,
                                 "'%s' needs messages with schemas: set 'encoding' to avro or "
                                 "protobuf",
                                 key));
    if (c->message_type && (c->encoding != EK_ENCODING_PROTOBUF || c->registry_url))
        return add_fault(f, "message.type",
                         ek_fail(f->e, EK_ECONFIG,
                                 c->registry_url
                                     ? "'message.type' excludes 'message.registry': each message "
                                       "names its type"
                                     : "'message.type' is of Protobuf messages: set 'encoding: "
                                       "protobuf'"));
    return EK_OK;
}

/* Messages with schemas need one source of them. */
static int check_schemas(const struct finishing *f)
{
    const struct ek_config *c = f->c;
    int rc = c->part ? EK_OK : check_schema_keys(f);
    if (rc || c->part || !has_schemas(c))
        return rc;
    if (!c->schema == !c->registry_url)
        return add_fault(
            f, c->schema ? "message.schema" : "message.encoding",
            c->schema ? ek_fail(f->e, EK_ECONFIG,
                                "'message.schema' excludes 'message.registry'; set one of them")
                      : ek_fail(f->e, EK_ECONFIG,
                                "'message.encoding' is %s: set 'message.schema' or "
                                "'message.registry'",
                                c->encoding == EK_ENCODING_AVRO ? "avro" : "protobuf"));
    if (c->registry_url && c->framing == EK_FRAMING_NONE)
        return add_fault(f, "message.framing",
                         ek_fail(f->e, EK_ECONFIG,
                                 "'message.framing' is none, but 'message.registry' needs ids"));
    if (!c->registry_user != !c->registry_password || (c->registry_user && c->registry_token))
        return add_fault(f,
                         c->registry_user ? "message.registry.user" : "message.registry.password",
                         ek_fail(f->e, EK_ECONFIG,
                                 "'message.registry' needs 'user' and 'password', or 'token'"));
    return EK_OK;
}

/* Check a topic of internal records; their format and retention suit no other use. */
static int check_section(const struct finishing *f, const char *key, const char *topic)
{
    const struct ek_config *c = f->c;
    int rc = check_written(c, key, topic, f->e);
    if (!rc && (same(topic, c->output_topic) || same(topic, c->dead_letter_topic) ||
                same(topic, c->alert_topic)))
        rc = ek_fail(f->e, EK_ECONFIG, "'%s': topic '%s' is also an output; use another one", key,
                     topic);
    return add_fault(f, key, rc);
}

static int check_topics(const struct finishing *f)
{
    const struct ek_config *c = f->c;
    static const char dead[] = "output.dead_letter_topic", alerts[] = "alerts.kafka.topic";
    int rc = EK_OK;
    for (size_t i = 0; !rc && i < c->topics.count; i++)
        rc = add_fault(f, "input.topics", check_input(c, i, f->e));
    if (!rc && c->output_topic)
        rc = add_fault(f, "output.topic", check_written(c, "output.topic", c->output_topic, f->e));
    if (!rc && c->dead_letter_topic)
        rc = add_fault(f, dead, check_written(c, dead, c->dead_letter_topic, f->e));
    if (!rc && c->alert_topic)
        rc = add_fault(f, alerts, check_written(c, alerts, c->alert_topic, f->e));
    if (!rc && same(c->output_topic, c->dead_letter_topic))
        rc = add_fault(f, dead,
                       ek_fail(f->e, EK_ECONFIG,
                               "'%s': topic '%s' is also the output; use another one", dead,
                               c->dead_letter_topic));
    if (!rc &&
        (same(c->alert_topic, c->output_topic) || same(c->alert_topic, c->dead_letter_topic)))
        rc = add_fault(f, alerts,
                       ek_fail(f->e, EK_ECONFIG,
                               "'%s': topic '%s' is also an output; use another one", alerts,
                               c->alert_topic));
    if (!rc && c->state_topic)
        rc = check_section(f, "state.topic", c->state_topic);
    return rc;
}

/* State and fleet records must not share a topic: they would be confused. */
static int check_shared(const struct finishing *f, const char *key, const char *topic)
{
    int rc = check_section(f, key, topic);
    if (!rc && same(topic, f->c->state_topic))
        rc = add_fault(f, key,
                       ek_fail(f->e, EK_ECONFIG,
                               "'%s': topic '%s' is also 'state.topic'; use another one", key,
                               topic));
    return rc;
}

static int check_fleet(const struct finishing *f)
{
    const struct ek_config *c = f->c;
    char ticks[EK_FLEET_TOPIC_BYTES];
    if (!c->fleet_topic)
        return EK_OK;
    ek_config_evidence_topic(c, ticks);
    int rc = check_shared(f, "fleet.topic", c->fleet_topic);
    if (!rc)
        rc = check_shared(f, "fleet.evidence_topic", ticks);
    if (!rc && same(c->fleet_topic, ticks))
        rc = add_fault(f, "fleet.evidence_topic",
                       ek_fail(f->e, EK_ECONFIG,
                               "'fleet.evidence_topic' is also 'fleet.topic'; use another one"));
    if (!rc && !c->part && c->fleet_leader_timeout_ms < 3 * c->fleet_report_interval_ms)
        rc = add_fault(
            f, "fleet.leader_timeout",
            ek_fail(f->e, EK_ECONFIG,
                    "'fleet.leader_timeout' is less than three times 'fleet.report_interval'; one "
                    "late record would make the plan stale"));
    return rc;
}

static int check_plan(const struct finishing *f)
{
    static const char key[] = "plan.topic";
    const struct ek_config *c = f->c;
    char evidence[EK_FLEET_TOPIC_BYTES] = "";
    if (!c->plan_topic)
        return EK_OK;
    if (c->fleet_topic)
        ek_config_evidence_topic(c, evidence);
    int rc = check_shared(f, key, c->plan_topic);
    if (!rc && (same(c->plan_topic, c->fleet_topic) || same(c->plan_topic, evidence)))
        rc = add_fault(f, key,
                       ek_fail(f->e, EK_ECONFIG,
                               "'%s': topic '%s' is also a topic of the fleet; use another one",
                               key, c->plan_topic));
    return rc;
}

/* Instance names that are equal after truncation would fence each other. */
static int check_names(const struct finishing *f)
{
    const struct ek_config *c = f->c;
    size_t own = c->instance ? strlen(c->instance) : 0;
    int rc = EK_OK;
    if (own >= EK_INSTANCE_BYTES)
        rc = add_fault(f, "service.instance",
                       ek_fail(f->e, EK_ECONFIG,
                               "'service.instance' must have at most %d bytes, not %zu",
                               EK_INSTANCE_BYTES - 1, own));
    if (!rc && c->group && strlen(c->group) > EK_GROUP_BYTES_MAX)
        rc =
            add_fault(f, "input.group",
                      ek_fail(f->e, EK_ECONFIG, "'input.group' must have at most %d bytes, not %zu",
                              EK_GROUP_BYTES_MAX, strlen(c->group)));
    return rc;
}

static int check_addresses(const struct finishing *f)
{
    char host[EK_HOST_BYTES];
    const char *port;
    int rc = EK_OK;
    if (f->c->brokers)
        rc = add_fault(f, "input.brokers", ek_brokers_check("input.brokers", f->c->brokers, f->e));
    if (!rc && f->c->listen && strcmp(f->c->listen, "off") != 0)
        rc = add_fault(f, "http.listen",
                       ek_address_split("http.listen", f->c->listen, host, &port, f->e));
    return rc;
}

/* Check pairs of limits. An unset limit counts with its default. */
static int check_limits(const struct finishing *f)
{
    const struct ek_config *c = f->c;
    int rc = EK_OK;
    if (c->in_flight_bytes < c->message_bytes)
        rc = add_fault(f, "limits.in_flight_bytes",
                       ek_fail(f->e, EK_ECONFIG,
                               "'limits.in_flight_bytes' is less than one message; set it to at "
                               "least 'limits.message_bytes'"));
    if (!rc && c->delivery == EK_EXACTLY_ONCE && c->in_flight_bytes / 2 < c->transaction_bytes)
        rc = add_fault(
            f, "limits.in_flight_bytes",
            ek_fail(f->e, EK_ECONFIG,
                    "'limits.in_flight_bytes' is less than twice 'limits.transaction_bytes'; one "
                    "transaction is read while another is committed"));
    if (!rc && c->delivery == EK_EXACTLY_ONCE &&
        ek_config_commit_interval_ms(c) > c->transaction_ms / 2)
        rc = add_fault(f, "input.commit_interval",
                       ek_fail(f->e, EK_ECONFIG,
                               "'input.commit_interval' is more than half of "
                               "'limits.transaction_timeout'; brokers would abort transactions"));
    return rc;
}

int ek_config_finish(const struct ek_config *c, struct ek_error_list *faults, struct ek_error *e)
{
    struct ek_error own;
    const struct finishing f = {c, faults, e ? e : &own};
    int rc = check_required(&f);
    if (!rc)
        rc = check_topics(&f);
    if (!rc)
        rc = check_undecodable(&f);
    if (!rc)
        rc = check_schemas(&f);
    if (!rc)
        rc = check_wide_columns(&f);
    if (!rc)
        rc = check_fleet(&f);
    if (!rc)
        rc = check_plan(&f);
    if (!rc)
        rc = check_names(&f);
    if (!rc)
        rc = check_addresses(&f);
    if (!rc && !c->part)
        rc = check_limits(&f);
    return rc || !check_properties ? rc : check_properties(c, faults, f.e);
}

enum { RETRIES_MANY = 1000000 };

static bool is_same(const char *a, const char *b)
{
    return !strcmp(a, b);
}

int ek_config_reject_property(const struct ek_property *p, struct ek_error *e)
{
    bool acks = is_same(p->name, "acks") || is_same(p->name, "request.required.acks");
    if (!acks || is_same(p->value, "all") || is_same(p->value, "-1"))
        return EK_OK;
    return ek_fail(e, EK_ECONFIG,
                   "librdkafka property '%s': with less than 'all' an acknowledged output may be "
                   "lost; remove it",
                   p->name);
}

static bool is_true(const char *value)
{
    return is_same(value, "true") || is_same(value, "t") || is_same(value, "1");
}

static bool has_property(const struct ek_property_list *list, const char *name, const char *value)
{
    for (size_t i = 0; i < list->count; i++)
        if (is_same(list->items[i].name, name) && !strcasecmp(list->items[i].value, value))
            return true;
    return false;
}

/* Return the risk of a property's value for the confidentiality of the connection, or NULL. */
static const char *exposure_of(const struct ek_property *p, const struct ek_property_list *list)
{
    bool plain = has_property(list, "sasl.mechanism", "PLAIN") ||
                 has_property(list, "sasl.mechanisms", "PLAIN");
    if (is_same(p->name, "enable.ssl.certificate.verification"))
        return is_true(p->value) ? NULL
                                 : "certificates of brokers are not verified, so another server "
                                   "can read and change all messages; remove it";
    if (is_same(p->name, "ssl.endpoint.identification.algorithm"))
        return strcasecmp(p->value, "none") != 0
                   ? NULL
                   : "host names in certificates of brokers are not verified, so any server with a "
                     "certificate of this authority can read and change all messages; remove it";
    if (is_same(p->name, "sasl.oauthbearer.token.endpoint.url"))
        return strncmp(p->value, "http://", 7) != 0 || ek_url_is_loopback(p->value)
                   ? NULL
                   : "the client secret is sent unencrypted; use https";
    if (is_same(p->name, "security.protocol"))
        return plain && !strcasecmp(p->value, "sasl_plaintext")
                   ? "SASL PLAIN sends the password unencrypted; use sasl_ssl or SCRAM"
                   : NULL;
    return NULL;
}

/* Return the risk of a property's value, or NULL. */
static const char *risk_of(const struct ek_property *p, const struct ek_property_list *list)
{
    static const char ends[] = "a longer broker outage ends the program; remove it";
    if (is_same(p->name, "message.timeout.ms") || is_same(p->name, "delivery.timeout.ms"))
        return is_same(p->value, "0") ? NULL : ends;
    if (is_same(p->name, "retries") || is_same(p->name, "message.send.max.retries"))
        return strtol(p->value, NULL, 10) < RETRIES_MANY ? ends : NULL;
    if (is_same(p->name, "enable.idempotence"))
        return is_true(p->value) ? NULL
                                 : "lists may be reordered when a request is rejected; remove it";
    if (is_same(p->name, "isolation.level"))
        return is_same(p->value, "read_uncommitted")
                   ? "messages of aborted transactions are read too; remove it"
                   : NULL;
    if (is_same(p->name, "enable.gapless.guarantee"))
        return is_true(p->value) ? "one rejected message ends the program; remove it" : NULL;
    return exposure_of(p, list);
}

static int note_list(struct ek_config *c, const struct ek_property_list *list, struct ek_error *e)
{
    for (size_t i = 0; i < list->count; i++) {
        const struct ek_property *p = &list->items[i];
        const char *risk = risk_of(p, list);
        struct ek_error note;
        if (!risk)
            continue;
        ek_fail_at(&note, EK_ECONFIG, p->line ? c->path : NULL, p->line, p->column,
                   "librdkafka property '%s': %s", p->name, risk);
        if (ek_error_list_add(&c->notes, &note) == EK_ENOMEM)
            return ek_fail(e, EK_ENOMEM, "out of memory");
    }
    return EK_OK;
}

int ek_config_warn_properties(struct ek_config *c, struct ek_error *e)
{
    int rc = note_list(c, &c->librdkafka, e);
    return rc ? rc : note_list(c, &c->output_librdkafka, e);
}
