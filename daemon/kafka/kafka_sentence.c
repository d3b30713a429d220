/* Sentences about errors that people can mend: who was refused what, and where to look. */
#include "daemon/kafka/kafka_error.h"

#include <string.h>

/* Of X509_V_ERR_*, as OpenSSL numbers them. */
static const struct {
    int code;
    const char *text;
} CERTIFICATES[] = {
    {9, "the broker's certificate is not valid yet: compare the clocks"},
    {10, "the broker's certificate has expired"},
    {18, "the broker's certificate is signed by itself: check ssl.ca.location"},
    {19, "the broker's certificate is not signed by an authority we know: check ssl.ca.location"},
    {20, "the broker's certificate is not signed by an authority we know: check ssl.ca.location"},
    {21, "the broker's certificate is not signed by an authority we know: check ssl.ca.location"},
    {23, "the broker's certificate was revoked"},
    {62, "the broker's certificate is for another host name: use a name that it has"},
    {64, "the broker's certificate is for another address: use a name that it has"},
};

static const char ENDS_EARLY[] = "the connection ends while it is made: the broker may not speak "
                                 "TLS there, check the port and security.protocol";

/* Of texts by OpenSSL and librdkafka. */
static const struct {
    const char *word, *text;
} HANDSHAKES[] = {
    {"alert bad certificate", "the broker refuses our client certificate: check "
                              "ssl.certificate.location and ssl.key.location"},
    {"alert unknown ca", "the broker does not know who signed our client certificate: check "
                         "ssl.certificate.location"},
    {"alert certificate expired", "our client certificate has expired"},
    {"alert certificate unknown", "the broker refuses our client certificate, which may have "
                                  "expired: check ssl.certificate.location"},
    {"alert handshake failure", "the broker may ask for a client certificate: check "
                                "ssl.certificate.location and ssl.key.location"},
    {"wrong version number", "the broker does not speak TLS there: check the port and "
                             "security.protocol"},
    {"unexpected message", "the broker may not speak TLS there: check the port and "
                           "security.protocol"},
    {"packet length", "the broker does not speak TLS there: check the port and security.protocol"},
    {"unexpected eof", ENDS_EARLY},
    {"PLAINTEXT broker", ENDS_EARLY}, /* a guess of librdkafka 2.10 and later, for the same */
    {"verify failed", "the broker's certificate is not trusted: check ssl.ca.location"},
};

static const char *tls_text(const struct ek_kafka_watch *w, const char *reason)
{
    bool ours = strstr(reason, "verify failed") != NULL;
    int certificate = atomic_load(&w->certificate);
    if (!w->own_certificate && strstr(reason, "certificate") && strstr(reason, " alert "))
        return "the broker asks for a client certificate: check ssl.certificate.location and "
               "ssl.key.location";
    for (size_t i = 0; ours && i < sizeof CERTIFICATES / sizeof *CERTIFICATES; i++)
        if (CERTIFICATES[i].code == certificate)
            return CERTIFICATES[i].text;
    for (size_t i = 0; i < sizeof HANDSHAKES / sizeof *HANDSHAKES; i++)
        if (strstr(reason, HANDSHAKES[i].word))
            return HANDSHAKES[i].text;
    return "no secure connection: check the properties ssl.*";
}

static void say_credentials(char *out, size_t size, const struct ek_kafka_watch *w,
                            rd_kafka_resp_err_t err, const char *reason)
{
    if (err == RD_KAFKA_RESP_ERR_UNSUPPORTED_SASL_MECHANISM ||
        strstr(reason, "mechanism handshake") || strstr(reason, "nsupported SASL mechanism"))
        snprintf(out, size,
                 "wrong credentials: the broker does not take SASL mechanism '%s': "
                 "check sasl.mechanism: %s",
                 w->mechanism, reason);
    else
        snprintf(out, size,
                 "wrong credentials: the broker refuses user '%s' (%s): check "
                 "sasl.username and sasl.password: %s",
                 w->user, w->mechanism, reason);
}

static const char *operation(const struct ek_kafka_watch *w, rd_kafka_resp_err_t err,
                             enum ek_kafka_where where)
{
    if (err == RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED)
        return "IdempotentWrite";
    if (err == RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED)
        return "Read";
    return where == EK_KAFKA_CONSUME || where == EK_KAFKA_COMMIT || strcmp(w->role, "producer") != 0
               ? "Read"
               : "Write";
}

/* What the right is missing on: `kind` 'name'. */
static const char *resource(const struct ek_kafka_watch *w, rd_kafka_resp_err_t err,
                            const char *topic, const char **kind)
{
    switch (err) {
    case RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED:
        *kind = "group";
        return w->group;
    case RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED:
        *kind = "transactional id";
        return w->transactional_id;
    case RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED:
        *kind = "cluster";
        return "kafka-cluster";
    default:
        *kind = "topic";
        return topic ? topic : "?";
    }
}

static void say_authorisation(char *out, size_t size, const struct ek_kafka_watch *w,
                              rd_kafka_resp_err_t err, enum ek_kafka_where where, const char *topic,
                              const char *reason)
{
    const char *kind, *name = resource(w, err, topic, &kind);
    snprintf(out, size, "no right: %s%s%s needs %s on %s '%s': %s", *w->user ? "user '" : "",
             *w->user ? w->user : "this client", *w->user ? "'" : "", operation(w, err, where),
             kind, name, reason);
}

void ek_kafka_sentence(char *out, size_t size, const struct ek_kafka_watch *w,
                       rd_kafka_resp_err_t err, enum ek_kafka_where where, const char *topic,
                       const char *reason)
{
    reason = reason && *reason ? reason : rd_kafka_err2str(err);
    switch (ek_kafka_theme(err, reason)) {
    case EK_KAFKA_CREDENTIALS:
        say_credentials(out, size, w, err, reason);
        return;
    case EK_KAFKA_TLS:
        snprintf(out, size, "TLS: %s: %s", tls_text(w, reason), reason);
        return;
    case EK_KAFKA_AUTHORISATION:
        say_authorisation(out, size, w, err, where, topic, reason);
        return;
    case EK_KAFKA_ORDINARY:
        break;
    }
    if (err == RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID)
        snprintf(out, size,
                 "another member of the group has taken this one's group.instance.id '%s': give "
                 "each instance one of its own: %s",
                 w->group_instance, reason);
    else if (err == RD_KAFKA_RESP_ERR__BAD_COMPRESSION)
        snprintf(out, size,
                 "topic '%s': a compressed batch cannot be unpacked, and until it can nothing "
                 "behind it in its partition is read: it is damaged, or is more than "
                 "receive.message.max.bytes when unpacked: raise that: %s",
                 topic ? topic : "?", reason);
    else
        snprintf(out, size, "%s%s%s%s", topic ? "topic '" : "", topic ? topic : "",
                 topic ? "': " : "", reason);
}
