/*
 * cluster_scripts.h - what the servers of a cluster run: one script is one step
 * on one shard.
 *
 * cluster_scripts.c, and the files of the other scripts, say what each key
 * holds, and what each script takes and answers. All keys are declared, so that
 * a script on a slot that is being moved is refused before it starts. Times are
 * the server's, in ms.
 */
#ifndef URLWEIR_FRONTIER_CLUSTER_STORE_CLUSTER_SCRIPTS_H
#define URLWEIR_FRONTIER_CLUSTER_STORE_CLUSTER_SCRIPTS_H

#include <stddef.h>

#include "base/redis/redis_script.h"

extern const struct redis_script cluster_script_begin, cluster_script_put,
    cluster_script_split, cluster_script_peek, cluster_script_claim,
    cluster_script_adopt, cluster_script_ack, cluster_script_extend,
    cluster_script_count, cluster_script_begun, cluster_script_place,
    cluster_script_news, cluster_script_tell, cluster_script_leave,
    cluster_script_workers, cluster_script_survey, cluster_script_weigh,
    cluster_script_again, cluster_script_hosts, cluster_script_inspect,
    cluster_script_items, cluster_script_buckets, cluster_script_has,
    cluster_script_settle, cluster_script_correct, cluster_script_sweep;

/* of cluster_steer_scripts.c */
extern const struct redis_script cluster_script_set, cluster_script_settings,
    cluster_script_order, cluster_script_find, cluster_script_block,
    cluster_script_host;

/* of cluster_move_scripts.c */
extern const struct redis_script cluster_script_move, cluster_script_seek,
    cluster_script_clear, cluster_script_hold, cluster_script_queues,
    cluster_script_queue, cluster_script_moved, cluster_script_sets;

/* of cluster_robots_scripts.c */
extern const struct redis_script cluster_script_share, cluster_script_robots;

/* of cluster_permits.c */
extern const struct redis_script cluster_script_permits;

#define CLUSTER_SCRIPTS 43
extern const struct redis_script *const cluster_scripts[CLUSTER_SCRIPTS];

#endif
