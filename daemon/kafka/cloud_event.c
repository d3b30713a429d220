#include "daemon/kafka/cloud_event.h"

#include "base/hash.h"
#include "daemon/base/url.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char HEAD[] = "{\"event\":\"", TIME[] = "\"time_ms\":";

/* Only what is a key has a quote on both of its sides that nothing escapes. */
static int64_t time_of(const char *json, int64_t now_ms)
{
    const char *at = strstr(json, TIME);
    return at ? strtoll(at + sizeof TIME - 1, NULL, 10) : now_ms;
}

static void write_type(char *out, const char *json)
{
    const char *word = strncmp(json, HEAD, sizeof HEAD - 1) ? "event" : json + sizeof HEAD - 1;
    size_t length = strspn(word, "abcdefghijklmnopqrstuvwxyz_");
    snprintf(out, EK_CLOUD_TYPE_BYTES, "evenkeel.%.*s", length < 40 ? (int)length : 40, word);
}

void ek_cloud_event_of(struct ek_cloud_event *out, const char *service, const char *json,
                       int64_t now_ms)
{
    static const char root[] = "/evenkeel/";
    snprintf(out->id, sizeof out->id, "%016" PRIx64, ek_hash(json, strlen(json), 0));
    snprintf(out->source, sizeof out->source, "%s", root);
    ek_url_escape(service, out->source + sizeof root - 1, sizeof out->source - sizeof root + 1);
    write_type(out->type, json);
    ek_rfc3339(time_of(json, now_ms), out->time);
}
