/* A finding in the records of a fleet: numbers and names, no texts of the detector. */
#ifndef EK_GUARD_FLEET_FINDING_H
#define EK_GUARD_FLEET_FINDING_H

#include "schema/manifest.h"
#include "rules/rules.h"
#include "detect/finding.h"
#include "fleet/fleet_wire.h"

void ek_fleet_finding_put(struct ek_wire_out *w, const struct ek_manifest *m,
                          const struct ek_finding *f);
/* A confirmed one. Its cell and texts are not filled in, nor are units and categories; feature is
 * -1 when the manifest has none of its name. */
void ek_fleet_finding_get(struct ek_wire_in *w, const struct ek_manifest *m, struct ek_finding *f);
/* Fills in which conversions its factor looks like, which no record has. */
void ek_fleet_finding_match_units(struct ek_finding *f, const struct ek_rules *rules,
                                  const struct ek_manifest *m);

#endif
