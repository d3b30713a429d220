/* The command line of `evenkeel select`.
 *
 * Owner: the caller; texts are views of the arguments.
 */
#ifndef EK_DAEMON_TOOLS_SELECT_SELECT_ARGS_H
#define EK_DAEMON_TOOLS_SELECT_SELECT_ARGS_H

#include "offline/select/relevance.h"
#include "daemon/files/list_input.h"

#include <stdio.h>

enum { EK_SHARES_MAX = 16, EK_CHANCES_MAX = 256 };

enum ek_select_method {
    EK_SELECT_NFS,
    EK_SELECT_XGAS,
    EK_SELECT_HCAS,
    EK_SELECT_IMPORTANCE,
    EK_SELECT_RANDOM,
    EK_SELECT_METHODS
};
const char *ek_select_method_name(enum ek_select_method m);

struct ek_select_args {
    const char *manifest, *model, *output, *scatter, *dendrogram;
    struct ek_files train, vali, test, data, *open; /* open: where further file names go */
    enum ek_select_method method;
    bool method_given, likeness_given;
    double share[EK_SHARES_MAX]; /* percent, rising; none with a count */
    int share_count, count;
    enum ek_spearman likeness;
    int cutoff, repeats, epochs; /* epochs and repeats 0: not given. Parsed, repeats is 5 then,
                                   epochs what the manifest and the method say */
    uint64_t seed, threads;
    const char *chance[EK_CHANCES_MAX]; /* NAME=P */
    int chance_count;
    bool judge, watch, json;
    struct ek_error e;
};

/* Fills `a`. Ends the program, as argp does, on --help and on words that are wrong. */
void ek_select_args_parse(struct ek_select_args *a, int argc, char **argv);
/* Where the table goes, or the JSON: to stderr where stdout is taken by a file. */
FILE *ek_select_table(const struct ek_select_args *a);

#endif
