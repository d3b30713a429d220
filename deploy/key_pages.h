/* Reference pages and JSON Schemas, generated from the tables that the readers use. Host tools, for
 * build time only. Output errors stay in the stream. */
#ifndef EK_DEPLOY_KEY_PAGES_H
#define EK_DEPLOY_KEY_PAGES_H

#include <stdio.h>

/* Write docs/config.md, docs/rules.md, docs/metrics.md. */
void ek_page_config(FILE *out);
void ek_page_rules(FILE *out);
void ek_page_metrics(FILE *out);
/* Write JSON Schemas (draft-07) of the same files. A schema accepts what the reader accepts;
 * scalars of a configuration may be `${NAME}`. */
void ek_schema_config(FILE *out);
void ek_schema_rules(FILE *out);

#endif
