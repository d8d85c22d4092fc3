/* SPDX-License-Identifier: MIT */
/*
 * http_upload.c - a request's body that becomes a file.
 *
 * A filter of 200 million keys has hundreds of MiB, so its octets go to the
 * disk as they come instead of into memory. The shelf removes what a kill
 * leaves.
 */
#include "service/http/http_upload.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "service/filters/filter_shelf.h"
#include "service/http/http_request.h"
#include "service/http/http_server.h"

#define SLACK (UINT64_C(1) << 20) /* of a file over the filter in memory */

struct http_upload {
    int fd;
    int failed; /* errno */
    uint64_t left;
    char path[4096];
};

static const struct filter_shelf *shelf_of(const struct http_request *r)
{
    return http_server_options(r->server)->shelf;
}

uint64_t http_upload_most(const struct http_request *r)
{
    return shelf_of(r) != NULL ? filter_shelf_memory(shelf_of(r)) + SLACK
                               : SLACK;
}

void http_upload_begin(struct http_request *r)
{
    struct http_upload *u;

    if (shelf_of(r) == NULL) {
        http_problem(r, 404, "this process has no filters by name");
        return;
    }
    u = xcalloc(1, sizeof *u);
    u->left = http_upload_most(r);
    snprintf(u->path, sizeof u->path, "%s/" SHELF_UPLOAD "XXXXXX",
             filter_shelf_dir(shelf_of(r)));
    u->fd = mkostemp(u->path, O_CLOEXEC);
    if (u->fd < 0)
        u->failed = errno;
    r->upload = u;
}

bool http_upload_write(struct http_upload *u, const char *data, size_t len)
{
    if (len > u->left)
        return false;
    u->left -= len;
    while (len > 0 && u->failed == 0) {
        ssize_t n = write(u->fd, data, len);

        if (n < 0 && errno != EINTR)
            u->failed = errno;
        if (n > 0) {
            data += n;
            len -= (size_t)n;
        }
    }
    return true;
}

const char *http_upload_path(const struct http_upload *u, const char **why)
{
    *why = u->failed != 0 ? strerror(u->failed) : NULL;
    return u->failed != 0 ? NULL : u->path;
}

void http_upload_free(struct http_upload *u)
{
    if (u == NULL)
        return;
    if (u->fd >= 0) {
        close(u->fd);
        (void)unlink(u->path);
    }
    free(u);
}
