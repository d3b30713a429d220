/* Lists on their way into a file: faults and upstream scores, then LETOR text or messages. What
 * `gen` and `convert` share.
 *
 * Owner: the caller; ek_list_sink_close or ek_list_sink_abandon ends it. One thread.
 */
#ifndef EK_DAEMON_LIST_SINK_H
#define EK_DAEMON_LIST_SINK_H

#include "daemon/files/upstream.h"
#include "lists/codec.h"

struct ek_list_sink;

struct ek_list_sink_options {
    struct ek_upstream_options upstream;
    const char *command; /* name for warnings */
    const char *path;    /* "-": standard output */
    bool letor;          /* text instead of messages */
    bool json;           /* what it came to goes to standard output, which `path` is not */
    int sources;         /* items get one of so many by chance; 0: none */
    enum ek_feature_encoding encoding;
    enum ek_message_layout layout;
};

/* Errors of ek_upstream_new and of the file. Options and what they point at must outlive it. */
int ek_list_sink_open(struct ek_list_sink **out, const struct ek_list_sink_options *o,
                      struct ek_error *e);
/* The stage before it, to be fitted. */
struct ek_upstream *ek_list_sink_upstream(struct ek_list_sink *s);
/* Applies faults and scores to `q`, which they change, and writes it. */
int ek_list_sink_put(struct ek_list_sink *s, struct ek_query *q, uint64_t number,
                     struct ek_error *e);
/* The file appears. Warns on stderr of faults that hit no query, and with `json` tells on stdout
 * how much was written. Always frees. */
int ek_list_sink_close(struct ek_list_sink *s, struct ek_error *e);
void ek_list_sink_abandon(struct ek_list_sink *s);

/* "array", "bin", "map", "json", "json-map" -> *out; EK_EUSAGE otherwise. */
int ek_encoding_parse(const char *text, enum ek_feature_encoding *out, struct ek_error *e);
/* "list", "item", likewise. */
int ek_layout_parse(const char *text, enum ek_message_layout *out, struct ek_error *e);

#endif
