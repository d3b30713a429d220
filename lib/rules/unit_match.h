/* Match of a measured factor with known unit conversions. */
#ifndef EK_RULES_UNIT_MATCH_H
#define EK_RULES_UNIT_MATCH_H

#include "rules/rules.h"
#include "schema/manifest.h"

enum { EK_UNIT_MATCHES = 6 };

struct ek_unit_match {
    const struct ek_unit *unit; /* from the rules or built in */
    int listed;                 /* listed for the feature by the rules */
    enum ek_unit_fit fit;       /* fit to the unit in the manifest */
};

/* Find the conversions with a ln factor in [low_ln, high_ln] widened by a quarter, or within 3% of
 * shift_ln. One that the rules do not list must be further from 1 than the interval is wide, or any
 * small factor would match. Order: listed by the rules, fit to the feature's unit, distance,
 * catalog. Conversions of another quantity are dropped if any other fits. Without a known unit only
 * listing and distance count. Write them to match [EK_UNIT_MATCHES], with pointers into the
 * catalogs, valid as long as the rules. Return their number. */
int ek_units_match(const struct ek_rules *rules, const struct ek_manifest *m, int item_feature,
                   double shift_ln, double low_ln, double high_ln, struct ek_unit_match *match);

#endif
