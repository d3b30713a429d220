/* Command-line arguments: argp with suggestions for unknown options. May exit the process, as argp.
 */
#ifndef EK_DAEMON_BASE_ARGUMENTS_H
#define EK_DAEMON_BASE_ARGUMENTS_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Parse as argp_parse with its `flags`. The error for an unknown option suggests the nearest one.
 * Exits with 0 after --help, EK_EXIT_USAGE after a usage error. */
void ek_cli_parse(const struct argp *argp, int argc, char **argv, unsigned flags, void *input);

/* Option with a value stored as given: offset of a string, or of a bool for an option without an
 * argument. A table ends with key 0. */
struct ek_cli_slot {
    int key;
    size_t offset;
};
/* Store the value of the option `key` in the member of `arguments` that `slots` assigns to it:
 * `arg` itself, which is not copied, or true without one. Return true if the table has the key. */
bool ek_cli_store(const struct ek_cli_slot *slots, int key, char *arg, void *arguments);

/* Return the integer value of an option; exits with a usage error if it is not in low .. high. */
uint64_t ek_cli_parse_integer(struct argp_state *state, const char *name, const char *arg,
                              uint64_t low, uint64_t high);
/* Return whether --writes is `features`, not `scores`; exits with a usage error for another text.
 */
bool ek_cli_parse_writes(struct argp_state *state, const char *arg);

/* Return true if a path means standard input. */
bool ek_is_stdin(const char *path);
/* Return true if a path (or NULL) means standard output. */
bool ek_is_stdout(const char *path);

#endif
