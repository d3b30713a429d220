#include "plan/decisions.h"

#include "base/alloc.h"
#include "base/hash.h"
#include "plan/plan.h"

#include <math.h>
#include <string.h>

enum { TEXTS = 7 };

struct ek_decisions {
    uint64_t last;
    struct ek_decided kept[EK_DECISIONS_KEPT]; /* number n is in place n mod EK_DECISIONS_KEPT */
};

const char *ek_did_name(enum ek_did d)
{
    static const char *const names[EK_DIDS] = {"route",  "end",   "step",   "withdraw", "relapse",
                                               "limit",  "pin",   "unpin",  "expired",  "accept",
                                               "revert", "pause", "resume", "reload"};
    return names[d];
}

int ek_did_parse(const char *word)
{
    for (int i = 0; i < EK_DIDS; i++)
        if (!strcmp(word, ek_did_name((enum ek_did)i)))
            return i;
    return -1;
}

struct ek_decided ek_decided_of(enum ek_did what)
{
    return (struct ek_decided){.what = what,
                               .factor = NAN,
                               .factor_low = NAN,
                               .factor_high = NAN,
                               .share = NAN,
                               .figure = NAN,
                               .limit = NAN,
                               .percent = -1,
                               .who = "evenkeel"};
}

static const char **text_of(struct ek_decided *m, int i)
{
    const char **const all[TEXTS] = {&m->who,     &m->why,       &m->request, &m->instance,
                                     &m->feature, &m->dimension, &m->value};
    return all[i];
}

static void release(struct ek_decided *m)
{
    for (int i = 0; i < TEXTS; i++)
        ek_free((void *)*text_of(m, i));
    *m = (struct ek_decided){.number = 0};
}

static int copy(struct ek_decided *to, const struct ek_decided *from)
{
    struct ek_decided given = *from;
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
    for (int i = 0; d && i < EK_DECISIONS_KEPT; i++)
        release(&d->kept[i]);
    ek_free(d);
}

int ek_decisions_add(struct ek_decisions *d, const struct ek_decided *m, bool *is_new)
{
    uint64_t number = m->number ? m->number : d->last + 1;
    struct ek_decided *to = &d->kept[number % EK_DECISIONS_KEPT], own;
    *is_new = false;
    if (to->number >= number || number + EK_DECISIONS_KEPT <= d->last)
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

const struct ek_decided *ek_decisions_at(const struct ek_decisions *d, uint64_t number)
{
    const struct ek_decided *m = &d->kept[number % EK_DECISIONS_KEPT];
    return number && m->number == number ? m : NULL;
}

uint64_t ek_decisions_last(const struct ek_decisions *d)
{
    return d->last;
}

void ek_decisions_set_plan(struct ek_decisions *d, uint64_t number, uint64_t before, uint64_t after)
{
    struct ek_decided *m = &d->kept[number % EK_DECISIONS_KEPT];
    if (!number || m->number != number)
        return;
    m->before = before;
    m->after = after;
}

static bool same_text(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : !a && !b;
}

bool ek_decisions_has(const struct ek_decisions *d, const struct ek_decided *m)
{
    for (int i = 0; i < EK_DECISIONS_KEPT; i++) {
        const struct ek_decided *o = &d->kept[i];
        if (o->number && o->what == m->what && o->time_ms == m->time_ms && o->before == m->before &&
            o->after == m->after && same_text(o->feature, m->feature) &&
            same_text(o->dimension, m->dimension) && same_text(o->value, m->value))
            return true;
    }
    return false;
}

int ek_decisions_merge(struct ek_decisions *into, const struct ek_decisions *from)
{
    uint64_t first = from->last > EK_DECISIONS_KEPT ? from->last - EK_DECISIONS_KEPT + 1 : 1;
    int rc = EK_OK;
    for (uint64_t number = first; !rc && number <= from->last; number++) {
        const struct ek_decided *theirs = ek_decisions_at(from, number);
        if (!theirs)
            continue;
        struct ek_decided m = *theirs;
        bool is_new;
        m.number = 0;
        rc = ek_decisions_add(into, &m, &is_new);
    }
    return rc;
}

uint64_t ek_decisions_mark(const struct ek_decisions *d, int part)
{
    uint64_t number[EK_DECISIONS_EACH], any = 0;
    for (int i = 0; i < EK_DECISIONS_EACH; i++) {
        number[i] = d->kept[part * EK_DECISIONS_EACH + i].number;
        any |= number[i];
    }
    return any ? ek_hash(number, sizeof number, 0) | 1 : 0;
}

static void word_serialize(struct ek_serialize *s, int *word, int count)
{
    ek_snap_int(s, word, 0, count - 1);
}

static void text_serialize(struct ek_serialize *s, const char **text)
{
    char *own = ek_snap_reads(s) ? NULL : (char *)*text;
    int there = own != NULL;
    ek_snap_int(s, &there, 0, 1);
    if (there)
        ek_snap_text(s, &own);
    *text = own;
}

static void words_serialize(struct ek_decided *m, struct ek_serialize *s)
{
    int what = (int)m->what, class = (int)m->class, action = (int)m->action, rail = (int)m->rail;
    word_serialize(s, &what, EK_DIDS);
    word_serialize(s, &class, EK_CLASS_COUNT);
    word_serialize(s, &action, EK_ACTION_COUNT);
    word_serialize(s, &rail, EK_RAILS);
    m->what = (enum ek_did)what;
    m->class = (enum ek_class) class;
    m->action = (enum ek_action)action;
    m->rail = (enum ek_rail)rail;
}

/* All but its number. */
static void decided_serialize(struct ek_decided *m, struct ek_serialize *s)
{
    double *const numbers[] = {&m->factor, &m->factor_low, &m->factor_high,
                               &m->share,  &m->figure,     &m->limit};
    ek_snap_u64(s, &m->query);
    ek_snap_u64(s, &m->before);
    ek_snap_u64(s, &m->after);
    ek_snap_u64(s, &m->accept);
    ek_snap_u64(s, &m->normal);
    ek_snap_i64(s, &m->time_ms);
    words_serialize(m, s);
    ek_snap_u32(s, &m->episode);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        ek_snap_f64(s, numbers[i]);
    ek_snap_int(s, &m->percent, -1, EK_PERCENT_WHOLE);
    for (int i = 0; i < TEXTS; i++)
        text_serialize(s, text_of(m, i));
}

void ek_decisions_serialize(struct ek_decisions *d, struct ek_serialize *s, int part)
{
    for (int i = 0; i < EK_DECISIONS_EACH && !s->rc; i++) {
        int place = part * EK_DECISIONS_EACH + i;
        struct ek_decided *m = &d->kept[place];
        ek_snap_u64(s, &m->number);
        ek_snap_require(s, !m->number || m->number % EK_DECISIONS_KEPT == (uint64_t)place);
        ek_snap_require(s, m->number < (uint64_t)1 << 62); /* it goes on rising */
        if (!s->rc && m->number)
            decided_serialize(m, s);
        if (s->rc && ek_snap_reads(s))
            release(m);
        d->last = m->number > d->last ? m->number : d->last;
    }
}
