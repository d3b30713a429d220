#include "fleet/fleet_finding.h"

#include <math.h>
#include <string.h>

enum { NUMBERS = 7 };

void ek_fleet_finding_put(struct ek_wire_out *w, const struct ek_manifest *m,
                          const struct ek_finding *f)
{
    const double number[NUMBERS] = {f->factor, f->factor_low,   f->factor_high, f->error_ln,
                                    f->share,  f->spread_ratio, f->exponent};
    ek_wire_put_word(w, m->item[f->feature]->name);
    ek_wire_put(w, f->episode);
    ek_wire_put_signed(w, f->since_ms);
    ek_wire_put_word(w, ek_class_name(f->class));
    ek_wire_put(w, (uint64_t)(f->fewer | f->passing << 1));
    ek_wire_put_word(w, f->query_feature >= 0 ? m->query[f->query_feature]->name : "");
    for (int i = 0; i < NUMBERS; i++)
        ek_wire_put_f64(w, number[i]);
}

/* NaN where there is none; a factor is positive. */
static bool is_factor(double v)
{
    return isnan(v) || (v > 0 && isfinite(v));
}

void ek_fleet_finding_get(struct ek_wire_in *w, const struct ek_manifest *m, struct ek_finding *f)
{
    double *const number[NUMBERS] = {&f->factor, &f->factor_low,   &f->factor_high, &f->error_ln,
                                     &f->share,  &f->spread_ratio, &f->exponent};
    memset(f, 0, sizeof *f);
    f->state = EK_CONFIRMED;
    f->feature = ek_manifest_find_item(m, ek_wire_get_text(w, EK_FLEET_NAME_MAX));
    f->episode = (uint32_t)ek_wire_get(w, UINT32_MAX);
    f->since_ms = ek_wire_get_signed(w, EK_FLEET_TIME_MAX);
    f->class = (enum ek_class)ek_wire_get_word(w, ek_class_parse);
    int flags = (int)ek_wire_get(w, 3);
    f->fewer = flags & 1;
    f->passing = flags >> 1;
    f->query_feature = ek_manifest_find_query(m, ek_wire_get_text(w, EK_FLEET_NAME_MAX));
    for (int i = 0; i < NUMBERS; i++)
        *number[i] = ek_wire_get_f64(w);
    ek_wire_require(w, is_factor(f->factor) && is_factor(f->factor_low) &&
                           is_factor(f->factor_high) && f->share >= 0 && f->share <= 1 &&
                           isfinite(f->spread_ratio) && f->class != EK_CLASS_NONE);
}

void ek_fleet_finding_match_units(struct ek_finding *f, const struct ek_rules *rules,
                                  const struct ek_manifest *m)
{
    f->unit_count = 0;
    if (f->class == EK_SCALE && f->query_feature < 0)
        f->unit_count = ek_units_match(rules, m, f->feature, log(f->factor), log(f->factor_low),
                                       log(f->factor_high), f->unit);
}
