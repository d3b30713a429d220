/* What is in a file, for people (tables, a drawn histogram) and for programs (JSON). */
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

/* EK_ENOMEM, and so for a model. */
int ek_inspect_profile(const struct ek_profile *p, enum ek_inspect_form form, FILE *to);
/* Draws the distribution of one feature's |values| in training on a log scale, lines of at most 79
 * columns: with blocks in a locale of UTF-8, else in ASCII. EK_EUSAGE for an unknown name. */
int ek_inspect_plot(const struct ek_profile *p, const char *feature, FILE *to, struct ek_error *e);
struct ek_inspect_comparison {
    const char *feature, *manifest, *profile; /* profile NULL: without training beside it */
    const struct ek_field_mapping *dialect;
};
/* The same of the messages of a file, beside training. */
int ek_inspect_plot_messages(const char *path, const struct ek_inspect_comparison *b, FILE *to,
                             struct ek_error *e);
int ek_inspect_model(const struct ek_model *m, enum ek_inspect_form form, FILE *to);

/* States of guards among the records of a capture: what their last complete base says. */
/* Starts as {0}; by the prefix of their keys. Owner: the caller. */
struct ek_inspect_states {
    int count;
    size_t capacity;
    struct {
        char *prefix; /* what comes before the last ':' of a key */
        struct ek_state *state;
    } * of; /* [count] */
};

#endif
