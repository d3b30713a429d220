#include "daemon/alerts/http_delivery.h"

#include "base/buf.h"
#include "daemon/alerts/alert.h"
#include "daemon/alerts/alert_format.h"
#include "daemon/base/clock.h"
#include "daemon/base/url.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

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
    const char *host = memrchr(place, '@', (size_t)(path - place));
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
