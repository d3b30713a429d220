/* evenkeel normalize: what its parts tell each other.
 *
 * Arguments, then a choice per item feature with all that is shown of it, then what is made of the
 * choices: a table, JSON, a section of the manifest, a picture, scaled lists. Shapes: F item
 * features. Owner: the command. Threads: one.
 */
#ifndef EK_DAEMON_TOOLS_NORMALIZE_NORMALIZE_H
#define EK_DAEMON_TOOLS_NORMALIZE_NORMALIZE_H

#include "assets/profile.h"
#include "base/buf.h"
#include "daemon/files/list_input.h"
#include "offline/scale/fdm.h"
#include "offline/scale/scaling.h"

#include <stdio.h>

enum {
    EK_NORMALIZE_VALUES_MAX = 1 << 28, /* items times features held: 1 GiB */
    EK_NORMALIZE_BINS = 30,            /* of a histogram */
    EK_NORMALIZE_REASON_BYTES = 160
};

struct ek_normalize_args {
    const char *manifest, *profile, *judge_methods, *output, *report, *output_data,
        *output_manifest;
    struct ek_files letor, vali, apply, *open;
    enum ek_method method;
    enum ek_empty empty;
    bool method_given, missing_given, empty_given, missing_zero, json, judge;
    struct ek_buf text; /* of the manifest: a pipe can be read once */
    struct ek_error e;
};

struct ek_histogram {
    double low, high; /* NaN without values */
    double count[EK_NORMALIZE_BINS];
};

struct ek_choice {
    const struct ek_feature *feature;
    struct ek_fdm fdm;
    enum ek_transform_kind scale;
    char why[EK_NORMALIZE_REASON_BYTES];
    uint64_t missing;
    double count; /* values */
    struct ek_histogram before, after[EK_SCALING_MERGED];
};

struct ek_choices {
    const struct ek_manifest *manifest;
    enum ek_method method;
    struct ek_choice *of; /* [F] */
    struct ek_scaling *scaling;
    uint64_t lists, items;
};

/* Ends the process on a fault, as argp does. */
void ek_normalize_parse(struct ek_normalize_args *a, int argc, char **argv);
/* Reads LETOR files into `d`, initialised here; the caller releases it even on failure. EK_ELIMIT
 * beyond EK_NORMALIZE_VALUES_MAX. */
int ek_normalize_read(const struct ek_files *files, const struct ek_manifest *m,
                      struct ek_dataset *d, struct ek_error *e);
/* The same; lists [files->count] gets how many each file has. */
int ek_normalize_read_parts(const struct ek_files *files, const struct ek_manifest *m,
                            struct ek_dataset *d, size_t *lists, struct ek_error *e);
/* mask [F]: the categories, which no method scales. */
void ek_normalize_categories(const struct ek_manifest *m, bool *mask);
/* Exactly one of profile and train is there. The caller releases `c`, initialised here, even on
 * failure. vali: of osm, NULL to have the last fifth of the lists. */
int ek_choices_make(struct ek_choices *c, const struct ek_normalize_args *a,
                    const struct ek_manifest *m, const struct ek_profile *profile,
                    const struct ek_dataset *train, const struct ek_dataset *vali,
                    struct ek_error *e);
void ek_choices_release(struct ek_choices *c);

/* The manifest, whose file `from` has the text `old`, with the choices, as `to`. */
int ek_normalize_write_manifest(const struct ek_choices *c, const char *from,
                                const struct ek_buf *old, const char *to, struct ek_error *e);
int ek_normalize_report(const struct ek_choices *c, const char *path, struct ek_error *e);
/* EK_EUSAGE where a column of merge would have a name that no manifest can have. */
int ek_normalize_check_merge(const struct ek_manifest *m, struct ek_error *e);
/* The lists of --apply as --output-data, and their manifest as --output-manifest. */
int ek_normalize_apply(const struct ek_choices *c, const struct ek_normalize_args *a,
                       struct ek_error *e);

#endif
