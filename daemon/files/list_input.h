/* What `train`, `eval` and others have in common: lists of files, of features, of numbers.
 *
 * Owner: the caller; texts are views of the arguments.
 */
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

/* EK_EUSAGE when there are too many. */
int ek_files_add(struct ek_files *f, const char *path, struct ek_error *e);
/* Reads all files into `d`, which is initialised here; the caller releases it even on failure. */
int ek_files_read(const struct ek_files *f, const struct ek_manifest *m, struct ek_dataset *d,
                  struct ek_error *e);

/* The same from messages with upstream scores, which become the labels
 * (offline/train/distillation.h). As they came they are appended to `upstream`, unless it is NULL;
 * the caller releases it. config: what their fields are called (daemon/files/field_mapping.h), or
 * NULL. */
int ek_files_read_relabeled(const struct ek_files *f, const struct ek_manifest *m,
                            const char *config, struct ek_dataset *d,
                            struct ek_upstream_scores *upstream, struct ek_error *e);

/* "price,taxes" -> routable numbers. EK_EUSAGE names a feature that is unknown (with the nearest
 * one), not routable, or named twice. `out` has room for the K of the manifest. */
int ek_routable_list(const struct ek_manifest *m, const char *text, int *out, int *count,
                     struct ek_error *e);

struct argp_state;
/* Which of the words `arg` is; ends the program by argp_error when it is none. */
int ek_is_any_of(struct argp_state *state, const char *name, const char *arg,
                 const char *const *words, int count);

/* The N of --sources; ends the program when it is none. */
int ek_sources_number(struct argp_state *state, const char *arg);

/* Cuts `text` at commas: the next piece in *piece, *length; false at the end. Start with
 * *at = text. */
bool ek_next_field(const char **at, const char **piece, size_t *length);

#endif
