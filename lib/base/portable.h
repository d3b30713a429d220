/* Functions of Linux that macOS lacks, or has in another form. Threads: any.
 *
 * EK_PORTABLE is 1 where a file compiles its variant for other systems than Linux. Tests set it to
 * run these variants on Linux.
 */
#ifndef EK_BASE_PORTABLE_H
#define EK_BASE_PORTABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#ifndef EK_PORTABLE
#ifdef __linux__
#define EK_PORTABLE 0
#else
#define EK_PORTABLE 1
#endif
#endif

/* Order of two elements, as for qsort; `context` is that of ek_sort_with. */
typedef int ek_compare(const void *a, const void *b, void *context);

/* Sort base [count] of elements of `size` bytes, as qsort_r of the GNU C library. */
void ek_sort_with(void *base, size_t count, size_t size, ek_compare *compare, void *context);
/* Return the last byte equal to `byte` in text [length], or NULL. */
const char *ek_find_last(const char *text, char byte, size_t length);
/* Overwrite p [size] with zeros, also if nothing reads it later. */
void ek_erase(void *p, size_t size);
/* Fill out [size], size <= 256, with unpredictable bytes. waits: at the start of the system, wait
 * until there are some. Return false if there are none. */
bool ek_random_bytes(void *out, size_t size, bool waits);
/* Return the time of the last change of a file's content. */
struct timespec ek_change_time(const struct stat *s);
/* Write the path of the running program, without symbolic links. Return false with errno if it is
 * unknown or does not fit. */
bool ek_program_path(char *path, size_t size);

#endif
