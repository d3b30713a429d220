#include "daemon/http/report_page.h"

#include "base/error.h"
#include "base/file.h"
#include "daemon/http/static_files.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { PATH_BYTES = 64 };

static const char MODULE[] = "from \"./"; /* import of a file in the same folder */
static const char POLICY[] =
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src "
    "'unsafe-inline' data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n";

static void add_base64(const struct ek_buf *in, struct ek_buf *out)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < in->length; i += 3) {
        size_t left = in->length - i;
        uint32_t bits = (uint32_t)in->data[i] << 16;
        bits |= left > 1 ? (uint32_t)in->data[i + 1] << 8 : 0;
        bits |= left > 2 ? in->data[i + 2] : 0;
        const char four[] = {digits[bits >> 18], digits[bits >> 12 & 63],
                             left > 1 ? digits[bits >> 6 & 63] : '=',
                             left > 2 ? digits[bits & 63] : '='};
        ek_buf_add(out, four, sizeof four);
    }
}

static const char *find(const char *at, const char *end, const char *part)
{
    return memmem(at, (size_t)(end - at), part, strlen(part));
}

/* Append a module whose imports have the names of the import map: a data URL has no folder. */
static void add_module(const struct ek_static_file *f, struct ek_buf *out)
{
    const char *at = (const char *)f->plain, *end = at + f->plain_bytes, *next;
    while ((next = find(at, end, MODULE))) {
        ek_buf_add(out, at, (size_t)(next - at));
        ek_buf_text(out, "from \"page/");
        at = next + sizeof MODULE - 1;
    }
    ek_buf_add(out, at, (size_t)(end - at));
}

/* Return the file that a line of the page refers to, or NULL. */
static const struct ek_static_file *file_of(const char *line, const char *end)
{
    char path[PATH_BYTES];
    const char *name = find(line, end, "\"page/");
    const char *quote = name ? memchr(name + 1, '"', (size_t)(end - name - 1)) : NULL;
    if (!quote || quote - name > (ptrdiff_t)sizeof path - 2)
        return NULL;
    snprintf(path, sizeof path, "/%.*s", (int)(quote - name - 1), name + 1);
    return ek_static_file_find(path);
}

static bool has(const char *line, const char *end, const char *part)
{
    return find(line, end, part) != NULL;
}

/* Append the import map entry of a module. */
static int add_import(const struct ek_static_file *f, bool first, struct ek_buf *out)
{
    struct ek_buf module;
    ek_buf_init(&module, 0);
    add_module(f, &module);
    ek_buf_printf(out, "%s\n\"%s\":\"data:text/javascript;base64,", first ? "" : ",", f->path + 1);
    add_base64(&module, out);
    ek_buf_text(out, "\"");
    int rc = module.rc ? module.rc : out->rc;
    ek_buf_release(&module);
    return rc;
}

static int add_imports(const char *page, const char *end, struct ek_buf *out)
{
    bool first = true;
    int rc = ek_buf_text(out, "<script type=\"importmap\">{\"imports\":{");
    for (const char *line = page, *next; !rc && line < end; line = next) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        next = stop ? stop + 1 : end;
        const struct ek_static_file *f = file_of(line, next);
        if (!f || strncmp(f->type, "text/javascript", 15) != 0)
            continue;
        rc = add_import(f, first, out);
        first = false;
    }
    return rc ? rc : ek_buf_text(out, "}}</script>\n");
}

/* Append the compressed JSON as a script element. */
static int add_data(const char *json, size_t length, struct ek_buf *out)
{
    struct ek_buf packed;
    ek_buf_init(&packed, 0);
    int rc = ek_gzip(json, length, &packed);
    ek_buf_text(out, "<script type=\"text/plain\" id=\"report\">");
    add_base64(&packed, out);
    ek_buf_text(out, "</script>\n");
    ek_buf_release(&packed);
    return rc;
}

static void add_style(const struct ek_static_file *f, struct ek_buf *out)
{
    ek_buf_text(out, "<style>\n");
    ek_buf_add(out, f->plain, f->plain_bytes);
    ek_buf_text(out, "</style>\n");
}

int ek_report_page(const char *json, size_t length, struct ek_buf *out)
{
    const struct ek_static_file *index = ek_static_file_find("/");
    const char *page = (const char *)index->plain, *end = page + index->plain_bytes;
    int rc = EK_OK;
    for (const char *line = page, *next; !rc && line < end; line = next) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        next = stop ? stop + 1 : end;
        const struct ek_static_file *f = file_of(line, next);
        if (f && !strncmp(f->type, "text/css", 8)) {
            add_style(f, out);
        } else if (f && has(line, next, "<script")) {
            rc = add_imports(page, end, out);
            rc = rc ? rc : add_data(json, length, out);
            ek_buf_printf(out, "<script type=\"module\">import \"%s\";</script>\n", f->path + 1);
        } else if (has(line, next, "<noscript>")) {
            ek_buf_text(out, "<noscript><p>This report needs JavaScript.</p></noscript>\n");
        } else if (!f) {
            ek_buf_add(out, line, (size_t)(next - line));
            if (has(line, next, "<meta charset"))
                ek_buf_text(out, POLICY);
        }
    }
    return rc ? rc : out->rc;
}
