/* Pages of the reference and JSON Schemas out of the tables that the program reads files by.
 *
 * Host tools: build time only. Output errors show in the stream.
 */
#ifndef EK_DEPLOY_KEY_PAGES_H
#define EK_DEPLOY_KEY_PAGES_H

#include <stdio.h>

/* docs/config.md, docs/rules.md, docs/metrics.md. */
void ek_page_config(FILE *out);
void ek_page_rules(FILE *out);
void ek_page_metrics(FILE *out);
/* JSON Schemas (draft-07) of the same files. A schema takes what the reader takes; scalars of a
 * configuration may be `${NAME}`. */
void ek_schema_config(FILE *out);
void ek_schema_rules(FILE *out);

#endif
