/*
 * seed_sink.h - from what a person gives into the frontier of a new crawl.
 *
 * Seeds, the sitemaps of --sitemap-url, and the /sitemap.xml of each seed's
 * host. Seeds open the scope; where there are none, the sitemaps do. Before the
 * crawl runs, or on its frontier thread.
 */
#ifndef URLWEIR_JOB_SEED_SINK_H
#define URLWEIR_JOB_SEED_SINK_H

#include "base/status.h"
#include "frontier/engine.h"
#include "job/crawl_setup.h"
#include "job/options.h"

/* Seeds of all sources, in batches; bad ones are named on stderr. Nothing is
 * marked complete. STATUS_NOT_FOUND: there is nothing to start from, which was
 * said. Others: of reading, which was said, or of the engine. */
MUST_CHECK enum status seed_sink_all(struct engine *e, struct crawl_setup *c,
                                     const struct crawl_settings *s);
/* The same, but there may be nothing to start from. */
MUST_CHECK enum status seed_sink_given(struct engine *e, struct crawl_setup *c,
                                       const struct crawl_settings *s);
/* Seeds that are answered one by one. */
struct seed {
    struct bytes text;
    const char *why; /* out, static: it is no seed; NULL: it is one */
    bool fresh;      /* out: else it was seen before */
};
MUST_CHECK enum status seed_sink_more(struct engine *e, struct crawl_setup *c,
                                      const struct crawl_settings *s,
                                      struct seed *seeds, size_t n);
/* The sitemaps of --sitemap-url alone, for a resume that adds some. */
MUST_CHECK enum status seed_sink_sitemaps(struct engine *e,
                                          struct crawl_setup *c,
                                          const struct crawl_settings *s);

#endif
