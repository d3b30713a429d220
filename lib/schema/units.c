#include "schema/units.h"

#include "base/alloc.h"
#include "base/parse.h"

#include <ctype.h>
#include <string.h>

void ek_units_init(struct ek_units *own)
{
    memset(own, 0, sizeof *own);
}

static void release_unit(const struct ek_unit *u)
{
    ek_free((char *)u->id);
    ek_free((char *)u->quantity);
    ek_free((char *)u->from);
    ek_free((char *)u->text);
    ek_free((char *)u->inverse);
}

void ek_units_release(struct ek_units *own)
{
    for (size_t i = 0; i < own->count; i++)
        release_unit(&own->unit[i]);
    ek_free(own->unit);
    ek_units_init(own);
}

const struct ek_unit *ek_units_at(const struct ek_units *own, size_t i)
{
    size_t count;
    const struct ek_unit *built_in = ek_units_built_in(&count);
    if (i < count)
        return &built_in[i];
    return own && i - count < own->count ? &own->unit[i - count] : NULL;
}

const struct ek_unit *ek_units_find(const struct ek_units *own, const char *id)
{
    const struct ek_unit *u;
    for (size_t i = 0; (u = ek_units_at(own, i)); i++)
        if (!strcmp(u->id, id))
            return u;
    return NULL;
}

int ek_units_nearest(const struct ek_units *own, const char *id, const char **near)
{
    size_t count, i;
    ek_units_built_in(&count);
    count += own ? own->count : 0;
    const char **words = ek_calloc(count, sizeof *words);
    if (!words)
        return EK_ENOMEM;
    for (i = 0; i < count; i++)
        words[i] = ek_units_at(own, i)->id;
    *near = ek_nearest_name(id, words, count);
    ek_free(words);
    return EK_OK;
}

/* Copy a string that may be NULL; set *lacks if out of memory. */
static char *copy(const char *text, int *lacks)
{
    char *out = text ? ek_strdup(text) : NULL;
    *lacks |= text && !out;
    return out;
}

int ek_units_add(struct ek_units *own, const struct ek_unit *u)
{
    if (own->count == EK_CUSTOM_UNITS_MAX)
        return EK_ELIMIT;
    struct ek_unit *unit = ek_grow(own->unit, own->count, &own->capacity, sizeof *unit);
    if (!unit)
        return EK_ENOMEM;
    own->unit = unit;
    int lacks = 0;
    struct ek_unit mine = {copy(u->id, &lacks),       u->factor,
                           copy(u->quantity, &lacks), copy(u->from, &lacks),
                           copy(u->text, &lacks),     copy(u->inverse, &lacks)};
    if (lacks) {
        release_unit(&mine);
        return EK_ENOMEM;
    }
    own->unit[own->count++] = mine;
    return EK_OK;
}

/* Return whether the list `words` contains a word without spaces. */
static int has_name(const char *words, const char *word)
{
    size_t length = strlen(word);
    for (const char *p = words; p && (p = strstr(p, word)); p++)
        if (p > words && p[-1] == ' ' && p[length] == ' ')
            return 1;
    return 0;
}

/* Look up `length` bytes of text as one word. */
static int next_name(const struct ek_units *own, const char *text, size_t length,
                     struct ek_measure *out)
{
    const struct ek_unit *u;
    if (!length || length > EK_UNIT_NAME_BYTES_MAX || memchr(text, ' ', length))
        return 0;
    for (size_t i = 0; i < length; i++)
        out->word[i] = (char)tolower((unsigned char)text[i]);
    out->word[length] = 0;
    for (size_t i = 0; (u = ek_units_at(own, i)); i++)
        if (has_name(u->from, out->word) || (u->quantity && !strcmp(u->quantity, out->word))) {
            out->quantity = u->quantity;
            return 1;
        }
    return 0;
}

/* Letters, digits, percent, dollar and non-ASCII bytes, as in m² and €. */
static int is_name_char(unsigned char c)
{
    return isalnum(c) || c == '%' || c == '$' || c >= 0x80;
}

struct ek_measure ek_units_measure(const struct ek_units *own, const char *text)
{
    struct ek_measure m = {NULL, ""};
    if (!text || next_name(own, text, strlen(text), &m))
        return m;
    while (*text) {
        size_t length = 0;
        while (is_name_char((unsigned char)text[length]))
            length++;
        if (next_name(own, text, length, &m))
            return m;
        text += length + !length;
    }
    return (struct ek_measure){NULL, ""};
}

enum ek_unit_fit ek_unit_fit(const struct ek_unit *u, const struct ek_measure *m)
{
    if (!m->quantity || !u->quantity)
        return EK_UNIT_ANY;
    if (strcmp(u->quantity, m->quantity) != 0)
        return EK_UNIT_OTHER;
    return has_name(u->from, m->word) ? EK_UNIT_SAME : EK_UNIT_QUANTITY;
}
