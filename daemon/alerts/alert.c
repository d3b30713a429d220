#include "daemon/alerts/alert.h"

#include "base/buf.h"
#include "base/hash.h"
#include "daemon/base/columns.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct kind {
    const char *name, *title;
    enum ek_alert_severity severity;
};

static const struct kind KINDS[EK_ALERT_KINDS] = {
    [EK_ALERT_DRIFT] = {"drift", "EvenkeelDrift", EK_ALERT_WARNING},
    [EK_ALERT_ROUTE_WITHDRAWN] = {"route-withdrawn", "EvenkeelRouteWithdrawn", EK_ALERT_CRITICAL},
    [EK_ALERT_LIMIT_REACHED] = {"limit-reached", "EvenkeelLimitReached", EK_ALERT_WARNING},
    [EK_ALERT_PAUSED] = {"paused", "EvenkeelPaused", EK_ALERT_WARNING},
    [EK_ALERT_FLEET_CUT_OFF] = {"fleet-cut-off", "EvenkeelFleetCutOff", EK_ALERT_CRITICAL},
    [EK_ALERT_FLEET_NAME_SHARED] = {"fleet-name-shared", "EvenkeelFleetNameShared",
                                    EK_ALERT_CRITICAL},
    [EK_ALERT_RELOAD_REFUSED] = {"reload-refused", "EvenkeelReloadRefused", EK_ALERT_WARNING},
    [EK_ALERT_MODEL_DRIFT] = {"model-drift", "EvenkeelModelDrift", EK_ALERT_WARNING},
    [EK_ALERT_TEST] = {"test", "EvenkeelTest", EK_ALERT_INFO},
};

const char *ek_alert_kind_name(enum ek_alert_kind kind)
{
    return KINDS[kind].name;
}

const char *ek_alert_title(enum ek_alert_kind kind)
{
    return KINDS[kind].title;
}

const char *ek_alert_severity_name(enum ek_alert_severity severity)
{
    static const char *const names[] = {"info", "warning", "critical"};
    return names[severity];
}

/* Of the limits those that keep an action back let faults through. */
static bool holds_back(const char *limit)
{
    return !strcmp(limit, "plan") || !strncmp(limit, "max_routed_", sizeof "max_routed_" - 1);
}

enum ek_alert_severity ek_alert_severity_of(const struct ek_alert *a)
{
    if (a->kind == EK_ALERT_LIMIT_REACHED && holds_back(a->limit))
        return EK_ALERT_CRITICAL;
    return KINDS[a->kind].severity;
}

bool ek_alert_same(const struct ek_alert *a, const struct ek_alert *b)
{
    return a->kind == b->kind && !strcmp(a->feature, b->feature) &&
           !strcmp(a->segment, b->segment) && !strcmp(a->class, b->class) &&
           !strcmp(a->limit, b->limit) && !strcmp(a->instance, b->instance);
}

/* Names may have slashes, too: two alerts must not have one key. */
static size_t add_part(char *out, size_t at, size_t size, const char *part)
{
    if (at < size)
        at += (size_t)snprintf(out + at, size - at, "/");
    for (; *part && at < size; part++)
        at += (size_t)snprintf(out + at, size - at, *part == '/' ? "%%2F" : "%c", *part);
    return at;
}

void ek_alert_key(const struct ek_alert *a, const char *service, char out[EK_ALERT_KEY_BYTES])
{
    enum { HASH_BYTES = 17, ALL_BYTES = 4000 };
    char all[ALL_BYTES] = "evenkeel";
    const char *const parts[] = {
        service,    ek_alert_kind_name(a->kind), a->feature, a->segment, a->class, a->limit,
        a->instance};
    size_t length = strlen(all);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (*parts[i])
            length = add_part(all, length, sizeof all, parts[i]);
    if (length < EK_ALERT_KEY_BYTES) {
        snprintf(out, EK_ALERT_KEY_BYTES, "%s", all);
        return;
    }
    ek_alert_copy(out, EK_ALERT_KEY_BYTES - HASH_BYTES, all);
    size_t end = strlen(out);
    snprintf(out + end, EK_ALERT_KEY_BYTES - end, "/%016" PRIx64, ek_hash(all, strlen(all), 0));
}

void ek_alert_sentence(const struct ek_alert *a, char out[EK_ALERT_SENTENCE_BYTES])
{
    enum { NAMED = 3 };
    char all[2 * EK_ALERT_SENTENCE_BYTES], more[EK_ALERT_WORD_BYTES] = "";
    if (a->features_count > NAMED)
        snprintf(more, sizeof more, " and %d more", a->features_count - 1);
    snprintf(all, sizeof all, "%s%s%s",
             a->features_count > 1 && !*more ? a->features
             : a->features_count             ? a->feature
                                             : "",
             more, a->summary);
    ek_alert_copy(out, EK_ALERT_SENTENCE_BYTES, all);
    ek_make_safe(out);
}

void ek_alert_copy(char *out, size_t size, const char *text)
{
    snprintf(out, size, "%.*s", (int)ek_utf8_within(text, size - 1), text);
}
