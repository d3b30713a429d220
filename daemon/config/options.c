#include "daemon/config/options.h"

#include "base/parse.h"

#include <stdio.h>
#include <string.h>

enum { NAME_BYTES = 64, SIBLINGS_MAX = 64 };

const struct ek_option *ek_option_find(const char *key)
{
    for (size_t i = 0; i < ek_option_count(); i++)
        if (!strcmp(ek_option_at(i)->key, key))
            return ek_option_at(i);
    return NULL;
}

/* What follows `section` and its dot in the key, or NULL. */
static const char *behind(const char *key, const char *section)
{
    size_t length = strlen(section);
    if (!length)
        return key;
    return !strncmp(key, section, length) && key[length] == '.' ? key + length + 1 : NULL;
}

bool ek_option_section(const char *prefix)
{
    for (size_t i = 0; i < ek_option_count(); i++)
        if (behind(ek_option_at(i)->key, prefix))
            return true;
    return false;
}

const char *ek_option_suggest(const char *section, const char *word, char *name, size_t size)
{
    char names[SIBLINGS_MAX][NAME_BYTES];
    const char *candidates[SIBLINGS_MAX];
    size_t count = 0;
    for (size_t i = 0; i < ek_option_count() && count < SIBLINGS_MAX; i++) {
        const char *rest = behind(ek_option_at(i)->key, section);
        if (!rest)
            continue;
        snprintf(names[count], NAME_BYTES, "%.*s", (int)strcspn(rest, "."), rest);
        candidates[count] = names[count];
        count++;
    }
    const char *near = ek_nearest_word(word, candidates, count);
    if (!near)
        return NULL;
    snprintf(name, size, "%s", near);
    return name;
}

int ek_option_word(const char *words, const char *word)
{
    size_t length = strlen(word);
    int number = 0;
    for (const char *p = words; p; p = strchr(p, ' '), number++) {
        p += *p == ' ';
        if (strcspn(p, " ") == length && !memcmp(p, word, length) && length)
            return number;
    }
    return -1;
}

void ek_option_word_at(const char *words, int number, char *out, size_t size)
{
    const char *p = words;
    while (number-- > 0)
        p += strcspn(p, " ") + 1;
    snprintf(out, size, "%.*s", (int)strcspn(p, " "), p);
}
