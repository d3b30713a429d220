#include "yaml/yaml_problem.h"

#include <stddef.h>
#include <string.h>

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
    {"did not find expected hexdecimal number",
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

const struct ek_yaml_problem *ek_yaml_problem_of(const char *theirs)
{
    for (size_t i = 0; theirs && i < sizeof PROBLEMS / sizeof *PROBLEMS; i++)
        if (!strcmp(PROBLEMS[i].theirs, theirs))
            return &PROBLEMS[i];
    return &UNKNOWN;
}
