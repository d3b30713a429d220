/* Memory accounting of in-flight messages: value, key and headers, in bytes.
 *
 * Each byte exists at most three times: in the fetched message, in the output and in the produce
 * request. The output holds copies of a changed value and of the key, and a list of headers.
 * librdkafka 2.0 takes 88 bytes of list per header, so EK_HEADER_BYTES is added for each. The list
 * exists only from output to acknowledgment: ek_inflight_accounting_init frees the list it reads.
 * One thread at a time per message.
 */
#ifndef EK_DAEMON_KAFKA_INFLIGHT_ACCOUNTING_H
#define EK_DAEMON_KAFKA_INFLIGHT_ACCOUNTING_H

#include <librdkafka/rdkafka.h>
#include <stddef.h>

enum { EK_HEADER_BYTES = 40 }; /* list overhead of a header */

/* Return the bytes of value, key and headers. Headers of unknown size count as `unread`, the limit
 * of bytes in flight. */
size_t ek_inflight_accounting_init(rd_kafka_message_t *m, size_t unread);

#endif
