/* What the parts of the rules' reader share. Internal to lib/data. */
#ifndef EK_DATA_RULES_READ_H
#define EK_DATA_RULES_READ_H

#include "rules/rules.h"
#include "rules/rules_keys.h"
#include "yaml/yaml.h"

#define EK_COUNT(array) (sizeof(array) / sizeof *(array))

/* Before the name of a query feature, among the units of a feature. */
#define EK_RULES_QUERY_FEATURE "query_feature:"

struct ek_rules_source {
    const struct ek_yaml *y;
    const struct ek_manifest *m; /* NULL: only the form is checked */
    struct ek_rules *r;
    struct ek_error *e;           /* never NULL */
    struct ek_error_list *faults; /* NULL: the first fault ends the reading */
};

/* The error of a part that others do not depend on: kept, and 0, when reading shall go on. */
int ek_rules_go_on(const struct ek_rules_source *s, int code);
/* All keys of the mapping must be of `section` (data/rules_keys.h), and those that are required
 * there; `owner` is what the mapping is. */
int ek_rules_keys(const struct ek_rules_source *s, const struct ek_node *map, const char *section);
int ek_rules_need(const struct ek_rules_source *s, const struct ek_node *map, const char *section,
                  const char *owner);
/* Gives back what a rule has of its own. */
void ek_rules_release_rule(struct ek_feature_rule *rule);
int ek_rules_no_memory(const struct ek_rules_source *s);
/* A copy of the text; when `n` is NULL *out stays. */
int ek_rules_text(const struct ek_rules_source *s, const struct ek_node *n, const char *what,
                  char **out);
/* Values of a mapping by the path of their key in the table, which has their range. An absent key
 * leaves *out, and so does a fault when reading goes on. */
int ek_rules_text_of(const struct ek_rules_source *s, const struct ek_node *map, const char *path,
                     char **out);
int ek_rules_bool(const struct ek_rules_source *s, const struct ek_node *map, const char *path,
                  bool *out);
int ek_rules_double(const struct ek_rules_source *s, const struct ek_node *map, const char *path,
                    double *out);
int ek_rules_int(const struct ek_rules_source *s, const struct ek_node *map, const char *path,
                 int *out);
int ek_rules_duration(const struct ek_rules_source *s, const struct ek_node *map, const char *path,
                      int64_t *out_ms);
/* Number of the word among those of the table. */
int ek_rules_word(const struct ek_rules_source *s, const struct ek_node *map, const char *path,
                  int *out);
int ek_rules_choice(const struct ek_rules_source *s, const struct ek_node *n, const char *path,
                    int *out);
/* Number in the manifest's `features` of the feature that `n` names; -1 without a manifest. */
int ek_rules_feature(const struct ek_rules_source *s, const struct ek_node *n, int *out);
/* `n` must name one of `segments`. */
int ek_rules_dimension(const struct ek_rules_source *s, const struct ek_node *n);
/* A copy of the value of a segment, of at most EK_SEGMENT_BYTES_MAX. */
int ek_rules_value(const struct ek_rules_source *s, const struct ek_node *n, char **out);
/* `{dimension: value}` with a dimension of `segments`; both are copies. */
int ek_rules_segment(const struct ek_rules_source *s, const struct ek_node *n, char **dimension,
                     char **value);
/* The action that `n` names; feature -1 for all features, else it must allow the action. */
int ek_rules_action(const struct ek_rules_source *s, const struct ek_node *n, int feature,
                    enum ek_action *out);
/* The class that `n` names. */
int ek_rules_class(const struct ek_rules_source *s, const struct ek_node *n, enum ek_class *out);

/* `canary` over what stands in `c`. */
int ek_rules_read_canary(const struct ek_rules_source *s, const struct ek_node *map,
                         struct ek_canary *c);
/* `mode_in` into a rule that has none yet. */
int ek_rules_read_mode_in(const struct ek_rules_source *s, const struct ek_node *map,
                          struct ek_feature_rule *rule);
/* What `defaults` may say about every feature, into `rule`. */
int ek_rules_read_common(const struct ek_rules_source *s, const struct ek_node *map, int feature,
                         struct ek_feature_rule *rule);
/* The `features` mapping over the defaults that stand in the rules already. */
int ek_rules_read_features(const struct ek_rules_source *s, const struct ek_node *map);
int ek_rules_read_windows(const struct ek_rules_source *s, const struct ek_node *map);
/* What holds where the file says nothing. */
struct ek_window_rule ek_rules_windows_default(void);
/* The conversions and catalogues of `units`. Before the features, which name them. */
int ek_rules_read_units(const struct ek_rules_source *s, const struct ek_node *list);
int ek_rules_read_pins(const struct ek_rules_source *s, const struct ek_node *list);
int ek_rules_read_tests(const struct ek_rules_source *s, const struct ek_node *list);

#endif
