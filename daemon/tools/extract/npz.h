/* Writer of arrays for numpy.load: a zip of .npy files (NEP 1), through libzip.
 *
 * Rows are added singly, to arrays in any order. Until the end they are in unnamed files next to
 * the output, so memory does not grow. libzip writes a temporary file and renames it, so the output
 * is complete or absent. Equal rows give equal bytes. End with ek_npz_close or ek_npz_abandon.
 */
#ifndef EK_DAEMON_TOOLS_EXTRACT_NPZ_H
#define EK_DAEMON_TOOLS_EXTRACT_NPZ_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

enum { EK_NPZ_ARRAYS_MAX = 16, EK_NPZ_TEXT_MAX = 1 << 16 };

enum ek_npz_type { EK_NPZ_FLOAT32, EK_NPZ_INT32, EK_NPZ_TEXT };

struct ek_npz;

/* Open an archive that replaces `path` at ek_npz_close. Return 0, EK_EIO or EK_ENOMEM. */
int ek_npz_open(struct ek_npz **out, const char *path, struct ek_error *e);
/* Add an array and set *array to its number. columns 0: a one-dimensional array. name: a literal
 * without ".npy". Return 0, EK_EIO, or EK_ELIMIT for too many arrays. */
int ek_npz_array(struct ek_npz *z, const char *name, enum ek_npz_type type, size_t columns,
                 int *array, struct ek_error *e);
/* Append a row of 4-byte numbers, as many as the array has columns, at least one. Return 0 or
 * EK_EIO. */
int ek_npz_numbers(struct ek_npz *z, int array, const void *row, struct ek_error *e);
/* Append a string to an array of strings (NumPy type S, as wide as the longest). Return 0, EK_EIO,
 * or EK_ELIMIT for a string that is too long. */
int ek_npz_text(struct ek_npz *z, int array, const char *text, size_t length, struct ek_error *e);
/* Complete the file. Always frees `z`. Return 0, EK_EIO or EK_ENOMEM. */
int ek_npz_close(struct ek_npz *z, struct ek_error *e);
/* Discard the file and free `z`. */
void ek_npz_abandon(struct ek_npz *z);

#endif
