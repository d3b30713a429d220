/* Contents of profiles, models and message files, printed by `evenkeel inspect` as tables and
 * histograms or as JSON. */
#ifndef EK_DAEMON_COMMANDS_INSPECT_H
#define EK_DAEMON_COMMANDS_INSPECT_H

#include "assets/model.h"
#include "assets/profile.h"
#include "base/buf.h"
#include "base/error.h"
#include "daemon/files/field_mapping.h"
#include "evenkeel.h"
#include "lists/capture.h"

#include <stdio.h>

enum ek_inspect_form { EK_INSPECT_TABLE, EK_INSPECT_JSON };

/* Print the contents of a profile to `to`. Return 0 or EK_ENOMEM. */
int ek_inspect_profile(const struct ek_profile *p, enum ek_inspect_form form, FILE *to);
/* Print the contents of a model to `to`. Return 0 or EK_ENOMEM. */
int ek_inspect_model(const struct ek_model *m, enum ek_inspect_form form, FILE *to);
/* Draw the training distribution of a feature's |values| on a log scale in at most 79 columns,
 * with block characters in a UTF-8 locale, else ASCII. Return 0, or EK_EUSAGE for an unknown
 * feature. */
int ek_inspect_plot(const struct ek_profile *p, const char *feature, FILE *to, struct ek_error *e);
struct ek_inspect_comparison {
    const char *feature, *manifest, *profile; /* profile NULL: no training distribution */
    const struct ek_field_mapping *field_mapping;
};
/* Draw the distribution in the messages of a file next to that of training. Return 0, EK_EUSAGE
 * without a distribution or with conflicting arguments, or an error of the files. */
int ek_inspect_plot_messages(const char *path, const struct ek_inspect_comparison *b, FILE *to,
                             struct ek_error *e);
/* Print how many messages of a file have each field that the configuration names: query id, time,
 * scores, segments with their values. Return 0, EK_EUSAGE without a manifest, or an error of
 * reading. */
int ek_inspect_coverage(const char *path, const struct ek_field_mapping *dialect, FILE *to,
                        struct ek_error *e);

#endif
