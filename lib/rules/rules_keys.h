/* The table of the rules' keys: what each takes, what is built in, what it is for.
 *
 * Ranges and keys that the reader knows (rules*.c), docs/rules.md and the schema come from here, so
 * they agree. A key is its path: "defaults.min_effect", "features.*.watch", "pins.*.until", with *
 * for a name or a place in a list. One that may stand under a feature as well is there once, with
 * `also_feature`; so is what stands below it. Read-only; any thread.
 */
#ifndef EK_DATA_RULES_KEYS_H
#define EK_DATA_RULES_KEYS_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>

enum ek_key_type {
    EK_KEY_TEXT, /* low and high: bytes */
    EK_KEY_BOOL,
    EK_KEY_INT,
    EK_KEY_NUMBER,
    EK_KEY_DURATION, /* low: milliseconds; EK_RULES_DAYS_MAX at most */
    EK_KEY_CHOICE,
    EK_KEY_TEXTS,   /* a list; high: how many */
    EK_KEY_RATE,    /* 1 per N queries */
    EK_KEY_DATE,    /* 2027-01-31, 2027-01-31T12:00:00Z */
    EK_KEY_SEGMENT, /* one pair {dimension: value} */
    EK_KEY_MAP,
    EK_KEY_LIST,
    EK_KEY_TYPES
};

struct ek_rules_key {
    const char *path;
    enum ek_key_type type;
    double low, high;     /* low >= high: any */
    const char *choices;  /* words, one space between; of MAP, SEGMENT: what may stand instead */
    const char *built_in; /* as in a file; NULL: none */
    const char *help;
    bool also_feature, required;
};

/* No duration is longer: the times that come of it stay far below what records of a fleet carry. */
enum { EK_RULES_DAYS_MAX = 3650 };
/* The most keys that one mapping has. */
enum { EK_RULES_KEYS_MOST = 24 };

size_t ek_rules_key_count(void);
const struct ek_rules_key *ek_rules_key_at(size_t number);
/* NULL: there is none. */
const struct ek_rules_key *ek_rules_key_find(const char *path);
/* The last word of its path. */
const char *ek_rules_key_name(const struct ek_rules_key *k);
/* Whether a key stands in the mapping `section`: "defaults", "features.*", "" for the top. */
bool ek_rules_key_in(const struct ek_rules_key *k, const char *section);
/* Names of the keys of a mapping, at most `most`; how many there are. */
size_t ek_rules_keys_of(const char *section, const char **names, size_t most);

/* docs/rules.md. EK_ENOMEM. */
int ek_rules_document(struct ek_buf *out);

#endif
