/* SPDX-License-Identifier: MIT */
/* metrics_port.c - the address of --metrics. */
#include "cli/run/metrics_port.h"

#include <stdio.h>

#include "base/listen_address.h"

enum status metrics_port_open(struct http_server **out, const char *what,
                              const struct crawl_settings *s,
                              struct http_options o)
{
    enum status st = listen_address_is_loopback(s->metrics, &o.loopback);

    o.listen = s->metrics;
    o.drain_ms = METRICS_DRAIN_MS;
    o.dir = s->output;
    o.open_role = AUTH_READ;
    if (st == STATUS_OK)
        st = http_server_open(out, &o);
    if (st != STATUS_OK)
        fprintf(stderr,
                "urlweir %s: --metrics %s cannot be served, as said above; "
                "nothing was fetched\n",
                what, s->metrics);
    else if (!s->quiet)
        fprintf(stderr, "urlweir %s: HTTP on %s\n", what,
                http_server_address(*out));
    return st;
}
