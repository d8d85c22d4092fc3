/*
 * cluster_settings.h - the settings of a crawl in a cluster.
 *
 * One set of settings is stored in the cluster; all but those with
 * OPTION_OF_WORKER, OPTION_OF_RUN or OPTION_LINE_ONLY are the same for all
 * workers.
 */
#ifndef URLWEIR_JOB_SETTINGS_CLUSTER_SETTINGS_H
#define URLWEIR_JOB_SETTINGS_CLUSTER_SETTINGS_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/status.h"
#include "job/settings/options.h"

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
/* Checks the URL of a crawl with s->cluster, and that it has only settings that
 * work there. STATUS_ARG: `error` says what does not. */
MUST_CHECK enum status cluster_settings_check(const struct crawl_settings *s,
                                              struct buf *error);
/* The name of an option that was given for this run, although it is the
 * crawl's; NULL: there is none. */
const char *cluster_settings_foreign(const struct crawl_settings *s);
/* The name of a setting of the crawl that differs; NULL: there is none. */
const char *cluster_settings_changed(const struct crawl_settings *before,
                                     const struct crawl_settings *after);

#endif
