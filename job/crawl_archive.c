/* SPDX-License-Identifier: MIT */
/* crawl_archive.c - the WARC files of a crawl, from --warc to --cdxj. */
#include "job/crawl_archive.h"

#include "base/logger.h"
#include "crawler/archive/archive.h"
#include "frontier/url/surt.h"
#include "storage/warc/cdxj.h"

#define PREFIX_DEFAULT "urlweir"

enum status crawl_archive_open(struct crawl_setup *setup,
                               const struct crawl_settings *s)
{
    static const char *const robots[] = {[ROBOTS_OBEY] = "obey",
                                         [ROBOTS_REPORT] = "report",
                                         [ROBOTS_OFF] = "ignore"};
    const struct warc_options o = {
        .dir = s->output,
        .prefix = s->warc_prefix != NULL ? s->warc_prefix : PREFIX_DEFAULT,
        .size_most = s->warc_size_bytes,
        .user_agent = buf_str(&setup->user_agent),
        .robots = robots[s->robots],
    };
    enum status st = s->warc ? archive_open(&setup->crawl.archive, &o)
                             : warc_finish_left(s->output);

    setup->fetch.archive = setup->crawl.archive;
    return st;
}

static bool key_of(void *ctx, struct bytes url, struct buf *out)
{
    struct url u;
    bool ok;

    (void)ctx;
    url_init(&u);
    ok = url_parse(&u, url, NULL, NULL) == URL_OK;
    if (ok)
        surt_of(&u, out);
    url_fini(&u);
    return ok;
}

enum status crawl_archive_close(struct crawl_setup *setup,
                                const struct crawl_settings *s)
{
    const struct cdxj_options o = {.dir = s->output,
                                   .memory = (size_t)(s->memory_bytes / 16),
                                   .key_of = key_of};
    enum status st = archive_close(setup->crawl.archive);
    setup->crawl.archive = NULL;
    if (st == STATUS_OK && s->warc && s->cdxj) {
        st = cdxj_update(&o);
        if (st != STATUS_OK)
            log_error("the index of the WARC files could not be written",
                      "dir=%s/warc error=\"%s\"", s->output, status_text(st));
    }
    return st;
}

enum status crawl_archive_sync(void *setup)
{
    struct crawl_setup *c = setup;

    return c->crawl.archive != NULL ? archive_sync(c->crawl.archive)
                                    : STATUS_OK;
}
