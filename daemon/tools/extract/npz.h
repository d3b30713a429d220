/* Arrays in a file that numpy.load reads: a zip of .npy files (NEP 1), through libzip.
 *
 * Rows are added one by one, to any number of arrays in any order; until the end they are in files
 * without a name beside the output, so memory does not grow. The output appears under its name only
 * when all went well: libzip writes beside it and renames. The same rows give the same bytes.
 * Owner: the caller, who ends it with ek_npz_close or ek_npz_abandon.
 */
#ifndef EK_DAEMON_TOOLS_EXTRACT_NPZ_H
#define EK_DAEMON_TOOLS_EXTRACT_NPZ_H

#include "base/error.h"

#include <stddef.h>
#include <stdint.h>

enum { EK_NPZ_ARRAYS_MAX = 16, EK_NPZ_TEXT_MAX = 1 << 16 };

enum ek_npz_type { EK_NPZ_FLOAT32, EK_NPZ_INT32, EK_NPZ_TEXT };

struct ek_npz;

int ek_npz_open(struct ek_npz **out, const char *path, struct ek_error *e);
/* Number of a new array in *array. columns 0: one value a row, and an array of one dimension.
 * `name`, a literal, has no ".npy". */
int ek_npz_array(struct ek_npz *z, const char *name, enum ek_npz_type type, size_t columns,
                 int *array, struct ek_error *e);
/* A row of 4-byte numbers; a text as bytes (numpy: S, as wide as the longest). */
int ek_npz_numbers(struct ek_npz *z, int array, const void *row, struct ek_error *e);
int ek_npz_text(struct ek_npz *z, int array, const char *text, size_t length, struct ek_error *e);
/* Always frees `z`. */
int ek_npz_close(struct ek_npz *z, struct ek_error *e);
void ek_npz_abandon(struct ek_npz *z);

#endif
