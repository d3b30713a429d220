#include "daemon/kafka/inflight_accounting.h"

#include <string.h>

static size_t bytes_of(const rd_kafka_headers_t *headers)
{
    size_t bytes = 0, length;
    const char *name;
    const void *value;
    for (size_t i = 0; !rd_kafka_header_get_all(headers, i, &name, &value, &length); i++)
        bytes += EK_HEADER_BYTES + strlen(name) + length;
    return bytes;
}

size_t ek_inflight_accounting_init(rd_kafka_message_t *m, size_t unread)
{
    rd_kafka_headers_t *headers;
    size_t bytes = m->len + m->key_len;
    rd_kafka_resp_err_t err = rd_kafka_message_headers(m, &headers);
    if (err == RD_KAFKA_RESP_ERR__NOENT)
        return bytes;
    if (err)
        return bytes + unread;
    bytes += bytes_of(headers);
    rd_kafka_message_set_headers(m, NULL); /* frees the parsed list */
    return bytes;
}
