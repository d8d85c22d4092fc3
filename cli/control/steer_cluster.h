/*
 * steer_cluster.h - the commands that steer a crawl, for one in a cluster:
 * redis://HOST/NAME as their first operand.
 *
 * What they change is in the cluster, and all workers heed it within seconds;
 * none has to run. Errors were printed; they return an enum exit_code.
 */
#ifndef URLWEIR_CLI_CONTROL_STEER_CLUSTER_H
#define URLWEIR_CLI_CONTROL_STEER_CLUSTER_H

#include "cli/control/steer.h"
#include "frontier/cluster_store/cluster_steer.h"

/* Is the first operand a crawl in a cluster? */
bool steer_is_cluster(const struct steer *t);
/* Like steer_failed(), for a reason that the cluster may have worded. */
int steer_cluster_failed(struct steer *t, enum status st);
/* EXIT_USAGE: an option does not go with such a crawl. */
int steer_cluster_check(const struct steer *t);

/* `block`, `delay` and `limit`: of a queue key. `what` is said. */
int steer_cluster_host(struct steer *t, struct bytes key,
                       enum cluster_host_setting setting, int64_t value,
                       const char *what);
/* `pause`, `unpause` and `stop`. */
int steer_cluster_state(struct steer *t);

#endif
