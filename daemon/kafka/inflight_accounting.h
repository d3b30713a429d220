/* What a message that was read holds until its output is acknowledged: its key and headers count as
 * its value does, so that none of them can fill the memory beside the limits.
 *
 * Each byte is there three times at most: in what was fetched; in the output (a copy of a value
 * that was changed and of the key, the headers as a list); and in the request that is on its way. A
 * header takes EK_HEADER_BYTES more each time: librdkafka 2.0 has 88 bytes of list for a header
 * without a byte. They are a list from when a worker has an output to when that is acknowledged,
 * not before: ek_inflight_accounting_init gives back what it has read. Units: bytes. Owner: the
 * caller. Threads: any, one at a time per message.
 */
#ifndef EK_DAEMON_KAFKA_INFLIGHT_ACCOUNTING_H
#define EK_DAEMON_KAFKA_INFLIGHT_ACCOUNTING_H

#include <librdkafka/rdkafka.h>
#include <stddef.h>

enum { EK_HEADER_BYTES = 40 }; /* what a header takes beside its name and value */

/* Value, key and headers. Where headers cannot be read nobody knows how large they are: `unread`
 * stands for them, the most that may be in flight. */
size_t ek_inflight_accounting_init(rd_kafka_message_t *m, size_t unread);

#endif
