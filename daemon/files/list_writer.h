/* Random segment values for lists: `arm=A,B` gives each list A or B.
 *
 * The value is a hash of seed, dimension and list number, so dimensions are independent and runs
 * are repeatable. Values are equally likely; a value given twice is twice as likely. Starts as
 * zeros; release with ek_segment_sampler_release.
 */
#ifndef EK_DAEMON_FILES_LIST_WRITER_H
#define EK_DAEMON_FILES_LIST_WRITER_H

#include "lists/codec.h"
#include "lists/dataset.h"
#include "lists/list.h"
#include "schema/manifest.h"

enum { EK_SAMPLER_VALUES_MAX = 64 };

struct ek_segment_choice {
    char *text; /* "arm=A,B", split in place */
    const char *name, *value[EK_SAMPLER_VALUES_MAX];
    int values;
};

struct ek_segment_sampler {
    struct ek_segment_choice choice[EK_SEGMENTS_MAX];
    int count;
};

/* Parse `NAME=V1,V2...`. Returns 0, EK_EUSAGE or EK_ENOMEM. */
int ek_segment_sampler_add(struct ek_segment_sampler *d, const char *spec, struct ek_error *e);
void ek_segment_sampler_release(struct ek_segment_sampler *d);
/* Add the segments to a list; their strings live as long as `d`. Returns 0, or EK_ELIMIT if the
 * list has too many segments. */
int ek_segment_sampler_apply(const struct ek_segment_sampler *d, struct ek_list *q, uint64_t number,
                             uint64_t seed, struct ek_error *e);

/* Upstream simulator for `generate`, `convert` and `demo`: applies faults to lists, then scores
 * them with the upstream model, faults included.
 *
 * Scores are those of the model without routes; 0 without a model. List numbers count from 0. The
 * manifest must outlive it. One thread at a time.
 */
struct ek_upstream_sim;

struct ek_upstream_sim_options {
    const struct ek_manifest *manifest;
    const char *model;         /* path of a model; NULL: scores are 0 */
    const char *const *faults; /* specifications (offline/world/faults.h), applied in order */
    size_t fault_count;
    uint64_t seed; /* selects the lists of faults with a fraction */
};

/* Warns on stderr if the model always routes features, which is not done here. Returns 0, EK_EUSAGE
 * for an invalid specification, EK_ESTATE for a model with other features, EK_ENOMEM, or an error
 * of the model reader. */
int ek_upstream_sim_new(struct ek_upstream_sim **out, const struct ek_upstream_sim_options *o,
                        struct ek_error *e);
void ek_upstream_sim_free(struct ek_upstream_sim *u);

/* Return true if a fault depends on medians; call ek_upstream_sim_fit first. */
bool ek_upstream_sim_needs_fit(const struct ek_upstream_sim *u);
int ek_upstream_sim_fit(struct ek_upstream_sim *u, const struct ek_dataset *d, struct ek_error *e);

/* Change the values and set the scores of list `number`. */
int ek_upstream_sim_apply(struct ek_upstream_sim *u, struct ek_list *q, uint64_t number,
                          struct ek_error *e);
/* Return the number of lists changed by fault i. */
uint64_t ek_upstream_sim_matches(const struct ek_upstream_sim *u, size_t i);

/* List writer of `generate` and `convert`: applies faults and upstream scores, then writes LETOR
 * text or messages. End with ek_list_writer_close or ek_list_writer_abort. One thread. */
struct ek_list_writer;

struct ek_list_writer_options {
    struct ek_upstream_sim_options upstream;
    const char *command; /* prefix of warnings */
    const char *path;    /* "-": standard output */
    bool letor;          /* LETOR text instead of messages */
    bool json;           /* print the result to standard output; `path` must be a file */
    int sources;         /* number of sources, drawn for each item; 0: none */
    enum ek_feature_encoding encoding;
    enum ek_message_layout layout;
};

/* Return errors of ek_upstream_sim_new and of the file. The options and their pointers must
 * outlive it. */
int ek_list_writer_open(struct ek_list_writer **out, const struct ek_list_writer_options *o,
                        struct ek_error *e);
/* Return the simulator, to be fitted. */
struct ek_upstream_sim *ek_list_writer_upstream(struct ek_list_writer *s);
/* Apply faults and scores to `q`, and write it. */
int ek_list_writer_write(struct ek_list_writer *s, struct ek_list *q, uint64_t number,
                         struct ek_error *e);
/* Complete the file. Warns on stderr of faults that changed no list; with `json`, prints the counts
 * to stdout. Always frees. */
int ek_list_writer_close(struct ek_list_writer *s, struct ek_error *e);
void ek_list_writer_abort(struct ek_list_writer *s);

/* Parse "array", "bin", "map", "json" or "json-map". Returns 0 or EK_EUSAGE. */
int ek_encoding_parse(const char *text, enum ek_feature_encoding *out, struct ek_error *e);
/* Parse "list" or "item". Returns 0 or EK_EUSAGE. */
int ek_layout_parse(const char *text, enum ek_message_layout *out, struct ek_error *e);

#endif
