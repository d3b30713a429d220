/* Choice of the topic in `evenkeel watch`: the only one whose messages are lists. One thread. */
#ifndef EK_DAEMON_COMMANDS_WATCH_TOPIC_H
#define EK_DAEMON_COMMANDS_WATCH_TOPIC_H

#include "daemon/kafka/tool_client.h"

/* Set *topic to the only topic with lists among the first messages of each, which the caller frees.
 * Blocks for up to wait_ms until a broker answers. Return 0; EK_EUSAGE with the candidates if none
 * or several have lists, or if there are too many topics; EK_EIO or EK_ENOMEM. */
int ek_watch_find_topic(const struct ek_brokers *brokers, int wait_ms, char **topic,
                        struct ek_error *e);

#endif
