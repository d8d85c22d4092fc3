/* SPDX-License-Identifier: MIT */
/* crawl_block.c - the blocklist of --block-filter and --block-exact. */
#include "job/crawl_block.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/format.h"
#include "job/exit_code.h"

enum status crawl_block_make(struct blocklist **out,
                             const struct crawl_settings *s, struct buf *why)
{
    struct blocklist_options o = {.filter = s->block_filter,
                                  .exact = s->block_exact,
                                  .memory = s->memory_bytes / 4};
    struct buf kept;
    enum status st;

    *out = NULL;
    if (s->block_filter == NULL)
        return STATUS_OK;
    buf_init(&kept, 8192);
    buf_addf(&kept, "%s/block-exact", s->output);
    o.kept = buf_str(&kept);
    st = blocklist_open(out, &o, why);
    buf_fini(&kept);
    return st;
}

bool crawl_block_open(struct blocklist **out, const char *command,
                      const struct crawl_settings *s, int *code)
{
    struct buf error, safe;
    enum status st;

    buf_init(&error, 8192);
    buf_init(&safe, 65536);
    st = crawl_block_make(out, s, &error);
    if (st != STATUS_OK) {
        format_terminal(&safe, buf_bytes(&error));
        fprintf(stderr, "urlweir %s: the blocklist cannot be used: %s\n",
                command, buf_str(&safe));
        *code =
            st == STATUS_ARG || st == STATUS_FORMAT ? EXIT_USAGE : EXIT_CANNOT;
    }
    buf_fini(&error);
    buf_fini(&safe);
    return st == STATUS_OK;
}

static void log_blocklist(const struct blocklist *b,
                          const struct crawl_settings *s)
{
    struct buf text;

    buf_init(&text, 4096);
    buf_add_str(&text, "blocklist: a filter of ");
    format_count(&text, blocklist_keys(b));
    buf_add_str(&text, " URLs");
    if (s->block_exact != NULL) {
        buf_add_str(&text, ", and ");
        format_count(&text, blocklist_exact_keys(b));
        buf_add_str(&text, " URLs as its second check\n");
    } else {
        buf_addf(&text,
                 " and no second check: about %.3g %% of all other URLs are "
                 "blocked too (--block-exact FILE lets them in)\n",
                 100 * blocklist_rate(b));
    }
    fputs(buf_str(&text), stderr);
    buf_fini(&text);
}

bool crawl_block_start(struct crawl_setup *c, const struct crawl_settings *s,
                       int *code)
{
    if (!crawl_block_open(&c->blocklist, "crawl", s, code))
        return false;
    c->frontier.blocklist = c->blocklist;
    if (c->blocklist != NULL && !s->quiet)
        log_blocklist(c->blocklist, s);
    return true;
}
