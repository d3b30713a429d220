/* Pipeline of the demo: an embedded broker, a stage in its own thread, a producer and a consumer.
 *
 * Topics `scored` and `ranked` have one partition, so that messages return in order; there is a
 * dead-letter topic. Events come directly from the stage. One thread.
 */
#ifndef EK_DAEMON_DEMO_DEMO_PIPELINE_H
#define EK_DAEMON_DEMO_DEMO_PIPELINE_H

#include "daemon/demo/demo_assets.h"
#include "daemon/kafka/tool_client.h"

struct ek_demo_pipeline;

/* Return when the stage runs and its partition is assigned. Return errors of the parts, or
 * EK_ESTATE if canceled. */
int ek_demo_pipeline_open(struct ek_demo_pipeline **out, const struct ek_demo_assets *a,
                          struct ek_demo_stop stop, struct ek_error *e);
/* Stop the stage and wait for its end; return its error. Always frees. */
int ek_demo_pipeline_close(struct ek_demo_pipeline *p, struct ek_error *e);

/* Start the HTTP API at `listen` (`http.listen`) without changes. *port: the port in use. */
int ek_demo_pipeline_serve(struct ek_demo_pipeline *p, const char *listen, int *port,
                           struct ek_error *e);

int ek_demo_pipeline_send(struct ek_demo_pipeline *p, const void *bytes, size_t length,
                          struct ek_error *e);
/* Wait at most wait_ms for an output message; *got = 0: none. Return EK_EIO, or the error of a
 * stage that ended. */
int ek_demo_pipeline_list(struct ek_demo_pipeline *p, struct ek_kafka_record *record, int wait_ms,
                          int *got, struct ek_error *e);
/* Return the next event, owned by the caller; NULL: none. */
struct ek_event *ek_demo_pipeline_event(struct ek_demo_pipeline *p);
uint64_t ek_demo_pipeline_dead_letter(struct ek_demo_pipeline *p);

#endif
