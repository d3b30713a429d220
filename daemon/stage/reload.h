/* One reload: the files of a configuration are read again, and taken into a running stage when
 * nothing is wrong with them.
 *
 * Owner: the caller, ek_reload_release. One thread at a time.
 */
#ifndef EK_DAEMON_RELOAD_H
#define EK_DAEMON_RELOAD_H

#include "daemon/base/log.h"
#include "base/error_list.h"
#include "daemon/config/config.h"
#include "daemon/stage/stage.h"
#include "daemon/config/token.h"

struct ek_reload {
    bool done;                   /* else nothing has changed, and there are faults */
    struct ek_error_list faults; /* all of them, with places */
    struct ek_error_list notes;  /* what takes a restart */
    enum ek_state_fit fit;       /* what of the guard goes on */
    enum ek_log_level log_level; /* that the configuration has now */
    struct ek_tokens *tokens;    /* as the file has them now; NULL: none is named */
};

/* `running`: the configuration of the stage, from a file, which stays in force but for what is
 * reloadable. begin_anew: rules with other `segments` or another `baseline` are no fault. who:
 * asked for it; NULL: not said. */
void ek_reload_run(struct ek_reload *r, struct ek_stage *stage, const struct ek_config *running,
                   bool begin_anew, const char *who);
void ek_reload_release(struct ek_reload *r);

#endif
