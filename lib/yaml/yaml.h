/* YAML documents as trees with source positions, their typed readers, and the texts of syntax
 * errors (the only user of libyaml). */
#ifndef EK_YAML_YAML_H
#define EK_YAML_YAML_H

#include "base/error.h"
#include "base/error_list.h"

#include <stdbool.h>
#include <stdint.h>

/* libyaml error messages with replacements that include a remedy. */
struct ek_yaml_problem {
    const char *theirs;
    const char *ours;
    bool at_begin; /* report the start of the construct, not the place of detection */
};

/* YAML document as a tree with source positions (libyaml; no other file includes it).
 *
 * A document has no aliases, anchors or tags. Depth, nodes and bytes are limited, so a tree
 * cannot outgrow its file. Duplicate keys are errors with both positions. A byte order mark is
 * skipped. Errors include file, line and column. Free the tree with ek_yaml_free; nodes live as
 * long as it.
 */
enum { EK_YAML_DEPTH_MAX = 32, EK_YAML_NODES_MAX = 200000, EK_YAML_BYTES_MAX = 8 << 20 };

enum ek_node_kind { EK_NODE_SCALAR, EK_NODE_SEQUENCE, EK_NODE_MAPPING };

struct ek_node {
    enum ek_node_kind kind;
    bool quoted;      /* quoted scalar: "1" is a string */
    const char *text; /* scalar: value; else NULL */
    long line, column;
    long end_line;            /* first line after the node; trailing comments are excluded */
    size_t count;             /* sequence: elements; mapping: pairs */
    struct ek_node *children; /* sequence: count; mapping: 2 count, key then value */
};

struct ek_yaml;

/* Parse a file ("-": standard input). Return 0, EK_EIO, EK_ECONFIG with a position, or EK_ENOMEM.
 * The caller frees *out. */
int ek_yaml_load(struct ek_yaml **out, const char *path, struct ek_error *e);
/* Parse a string, which is not kept. `name` is the file name in errors. `text` may be NULL with
 * length 0. Return 0, EK_ECONFIG with a position, or EK_ENOMEM. The caller frees *out. */
int ek_yaml_parse(struct ek_yaml **out, const char *name, const char *text, size_t length,
                  struct ek_error *e);
/* Parse a string as ek_yaml_parse, but add duplicate keys to `faults` (initialized, may be NULL),
 * drop them and continue. Return 0, also with duplicate keys in `faults`; EK_ECONFIG with the
 * position of a syntax error; or EK_ENOMEM. The caller frees *out. */
int ek_yaml_parse_all(struct ek_yaml **out, const char *name, const char *text, size_t length,
                      struct ek_error_list *faults, struct ek_error *e);
/* Free the document with all its nodes. NULL is allowed. */
void ek_yaml_free(struct ek_yaml *y);
/* Return the root node, never NULL, as an empty document does not parse; valid as long as the
 * document. */
const struct ek_node *ek_yaml_root(const struct ek_yaml *y);
/* Return the file name, valid as long as the document, or NULL if y is NULL. */
const char *ek_yaml_name(const struct ek_yaml *y);

/* Return the value of a key, valid as long as the document, or NULL if the mapping (may be NULL)
 * lacks it. */
const struct ek_node *ek_node_get(const struct ek_node *mapping, const char *key);

/* Get a scalar as a string, valid as long as the document. `what` is the key in errors. Return 0,
 * or EK_ECONFIG with position and key for another kind of node; *out is then unchanged. */
int ek_node_text(const struct ek_yaml *y, const struct ek_node *n, const char *what,
                 const char **out, struct ek_error *e);
/* Get a boolean: `true` or `false` without quotes. `what` is the key in errors. Return 0, or
 * EK_ECONFIG with position and key for another value; *out is then unchanged. */
int ek_node_bool(const struct ek_yaml *y, const struct ek_node *n, const char *what, bool *out,
                 struct ek_error *e);
/* Get a number from `low` to `high`. `what` is the key in errors. Return 0, or EK_ECONFIG with
 * position and key for another value; *out is then unchanged. */
int ek_node_double(const struct ek_yaml *y, const struct ek_node *n, const char *what, double low,
                   double high, double *out, struct ek_error *e);
/* Get an integer from `low` to `high`. `what` is the key in errors. Return 0, or EK_ECONFIG with
 * position and key for another value; *out is then unchanged. */
int ek_node_int(const struct ek_yaml *y, const struct ek_node *n, const char *what, int64_t low,
                int64_t high, int64_t *out, struct ek_error *e);
/* Fail at the node's position with `'KEY' must be WANTED, not VALUE`: `what` is the key, `desired`
 * the wanted value. Return EK_ECONFIG. */
int ek_node_wrong(const struct ek_yaml *y, const struct ek_node *n, const char *what,
                  const char *desired, struct ek_error *e);
/* Fail at the node's position with `'KEY' must be from LOW to HIGH, not VALUE`; `what` is the key.
 * Return EK_ECONFIG. */
int ek_node_out_of_range(const struct ek_yaml *y, const struct ek_node *n, const char *what,
                         const char *low, const char *high, struct ek_error *e);
/* Set *out to the index of the value in `words`. The error names the nearest word, or all. Return
 * 0, or EK_ECONFIG at the value; *out is then unchanged. */
int ek_node_choice(const struct ek_yaml *y, const struct ek_node *n, const char *what,
                   const char *const *words, size_t count, int *out, struct ek_error *e);
/* Return 0 if the node is of this kind, else fail with EK_ECONFIG at its position. `what` is the
 * key in the error. */
int ek_node_check_kind(const struct ek_yaml *y, const struct ek_node *n, const char *what,
                       enum ek_node_kind kind, struct ek_error *e);
/* Fail with a formatted message at the node's position. Return EK_ECONFIG. */
int ek_node_fail(const struct ek_yaml *y, const struct ek_node *n, struct ek_error *e,
                 const char *format, ...) __attribute__((format(printf, 4, 5)));
/* Check that every key of a mapping is in `known`. Return 0, or EK_ECONFIG: `unknown key 'x', did
 * you mean 'y'?`. */
int ek_node_keys(const struct ek_yaml *y, const struct ek_node *mapping, const char *const *known,
                 size_t count, struct ek_error *e);
/* Check that every key of a mapping is in `known`, and add all unknown keys to `faults`. Return 0,
 * also with unknown keys in `faults`; EK_ECONFIG for an unknown key if `faults` is NULL or full; or
 * EK_ENOMEM. */
int ek_node_all_keys(const struct ek_yaml *y, const struct ek_node *mapping,
                     const char *const *known, size_t count, struct ek_error_list *faults,
                     struct ek_error *e);

#endif
