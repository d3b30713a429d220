#include "daemon/kafka/cloud_event.h"

#include "base/hash.h"
#include "daemon/base/url.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void ek_cloud_event_of(struct ek_cloud_event *out, const char *service, const struct ek_event *v,
                       const char *json, int64_t now_ms)
{
    const char *kind = ek_event_kind_name(v->kind);
    static const char root[] = "/evenkeel/";
    snprintf(out->id, sizeof out->id, "%016" PRIx64, ek_hash(json, strlen(json), 0));
    snprintf(out->source, sizeof out->source, "%s", root);
    ek_url_escape(service, out->source + sizeof root - 1, sizeof out->source - sizeof root + 1);
    snprintf(out->type, sizeof out->type, "evenkeel.%s", kind ? kind : "event");
    ek_rfc3339(kind ? v->time_ms : now_ms, out->time);
}
