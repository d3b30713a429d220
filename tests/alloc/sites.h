/* Report of the allocation calls that a sweep made fail.
 *
 * The program is linked with ek_calloc and its like wrapped, so that the location of each call is
 * known. EK_SITES names a file; unset, the module writes nothing. Each location of a failed call is
 * appended once per process, as one line with its address in the program in the format of
 * addr2line. Calls from C and C++ libraries have no location.
 */
#ifndef EK_TESTS_ALLOC_SITES_H
#define EK_TESTS_ALLOC_SITES_H

#include <stdint.h>

/* Return the location of this thread's current allocation call, 0 outside one. */
uintptr_t ek_site(void);
/* Report that the current call fails. */
void ek_site_failed(void);

#endif
