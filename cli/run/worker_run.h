/*
 * worker_run.h - a worker of a crawl in a cluster, from its start to its end.
 */
#ifndef URLWEIR_CLI_RUN_WORKER_RUN_H
#define URLWEIR_CLI_RUN_WORKER_RUN_H

#include "base/file/file.h"
#include "job/crawl_setup.h"
#include "job/settings/options.h"

enum worker_start {
    WORKER_CREATE, /* the crawl, and a directory */
    WORKER_JOIN,   /* a new directory */
    WORKER_RESUME  /* the directory of an earlier run */
};

/* Takes part in the crawl that s->cluster names, in s->output, whose lock is
 * `lock`. Returns the exit status; errors were printed. */
int worker_run(const char *command, enum worker_start how,
               struct crawl_settings *s, struct crawl_setup *c,
               struct file_lock *lock);

#endif
