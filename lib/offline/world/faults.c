#include "offline/world/faults.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "base/parse.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double RATES[EK_FAULT_RATES] = {1, 0.8, 1.3, 7.2, 18, 110, 1400};

void ek_fault_release(struct ek_fault *f)
{
    for (int i = 0; f->codes && i < f->item_count; i++)
        ek_free(f->codes[i].value);
    ek_free(f->codes);
    ek_free(f->item);
    ek_free(f->query);
    ek_free(f->dimension);
    ek_free(f->segment_value);
    ek_free(f->median);
    memset(f, 0, sizeof *f);
}

static int by_value(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Collect the finite values of an item feature in ascending order. */
static size_t sorted_values(const struct ek_dataset *d, int item, float *values)
{
    size_t n = 0;
    for (size_t i = 0; i < d->items; i++) {
        float x = d->x[i * (size_t)d->item_features + (size_t)item];
        if (isfinite(x))
            values[n++] = x;
    }
    qsort(values, n, sizeof *values, by_value);
    return n;
}

static double median_of(const float *values, size_t n)
{
    return n ? 0.5 * ((double)values[(n - 1) / 2] + (double)values[n / 2]) : 0;
}

static int copy_codes(struct ek_codes *c, const float *values, size_t n, struct ek_error *e)
{
    size_t count = 0;
    c->count = 0;
    ek_free(c->value);
    c->value = ek_calloc(EK_FAULT_CODES_MAX, sizeof *c->value);
    if (!c->value)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    for (size_t i = 0; i < n; i++) {
        if (count && values[i] <= c->value[count - 1])
            continue;
        if (count == EK_FAULT_CODES_MAX)
            return ek_fail(e, EK_EUSAGE, "a feature with more than %d values cannot be recoded",
                           EK_FAULT_CODES_MAX);
        c->value[count++] = values[i];
    }
    c->count = count;
    return EK_OK;
}

bool ek_fault_needs_fit(const struct ek_fault *f)
{
    return f->op == EK_FAULT_ADD_MEDIANS || f->op == EK_FAULT_RECODE;
}

int ek_fault_fit(struct ek_fault *f, const struct ek_dataset *d, struct ek_error *e)
{
    if (!ek_fault_needs_fit(f))
        return EK_OK;
    int rc = EK_OK;
    float *values = ek_calloc(d->items, sizeof *values);
    if (!values)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    for (int i = 0; i < f->item_count && !rc; i++) {
        size_t n = sorted_values(d, f->item[i], values);
        if (f->op == EK_FAULT_RECODE)
            rc = copy_codes(&f->codes[i], values, n, e);
        else
            f->median[i] = median_of(values, n);
    }
    ek_free(values);
    return rc;
}

static bool in_segment(const struct ek_fault *f, const struct ek_list *q)
{
    if (!f->dimension)
        return true;
    struct ek_text value = ek_list_segment(q, f->dimension);
    return value.text && value.length == strlen(f->segment_value) &&
           !memcmp(value.text, f->segment_value, value.length);
}

/* Return a number in [0, 1) derived from the seed and up to two numbers. */
static double drawn(const uint64_t *of, size_t count, uint64_t seed)
{
    uint8_t bytes[2 * sizeof *of];
    for (size_t i = 0; i < count * sizeof *of; i++)
        bytes[i] = (uint8_t)(of[i / sizeof *of] >> (8 * (i % sizeof *of)));
    return (double)(ek_hash(bytes, count * sizeof *of, seed) >> 11) * 0x1p-53;
}

bool ek_fault_hits(const struct ek_fault *f, const struct ek_list *q, uint64_t number,
                   uint64_t seed)
{
    if (number < f->from || number >= f->to || !in_segment(f, q) || f->source >= q->sources)
        return false;
    return f->share >= 1 || drawn(&number, 1, seed) < f->share;
}

/* Draws the rate separately from the fraction of lists, which would otherwise exclude some rates.
 */
static int rate_of(uint64_t number, uint64_t seed)
{
    return (int)(drawn((const uint64_t[]){number, UINT64_MAX}, 2, seed) * EK_FAULT_RATES);
}

int ek_fault_arm(const struct ek_fault *f, const struct ek_list *q, uint64_t number, uint64_t seed)
{
    if (!ek_fault_hits(f, q, number, seed))
        return 0;
    return f->op == EK_FAULT_CURRENCY ? 1 + rate_of(number, seed) : 1;
}

static bool hits_item(const struct ek_fault *f, const struct ek_list *q, uint64_t number, int item,
                      uint64_t seed)
{
    if (f->source >= 0 && q->source[item] != f->source)
        return false;
    return f->items >= 1 || drawn((const uint64_t[]){number, (uint64_t)item}, 2, seed) < f->items;
}

static double next_code(const struct ek_codes *c, double x)
{
    float key = (float)x;
    const float *at = bsearch(&key, c->value, c->count, sizeof *c->value, by_value);
    if (!at)
        return x;
    return (double)(at + 1 == c->value + c->count ? c->value[0] : at[1]);
}

/* Return the changed value of x, of the i-th feature of the fault. */
static double changed(const struct ek_fault *f, const struct ek_list *q, double x, int i,
                      double rate)
{
    switch (f->op) {
    case EK_FAULT_SCALE:
        return x * f->value;
    case EK_FAULT_POWER:
        return x == 0 ? x : copysign(pow(fabs(x), f->value), x);
    case EK_FAULT_ADD:
        return x + f->value;
    case EK_FAULT_ADD_MEDIANS:
        return x + f->value * f->median[i];
    case EK_FAULT_NEGATE:
        return -x;
    case EK_FAULT_QUERY_FEATURE:
        return x == 0 ? x : x * (double)q->query[f->query_feature];
    case EK_FAULT_ZERO:
        return 0;
    case EK_FAULT_NAN:
        return NAN;
    case EK_FAULT_SET:
        return f->value;
    case EK_FAULT_CURRENCY:
        return x * rate;
    case EK_FAULT_RECODE:
        return next_code(&f->codes[i], x);
    }
    return x;
}

bool ek_fault_apply(const struct ek_fault *f, struct ek_list *q, uint64_t number, uint64_t seed)
{
    if (!ek_fault_hits(f, q, number, seed))
        return false;
    double rate = RATES[rate_of(number, seed)];
    for (int i = 0; i < f->query_count; i++) {
        float *x = &q->query[f->query[i]];
        if (!isnan(*x))
            *x = (float)changed(f, q, *x, i, rate);
    }
    for (int k = 0; k < q->items; k++)
        for (int i = 0; i < f->item_count && hits_item(f, q, number, k, seed); i++) {
            float *x = &q->x[(size_t)k * (size_t)q->item_features + (size_t)f->item[i]];
            if (!isnan(*x))
                *x = (float)changed(f, q, *x, i, rate);
        }
    return true;
}

enum { WORD_BYTES = EK_NAME_BYTES_MAX + 1 };

struct reading {
    const struct ek_manifest *m;
    const char *spec;
    struct ek_fault f;
    bool has_from, has_to, has_share, has_items, has_source;
    struct ek_error *e;
};

struct span {
    const char *text;
    size_t length;
};

static int bad(const struct reading *r, const char *format, ...)
{
    char why[300];
    va_list args;
    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    return ek_fail(r->e, EK_EUSAGE, "fault '%.80s': %s", r->spec, why);
}

static int enomem(const struct reading *r)
{
    return ek_fail(r->e, EK_ENOMEM, "out of memory");
}

/* Return the text before `end` and set *rest behind it, or to NULL if `end` does not occur. */
static struct span cut(const char **rest, char end)
{
    const char *start = *rest, *stop = strchr(start, end);
    *rest = stop ? stop + 1 : NULL;
    return (struct span){start, stop ? (size_t)(stop - start) : strlen(start)};
}

static bool is(struct span s, const char *word)
{
    return s.length == strlen(word) && !memcmp(s.text, word, s.length);
}

/* Copy a name with a terminator. Return false if it is empty or too long. */
static bool copy_name(struct span s, char word[WORD_BYTES])
{
    if (!s.length || s.length >= WORD_BYTES)
        return false;
    memcpy(word, s.text, s.length);
    word[s.length] = 0;
    return true;
}

static int unknown_feature(const struct reading *r, enum ek_role role, const char *name)
{
    const char *kind = role == EK_ROLE_ITEM ? "item" : "query";
    const char *near = ek_manifest_suggest(r->m, role, name);
    if (near)
        return bad(r, "unknown %s feature '%s', did you mean '%s'?", kind, name, near);
    return bad(r, "unknown %s feature '%s'", kind, name);
}

static int add_feature(struct reading *r, const char *name, int feature, int *features, int *count)
{
    for (int i = 0; i < *count; i++)
        if (features[i] == feature)
            return bad(r, "feature '%s' stands twice", name);
    features[(*count)++] = feature;
    return EK_OK;
}

static int read_feature(struct reading *r, struct span s)
{
    char name[WORD_BYTES];
    if (!copy_name(s, name))
        return bad(r, "a feature name is missing before '='");
    int item = ek_manifest_item(r->m, name), query = ek_manifest_query(r->m, name);
    if (query >= r->m->query_count - r->m->derived_count)
        return bad(r, "'%s' is derived from the list and cannot be changed", name);
    if (query >= 0)
        return add_feature(r, name, query, r->f.query, &r->f.query_count);
    return item < 0 ? unknown_feature(r, EK_ROLE_ITEM, name)
                    : add_feature(r, name, item, r->f.item, &r->f.item_count);
}

static int read_features(struct reading *r, struct span names)
{
    size_t end = 0, start = 0, most = 1;
    for (size_t i = 0; i < names.length; i++)
        most += names.text[i] == ',';
    r->f.item = ek_calloc(most, sizeof *r->f.item);
    r->f.query = ek_calloc(most, sizeof *r->f.query);
    r->f.median = ek_calloc(most, sizeof *r->f.median);
    r->f.codes = ek_calloc(most, sizeof *r->f.codes);
    if (!r->f.item || !r->f.query || !r->f.median || !r->f.codes)
        return enomem(r);
    while (start <= names.length) {
        for (end = start; end < names.length && names.text[end] != ',';)
            end++;
        int rc = read_feature(r, (struct span){names.text + start, end - start});
        if (rc)
            return rc;
        start = end + 1;
    }
    return EK_OK;
}

static int read_number(struct reading *r, struct span s, const char *after)
{
    if (ek_parse_finite(s.text, s.length, &r->f.value))
        return bad(r, "'%.*s' behind '%s' is no finite number", (int)s.length, s.text, after);
    return EK_OK;
}

static int read_addition(struct reading *r, struct span s)
{
    static const char unit[] = "median";
    size_t n = sizeof unit - 1;
    char sign[2] = {s.text[0], 0};
    struct span number = {s.text + 1, s.length - 1};
    r->f.op = EK_FAULT_ADD;
    if (number.length >= n && !memcmp(number.text + number.length - n, unit, n)) {
        number.length -= n;
        r->f.op = EK_FAULT_ADD_MEDIANS;
    }
    int rc = read_number(r, number, sign);
    if (!rc && sign[0] == '-')
        r->f.value = -r->f.value;
    return rc;
}

static int read_multiplier(struct reading *r, struct span s)
{
    char name[WORD_BYTES];
    if (!copy_name(s, name))
        return bad(r, "a query feature must follow '*'");
    r->f.op = EK_FAULT_QUERY_FEATURE;
    r->f.query_feature = ek_manifest_query(r->m, name);
    if (r->f.query_feature < 0)
        return unknown_feature(r, EK_ROLE_QUERY, name);
    return EK_OK;
}

static int read_operand(struct reading *r, enum ek_fault_op op, struct span s, const char *after)
{
    r->f.op = op;
    int rc = read_number(r, s, after);
    if (!rc && op != EK_FAULT_SET && r->f.value == 0)
        return bad(r, "0 behind '%s' makes no sense, 'zero' sets to 0", after);
    return rc;
}

static int read_operation(struct reading *r, struct span s)
{
    struct span operand = {s.text + 1, s.length ? s.length - 1 : 0};
    if (is(s, "neg"))
        r->f.op = EK_FAULT_NEGATE;
    else if (is(s, "zero"))
        r->f.op = EK_FAULT_ZERO;
    else if (is(s, "nan"))
        r->f.op = EK_FAULT_NAN;
    else if (is(s, "currency"))
        r->f.op = EK_FAULT_CURRENCY;
    else if (is(s, "recode"))
        r->f.op = EK_FAULT_RECODE;
    else if (!s.length)
        return bad(r, "an operation is missing behind '='");
    else if (s.text[0] == 'x')
        return read_operand(r, EK_FAULT_SCALE, operand, "x");
    else if (s.text[0] == '^')
        return read_operand(r, EK_FAULT_POWER, operand, "^");
    else if (s.text[0] == '=')
        return read_operand(r, EK_FAULT_SET, operand, "=");
    else if (s.text[0] == '+' || s.text[0] == '-')
        return read_addition(r, s);
    else if (s.text[0] == '*')
        return read_multiplier(r, operand);
    else
        return bad(r,
                   "unknown operation '%.*s' (x100, ^2, +50, -50, +1median, *NAME, neg, zero, "
                   "nan, =7, currency, recode)",
                   (int)s.length, s.text);
    return EK_OK;
}

/* `what` is "share" or "share of items". */
static int read_part(struct reading *r, const char *what, bool *has, double *part, struct span s)
{
    double share;
    if (*has)
        return bad(r, "the %s stands twice", what);
    if (ek_parse_finite(s.text, s.length, &share) || share <= 0 || share > 1)
        return bad(r, "the %s '%.*s' must be a number above 0 and at most 1", what, (int)s.length,
                   s.text);
    *has = true;
    *part = share;
    return EK_OK;
}

static int read_share(struct reading *r, struct span s)
{
    return read_part(r, "share", &r->has_share, &r->f.share, s);
}

static int read_bound(struct reading *r, const char *key, bool *has, uint64_t *bound, struct span s)
{
    if (*has)
        return bad(r, "'%s' stands twice", key);
    if (ek_parse_u64(s.text, s.length, bound))
        return bad(r, "'%.*s' behind '%s' is no query number", (int)s.length, s.text, key);
    *has = true;
    return EK_OK;
}

static int read_source(struct reading *r, struct span s)
{
    uint64_t number;
    if (r->has_source)
        return bad(r, "'source' stands twice");
    if (ek_parse_u64(s.text, s.length, &number) || number >= EK_SOURCES_MAX)
        return bad(r, "'%.*s' behind 'source' is no number from 0 to %d", (int)s.length, s.text,
                   EK_SOURCES_MAX - 1);
    r->has_source = true;
    r->f.source = (int)number;
    return EK_OK;
}

static int read_segment(struct reading *r, struct span dimension, struct span value)
{
    if (r->f.dimension)
        return bad(r, "only one segment can be named, '%s' stands already", r->f.dimension);
    if (!dimension.length || !value.length)
        return bad(r, "a segment is written NAME=VALUE, not '%.*s=%.*s'", (int)dimension.length,
                   dimension.text, (int)value.length, value.text);
    r->f.dimension = ek_strndup(dimension.text, dimension.length);
    r->f.segment_value = ek_strndup(value.text, value.length);
    return r->f.dimension && r->f.segment_value ? EK_OK : enomem(r);
}

/* Return true for one inserted, deleted or replaced character or a transposition. A looser match
 * would accept `arm` for `from`. */
static bool one_slip(struct span s, const char *word)
{
    size_t n = s.length, m = strlen(word), front = 0;
    while (front < n && front < m && s.text[front] == word[front])
        front++;
    while (n > front && m > front && s.text[n - 1] == word[m - 1]) {
        n--;
        m--;
    }
    n -= front;
    m -= front;
    return (n <= 1 && m <= 1) || (n == 2 && m == 2 && s.text[front] == word[front + 1] &&
                                  s.text[front + 1] == word[front]);
}

static int read_option(struct reading *r, struct span s)
{
    static const char *const options[] = {"from", "to", "share", "items", "source"};
    double number;
    const char *equal = memchr(s.text, '=', s.length);
    if (!equal)
        return bad(r,
                   "'%.*s' is no option (from=N, to=N, share=S, items=S, source=N, SEGMENT=VALUE)",
                   (int)s.length, s.text);
    struct span key = {s.text, (size_t)(equal - s.text)};
    struct span value = {equal + 1, s.length - key.length - 1};
    if (is(key, "from"))
        return read_bound(r, "from", &r->has_from, &r->f.from, value);
    if (is(key, "to"))
        return read_bound(r, "to", &r->has_to, &r->f.to, value);
    if (is(key, "share"))
        return read_share(r, value);
    if (is(key, "items"))
        return read_part(r, "share of items", &r->has_items, &r->f.items, value);
    if (is(key, "source"))
        return read_source(r, value);
    size_t count = sizeof options / sizeof *options;
    for (size_t i = 0; !ek_parse_finite(value.text, value.length, &number) && i < count; i++)
        if (one_slip(key, options[i]))
            return bad(r, "unknown option '%.*s', did you mean '%s'?", (int)key.length, key.text,
                       options[i]);
    return read_segment(r, key, value);
}

static int read_change(struct reading *r, const char *rest)
{
    struct span operation = cut(&rest, ',');
    const char *at = memchr(operation.text, '@', operation.length);
    int rc = EK_OK;
    if (at) {
        struct span share = {at + 1, operation.length - (size_t)(at - operation.text) - 1};
        operation.length = (size_t)(at - operation.text);
        rc = read_share(r, share);
    }
    if (!rc)
        rc = read_operation(r, operation);
    while (!rc && rest)
        rc = read_option(r, cut(&rest, ','));
    if (!rc && r->f.from >= r->f.to)
        return bad(r, "'to' must be above 'from'");
    return rc;
}

/* A query feature has one value per list, and no median or codes are taken of it. */
static int check_query(const struct reading *r)
{
    if (!r->f.query_count)
        return EK_OK;
    const char *name = r->m->query[r->f.query[0]]->name;
    if (r->has_items || r->has_source)
        return bad(r, "'%s' is a query feature and has no items: leave out 'items' and 'source'",
                   name);
    if (ek_fault_needs_fit(&r->f) || r->f.op == EK_FAULT_CURRENCY)
        return bad(r, "'%s' is a query feature, which median, currency and recode cannot change",
                   name);
    return EK_OK;
}

int ek_fault_parse(struct ek_fault *out, const struct ek_manifest *m, const char *spec,
                   struct ek_error *e)
{
    struct reading r = {.m = m,
                        .spec = spec,
                        .f = {.to = UINT64_MAX, .share = 1, .items = 1, .source = -1},
                        .e = e};
    const char *rest = spec;
    struct span names = cut(&rest, '=');
    int rc = rest ? read_features(&r, names) : bad(&r, "expected FEATURE=OPERATION");
    if (!rc)
        rc = read_change(&r, rest);
    if (!rc)
        rc = check_query(&r);
    if (rc) {
        ek_fault_release(&r.f);
        return rc;
    }
    *out = r.f;
    return EK_OK;
}
