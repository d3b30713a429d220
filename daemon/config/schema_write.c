#include "daemon/config/schema_write.h"

#include "base/error.h"

#include <math.h>
#include <string.h>

int ek_schema_head(struct ek_buf *out, const char *title)
{
    return ek_buf_printf(
        out, "{\"$schema\":\"http://json-schema.org/draft-07/schema#\",\"title\":\"%s\",", title);
}

int ek_schema_name(struct ek_buf *out, const char *name)
{
    int rc = ek_buf_json(out, name, strlen(name));
    return rc ? rc : ek_buf_text(out, ":");
}

int ek_schema_words(struct ek_buf *out, const char *words)
{
    int rc = ek_buf_text(out, "{\"enum\":[");
    for (const char *p = words; !rc && *p; p += strcspn(p, " "), p += *p == ' ') {
        if (p != words)
            rc = ek_buf_text(out, ",");
        if (!rc)
            rc = ek_buf_json(out, p, strcspn(p, " "));
    }
    return rc ? rc : ek_buf_text(out, "]}");
}

int ek_schema_text(struct ek_buf *out, double least, double most)
{
    int rc = ek_buf_text(out, "{\"type\":[\"string\",\"number\",\"boolean\"]");
    if (!rc && most > 0)
        rc = ek_buf_printf(out, ",\"minLength\":%.10g,\"maxLength\":%.10g", least, most);
    return rc ? rc : ek_buf_text(out, "}");
}

int ek_schema_number(struct ek_buf *out, const char *type, double low, double high)
{
    int rc = ek_buf_printf(out, "{\"type\":\"%s\"", type);
    if (!rc && low < high && isfinite(low))
        rc = ek_buf_printf(out, ",\"minimum\":%.15g", low);
    if (!rc && low < high && isfinite(high))
        rc = ek_buf_printf(out, ",\"maximum\":%.15g", high);
    return rc ? rc : ek_buf_text(out, "}");
}

int ek_schema_pattern(struct ek_buf *out, const char *pattern)
{
    int rc = ek_buf_text(out, "{\"type\":\"string\",\"pattern\":");
    if (!rc)
        rc = ek_buf_json(out, pattern, strlen(pattern));
    return rc ? rc : ek_buf_text(out, "}");
}
