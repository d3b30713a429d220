#include "text/index/stemmer.h"

#include "base/parse.h"

#include <libstemmer.h>
#include <string.h>

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

int ek_stemmer_new(struct ek_stemmer **out, const char *name, struct ek_error *e)
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

void ek_stemmer_free(struct ek_stemmer *s)
{
    sb_stemmer_delete(inner(s));
}

const char *ek_stemmer_stem(struct ek_stemmer *s, const char *word, size_t *length)
{
    const sb_symbol *stem = sb_stemmer_stem(inner(s), (const sb_symbol *)word, (int)*length);
    if (stem)
        *length = (size_t)sb_stemmer_length(inner(s));
    return (const char *)stem;
}
