/* Text collections, JSON lines or TREC: documents satisfy the header's contract, their terms have
 * valid lengths, and their JSON form reads back equal. */
#include "text/index/collection.h"
#include "base/buf.h"
#include "tests/fuzz/fuzz.h"
#include "text/index/words.h"

#include <string.h>

static const char *const NAMES[EK_FIELDS] = {"title", "body", "heading", "inlink", "anchor"};

static int term(void *context, const char *text, size_t length)
{
    size_t *terms = context;
    ek_fuzz_require(length > 0 && length <= EK_NAME_TEXT_BYTES_MAX, "a term of such a length");
    for (size_t at = 0, n; at < length; at += n)
        ek_fuzz_require((n = ek_utf8_length((const unsigned char *)text + at, length - at)) > 0,
                        "a term that is no UTF-8");
    ++*terms;
    return 0;
}

static void cut_into_terms(const struct ek_text *t)
{
    static struct ek_words *plain, *english;
    size_t terms = 0, stemmed = 0;
    if (!plain)
        ek_fuzz_require(!ek_words_new(&plain, "none", NULL) &&
                            !ek_words_new(&english, "english", NULL),
                        "no words");
    ek_fuzz_require(!ek_words_each(plain, t->text, t->length, term, &terms), "no memory");
    ek_fuzz_require(!ek_words_each(english, t->text, t->length, term, &stemmed), "no memory");
    ek_fuzz_require(terms == stemmed, "stemming changes how many terms there are");
}

static bool is_utf8(const struct ek_text *t)
{
    for (size_t at = 0, n; at < t->length; at += n)
        if (!(n = ek_utf8_length((const unsigned char *)t->text + at, t->length - at)))
            return false;
    return true;
}

static void put(struct ek_buf *line, const char *key, const struct ek_text *t)
{
    ek_fuzz_require(!ek_buf_printf(line, "%s\"%s\": ", line->length ? ", " : "{", key) &&
                        !ek_buf_json(line, t->text, t->length),
                    "no memory");
}

static bool same(const struct ek_text *a, const struct ek_text *b)
{
    return a->length == b->length && (!a->length || !memcmp(a->text, b->text, a->length));
}

static void again(const struct ek_record_text *r)
{
    static struct ek_buf line;
    struct ek_collection *c;
    struct ek_record_text back;
    struct ek_error e = {0};
    char path[EK_FUZZ_PATH_BYTES];
    bool more, plain = is_utf8(&r->id) && is_utf8(&r->url);
    for (int f = 0; f < EK_FIELDS; f++)
        plain = plain && is_utf8(&r->field[f]);
    if (!plain)
        return;
    if (!line.limit)
        ek_buf_init(&line, 0);
    ek_buf_clear(&line);
    put(&line, "id", &r->id);
    put(&line, "url", &r->url);
    for (int f = 0; f < EK_FIELDS; f++)
        put(&line, NAMES[f], &r->field[f]);
    ek_fuzz_require(!ek_buf_text(&line, "}\n"), "no memory");
    int fd = ek_fuzz_file(line.data, line.length, path);
    ek_fuzz_require(!ek_collection_open(&c, path, EK_COLLECTION_AUTO, &e), e.message);
    ek_fuzz_require(!ek_collection_next(c, &back, &more, &e) && more, e.message);
    ek_fuzz_require(same(&r->id, &back.id) && same(&r->url, &back.url), "another id comes back");
    for (int f = 0; f < EK_FIELDS; f++)
        ek_fuzz_require(same(&r->field[f], &back.field[f]), "another text comes back");
    ek_collection_close(c);
    close(fd);
}

static void check(const struct ek_record_text *r, long last)
{
    ek_fuzz_require(r->id.length > 0 && r->id.length <= EK_ID_BYTES_MAX, "an id of such a length");
    ek_fuzz_require(!memchr(r->id.text, 0, r->id.length) && !memchr(r->id.text, '\n', r->id.length),
                    "an id that is no word");
    ek_fuzz_require(r->line >= last, "documents out of order");
    for (int f = 0; f < EK_FIELDS; f++)
        cut_into_terms(&r->field[f]);
    again(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ek_collection *c;
    struct ek_record_text r;
    struct ek_error e = {0};
    const char *first;
    char path[EK_FUZZ_PATH_BYTES];
    long last = 0;
    bool more = true;
    int fd = ek_fuzz_file(data, size, path);
    int rc = ek_collection_open(&c, path, EK_COLLECTION_AUTO, &e);
    if (!rc) {
        while (!(rc = ek_collection_next(c, &r, &more, &e)) && more) {
            check(&r, last);
            last = r.line;
        }
        ek_fuzz_require(ek_collection_unknown(c, &first) || !*first, /* a key may be empty */
                        "an unknown key that is none");
        ek_collection_close(c);
    }
    ek_fuzz_require(!rc || e.message[0], "refused without a word");
    close(fd);
    return 0;
}
