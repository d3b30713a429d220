#include "daemon/tools/select/svg.h"

#include "base/file.h"

#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { SVG_BYTES_MAX = 16 << 20 };

static const char STYLE[] =
    "<style>text{font:12px system-ui,sans-serif;fill:#1d2733}.title{font-size:14px;font-weight:600}"
    ".small{font-size:10px}.label,.small{fill:#52606d}.axis{stroke:#7b8794}.grid{stroke:#d9dfe6}"
    ".bar{fill:#7fa7cf}.mark{fill:#5b8db8;stroke:none}line.mark{stroke:#5b8db8}.main{fill:#c2571a}"
    "line.main{stroke:#c2571a;stroke-width:1.5}.faint{fill:#c3ccd6}line.faint{stroke:#c3ccd6}"
    ".warn{fill:#b42318}line.warn{stroke:#b42318}.back{fill:#fff}"
    "@media(prefers-color-scheme:dark){text{fill:#e4e9ef}.label,.small{fill:#a5b1bf}"
    ".axis{stroke:#8693a2}.grid{stroke:#36424f}.faint{fill:#4b5968}line.faint{stroke:#4b5968}"
    ".back{fill:#151b22}.warn{fill:#ff8a7a}line.warn{stroke:#ff8a7a}}</style>\n";

__attribute__((format(printf, 2, 3))) static void add(struct ek_svg *s, const char *format, ...)
{
    char line[512];
    va_list list;
    va_start(list, format);
    vsnprintf(line, sizeof line, format, list);
    va_end(list);
    int rc = ek_buf_text(&s->text, line);
    if (rc && !s->failed)
        s->failed = rc;
}

static void escaped(struct ek_svg *s, const char *text)
{
    for (const unsigned char *p = (const unsigned char *)text; *p;) {
        size_t length = ek_utf8_length(p, strlen((const char *)p));
        if (*p == '<' || *p == '>' || *p == '&' || *p == '"')
            add(s, "&#%d;", *p);
        else if (!length || *p < ' ')
            add(s, "?");
        else
            add(s, "%.*s", (int)length, (const char *)p);
        p += length ? length : 1;
    }
}

static bool all_finite(const double *x, int count)
{
    for (int i = 0; i < count; i++)
        if (!isfinite(x[i]))
            return false;
    return true;
}

void ek_svg_begin(struct ek_svg *s, double width, double height, const char *title)
{
    s->failed = EK_OK;
    ek_buf_init(&s->text, SVG_BYTES_MAX);
    add(s,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
        "viewBox=\"0 0 %.0f %.0f\" role=\"img\">\n<title>",
        width, height, width, height);
    escaped(s, title);
    add(s, "</title>\n");
    int rc = ek_buf_text(&s->text, STYLE);
    if (rc && !s->failed)
        s->failed = rc;
    ek_svg_box(s, "back", 0, 0, width, height);
}

void ek_svg_box(struct ek_svg *s, const char *class, double x, double y, double width,
                double height)
{
    if (all_finite((double[]){x, y, width, height}, 4))
        add(s, "<rect class=\"%s\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\"/>\n", class,
            x, y, width, height);
}

void ek_svg_line(struct ek_svg *s, const char *class, double x1, double y1, double x2, double y2)
{
    if (all_finite((double[]){x1, y1, x2, y2}, 4))
        add(s, "<line class=\"%s\" x1=\"%.2f\" y1=\"%.2f\" x2=\"%.2f\" y2=\"%.2f\"/>\n", class, x1,
            y1, x2, y2);
}

void ek_svg_point(struct ek_svg *s, const char *class, double x, double y, double radius,
                  const char *hint)
{
    if (!all_finite((double[]){x, y, radius}, 3))
        return;
    add(s, "<circle class=\"%s\" cx=\"%.2f\" cy=\"%.2f\" r=\"%.2f\"", class, x, y, radius);
    if (!hint) {
        add(s, "/>\n");
        return;
    }
    add(s, "><title>");
    escaped(s, hint);
    add(s, "</title></circle>\n");
}

void ek_svg_words(struct ek_svg *s, const char *class, double x, double y, enum ek_anchor anchor,
                  const char *text)
{
    static const char *const ANCHOR[] = {"start", "middle", "end"};
    if (!all_finite((double[]){x, y}, 2))
        return;
    add(s, "<text class=\"%s\" x=\"%.2f\" y=\"%.2f\" text-anchor=\"%s\">", class, x, y,
        ANCHOR[anchor]);
    escaped(s, text);
    add(s, "</text>\n");
}

int ek_svg_end(struct ek_svg *s, const char *path, struct ek_error *e)
{
    add(s, "</svg>\n");
    int rc = s->failed ? ek_fail(e, s->failed, "no memory for the picture") : EK_OK;
    if (!rc)
        rc = ek_file_write_bytes(path, s->text.data, s->text.length, e);
    ek_buf_release(&s->text);
    return rc;
}
