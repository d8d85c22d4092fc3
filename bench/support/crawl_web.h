/*
 * crawl_web.h - the test web as a child of a benchmark.
 *
 * Starts the program tests/support/site of the same build (or the one that
 * $SITE names), and gets its URLs. The child ends when its parent ends in any
 * way. tests/support/README.md explains the options.
 */
#ifndef URLWEIR_BENCH_CRAWL_WEB_H
#define URLWEIR_BENCH_CRAWL_WEB_H

#include <stdint.h>

#include "base/buf.h"
#include "base/status.h"

#define SITE_OPTIONS_MOST 32

struct site;

/* `web` describes the web, "--hosts", "1000", ..., NULL; `server` may add
 * options of the server such as "--log", and may be NULL. Both are only read
 * here. Returns once it listens. Failures are printed on stderr. */
MUST_CHECK enum status site_start(struct site **out, const char *const *web,
                                  const char *const *server);
/* Serves directory trees at the addresses in `dirs`, "DIR=127.0.0.1,127.0.0.2",
 * ..., NULL. It has no site_urls. */
MUST_CHECK enum status site_start_files(struct site **out,
                                        const char *const *dirs);
/* Ends the server with its log complete. NULL is fine. */
void site_stop(struct site *s);

uint16_t site_port(const struct site *s);
/* The URL of the first page, where a crawl begins; lives as long as s. */
const char *site_seed(const struct site *s);
/* Append every URL that answers with a page, one a line, in the order a
 * breadth-first crawl meets them. */
MUST_CHECK enum status site_urls(const struct site *s, struct buf *out);

#endif
