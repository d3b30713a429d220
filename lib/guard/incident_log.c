#include "guard/incident_log.h"

#include "base/alloc.h"
#include "base/hash.h"

#include <math.h>
#include <string.h>

struct ek_incident_log {
    uint64_t last;
    struct ek_incident *slot[EK_INCIDENTS_RETAINED]; /* number n is at n mod the size; or NULL */
};

int ek_incident_log_new(struct ek_incident_log **out)
{
    struct ek_incident_log *l = ek_calloc(1, sizeof *l);
    if (l)
        *out = l;
    return l ? EK_OK : EK_ENOMEM;
}

static void free_place(struct ek_event_place *at)
{
    ek_free((void *)at->feature);
    ek_free((void *)at->dimension);
    ek_free((void *)at->value);
    *at = (struct ek_event_place){NULL, NULL, NULL};
}

static void free_incident(struct ek_incident *i)
{
    for (int f = 0; i && f < EK_INCIDENT_FINDINGS; f++)
        free_place(&i->finding[f].at);
    if (i) {
        ek_free(i->unit);
        ek_free(i->text);
        ek_free(i->reason);
    }
    ek_free(i);
}

void ek_incident_log_free(struct ek_incident_log *l)
{
    for (int i = 0; l && i < EK_INCIDENTS_RETAINED; i++)
        free_incident(l->slot[i]);
    ek_free(l);
}

uint64_t ek_incident_log_last(const struct ek_incident_log *l)
{
    return l->last;
}

struct ek_incident *ek_incident_log_at(const struct ek_incident_log *l, uint64_t number)
{
    struct ek_incident *i = l->slot[number % EK_INCIDENTS_RETAINED];
    return i && i->sequence == number ? i : NULL;
}

/* Return the number before the oldest retained incident. */
static uint64_t before_first(const struct ek_incident_log *l)
{
    return l->last > EK_INCIDENTS_RETAINED ? l->last - EK_INCIDENTS_RETAINED : 0;
}

static int find_place(const struct ek_incident *i, const struct ek_event_place *at)
{
    for (int f = 0; f < i->count; f++)
        if (ek_event_same_place(&i->finding[f].at, at))
            return f;
    return -1;
}

/* Return the index of the open finding of a segment, or -1. */
static int find_open_finding(const struct ek_incident *i, const struct ek_event_place *at)
{
    int f = find_place(i, at);
    return f >= 0 && i->finding[f].open ? f : -1;
}

/* Return the newest incident with an open finding of this segment, or NULL. */
static struct ek_incident *find_open(const struct ek_incident_log *l,
                                     const struct ek_event_place *at)
{
    for (uint64_t n = l->last; n > before_first(l); n--) {
        struct ek_incident *i = ek_incident_log_at(l, n);
        if (i && find_open_finding(i, at) >= 0)
            return i;
    }
    return NULL;
}

static struct ek_incident *find_number(const struct ek_incident_log *l, uint32_t number)
{
    for (uint64_t n = l->last; number && n > before_first(l); n--) {
        struct ek_incident *i = ek_incident_log_at(l, n);
        if (i && i->current == number)
            return i;
    }
    return NULL;
}

static bool is_open(const struct ek_incident *i)
{
    return i->state == EK_CONFIRMED;
}

static int copy_text(char **out, const char *text)
{
    *out = text ? ek_strdup(text) : NULL;
    return text && !*out ? EK_ENOMEM : EK_OK;
}

static int copy_place(struct ek_event_place *out, const struct ek_event_place *at)
{
    int rc = copy_text((char **)(uintptr_t)&out->feature, at->feature);
    rc |= copy_text((char **)(uintptr_t)&out->dimension, at->dimension);
    rc |= copy_text((char **)(uintptr_t)&out->value, at->value);
    if (rc)
        free_place(out);
    return rc ? EK_ENOMEM : EK_OK;
}

/* Return the unit that fits the factor, or NULL; `at` is its index. */
static const char *likely_unit(const struct ek_event_finding *f, int *at)
{
    for (int i = 0; i < f->units; i++)
        if (!f->match[i] || strcmp(f->match[i], "coincidence") != 0) {
            *at = i;
            return f->unit[i];
        }
    return NULL;
}

/* Show the incident by this finding. */
static int set_head(struct ek_incident *i, const struct ek_event_finding *f)
{
    int at = 0;
    const char *name = likely_unit(f, &at);
    char *unit, *text;
    int rc = copy_text(&unit, name);
    rc |= copy_text(&text, f->text);
    if (rc) {
        ek_free(unit);
        ek_free(text);
        return EK_ENOMEM;
    }
    ek_free(i->unit);
    ek_free(i->text);
    i->unit = unit;
    i->text = text;
    i->ratio = name && f->match[at] ? f->ratio[at] : NAN;
    i->class = f->class;
    i->factor = f->factor;
    i->factor_low = f->factor_low;
    i->factor_high = f->factor_high;
    i->fraction = f->fraction;
    return EK_OK;
}

static double size_of(double factor)
{
    return factor > 0 ? fabs(log(factor)) : 0;
}

/* A finding of a fleet has no first list, so its incident starts with the report. */
static bool has_first_list(const struct ek_event *v)
{
    return !v->finding.trigger || strcmp(v->finding.trigger, "fleet") != 0;
}

/* The start of a single finding may be corrected; several findings have the earliest start. */
static void set_start(struct ek_incident *i, const struct ek_event *v)
{
    const struct ek_event_finding *f = &v->finding;
    bool single = i->count == 1 && i->times == 1;
    if (single || f->since_ms < i->from_ms)
        i->from_ms = f->since_ms;
    if (has_first_list(v) && (single || f->since_query < i->from_list))
        i->from_list = f->since_query;
}

static struct ek_incident *new_incident(const struct ek_event *v)
{
    struct ek_incident *i = ek_calloc(1, sizeof *i);
    if (!i)
        return NULL;
    i->id = i->current = v->finding.incident;
    i->times = 1;
    i->state = EK_CONFIRMED;
    i->from_ms = v->finding.since_ms;
    i->to_ms = i->mitigated_ms = -1;
    i->from_list = has_first_list(v) ? v->finding.since_query : v->query;
    i->factor = i->ratio = i->observed = i->limit = NAN;
    i->treated = -1;
    return i;
}

static void append(struct ek_incident_log *l, struct ek_incident *i)
{
    i->sequence = ++l->last;
    free_incident(l->slot[i->sequence % EK_INCIDENTS_RETAINED]);
    l->slot[i->sequence % EK_INCIDENTS_RETAINED] = i;
}

/* Open the incident again. The end of a finding that another replaced was no end. */
static void reopen(struct ek_incident *i)
{
    i->times += i->state == EK_RECOVERED;
    i->state = EK_CONFIRMED;
    i->to_ms = -1;
    i->to_list = 0;
    ek_free(i->reason);
    i->reason = NULL;
}

/* Return the index for another finding, which may be that of a finding that has ended, or -1. */
static int find_slot(const struct ek_incident *i)
{
    if (i->count < EK_INCIDENT_FINDINGS)
        return i->count;
    for (int f = 0; f < i->count; f++)
        if (!i->finding[f].open && f != i->head && f != i->treated)
            return f;
    return -1;
}

/* Open the finding of an event in the incident. An open incident with the maximum of open findings
 * ignores it. Return 0, or EK_ENOMEM with the incident unchanged. */
static int open_finding(struct ek_incident *i, const struct ek_event *v)
{
    const struct ek_event_finding *f = &v->finding;
    int at = find_place(i, &f->at), rc = EK_OK;
    bool is_new = at < 0;
    struct ek_event_place place = {NULL, NULL, NULL};
    at = is_new ? find_slot(i) : at;
    if (at < 0)
        return EK_OK;
    if (is_new)
        rc = copy_place(&place, &f->at);
    bool leads = !is_open(i) || at == i->head || size_of(f->factor) > size_of(i->factor);
    if (!rc && leads)
        rc = set_head(i, f);
    if (rc) {
        free_place(&place);
        return rc;
    }
    if (is_new) {
        free_place(&i->finding[at].at);
        i->finding[at].at = place;
        i->count += at == i->count;
    }
    i->head = leads ? at : i->head;
    i->finding[at].number = f->number;
    i->finding[at].open = true;
    return EK_OK;
}

static int follow(struct ek_incident_log *l, struct ek_incident *i, const struct ek_event *v)
{
    const struct ek_event_finding *f = &v->finding;
    struct ek_incident *made = i ? NULL : new_incident(v);
    i = i ? i : made;
    int rc = i ? open_finding(i, v) : EK_ENOMEM;
    if (rc) {
        free_incident(made);
        return rc;
    }
    if (made)
        append(l, made);
    if (!is_open(i))
        reopen(i);
    set_start(i, v);
    i->current = f->incident ? f->incident : i->current;
    if (i->mitigated_ms < 0) {
        i->action = f->action;
        i->mode = f->mode;
    }
    i->changes++;
    return EK_OK;
}

static bool has_open(const struct ek_incident *i)
{
    for (int f = 0; f < i->count; f++)
        if (i->finding[f].open)
            return true;
    return false;
}

static void end_finding(struct ek_incident *i, int at, enum ek_finding_state state, uint64_t query,
                        int64_t time_ms)
{
    i->finding[at].open = false;
    i->changes++;
    if (has_open(i))
        return;
    i->state = state;
    i->to_ms = time_ms > i->from_ms ? time_ms : i->from_ms;
    i->to_list = query > i->from_list ? query : i->from_list;
}

static int end_by_event(struct ek_incident *i, const struct ek_event *v)
{
    const struct ek_event_finding *f = &v->finding;
    int at = find_open_finding(i, &f->at);
    char *reason;
    if (at < 0 || (i->finding[at].number && i->finding[at].number != f->number))
        return EK_OK;
    if (copy_text(&reason, f->reason))
        return EK_ENOMEM;
    ek_free(i->reason);
    i->reason = reason;
    end_finding(i, at, f->state, v->query, v->time_ms);
    return EK_OK;
}

int ek_incident_log_add(struct ek_incident_log *l, const struct ek_event *v)
{
    const struct ek_event_finding *f = &v->finding;
    if (v->kind != EK_EVENT_FINDING || f->state == EK_SUSPECTED)
        return EK_OK;
    struct ek_incident *i = find_open(l, &f->at);
    if (ek_finding_is_over(f->state))
        return i ? end_by_event(i, v) : EK_OK;
    return follow(l, i ? i : find_number(l, f->incident), v);
}

void ek_incident_log_add_decision(struct ek_incident_log *l, const struct ek_decision_record *m)
{
    const struct ek_event_place at = {m->feature, m->dimension, m->value};
    struct ek_incident *i = m->kind == EK_DECIDED_ROLLBACK && m->feature ? find_open(l, &at) : NULL;
    if (!i)
        return;
    i->guardrail = m->guardrail;
    i->observed = m->observed;
    i->limit = m->limit;
    i->changes++;
}

void ek_incident_log_end(struct ek_incident_log *l, enum ek_finding_state state, uint64_t query,
                         int64_t time_ms,
                         bool (*is_place_open)(void *context, const struct ek_event_place *at),
                         void *context)
{
    for (uint64_t n = l->last; n > before_first(l); n--) {
        struct ek_incident *i = ek_incident_log_at(l, n);
        for (int f = 0; i && f < i->count; f++)
            if (i->finding[f].open && !(is_place_open && is_place_open(context, &i->finding[f].at)))
                end_finding(i, f, state, query, time_ms);
    }
}

void ek_incident_log_detach(struct ek_incident_log *l)
{
    for (int n = 0; n < EK_INCIDENTS_RETAINED; n++)
        if (l->slot[n] && l->slot[n]->current) {
            l->slot[n]->current = 0;
            l->slot[n]->changes++;
        }
}

/* ---- merge */

static struct ek_incident *copy_incident(const struct ek_incident *from)
{
    struct ek_incident *i = ek_calloc(1, sizeof *i);
    if (!i)
        return NULL;
    *i = *from;
    i->unit = i->text = i->reason = NULL;
    memset(i->finding, 0, sizeof i->finding);
    int rc = copy_text(&i->unit, from->unit);
    rc |= copy_text(&i->text, from->text);
    rc |= copy_text(&i->reason, from->reason);
    for (int f = 0; f < from->count; f++) {
        rc |= copy_place(&i->finding[f].at, &from->finding[f].at);
        i->finding[f].open = from->finding[f].open;
    }
    if (!rc)
        return i;
    free_incident(i);
    return NULL;
}

static bool is_same(const struct ek_incident *a, const struct ek_incident *b)
{
    return a->from_ms == b->from_ms && a->class == b->class &&
           ek_event_same_place(&a->finding[a->head].at, &b->finding[b->head].at);
}

/* Return the incident here that is the same as another one, or NULL. */
static struct ek_incident *find_same(const struct ek_incident_log *l, const struct ek_incident *of)
{
    for (uint64_t n = l->last; n > before_first(l); n--) {
        struct ek_incident *i = ek_incident_log_at(l, n);
        if (i && is_same(i, of))
            return i;
    }
    for (int f = 0; f < of->count; f++) {
        struct ek_incident *i = of->finding[f].open ? find_open(l, &of->finding[f].at) : NULL;
        if (i)
            return i;
    }
    return NULL;
}

static void merge_same(struct ek_incident *i, const struct ek_incident *from)
{
    if (from->from_ms < i->from_ms)
        i->from_ms = from->from_ms;
    if (from->times > i->times)
        i->times = from->times;
    i->treated_lists += from->treated_lists;
    if (i->mitigated_ms < 0)
        i->mitigated_ms = from->mitigated_ms;
    if (!i->ranks.lists)
        i->ranks = from->ranks;
    i->changes++;
}

int ek_incident_log_merge(struct ek_incident_log *l, const struct ek_incident_log *from)
{
    for (uint64_t n = before_first(from) + 1; n <= from->last; n++) {
        const struct ek_incident *theirs = ek_incident_log_at(from, n);
        struct ek_incident *same = theirs ? find_same(l, theirs) : NULL;
        if (same)
            merge_same(same, theirs);
        if (!theirs || same)
            continue;
        struct ek_incident *own = copy_incident(theirs);
        if (!own)
            return EK_ENOMEM;
        own->current = 0; /* numbers of another detector */
        own->counted = 0;
        own->changes++;
        append(l, own);
    }
    return EK_OK;
}

/* ---- checkpoint */

static void text_serialize(struct ek_serialize *s, char **text)
{
    int has_text = *text != NULL;
    ek_serialize_int(s, &has_text, 0, 1);
    if (has_text)
        ek_serialize_text(s, text);
}

static void place_serialize(struct ek_serialize *s, struct ek_event_place *at)
{
    char *feature = (char *)at->feature, *dimension = (char *)at->dimension,
         *value = (char *)at->value;
    text_serialize(s, &feature);
    text_serialize(s, &dimension);
    text_serialize(s, &value);
    *at = (struct ek_event_place){feature, dimension, value};
    ek_serialize_require(s, feature && (dimension || !value));
}

static void findings_serialize(struct ek_serialize *s, struct ek_incident *i)
{
    ek_serialize_int(s, &i->count, 1, EK_INCIDENT_FINDINGS);
    ek_serialize_int(s, &i->head, 0, i->count - 1);
    ek_serialize_int(s, &i->treated, -1, i->count - 1);
    bool any = false;
    for (int f = 0; f < i->count && !s->rc; f++) {
        int open = i->finding[f].open;
        place_serialize(s, &i->finding[f].at);
        ek_serialize_u32(s, &i->finding[f].number);
        ek_serialize_int(s, &open, 0, 1);
        i->finding[f].open = open;
        any |= open;
    }
    ek_serialize_require(s, any == is_open(i));
}

static void names_serialize(struct ek_serialize *s, struct ek_incident *i)
{
    int state = (int)i->state, class = (int)i->class, action = (int)i->action, mode = (int)i->mode,
        rail = (int)i->guardrail, acts = i->acts;
    ek_serialize_int(s, &state, EK_CONFIRMED, EK_RECOVERED);
    ek_serialize_int(s, &class, 0, EK_CLASS_COUNT - 1);
    ek_serialize_int(s, &action, 0, EK_ACTION_COUNT - 1);
    ek_serialize_int(s, &mode, 0, EK_MODE_COUNT - 1);
    ek_serialize_int(s, &rail, 0, EK_GUARDRAIL_COUNT - 1);
    ek_serialize_int(s, &acts, 0, 1);
    ek_serialize_require(s, state != EK_UPDATED);
    i->state = (enum ek_finding_state)state;
    i->class = (enum ek_class) class;
    i->action = (enum ek_action)action;
    i->mode = (enum ek_mode)mode;
    i->guardrail = (enum ek_guardrail)rail;
    i->acts = acts;
}

static void incident_serialize(struct ek_serialize *s, struct ek_incident *i)
{
    double *const numbers[] = {&i->factor,       &i->factor_low,   &i->factor_high,
                               &i->fraction,     &i->ratio,        &i->observed,
                               &i->limit,        &i->ranks.tau,    &i->ranks.top10,
                               &i->ranks.places, &i->ranks.change, &i->ranks.change_p95};
    ek_serialize_u32(s, &i->id);
    ek_serialize_u32(s, &i->current);
    ek_serialize_int(s, &i->times, 1, INT32_MAX);
    names_serialize(s, i);
    ek_serialize_i64(s, &i->from_ms);
    ek_serialize_i64(s, &i->to_ms);
    ek_serialize_i64(s, &i->mitigated_ms);
    ek_serialize_u64(s, &i->from_list);
    ek_serialize_u64(s, &i->to_list);
    ek_serialize_u64(s, &i->treated_lists);
    ek_serialize_u64(s, &i->ranks.lists);
    for (size_t n = 0; n < sizeof numbers / sizeof *numbers; n++)
        ek_serialize_f64(s, numbers[n]);
    text_serialize(s, &i->unit);
    text_serialize(s, &i->text);
    text_serialize(s, &i->reason);
    findings_serialize(s, i);
}

static void slot_serialize(struct ek_incident_log *l, struct ek_serialize *s, int slot)
{
    struct ek_incident *i = l->slot[slot];
    uint64_t number = i ? i->sequence : 0;
    ek_serialize_u64(s, &number);
    ek_serialize_require(s, !number || number % EK_INCIDENTS_RETAINED == (uint64_t)slot);
    ek_serialize_require(s, number < (uint64_t)1 << 62); /* leaves later numbers */
    if (s->rc || !number)
        return;
    if (ek_serialize_is_reading(s)) {
        i = l->slot[slot] = ek_calloc(1, sizeof *i);
        s->rc = i ? EK_OK : EK_ENOMEM;
        if (!i)
            return;
        i->sequence = number;
        l->last = number > l->last ? number : l->last;
    }
    incident_serialize(s, i);
    if (!s->rc || !ek_serialize_is_reading(s))
        return;
    free_incident(i);
    l->slot[slot] = NULL;
}

void ek_incident_log_serialize(struct ek_incident_log *l, struct ek_serialize *s, int part)
{
    for (int n = 0; n < EK_INCIDENTS_PER_PART && !s->rc; n++)
        slot_serialize(l, s, part * EK_INCIDENTS_PER_PART + n);
}

uint64_t ek_incident_log_mark(const struct ek_incident_log *l, int part)
{
    uint64_t mark[2 * EK_INCIDENTS_PER_PART] = {0}, any = 0;
    for (int n = 0; n < EK_INCIDENTS_PER_PART; n++) {
        const struct ek_incident *i = l->slot[part * EK_INCIDENTS_PER_PART + n];
        mark[2 * n] = i ? i->sequence : 0;
        mark[2 * n + 1] = i ? i->changes : 0;
        any |= mark[2 * n];
    }
    return any ? ek_hash(mark, sizeof mark, 0) | 1 : 0;
}
