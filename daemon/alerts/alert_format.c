/* Slack's incoming webhooks: a text for notifications, blocks for the eye. */
#include "daemon/alerts/alert_format.h"

#include "daemon/base/log.h"
#include "daemon/base/url.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PAGE_BYTES_MAX = 400, DIGITS = 6 };

/* Add a text, unless it is empty. */
static void ek_alert_pair(struct ek_json_writer *w, const char *key, const char *text)
{
    if (*text)
        ek_json_add_text(w, key, text);
}

static void ek_alert_number_text(struct ek_json_writer *w, const char *key, double value)
{
    char text[32] = "";
    if (isfinite(value))
        snprintf(text, sizeof text, "%.*g", DIGITS, value);
    ek_alert_pair(w, key, text);
}

static void ek_alert_number(struct ek_json_writer *w, const char *key, double value)
{
    if (isfinite(value))
        ek_json_add_rounded(w, key, value, DIGITS);
}

/* Add a number, unless it is not finite; as text for formats that have texts only. */
static void ek_alert_time(struct ek_json_writer *w, const char *key, int64_t time_ms)
{
    char text[EK_RFC3339_BYTES];
    ek_alert_pair(w, key, ek_rfc3339(time_ms, text));
}

/* Add feature, segment, class, limit and instance, as far as the alert has them. */
static void ek_alert_identity(struct ek_json_writer *w, const struct ek_alert *a)
{
    ek_alert_pair(w, "feature", a->feature);
    ek_alert_pair(w, "segment", a->segment);
    ek_alert_pair(w, "class", a->class);
    ek_alert_pair(w, "limit", a->limit);
    ek_alert_pair(w, "instance", a->instance);
}

void ek_alert_page(const struct ek_alert_context *about, const struct ek_alert *a,
                   char out[EK_ALERT_LINK_BYTES])
{
    char name[3 * EK_ALERT_NAME_BYTES];
    const char *page = about->page ? about->page : "";
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

static void ek_alert_runbook(const struct ek_alert_context *about, const struct ek_alert *a,
                             char out[EK_ALERT_LINK_BYTES])
{
    bool section = a->kind != EK_ALERT_TEST;
    snprintf(out, EK_ALERT_LINK_BYTES, "%.400s%s%s", about->runbook, section ? "#" : "",
             section ? ek_alert_kind_name(a->kind) : "");
}

/* Of a section Slack takes 3000 characters. */
enum { SECTION_BYTES = 2900, LINK_BYTES = 1420, ADDRESS_BYTES = LINK_BYTES - 40 };

/* A name of ours is not to become a mention or a link of theirs. */
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
    ek_alert_pair(w, "type", "mrkdwn");
    ek_alert_pair(w, "text", text);
    ek_json_close(w, '}');
}

static void add_section(struct ek_json_writer *w, const char *text)
{
    if (!*text)
        return;
    ek_json_open(w, NULL, '{');
    ek_alert_pair(w, "type", "section");
    add_text(w, text);
    ek_json_close(w, '}');
}

static void write_head(const struct ek_alert_context *about, const struct ek_alert *a,
                       char out[SECTION_BYTES])
{
    char sentence[EK_ALERT_SENTENCE_BYTES], all[2 * EK_ALERT_SENTENCE_BYTES];
    ek_alert_sentence(a, sentence);
    if (a->firing)
        snprintf(all, sizeof all, "%s, %.300s: %s",
                 ek_alert_severity_name(ek_alert_get_severity(a)), about->service, sentence);
    else
        snprintf(all, sizeof all, "over, %.300s: %s", about->service, sentence);
    escape(all, out, SECTION_BYTES);
}

/* "<address|text>" with nothing in the address that would end it. */
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

/* What is no address is written as it is: a file in the sources. */
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

static void write_links(const struct ek_alert_context *about, const struct ek_alert *a,
                        char out[SECTION_BYTES])
{
    char page[EK_ALERT_LINK_BYTES], runbook[EK_ALERT_LINK_BYTES];
    char first[LINK_BYTES] = "", second[LINK_BYTES];
    ek_alert_page(about, a, page);
    ek_alert_runbook(about, a, runbook);
    if (*page)
        write_link(page, "the feature's page", first);
    write_runbook(runbook, second);
    snprintf(out, SECTION_BYTES, "%s%s%s", first, *first ? ", " : "", second);
}

int ek_alert_slack(struct ek_buf *out, const struct ek_alert_context *about,
                   const struct ek_alert *a)
{
    struct ek_json_writer w;
    char head[SECTION_BYTES], section[SECTION_BYTES];
    write_head(about, a, head);
    ek_json_init(&w, out);
    ek_json_open(&w, NULL, '{');
    ek_alert_pair(&w, "text", head);
    ek_json_open(&w, "blocks", '[');
    add_section(&w, head);
    escape(a->evidence, section, sizeof section);
    if (a->firing)
        add_section(&w, section);
    write_links(about, a, section);
    add_section(&w, section);
    ek_json_close(&w, ']');
    ek_json_close(&w, '}');
    return w.rc;
}

static const char *severity_of(const struct ek_alert *a)
{
    return ek_alert_severity_name(ek_alert_get_severity(a));
}

static void add_labels(struct ek_json_writer *w, const struct ek_alert_context *about,
                       const struct ek_alert *a)
{
    ek_json_open(w, "labels", '{');
    ek_alert_pair(w, "alertname", ek_alert_title(a->kind));
    ek_alert_pair(w, "service", about->service);
    ek_alert_pair(w, "severity", severity_of(a));
    ek_alert_identity(w, a);
    ek_json_close(w, '}');
}

static void add_texts(struct ek_json_writer *w, const struct ek_alert *a)
{
    char sentence[EK_ALERT_SENTENCE_BYTES];
    ek_alert_sentence(a, sentence);
    ek_alert_pair(w, "summary", sentence);
    ek_alert_pair(w, "evidence", a->evidence);
    ek_alert_pair(w, "action", a->action);
    ek_alert_pair(w, "features", a->features);
}

static void add_numbers(struct ek_json_writer *w, const struct ek_alert *a,
                        void (*add)(struct ek_json_writer *w, const char *key, double value))
{
    add(w, "factor", a->factor);
    add(w, "factor_low", a->factor_low);
    add(w, "factor_high", a->factor_high);
    add(w, "fraction", a->share);
}

static void add_links(struct ek_json_writer *w, const struct ek_alert_context *about,
                      const struct ek_alert *a)
{
    char link[EK_ALERT_LINK_BYTES];
    ek_alert_runbook(about, a, link);
    ek_alert_pair(w, "runbook_url", link);
    ek_alert_page(about, a, link);
    ek_alert_pair(w, "page_url", link);
}

static void add_annotations(struct ek_json_writer *w, const struct ek_alert_context *about,
                            const struct ek_alert *a)
{
    ek_json_open(w, "annotations", '{');
    add_texts(w, a);
    add_numbers(w, a, ek_alert_number_text);
    add_links(w, about, a);
    ek_json_close(w, '}');
}

/* The stream may be ahead of the machine, and its past may be long ago: an end is never before its
 * beginning. */
static void add_times(struct ek_json_writer *w, const struct ek_alert *a, int64_t now_ms,
                      int64_t until_ms)
{
    int64_t end = a->firing ? until_ms : a->ended_ms < now_ms ? a->ended_ms : now_ms;
    int64_t start = a->since_ms < end ? a->since_ms : end - 1;
    ek_alert_time(w, "startsAt", start < now_ms ? start : now_ms);
    ek_alert_time(w, "endsAt", end);
}

int ek_alert_alertmanager(struct ek_buf *out, const struct ek_alert_context *about,
                          const struct ek_alert *a, int64_t now_ms, int64_t until_ms)
{
    struct ek_json_writer w;
    char link[EK_ALERT_LINK_BYTES];
    ek_alert_page(about, a, link);
    ek_json_init(&w, out);
    ek_json_open(&w, NULL, '[');
    ek_json_open(&w, NULL, '{');
    add_labels(&w, about, a);
    add_annotations(&w, about, a);
    add_times(&w, a, now_ms, until_ms);
    ek_alert_pair(&w, "generatorURL", link);
    ek_json_close(&w, '}');
    ek_json_close(&w, ']');
    return w.rc;
}

static void add_link(struct ek_json_writer *w, const char *href, const char *text)
{
    if (strncmp(href, "http", 4) != 0)
        return;
    ek_json_open(w, NULL, '{');
    ek_alert_pair(w, "href", href);
    ek_alert_pair(w, "text", text);
    ek_json_close(w, '}');
}

static void add_link_list(struct ek_json_writer *w, const struct ek_alert_context *about,
                          const struct ek_alert *a)
{
    char page[EK_ALERT_LINK_BYTES], runbook[EK_ALERT_LINK_BYTES];
    ek_alert_page(about, a, page);
    ek_alert_runbook(about, a, runbook);
    ek_json_open(w, "links", '[');
    add_link(w, page, "the feature's page");
    add_link(w, runbook, "what to do");
    ek_json_close(w, ']');
}

static void add_details(struct ek_json_writer *w, const struct ek_alert *a)
{
    ek_json_open(w, "custom_details", '{');
    add_texts(w, a);
    add_numbers(w, a, ek_alert_number);
    ek_json_close(w, '}');
}

static void add_payload(struct ek_json_writer *w, const struct ek_alert_context *about,
                        const struct ek_alert *a)
{
    char sentence[EK_ALERT_SENTENCE_BYTES]; /* within the 1024 characters that PagerDuty takes */
    ek_alert_sentence(a, sentence);
    ek_json_open(w, "payload", '{');
    ek_alert_pair(w, "summary", sentence);
    ek_alert_pair(w, "source", about->service);
    ek_alert_pair(w, "severity", severity_of(a));
    if (a->since_ms > 0)
        ek_alert_time(w, "timestamp", a->since_ms);
    ek_alert_pair(w, "component", a->feature);
    ek_alert_pair(w, "group", about->service);
    ek_alert_pair(w, "class", *a->class ? a->class : ek_alert_kind_name(a->kind));
    add_details(w, a);
    ek_json_close(w, '}');
}

int ek_alert_pagerduty(struct ek_buf *out, const struct ek_alert_context *about,
                       const struct ek_alert *a, const char *routing_key)
{
    struct ek_json_writer w;
    char key[EK_ALERT_KEY_BYTES];
    ek_alert_key(a, about->service, key);
    ek_json_init(&w, out);
    ek_json_open(&w, NULL, '{');
    ek_alert_pair(&w, "routing_key", routing_key);
    ek_alert_pair(&w, "event_action", a->firing ? "trigger" : "resolve");
    ek_alert_pair(&w, "dedup_key", key);
    if (a->firing) {
        add_payload(&w, about, a);
        add_link_list(&w, about, a);
    }
    ek_alert_pair(&w, "client", "evenkeel");
    ek_json_close(&w, '}');
    return w.rc;
}

int ek_alert_generic(struct ek_buf *out, const struct ek_alert_context *about,
                     const struct ek_alert *a)
{
    struct ek_json_writer w;
    char key[EK_ALERT_KEY_BYTES];
    ek_alert_key(a, about->service, key);
    ek_json_init(&w, out);
    ek_json_open(&w, NULL, '{');
    ek_json_add_count(&w, "version", 1);
    ek_alert_pair(&w, "state", a->firing ? "firing" : "resolved");
    ek_alert_pair(&w, "key", key);
    ek_alert_pair(&w, "kind", ek_alert_kind_name(a->kind));
    add_labels(&w, about, a);
    add_texts(&w, a);
    add_numbers(&w, a, ek_alert_number);
    ek_alert_time(&w, "since", a->since_ms);
    if (!a->firing)
        ek_alert_time(&w, "ended", a->ended_ms);
    add_links(&w, about, a);
    ek_json_close(&w, '}');
    return w.rc;
}
