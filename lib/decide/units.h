/* Known conversions: which change of unit a factor looks like. */
#ifndef EK_DECIDE_UNITS_H
#define EK_DECIDE_UNITS_H

enum { EK_UNIT_MATCHES = 6 };

/* Ids of all conversions whose ln factor lies within the larger of 2.5 standard errors and 3% of
 * shift_ln, nearest first; returns how many (at most EK_UNIT_MATCHES). The ids are constants. */
int ek_units_match(double shift_ln, double error_ln, const char **ids);

#endif
