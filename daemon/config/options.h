/* The option table: every key of the configuration, once.
 *
 * Drives parsing, range checks, defaults, `check`, `run --print-config` and docs/config.md. A key
 * is its path, "input.brokers"; `alerts` is a list of such mappings, whose options
 * are those of the sink that is being read (daemon/config/config_sinks.h). Read-only; any thread.
 */
#ifndef EK_DAEMON_OPTIONS_H
#define EK_DAEMON_OPTIONS_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ek_option_type {
    EK_OPTION_TEXT,
    EK_OPTION_TEXTS, /* a list of texts, or one */
    EK_OPTION_PATH,
    EK_OPTION_INT,
    EK_OPTION_DURATION, /* milliseconds in the struct */
    EK_OPTION_BYTES,
    EK_OPTION_CHOICE,     /* number of the word among `choices` */
    EK_OPTION_PROPERTIES, /* a mapping name: value that is passed on */
    EK_OPTION_LATER,      /* known, but not in this version: an error that says so */
};

struct ek_option {
    const char *key;
    enum ek_option_type type;
    size_t offset;       /* of the value in struct ek_config */
    const char *initial; /* as text; NULL: not set */
    int64_t low, high;   /* numbers, in the unit of the struct */
    const char *choices; /* words, one space between */
    const char *word;    /* of a number: stands for 0, which means that it is found out */
    const char *help;
    bool required, secret, reloadable;
    bool url; /* a web address; of those of sinks nothing is shown behind the host */
};

/* The table, in the order of the documentation; its size, and the place of an option in it. */
const struct ek_option *ek_option_at(size_t number);
size_t ek_option_count(void);
size_t ek_option_number(const struct ek_option *o);

/* NULL when there is none. */
const struct ek_option *ek_option_find(const char *key);
/* True when `prefix` is a section: some key starts with it and a dot. */
bool ek_option_section(const char *prefix);
/* The key nearest to `word` among those of a section ("" for the top), or NULL. The name is
 * written to `name`. */
const char *ek_option_suggest(const char *section, const char *word, char *name, size_t size);
/* Number of a word in a list of words; -1 when it is not there. Length of the list in words is the
 * number that -1 avoids. */
int ek_option_word(const char *words, const char *word);
/* Writes word `number` of the list. */
void ek_option_word_at(const char *words, int number, char *out, size_t size);

/* docs/config.md. EK_ENOMEM. */
int ek_options_document(struct ek_buf *out);

#endif
