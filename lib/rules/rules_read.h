/* Readers of single keys of the rules, used by their table. Internal to lib/rules.
 *
 * All have type ek_key_read: `n` is the value of `k`; the context of the source is a struct
 * ek_rules_context.
 */
#ifndef EK_RULES_RULES_READ_H
#define EK_RULES_RULES_READ_H

#include "rules/rules.h"
#include "rules/rules_keys.h"

/* Prefix of a query feature in the units of a feature. */
#define EK_RULES_QUERY_FEATURE "query_feature:"

/* Bases of the table. */
enum { EK_IN_RULES, EK_IN_RULE, EK_IN_PIN, EK_IN_TEST };

struct ek_rules_context {
    const struct ek_manifest *m; /* NULL: check only the form */
    int feature;                 /* index in the manifest of the feature being read; -1: none */
    bool injects_nothing;        /* `inject: none` in the test being read */
};

/* Free the members of a rule, not the rule itself. */
void ek_rules_release_rule(struct ek_feature_rule *rule);
/* Set the rules of all features to the defaults, except `mode_in`. */
void ek_rules_set_features(struct ek_rules *r);

/* Return the rules that a key source fills. The source does not own them. */
struct ek_rules *ek_rules_from_node(const struct ek_key_source *s);
/* Return the manifest of the rules being read, not owned by the source, or NULL if only the form is
 * checked. */
const struct ek_manifest *ek_rules_make_manifest(const struct ek_key_source *s);
/* Set *out to the index in the manifest's `features` of the feature that `n` names; -1 without a
 * manifest. Return 0, or EK_ECONFIG at the value; *out is then unchanged. */
int ek_rules_read_feature_name(struct ek_key_source *s, const struct ek_node *n, int *out);
/* Read an action into *out and check that the feature (-1: any) allows it. Return 0, or EK_ECONFIG
 * with the position of the value; *out is then unchanged. */
int ek_rules_read_action(struct ek_key_source *s, const struct ek_node *n, int feature,
                         enum ek_action *out);
/* Read `{dimension: value}` with a dimension of `segments` into new strings, which the caller frees
 * also on error; they must be NULL before. Return 0, EK_ECONFIG or EK_ENOMEM. */
int ek_rules_read_cell(struct ek_key_source *s, const struct ek_node *n, char **dimension,
                       char **value);

ek_key_read ek_rules_read_segments, ek_rules_read_units;
ek_key_read ek_rules_read_defaults, ek_rules_read_mode, ek_rules_read_mode_in, ek_rules_read_canary,
    ek_rules_read_reaction, ek_rules_read_dedup_key, ek_rules_read_stratify_by;
ek_key_read ek_rules_read_features, ek_rules_read_feature_units;

#endif
