/* Tables of keys: what a YAML file may say, and where each value goes.
 *
 * One table has every key of a kind of file. The reader, the built-in values, the pages of the
 * reference and the JSON Schemas (deploy/key_pages.h) come from it. A key is its path:
 * "input.brokers", "features.*.watch", "pins.*.until", with * for a name or a place in a list. The
 * keys of one mapping are those with its path before their last word; they are read in the order of
 * the table. Values go into structs, the bases of a source: a row has the number of its base, the
 * offset and the size of the member. Whole numbers, words and truth values go into members of 1, 4
 * or 8 bytes.
 */
#ifndef EK_YAML_KEYS_H
#define EK_YAML_KEYS_H

#include "yaml/yaml.h"

#include <stddef.h>

enum ek_key_type {
    EK_KEY_TEXT, /* char *; low and high: bytes */
    EK_KEY_PATH, /* char *; a relative path starts in the folder of the source */
    EK_KEY_BOOL,
    EK_KEY_INT,
    EK_KEY_NUMBER,   /* double */
    EK_KEY_DURATION, /* milliseconds */
    EK_KEY_SIZE,
    EK_KEY_CHOICE,     /* number of the word among `choices` */
    EK_KEY_TEXTS,      /* struct ek_text_list; high: the largest count */
    EK_KEY_RATE,       /* N of `1 per N lists` */
    EK_KEY_DATE,       /* 2027-01-31, 2027-01-31T12:00:00Z: the first moment after it, in ms */
    EK_KEY_SEGMENT,    /* one pair {dimension: value}; needs `read` */
    EK_KEY_PROPERTIES, /* a mapping of any names to texts; needs `read` */
    EK_KEY_MAP,
    EK_KEY_LIST,        /* needs `read` */
    EK_KEY_UNAVAILABLE, /* known, but an error in this version */
    EK_KEY_TYPES
};

enum { /* flags */
       EK_KEY_REQUIRED = 1,
       EK_KEY_SECRET = 2, /* never shown */
       EK_KEY_RELOADABLE = 4,
       EK_KEY_URL = 8,    /* a web address */
       EK_KEY_OR_ONE = 16 /* of TEXTS: one text may stand instead of the list */
};

struct ek_key_row;
struct ek_key_source;

/* Read the value of a key, in place of the reader of its type. Errors have the place. */
typedef int ek_key_read(struct ek_key_source *s, const struct ek_key_row *k,
                        const struct ek_node *n);

struct ek_key_row {
    const char *path;
    enum ek_key_type type;
    unsigned char base, size;
    size_t offset;
    double low, high;     /* in the unit of the member; low >= high: any, but of INT exactly */
    const char *choices;  /* words, one space between; of MAP, SEGMENT: what may stand instead */
    const char *word;     /* of a whole number: stands for 0 */
    const char *built_in; /* as in a file; NULL: none */
    const char *help;
    const char *also; /* path of a second mapping in which the key may stand; NULL: none */
    unsigned flags;
    ek_key_read *read; /* NULL: by its type */
};

/* Base, offset and size of a member, for a row. */
#define EK_KEY_AT(number, type, member)                                                            \
    .base = (number), .offset = offsetof(type, member), .size = sizeof(((type *)0)->member)

struct ek_key_owner {
    const char *section, *name; /* "pins.*", "pin" */
};

struct ek_key_table {
    const struct ek_key_row *keys;
    size_t count;
    const struct ek_key_owner *owners; /* names of mappings with required keys, for errors */
    size_t owner_count;
    bool by_path;  /* errors name a key by its whole path */
    bool no_empty; /* empty texts are errors */
};

enum { EK_KEY_BASES_MAX = 4, EK_KEYS_MAX = 40 }; /* EK_KEYS_MAX: keys of one mapping */

struct ek_key_place {
    long line, column; /* 0: nowhere */
};

struct ek_text_list {
    char **items;
    size_t count;
};

/* What is being read, and into what. */
struct ek_key_source {
    const struct ek_key_table *table;
    const struct ek_yaml *yaml;   /* NULL: errors get no place */
    void *base[EK_KEY_BASES_MAX]; /* NULL: rows of this base have no value here */
    void *context;                /* for `read` and `scalar` */
    const char *folder;           /* where relative paths start, with its slash; NULL: here */
    struct ek_key_place *places;  /* [table->count], where each key stands; NULL: unwanted */
    ek_key_read *scalar;          /* before ek_key_store, for each single value; NULL: none */
    struct ek_error_list *faults; /* NULL: the first fault ends the reading */
    struct ek_error *e;           /* never NULL */
};

/* NULL: there is none. */
const struct ek_key_row *ek_key_find(const struct ek_key_table *t, const char *path);
/* Return the last word of its path. */
const char *ek_key_name(const struct ek_key_row *k);
/* Return whether a key stands in the mapping `section`: "defaults", "pins.*", "" for the top. */
bool ek_key_is_in(const struct ek_key_row *k, const char *section);
/* Write the names of the keys of a mapping, at most `max`. Returns their count. */
size_t ek_keys_list(const struct ek_key_table *t, const char *section, const char **names,
                    size_t max);
/* Return whether values of the type are single ones that a member holds. */
bool ek_key_is_whole(const struct ek_key_row *k);
/* Write a number in its largest unit that leaves it whole: "4MiB", "10s", or its word. */
const char *ek_key_quantity(const struct ek_key_row *k, int64_t value, char *out, size_t size);
/* Write word `number` of the choices. */
void ek_key_choice(const struct ek_key_row *k, int number, char *out, size_t size);
/* Return the member of a key in the struct that is its base. */
void *ek_key_member(const struct ek_key_row *k, const void *base);
/* Read and write the member of a whole number, word or truth value. */
int64_t ek_key_get(const struct ek_key_row *k, const void *base);

/* Keep the error of a part that others do not depend on, and return 0, when reading goes on. */
int ek_keys_collect(const struct ek_key_source *s, int code);
/* Read a mapping: unknown keys are errors with the nearest known one, and so are required ones that
 * are missing. NULL is an absent mapping. Members of keys that are absent or faulty stay. */
int ek_keys_read(struct ek_key_source *s, const char *section, const struct ek_node *map);
/* Store one scalar by the type of its key; TEXTS get one more element. */
int ek_key_store(struct ek_key_source *s, const struct ek_key_row *k, const struct ek_node *n);
/* Read the number of the word among the choices. */
int ek_key_read_name(struct ek_key_source *s, const struct ek_key_row *k, const struct ek_node *n,
                     int *out);
/* Store the built-in values of a key or of all keys below a path ("" for all). */
int ek_keys_set_built_in(struct ek_key_source *s, const char *section);
/* Free the texts of all rows with this base. */
void ek_keys_release(const struct ek_key_table *t, unsigned number, void *base);

#endif
