/*
 * cluster_settings.h - the settings of a crawl in a cluster.
 *
 *   redis://[[USER]:PASSWORD@]HOST[:PORT][,HOST[:PORT]...]/NAME[?durability=D]
 *
 * or rediss:// (TLS), redis+unix://.../NAME is not there. D is safe or fast:
 * whether a URL counts as stored when a replica has it, too. Without it, it is
 * safe, but for a single server without replicas.
 *
 * One set of settings is stored in the cluster; all but those with
 * OPTION_OF_WORKER, OPTION_OF_RUN or OPTION_LINE_ONLY are the same for all
 * workers.
 */
#ifndef URLWEIR_JOB_SETTINGS_CLUSTER_SETTINGS_H
#define URLWEIR_JOB_SETTINGS_CLUSTER_SETTINGS_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/redis/redis_address.h"
#include "base/status.h"
#include "job/settings/options.h"

#define CLUSTER_URL_NAME_MOST 64

struct cluster_url_parts {
    struct redis_url_parts redis; /* its path and settings are not of use */
    char name[CLUSTER_URL_NAME_MOST + 1];
    unsigned replicas;  /* that must have what counts as stored */
    bool alone_is_fine; /* a single server may have none */
};
/* STATUS_FORMAT: `why` gets what is wrong. */
MUST_CHECK enum status cluster_url_read(struct cluster_url_parts *out,
                                        const char *text, struct buf *why);
/* Is the crawl one whose shards are in Kafka? */
bool cluster_is_kafka(const struct crawl_settings *s);
/* Append the URL without user and password. */
void cluster_url_show(const char *text, struct buf *out);

/* Reads settings as config_write() writes them for a cluster into `s`; those of
 * a worker stay. STATUS_FORMAT: they are not valid; `why` says what. */
MUST_CHECK enum status cluster_settings_take(struct bytes text,
                                             struct crawl_settings *s,
                                             struct buf *why);
/* Does each worker have its own value? */
bool cluster_settings_are_own(const struct option_spec *o);
/* The names of the settings that are set and that each worker has to be given,
 * since they are secrets or files; a space after each. */
void cluster_settings_kept(const struct crawl_settings *s, struct buf *names);
/* Appends the options of such `names` that are not set here. */
void cluster_settings_lack(const struct crawl_settings *s, struct bytes names,
                           struct buf *lacking);
/* Checks that a crawl with s->cluster has only settings that work there, and
 * changes defaults that do not. STATUS_ARG: `error` names one. */
MUST_CHECK enum status cluster_settings_check(struct crawl_settings *s,
                                              struct buf *error);
/* The name of an option that was given for this run, although it is the
 * crawl's; NULL: there is none. */
const char *cluster_settings_foreign(const struct crawl_settings *s);
/* The name of a setting of the crawl that differs; NULL: there is none. */
const char *cluster_settings_changed(const struct crawl_settings *before,
                                     const struct crawl_settings *after);

#endif
