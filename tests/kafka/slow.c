/* LD_PRELOAD library, loaded before librdkafka, that delays a worker by SLOW_MS per message. It
 * hooks the call that detaches the headers of each forwarded message. With NO_PROTOCOL,
 * rd_kafka_rebalance_protocol returns NULL, as when the group ends before its member has closed. */
#include <dlfcn.h>
#include <librdkafka/rdkafka.h>
#include <stdlib.h>
#include <time.h>

typedef rd_kafka_resp_err_t headers_of(rd_kafka_message_t *, rd_kafka_headers_t **);

rd_kafka_resp_err_t rd_kafka_message_detach_headers(rd_kafka_message_t *message,
                                                    rd_kafka_headers_t **headers)
{
    const char *slow = getenv("SLOW_MS");
    long ms = slow ? strtol(slow, NULL, 10) : 0;
    union {
        void *symbol;
        headers_of *call;
    } real = {dlsym(RTLD_NEXT, "rd_kafka_message_detach_headers")};
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL);
    return real.call(message, headers);
}

const char *rd_kafka_rebalance_protocol(rd_kafka_t *client)
{
    typedef const char *protocol_of(rd_kafka_t *);
    union {
        void *symbol;
        protocol_of *call;
    } real = {dlsym(RTLD_NEXT, "rd_kafka_rebalance_protocol")};
    return getenv("NO_PROTOCOL") ? NULL : real.call(client);
}
