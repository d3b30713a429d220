#include "base/text.h"

#include <string.h>

struct ek_text ek_text_from(const char *word)
{
    return (struct ek_text){word, word ? strlen(word) : 0};
}

int ek_text_compare(struct ek_text text, const char *word)
{
    size_t length = strlen(word), common = text.length < length ? text.length : length;
    int order = common ? memcmp(text.text, word, common) : 0;
    return order ? order : (text.length > length) - (text.length < length);
}

bool ek_text_same(struct ek_text a, struct ek_text b)
{
    return a.length == b.length &&
           (!a.length || !memcmp(a.text, b.text, a.length)); /* absent: NULL */
}
