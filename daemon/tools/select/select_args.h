/* Command line of `select`. Strings are views of the arguments. */
#ifndef EK_DAEMON_TOOLS_SELECT_SELECT_ARGS_H
#define EK_DAEMON_TOOLS_SELECT_SELECT_ARGS_H

#include "offline/select/relevance.h"
#include "daemon/files/list_input.h"

#include <stdio.h>

enum { EK_SHARES_MAX = 16, EK_PRIORS_MAX = 256 };

enum ek_select_method {
    EK_SELECT_NFS,
    EK_SELECT_XGAS,
    EK_SELECT_HCAS,
    EK_SELECT_IMPORTANCE,
    EK_SELECT_RANDOM,
    EK_SELECT_METHODS
};
/* Return the name of a method on the command line, a static string. */
const char *ek_select_method_name(enum ek_select_method m);

struct ek_select_args {
    const char *manifest, *model, *output, *scatter, *dendrogram;
    struct ek_files train, vali, test, data, *open; /* open: receives further file names */
    enum ek_select_method method;
    bool method_given, similarity_given;
    double share[EK_SHARES_MAX]; /* percent, increasing; none with a count */
    int share_count, count;
    enum ek_spearman likeness;
    /* epochs and repeats 0: not given. Parsed, repeats is 5 then, and epochs depends on the
     * manifest and the method */
    int cutoff, repeats, epochs;
    uint64_t seed, threads;
    const char *chance[EK_PRIORS_MAX]; /* NAME=P */
    int prior_count;
    bool cross_validate, watch, json;
    struct ek_error e;
};

/* Set `a` from the options. Ends the program on --help and on errors. */
void ek_select_args_parse(struct ek_select_args *a, int argc, char **argv);
/* Return the stream of the table or JSON: stderr if a file goes to stdout. */
FILE *ek_select_table(const struct ek_select_args *a);

#endif
