#include "daemon/config/auth.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/portable.h"

#include <pthread.h>
#include <string.h>

/* Tokens are padded with zeros, so that all comparisons have the same length. */
struct entry {
    char name[EK_AUTHOR_BYTES + 1], token[EK_TOKEN_MAX + 1];
};

struct ek_tokens {
    pthread_mutex_t lock; /* of the members below, after loading */
    size_t count;
    struct entry entry[EK_TOKENS_MAX];
};

static const char BLANK[] = " \t";

static int fail(struct ek_reader *r, struct ek_error *e, const char *what)
{
    return ek_fail_at(e, EK_ECONFIG, ek_reader_name(r), ek_reader_line_number(r), 0, "%s", what);
}

static bool is_visible(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (text[i] <= ' ' || text[i] > '~')
            return false;
    return true;
}

/* Advance *at to the next word and return its length; 0 at the end of the line or at a comment. */
static size_t next_field(const char **at)
{
    *at += strspn(*at, BLANK);
    return **at == '#' ? 0 : strcspn(*at, BLANK);
}

static int add(struct ek_tokens *t, struct ek_reader *r, const char *line, struct ek_error *e)
{
    const char *name = line;
    size_t named = next_field(&name);
    if (!named)
        return EK_OK;
    const char *token = name + named;
    size_t length = next_field(&token);
    const char *rest = token + length;
    if (length && next_field(&rest))
        return fail(r, e, "more than a name and a token in a line; use one line for each token");
    if (!length) {
        token = name;
        length = named;
        named = 0;
    }
    if (length < EK_TOKEN_MIN || length > EK_TOKEN_MAX)
        return fail(r, e,
                    "a token must have 16 to 200 characters; make one with 'openssl rand -hex 32'");
    if (named > EK_AUTHOR_BYTES)
        return fail(r, e, "the name before the token must have at most 64 characters");
    if (!is_visible(token, length) || !is_visible(name, named))
        return fail(r, e, "a token and its name must be of visible ASCII characters");
    if (t->count == EK_TOKENS_MAX)
        return fail(r, e, "more than 64 tokens; remove unused ones");
    struct entry *to = &t->entry[t->count++];
    memcpy(to->name, name, named);
    memcpy(to->token, token, length);
    return EK_OK;
}

static int read_all(struct ek_tokens *t, struct ek_reader *r, struct ek_error *e)
{
    char *line;
    int rc = EK_OK;
    while (!rc && !(rc = ek_reader_line(r, &line, NULL, e)) && line)
        rc = add(t, r, line, e);
    if (!rc && !t->count)
        rc = ek_fail_at(e, EK_ECONFIG, ek_reader_name(r), 0, 0,
                        "the file has no token; add one, such as from 'openssl rand -hex 32'");
    return rc;
}

int ek_tokens_load(struct ek_tokens **out, const char *path, struct ek_error *e)
{
    struct ek_reader *r;
    struct ek_tokens *t = ek_calloc(1, sizeof *t);
    if (!t)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    pthread_mutex_init(&t->lock, NULL);
    int rc = ek_reader_open(&r, path, e);
    if (!rc) {
        rc = read_all(t, r, e);
        ek_reader_close(r);
    }
    if (rc)
        ek_tokens_free(t);
    else
        *out = t;
    return rc;
}

void ek_tokens_free(struct ek_tokens *t)
{
    if (!t)
        return;
    pthread_mutex_destroy(&t->lock);
    ek_erase(t, sizeof *t);
    ek_free(t);
}

void ek_tokens_replace(struct ek_tokens *t, struct ek_tokens *with)
{
    pthread_mutex_lock(&t->lock);
    t->count = with->count;
    memcpy(t->entry, with->entry, sizeof t->entry);
    pthread_mutex_unlock(&t->lock);
}

static bool same(const char *padded, const char *token)
{
    unsigned char differs = 0;
    for (size_t i = 0; i <= EK_TOKEN_MAX; i++)
        differs |= (unsigned char)(padded[i] ^ token[i]);
    return !differs;
}

bool ek_tokens_find(struct ek_tokens *t, const char *given, char name[EK_AUTHOR_BYTES + 1])
{
    char padded[EK_TOKEN_MAX + 1] = {0};
    bool found = false;
    size_t length = strnlen(given, sizeof padded);
    memcpy(padded, given, length < sizeof padded ? length : 0);
    *name = 0;
    pthread_mutex_lock(&t->lock);
    for (size_t i = 0; i < t->count; i++)
        if (same(padded, t->entry[i].token)) {
            memcpy(name, t->entry[i].name, sizeof t->entry[i].name);
            found = true;
        }
    pthread_mutex_unlock(&t->lock);
    ek_erase(padded, sizeof padded);
    return found;
}

const char *ek_tokens_first(const struct ek_tokens *t)
{
    return t->entry[0].token;
}
