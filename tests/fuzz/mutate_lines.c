/* Text mutations by lines, keys and values. */
#include "base/rng.h"
#include "tests/fuzz/mutate.h"

#include <stdio.h>
#include <string.h>

enum { LINES_MAX = 1000, NEW_MAX = 300, DEEPER = 2 };

struct lines {
    size_t at[LINES_MAX + 1]; /* the last one: the end */
    size_t count;
};

struct text {
    uint8_t *data;
    size_t size, most;
};

static void find_lines(struct lines *l, const struct text *t)
{
    l->count = 0;
    for (size_t at = 0; at < t->size && l->count < LINES_MAX;) {
        const uint8_t *end = memchr(t->data + at, '\n', t->size - at);
        l->at[l->count++] = at;
        at = end ? (size_t)(end - t->data) + 1 : t->size;
    }
    l->at[l->count] = t->size;
}

static void splice(struct text *t, size_t at, size_t cut, const void *fill, size_t filled)
{
    if (t->size - cut + filled > t->most)
        return;
    memmove(t->data + at + filled, t->data + at + cut, t->size - at - cut);
    if (filled)
        memcpy(t->data + at, fill, filled);
    t->size += filled - cut;
}

static size_t indent_of(const struct text *t, size_t from, size_t to)
{
    size_t n = 0;
    while (from + n < to && t->data[from + n] == ' ')
        n++;
    return n;
}

static const char *key_of(const struct ek_fuzz_words *w, struct ek_rng *r)
{
    return w->keys ? w->key[ek_rng_uniform_int(r, w->keys)] : "key";
}

static const char *value_of(const struct ek_fuzz_words *w, struct ek_rng *r)
{
    static const char *const any[] = {
        "",      "0",           "1",      "-1",     "true",       "false",
        "0.5",   "1e9",         "7d",     "10s",    "{}",         "[]",
        "null",  "nan",         "1e400",  "~",      "64KiB",      "\"\"",
        "'a b'", "99999999999", "[a, b]", "{a: b}", "2027-01-31", "2027-01-31T12:00:00Z",
        "|",     "&a",          "*a",     "!t x"};
    if (w->values && ek_rng_uniform_int(r, 3))
        return w->value[ek_rng_uniform_int(r, w->values)];
    return any[ek_rng_uniform_int(r, sizeof any / sizeof *any)];
}

/* Write `key: value` at the indent of the line, deeper, or as the first of a list. */
static size_t make_line(char line[NEW_MAX], size_t indent, const struct ek_fuzz_words *w,
                        struct ek_rng *r)
{
    const char *key = key_of(w, r), *value = value_of(w, r);
    int n;
    indent += DEEPER * ek_rng_uniform_int(r, 2);
    if (indent > 40)
        indent = 40;
    switch (ek_rng_uniform_int(r, 5)) {
    case 2:
        n = snprintf(line, NEW_MAX, "%*s- %s: %s\n", (int)indent, "", key, value);
        break;
    case 3:
        n = snprintf(line, NEW_MAX, "%*s- {%s: %s}\n", (int)indent, "", key, value);
        break;
    case 4:
        n = snprintf(line, NEW_MAX, "%*s%s:\n", (int)indent, "", key);
        break;
    default:
        n = snprintf(line, NEW_MAX, "%*s%s: %s\n", (int)indent, "", key, value);
    }
    return n < 0 ? 0 : n < NEW_MAX ? (size_t)n : NEW_MAX - 1;
}

static void change_indent(struct text *t, size_t from, size_t to, struct ek_rng *r)
{
    static const char spaces[] = "    ";
    size_t has = indent_of(t, from, to);
    if (has >= DEEPER && ek_rng_uniform_int(r, 2))
        splice(t, from, DEEPER, NULL, 0);
    else
        splice(t, from, 0, spaces, DEEPER);
}

/* Replace the key or value of a line, or one of them in flow style. */
static void change_word(struct text *t, size_t from, size_t to, const struct ek_fuzz_words *w,
                        struct ek_rng *r)
{
    size_t colons = 0, at = 0;
    for (size_t i = from; i < to; i++)
        if (t->data[i] == ':' && !ek_rng_uniform_int(r, ++colons))
            at = i;
    if (!colons)
        return;
    if (ek_rng_uniform_int(r, 4)) {
        const char *value = value_of(w, r);
        size_t begin = at + 1, end;
        begin += begin < to && t->data[begin] == ' ';
        for (end = begin; end < to && !memchr("\n,}]", t->data[end], 4);)
            end++;
        splice(t, begin, end - begin, value, strlen(value));
    } else {
        const char *key = key_of(w, r);
        size_t begin = at;
        while (begin > from && !memchr(" {,[", t->data[begin - 1], 4))
            begin--;
        splice(t, begin, at - begin, key, strlen(key));
    }
}

/* Copy one or a few lines to another position. */
static void copy_lines(struct text *t, const struct lines *l, size_t from, struct ek_rng *r)
{
    uint8_t copy[NEW_MAX];
    size_t to = from + 1 + ek_rng_uniform_int(r, 3);
    if (to > l->count)
        to = l->count;
    size_t length = l->at[to] - l->at[from];
    if (length > sizeof copy)
        return;
    memcpy(copy, t->data + l->at[from], length);
    splice(t, l->at[ek_rng_uniform_int(r, l->count + 1)], 0, copy, length);
}

static void step(struct text *t, const struct ek_fuzz_words *w, struct ek_rng *r)
{
    static struct lines l;
    char line[NEW_MAX];
    find_lines(&l, t);
    size_t i = l.count ? ek_rng_uniform_int(r, l.count) : 0;
    size_t from = l.count ? l.at[i] : 0, to = l.count ? l.at[i + 1] : 0;
    uint64_t way = l.count ? ek_rng_uniform_int(r, 10) : 0;
    if (way <= 2) {
        size_t length = make_line(line, indent_of(t, from, to), w, r);
        splice(t, ek_rng_uniform_int(r, 3) ? to : from, 0, line, length);
    } else if (way == 3)
        splice(t, from, to - from, NULL, 0);
    else if (way == 4)
        copy_lines(t, &l, i, r);
    else if (way == 5)
        change_indent(t, from, to, r);
    else
        change_word(t, from, to, w, r);
}

size_t ek_fuzz_mutate_lines(uint8_t *data, size_t size, size_t most, unsigned seed,
                            const struct ek_fuzz_words *w)
{
    struct text t = {data, size, most};
    struct ek_rng r;
    ek_rng_seed(&r, seed);
    if (!ek_rng_uniform_int(&r, 5))
        return LLVMFuzzerMutate(data, size, most);
    for (uint64_t steps = 1 + ek_rng_uniform_int(&r, 4); steps; steps--)
        step(&t, w, &r);
    return t.size;
}
