/* Oldest glibc: calls of the portable programs that link to an old version of the symbol. */

/* hypot of version 2.35 differs in nothing but errno, and would be the only symbol above 2.34. */
#if defined(__x86_64__)
__asm__(".symver ek_old_hypot, hypot@GLIBC_2.2.5");
#else
__asm__(".symver ek_old_hypot, hypot@GLIBC_2.17");
#endif
double ek_old_hypot(double x, double y);
double __wrap_hypot(double x, double y);

double __wrap_hypot(double x, double y)
{
    return ek_old_hypot(x, y);
}
