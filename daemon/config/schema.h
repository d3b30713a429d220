/* JSON Schemas (draft-07) of the files that people write, out of the tables that read them: what a
 * schema can know of a file is refused by it before `check` is asked.
 *
 * Scalars that a file may write as `${NAME}` (configuration) are taken as such. EK_ENOMEM.
 */
#ifndef EK_DAEMON_SCHEMA_H
#define EK_DAEMON_SCHEMA_H

#include "base/buf.h"

int ek_schema_config(struct ek_buf *out);
int ek_schema_rules(struct ek_buf *out);

#endif
