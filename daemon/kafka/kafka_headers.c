#include "daemon/kafka/kafka_headers.h"

int ek_kafka_headers_of(rd_kafka_message_t *m, rd_kafka_headers_t **headers)
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
        rd_kafka_message_set_headers(m, NULL); /* which frees them */
    return err != RD_KAFKA_RESP_ERR__NOENT;
}

void ek_kafka_add_header(rd_kafka_headers_t *headers, const char *name, const char *value)
{
    rd_kafka_header_add(headers, name, -1, value, -1);
}
