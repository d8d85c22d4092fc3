/* SPDX-License-Identifier: MIT */
/* serve_cluster.c - the cluster of `urlweir serve --cluster`. */
#include "cli/run/serve_cluster.h"

#include <stdio.h>

#include "base/format.h"
#include "job/exit_code.h"
#include "job/settings/cluster_settings.h"

#define WHY_MOST 4096

/* Escapes the text: servers may say anything. */
static void print_reason(const struct buf *why)
{
    struct buf safe;

    buf_init(&safe, 4 * WHY_MOST);
    format_terminal(&safe, buf_bytes(why));
    fprintf(stderr, "urlweir serve: --cluster: %s\n", buf_str(&safe));
    buf_fini(&safe);
}

struct shared *serve_cluster_open(const char *url, int *code)
{
    struct cluster_url_parts parts;
    struct shared *s = NULL;
    struct buf why;
    enum status st;

    buf_init(&why, WHY_MOST);
    st = cluster_url_read(&parts, url, &why);
    *code = st == STATUS_OK ? EXIT_CANNOT : EXIT_USAGE;
    if (st == STATUS_OK) {
        const struct shared_options o = {
            .servers = parts.redis.hosts,
            .server_count = parts.redis.host_count,
            .name = parts.name,
            .replicas = parts.replicas,
            .alone_is_fine = parts.alone_is_fine,
        };

        st = shared_open(&s, &o, &why);
    }
    if (st != STATUS_OK) {
        if (why.len == 0)
            buf_add_str(&why, status_text(st));
        print_reason(&why);
    }
    buf_fini(&why);
    return st == STATUS_OK ? s : NULL;
}
