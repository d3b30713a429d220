/* broker TOPIC...: librdkafka's mock cluster with these topics, for tests of the page that need a
 * running stage but no delivery guarantees. Prints its address, then sends frames from standard
 * input to the first topic: u32 length, little-endian, and that many bytes. A length of 0 flushes
 * and prints the total count. Ends with its input. */
#include "base/alloc.h"
#include "base/error.h"
#include "daemon/kafka/mock_cluster.h"
#include "daemon/kafka/tool_client.h"

#include <inttypes.h>
#include <stdio.h>

enum { MESSAGE_MAX = 4 << 20, FLUSH_MS = 30000 };

static int flushed(struct ek_tool_producer *sender, uint64_t count, struct ek_error *e)
{
    int rc = ek_tool_producer_flush(sender, FLUSH_MS, e);
    if (!rc)
        printf("%" PRIu64 "\n", count);
    fflush(stdout);
    return rc;
}

static int send_one(struct ek_tool_producer *sender, char *bytes, uint32_t length,
                    struct ek_error *e)
{
    const struct ek_kafka_record record = {
        .partition = 0, .timestamp_ms = -1, .bytes = bytes, .length = length};
    if (length > MESSAGE_MAX || fread(bytes, 1, length, stdin) != length)
        return ek_fail(e, EK_EFORMAT, "a message that is cut short or too long");
    return ek_tool_producer_send(sender, &record, e);
}

static int pass_on(struct ek_tool_producer *sender, struct ek_error *e)
{
    char *bytes = ek_calloc(1, MESSAGE_MAX);
    uint32_t length;
    uint64_t count = 0;
    int rc = bytes ? EK_OK : ek_fail(e, EK_ENOMEM, "no memory");
    while (!rc && fread(&length, sizeof length, 1, stdin) == 1) {
        rc = length ? send_one(sender, bytes, length, e) : flushed(sender, count, e);
        count += length != 0;
    }
    ek_free(bytes);
    return rc;
}

int main(int argc, char **argv)
{
    struct ek_mock *mock = NULL;
    struct ek_tool_producer *sender = NULL;
    struct ek_error e = {0};
    char text[700];
    if (argc < 2)
        return 2;
    int rc = ek_mock_start(&mock, &e);
    for (int i = 1; i < argc && !rc; i++)
        rc = ek_mock_topic(mock, argv[i], 1, &e);
    if (!rc) {
        puts(ek_mock_brokers(mock));
        fflush(stdout);
        rc = ek_tool_producer_new(&sender, ek_mock_brokers(mock), argv[1], EK_TOOL_PRODUCER_ORDERED,
                                  &e);
    }
    if (!rc)
        rc = pass_on(sender, &e);
    if (rc)
        fprintf(stderr, "broker: %s\n", ek_error_text(&e, text, sizeof text));
    ek_tool_producer_free(sender);
    ek_mock_stop(mock);
    return rc ? 1 : 0;
}
