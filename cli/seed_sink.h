/*
 * seed_sink.h - from what a person gives into the frontier of a new crawl.
 *
 * Seeds, the sitemaps of --sitemap-url, and the /sitemap.xml of each seed's
 * host. Seeds open the scope; where there are none, the sitemaps do. One
 * thread, before the crawl runs.
 */
#ifndef URLWEIR_CLI_SEED_SINK_H
#define URLWEIR_CLI_SEED_SINK_H

#include "base/status.h"
#include "cli/crawl_setup.h"
#include "cli/options.h"
#include "frontier/engine.h"

/* Seeds of all sources, in batches; bad ones are named on stderr. Nothing is
 * marked complete. STATUS_NOT_FOUND: there is nothing to start from, which was
 * said. Others: of reading, which was said, or of the engine. */
MUST_CHECK enum status seed_sink_all(struct engine *e, struct crawl_setup *c,
                                     const struct crawl_settings *s);
/* The sitemaps of --sitemap-url alone, for a resume that adds some. */
MUST_CHECK enum status seed_sink_sitemaps(struct engine *e,
                                          struct crawl_setup *c,
                                          const struct crawl_settings *s);

#endif
