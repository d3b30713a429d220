/* What libyaml says about a text that it cannot read, in our words, with what to do about it. */
#ifndef EK_YAML_YAML_H
#define EK_YAML_YAML_H

#include "base/error.h"
#include "base/error_list.h"

#include <stdbool.h>
#include <stdint.h>

struct ek_yaml_problem {
    const char *theirs;
    const char *ours;
    bool at_begin; /* the place to look at is where it begins, not where it was noticed */
};

/* YAML as a tree that remembers where everything stood (libyaml; nobody else includes it).
 *
 * Invariants: no aliases, no anchors, no tags, one document; depth, nodes and bytes are limited, so
 * that no file can grow when read. Keys of one mapping are unique: one that is there again is an
 * error with both places. A byte order mark before the text is passed over.
 * Errors carry file, line and column. Owner: the caller, ek_yaml_free; nodes live as long as it.
 */
enum { EK_YAML_DEPTH_MAX = 32, EK_YAML_NODES_MAX = 200000, EK_YAML_BYTES_MAX = 8 << 20 };

enum ek_node_kind { EK_NODE_SCALAR, EK_NODE_SEQUENCE, EK_NODE_MAPPING };

struct ek_node {
    enum ek_node_kind kind;
    bool quoted;      /* a scalar in quotes: "1" is text */
    const char *text; /* scalar: its value, terminated; else NULL */
    long line, column;
    long end_line; /* the first line below that has nothing of it; comments are not its */
    size_t count;  /* sequence: elements; mapping: pairs */
    struct ek_node *children; /* sequence: count; mapping: 2 count, key then value */
};

struct ek_yaml;

int ek_yaml_load(struct ek_yaml **out, const char *path, struct ek_error *e);
/* `name` stands for the file in errors. `text` may be NULL with length 0. */
int ek_yaml_parse(struct ek_yaml **out, const char *name, const char *text, size_t length,
                  struct ek_error *e);
/* The same, but keys that are there again go to `faults` (initialised, may be NULL) and out of the
 * tree, and the reading goes on. */
int ek_yaml_parse_all(struct ek_yaml **out, const char *name, const char *text, size_t length,
                      struct ek_error_list *faults, struct ek_error *e);
void ek_yaml_free(struct ek_yaml *y);
const struct ek_node *ek_yaml_root(const struct ek_yaml *y);
/* NULL without a file. */
const char *ek_yaml_name(const struct ek_yaml *y);

/* Value of a key, NULL when the mapping (or NULL) does not have it. */
const struct ek_node *ek_node_get(const struct ek_node *mapping, const char *key);

/* Typed readers: the error has the place, and `what` (the key) quoted. `out` untouched on failure.
 */
int ek_node_text(const struct ek_yaml *y, const struct ek_node *n, const char *what,
                 const char **out, struct ek_error *e);
int ek_node_bool(const struct ek_yaml *y, const struct ek_node *n, const char *what, bool *out,
                 struct ek_error *e);
int ek_node_double(const struct ek_yaml *y, const struct ek_node *n, const char *what, double low,
                   double high, double *out, struct ek_error *e);
int ek_node_int(const struct ek_yaml *y, const struct ek_node *n, const char *what, int64_t low,
                int64_t high, int64_t *out, struct ek_error *e);
/* Refuse a value: `'what' must be WANTED, not` the value. */
int ek_node_wrong(const struct ek_yaml *y, const struct ek_node *n, const char *what,
                  const char *desired, struct ek_error *e);
/* Refuse a scalar: `'what' must be from LOW to HIGH, not` the value. */
int ek_node_out_of_range(const struct ek_yaml *y, const struct ek_node *n, const char *what,
                         const char *low, const char *high, struct ek_error *e);
/* One of `words`: its number in *out. The error names the nearest, or all of them. */
int ek_node_choice(const struct ek_yaml *y, const struct ek_node *n, const char *what,
                   const char *const *words, size_t count, int *out, struct ek_error *e);
/* EK_ECONFIG unless the node is of that kind. */
int ek_node_check_kind(const struct ek_yaml *y, const struct ek_node *n, const char *what,
                       enum ek_node_kind kind, struct ek_error *e);
/* EK_ECONFIG at the node's place. */
int ek_node_fail(const struct ek_yaml *y, const struct ek_node *n, struct ek_error *e,
                 const char *format, ...) __attribute__((format(printf, 4, 5)));
/* Every key of the mapping must be among `known`; else `unknown key 'x', did you mean 'y'?`. */
int ek_node_keys(const struct ek_yaml *y, const struct ek_node *mapping, const char *const *known,
                 size_t count, struct ek_error *e);
/* The same for all its keys: those that are unknown go to `faults`. With NULL it is ek_node_keys.
 */
int ek_node_all_keys(const struct ek_yaml *y, const struct ek_node *mapping,
                     const char *const *known, size_t count, struct ek_error_list *faults,
                     struct ek_error *e);

#endif
