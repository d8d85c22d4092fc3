/*
 * serve_shards.h - the cluster of `urlweir serve --cluster`.
 *
 * Main thread.
 */
#ifndef URLWEIR_CLI_RUN_SERVE_SHARDS_H
#define URLWEIR_CLI_RUN_SERVE_SHARDS_H

#include <stdbool.h>

#include "cli/run/serve_settings.h"
#include "service/service.h"
#include "service/shards/served_shards.h"

/* EXIT_USAGE: the reason was printed. */
int serve_shards_check(const struct serve_settings *s);
/* Finds the service in the cluster, or makes it. NULL: the reason was printed.
 */
struct served_shards *serve_shards_open(const struct serve_settings *s,
                                        const char *dir);
/* Takes shards, and lets others ask at the HTTP address HOST:PORT. False: the
 * reason was printed. */
bool serve_shards_join(struct served_shards *shards,
                       const struct serve_settings *s, const char *http,
                       struct service *service);

#endif
