/* Manifest and profile checks for the Python module: parts of the library that evenkeel.h does not
 * declare, behind an interface that C++ can include. */
#ifndef EK_PYTHON_MANIFEST_INFO_H
#define EK_PYTHON_MANIFEST_INFO_H

#include "evenkeel.h"

#ifdef __cplusplus
extern "C" {
#endif

struct manifest_feature {
    const char *name;
    int is_query, is_routable;
};

/* Features of messages: item features, then query features that are not derived. */
struct manifest_info {
    size_t count;
    struct manifest_feature *feature;
    void *manifest; /* owner of the names */
};

/* Read a manifest in memory; `name` is the file name in errors. Return 0, EK_ECONFIG or EK_ENOMEM.
 */
int manifest_info_read(struct manifest_info **out, const char *name, const char *text,
                       size_t length, struct ek_error *e);
/* Free a manifest. NULL is allowed. */
void manifest_info_free(struct manifest_info *info);
/* Read a profile, and compare it with a manifest in memory (NULL: none). Return 0, EK_EIO,
 * EK_EFORMAT, EK_ELIMIT, EK_ESTATE for a profile of another manifest, or EK_ENOMEM. */
int profile_check(const char *path, const char *manifest, size_t length, struct ek_error *e);

#ifdef __cplusplus
}
#endif

#endif
