#include "daemon/kafka_client.h"

static void swallow_log(const rd_kafka_t *rk, int level, const char *facility, const char *text)
{
    (void)rk;
    (void)level;
    (void)facility;
    (void)text;
}

int ek_kafka_client(rd_kafka_t **out, rd_kafka_type_t type, const char *brokers,
                    const struct ek_kafka_setting *settings, size_t count,
                    ek_kafka_delivery_fn *delivered, void *opaque, struct ek_error *e)
{
    char why[300] = "";
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    rd_kafka_conf_res_t res =
        rd_kafka_conf_set(conf, "bootstrap.servers", brokers, why, sizeof why);
    for (size_t i = 0; res == RD_KAFKA_CONF_OK && i < count; i++)
        res = rd_kafka_conf_set(conf, settings[i].name, settings[i].value, why, sizeof why);
    rd_kafka_conf_set_log_cb(conf, swallow_log);
    rd_kafka_conf_set_opaque(conf, opaque);
    if (delivered)
        rd_kafka_conf_set_dr_msg_cb(conf, delivered);
    rd_kafka_t *client = res == RD_KAFKA_CONF_OK ? rd_kafka_new(type, conf, why, sizeof why) : NULL;
    if (!client) {
        rd_kafka_conf_destroy(conf);
        return ek_fail(e, EK_EIO, "kafka client: %s", why);
    }
    *out = client;
    return EK_OK;
}
