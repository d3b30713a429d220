/* What an event of ours is as a CloudEvent 1.0 (docs/alerts.md): its attributes, which travel as
 * headers beside the JSON.
 *
 * The id is a hash of the event, so that an event that is sent twice has the same one. Value type;
 * texts that are too long are cut. Threads: any.
 */
#ifndef EK_DAEMON_CLOUD_EVENT_H
#define EK_DAEMON_CLOUD_EVENT_H

#include "daemon/base/rfc3339.h"
#include "guard/event.h"

#include <stdint.h>

enum { EK_CLOUD_SOURCE_BYTES = 400, EK_CLOUD_TYPE_BYTES = 60 };

struct ek_cloud_event {
    char id[17];
    char source[EK_CLOUD_SOURCE_BYTES]; /* a URI reference: "/evenkeel/hotel-ranker" */
    char type[EK_CLOUD_TYPE_BYTES];     /* "evenkeel.finding" */
    char time[EK_RFC3339_BYTES];        /* that of the event, in its stream */
};

/* json: the event. now_ms: for an event without a time. */
void ek_cloud_event_of(struct ek_cloud_event *out, const char *service, const struct ek_event *v,
                       const char *json, int64_t now_ms);

#endif
