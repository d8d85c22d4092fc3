/*
 * crawl_since.h - the earlier crawl of --since, for a crawl that is set up.
 */
#ifndef URLWEIR_JOB_CRAWL_SINCE_H
#define URLWEIR_JOB_CRAWL_SINCE_H

#include "job/crawl_setup.h"

/* Opens the earlier crawl, if there is one, and fills in c->frontier by it: its
 * secret, its size, memory for it. A crawl that is resumed goes on without an
 * earlier crawl that is gone, with a warning; a new one is refused. STATUS_ARG:
 * `why` says why. */
MUST_CHECK enum status crawl_since_open(struct crawl_setup *c,
                                        const struct crawl_settings *s,
                                        struct buf *why);

#endif
