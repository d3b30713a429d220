#include "daemon/alerts/alert_parts.h"

#include "base/error.h"
#include "daemon/base/rfc3339.h"
#include "daemon/base/url.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PAGE_BYTES_MAX = 400 };

static int add_key(struct ek_buf *out, const char *key)
{
    bool first = !out->length || strchr("{[", out->data[out->length - 1]);
    int rc = first ? EK_OK : ek_buf_text(out, ",");
    return rc || !key ? rc : ek_buf_printf(out, "\"%s\":", key);
}

int ek_alert_pair(struct ek_buf *out, const char *key, const char *text)
{
    if (!*text)
        return EK_OK;
    int rc = add_key(out, key);
    return rc ? rc : ek_buf_json(out, text, strlen(text));
}

int ek_alert_number_text(struct ek_buf *out, const char *key, double value)
{
    char text[32] = "";
    if (isfinite(value))
        snprintf(text, sizeof text, "%.6g", value);
    return ek_alert_pair(out, key, text);
}

int ek_alert_number(struct ek_buf *out, const char *key, double value)
{
    if (!isfinite(value))
        return EK_OK;
    int rc = add_key(out, key);
    return rc ? rc : ek_buf_printf(out, "%.6g", value);
}

int ek_alert_time(struct ek_buf *out, const char *key, int64_t time_ms)
{
    char text[EK_RFC3339_BYTES];
    return ek_alert_pair(out, key, ek_rfc3339(time_ms, text));
}

int ek_alert_open(struct ek_buf *out, const char *key, char bracket)
{
    int rc = add_key(out, key);
    return rc ? rc : ek_buf_add(out, &bracket, 1);
}

int ek_alert_identity(struct ek_buf *out, const struct ek_alert *a)
{
    int rc = ek_alert_pair(out, "feature", a->feature);
    if (!rc)
        rc = ek_alert_pair(out, "segment", a->segment);
    if (!rc)
        rc = ek_alert_pair(out, "class", a->class);
    if (!rc)
        rc = ek_alert_pair(out, "limit", a->limit);
    return rc ? rc : ek_alert_pair(out, "instance", a->instance);
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
