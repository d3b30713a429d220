/* Alertmanager, PagerDuty and the plain format. */
#include "daemon/alerts/alert_parts.h"

#include "base/error.h"

#include <stdio.h>
#include <string.h>

static const char *severity_of(const struct ek_alert *a)
{
    return ek_alert_severity_name(ek_alert_severity_of(a));
}

static int add_labels(struct ek_buf *out, const struct ek_alert_about *about,
                      const struct ek_alert *a)
{
    int rc = ek_alert_open(out, "labels", '{');
    if (!rc)
        rc = ek_alert_pair(out, "alertname", ek_alert_title(a->kind));
    if (!rc)
        rc = ek_alert_pair(out, "service", about->service);
    if (!rc)
        rc = ek_alert_pair(out, "severity", severity_of(a));
    if (!rc)
        rc = ek_alert_identity(out, a);
    return rc ? rc : ek_buf_text(out, "}");
}

static int add_texts(struct ek_buf *out, const struct ek_alert *a)
{
    char sentence[EK_ALERT_SENTENCE_BYTES];
    ek_alert_sentence(a, sentence);
    int rc = ek_alert_pair(out, "summary", sentence);
    if (!rc)
        rc = ek_alert_pair(out, "evidence", a->evidence);
    if (!rc)
        rc = ek_alert_pair(out, "action", a->action);
    return rc ? rc : ek_alert_pair(out, "features", a->features);
}

static int add_numbers(struct ek_buf *out, const struct ek_alert *a,
                       int (*add)(struct ek_buf *out, const char *key, double value))
{
    int rc = add(out, "factor", a->factor);
    if (!rc)
        rc = add(out, "factor_low", a->factor_low);
    if (!rc)
        rc = add(out, "factor_high", a->factor_high);
    return rc ? rc : add(out, "share", a->share);
}

static int add_links(struct ek_buf *out, const struct ek_alert_about *about,
                     const struct ek_alert *a)
{
    char link[EK_ALERT_LINK_BYTES];
    ek_alert_runbook(about, a, link);
    int rc = ek_alert_pair(out, "runbook_url", link);
    ek_alert_page(about, a, link);
    return rc ? rc : ek_alert_pair(out, "page_url", link);
}

static int add_annotations(struct ek_buf *out, const struct ek_alert_about *about,
                           const struct ek_alert *a)
{
    int rc = ek_alert_open(out, "annotations", '{');
    if (!rc)
        rc = add_texts(out, a);
    if (!rc)
        rc = add_numbers(out, a, ek_alert_number_text);
    if (!rc)
        rc = add_links(out, about, a);
    return rc ? rc : ek_buf_text(out, "}");
}

/* The stream may be ahead of the machine, and its past may be long ago: an end is never before its
 * beginning. */
static int add_times(struct ek_buf *out, const struct ek_alert *a, int64_t now_ms, int64_t until_ms)
{
    int64_t end = a->firing ? until_ms : a->ended_ms < now_ms ? a->ended_ms : now_ms;
    int64_t start = a->since_ms < end ? a->since_ms : end - 1;
    int rc = ek_alert_time(out, "startsAt", start < now_ms ? start : now_ms);
    return rc ? rc : ek_alert_time(out, "endsAt", end);
}

int ek_alert_alertmanager(struct ek_buf *out, const struct ek_alert_about *about,
                          const struct ek_alert *a, int64_t now_ms, int64_t until_ms)
{
    char link[EK_ALERT_LINK_BYTES];
    ek_alert_page(about, a, link);
    int rc = ek_buf_text(out, "[{");
    if (!rc)
        rc = add_labels(out, about, a);
    if (!rc)
        rc = add_annotations(out, about, a);
    if (!rc)
        rc = add_times(out, a, now_ms, until_ms);
    if (!rc)
        rc = ek_alert_pair(out, "generatorURL", link);
    return rc ? rc : ek_buf_text(out, "}]");
}

static int add_link(struct ek_buf *out, const char *href, const char *text)
{
    if (strncmp(href, "http", 4) != 0)
        return EK_OK;
    int rc = ek_alert_open(out, NULL, '{');
    if (!rc)
        rc = ek_alert_pair(out, "href", href);
    if (!rc)
        rc = ek_alert_pair(out, "text", text);
    return rc ? rc : ek_buf_text(out, "}");
}

static int add_link_list(struct ek_buf *out, const struct ek_alert_about *about,
                         const struct ek_alert *a)
{
    char page[EK_ALERT_LINK_BYTES], runbook[EK_ALERT_LINK_BYTES];
    ek_alert_page(about, a, page);
    ek_alert_runbook(about, a, runbook);
    int rc = ek_alert_open(out, "links", '[');
    if (!rc)
        rc = add_link(out, page, "the feature's page");
    if (!rc)
        rc = add_link(out, runbook, "what to do");
    return rc ? rc : ek_buf_text(out, "]");
}

static int add_details(struct ek_buf *out, const struct ek_alert *a)
{
    int rc = ek_alert_open(out, "custom_details", '{');
    if (!rc)
        rc = add_texts(out, a);
    if (!rc)
        rc = add_numbers(out, a, ek_alert_number);
    return rc ? rc : ek_buf_text(out, "}");
}

static int add_payload(struct ek_buf *out, const struct ek_alert_about *about,
                       const struct ek_alert *a)
{
    char sentence[EK_ALERT_SENTENCE_BYTES]; /* within the 1024 characters that PagerDuty takes */
    ek_alert_sentence(a, sentence);
    int rc = ek_alert_open(out, "payload", '{');
    if (!rc)
        rc = ek_alert_pair(out, "summary", sentence);
    if (!rc)
        rc = ek_alert_pair(out, "source", about->service);
    if (!rc)
        rc = ek_alert_pair(out, "severity", severity_of(a));
    if (!rc && a->since_ms > 0)
        rc = ek_alert_time(out, "timestamp", a->since_ms);
    if (!rc)
        rc = ek_alert_pair(out, "component", a->feature);
    if (!rc)
        rc = ek_alert_pair(out, "group", about->service);
    if (!rc)
        rc = ek_alert_pair(out, "class", *a->class ? a->class : ek_alert_kind_name(a->kind));
    if (!rc)
        rc = add_details(out, a);
    return rc ? rc : ek_buf_text(out, "}");
}

int ek_alert_pagerduty(struct ek_buf *out, const struct ek_alert_about *about,
                       const struct ek_alert *a, const char *routing_key)
{
    char key[EK_ALERT_KEY_BYTES];
    ek_alert_key(a, about->service, key);
    int rc = ek_buf_text(out, "{");
    if (!rc)
        rc = ek_alert_pair(out, "routing_key", routing_key);
    if (!rc)
        rc = ek_alert_pair(out, "event_action", a->firing ? "trigger" : "resolve");
    if (!rc)
        rc = ek_alert_pair(out, "dedup_key", key);
    if (!rc && a->firing)
        rc = add_payload(out, about, a);
    if (!rc && a->firing)
        rc = add_link_list(out, about, a);
    if (!rc)
        rc = ek_alert_pair(out, "client", "evenkeel");
    return rc ? rc : ek_buf_text(out, "}");
}

int ek_alert_generic(struct ek_buf *out, const struct ek_alert_about *about,
                     const struct ek_alert *a)
{
    char key[EK_ALERT_KEY_BYTES];
    ek_alert_key(a, about->service, key);
    int rc = ek_buf_text(out, "{\"version\":1");
    if (!rc)
        rc = ek_alert_pair(out, "state", a->firing ? "firing" : "resolved");
    if (!rc)
        rc = ek_alert_pair(out, "key", key);
    if (!rc)
        rc = ek_alert_pair(out, "kind", ek_alert_kind_name(a->kind));
    if (!rc)
        rc = add_labels(out, about, a);
    if (!rc)
        rc = add_texts(out, a);
    if (!rc)
        rc = add_numbers(out, a, ek_alert_number);
    if (!rc)
        rc = ek_alert_time(out, "since", a->since_ms);
    if (!rc && !a->firing)
        rc = ek_alert_time(out, "ended", a->ended_ms);
    if (!rc)
        rc = add_links(out, about, a);
    return rc ? rc : ek_buf_text(out, "}");
}
