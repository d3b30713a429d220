/* The guard inside a service of one's own: reads messages of a file, forwards each as the guard
 * wants it, and tells what happened.
 *
 *     cc embed.c -o embed $(pkg-config --cflags --libs evenkeel)
 *     ./embed features.yaml profile.ekp rules.yaml model.safetensors < lists.jsonl > ranked.jsonl
 *
 * A message is a line here; JSON therefore. A service has its own way to get one, and a clock. */
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

/* Findings and plans, as JSON. They are there until they are fetched. */
static void tell(struct ek_guard *guard)
{
    const char *json;
    while (ek_guard_next_event(guard, &json) > 0)
        fprintf(stderr, "%s\n", json);
}

/* What cannot be read goes on as it came, and so does what cannot be scored. */
static void pass(struct ek_guard *guard, const char *message, size_t length, struct ek_error *e)
{
    size_t out_length = length;
    const void *out = NULL;
    if (ek_guard_observe(guard, message, length, 0, e) == 0)
        out = ek_guard_score(guard, &out_length, e);
    if (!out)
        fprintf(stderr, "as it came: %s\n", ek_error_message(e));
    fwrite(out ? out : message, 1, out_length, stdout);
    putchar('\n');
    tell(guard);
}

static int run(struct ek_guard *guard, struct ek_error *e)
{
    char *line = malloc(LINE_BYTES);
    unsigned long routed = 0, lists = 0;
    while (line && fgets(line, LINE_BYTES, stdin)) {
        pass(guard, line, strcspn(line, "\n"), e);
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
