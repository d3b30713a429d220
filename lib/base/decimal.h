/* Rounding to decimal digits. Threads: any. */
#ifndef EK_BASE_DECIMAL_H
#define EK_BASE_DECIMAL_H

/* Return x rounded to a multiple of 10^-places. */
double ek_round_places(double x, int places);
/* Return x rounded to this number of significant decimal digits. */
double ek_round_digits(double x, int digits);

#endif
