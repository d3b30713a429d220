#include "daemon/kafka/kafka_error.h"

#include <string.h>

enum {
    REASON_BYTES = 400,
    TEXT_BYTES = 500,
    PROBE_MS = 100,
    BEHIND_FETCH_MS = 700 /* fetch.wait.max.ms, which is 500, and some */
};

static enum ek_counter counter_of(enum ek_kafka_class class, enum ek_kafka_theme theme)
{
    switch (class == EK_KAFKA_ABORT ? EK_KAFKA_ORDINARY : theme) {
    case EK_KAFKA_CREDENTIALS:
        return EK_COUNT_KAFKA_CREDENTIALS;
    case EK_KAFKA_TLS:
        return EK_COUNT_KAFKA_TLS;
    case EK_KAFKA_AUTHORISATION:
        return EK_COUNT_KAFKA_AUTHORISATION;
    default:
        return EK_COUNT_KAFKA_RETRIABLE + class;
    }
}

static enum ek_trouble_kind trouble_of(rd_kafka_resp_err_t err, enum ek_kafka_theme theme)
{
    switch (theme) {
    case EK_KAFKA_CREDENTIALS:
        return EK_TROUBLE_CREDENTIALS;
    case EK_KAFKA_TLS:
        return EK_TROUBLE_TLS;
    case EK_KAFKA_AUTHORISATION:
        return EK_TROUBLE_AUTHORISATION;
    default:
        return err == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN ? EK_TROUBLE_NO_BROKER : EK_TROUBLE_NONE;
    }
}

struct telling {
    rd_kafka_resp_err_t err;
    enum ek_kafka_class class;
    enum ek_kafka_where where;
    const char *topic, *reason;
};

/* Counts, logs, and writes what was said. */
static void tell(struct ek_kafka_watch *w, const struct telling *t, char text[TEXT_BYTES])
{
    enum ek_kafka_theme theme = ek_kafka_theme(t->err, t->reason);
    char sentence[REASON_BYTES];
    ek_kafka_sentence(sentence, sizeof sentence, w, t->err, t->where, t->topic, t->reason);
    snprintf(text, TEXT_BYTES, "%s (%s, %s, %s)", sentence, rd_kafka_err2name(t->err), w->role,
             ek_kafka_class_name(t->class));
    if (w->metrics)
        ek_metrics_count(w->metrics, counter_of(t->class, theme), 1);
    ek_trouble_tell(w->trouble, trouble_of(t->err, theme), sentence);
    ek_log_text(w->log, t->class == EK_KAFKA_FATAL ? EK_LOG_ERROR : EK_LOG_WARN, "kafka_error",
                text);
}

void ek_kafka_tell(struct ek_kafka_watch *w, rd_kafka_resp_err_t err, enum ek_kafka_class class,
                   const char *reason)
{
    char text[TEXT_BYTES];
    tell(w, &(struct telling){.err = err, .class = class, .where = EK_KAFKA_TXN, .reason = reason},
         text);
}

enum ek_kafka_class ek_kafka_report_topic(struct ek_kafka_watch *w, rd_kafka_resp_err_t err,
                                          enum ek_kafka_where where, const char *topic,
                                          const char *reason)
{
    enum ek_kafka_class class = ek_kafka_classify(err, where);
    char text[TEXT_BYTES];
    tell(w, &(struct telling){err, class, where, topic, reason}, text);
    if (class == EK_KAFKA_FATAL) {
        struct ek_error e;
        ek_fail(&e, EK_EIO, "kafka: %s", text);
        ek_kafka_fail(w, &e);
    }
    return class;
}

enum ek_kafka_class ek_kafka_report(struct ek_kafka_watch *w, rd_kafka_resp_err_t err,
                                    enum ek_kafka_where where, const char *reason)
{
    return ek_kafka_report_topic(w, err, where, NULL, reason);
}

enum { NOT_FAILED, WRITING, FAILED };

void ek_kafka_fail(struct ek_kafka_watch *w, const struct ek_error *e)
{
    int none = NOT_FAILED;
    if (!atomic_compare_exchange_strong(&w->failed, &none, WRITING))
        return;
    w->failure = *e;
    w->failure.flags = EK_ERR_FATAL;
    atomic_store(&w->failed, FAILED);
}

int ek_kafka_failure(const struct ek_kafka_watch *w, struct ek_error *e)
{
    if (atomic_load(&w->failed) != FAILED)
        return EK_OK;
    if (e)
        *e = w->failure;
    return w->failure.code;
}

void ek_kafka_report_fatal(struct ek_kafka_watch *w, rd_kafka_t *client, const char *reason)
{
    char text[REASON_BYTES];
    rd_kafka_resp_err_t cause = rd_kafka_fatal_error(client, text, sizeof text);
    bool told = cause && ek_kafka_classify(cause, EK_KAFKA_CLIENT) == EK_KAFKA_FATAL;
    ek_kafka_report(w, told ? cause : RD_KAFKA_RESP_ERR__FATAL, EK_KAFKA_CLIENT,
                    cause ? text : reason);
}

static void on_error(rd_kafka_t *rk, int err, const char *reason, void *opaque)
{
    if (err == RD_KAFKA_RESP_ERR__FATAL)
        ek_kafka_report_fatal(opaque, rk, reason);
    else
        ek_kafka_report(opaque, (rd_kafka_resp_err_t)err, EK_KAFKA_CLIENT, reason);
}

/* librdkafka's levels are those of syslog. Properties of the other kind of client, which we pass to
 * both, are no news. */
static void on_log(const rd_kafka_t *rk, int level, const char *facility, const char *text)
{
    struct ek_kafka_watch *w = rk ? rd_kafka_opaque(rk) : NULL;
    char line[REASON_BYTES];
    if (!w)
        return;
    bool quiet = !strcmp(facility, "CONFWARN") || !strcmp(facility, "FAIL") ||
                 !strcmp(facility, "ERROR") || level > 5;
    snprintf(line, sizeof line, "%s: %s", facility, text);
    ek_log_text(w->log,
                quiet       ? EK_LOG_DEBUG
                : level > 4 ? EK_LOG_INFO
                            : EK_LOG_WARN,
                "kafka_log", line);
}

/* Leaves the verdict as OpenSSL has found it, and notes its number: the text that librdkafka
 * reports is the same for every reason. */
static int on_certificate(rd_kafka_t *rk, const char *broker, int32_t id, int *verdict, int depth,
                          const char *certificate, size_t size, char *why, size_t why_size,
                          void *opaque)
{
    struct ek_kafka_watch *w = opaque;
    (void)rk, (void)broker, (void)id, (void)certificate, (void)size;
    if (!*verdict)
        return 1;
    atomic_store(&w->certificate, *verdict);
    snprintf(why, why_size, "X509 error %d at depth %d", *verdict, depth);
    return 0;
}

static void note(const rd_kafka_conf_t *conf, const char *name, char *out, size_t size)
{
    if (rd_kafka_conf_get(conf, name, out, &size) != RD_KAFKA_CONF_OK)
        *out = 0;
}

static bool is_set(const rd_kafka_conf_t *conf, const char *name)
{
    size_t size = 0;
    return rd_kafka_conf_get(conf, name, NULL, &size) == RD_KAFKA_CONF_OK && size > 1;
}

void ek_kafka_watch_over(struct ek_kafka_watch *w, rd_kafka_conf_t *conf)
{
    char verified[8] = "";
    note(conf, "sasl.username", w->user, sizeof w->user);
    note(conf, "sasl.mechanisms", w->mechanism, sizeof w->mechanism);
    note(conf, "group.id", w->group, sizeof w->group);
    note(conf, "group.instance.id", w->group_instance, sizeof w->group_instance);
    note(conf, "transactional.id", w->transactional_id, sizeof w->transactional_id);
    w->own_certificate = is_set(conf, "ssl.certificate.location") ||
                         is_set(conf, "ssl.certificate.pem") ||
                         is_set(conf, "ssl.keystore.location");
    note(conf, "enable.ssl.certificate.verification", verified, sizeof verified);
    rd_kafka_conf_set_opaque(conf, w);
    rd_kafka_conf_set_error_cb(conf, on_error);
    rd_kafka_conf_set_log_cb(conf, on_log);
    if (!strcmp(verified, "true"))
        rd_kafka_conf_set_ssl_cert_verify_cb(conf, on_certificate);
}

void ek_kafka_probe(rd_kafka_t *client, struct ek_kafka_watch *w)
{
    struct ek_trouble_state state;
    const struct rd_kafka_metadata *answer;
    if (!ek_trouble_look(w->trouble, &state))
        return;
    rd_kafka_resp_err_t err = rd_kafka_metadata(client, 0, NULL, &answer, PROBE_MS);
    if (err == RD_KAFKA_RESP_ERR__TIMED_OUT) /* one is there, but answers a fetch first */
        err = rd_kafka_metadata(client, 0, NULL, &answer, BEHIND_FETCH_MS);
    if (err)
        return;
    rd_kafka_metadata_destroy(answer);
    ek_trouble_heard(w->trouble);
}
