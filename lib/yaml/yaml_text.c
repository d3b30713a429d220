#include "yaml/yaml_text.h"

#include <string.h>

size_t ek_yaml_break(const char *text, size_t length, size_t at)
{
    static const char *const BREAKS[] = {"\r\n",     "\n",           "\r",
                                         "\xc2\x85", "\xe2\x80\xa8", "\xe2\x80\xa9"};
    for (size_t i = 0; i < sizeof BREAKS / sizeof *BREAKS; i++) {
        size_t n = strlen(BREAKS[i]);
        if (n <= length - at && !memcmp(text + at, BREAKS[i], n))
            return n;
    }
    return 0;
}

size_t ek_yaml_next_line(const char *text, size_t length, size_t at)
{
    for (; at < length; at++) {
        size_t n = ek_yaml_break(text, length, at);
        if (n)
            return at + n;
    }
    return length;
}

size_t ek_yaml_line_start(const char *text, size_t length, long line)
{
    size_t at = 0;
    while (--line > 0 && at < length)
        at = ek_yaml_next_line(text, length, at);
    return at;
}

bool ek_node_same(const struct ek_node *a, const struct ek_node *b)
{
    if (!a || !b)
        return a == b;
    if (a->kind != b->kind)
        return false;
    if (a->kind == EK_NODE_SCALAR)
        return a->quoted == b->quoted && !strcmp(a->text, b->text);
    size_t count = a->kind == EK_NODE_MAPPING ? 2 * a->count : a->count;
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < count; i++)
        if (!ek_node_same(&a->children[i], &b->children[i]))
            return false;
    return true;
}

static bool is_among(const char *key, const char *const *keys, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(key, keys[i]))
            return true;
    return false;
}

/* Return the first pair from `from` on that is not ignored, or the count of pairs. */
static size_t pair_from(const struct ek_node *n, size_t from, const char *const *keys, size_t count)
{
    while (from < n->count && is_among(n->children[2 * from].text, keys, count))
        from++;
    return from;
}

bool ek_node_same_but(const struct ek_node *a, const struct ek_node *b, const char *const *keys,
                      size_t count)
{
    if (a->kind != EK_NODE_MAPPING || b->kind != EK_NODE_MAPPING)
        return false;
    size_t i = pair_from(a, 0, keys, count), k = pair_from(b, 0, keys, count);
    while (i < a->count && k < b->count) {
        if (!ek_node_same(&a->children[2 * i], &b->children[2 * k]) ||
            !ek_node_same(&a->children[2 * i + 1], &b->children[2 * k + 1]))
            return false;
        i = pair_from(a, i + 1, keys, count);
        k = pair_from(b, k + 1, keys, count);
    }
    return i == a->count && k == b->count;
}
