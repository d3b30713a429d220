/* What kind of file something is, and whether it is valid: the work of `evenkeel check`.
 *
 * Kinds are told by content, never by name. Owner: the caller, ek_checked_release.
 */
#ifndef EK_DAEMON_FILES_FILE_KIND_H
#define EK_DAEMON_FILES_FILE_KIND_H

#include "base/buf.h"
#include "base/error_list.h"
#include "daemon/files/rules_tests.h"
#include "schema/manifest.h"
#include "yaml/yaml.h"

#include <stdbool.h>
#include <stdint.h>

enum ek_kind {
    EK_KIND_UNKNOWN, /* could not be read, or is none of the others */
    EK_KIND_MANIFEST,
    EK_KIND_RULES,
    EK_KIND_UNITS,
    EK_KIND_CONFIG,
    EK_KIND_MODEL,
    EK_KIND_PROFILE,
    EK_KIND_LETOR,
    EK_KIND_MESSAGES, /* bare or a capture */
    EK_KIND_COUNT
};

struct ek_checked {
    const char *path; /* "-" is standard input, for YAML files */
    enum ek_kind kind;
    struct ek_buf text;           /* of a YAML file */
    struct ek_yaml *tree;         /* the same, read; NULL when it could not be */
    struct ek_manifest *manifest; /* of a manifest, once it was asked for and is valid */
    bool manifest_read;
    bool valid;
    bool no_memory;              /* which is why it is not valid; there may be faults untold */
    struct ek_error_list faults; /* at least one when not valid; by place */
    char note[700];              /* what a reader should know although it is valid; may be empty */
};

const char *ek_kind_name(enum ek_kind kind);
/* For the error of a reader that wanted a file of another kind (EK_KIND_UNKNOWN: one to inspect):
 * says so when the content tells, and names the file in front in any case. Leaves errors of the
 * system, of memory and of other files as they are. Returns the code. */
int ek_kind_explain(const char *path, enum ek_kind desired, struct ek_error *e);
/* Reads what is needed to tell the kind; `valid` is false when that failed. */
void ek_checked_open(struct ek_checked *c, const char *path);
/* Makes a file invalid by one more fault, which gets the file's name where it has no place. */
void ek_checked_fail(struct ek_checked *c, struct ek_error *e);
/* The manifest in a file of that kind, which keeps it; it is read once. NULL, and the file is not
 * valid, when it has faults. */
const struct ek_manifest *ek_checked_manifest(struct ek_checked *c);
void ek_checked_release(struct ek_checked *c);
/* Reads all of it as its kind and holds it against the manifest, when there is one (NULL
 * otherwise). The tests of rules that are valid are run as `tests` says; without a manifest by the
 * features that the rules name. now_ms: the time of day, by which pins run out. Leaves what is not
 * valid as it is. */
void ek_checked_run(struct ek_checked *c, const struct ek_manifest *m,
                    const struct ek_check_tests *tests, int64_t now_ms);

#endif
