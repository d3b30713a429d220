#include "data/manifest_edit.h"

#include "data/yaml.h"

#include <string.h>

struct file {
    const char *text;
    size_t length;
    long indent;
};

/* Where a line begins, from 1; the end of the text when it has fewer. */
static size_t line_start(const struct file *f, long line)
{
    size_t at = 0;
    while (line > 1 && at < f->length) {
        const char *end = memchr(f->text + at, '\n', f->length - at);
        at = end ? (size_t)(end - f->text) + 1 : f->length;
        line--;
    }
    return at;
}

/* Whether the line says nothing that belongs to a section: blank, or a comment that is not indented
 * like one of its lines. */
static bool is_between(const struct file *f, size_t start, size_t end)
{
    size_t first = start;
    while (first < end && strchr(" \t\r\n", f->text[first]))
        first++;
    return first == end || (f->text[first] == '#' && (long)(first - start) <= f->indent);
}

/* The end of a section that may go on to `end`. */
static size_t trim(const struct file *f, size_t start, size_t end)
{
    while (end > start) {
        size_t line = end - 1;
        while (line > start && f->text[line - 1] != '\n')
            line--;
        if (line == start || !is_between(f, line, end))
            break;
        end = line;
    }
    return end;
}

/* Bytes from .. to of the text give way to the section. */
static void find(const struct file *f, const struct ek_node *root, const char *key, size_t *from,
                 size_t *to)
{
    *from = *to = f->length;
    for (size_t i = 0; i < root->count; i++) {
        const struct ek_node *k = &root->children[2 * i];
        if (strcmp(k->text, key) != 0)
            continue;
        *from = line_start(f, k->line);
        size_t next = i + 1 < root->count ? line_start(f, root->children[2 * i + 2].line) : *to;
        *to = trim(f, *from, next);
    }
}

static int put_section(const struct file *f, const char *section, struct ek_buf *out)
{
    const char *first_end = memchr(f->text, '\n', f->length);
    bool returns = first_end && first_end > f->text && first_end[-1] == '\r';
    int rc = EK_OK;
    while (*section && !rc) {
        size_t n = strcspn(section, "\n");
        rc = ek_buf_printf(out, "%*s%.*s%s", (int)f->indent, "", (int)n, section,
                           returns ? "\r\n" : "\n");
        section += n + (section[n] == '\n');
    }
    return rc;
}

static int put(const struct file *f, size_t from, size_t to, const char *section,
               struct ek_buf *out, struct ek_error *e)
{
    bool open_line = from && f->text[from - 1] != '\n';
    int rc = ek_buf_add(out, f->text, from);
    if (!rc && open_line)
        rc = ek_buf_text(out, "\n");
    if (!rc)
        rc = put_section(f, section, out);
    if (!rc)
        rc = ek_buf_add(out, f->text + to, f->length - to);
    return rc ? ek_fail(e, (enum ek_code)rc, "no room for %zu bytes", f->length) : EK_OK;
}

int ek_manifest_put(const char *name, const char *text, size_t length, const char *key,
                    const char *section, struct ek_buf *out, struct ek_error *e)
{
    struct ek_yaml *y;
    int rc = ek_yaml_parse(&y, name, text, length, e);
    if (rc)
        return rc;
    const struct ek_node *root = ek_yaml_root(y);
    struct file f = {text, length, root->column - 1};
    size_t from = line_start(&f, root->line) + (size_t)f.indent, to;
    rc = ek_node_expect(y, root, "the file", EK_NODE_MAPPING, e);
    if (!rc && from < length && text[from] == '{')
        rc = ek_node_fail(y, root, e,
                          "a section cannot be added to a file written in braces: write its keys "
                          "on lines of their own first");
    if (!rc) {
        find(&f, root, key, &from, &to);
        rc = put(&f, from, to, section, out, e);
    }
    ek_yaml_free(y);
    return rc;
}
