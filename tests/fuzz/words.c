/* Dictionary of a format for its mutator. */
#include "base/alloc.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/mutate.h"

#include <string.h>

void ek_fuzz_key(struct ek_fuzz_words *w, const char *key)
{
    if (w->keys < EK_FUZZ_WORDS_MAX)
        w->key[w->keys++] = key;
}

void ek_fuzz_value(struct ek_fuzz_words *w, const char *value)
{
    if (w->values < EK_FUZZ_WORDS_MAX)
        w->value[w->values++] = value;
}

/* The copies live as long as the process. */
static void each(struct ek_fuzz_words *w, const char *words,
                 void (*take)(struct ek_fuzz_words *, const char *))
{
    while (words && *words) {
        size_t length = strcspn(words, " ");
        const char *copy = ek_strndup(words, length);
        ek_fuzz_require(copy != NULL, "no memory");
        take(w, copy);
        words += length + (words[length] == ' ');
    }
}

void ek_fuzz_keys(struct ek_fuzz_words *w, const char *words)
{
    each(w, words, ek_fuzz_key);
}

void ek_fuzz_values(struct ek_fuzz_words *w, const char *words)
{
    each(w, words, ek_fuzz_value);
}
