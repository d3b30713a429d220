#include "daemon/kafka/ticket_log.h"

#include "base/buf.h"

#include <string.h>

void ek_ticket_log(struct ek_log *l, enum ek_log_level level, const char *event,
                   const struct ek_ticket *t, const char *class, const char *text)
{
    struct ek_buf quoted;
    ek_buf_init(&quoted, 0);
    const char *told = ek_buf_json(&quoted, text, strlen(text)) ? NULL : ek_buf_string(&quoted);
    ek_log_write(l, level, event, "topic=%s partition=%d offset=%lld%s%s message=%s",
                 t->lane->topic, t->lane->partition, (long long)t->offset, class ? " class=" : "",
                 class ? class : "", told ? told : "\"\"");
    ek_buf_release(&quoted);
}
