#include "daemon/told.h"

#include "data/yaml.h"

#include <inttypes.h>
#include <string.h>

enum { COLUMNS = 79, INDENT = 4 };

static struct ek_told_finding *find(struct ek_told *t, const char *episode)
{
    for (int i = 0; i < t->count; i++)
        if (!strcmp(t->finding[i].episode, episode))
            return &t->finding[i];
    return NULL;
}

static void take(struct ek_told *t, const char *episode, const char *state, const char *text)
{
    struct ek_told_finding *f = find(t, episode);
    int confirmed = !strcmp(state, "confirmed");
    if (!f && confirmed && t->count == EK_TOLD_MAX)
        t->more++;
    else if (!f && confirmed)
        f = &t->finding[t->count++];
    if (!f)
        return;
    if (confirmed || !strcmp(state, "updated")) {
        snprintf(f->episode, sizeof f->episode, "%s", episode);
        snprintf(f->text, sizeof f->text, "%s", text);
    } else {
        f->end = !strcmp(state, "recovered") ? "over" : "taken back";
    }
}

void ek_told_event(struct ek_told *t, const char *json)
{
    static const char finding[] = "{\"event\":\"finding\"";
    struct ek_yaml *y;
    if (strncmp(json, finding, sizeof finding - 1) != 0 ||
        ek_yaml_parse(&y, "event", json, strlen(json), NULL))
        return;
    const struct ek_node *map = ek_yaml_root(y), *episode = ek_node_get(map, "episode"),
                         *state = ek_node_get(map, "state"), *text = ek_node_get(map, "text");
    if (episode && state && text && episode->text && state->text && text->text)
        take(t, episode->text, state->text, text->text);
    ek_yaml_free(y);
}

/* Word by word; *column is where the line stands, the first word of a paragraph is never broken
 * away. */
static void print_words(const char *text, int *column, FILE *to)
{
    while (*text) {
        int length = (int)strcspn(text, " ");
        if (*column > INDENT && *column + 1 + length > COLUMNS) {
            fprintf(to, "\n%*s", INDENT + 2, "");
            *column = INDENT + 2;
        } else if (*column > INDENT) {
            *column += fprintf(to, " ");
        }
        *column += fprintf(to, "%.*s", length, text);
        text += length;
        text += strspn(text, " ");
    }
}

void ek_told_print(const struct ek_told *t, FILE *to)
{
    for (int i = 0; i < t->count; i++) {
        int column = fprintf(to, "%*s", INDENT, "");
        print_words(t->finding[i].text, &column, to);
        if (t->finding[i].end) {
            print_words("-", &column, to);
            print_words(t->finding[i].end, &column, to);
        }
        fputc('\n', to);
    }
    if (t->more)
        fprintf(to, "%*sand %" PRIu64 " more\n", INDENT, "", t->more);
}
