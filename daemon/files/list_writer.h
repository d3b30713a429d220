/* Segment values for lists that have none: `arm=A,B` gives each list A or B.
 *
 * The value follows from seed, dimension and query number by a hash, so dimensions are independent
 * and a list has the same value in every run. Values are equally likely; one given twice is twice
 * as likely. Owner: the caller; starts as zeros, ek_segment_sampler_release.
 */
#ifndef EK_DAEMON_FILES_LIST_WRITER_H
#define EK_DAEMON_FILES_LIST_WRITER_H

#include "lists/codec.h"
#include "lists/dataset.h"
#include "lists/list.h"
#include "schema/manifest.h"

enum { EK_SAMPLER_VALUES_MAX = 64 };

struct ek_segment_choice {
    char *text; /* "arm=A,B", cut up in place */
    const char *name, *value[EK_SAMPLER_VALUES_MAX];
    int values;
};

struct ek_segment_sampler {
    struct ek_segment_choice choice[EK_SEGMENTS_MAX];
    int count;
};

/* Reads `NAME=V1,V2...`. EK_EUSAGE, EK_ENOMEM. */
int ek_segment_sampler_add(struct ek_segment_sampler *d, const char *spec, struct ek_error *e);
void ek_segment_sampler_release(struct ek_segment_sampler *d);
/* Adds the segments to the list, whose texts live as long as `d`. EK_ELIMIT when the list has no
 * room for more. */
int ek_segment_sampler_apply(const struct ek_segment_sampler *d, struct ek_list *q, uint64_t number,
                             uint64_t seed, struct ek_error *e);

/* What stands before evenkeel in a pipeline: faults come into the lists, then the upstream model
 * scores what it sees, faults included. For gen, convert and the demonstration.
 *
 * Scores: those of the model with nothing routed; 0 without a model. Numbers of queries count from
 * 0. Owner: the caller, ek_upstream_sim_free; the manifest must outlive it. One thread at a time.
 */
struct ek_upstream_sim;

struct ek_upstream_sim_options {
    const struct ek_manifest *manifest;
    const char *model;         /* path of a model file; NULL: scores are 0 */
    const char *const *faults; /* specs (offline/world/faults.h), applied in this order */
    size_t fault_count;
    uint64_t seed; /* chooses the queries of faults with a share */
};

/* Says on stderr when the model always routes some features, which here nothing does.
 * EK_EUSAGE for a spec that cannot be read, the loader's error for a model, EK_ESTATE for a model
 * of other features, EK_ENOMEM. */
int ek_upstream_sim_new(struct ek_upstream_sim **out, const struct ek_upstream_sim_options *o,
                        struct ek_error *e);
void ek_upstream_sim_free(struct ek_upstream_sim *u);

/* Whether a fault speaks of medians, so that ek_upstream_sim_fit must come first. */
bool ek_upstream_sim_needs_fit(const struct ek_upstream_sim *u);
int ek_upstream_sim_fit(struct ek_upstream_sim *u, const struct ek_dataset *d, struct ek_error *e);

/* Changes x and sets the scores of query `number`. */
int ek_upstream_sim_apply(struct ek_upstream_sim *u, struct ek_list *q, uint64_t number,
                          struct ek_error *e);
/* Queries that fault number i has changed so far. */
uint64_t ek_upstream_sim_matches(const struct ek_upstream_sim *u, size_t i);

/* Lists on their way into a file: faults and upstream scores, then LETOR text or messages. What
 * `generate` and `convert` share.
 *
 * Owner: the caller; ek_list_writer_close or ek_list_writer_abort ends it. One thread.
 */
struct ek_list_writer;

struct ek_list_writer_options {
    struct ek_upstream_sim_options upstream;
    const char *command; /* name for warnings */
    const char *path;    /* "-": standard output */
    bool letor;          /* text instead of messages */
    bool json;           /* what it came to goes to standard output, which `path` is not */
    int sources;         /* items get one of so many by chance; 0: none */
    enum ek_feature_encoding encoding;
    enum ek_message_layout layout;
};

/* Errors of ek_upstream_sim_new and of the file. Options and what they point at must outlive it. */
int ek_list_writer_open(struct ek_list_writer **out, const struct ek_list_writer_options *o,
                        struct ek_error *e);
/* The stage before it, to be fitted. */
struct ek_upstream_sim *ek_list_writer_upstream(struct ek_list_writer *s);
/* Applies faults and scores to `q`, which they change, and writes it. */
int ek_list_writer_write(struct ek_list_writer *s, struct ek_list *q, uint64_t number,
                         struct ek_error *e);
/* The file appears. Warns on stderr of faults that hit no query, and with `json` tells on stdout
 * how much was written. Always frees. */
int ek_list_writer_close(struct ek_list_writer *s, struct ek_error *e);
void ek_list_writer_abort(struct ek_list_writer *s);

/* "array", "bin", "map", "json", "json-map" -> *out; EK_EUSAGE otherwise. */
int ek_encoding_parse(const char *text, enum ek_feature_encoding *out, struct ek_error *e);
/* "list", "item", likewise. */
int ek_layout_parse(const char *text, enum ek_message_layout *out, struct ek_error *e);

#endif
