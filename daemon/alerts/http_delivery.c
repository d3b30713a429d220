#include "daemon/alerts/http_delivery.h"

#include "base/buf.h"
#include "base/portable.h"
#include "daemon/alerts/alert.h"
#include "daemon/base/clock.h"
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

enum { BODY_BYTES_MAX = 64 << 10, URL_BYTES = 4096, SECRET_LEAST = 6, PART_LEAST = 12 };

struct ek_alert_rule ek_alert_get_rule(const struct ek_alert_sink *s)
{
    bool manager = s->kind == EK_SINK_ALERTMANAGER;
    return (struct ek_alert_rule){.min_severity = (enum ek_alert_severity)s->severity,
                                  .deduplicates = s->kind != EK_SINK_WEBHOOK,
                                  .repeat_ms = manager ? s->repeat_ms : 0};
}

static int write_body(struct ek_buf *out, const struct ek_config *c, const struct ek_alert_sink *s,
                      const struct ek_alert *a, int64_t wall_ms)
{
    const struct ek_alert_context context = {c->service_name, c->public_url, c->runbook};
    if (s->kind == EK_SINK_ALERTMANAGER)
        return ek_alert_alertmanager(out, &context, a, wall_ms,
                                     wall_ms + EK_ALERT_UNCHANGED * s->repeat_ms);
    if (s->kind == EK_SINK_PAGERDUTY)
        return ek_alert_pagerduty(out, &context, a, s->routing_key);
    return s->format == EK_FORMAT_SLACK ? ek_alert_slack(out, &context, a)
                                        : ek_alert_generic(out, &context, a);
}

static void write_url(const struct ek_alert_sink *s, char out[URL_BYTES])
{
    static const char path[] = "/api/v2/alerts";
    size_t length = strcspn(s->url, "?#"), end = sizeof path - 1;
    const char *query = s->url + length;
    bool complete =
        s->kind != EK_SINK_ALERTMANAGER || (length > end && !strncmp(query - end, path, end));
    if (complete)
        snprintf(out, URL_BYTES, "%s", s->url);
    else
        snprintf(out, URL_BYTES, "%.*s%s%s", (int)(length - (query[-1] == '/')), s->url, path,
                 query);
}

int ek_alert_send(struct ek_http *h, const struct ek_config *c, size_t sink,
                  const struct ek_alert *a, int64_t wall_ms)
{
    const struct ek_alert_sink *s = &c->sinks.items[sink];
    char url[URL_BYTES];
    struct ek_buf body;
    ek_buf_init(&body, BODY_BYTES_MAX);
    write_url(s, url);
    int rc = write_body(&body, c, s, a, wall_ms);
    const struct ek_http_request r = {.url = url,
                                      .token = s->token,
                                      .ca_file = s->ca_file,
                                      .body = body.data,
                                      .length = body.length,
                                      .timeout_ms = c->alerts_send_timeout_ms};
    if (!rc && !ek_http_begin(h, sink, &r))
        rc = EK_ENOMEM;
    ek_buf_release(&body);
    return rc;
}

enum ek_alert_result ek_alert_check_response(const struct ek_http_response *response)
{
    enum { OK = 200, REDIRECT = 300, TIMEOUT = 408, TOO_MANY = 429, SERVER = 500 };
    int status = response->status;
    if (status >= OK && status < REDIRECT)
        return EK_ALERT_SENT;
    if (status < OK || status == TIMEOUT || status == TOO_MANY || status >= SERVER)
        return EK_ALERT_FAILED;
    return EK_ALERT_REFUSED;
}

/* Return true if the text contains the secret, or ends in its beginning where it was cut. */
static bool has_bytes(const char *text, const char *secret, size_t length)
{
    size_t left = strlen(text);
    bool cut = left == EK_HTTP_START_BYTES - 1;
    for (; left >= SECRET_LEAST; text++, left--)
        if ((left >= length || cut) && !strncmp(text, secret, left < length ? left : length))
            return true;
    return false;
}

static bool has_secret(const char *text, const char *secret)
{
    size_t length = secret ? strlen(secret) : 0;
    return length >= SECRET_LEAST && has_bytes(text, secret, length);
}

/* Return true if the text contains a part of an address, of `least` bytes or more between `marks`.
 */
static bool has_part(const char *text, const char *from, const char *to, const char *marks,
                     size_t least)
{
    while (from < to) {
        size_t length = strcspn(from, marks), left = (size_t)(to - from);
        length = length < left ? length : left;
        if (length >= least && has_bytes(text, from, length))
            return true;
        from += length + 1;
    }
    return false;
}

/* All parts of an address except the host may be secret. */
static bool has_address(const char *text, const char *url)
{
    const char *scheme = strstr(url, "://"), *place = scheme ? scheme + strlen("://") : url;
    const char *path = place + strcspn(place, "/?#");
    const char *host = ek_find_last(place, '@', (size_t)(path - place));
    return (host && has_part(text, place, host, ":", SECRET_LEAST)) ||
           has_part(text, path, path + strlen(path), "/?#&=", PART_LEAST) || has_secret(text, path);
}

void ek_alert_format_response(const struct ek_alert_sink *s,
                              const struct ek_http_response *response,
                              char out[EK_HTTP_START_BYTES])
{
    const char *text = response->text;
    if (has_secret(text, s->token) || has_secret(text, s->routing_key) || has_address(text, s->url))
        text = "(not shown: contains a secret)";
    ek_alert_copy(out, EK_HTTP_START_BYTES, text);
    for (char *p = out; *p; p++)
        if ((unsigned char)*p < ' ')
            *p = ' ';
}

static struct ek_alert test_alert(bool firing)
{
    struct ek_alert a = {.kind = EK_ALERT_TEST, .firing = firing};
    a.factor = a.factor_low = a.factor_high = a.share = NAN;
    a.since_ms = a.ended_ms = ek_wall_ms();
    ek_alert_format_other(&a, "sent by evenkeel run --test-alerts");
    return a;
}

/* Send a test alert and wait for its response or timeout. */
static int post(struct ek_http *h, const struct ek_config *c, size_t sink, bool firing,
                struct ek_http_response *response)
{
    struct ek_alert a = test_alert(firing);
    int rc = ek_alert_send(h, c, sink, &a, ek_wall_ms());
    while (!rc && !ek_http_next(h, response))
        ek_http_wait(h, (int)c->alerts_send_timeout_ms);
    return rc;
}

static int send_one_test(struct ek_http *h, const struct ek_config *c, size_t sink, bool firing,
                         FILE *to, bool *accepted)
{
    const struct ek_alert_sink *s = &c->sinks.items[sink];
    char url[EK_URL_REDACTED_BYTES], reply[EK_HTTP_START_BYTES];
    struct ek_http_response response;
    int rc = post(h, c, sink, firing, &response);
    if (rc)
        return rc;
    bool sent = ek_alert_check_response(&response) == EK_ALERT_SENT;
    ek_alert_format_response(s, &response, reply);
    ek_url_redact(s->url, url);
    fprintf(to, "%s at %s, %s: %s", s->label, url, firing ? "firing" : "resolved",
            sent ? "accepted" : "not accepted");
    if (response.status)
        fprintf(to, " (%d)", response.status);
    fprintf(to, "%s%s\n", *reply ? ": " : "", reply);
    *accepted = *accepted && sent;
    return EK_OK;
}

int ek_alert_send_test(const struct ek_config *c, FILE *to, struct ek_error *e)
{
    struct ek_http *h;
    bool accepted = true;
    if (c->alert_topic)
        fprintf(to, "kafka topic %s: not tested; it receives events, not alerts\n", c->alert_topic);
    if (!c->sinks.count)
        return ek_fail(e, EK_ECONFIG, "'alerts' has no sink to test");
    int rc = ek_http_new(&h, c->sinks.count, e);
    if (rc)
        return rc;
    for (size_t i = 0; !rc && i < 2 * c->sinks.count; i++)
        rc = send_one_test(h, c, i / 2, i % 2 == 0, to, &accepted);
    ek_http_free(h);
    if (rc)
        return ek_fail(e, (enum ek_code)rc, "out of memory");
    return accepted ? EK_OK : ek_fail(e, EK_EIO, "a sink did not accept the test alerts");
}
