#include "plan/decisions.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "plan/plan.h"

#include <math.h>
#include <string.h>

enum { TEXTS = 7 };

struct ek_decisions {
    uint64_t last;
    struct ek_decision_record
        kept[EK_DECISIONS_RETAINED]; /* number n is at n mod EK_DECISIONS_RETAINED */
};

const char *ek_decision_kind_name(enum ek_decision_kind d)
{
    static const char *const names[EK_DECISION_KINDS] = {
        "route", "end",     "step",   "rollback", "relapse", "limit",  "pin",
        "unpin", "expired", "accept", "revert",   "pause",   "resume", "reload"};
    return names[d];
}

int ek_decision_kind_parse(const char *word)
{
    for (int i = 0; i < EK_DECISION_KINDS; i++)
        if (!strcmp(word, ek_decision_kind_name((enum ek_decision_kind)i)))
            return i;
    return -1;
}

struct ek_decision_record ek_decision_get(enum ek_decision_kind what)
{
    return (struct ek_decision_record){.kind = what,
                                       .factor = NAN,
                                       .factor_low = NAN,
                                       .factor_high = NAN,
                                       .fraction = NAN,
                                       .observed = NAN,
                                       .limit = NAN,
                                       .percent = -1,
                                       .actor = "system"};
}

static const char **text_of(struct ek_decision_record *m, int i)
{
    const char **const all[TEXTS] = {&m->actor,   &m->reason,    &m->request, &m->instance,
                                     &m->feature, &m->dimension, &m->value};
    return all[i];
}

static void release(struct ek_decision_record *m)
{
    for (int i = 0; i < TEXTS; i++)
        ek_free((void *)*text_of(m, i));
    *m = (struct ek_decision_record){.number = 0};
}

static int copy(struct ek_decision_record *to, const struct ek_decision_record *from)
{
    struct ek_decision_record given = *from;
    int rc = EK_OK;
    *to = given;
    for (int i = 0; i < TEXTS; i++) {
        const char *text = *text_of(&given, i);
        char *own = text ? ek_strdup(text) : NULL;
        *text_of(to, i) = own;
        rc = text && !own ? EK_ENOMEM : rc;
    }
    if (rc)
        release(to);
    return rc;
}

int ek_decisions_new(struct ek_decisions **out)
{
    struct ek_decisions *d = ek_calloc(1, sizeof *d);
    if (d)
        *out = d;
    return d ? EK_OK : EK_ENOMEM;
}

void ek_decisions_free(struct ek_decisions *d)
{
    for (int i = 0; d && i < EK_DECISIONS_RETAINED; i++)
        release(&d->kept[i]);
    ek_free(d);
}

int ek_decisions_add(struct ek_decisions *d, const struct ek_decision_record *m, bool *is_new)
{
    uint64_t number = m->number ? m->number : d->last + 1;
    struct ek_decision_record *to = &d->kept[number % EK_DECISIONS_RETAINED], own;
    *is_new = false;
    if (to->number >= number || number + EK_DECISIONS_RETAINED <= d->last)
        return EK_OK;
    int rc = copy(&own, m);
    if (rc)
        return rc;
    release(to);
    *to = own;
    to->number = number;
    d->last = number > d->last ? number : d->last;
    *is_new = true;
    return EK_OK;
}

const struct ek_decision_record *ek_decisions_at(const struct ek_decisions *d, uint64_t number)
{
    const struct ek_decision_record *m = &d->kept[number % EK_DECISIONS_RETAINED];
    return number && m->number == number ? m : NULL;
}

uint64_t ek_decisions_last(const struct ek_decisions *d)
{
    return d->last;
}

void ek_decisions_set_plan(struct ek_decisions *d, uint64_t number, uint64_t before, uint64_t after)
{
    struct ek_decision_record *m = &d->kept[number % EK_DECISIONS_RETAINED];
    if (!number || m->number != number)
        return;
    m->before = before;
    m->after = after;
}

static bool same_text(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : !a && !b;
}

bool ek_decisions_has(const struct ek_decisions *d, const struct ek_decision_record *m)
{
    for (int i = 0; i < EK_DECISIONS_RETAINED; i++) {
        const struct ek_decision_record *o = &d->kept[i];
        if (o->number && o->kind == m->kind && o->time_ms == m->time_ms && o->before == m->before &&
            o->after == m->after && same_text(o->feature, m->feature) &&
            same_text(o->dimension, m->dimension) && same_text(o->value, m->value))
            return true;
    }
    return false;
}

int ek_decisions_merge(struct ek_decisions *into, const struct ek_decisions *from)
{
    uint64_t first =
        from->last > EK_DECISIONS_RETAINED ? from->last - EK_DECISIONS_RETAINED + 1 : 1;
    int rc = EK_OK;
    for (uint64_t number = first; !rc && number <= from->last; number++) {
        const struct ek_decision_record *theirs = ek_decisions_at(from, number);
        if (!theirs)
            continue;
        struct ek_decision_record m = *theirs;
        bool is_new;
        m.number = 0;
        rc = ek_decisions_add(into, &m, &is_new);
    }
    return rc;
}

uint64_t ek_decisions_mark(const struct ek_decisions *d, int part)
{
    uint64_t number[EK_DECISIONS_PER_PART], any = 0;
    for (int i = 0; i < EK_DECISIONS_PER_PART; i++) {
        number[i] = d->kept[part * EK_DECISIONS_PER_PART + i].number;
        any |= number[i];
    }
    return any ? ek_hash(number, sizeof number, 0) | 1 : 0;
}

static void name_serialize(struct ek_serialize *s, int *word, int count)
{
    ek_serialize_int(s, word, 0, count - 1);
}

static void text_serialize(struct ek_serialize *s, const char **text)
{
    char *own = ek_serialize_is_reading(s) ? NULL : (char *)*text;
    int there = own != NULL;
    ek_serialize_int(s, &there, 0, 1);
    if (there)
        ek_serialize_text(s, &own);
    *text = own;
}

static void names_serialize(struct ek_decision_record *m, struct ek_serialize *s)
{
    int what = (int)m->kind, class = (int)m->class, action = (int)m->action,
        rail = (int)m->guardrail;
    name_serialize(s, &what, EK_DECISION_KINDS);
    name_serialize(s, &class, EK_CLASS_COUNT);
    name_serialize(s, &action, EK_ACTION_COUNT);
    name_serialize(s, &rail, EK_GUARDRAIL_COUNT);
    m->kind = (enum ek_decision_kind)what;
    m->class = (enum ek_class) class;
    m->action = (enum ek_action)action;
    m->guardrail = (enum ek_guardrail)rail;
}

/* All fields except the number. */
static void decided_serialize(struct ek_decision_record *m, struct ek_serialize *s)
{
    double *const numbers[] = {&m->factor,   &m->factor_low, &m->factor_high,
                               &m->fraction, &m->observed,   &m->limit};
    ek_serialize_u64(s, &m->query);
    ek_serialize_u64(s, &m->before);
    ek_serialize_u64(s, &m->after);
    ek_serialize_u64(s, &m->accept);
    ek_serialize_u64(s, &m->normal);
    ek_serialize_i64(s, &m->time_ms);
    names_serialize(m, s);
    ek_serialize_u32(s, &m->finding);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        ek_serialize_f64(s, numbers[i]);
    ek_serialize_int(s, &m->percent, -1, EK_PERCENT_WHOLE);
    for (int i = 0; i < TEXTS; i++)
        text_serialize(s, text_of(m, i));
}

void ek_decisions_serialize(struct ek_decisions *d, struct ek_serialize *s, int part)
{
    for (int i = 0; i < EK_DECISIONS_PER_PART && !s->rc; i++) {
        int place = part * EK_DECISIONS_PER_PART + i;
        struct ek_decision_record *m = &d->kept[place];
        ek_serialize_u64(s, &m->number);
        ek_serialize_require(s, !m->number || m->number % EK_DECISIONS_RETAINED == (uint64_t)place);
        ek_serialize_require(s, m->number < (uint64_t)1 << 62); /* leaves later numbers */
        if (!s->rc && m->number)
            decided_serialize(m, s);
        if (s->rc && ek_serialize_is_reading(s))
            release(m);
        d->last = m->number > d->last ? m->number : d->last;
    }
}
