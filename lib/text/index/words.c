#include "text/index/words.h"

#include "base/alloc.h"
#include "base/parse.h"

#include <libstemmer.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <utf8proc.h>

/* Stemmer. The only module that includes Snowball (libstemmer). Not thread-safe. */

struct ek_stemmer;

/* The opaque handle is the sb_stemmer itself. */
static struct sb_stemmer *inner(struct ek_stemmer *s)
{
    return (struct sb_stemmer *)(void *)s;
}

/* Snowball returns NULL both for an unknown name and for a lack of memory. */
static int explain(const char *name, struct ek_error *e)
{
    const char **all = sb_stemmer_list();
    size_t count = 0;
    while (all[count])
        if (!strcmp(all[count++], name))
            return ek_fail(e, EK_ENOMEM, "out of memory");
    const char *near = ek_nearest_name(name, (const char *const *)all, count);
    if (near)
        return ek_fail(e, EK_EUSAGE, "no stemmer is called '%s', did you mean '%s'?", name, near);
    return ek_fail(e, EK_EUSAGE,
                   "no stemmer is called '%s'; there are 'none', 'english' and %zu more "
                   "languages of Snowball",
                   name, count - 1);
}

/* Create a stemmer; *out is NULL for "none". Return 0, EK_EUSAGE for an unknown name, or
 * EK_ENOMEM. */
static int stemmer_new(struct ek_stemmer **out, const char *name, struct ek_error *e)
{
    *out = NULL;
    if (!strcmp(name, "none"))
        return EK_OK;
    struct sb_stemmer *s = sb_stemmer_new(name, NULL);
    if (!s)
        return explain(name, e);
    *out = (struct ek_stemmer *)(void *)s;
    return EK_OK;
}

static void stemmer_free(struct ek_stemmer *s)
{
    sb_stemmer_delete(inner(s));
}

/* Return the stem of a case-folded word, valid until the next call, or NULL if out of memory.
 * *length is the length of the word, then of the stem. */
static const char *stemmer_stem(struct ek_stemmer *s, const char *word, size_t *length)
{
    const sb_symbol *stem = sb_stemmer_stem(inner(s), (const sb_symbol *)word, (int)*length);
    if (stem)
        *length = (size_t)sb_stemmer_length(inner(s));
    return (const char *)stem;
}

enum {
    /* maximum code points per byte: U+FDFA has three bytes and becomes 18; composition only reduces
     * them */
    UNFOLD = 6,
    CODES = EK_RUN_BYTES_MAX * UNFOLD
};

static const utf8proc_option_t FOLDING =
    UTF8PROC_STABLE | UTF8PROC_COMPAT | UTF8PROC_COMPOSE | UTF8PROC_CASEFOLD | UTF8PROC_IGNORE;

typedef int take(void *context, const char *term, size_t length);

struct ek_words {
    struct ek_stemmer *stemmer; /* NULL: none */
    take *each;
    void *context;
    size_t length;
    char word[EK_RUN_BYTES_MAX];
    utf8proc_int32_t codes[CODES + 1];
};

int ek_words_new(struct ek_words **out, const char *stemmer, struct ek_error *e)
{
    struct ek_words *w = ek_calloc(1, sizeof *w);
    if (!w)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    int rc = stemmer_new(&w->stemmer, stemmer, e);
    if (rc) {
        ek_free(w);
        return rc;
    }
    *out = w;
    return EK_OK;
}

void ek_words_free(struct ek_words *w)
{
    if (!w)
        return;
    stemmer_free(w->stemmer);
    ek_free(w);
}

static int emit_term(struct ek_words *w)
{
    size_t length = w->length;
    const char *term = w->word;
    w->length = 0;
    if (!length)
        return EK_OK;
    if (w->stemmer)
        term = stemmer_stem(w->stemmer, term, &length);
    if (!term)
        return EK_ENOMEM;
    return length ? w->each(w->context, term, length) : EK_OK;
}

static bool is_ascii_word(unsigned char c)
{
    return (unsigned)((c | 0x20) - 'a') < 26 || (unsigned)(c - '0') < 10;
}

static bool is_of_word(utf8proc_int32_t code)
{
    utf8proc_category_t c = utf8proc_category(code);
    return c >= UTF8PROC_CATEGORY_LU && c <= UTF8PROC_CATEGORY_NO;
}

static bool is_mark(utf8proc_int32_t code)
{
    utf8proc_category_t c = utf8proc_category(code);
    return c >= UTF8PROC_CATEGORY_MN && c <= UTF8PROC_CATEGORY_ME;
}

/* Soft hyphen, joiners and word joiner are inside a word but not part of it. */
static bool is_within(utf8proc_int32_t code)
{
    return code == 0xad || code == 0x200c || code == 0x200d || code == 0x2060;
}

/* Han and Hiragana are written without spaces. */
static bool is_separate(utf8proc_int32_t code)
{
    return (code >= 0x3041 && code <= 0x3096) || (code >= 0x3400 && code <= 0x4dbf) ||
           (code >= 0x4e00 && code <= 0x9fff) || (code >= 0xf900 && code <= 0xfaff) ||
           (code >= 0x20000 && code <= 0x3ffff);
}

static int cut(struct ek_words *w, size_t count)
{
    bool full = false, alone = false;
    int rc = EK_OK;
    for (size_t i = 0; i < count && !rc; i++) {
        utf8proc_int32_t code = w->codes[i];
        bool mark = is_mark(code);
        if (!is_of_word(code) || is_separate(code) || (alone && !mark)) {
            rc = emit_term(w);
            full = alone = false;
        }
        if (rc || !is_of_word(code))
            continue;
        alone = alone || is_separate(code);
        utf8proc_uint8_t bytes[4];
        size_t n = (size_t)utf8proc_encode_char(code, bytes);
        full = full || w->length + n > EK_NAME_TEXT_BYTES_MAX;
        if (!full) {
            memcpy(w->word + w->length, bytes, n);
            w->length += n;
        }
    }
    return rc ? rc : emit_term(w);
}

/* Fold a run of letters, marks and numbers of at most EK_RUN_BYTES_MAX bytes. */
static int fold(struct ek_words *w, const char *run, size_t length)
{
    utf8proc_ssize_t n = utf8proc_decompose((const utf8proc_uint8_t *)run, (utf8proc_ssize_t)length,
                                            w->codes, CODES, FOLDING);
    if (n < 0 || n > CODES)
        return EK_OK; /* unreachable: valid UTF-8 that fits */
    n = utf8proc_normalize_utf32(w->codes, n, FOLDING);
    return n < 0 ? EK_OK : cut(w, (size_t)n);
}

/* Process the run or separator at text[*at] and advance *at past it. */
static int any_run(struct ek_words *w, const char *text, size_t length, size_t *at)
{
    size_t start = *at, end = start, keep = start;
    utf8proc_ssize_t n = 0;
    bool alone = false;
    while (end < length) {
        utf8proc_int32_t code;
        n = utf8proc_iterate((const utf8proc_uint8_t *)text + end, (utf8proc_ssize_t)(length - end),
                             &code);
        bool within = end > start && is_within(code);
        if (n <= 0 || (!is_of_word(code) && !within))
            break;
        if (end > start && (is_separate(code) || (alone && !within && !is_mark(code))))
            break;
        alone = alone || is_separate(code);
        end += (size_t)n;
        if (end - start <= EK_RUN_BYTES_MAX)
            keep = end;
    }
    *at = end > start ? end : start + (n > 0 ? (size_t)n : 1);
    return fold(w, text + start, keep - start);
}

/* Fast path for an ASCII run. Return false if a non-ASCII byte follows it. */
static bool ascii_run(struct ek_words *w, const char *text, size_t length, size_t *at)
{
    size_t end = *at, n = 0;
    while (end < length && is_ascii_word((unsigned char)text[end])) {
        if (n < EK_NAME_TEXT_BYTES_MAX)
            w->word[n++] = (char)(text[end] | 0x20); /* digits already have that bit */
        end++;
    }
    if (end < length && (unsigned char)text[end] >= 0x80)
        return false;
    w->length = n;
    *at = end;
    return true;
}

int ek_words_each(struct ek_words *w, const char *text, size_t length,
                  int (*each)(void *context, const char *term, size_t length), void *context)
{
    size_t at = 0;
    int rc = EK_OK;
    w->each = each;
    w->context = context;
    w->length = 0;
    while (at < length && !rc) {
        unsigned char c = (unsigned char)text[at];
        if (c < 0x80 && !is_ascii_word(c))
            at++;
        else if (c < 0x80 && ascii_run(w, text, length, &at))
            rc = emit_term(w);
        else
            rc = any_run(w, text, length, &at);
    }
    return rc;
}
