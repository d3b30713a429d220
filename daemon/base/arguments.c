#include "daemon/base/arguments.h"

#include "base/parse.h"
#include "daemon/base/command.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_NAMES = 96 };

/* Options that argp adds. */
static const struct argp_option ADDED[] = {
    {"help", '?', NULL, 0, NULL, 0}, {"usage", 1, NULL, 0, NULL, 0}, {0}};

static bool is_end(const struct argp_option *o)
{
    return !o->name && !o->key && !o->doc;
}

/* Return the option with this name, or a prefix as in getopt; NULL: none. */
static const struct argp_option *find_long(const struct argp_option *options, const char *word,
                                           size_t length)
{
    const struct argp_option *found = NULL;
    for (const struct argp_option *o = options; !is_end(o); o++) {
        if (!o->name || strncmp(o->name, word, length) != 0)
            continue;
        if (!o->name[length])
            return o;
        found = o;
    }
    return found;
}

static const struct argp_option *find_short(const struct argp_option *options, char letter)
{
    for (const struct argp_option *o = options; !is_end(o); o++)
        if (o->key == letter)
            return o;
    return NULL;
}

/* Return true if the option's argument may be the next word. */
static bool has_value(const struct argp_option *o)
{
    return o->arg && !(o->flags & OPTION_ARG_OPTIONAL);
}

/* Return true if the next word is the argument of a word like -abc. argp reports unknown letters.
 */
static bool letters_have_value(const struct argp_option *options, const char *letters)
{
    for (; *letters; letters++) {
        const struct argp_option *o = find_short(options, *letters);
        if (!o || o->arg)
            return o && has_value(o) && !letters[1];
    }
    return false;
}

static int find_unknown(const struct argp_option *options, char **argv)
{
    for (int i = 1; argv[i] && strcmp(argv[i], "--") != 0; i++) {
        const char *word = argv[i];
        if (word[0] != '-' || !word[1])
            continue;
        bool next = false;
        if (word[1] == '-') {
            size_t length = strcspn(word + 2, "=");
            const struct argp_option *o = find_long(options, word + 2, length);
            o = o ? o : find_long(ADDED, word + 2, length);
            if (!o)
                return i;
            next = has_value(o) && !word[2 + length];
        } else {
            next = letters_have_value(options, word + 1);
        }
        if (next && !argv[++i])
            break;
    }
    return 0;
}

static const char *near(const struct argp_option *options, const char *word)
{
    const char *names[MAX_NAMES] = {ADDED[0].name, ADDED[1].name};
    size_t count = 2;
    for (const struct argp_option *o = options; !is_end(o) && count < MAX_NAMES; o++)
        if (o->name)
            names[count++] = o->name;
    return ek_nearest_name(word, names, count);
}

/* Print a usage error and return its exit status. called: "evenkeel generate". */
static int fail_unknown(const struct argp_option *options, const char *called, const char *word)
{
    char name[80];
    const char *command = strchr(called, ' ');
    int length = (int)strcspn(word, "=");
    snprintf(name, sizeof name, "%.*s", length - 2, word + 2);
    const char *nearest = near(options, name);
    return ek_cli_usage(command ? command + 1 : NULL,
                        nearest ? "unknown option '%.*s', did you mean '--%s'?"
                                : "unknown option '%.*s'",
                        length, word, nearest);
}

void ek_cli_parse(const struct argp *argp, int argc, char **argv, unsigned flags, void *input)
{
    int unknown = find_unknown(argp->options, argv);
    argp_err_exit_status = EK_EXIT_USAGE;
    /* Omit the note about arguments of long options. */
    setenv("ARGP_HELP_FMT", "no-dup-args-note", 0);
    if (unknown)
        exit(fail_unknown(argp->options, argv[0], argv[unknown]));
    if (argp_parse(argp, argc, argv, flags, NULL, input) == ENOMEM) {
        struct ek_error e;
        ek_fail(&e, EK_ENOMEM, "out of memory");
        exit(ek_cli_fail(&e));
    }
}

bool ek_cli_store(const struct ek_cli_slot *slots, int key, char *arg, void *arguments)
{
    while (slots->key && slots->key != key)
        slots++;
    char *member = (char *)arguments + slots->offset;
    if (slots->key && arg)
        memcpy(member, &arg, sizeof arg);
    else if (slots->key)
        *(bool *)member = true;
    return slots->key;
}

bool ek_cli_parse_writes(struct argp_state *state, const char *arg)
{
    bool features = !strcmp(arg, "features");
    if (!features && strcmp(arg, "scores") != 0)
        argp_error(state, "--writes: '%s' is not one of: scores, features", arg);
    return features;
}

uint64_t ek_cli_parse_integer(struct argp_state *state, const char *name, const char *arg,
                              uint64_t low, uint64_t high)
{
    uint64_t n = 0;
    if (ek_parse_u64(arg, EK_WHOLE, &n) || n < low || n > high)
        argp_error(state, "--%s needs a whole number from %llu to %llu, not '%s'", name,
                   (unsigned long long)low, (unsigned long long)high, arg);
    return n;
}

static bool is_among(const char *path, const char *const *names, size_t count)
{
    for (size_t i = 0; path && i < count; i++)
        if (!strcmp(path, names[i]))
            return true;
    return false;
}

bool ek_is_stdin(const char *path)
{
    static const char *const names[] = {"-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"};
    return is_among(path, names, sizeof names / sizeof *names);
}

bool ek_is_stdout(const char *path)
{
    static const char *const names[] = {"-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"};
    return is_among(path, names, sizeof names / sizeof *names);
}
