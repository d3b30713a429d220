/* Which changes of its unit a feature may meet, and how likely they are. */
#include "offline/select/harm.h"

#include "schema/units.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char MONEY[] = "money", NUMBER[] = "number", INDICATOR[] = "indicator",
                  CODE[] = "code";

/* Chance that the unit of such a feature changes on its way in a year. Judgements: prices pass
 * through the most hands; ratings and shares have two spellings each in wide use; indicators have
 * no unit. The names are the quantities of rules/units.yaml, and four of our own. */
static const struct {
    const char *kind;
    double chance;
} CHANCES[] = {
    {MONEY, 0.20},    {"length", 0.10}, {"time", 0.10},  {"ratio", 0.10}, {"rating", 0.08},
    {"weight", 0.08}, {"data", 0.08},   {"speed", 0.05}, {"area", 0.05},  {"volume", 0.05},
    {"energy", 0.05}, {"power", 0.05},  {CODE, 0.05},    {NUMBER, 0.03},  {INDICATOR, 0.005},
};
enum { KINDS = sizeof CHANCES / sizeof *CHANCES };

const char *ek_harm_kind(int i, double *chance)
{
    if (i < 0 || i >= KINDS)
        return NULL;
    *chance = CHANCES[i].chance;
    return CHANCES[i].kind;
}

static double chance_of(const char *kind)
{
    for (int i = 0; i < KINDS; i++)
        if (!strcmp(CHANCES[i].kind, kind))
            return CHANCES[i].chance;
    return chance_of(NUMBER);
}

static bool is_indicator(const struct ek_dataset *d, int item)
{
    bool any = false;
    for (size_t i = 0; i < d->items; i++) {
        float x = d->x[i * (size_t)d->item_features + (size_t)item];
        if (!isnan(x) && x != 0 && x != 1)
            return false;
        any = any || !isnan(x);
    }
    return any;
}

static struct ek_shift *add(struct ek_harm *h, double weight, const char *unit)
{
    if (h->shift_count == EK_SHIFTS_MAX)
        return NULL;
    struct ek_shift *s = &h->shift[h->shift_count++];
    *s = (struct ek_shift){.weight = weight, .unit = unit};
    return s;
}

static void add_factor(struct ek_harm *h, double factor, double weight, const char *unit)
{
    struct ek_shift *s = add(h, weight, unit);
    if (s)
        snprintf(s->how, sizeof s->how, "x%.10g", factor);
}

static void add_word(struct ek_harm *h, const char *word)
{
    struct ek_shift *s = add(h, 1, NULL);
    if (s)
        snprintf(s->how, sizeof s->how, "%s", word);
}

/* All conversions that fit so well. */
static void add_units(struct ek_harm *h, const struct ek_measure *measure, enum ek_unit_fit fit)
{
    const struct ek_unit *u;
    for (size_t i = 0; (u = ek_units_at(NULL, i)); i++)
        if (u->quantity && ek_unit_fit(u, measure) == fit)
            add_factor(h, u->factor, 1, u->id);
}

static void add_money(struct ek_harm *h, const struct ek_manifest *m)
{
    if (!h->shift_count)
        add_factor(h, 100, 1, "cents");
    add_word(h, "currency");
    if (!m->nights_feature)
        return;
    struct ek_shift *s = add(h, 1, m->nights_feature);
    if (s) {
        s->by_query = true;
        snprintf(s->how, sizeof s->how, "*%s", m->nights_feature);
    }
}

/* A decimal place lost or too many; two of them are rare. */
static void add_places(struct ek_harm *h)
{
    add_factor(h, 10, 1, "tenfold");
    add_factor(h, 0.1, 1, "tenth");
    add_factor(h, 100, 0.25, NULL);
}

void ek_harm_shifts(const struct ek_manifest *m, int item, const struct ek_dataset *d,
                    struct ek_harm *out)
{
    const struct ek_feature *f = m->item[item];
    struct ek_measure measure = ek_units_measure(NULL, f->unit);
    *out = (struct ek_harm){.kind = measure.quantity ? measure.quantity : NUMBER};
    if (f->is_money)
        out->kind = MONEY;
    else if (f->type == EK_TYPE_CATEGORY)
        out->kind = CODE;
    else if (is_indicator(d, item))
        out->kind = INDICATOR;
    out->chance = chance_of(out->kind);
    bool has_unit = out->kind == measure.quantity || !strcmp(out->kind, MONEY);
    if (has_unit && measure.quantity && !strcmp(out->kind, measure.quantity)) {
        add_units(out, &measure, EK_UNIT_SAME);
        if (!out->shift_count)
            add_units(out, &measure, EK_UNIT_QUANTITY);
    }
    if (!strcmp(out->kind, MONEY))
        add_money(out, m);
    else if (!strcmp(out->kind, CODE))
        add_word(out, "recode");
    else if (!out->shift_count)
        add_places(out);
}
