/* The demonstration's pipeline: an embedded broker, the stage in a thread of its own, and a client
 * at either end.
 *
 * Topics scored -> ranked, one partition each, so that messages come back in the order sent; dead
 * letters have a topic too. Events come from the stage itself. Owner: the caller,
 * ek_demo_pipeline_close. One thread.
 */
#ifndef EK_DAEMON_DEMO_DEMO_PIPELINE_H
#define EK_DAEMON_DEMO_DEMO_PIPELINE_H

#include "daemon/demo/demo_assets.h"
#include "daemon/kafka/tool_client.h"

struct ek_demo_pipeline;

/* The stage runs and has its partition when this returns. Errors of the parts; EK_ESTATE when it
 * was stopped. */
int ek_demo_pipeline_open(struct ek_demo_pipeline **out, const struct ek_demo_assets *a,
                          struct ek_demo_stop stop, struct ek_error *e);
/* Stops the stage and waits for it; its error counts when it failed. Always frees. */
int ek_demo_pipeline_close(struct ek_demo_pipeline *p, struct ek_error *e);

/* Shows the stage at an address (`http.listen`), where nobody can change anything. *port: the one
 * that was taken. */
int ek_demo_pipeline_serve(struct ek_demo_pipeline *p, const char *listen, int *port,
                           struct ek_error *e);

int ek_demo_pipeline_send(struct ek_demo_pipeline *p, const void *bytes, size_t length,
                          struct ek_error *e);
/* A list that came back within wait_ms: *got = 0 when there is none. EK_EIO, and the error of the
 * stage when that has ended. */
int ek_demo_pipeline_list(struct ek_demo_pipeline *p, struct ek_kafka_record *record, int wait_ms,
                          int *got, struct ek_error *e);
/* The next event of the stage, the caller's; NULL: there is none. */
struct ek_event *ek_demo_pipeline_event(struct ek_demo_pipeline *p);
uint64_t ek_demo_pipeline_dead_letter(struct ek_demo_pipeline *p);

#endif
