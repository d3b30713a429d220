#include "daemon/tools/select/yaml_write.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum { BLOCK_DEPTH = 3, INDENT = 2 };

/* Whether it may stand without quotes wherever it is. All numbers and words are such. */
static bool is_plain(const char *text)
{
    bool any = !strcmp(text, "~") || !*text;
    for (const char *c = text; *c; c++) {
        if (!isalnum((unsigned char)*c) && !strchr("_+-./~", *c))
            return false;
        any = any || isalnum((unsigned char)*c);
    }
    return any;
}

/* JSON does not mind what YAML takes for a line break, or does not take at all. */
static int yaml_quote(struct ek_buf *out, const char *text)
{
    struct ek_buf json;
    ek_buf_init(&json, 0);
    if (ek_buf_json(&json, text, strlen(text)))
        out->rc = json.rc;
    for (size_t i = 0; i < json.length; i++) {
        const unsigned char *p = (const unsigned char *)json.data + i;
        size_t left = json.length - i;
        if (left > 1 && p[0] == 0xc2 && p[1] < 0xa0) {
            ek_buf_printf(out, "\\x%02X", p[1]);
            i++;
        } else if (left > 2 && p[0] == 0xe2 && p[1] == 0x80 && (p[2] == 0xa8 || p[2] == 0xa9)) {
            ek_buf_printf(out, "\\u20%02X", p[2] - 0x80);
            i += 2;
        } else {
            ek_buf_add(out, p, 1);
        }
    }
    ek_buf_release(&json);
    return out->rc;
}

int ek_yaml_put_word(struct ek_buf *out, const char *text)
{
    static const char *const OTHER[] = {"null", "true", "false", "yes", "no",
                                        "on",   "off",  "y",     "n"};
    bool word = isalpha((unsigned char)*text) && is_plain(text);
    for (size_t i = 0; i < sizeof OTHER / sizeof *OTHER; i++)
        word = word && strcasecmp(text, OTHER[i]) != 0;
    return word ? ek_buf_text(out, text) : yaml_quote(out, text);
}

static int put_scalar(struct ek_buf *out, const struct ek_node *n)
{
    return n->quoted || !is_plain(n->text) ? yaml_quote(out, n->text) : ek_buf_text(out, n->text);
}

/* In braces or brackets, on one line. */
static int put_flow(struct ek_buf *out, const struct ek_node *n)
{
    bool map = n->kind == EK_NODE_MAPPING;
    if (n->kind == EK_NODE_SCALAR)
        return put_scalar(out, n);
    ek_buf_text(out, map ? "{" : "[");
    for (size_t i = 0; i < n->count; i++) {
        if (i)
            ek_buf_text(out, ", ");
        if (map)
            put_flow(out, &n->children[2 * i]);
        if (map)
            ek_buf_text(out, ": ");
        put_flow(out, &n->children[map ? 2 * i + 1 : i]);
    }
    return ek_buf_text(out, map ? "}" : "]");
}

static bool has_collections(const struct ek_node *n)
{
    size_t children = n->kind == EK_NODE_MAPPING    ? 2 * n->count
                      : n->kind == EK_NODE_SEQUENCE ? n->count
                                                    : 0;
    for (size_t i = 0; i < children; i++)
        if (n->children[i].kind != EK_NODE_SCALAR)
            return true;
    return false;
}

static int put_pair(struct ek_buf *out, const struct ek_node *key, const struct ek_node *value,
                    int depth);

static int put_lines(struct ek_buf *out, const struct ek_node *n, int depth)
{
    ek_buf_text(out, "\n");
    for (size_t i = 0; i < n->count; i++) {
        if (n->kind == EK_NODE_MAPPING) {
            put_pair(out, &n->children[2 * i], &n->children[2 * i + 1], depth);
            continue;
        }
        ek_buf_printf(out, "%*s- ", depth * INDENT, "");
        put_flow(out, &n->children[i]);
        ek_buf_text(out, "\n");
    }
    return out->rc;
}

static int put_pair(struct ek_buf *out, const struct ek_node *key, const struct ek_node *value,
                    int depth)
{
    ek_buf_printf(out, "%*s", depth * INDENT, "");
    put_flow(out, key);
    ek_buf_text(out, ":");
    if (has_collections(value) && depth < BLOCK_DEPTH)
        return put_lines(out, value, depth + 1);
    ek_buf_text(out, " ");
    put_flow(out, value);
    return ek_buf_text(out, "\n");
}

int ek_yaml_put_pair(struct ek_buf *out, const struct ek_node *key, const struct ek_node *value)
{
    return put_pair(out, key, value, 0);
}

bool ek_yaml_same(const struct ek_node *a, const struct ek_node *b)
{
    if (a->kind != b->kind)
        return false;
    if (a->kind == EK_NODE_SCALAR)
        return !strcmp(a->text, b->text) && (a->quoted == b->quoted || !is_plain(a->text));
    size_t children = a->kind == EK_NODE_MAPPING ? 2 * a->count : a->count;
    bool same = a->count == b->count;
    for (size_t i = 0; i < children && same; i++)
        same = ek_yaml_same(&a->children[i], &b->children[i]);
    return same;
}
