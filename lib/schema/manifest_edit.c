#include "schema/manifest_edit.h"

#include "yaml/yaml_text.h"

#include <string.h>

static const char MARK[] = "\xef\xbb\xbf"; /* byte order mark, kept at the start */

struct file {
    const char *text;
    size_t length;
    long indent;
};

/* Return the offset of a line. */
static size_t line_of(const struct file *f, long line)
{
    return ek_yaml_line_start(f->text, f->length, line);
}

/* Return the offset of the document end mark `...` after the last node, or the length. */
static size_t end_of_text(const struct file *f, const struct ek_node *root)
{
    size_t at = line_of(f, root->end_line);
    while (at < f->length) {
        size_t left = f->length - at;
        if (left >= 3 && !memcmp(f->text + at, "...", 3) &&
            (left == 3 || strchr(" \t", f->text[at + 3]) ||
             ek_yaml_break(f->text, f->length, at + 3)))
            return at;
        at = ek_yaml_next_line(f->text, f->length, at);
    }
    return f->length;
}

/* Find the bytes [from, to) to replace. */
static void find(const struct file *f, const struct ek_node *root, const char *key, size_t *from,
                 size_t *to)
{
    *from = *to = end_of_text(f, root);
    for (size_t i = 0; i < root->count; i++) {
        const struct ek_node *k = &root->children[2 * i];
        if (strcmp(k->text, key) != 0)
            continue;
        *from = line_of(f, k->line);
        *to = line_of(f, k[1].end_line);
    }
}

/* Return the line break of the first line. */
static const char *line_end(const struct file *f)
{
    const char *first = memchr(f->text, '\n', f->length);
    return first && first > f->text && first[-1] == '\r' ? "\r\n" : "\n";
}

static bool ends_line(const struct file *f, size_t at)
{
    for (size_t n = 1; n <= 3 && n <= at; n++)
        if (ek_yaml_break(f->text, at, at - n) == n)
            return true;
    return false;
}

static int replace_section(const struct file *f, const char *section, struct ek_buf *out)
{
    while (*section) {
        size_t n = strcspn(section, "\n");
        ek_buf_printf(out, "%*s%.*s%s", (int)f->indent, "", (int)n, section, line_end(f));
        section += n + (section[n] == '\n');
    }
    return out->rc;
}

static int write_section(const struct file *f, size_t from, size_t to, const char *section,
                         struct ek_buf *out, struct ek_error *e)
{
    bool open_line = from && !ends_line(f, from);
    ek_buf_add(out, f->text, from);
    if (open_line)
        ek_buf_text(out, line_end(f));
    replace_section(f, section, out);
    int rc = ek_buf_add(out, f->text + to, f->length - to);
    return rc ? ek_fail(e, (enum ek_code)rc, "out of memory") : EK_OK;
}

/* Check that all other keys of the new text are unchanged. */
static int check(const struct ek_node *old, const char *name, const char *text, size_t length,
                 const char *key, struct ek_error *e)
{
    struct ek_yaml *y;
    struct ek_error why;
    int rc = ek_yaml_parse(&y, name, text, length, &why);
    if (rc == EK_ENOMEM)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    if (rc)
        return ek_fail_at(e, EK_ECONFIG, name, why.line, why.column,
                          "a section cannot be put into this file: %.200s", why.message);
    const struct ek_node *root = ek_yaml_root(y);
    if (!ek_node_get(root, key) || !ek_node_same_but(old, root, &key, 1))
        rc = ek_fail_at(e, EK_ECONFIG, name, 0, 0,
                        "section '%s' cannot be put into this file without a change to others: "
                        "write each key on lines of its own",
                        key);
    ek_yaml_free(y);
    return rc;
}

static int edit(const struct file *f, const struct ek_yaml *y, const char *key, const char *section,
                struct ek_buf *out, struct ek_error *e)
{
    const struct ek_node *root = ek_yaml_root(y);
    size_t begin = line_of(f, root->line) + (size_t)f->indent, from, to, before = out->length;
    int rc = ek_node_check_kind(y, root, "the file", EK_NODE_MAPPING, e);
    if (!rc && begin < f->length && f->text[begin] == '{')
        rc = ek_node_fail(y, root, e,
                          "a section cannot be added to a file written in braces: write its keys "
                          "on lines of their own first");
    if (rc)
        return rc;
    find(f, root, key, &from, &to);
    rc = write_section(f, from, to, section, out, e);
    if (!rc)
        rc = check(root, ek_yaml_name(y), (const char *)out->data + before, out->length - before,
                   key, e);
    return rc;
}

int ek_manifest_set_section(const char *name, const char *text, size_t length, const char *key,
                            const char *section, struct ek_buf *out, struct ek_error *e)
{
    struct ek_yaml *y;
    size_t before = out->length;
    int rc = ek_yaml_parse(&y, name, text, length, e);
    if (rc)
        return rc;
    struct file f = {text, length, ek_yaml_root(y)->column - 1};
    if (length >= sizeof MARK - 1 && !memcmp(text, MARK, sizeof MARK - 1)) {
        f.text += sizeof MARK - 1;
        f.length -= sizeof MARK - 1;
        if (ek_buf_text(out, MARK))
            rc = ek_fail(e, EK_ENOMEM, "out of memory");
    }
    if (!rc)
        rc = edit(&f, y, key, section, out, e);
    if (rc)
        ek_buf_truncate(out, before);
    ek_yaml_free(y);
    return rc;
}
