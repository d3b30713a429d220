#include "daemon/kafka/client.h"

#include "daemon/kafka/client_conf.h"

int ek_kafka_headers_get(rd_kafka_message_t *m, rd_kafka_headers_t **headers)
{
    rd_kafka_headers_t *found;
    rd_kafka_resp_err_t err = rd_kafka_message_detach_headers(m, &found);
    *headers = NULL;
    if (err)
        return err == RD_KAFKA_RESP_ERR__NOENT ? EK_OK : EK_ELIMIT;
    if (rd_kafka_header_cnt(found) > EK_MESSAGE_HEADERS_MAX) {
        rd_kafka_headers_destroy(found);
        return EK_ELIMIT;
    }
    *headers = found;
    return EK_OK;
}

bool ek_kafka_has_headers(rd_kafka_message_t *m)
{
    rd_kafka_headers_t *found;
    rd_kafka_resp_err_t err = rd_kafka_message_headers(m, &found);
    if (!err)
        rd_kafka_message_set_headers(m, NULL); /* frees the parsed list */
    return err != RD_KAFKA_RESP_ERR__NOENT;
}

void ek_kafka_add_header(rd_kafka_headers_t *headers, const char *name, const char *value)
{
    rd_kafka_header_add(headers, name, -1, value, -1);
}

static int set_all(rd_kafka_conf_t *conf, const struct ek_brokers *brokers,
                   const struct ek_kafka_setting *settings, size_t count, struct ek_error *e)
{
    int rc = ek_kafka_conf_set(conf, "bootstrap.servers", brokers->addresses, e);
    for (size_t i = 0; !rc && i < count; i++)
        rc = ek_kafka_conf_set(conf, settings[i].name, settings[i].value, e);
    for (size_t i = 0; !rc && brokers->properties && i < brokers->properties->count; i++)
        rc = ek_kafka_conf_set_property(conf, &brokers->properties->items[i], e);
    return rc;
}

int ek_kafka_client(rd_kafka_t **out, rd_kafka_type_t type, const struct ek_brokers *brokers,
                    const struct ek_kafka_setting *settings, size_t count,
                    ek_kafka_delivery_fn *delivered, struct ek_kafka_watch *watch,
                    struct ek_error *e)
{
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    int rc = set_all(conf, brokers, settings, count, e);
    if (rc) {
        rd_kafka_conf_destroy(conf);
        return rc;
    }
    ek_kafka_watch_attach(watch, conf);
    if (delivered)
        rd_kafka_conf_set_dr_msg_cb(conf, delivered);
    return ek_kafka_make(out, type, conf, EK_EIO, "kafka client", e);
}

int ek_kafka_make(rd_kafka_t **out, rd_kafka_type_t type, rd_kafka_conf_t *conf, enum ek_code code,
                  const char *what, struct ek_error *e)
{
    char why[300] = "";
    *out = rd_kafka_new(type, conf, why, sizeof why);
    if (!*out) {
        rd_kafka_conf_destroy(conf);
        return ek_fail(e, code, "%s: %s", what, why);
    }
    if (type == RD_KAFKA_CONSUMER)
        rd_kafka_poll_set_consumer(*out);
    return EK_OK;
}

void ek_kafka_signal_on_event(rd_kafka_queue_t *queue, const struct ek_wakeup *wakeup)
{
    static const uint64_t one = 1;
    rd_kafka_queue_io_event_enable(queue, wakeup->fd, &one, sizeof one);
}

int64_t ek_kafka_time_ms(const rd_kafka_message_t *m)
{
    rd_kafka_timestamp_type_t type;
    int64_t stamp = rd_kafka_message_timestamp(m, &type);
    return type == RD_KAFKA_TIMESTAMP_NOT_AVAILABLE ? -1 : stamp;
}
