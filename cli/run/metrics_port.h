/*
 * metrics_port.h - the address of --metrics: /metrics, the dashboard, and the
 * HTTP API for reading.
 */
#ifndef URLWEIR_CLI_RUN_METRICS_PORT_H
#define URLWEIR_CLI_RUN_METRICS_PORT_H

#include "job/settings/options.h"
#include "service/http/http_server.h"

#define METRICS_DRAIN_MS 1000 /* for callers, when the crawl has ended */

/* `what`: the command. `o` says what is served, its crawls or its cluster. Other
 * errors than success were printed. */
MUST_CHECK enum status metrics_port_open(struct http_server **out,
                                         const char *what,
                                         const struct crawl_settings *s,
                                         struct http_options o);

#endif
