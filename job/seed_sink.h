/*
 * seed_sink.h - puts the URLs that the user gives into the frontier.
 *
 * These are seeds, the sitemaps of --sitemap-url, and the /sitemap.xml of each
 * seed's host. Seeds open the scope; without seeds, the sitemaps do. Before the
 * crawl runs, or on its frontier thread.
 */
#ifndef URLWEIR_JOB_SEED_SINK_H
#define URLWEIR_JOB_SEED_SINK_H

#include "base/status.h"
#include "frontier/frontier.h"
#include "job/crawl_setup.h"
#include "job/settings/options.h"

/* Puts seeds of all sources, in batches; reports bad ones on stderr. Does not
 * mark the seeds as complete. STATUS_NOT_FOUND: there are no seeds, which was
 * reported. Other errors come from reading, which were reported, or from the
 * frontier. */
MUST_CHECK enum status seed_sink_all(struct frontier *f, struct crawl_setup *c,
                                     const struct crawl_settings *s);
/* Like seed_sink_all, but there may be no seeds. */
MUST_CHECK enum status seed_sink_given(struct frontier *f,
                                       struct crawl_setup *c,
                                       const struct crawl_settings *s);
/* A seed that gets its own answer. */
struct seed {
    struct bytes text;
    const char *why; /* out, static: why it is not a seed, or NULL */
    bool fresh;      /* out: false if it was seen before */
};
MUST_CHECK enum status seed_sink_more(struct frontier *f, struct crawl_setup *c,
                                      const struct crawl_settings *s,
                                      struct seed *seeds, size_t n);
/* Puts only the sitemaps of --sitemap-url, for a resume that adds some. */
MUST_CHECK enum status seed_sink_sitemaps(struct frontier *f,
                                          struct crawl_setup *c,
                                          const struct crawl_settings *s);

#endif
