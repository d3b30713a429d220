#include "offline/world/rules_settled.h"

#include <stdio.h>
#include <string.h>

static bool same_text(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

bool ek_found_in(const struct ek_finding *f, const char *dimension, const char *value)
{
    return same_text(f->dimension, dimension) && same_text(f->value, value);
}

static bool holds(const struct ek_pin *p, int feature, int64_t now_ms)
{
    return p->feature == feature && (!p->until_ms || now_ms < p->until_ms);
}

/* One of the segment goes before one of all traffic. NULL: there is none. */
static const struct ek_pin *pin_of(const struct ek_rules *rules, int feature,
                                   const struct ek_finding *f, int64_t now_ms)
{
    const struct ek_pin *found = NULL;
    for (int i = 0; i < rules->pin_count; i++) {
        const struct ek_pin *p = &rules->pin[i];
        if (!holds(p, feature, now_ms))
            continue;
        if (ek_found_in(f, p->dimension, p->value))
            return p;
        if (!p->dimension)
            found = p;
    }
    return found;
}

static const char *limit_of(const struct ek_rules *rules, int feature, const struct ek_finding *f,
                            enum ek_mode mode)
{
    double part = mode == EK_MODE_CANARY ? rules->feature[feature].canary.percent / 100 : 1;
    bool beyond = f->dimension ? rules->max_routed_share <= 0 : part > rules->max_routed_share;
    if (rules->max_routed_features < 1)
        return "max_routed_features";
    return beyond ? "max_routed_share" : NULL;
}

void ek_rules_settle(const struct ek_rules *rules, int feature, const struct ek_finding *f,
                     int64_t now_ms, struct ek_decision *d, char *by)
{
    const struct ek_pin *pin = pin_of(rules, feature, f, now_ms);
    by[0] = 0;
    if (pin) {
        bool acts = pin->action != EK_ACT_NONE && pin->action != EK_ACT_ALERT;
        d->treatment.action = pin->action;
        d->mode = acts ? EK_MODE_ENFORCE : EK_MODE_OBSERVE;
        snprintf(by, EK_SETTLED_BYTES, " by the pin at %ld:%ld", pin->line, pin->column);
        return;
    }
    if (!d->wanted || d->mode < EK_MODE_CANARY)
        return;
    const char *limit = limit_of(rules, feature, f, d->mode);
    if (!limit)
        return;
    d->mode = EK_MODE_OBSERVE;
    snprintf(by, EK_SETTLED_BYTES, " by '%s'", limit);
}
