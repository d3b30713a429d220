/* Key tables: schema of a YAML file and the struct members that store its values.
 *
 * One table lists every key of a kind of file. The parser, the defaults, the reference pages and
 * the JSON Schemas (deploy/key_pages.h) use it. A key is identified by its path: "input.brokers",
 * "features.*.watch", "pins.*.until", with * for a name or a list element. Keys are read in the
 * order of the table. Values are stored in structs, the bases of a source: a row has the number of
 * its base, and offset and size of the member. Integers, choices and booleans use members of 1, 4
 * or 8 bytes.
 */
#ifndef EK_YAML_KEYS_H
#define EK_YAML_KEYS_H

#include "yaml/yaml.h"

#include <stddef.h>

enum ek_key_type {
    EK_KEY_TEXT, /* char *; low and high: bytes */
    EK_KEY_PATH, /* char *; a relative path starts in the source's folder */
    EK_KEY_BOOL,
    EK_KEY_INT,
    EK_KEY_NUMBER,   /* double */
    EK_KEY_DURATION, /* milliseconds */
    EK_KEY_SIZE,
    EK_KEY_CHOICE,     /* index into `choices` */
    EK_KEY_TEXTS,      /* struct ek_text_list; high: maximum count */
    EK_KEY_RATE,       /* N of `1 per N lists` */
    EK_KEY_DATE,       /* 2027-01-31, 2027-01-31T12:00:00Z: the first moment after it, in ms */
    EK_KEY_SEGMENT,    /* one pair {dimension: value}; needs `read` */
    EK_KEY_PROPERTIES, /* a mapping of arbitrary names to strings; needs `read` */
    EK_KEY_PATHS,      /* a string, or a mapping of names to strings; needs `read` */
    EK_KEY_MAP,
    EK_KEY_LIST,        /* needs `read` */
    EK_KEY_UNAVAILABLE, /* known, but an error in this version */
    EK_KEY_TYPES
};

enum { /* flags */
       EK_KEY_REQUIRED = 1,
       EK_KEY_SECRET = 2, /* never printed */
       EK_KEY_RELOADABLE = 4,
       EK_KEY_URL = 8,    /* an http(s) URL */
       EK_KEY_OR_ONE = 16 /* TEXTS: accepts a single string */
};

struct ek_key_row;
struct ek_key_source;

/* Read the value of a key, replacing the reader of its type. Errors include the position. */
typedef int ek_key_read(struct ek_key_source *s, const struct ek_key_row *k,
                        const struct ek_node *n);

struct ek_key_row {
    const char *path;
    enum ek_key_type type;
    unsigned char base, size;
    size_t offset;
    double low, high;     /* in the unit of the member; low >= high: unlimited, except INT */
    const char *choices;  /* names separated by spaces; MAP, SEGMENT: alternatives to a mapping */
    const char *word;     /* integers: alternative spelling of 0 */
    const char *built_in; /* default value, as in a file; NULL: none */
    const char *help;
    const char *also; /* path of a second mapping that may contain the key; NULL: none */
    unsigned flags;
    ek_key_read *read; /* NULL: reader of the type */
};

/* Initialize base, offset and size of a row for a struct member. */
#define EK_KEY_AT(number, type, member)                                                            \
    .base = (number), .offset = offsetof(type, member), .size = sizeof(((type *)0)->member)

struct ek_key_owner {
    const char *section, *name; /* "pins.*", "pin" */
};

struct ek_key_table {
    const struct ek_key_row *keys;
    size_t count;
    const struct ek_key_owner *owners; /* names in errors of mappings with required keys */
    size_t owner_count;
    bool by_path;  /* errors contain the full path of a key */
    bool no_empty; /* empty strings and lists are errors */
};

enum { EK_KEY_BASES_MAX = 4, EK_KEYS_MAX = 40 }; /* EK_KEYS_MAX: keys of one mapping */

struct ek_key_place {
    long line, column; /* 0: unknown */
};

struct ek_text_list {
    char **items;
    size_t count;
};

/* Input and destination of a parse. */
struct ek_key_source {
    const struct ek_key_table *table;
    const struct ek_yaml *yaml;   /* NULL: errors have no position */
    void *base[EK_KEY_BASES_MAX]; /* NULL: keys of this base are not stored */
    void *context;                /* for `read` and `scalar` */
    const char *folder;           /* base of relative paths, with a trailing slash; NULL: working
                                   * directory */
    struct ek_key_place *places;  /* [table->count] position of each key; NULL: not needed */
    ek_key_read *scalar;          /* replaces ek_key_store for each scalar; NULL: none */
    struct ek_error_list *faults; /* NULL: the first error ends the parse */
    struct ek_error *e;           /* never NULL */
};

/* Return the row of a path, owned by the table, or NULL. */
const struct ek_key_row *ek_key_find(const struct ek_key_table *t, const char *path);
/* Return the last part of the path; valid as long as the row. */
const char *ek_key_name(const struct ek_key_row *k);
/* Return true if the mapping `section` contains the key: "defaults", "pins.*", "" for the top
 * level. */
bool ek_key_is_in(const struct ek_key_row *k, const char *section);
/* Write the names of a mapping's keys, at most `max`, to `names`; they are valid as long as the
 * table. Return their total count, which may exceed `max`. */
size_t ek_keys_list(const struct ek_key_table *t, const char *section, const char **names,
                    size_t max);
/* Return true if the type is an integer, duration or size. */
bool ek_key_is_whole(const struct ek_key_row *k);
/* Write an integer to `out` [size] in the largest unit that is exact, such as "4MiB" or "10s"; 0 as
 * the key's word, if it has one. Return `out`. */
const char *ek_key_quantity(const struct ek_key_row *k, int64_t value, char *out, size_t size);
/* Write the word of choice `number` to `out` [size], cut to fit. */
void ek_key_choice(const struct ek_key_row *k, int number, char *out, size_t size);
/* Return the address of the key's member in `base`. */
void *ek_key_member(const struct ek_key_row *k, const void *base);
/* Return the value of the key's member in `base`: an integer, the index of a choice, or a boolean.
 */
int64_t ek_key_get(const struct ek_key_row *k, const void *base);

/* Collect the error of a reader that returned `code`: for EK_ECONFIG with a list s->faults, add
 * s->e to the list and return 0, so that reading continues. Return EK_ECONFIG if the list is full,
 * EK_ENOMEM if memory runs out, and other codes, also 0, unchanged; without a list all. */
int ek_keys_collect(const struct ek_key_source *s, int code);
/* Read a mapping; NULL is an absent one. Unknown keys are errors with a suggestion; missing
 * required keys are errors. Members of absent or invalid keys stay unchanged. Return 0, also if
 * errors were added to s->faults; EK_ECONFIG for the first error without that list, or if it is
 * full; or EK_ENOMEM. */
int ek_keys_read(struct ek_key_source *s, const char *section, const struct ek_node *map);
/* Store one scalar in its member by the type of its key; strings are copied, TEXTS append an
 * element. Return 0, EK_ENOMEM, or EK_ECONFIG with the position of the value; the member is then
 * unchanged. */
int ek_key_store(struct ek_key_source *s, const struct ek_key_row *k, const struct ek_node *n);
/* Read a choice into *out as its index. Return 0, or EK_ECONFIG with the position of the value;
 * *out is then unchanged. */
int ek_key_read_name(struct ek_key_source *s, const struct ek_key_row *k, const struct ek_node *n,
                     int *out);
/* Store the default values of a key, or of all keys below a path ("" for all). Return 0, EK_ENOMEM,
 * or EK_ECONFIG for an invalid default; its member is then unchanged. */
int ek_keys_set_built_in(struct ek_key_source *s, const char *section);
/* Free the strings of all rows with base number `number` in `base`. */
void ek_keys_release(const struct ek_key_table *t, unsigned number, void *base);

#endif
