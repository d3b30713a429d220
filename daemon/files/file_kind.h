/* Kind and validation of a file, for `evenkeel check`. Kinds are detected by content, never by
 * name. */
#ifndef EK_DAEMON_FILES_FILE_KIND_H
#define EK_DAEMON_FILES_FILE_KIND_H

#include "base/buf.h"
#include "base/error_list.h"
#include "daemon/files/field_mapping.h"
#include "schema/manifest.h"
#include "yaml/yaml.h"

#include <stdbool.h>
#include <stdint.h>

enum ek_kind {
    EK_KIND_UNKNOWN, /* unreadable, or another kind */
    EK_KIND_MANIFEST,
    EK_KIND_RULES,
    EK_KIND_UNITS,
    EK_KIND_CONFIG,
    EK_KIND_MODEL,
    EK_KIND_PROFILE,
    EK_KIND_LETOR,
    EK_KIND_MESSAGES, /* bare messages or a capture */
    EK_KIND_COUNT
};

struct ek_checked {
    const char *path; /* "-": standard input, for YAML files */
    enum ek_kind kind;
    struct ek_buf text;           /* of a YAML file */
    struct ek_yaml *tree;         /* parsed text; NULL if invalid */
    struct ek_manifest *manifest; /* of a valid manifest, after its first use */
    bool manifest_read;
    bool valid;
    bool no_memory;              /* the check was incomplete for lack of memory */
    struct ek_error_list faults; /* sorted by position; not empty if invalid */
    char note[700];              /* warnings of a valid file; may be empty */
};

/* Tests of rules, run on synthetic or recorded lists. */
struct ek_check_tests {
    bool off;             /* only check their syntax */
    const char *messages; /* capture of healthy lists; NULL: synthetic lists */
    const char *profile;  /* of the messages; required with them */
    const struct ek_field_mapping *field_mapping; /* of all checked messages */
};

/* Return the name of a kind for messages, a static string: "manifest", "rules", ... */
const char *ek_kind_name(enum ek_kind kind);
/* Return false for standard input, pipes and devices, which are read once. */
bool ek_kind_can_reread(const char *path);
/* Set *is to whether a file begins as messages, in MessagePack or JSON, or as a capture; false for
 * standard input. Return 0, EK_EUSAGE for a pipe, whose begin would be lost, or an error of
 * ek_reader_open or ek_reader_read. */
int ek_kind_is_messages(const char *path, bool *is, struct ek_error *e);
/* Improve the error of a reader that expected another kind (EK_KIND_UNKNOWN: a kind that `inspect`
 * prints): name the file and, if detected, its kind. Errors of the system, of memory and of other
 * files stay unchanged. Return the code of the error. */
int ek_kind_explain(const char *path, enum ek_kind desired, struct ek_error *e);
/* Set *c to a file and read enough to detect its kind; on failure c->valid is false and c->faults
 * has the error. Release it with ek_checked_release. */
void ek_checked_open(struct ek_checked *c, const char *path);
/* Add a copy of an error, with the file's name if it has no position, and set c->valid to false. */
void ek_checked_fail(struct ek_checked *c, struct ek_error *e);
/* Return the manifest, read once and owned by `c`; NULL, with the file invalid, on errors. */
const struct ek_manifest *ek_checked_manifest(struct ek_checked *c);
void ek_checked_release(struct ek_checked *c);
/* Validate the whole file, against the manifest unless it is NULL; errors are added to c->faults.
 * Runs the tests of valid rules as in `tests`; without a manifest they use the features that the
 * rules name. now_ms: wall time, for the expiry of pins. No effect on an invalid file. */
void ek_checked_run(struct ek_checked *c, const struct ek_manifest *m,
                    const struct ek_check_tests *tests, int64_t now_ms);

#endif
