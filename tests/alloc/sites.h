/* Which calls for memory a sweep made fail, told to who asks by EK_SITES.
 *
 * The program is linked with ek_calloc and its like wrapped as well, so that the place of each call
 * is known. EK_SITES names a file; each place at which a call failed is added to it once per
 * process, a line with its address in the program as addr2line takes it. Without EK_SITES nothing
 * is written. What C and C++ libraries ask for has no place.
 */
#ifndef EK_TESTS_ALLOC_SITES_H
#define EK_TESTS_ALLOC_SITES_H

#include <stdint.h>

/* Place of the call of ours that is under way in this thread, 0: none is. */
uintptr_t ek_site(void);
/* The call that is under way fails. */
void ek_site_failed(void);

#endif
