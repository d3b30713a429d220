/* Which known conversions a factor looks like. */
#ifndef EK_DETECT_UNIT_MATCH_H
#define EK_DETECT_UNIT_MATCH_H

#include "rules/rules.h"
#include "schema/manifest.h"

enum { EK_UNIT_MATCHES = 6 };

struct ek_unit_match {
    const struct ek_unit *unit; /* of the rules, or built in */
    int listed;                 /* the rules list it for the feature */
    enum ek_unit_fit fit;       /* to what the manifest says about the feature */
};

/* All conversions whose ln factor lies in the interval from low_ln to high_ln, widened by a
 * quarter, or within 3% of shift_ln: first what the rules list for the feature, then by how it fits
 * the feature's unit, then nearest first, then by their order in the catalogue. Those of another
 * quantity are left out where any other fits. For a feature whose unit is not known only listing
 * and distance count. Returns how many there are in `match`, at most EK_UNIT_MATCHES. */
int ek_units_match(const struct ek_rules *rules, const struct ek_manifest *m, int item_feature,
                   double shift_ln, double low_ln, double high_ln, struct ek_unit_match *match);

#endif
