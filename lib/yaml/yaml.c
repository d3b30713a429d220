/* YAML parser that builds the tree; node.c reads it. */
#include "yaml/yaml.h"

#include "base/alloc.h"
#include "base/file.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

static const struct ek_yaml_problem PROBLEMS[] = {
    {"could not find expected ':'",
     "this key has no colon: write 'key: value', with a space behind the colon", true},
    {"did not find expected key",
     "this does not belong to the mapping around it: put each 'key: value' on a line of its own, "
     "with the indent of the others",
     false},
    {"did not find expected '-' indicator",
     "this does not belong to the list around it: put each entry on a line of its own, '- ' with "
     "the indent of the others",
     false},
    {"did not find expected ',' or ']'",
     "the list in [...] goes on without a comma, or has no end: put ',' between entries and ']' "
     "behind the last",
     false},
    {"did not find expected ',' or '}'",
     "the mapping in {...} goes on without a comma, or has no end: put ',' between pairs and '}' "
     "behind the last",
     false},
    {"did not find expected node content",
     "a value is expected here: write one, or '\"\"' for none", false},
    {"found unexpected end of stream", "this quote has no end: put one behind the text", true},
    {"found unexpected document indicator",
     "this quote has no end before the next document: put one behind the text", true},
    {"found unknown escape character",
     "no such escape in double quotes: use single quotes, or write \\\\ for a backslash", false},
    {"did not find expected hexadecimal number",
     "no such escape in double quotes: use single quotes, or write \\\\ for a backslash", false},
    {"found invalid Unicode character escape code", "no such character: use the character itself",
     false},
    {"mapping values are not allowed in this context",
     "a colon where no key can be: put a text that has one in quotes, and each 'key: value' on a "
     "line of its own with the indent of the others",
     false},
    {"mapping keys are not allowed in this context",
     "no key can begin here: put it on a line of its own", false},
    {"block sequence entries are not allowed in this context",
     "no list can begin here: put '- ' on a line of its own, or write [...]", false},
    {"found character that cannot start any token",
     "no value can begin like this: put it in quotes, and indent by spaces, not tabs", false},
    {"found a tab character that violates indentation",
     "a tab where an indent is expected: use spaces", false},
    {"found a tab character where an indentation space is expected",
     "a tab where an indent is expected: use spaces", false},
    {"found an indentation indicator equal to 0", "no indent can be 0: write '|' or '>' alone",
     false},
    {"did not find expected comment or line break",
     "text behind the sign of a block: put it on the next line", false},
    {"found unexpected ':'", "a colon in a plain text: put the text in quotes", false},
    {"did not find expected alphabetic or numeric character",
     "anchors ('&name') and aliases ('*name') are not supported: write the value out, or put it in "
     "quotes",
     false},
    {"found undefined tag handle", "tags ('!name') are not supported: put the text in quotes",
     false},
    {"did not find expected whitespace or line break",
     "tags ('!name') are not supported: put the text in quotes", false},
    {"did not find expected tag URI", "tags ('!name') are not supported: put the text in quotes",
     false},
    {"did not find expected '!'", "tags ('!name') are not supported: put the text in quotes",
     false},
    {"did not find the expected '>'", "tags ('!name') are not supported: put the text in quotes",
     false},
    {"found unknown directive name", "directives ('%name') are not supported: take this line out",
     false},
    {"found incompatible YAML document", "this is YAML of another version: take this line out",
     false},
    {"did not find expected <document start>",
     "a second value begins here: put all of the file into one mapping (key: value)", false},
    {"control characters are not allowed", "a control character: take it out", false},
};

static const struct ek_yaml_problem UNKNOWN = {
    "", "no valid YAML: put texts in quotes, each key on a line of its own, and indent by spaces",
    false};

/* Return the entry of a libyaml message, or the generic one. */
static const struct ek_yaml_problem *yaml_problem_of(const char *theirs)
{
    for (size_t i = 0; theirs && i < sizeof PROBLEMS / sizeof *PROBLEMS; i++)
        if (!strcmp(PROBLEMS[i].theirs, theirs))
            return &PROBLEMS[i];
    return &UNKNOWN;
}

struct ek_yaml {
    char *name;
    struct ek_node root;
};

struct builder {
    struct ek_yaml *y;
    const char *text;
    yaml_parser_t parser;
    size_t nodes;
    struct ek_error *e;           /* never NULL */
    struct ek_error_list *faults; /* NULL: a duplicate key ends the parse */
};

static int fail_at_mark(struct builder *b, enum ek_code code, yaml_mark_t mark, const char *message)
{
    return ek_fail_at(b->e, code, b->y->name, (long)mark.line + 1, (long)mark.column + 1, "%s",
                      message);
}

/* libyaml reports only the byte offset. */
static int fail_at_byte(struct builder *b, size_t offset)
{
    long line = 1, column = 1;
    for (size_t i = 0; i < offset; i++) {
        bool newline = b->text[i] == '\n';
        line += newline;
        column = newline ? 1 : column + 1;
    }
    const char *problem = b->parser.problem ? b->parser.problem : "";
    if (strstr(problem, "UTF-8"))
        return ek_fail_at(b->e, EK_ECONFIG, b->y->name, line, column,
                          "no valid UTF-8 text: save the file as UTF-8");
    return ek_fail_at(b->e, EK_ECONFIG, b->y->name, line, column, "%s",
                      yaml_problem_of(problem)->ours);
}

/* Fail with our message, and the start of the construct if it is elsewhere. */
static int fail_at_problem(struct builder *b)
{
    const yaml_parser_t *p = &b->parser;
    const struct ek_yaml_problem *problem = yaml_problem_of(p->problem);
    yaml_mark_t at = p->problem_mark, begin = p->context_mark;
    bool elsewhere = p->context && (begin.line != at.line || begin.column != at.column);
    if (elsewhere && problem->at_begin)
        return fail_at_mark(b, EK_ECONFIG, begin, problem->ours);
    if (!elsewhere)
        return fail_at_mark(b, EK_ECONFIG, at, problem->ours);
    return ek_fail_at(b->e, EK_ECONFIG, b->y->name, (long)at.line + 1, (long)at.column + 1,
                      "%s (it begins at %ld:%ld)", problem->ours, (long)begin.line + 1,
                      (long)begin.column + 1);
}

static int next_event(struct builder *b, yaml_event_t *event)
{
    if (yaml_parser_parse(&b->parser, event))
        return EK_OK;
    if (b->parser.error == YAML_MEMORY_ERROR)
        return ek_fail(b->e, EK_ENOMEM, "out of memory");
    return b->parser.error == YAML_READER_ERROR ? fail_at_byte(b, b->parser.problem_offset)
                                                : fail_at_problem(b);
}

static int build_node(struct builder *b, const yaml_event_t *event, int depth, struct ek_node *n);

/* Return the line after a mark, which is one past the last character. */
static long line_below(yaml_mark_t end)
{
    return (long)end.line + 1 + (end.column > 0);
}

/* Copy a scalar. */
static int build_scalar(struct builder *b, const yaml_event_t *event, struct ek_node *n)
{
    const char *text = (const char *)event->data.scalar.value;
    size_t length = event->data.scalar.length;
    if (memchr(text, 0, length))
        return fail_at_mark(b, EK_ECONFIG, event->start_mark,
                            "a text with a zero byte: take it out");
    char *copy = ek_strndup(text, length);
    if (!copy)
        return ek_fail(b->e, EK_ENOMEM, "out of memory");
    n->kind = EK_NODE_SCALAR;
    n->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    n->end_line = line_below(event->end_mark);
    if (n->end_line <= n->line)
        n->end_line = n->line + 1;
    n->text = copy;
    return EK_OK;
}

/* Append a zeroed child; NULL if out of memory. `used` counts keys and values. */
static struct ek_node *add_child(struct ek_node *n, size_t *used, size_t *capacity)
{
    if (*used == *capacity) {
        size_t want = *capacity ? *capacity * 2 : 8;
        struct ek_node *children = ek_realloc(n->children, want, sizeof *children);
        if (!children)
            return NULL;
        memset(children + *used, 0, (want - *used) * sizeof *children);
        n->children = children;
        *capacity = want;
    }
    struct ek_node *child = &n->children[(*used)++];
    n->count = n->kind == EK_NODE_MAPPING ? (*used + 1) / 2 : *used;
    return child;
}

/* Free a node's content and zero it. */
static void release(struct ek_node *n)
{
    size_t count = n->kind == EK_NODE_MAPPING ? 2 * n->count : n->count;
    for (size_t i = 0; n->children && i < count; i++)
        release(&n->children[i]);
    ek_free(n->children);
    ek_free((char *)(uintptr_t)n->text);
    *n = (struct ek_node){0};
}

static int by_text(const void *a, const void *b)
{
    struct ek_node *const *x = a, *const *y = b;
    int order = strcmp((*x)->text, (*y)->text);
    return order ? order : (*x < *y ? -1 : *x > *y);
}

/* Remove pairs without a key. */
static void close_gaps(struct ek_node *n)
{
    size_t kept = 0;
    for (size_t i = 0; i < n->count; i++) {
        if (!n->children[2 * i].text)
            continue;
        n->children[2 * kept] = n->children[2 * i];
        n->children[2 * kept + 1] = n->children[2 * i + 1];
        kept++;
    }
    n->count = kept;
}

/* Report and remove a duplicate key, so that each key remains once. */
static int drop_duplicate(struct builder *b, const struct ek_node *first, struct ek_node *key)
{
    int rc =
        ek_fail_at(b->e, EK_ECONFIG, b->y->name, key->line, key->column,
                   "duplicate key '%s', first at %ld:%ld", key->text, first->line, first->column);
    rc = ek_error_list_collect(b->faults, rc, b->e);
    if (rc)
        return rc;
    release(key);
    release(key + 1);
    return EK_OK;
}

/* Sort, because a mapping may have a hundred thousand keys. */
static int check_duplicates(struct builder *b, struct ek_node *n)
{
    if (n->count < 2)
        return EK_OK;
    struct ek_node **keys = ek_calloc(n->count, sizeof(struct ek_node *));
    if (!keys)
        return ek_fail(b->e, EK_ENOMEM, "out of memory");
    for (size_t i = 0; i < n->count; i++)
        keys[i] = &n->children[2 * i];
    qsort(keys, n->count, sizeof(struct ek_node *), by_text);
    int rc = EK_OK;
    bool dropped = false;
    const struct ek_node *first = keys[0];
    for (size_t i = 1; !rc && i < n->count; i++) {
        bool again = !strcmp(first->text, keys[i]->text);
        if (again)
            rc = drop_duplicate(b, first, keys[i]);
        else
            first = keys[i];
        dropped |= again && !rc;
    }
    ek_free(keys);
    if (dropped)
        close_gaps(n);
    return rc;
}

/* libyaml ends block collections at the next token, after comments; use the last child instead. An
 * empty value has the same problem. */
static void end_collection(struct ek_node *n, const yaml_event_t *event)
{
    size_t count = n->kind == EK_NODE_MAPPING ? 2 * n->count : n->count;
    bool brackets = event->end_mark.index > event->start_mark.index;
    n->end_line = n->line + 1;
    for (size_t i = 0; i < count; i++) {
        struct ek_node *child = &n->children[i];
        if (n->kind == EK_NODE_MAPPING && i % 2 && child->text && !*child->text && !child->quoted)
            child->end_line = child[-1].end_line;
        if (child->end_line > n->end_line)
            n->end_line = child->end_line;
    }
    if (brackets)
        n->end_line = line_below(event->end_mark);
}

static int build_children(struct builder *b, int depth, struct ek_node *n)
{
    size_t used = 0, capacity = 0;
    bool mapping = n->kind == EK_NODE_MAPPING;
    for (;;) {
        yaml_event_t event;
        int rc = next_event(b, &event);
        if (rc)
            return rc;
        bool end = event.type == YAML_SEQUENCE_END_EVENT || event.type == YAML_MAPPING_END_EVENT;
        struct ek_node *child = end ? NULL : add_child(n, &used, &capacity);
        if (!end && !child)
            rc = ek_fail(b->e, EK_ENOMEM, "out of memory");
        else if (!end && mapping && used % 2 && event.type != YAML_SCALAR_EVENT &&
                 event.type != YAML_ALIAS_EVENT)
            rc = fail_at_mark(b, EK_ECONFIG, event.start_mark, "a key must be a plain word");
        else if (!end)
            rc = build_node(b, &event, depth + 1, child);
        else
            end_collection(n, &event);
        yaml_event_delete(&event);
        if (rc)
            return rc;
        if (end)
            return mapping ? check_duplicates(b, n) : EK_OK;
    }
}

static const yaml_char_t *anchor_of(const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_SCALAR_EVENT:
        return event->data.scalar.anchor;
    case YAML_SEQUENCE_START_EVENT:
        return event->data.sequence_start.anchor;
    default:
        return event->data.mapping_start.anchor;
    }
}

static const yaml_char_t *tag_of(const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_SCALAR_EVENT:
        return event->data.scalar.tag;
    case YAML_SEQUENCE_START_EVENT:
        return event->data.sequence_start.tag;
    default:
        return event->data.mapping_start.tag;
    }
}

/* Reject constructs that could make the tree larger than its file. */
static int check_event(struct builder *b, const yaml_event_t *event, int depth)
{
    if (event->type == YAML_ALIAS_EVENT)
        return fail_at_mark(b, EK_ECONFIG, event->start_mark,
                            "aliases ('*name') are not supported, write the value out");
    if (anchor_of(event))
        return fail_at_mark(
            b, EK_ECONFIG, event->start_mark,
            "anchors ('&name') are not supported, write the value out where it is used");
    if (tag_of(event))
        return fail_at_mark(b, EK_ECONFIG, event->start_mark,
                            "tags ('!name') are not supported: put the text in quotes");
    if (depth > EK_YAML_DEPTH_MAX)
        return ek_fail_at(b->e, EK_ECONFIG, b->y->name, (long)event->start_mark.line + 1,
                          (long)event->start_mark.column + 1, "nested deeper than %d levels",
                          EK_YAML_DEPTH_MAX);
    if (++b->nodes > EK_YAML_NODES_MAX)
        return ek_fail_at(b->e, EK_ECONFIG, b->y->name, (long)event->start_mark.line + 1,
                          (long)event->start_mark.column + 1, "more than %d values",
                          EK_YAML_NODES_MAX);
    return EK_OK;
}

static int build_node(struct builder *b, const yaml_event_t *event, int depth, struct ek_node *n)
{
    int rc = check_event(b, event, depth);
    if (rc)
        return rc;
    n->line = (long)event->start_mark.line + 1;
    n->column = (long)event->start_mark.column + 1;
    switch (event->type) {
    case YAML_SCALAR_EVENT:
        return build_scalar(b, event, n);
    case YAML_SEQUENCE_START_EVENT:
        n->kind = EK_NODE_SEQUENCE;
        return build_children(b, depth, n);
    default:
        n->kind = EK_NODE_MAPPING;
        return build_children(b, depth, n);
    }
}

/* Skip one event; sets *found if it has the type. A second document is an error. */
static int skip_to(struct builder *b, yaml_event_type_t type, bool *found)
{
    yaml_event_t event;
    int rc = next_event(b, &event);
    if (rc)
        return rc;
    *found = event.type == type;
    if (!*found && event.type == YAML_DOCUMENT_START_EVENT)
        rc = fail_at_mark(b, EK_ECONFIG, event.start_mark,
                          "a second document in one file: make it a file of its own");
    yaml_event_delete(&event);
    return rc;
}

static int build_document(struct builder *b)
{
    bool found;
    int rc = skip_to(b, YAML_STREAM_START_EVENT, &found);
    if (!rc)
        rc = skip_to(b, YAML_DOCUMENT_START_EVENT, &found);
    if (!rc && !found)
        rc = ek_fail_at(b->e, EK_ECONFIG, b->y->name, 1, 1,
                        "the file is empty: put its keys there, of rules 'version: 1' is enough");
    if (rc)
        return rc;
    yaml_event_t event;
    rc = next_event(b, &event);
    if (rc)
        return rc;
    rc = build_node(b, &event, 1, &b->y->root);
    yaml_event_delete(&event);
    if (!rc)
        rc = skip_to(b, YAML_DOCUMENT_END_EVENT, &found);
    if (!rc)
        rc = skip_to(b, YAML_STREAM_END_EVENT, &found);
    return rc;
}

void ek_yaml_free(struct ek_yaml *y)
{
    if (!y)
        return;
    release(&y->root);
    ek_free(y->name);
    ek_free(y);
}

/* libyaml counts a byte order mark as a column. */
static size_t mark_length(const char *text, size_t length)
{
    static const char mark[] = "\xef\xbb\xbf";
    return length >= sizeof mark - 1 && !memcmp(text, mark, sizeof mark - 1) ? sizeof mark - 1 : 0;
}

int ek_yaml_parse_all(struct ek_yaml **out, const char *name, const char *text, size_t length,
                      struct ek_error_list *faults, struct ek_error *e)
{
    struct ek_error unwanted;
    text = text ? text : ""; /* libyaml requires a non-NULL input */
    size_t mark = mark_length(text, length);
    text += mark;
    length -= mark;
    if (length > EK_YAML_BYTES_MAX)
        return ek_fail_at(e, EK_ECONFIG, name, 0, 0, "the file has more than %d bytes",
                          EK_YAML_BYTES_MAX);
    struct builder b = {.y = ek_calloc(1, sizeof(struct ek_yaml)),
                        .text = text,
                        .e = e ? e : &unwanted,
                        .faults = faults};
    if (b.y)
        b.y->name = ek_strdup(name);
    if (!b.y || !b.y->name || !yaml_parser_initialize(&b.parser)) {
        ek_yaml_free(b.y);
        return ek_fail(e, EK_ENOMEM, "out of memory");
    }
    yaml_parser_set_encoding(&b.parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&b.parser, (const unsigned char *)text, length);
    int rc = build_document(&b);
    yaml_parser_delete(&b.parser);
    if (rc && faults && faults->count && !ek_error_list_collect(faults, rc, b.e))
        rc = ek_error_list_first(faults, rc, b.e);
    if (rc)
        ek_yaml_free(b.y);
    else
        *out = b.y;
    return rc;
}

int ek_yaml_parse(struct ek_yaml **out, const char *name, const char *text, size_t length,
                  struct ek_error *e)
{
    return ek_yaml_parse_all(out, name, text, length, NULL, e);
}

int ek_yaml_load(struct ek_yaml **out, const char *path, struct ek_error *e)
{
    struct ek_buf text;
    ek_buf_init(&text, EK_YAML_BYTES_MAX);
    int rc = ek_file_read(path, &text, e);
    if (!rc)
        rc = ek_yaml_parse(out, strcmp(path, "-") != 0 ? path : "stdin", (const char *)text.data,
                           text.length, e);
    ek_buf_release(&text);
    return rc;
}

const struct ek_node *ek_yaml_root(const struct ek_yaml *y)
{
    return &y->root;
}

const char *ek_yaml_name(const struct ek_yaml *y)
{
    return y ? y->name : NULL;
}
