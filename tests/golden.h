/* Expected values from tests/golden and from the reference implementation in the folder
 * EK_REFERENCE.
 *
 * Tests run in the repository root. A test that needs the reference is skipped without it.
 */
#ifndef EK_TESTS_GOLDEN_H
#define EK_TESTS_GOLDEN_H

#include "tests/check.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* Return the path of a reference file, or NULL with a note on stderr if EK_REFERENCE is unset. */
static inline const char *golden_reference(const char *file, char *path, size_t size)
{
    const char *folder = getenv("EK_REFERENCE");
    if (!folder) {
        fprintf(stderr, "skipped: %s, EK_REFERENCE names no folder\n", file);
        return NULL;
    }
    snprintf(path, size, "%s/golden/%s", folder, file);
    return path;
}

static inline json_t *golden_load(const char *path)
{
    json_error_t e;
    json_t *j = json_load_file(path, 0, &e);
    ck_assert_msg(j != NULL, "%s:%d: %s", path, e.line, e.text);
    return j;
}

/* Return NULL if EK_REFERENCE is unset. */
static inline json_t *golden_load_reference(const char *file)
{
    char path[1000];
    return golden_reference(file, path, sizeof path) ? golden_load(path) : NULL;
}

/* Copy the numbers of a JSON array (of arrays) in order; null becomes NaN. Return their number. */
static inline size_t golden_floats(const json_t *j, float *out)
{
    if (!json_is_array(j)) {
        *out = json_is_null(j) ? NAN : (float)json_number_value(j);
        return 1;
    }
    size_t n = 0;
    for (size_t i = 0; i < json_array_size(j); i++)
        n += golden_floats(json_array_get(j, i), out + n);
    return n;
}

static inline size_t golden_doubles(const json_t *j, double *out)
{
    size_t n = json_array_size(j);
    for (size_t i = 0; i < n; i++)
        out[i] = json_number_value(json_array_get(j, i));
    return n;
}

#endif
