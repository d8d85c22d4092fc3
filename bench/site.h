/*
 * site.h - the test web as a child of a benchmark.
 *
 * Starts the program tests/support/site that was built beside the benchmark
 * (or the one $SITE names), and asks it for its URLs. The child ends with its
 * parent, however that ends. What the options mean: tests/support/README.md.
 */
#ifndef URLWEIR_BENCH_SITE_H
#define URLWEIR_BENCH_SITE_H

#include <stdint.h>

#include "base/buf.h"
#include "base/status.h"

#define SITE_OPTIONS_MOST 32

struct site;

/* `web` describes the web, "--hosts", "1000", ..., NULL; `server` may add
 * options of the server such as "--log", and may be NULL. Both are only read
 * here. Returns once it listens. Failures are said on stderr. */
MUST_CHECK enum status site_start(struct site **out, const char *const *web,
                                  const char *const *server);
/* A directory tree at the addresses of `dirs`, "DIR=127.0.0.1,127.0.0.2", ...,
 * NULL. It has no site_urls. */
MUST_CHECK enum status site_start_files(struct site **out,
                                        const char *const *dirs);
/* Ends it, its log complete. NULL is fine. */
void site_stop(struct site *s);

uint16_t site_port(const struct site *s);
/* Where a crawl of it begins: the first page's URL; lives as long as s. */
const char *site_seed(const struct site *s);
/* Append every URL that answers with a page, one a line, in the order a
 * breadth-first crawl meets them. */
MUST_CHECK enum status site_urls(const struct site *s, struct buf *out);

#endif
