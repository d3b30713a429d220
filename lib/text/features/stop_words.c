#include "text/features/stop_words.h"

#include "text/features/document_features.h"

#include <string.h>

static int add(void *context, const char *term, size_t length)
{
    struct ek_stop_words *s = context;
    if (ek_stop_words_has(s, term, length))
        return EK_OK;
    if (s->count == EK_STOPS_MAX)
        return EK_ELIMIT;
    int rc = ek_buf_add(&s->letters, term, length);
    if (!rc)
        s->end[s->count++] = s->letters.length;
    return rc;
}

int ek_stop_words_read(struct ek_stop_words *s, struct ek_words *w)
{
    const char *word;
    int rc = EK_OK;
    s->count = 0;
    ek_buf_init(&s->letters, 0);
    for (size_t i = 0; !rc && (word = ek_stop_word(i)); i++)
        rc = ek_words_each(w, word, strlen(word), add, s);
    return rc;
}

void ek_stop_words_release(struct ek_stop_words *s)
{
    ek_buf_release(&s->letters);
}

const char *ek_stop_words_text(const struct ek_stop_words *s, size_t i, size_t *length)
{
    size_t begin = i ? s->end[i - 1] : 0;
    *length = s->end[i] - begin;
    return (const char *)s->letters.data + begin;
}

bool ek_stop_words_has(const struct ek_stop_words *s, const char *term, size_t length)
{
    for (size_t i = 0, n; i < s->count; i++) {
        const char *stop = ek_stop_words_text(s, i, &n);
        if (n == length && !memcmp(stop, term, n))
            return true;
    }
    return false;
}
