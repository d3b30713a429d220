/* Dictionary of an index. */
#include "text/index/index_internal.h"

#include <string.h>

static const char *term_text(struct ek_bytes *b, size_t *length)
{
    uint64_t n = ek_varint_get(b);
    const uint8_t *text = ek_bytes_read(b, n);
    *length = text ? (size_t)n : 0;
    return (const char *)text;
}

static void get_counts(struct ek_bytes *b, struct ek_term_statistics *s)
{
    uint64_t documents = ek_varint_get_bounded(b, UINT32_MAX - 1), more = ek_varint_get(b);
    *s = (struct ek_term_statistics){(uint32_t)documents + 1, documents + 1 + more,
                                     (uint32_t)ek_varint_get_bounded(b, UINT32_MAX - 1) + 1};
}

static void get_statistics(struct ek_bytes *b, struct ek_term_statistics *s)
{
    const uint8_t *mask = ek_bytes_read(b, 1);
    struct ek_term_statistics *whole = s + EK_FIELD_DOCUMENT;
    uint64_t tokens = 0;
    int fields = 0;
    memset(s, 0, sizeof *s * EK_FIELDS_AND_DOCUMENT);
    for (int f = 0; mask && f < EK_FIELDS; f++) {
        if (!(*mask >> f & 1))
            continue;
        get_counts(b, s + f);
        tokens += s[f].tokens;
        *whole = s[f];
        fields++;
    }
    if (fields > 1)
        get_counts(b, whole);
    b->bad = b->bad || whole->tokens != tokens || whole->documents > tokens;
}

bool ek_index_entry(const struct ek_index *x, uint32_t term, struct ek_index_entry *entry)
{
    struct ek_bytes b = ek_index_section(x, EK_SECTION_TERMS, x->term_at[term]);
    entry->text = term_text(&b, &entry->length);
    get_statistics(&b, entry->statistics);
    entry->postings = ek_varint_get(&b);
    entry->postings_bytes = ek_varint_get(&b);
    return !b.bad;
}

const char *ek_index_term(const struct ek_index *x, uint32_t term, size_t *length)
{
    struct ek_bytes b = ek_index_section(x, EK_SECTION_TERMS, x->term_at[term]);
    const char *text = term_text(&b, length);
    return text ? text : "";
}

uint32_t ek_index_find(const struct ek_index *x, const char *term, size_t length)
{
    uint32_t low = 0, high = x->footer.terms;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        size_t n;
        const char *text = ek_index_term(x, middle, &n);
        int order = memcmp(term, text, n < length ? n : length);
        if (!order)
            order = (length > n) - (length < n);
        if (!order)
            return middle;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return EK_NO_TERM;
}

struct ek_term_statistics ek_index_statistics(const struct ek_index *x, uint32_t term,
                                              enum ek_field field)
{
    struct ek_index_entry entry;
    if (!ek_index_entry(x, term, &entry))
        return (struct ek_term_statistics){0};
    return entry.statistics[field];
}
