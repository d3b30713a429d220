#include "daemon/alerts/alert_try.h"

#include "daemon/base/clock.h"
#include "daemon/alerts/alert_post.h"
#include "daemon/alerts/alert_text.h"
#include "daemon/base/url.h"

#include <math.h>

static struct ek_alert test_alert(bool firing)
{
    struct ek_alert a = {.kind = EK_ALERT_TEST, .firing = firing};
    a.factor = a.factor_low = a.factor_high = a.share = NAN;
    a.since_ms = a.ended_ms = ek_wall_ms();
    ek_alert_tell_other(&a, "sent by evenkeel run --test-alerts");
    return a;
}

/* The answer to one; waits for it, which has a limit of its own. */
static int post(struct ek_http *h, const struct ek_config *c, size_t sink, bool firing,
                struct ek_http_answer *answer)
{
    struct ek_alert a = test_alert(firing);
    int rc = ek_alert_post(h, c, sink, &a, ek_wall_ms());
    while (!rc && !ek_http_next(h, answer))
        ek_http_wait(h, (int)c->alert_timeout_ms);
    return rc;
}

static int try_once(struct ek_http *h, const struct ek_config *c, size_t sink, bool firing,
                    FILE *to, bool *taken)
{
    const struct ek_alert_sink *s = &c->sinks.items[sink];
    char url[EK_URL_SHOWN_BYTES], said[EK_HTTP_START_BYTES];
    struct ek_http_answer answer;
    int rc = post(h, c, sink, firing, &answer);
    if (rc)
        return rc;
    bool sent = ek_alert_judge(&answer) == EK_ALERT_SENT;
    ek_alert_said(s, &answer, said);
    fprintf(to, "%s at %s, %s: %s", s->label, ek_url_show(s->url, url),
            firing ? "firing" : "resolved", sent ? "taken" : "not taken");
    if (answer.status)
        fprintf(to, " (%d)", answer.status);
    fprintf(to, "%s%s\n", *said ? ": " : "", said);
    *taken = *taken && sent;
    return EK_OK;
}

int ek_alert_try(const struct ek_config *c, FILE *to, struct ek_error *e)
{
    struct ek_http *h;
    bool taken = true;
    if (c->alert_topic)
        fprintf(to, "kafka topic %s: not tried, events go there and no alerts\n", c->alert_topic);
    if (!c->sinks.count)
        return ek_fail(e, EK_ECONFIG, "'alerts' has no sink to be tried");
    int rc = ek_http_new(&h, c->sinks.count, e);
    if (rc)
        return rc;
    for (size_t i = 0; !rc && i < 2 * c->sinks.count; i++)
        rc = try_once(h, c, i / 2, i % 2 == 0, to, &taken);
    ek_http_free(h);
    if (rc)
        return ek_fail(e, (enum ek_code)rc, "no memory for a request");
    return taken ? EK_OK : ek_fail(e, EK_EIO, "not every sink takes alerts");
}
