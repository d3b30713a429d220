#include "daemon/alerts/alert_format.h"

#include "daemon/base/log.h"
#include "daemon/base/url.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PAGE_BYTES_MAX = 400, DIGITS = 6 };

/* Add a string member, unless it is empty. */
static void add_nonempty(struct ek_json_writer *w, const char *key, const char *text)
{
    if (*text)
        ek_json_add_text(w, key, text);
}

static void add_number_text(struct ek_json_writer *w, const char *key, double value)
{
    char text[32] = "";
    if (isfinite(value))
        snprintf(text, sizeof text, "%.*g", DIGITS, value);
    add_nonempty(w, key, text);
}

static void add_number(struct ek_json_writer *w, const char *key, double value)
{
    if (isfinite(value))
        ek_json_add_rounded(w, key, value, DIGITS);
}

static void add_time(struct ek_json_writer *w, const char *key, int64_t time_ms)
{
    char text[EK_RFC3339_BYTES];
    add_nonempty(w, key, ek_rfc3339(time_ms, text));
}

static void add_identity(struct ek_json_writer *w, const struct ek_alert *a)
{
    add_nonempty(w, "feature", a->feature);
    add_nonempty(w, "segment", a->segment);
    add_nonempty(w, "class", a->class);
    add_nonempty(w, "limit", a->limit);
    add_nonempty(w, "instance", a->instance);
}

void ek_alert_page_url(const struct ek_alert_context *context, const struct ek_alert *a,
                       char out[EK_ALERT_LINK_BYTES])
{
    char name[3 * EK_ALERT_NAME_BYTES];
    const char *page = context->page ? context->page : "";
    size_t length = strlen(page);
    int shown = (int)(length && page[length - 1] == '/' ? length - 1 : length);
    ek_url_escape(a->feature, name, sizeof name);
    if (!length || length > PAGE_BYTES_MAX)
        *out = 0;
    else if (*name)
        snprintf(out, EK_ALERT_LINK_BYTES, "%.*s/#feature/%s", shown, page, name);
    else
        snprintf(out, EK_ALERT_LINK_BYTES, "%.*s/", shown, page);
}

static void runbook_url(const struct ek_alert_context *context, const struct ek_alert *a,
                        char out[EK_ALERT_LINK_BYTES])
{
    bool section = a->kind != EK_ALERT_TEST;
    *out = 0;
    if (context->runbook && *context->runbook)
        snprintf(out, EK_ALERT_LINK_BYTES, "%.400s%s%s", context->runbook, section ? "#" : "",
                 section ? ek_alert_kind_name(a->kind) : "");
}

/* Slack limits a section to 3,000 characters. */
enum { SECTION_BYTES = 2900, LINK_BYTES = 1420, ADDRESS_BYTES = LINK_BYTES - 40 };

/* Escape a name, so that Slack does not render it as a mention or link. */
static void escape(const char *text, char *out, size_t size)
{
    size_t at = 0;
    for (; *text && at + 8 < size; text++) {
        const char *as = *text == '&' ? "&amp;" : *text == '<' ? "&lt;" : "&gt;";
        if (strchr("&<>", *text))
            at += (size_t)snprintf(out + at, size - at, "%s", as);
        else
            out[at++] = *text;
    }
    out[at] = 0;
}

static void add_text(struct ek_json_writer *w, const char *text)
{
    ek_json_open(w, "text", '{');
    add_nonempty(w, "type", "mrkdwn");
    add_nonempty(w, "text", text);
    ek_json_close(w, '}');
}

static void add_section(struct ek_json_writer *w, const char *text)
{
    if (!*text)
        return;
    ek_json_open(w, NULL, '{');
    add_nonempty(w, "type", "section");
    add_text(w, text);
    ek_json_close(w, '}');
}

static const char *resolution_of(const struct ek_alert *a)
{
    return a->accepted ? "accepted as normal" : "resolved";
}

static void write_head(const struct ek_alert_context *context, const struct ek_alert *a,
                       char out[SECTION_BYTES])
{
    char sentence[EK_ALERT_SENTENCE_BYTES], all[2 * EK_ALERT_SENTENCE_BYTES];
    ek_alert_sentence(a, sentence);
    if (a->firing)
        snprintf(all, sizeof all, "%s, %.300s: %s",
                 ek_alert_severity_name(ek_alert_get_severity(a)), context->service, sentence);
    else
        snprintf(all, sizeof all, "%s, %.300s: %s", resolution_of(a), context->service, sentence);
    escape(all, out, SECTION_BYTES);
}

/* Write "<address|text>"; "|" in the address is escaped. */
static void write_link(const char *address, const char *text, char out[LINK_BYTES])
{
    char plain[ADDRESS_BYTES], escaped[ADDRESS_BYTES];
    size_t at = 0;
    for (; *address && at + 4 <= sizeof plain; address++)
        at += (size_t)snprintf(plain + at, sizeof plain - at, *address == '|' ? "%%7C" : "%c",
                               *address);
    plain[at] = 0;
    escape(plain, escaped, sizeof escaped);
    snprintf(out, LINK_BYTES, "<%s|%s>", escaped, text);
}

/* Write a link to the runbook, or its path if it has no URL. */
static void write_runbook(const char *runbook, char out[LINK_BYTES])
{
    char escaped[ADDRESS_BYTES];
    if (!strncmp(runbook, "http", 4)) {
        write_link(runbook, "what to do", out);
        return;
    }
    escape(runbook, escaped, sizeof escaped);
    snprintf(out, LINK_BYTES, "what to do: %s", escaped);
}

static void write_links(const struct ek_alert_context *context, const struct ek_alert *a,
                        char out[SECTION_BYTES])
{
    char page[EK_ALERT_LINK_BYTES], runbook[EK_ALERT_LINK_BYTES];
    char first[LINK_BYTES] = "", second[LINK_BYTES] = "";
    ek_alert_page_url(context, a, page);
    runbook_url(context, a, runbook);
    if (*page)
        write_link(page, "the feature's page", first);
    if (*runbook)
        write_runbook(runbook, second);
    snprintf(out, SECTION_BYTES, "%s%s%s", first, *first && *second ? ", " : "", second);
}

int ek_alert_slack(struct ek_buf *out, const struct ek_alert_context *context,
                   const struct ek_alert *a)
{
    struct ek_json_writer w;
    char head[SECTION_BYTES], section[SECTION_BYTES];
    write_head(context, a, head);
    ek_json_init(&w, out);
    ek_json_open(&w, NULL, '{');
    add_nonempty(&w, "text", head);
    ek_json_open(&w, "blocks", '[');
    add_section(&w, head);
    escape(a->evidence, section, sizeof section);
    if (a->firing)
        add_section(&w, section);
    write_links(context, a, section);
    add_section(&w, section);
    ek_json_close(&w, ']');
    ek_json_close(&w, '}');
    return w.rc;
}

static const char *severity_of(const struct ek_alert *a)
{
    return ek_alert_severity_name(ek_alert_get_severity(a));
}

static void add_labels(struct ek_json_writer *w, const struct ek_alert_context *context,
                       const struct ek_alert *a)
{
    ek_json_open(w, "labels", '{');
    add_nonempty(w, "alertname", ek_alert_title(a->kind));
    add_nonempty(w, "service", context->service);
    add_nonempty(w, "severity", severity_of(a));
    add_identity(w, a);
    ek_json_close(w, '}');
}

static void add_texts(struct ek_json_writer *w, const struct ek_alert *a)
{
    char sentence[EK_ALERT_SENTENCE_BYTES];
    ek_alert_sentence(a, sentence);
    add_nonempty(w, "summary", sentence);
    add_nonempty(w, "evidence", a->evidence);
    add_nonempty(w, "action", a->action);
    add_nonempty(w, "features", a->features);
    if (!a->firing)
        add_nonempty(w, "resolution", resolution_of(a));
}

static void add_numbers(struct ek_json_writer *w, const struct ek_alert *a,
                        void (*add)(struct ek_json_writer *w, const char *key, double value))
{
    add(w, "factor", a->factor);
    add(w, "factor_low", a->factor_low);
    add(w, "factor_high", a->factor_high);
    add(w, "fraction", a->share);
}

static void add_links(struct ek_json_writer *w, const struct ek_alert_context *context,
                      const struct ek_alert *a)
{
    char link[EK_ALERT_LINK_BYTES];
    runbook_url(context, a, link);
    add_nonempty(w, "runbook_url", link);
    ek_alert_page_url(context, a, link);
    add_nonempty(w, "page_url", link);
}

static void add_annotations(struct ek_json_writer *w, const struct ek_alert_context *context,
                            const struct ek_alert *a)
{
    ek_json_open(w, "annotations", '{');
    add_texts(w, a);
    add_numbers(w, a, add_number_text);
    add_links(w, context, a);
    ek_json_close(w, '}');
}

/* Add start and end. Event time may be ahead of the wall clock or far behind it; Alertmanager
 * requires an end after the start. */
static void add_times(struct ek_json_writer *w, const struct ek_alert *a, int64_t now_ms,
                      int64_t until_ms)
{
    int64_t end = a->firing ? until_ms : a->ended_ms < now_ms ? a->ended_ms : now_ms;
    int64_t start = a->since_ms < end ? a->since_ms : end - 1;
    add_time(w, "startsAt", start < now_ms ? start : now_ms);
    add_time(w, "endsAt", end);
}

int ek_alert_alertmanager(struct ek_buf *out, const struct ek_alert_context *context,
                          const struct ek_alert *a, int64_t now_ms, int64_t until_ms)
{
    struct ek_json_writer w;
    char link[EK_ALERT_LINK_BYTES];
    ek_alert_page_url(context, a, link);
    ek_json_init(&w, out);
    ek_json_open(&w, NULL, '[');
    ek_json_open(&w, NULL, '{');
    add_labels(&w, context, a);
    add_annotations(&w, context, a);
    add_times(&w, a, now_ms, until_ms);
    add_nonempty(&w, "generatorURL", link);
    ek_json_close(&w, '}');
    ek_json_close(&w, ']');
    return w.rc;
}

static void add_link(struct ek_json_writer *w, const char *href, const char *text)
{
    if (strncmp(href, "http", 4) != 0)
        return;
    ek_json_open(w, NULL, '{');
    add_nonempty(w, "href", href);
    add_nonempty(w, "text", text);
    ek_json_close(w, '}');
}

static void add_link_list(struct ek_json_writer *w, const struct ek_alert_context *context,
                          const struct ek_alert *a)
{
    char page[EK_ALERT_LINK_BYTES], runbook[EK_ALERT_LINK_BYTES];
    ek_alert_page_url(context, a, page);
    runbook_url(context, a, runbook);
    ek_json_open(w, "links", '[');
    add_link(w, page, "the feature's page");
    add_link(w, runbook, "what to do");
    ek_json_close(w, ']');
}

static void add_details(struct ek_json_writer *w, const struct ek_alert *a)
{
    ek_json_open(w, "custom_details", '{');
    add_texts(w, a);
    add_numbers(w, a, add_number);
    ek_json_close(w, '}');
}

static void add_payload(struct ek_json_writer *w, const struct ek_alert_context *context,
                        const struct ek_alert *a)
{
    char sentence[EK_ALERT_SENTENCE_BYTES]; /* PagerDuty allows 1,024 characters */
    ek_alert_sentence(a, sentence);
    ek_json_open(w, "payload", '{');
    add_nonempty(w, "summary", sentence);
    add_nonempty(w, "source", context->service);
    add_nonempty(w, "severity", severity_of(a));
    if (a->since_ms > 0)
        add_time(w, "timestamp", a->since_ms);
    add_nonempty(w, "component", a->feature);
    add_nonempty(w, "group", context->service);
    add_nonempty(w, "class", *a->class ? a->class : ek_alert_kind_name(a->kind));
    add_details(w, a);
    ek_json_close(w, '}');
}

int ek_alert_pagerduty(struct ek_buf *out, const struct ek_alert_context *context,
                       const struct ek_alert *a, const char *routing_key)
{
    struct ek_json_writer w;
    char key[EK_ALERT_KEY_BYTES];
    ek_alert_key(a, context->service, key);
    ek_json_init(&w, out);
    ek_json_open(&w, NULL, '{');
    add_nonempty(&w, "routing_key", routing_key);
    add_nonempty(&w, "event_action", a->firing ? "trigger" : "resolve");
    add_nonempty(&w, "dedup_key", key);
    if (a->firing) {
        add_payload(&w, context, a);
        add_link_list(&w, context, a);
    }
    add_nonempty(&w, "client", "evenkeel");
    ek_json_close(&w, '}');
    return w.rc;
}

int ek_alert_generic(struct ek_buf *out, const struct ek_alert_context *context,
                     const struct ek_alert *a)
{
    struct ek_json_writer w;
    char key[EK_ALERT_KEY_BYTES];
    ek_alert_key(a, context->service, key);
    ek_json_init(&w, out);
    ek_json_open(&w, NULL, '{');
    ek_json_add_count(&w, "version", 1);
    add_nonempty(&w, "state", a->firing ? "firing" : "resolved");
    add_nonempty(&w, "key", key);
    add_nonempty(&w, "kind", ek_alert_kind_name(a->kind));
    add_labels(&w, context, a);
    add_texts(&w, a);
    add_numbers(&w, a, add_number);
    add_time(&w, "since", a->since_ms);
    if (!a->firing)
        add_time(&w, "ended", a->ended_ms);
    add_links(&w, context, a);
    ek_json_close(&w, '}');
    return w.rc;
}
