/* The two-sided paired t-test: whether two ways of ranking differ by more than chance over the same
 * lists (Student 1908; as used for retrieval: Smucker, Allan and Carterette 2007).
 *
 *   t = mean(d) / (sd(d) / sqrt(n)), d = a - b, sd with n - 1;  p = I_x(v/2, 1/2), x = v / (v +
 * t^2)
 *
 * with v = n - 1 degrees of freedom. Lists with NaN on either side are left out. Without any
 * difference t is 0 and p 1; where all differ by the same, t is infinite and p 0; of fewer than two
 * lists nothing can be said: t and p are NaN. No state, no failure.
 */
#ifndef EK_CHOOSE_PAIRED_TEST_H
#define EK_CHOOSE_PAIRED_TEST_H

#include <stddef.h>

struct ek_paired_test {
    size_t pairs;   /* that counted, n */
    double degrees; /* of freedom, v; 0 for none */
    double mean;    /* of the differences a - b; NaN without any */
    double t, p;
};

/* a, b [n]. */
void ek_paired_test(const double *a, const double *b, size_t n, struct ek_paired_test *out);
/* The probability of |T| >= |t| for Student's T of v > 0 degrees of freedom; relative error below
 * 1e-11. NaN for NaN. */
double ek_student_two_sided(double t, double degrees);

#endif
