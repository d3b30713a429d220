#include "daemon/alerts/alert_parts.h"

#include "daemon/base/rfc3339.h"
#include "daemon/base/url.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PAGE_BYTES_MAX = 400, DIGITS = 6 };

void ek_alert_pair(struct ek_json_writer *w, const char *key, const char *text)
{
    if (*text)
        ek_json_add_text(w, key, text);
}

void ek_alert_number_text(struct ek_json_writer *w, const char *key, double value)
{
    char text[32] = "";
    if (isfinite(value))
        snprintf(text, sizeof text, "%.*g", DIGITS, value);
    ek_alert_pair(w, key, text);
}

void ek_alert_number(struct ek_json_writer *w, const char *key, double value)
{
    if (isfinite(value))
        ek_json_add_rounded(w, key, value, DIGITS);
}

void ek_alert_time(struct ek_json_writer *w, const char *key, int64_t time_ms)
{
    char text[EK_RFC3339_BYTES];
    ek_alert_pair(w, key, ek_rfc3339(time_ms, text));
}

void ek_alert_identity(struct ek_json_writer *w, const struct ek_alert *a)
{
    ek_alert_pair(w, "feature", a->feature);
    ek_alert_pair(w, "segment", a->segment);
    ek_alert_pair(w, "class", a->class);
    ek_alert_pair(w, "limit", a->limit);
    ek_alert_pair(w, "instance", a->instance);
}

void ek_alert_page(const struct ek_alert_about *about, const struct ek_alert *a,
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

void ek_alert_runbook(const struct ek_alert_about *about, const struct ek_alert *a,
                      char out[EK_ALERT_LINK_BYTES])
{
    bool section = a->kind != EK_ALERT_TEST;
    snprintf(out, EK_ALERT_LINK_BYTES, "%.400s%s%s", about->runbook, section ? "#" : "",
             section ? ek_alert_kind_name(a->kind) : "");
}
