/* Inputs shared by `train`, `eval` and other commands: lists of files, features and numbers. Texts
 * are views of the arguments. */
#ifndef EK_DAEMON_FILES_LIST_INPUT_H
#define EK_DAEMON_FILES_LIST_INPUT_H

#include "base/error.h"
#include "lists/dataset.h"
#include "offline/train/distillation.h"
#include "schema/manifest.h"

enum { EK_FILES_MAX = 256 };

struct ek_files {
    const char *path[EK_FILES_MAX];
    int count;
};

/* Append a path, which is not copied. Return 0, or EK_EUSAGE beyond EK_FILES_MAX files. */
int ek_files_add(struct ek_files *f, const char *path, struct ek_error *e);
/* Read all LETOR files into `d`, which is initialized here; release it even on failure. Return 0,
 * EK_EFORMAT, EK_ESTATE for lists of another manifest, EK_ELIMIT, EK_ENOMEM or EK_EIO. */
int ek_files_read(const struct ek_files *f, const struct ek_manifest *m, struct ek_dataset *d,
                  struct ek_error *e);

/* As ek_files_read, but a file may also have messages with labels; messages without a label for
 * each item are skipped. config: field names (daemon/files/field_mapping.h), or NULL. */
int ek_files_read_labeled(const struct ek_files *f, const struct ek_manifest *m, const char *config,
                          struct ek_dataset *d, struct ek_error *e);

/* Read messages and replace the labels by their upstream scores (offline/train/distillation.h). The
 * original scores are appended to `upstream` unless it is NULL; release it even on failure. config:
 * field names (daemon/files/field_mapping.h), or NULL. Return 0, EK_EFORMAT, EK_ESTATE for lists of
 * another manifest, EK_ELIMIT, EK_ENOMEM or EK_EIO. */
int ek_files_read_relabeled(const struct ek_files *f, const struct ek_manifest *m,
                            const char *config, struct ek_dataset *d,
                            struct ek_upstream_scores *upstream, struct ek_error *e);

/* Set *out to the number of the item feature `name`. Return 0, or EK_EUSAGE with the most similar
 * name; *out is then -1. */
int ek_item_number(const struct ek_manifest *m, const char *name, int *out, struct ek_error *e);
/* Parse "price,taxes" into routable indices out [K of the manifest], and set *count. Return 0, or
 * EK_EUSAGE for a feature that is unknown (with the most similar name), not routable or a
 * duplicate. */
int ek_parse_routables(const struct ek_manifest *m, const char *text, int *out, int *count,
                       struct ek_error *e);

struct argp_state;
/* Return the index of `arg` in words [count], or end the program with argp_error about option
 * `name`. */
int ek_find_word(struct argp_state *state, const char *name, const char *arg,
                 const char *const *words, int count);

/* Return the N of --sources, or end the program with argp_error. */
int ek_parse_sources(struct argp_state *state, const char *arg);

/* Split a text at commas: set *piece and *length to the next part, and advance *at, which starts as
 * the text. Return false at the end. */
bool ek_next_field(const char **at, const char **piece, size_t *length);

#endif
