/* Names that people give to a guard: features, segments, and their own. What is none is refused
 * (EK_EUSAGE, for a feature and a segment with EK_ERR_NAME) with the nearest that is one. */
#ifndef EK_GUARD_GUARD_NAMES_H
#define EK_GUARD_GUARD_NAMES_H

#include "schema/manifest.h"

struct ek_guard;

int ek_guard_find_feature(const struct ek_manifest *m, const char *name, int *feature,
                          struct ek_error *e);
/* Whether lists may have that segment and value; segment NULL: all do. */
int ek_guard_check_segment(const struct ek_guard *g, const char *segment, const char *value,
                           struct ek_error *e);
/* The cell that it has; segment NULL: all traffic. EK_ESTATE: none. */
int ek_guard_find_cell(const struct ek_guard *g, const char *segment, const char *value, int *cell,
                       struct ek_error *e);
/* Who says it and why, NULL where it is not said: at most so many bytes (data/rules.h). */
int ek_guard_check_person(const char *author, const char *reason, struct ek_error *e);

#endif
