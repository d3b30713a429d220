/* Embedding of a guard: read messages from a file, forward each with the scores of the guard, and
 * print its events.
 *
 *     cc embed.c -o embed $(pkg-config --cflags --libs evenkeel)
 *     ./embed features.yaml profile.ekp rules.yaml model.safetensors < lists.jsonl > ranked.jsonl
 * A message is a line of JSON here. A service has another source of messages, and a clock. */
#include <evenkeel.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_BYTES = 4 << 20 };

static int fail(const char *what, const struct ek_error *e)
{
    fprintf(stderr, "%s: %s\n", what, ek_error_message(e));
    return EXIT_FAILURE;
}

/* Print pending events, such as findings and plans, as JSON. */
static void print_events(struct ek_guard *guard)
{
    const char *json;
    while (ek_guard_next_event(guard, &json) > 0)
        fprintf(stderr, "%s\n", json);
}

/* Forward a message; unchanged if it cannot be decoded or scored. */
static void forward(struct ek_guard *guard, const char *message, size_t length, struct ek_error *e)
{
    size_t out_length = length;
    const void *out = NULL;
    if (ek_guard_observe(guard, message, length, 0, e) == 0)
        out = ek_guard_score(guard, &out_length, e);
    if (!out)
        fprintf(stderr, "forwarded unchanged: %s\n", ek_error_message(e));
    fwrite(out ? out : message, 1, out_length, stdout);
    putchar('\n');
    print_events(guard);
}

static int run(struct ek_guard *guard, struct ek_error *e)
{
    char *line = malloc(LINE_BYTES);
    unsigned long routed = 0, lists = 0;
    while (line && fgets(line, LINE_BYTES, stdin)) {
        forward(guard, line, strcspn(line, "\n"), e);
        routed += strcmp(ek_guard_action(guard), "routed") == 0;
        lists++;
    }
    fprintf(stderr, "%lu lists, %lu routed, plan %llu\n", lists, routed,
            (unsigned long long)ek_guard_plan_version(guard));
    free(line);
    return ferror(stdin) || fflush(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    struct ek_error *e = ek_error_new();
    struct ek_assets *assets = NULL;
    struct ek_guard *guard = NULL;
    int status = EXIT_FAILURE;
    if (argc != 5)
        fputs("usage: embed MANIFEST PROFILE RULES MODEL < LISTS\n", stderr);
    else if (ek_assets_load(&assets, argv[1], argv[2], argv[3], argv[4], e))
        fail("assets", e);
    else if (ek_guard_new(&guard, assets, e))
        fail("guard", e);
    else
        status = run(guard, e);
    ek_guard_free(guard);
    ek_assets_free(assets);
    ek_error_free(e);
    return status;
}
