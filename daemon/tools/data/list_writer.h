/* List writer of `generate` and `convert`, and random segment values for its lists. */
#ifndef EK_DAEMON_TOOLS_DATA_LIST_WRITER_H
#define EK_DAEMON_TOOLS_DATA_LIST_WRITER_H

#include "daemon/files/upstream_sim.h"
#include "lists/codec.h"

/* Random segment values: `arm=A,B` gives each list A or B.
 *
 * The value is a hash of seed, dimension and list number, so dimensions are independent and runs
 * are repeatable. Values are equally likely; a value given twice is twice as likely. Starts as
 * zeros; release with ek_segment_sampler_release.
 */
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

/* Parse `NAME=V1,V2...`, which is copied, and add the segment dimension. *d starts as {0}. Return
 * 0, EK_EUSAGE for an invalid text, or EK_ENOMEM. */
int ek_segment_sampler_add(struct ek_segment_sampler *d, const char *spec, struct ek_error *e);
void ek_segment_sampler_release(struct ek_segment_sampler *d);
/* Add a random value of each dimension to list `number`; the strings live as long as `d`. Return 0,
 * or EK_ELIMIT if the list has too many segments. */
int ek_segment_sampler_apply(const struct ek_segment_sampler *d, struct ek_list *q, uint64_t number,
                             uint64_t seed, struct ek_error *e);

/* Applies faults and upstream scores, then writes LETOR
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

/* Create a writer; end with ek_list_writer_close or ek_list_writer_abort. The options and their
 * pointers must outlive it. Return 0, or an error of ek_upstream_sim_new or of the file. */
int ek_list_writer_open(struct ek_list_writer **out, const struct ek_list_writer_options *o,
                        struct ek_error *e);
/* Return the simulator, which the writer owns, to be fitted before the first list. */
struct ek_upstream_sim *ek_list_writer_upstream(struct ek_list_writer *s);
/* Apply faults and scores to `q`, which changes it, and write it. Return 0, EK_EIO, EK_ENOMEM, or
 * EK_ESTATE if the model does not fit the list. */
int ek_list_writer_write(struct ek_list_writer *s, struct ek_list *q, uint64_t number,
                         struct ek_error *e);
/* Complete the file and free the writer, always. Warns on stderr of faults that changed no list;
 * with `json`, prints the counts to stdout. Return 0, EK_EIO or EK_ENOMEM. */
int ek_list_writer_close(struct ek_list_writer *s, struct ek_error *e);
/* Discard the file and free the writer. NULL is allowed. */
void ek_list_writer_abort(struct ek_list_writer *s);

/* Parse "array", "bin", "map", "json" or "json-map" into *out. Return 0, or EK_EUSAGE with *out
 * unchanged. */
int ek_encoding_parse(const char *text, enum ek_feature_encoding *out, struct ek_error *e);

#endif
