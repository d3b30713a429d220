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

int ek_text_find(struct ek_text text, char *const *words, int first, int end)
{
    while (text.text && first < end) {
        int middle = first + (end - first) / 2, order = ek_text_compare(text, words[middle]);
        if (!order)
            return middle;
        if (order < 0)
            end = middle;
        else
            first = middle + 1;
    }
    return -1;
}

bool ek_text_same(struct ek_text a, struct ek_text b)
{
    return a.length == b.length &&
           (!a.length || !memcmp(a.text, b.text, a.length)); /* absent: NULL */
}
