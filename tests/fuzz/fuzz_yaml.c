/* YAML and the formats based on it: manifests, rules, units. */
#include "schema/manifest.h"
#include "rules/rules.h"
#include "schema/units.h"
#include "yaml/yaml.h"
#include "tests/fuzz/fuzz.h"

#include <string.h>

static const char FEATURES[] = "features:\n"
                               "  - {name: price, index: 1, role: item, routable: true}\n"
                               "  - {name: nights, index: 2, role: query}\n"
                               "  - {name: rating, index: 3, role: item}\n";

static size_t walk(const struct ek_node *n, int depth)
{
    size_t nodes = 1, children = n->kind == EK_NODE_MAPPING ? 2 * n->count : n->count;
    ek_fuzz_require(depth <= EK_YAML_DEPTH_MAX + 1, "nested deeper than the limit");
    ek_fuzz_require(n->line > 0 && n->column > 0, "a node without a place");
    if (n->kind == EK_NODE_SCALAR)
        return nodes + (strlen(n->text) > EK_YAML_BYTES_MAX);
    for (size_t i = 0; i < children; i++)
        nodes += walk(&n->children[i], depth + 1);
    return nodes;
}

/* A parser that continues after errors accepts the same texts, and reports errors by position. */
static void read_all_faults(const struct ek_manifest *m, const char *text, size_t size)
{
    struct ek_rules *rules;
    struct ek_error_list faults;
    struct ek_error e = {0};
    ek_error_list_init(&faults);
    int all = ek_rules_parse_all(&rules, m, "input", text, size, &faults, &e);
    if (!all)
        ek_rules_free(rules);
    ek_fuzz_require(!all || e.message[0], "refused without a word");
    for (size_t i = 1; i < faults.count; i++)
        ek_fuzz_require(faults.errors[i - 1].line <= faults.errors[i].line, "faults out of order");
    int first = ek_rules_parse(&rules, m, "input", text, size, NULL);
    if (!first)
        ek_rules_free(rules);
    ek_fuzz_require(!first == !all, "taken by one reading and refused by the other");
    ek_error_list_release(&faults);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct ek_manifest *known;
    struct ek_yaml *yaml;
    struct ek_manifest *manifest;
    struct ek_rules *rules;
    struct ek_units units;
    struct ek_error e = {0};
    const char *text = (const char *)data;
    if (!known)
        ek_fuzz_require(!ek_manifest_parse(&known, "m", FEATURES, strlen(FEATURES), NULL),
                        "the manifest cannot be read");
    if (ek_yaml_parse(&yaml, "input", text, size, &e)) {
        ek_fuzz_require(e.message[0] != 0, "refused without a word");
    } else {
        if (ek_yaml_root(yaml))
            ek_fuzz_require(walk(ek_yaml_root(yaml), 1) <= EK_YAML_NODES_MAX, "too many nodes");
        ek_yaml_free(yaml);
    }
    if (!ek_manifest_parse(&manifest, "input", text, size, NULL))
        ek_manifest_free(manifest);
    if (!ek_rules_parse(&rules, known, "input", text, size, NULL))
        ek_rules_free(rules);
    read_all_faults(known, text, size);
    if (!ek_rules_manifest(&manifest, "input", text, size, NULL))
        ek_manifest_free(manifest);
    ek_units_init(&units);
    if (!ek_units_parse(&units, "input", text, size, NULL, NULL))
        ek_fuzz_require(!units.incomplete, "a catalog without a fault that lacks something");
    ek_units_release(&units);
    return 0;
}
