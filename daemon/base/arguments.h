/* How every command reads its words: argp, and what people expect besides.
 *
 * Threads: one; it may end the process, as argp does.
 */
#ifndef EK_DAEMON_BASE_ARGUMENTS_H
#define EK_DAEMON_BASE_ARGUMENTS_H

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* As argp_parse, whose `flags` these are. An option that there is not is answered with the nearest
 * one that there is. --help ends with 0, any fault with EK_EXIT_USAGE. */
void ek_cli_parse(const struct argp *argp, int argc, char **argv, unsigned flags, void *input);

/* An option whose value is kept as given: the offset of a text, or of a bool that an option without
 * an argument sets. A table ends with a key of 0. */
struct ek_cli_slot {
    int key;
    size_t offset;
};
/* Store the value of an option in the struct of arguments. Returns whether the table has its key.
 */
bool ek_cli_store(const struct ek_cli_slot *slots, int key, char *arg, void *arguments);

/* The whole number that an option is given, within low and high; else the usage error. */
uint64_t ek_cli_parse_integer(struct argp_state *state, const char *name, const char *arg,
                              uint64_t low, uint64_t high);

/* Whether a path, NULL for none, means standard output. */
bool ek_is_stdout(const char *path);

#endif
