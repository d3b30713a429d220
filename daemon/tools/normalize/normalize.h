/* Choice of a transform for each item feature, from a profile or from training lists, by the
 * command `normalize`: its arguments, its input lists and its choices. Other files print the
 * choices and scale lists with them. Shapes: F item features. One thread. */
#ifndef EK_DAEMON_TOOLS_NORMALIZE_NORMALIZE_H
#define EK_DAEMON_TOOLS_NORMALIZE_NORMALIZE_H

#include "assets/profile.h"
#include "base/buf.h"
#include "daemon/files/list_input.h"
#include "offline/scale/crossval.h"
#include "offline/scale/fdm.h"
#include "offline/scale/scaling.h"
#include "score/metrics.h"

#include <stdbool.h>
#include <stdio.h>

enum {
    EK_NORMALIZE_VALUES_MAX = 1 << 28, /* maximum of items times features: 1 GiB */
    EK_NORMALIZE_BINS = 30,            /* of a histogram */
    EK_NORMALIZE_REASON_BYTES = 160
};

struct ek_normalize_args {
    const char *manifest, *profile, *crossval_methods, *output, *report, *output_data,
        *output_manifest;
    struct ek_files letor, vali, apply, *open;
    enum ek_method method;
    enum ek_empty empty;
    bool method_given, missing_given, empty_given, missing_zero, json, cross_validate;
    struct ek_buf text; /* of the manifest; a pipe can be read only once */
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
    double count; /* number of values */
    struct ek_histogram before, after[EK_SCALING_MERGED];
};

struct ek_choices {
    const struct ek_manifest *manifest;
    enum ek_method method;
    struct ek_choice *of; /* [F] */
    struct ek_scaling *scaling;
    uint64_t lists, items;
};

/* Set *a from the options; its strings view argv, and its other members are zero. Ends the program
 * on
 * --help and on a usage error. */
void ek_normalize_parse(struct ek_normalize_args *a, int argc, char **argv);
/* Read LETOR files into `d`, which is initialized here; release it even on failure. Return 0,
 * EK_ELIMIT beyond EK_NORMALIZE_VALUES_MAX, EK_EFORMAT, EK_ESTATE for lists of another manifest,
 * EK_ENOMEM or EK_EIO. */
int ek_normalize_read(const struct ek_files *files, const struct ek_manifest *m,
                      struct ek_dataset *d, struct ek_error *e);
/* Read LETOR files as ek_normalize_read, and set lists [files->count] to the number of lists of
 * each file. Return 0 or an error of ek_normalize_read. */
int ek_normalize_read_parts(const struct ek_files *files, const struct ek_manifest *m,
                            struct ek_dataset *d, size_t *lists, struct ek_error *e);
/* Set *c to transforms chosen from exactly one of profile and train; release it even on failure.
 * vali: for osm; NULL: the last fifth of the lists. *c refers to `m`, which must outlive it. Return
 * 0, EK_ENOMEM, or an error of ek_osm. */
int ek_choices_make(struct ek_choices *c, const struct ek_normalize_args *a,
                    const struct ek_manifest *m, const struct ek_profile *profile,
                    const struct ek_dataset *train, const struct ek_dataset *vali,
                    struct ek_error *e);
void ek_choices_release(struct ek_choices *c);

/* Cross-validation of scalings by `normalize --cross-validate`, and its report: a table, or JSON
 * with all values. */

/* Cross-validate methods on the files and print the report to standard output. methods: names
 * separated by commas; NULL: all. Return 0, EK_EUSAGE for an unknown or duplicate name, or an error
 * of the files or the cross-validation. */
int ek_normalize_crossval(const struct ek_files *letor, const struct ek_manifest *m,
                          const char *methods, enum ek_empty empty, bool json, struct ek_error *e);

#endif
