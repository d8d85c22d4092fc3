/* SPDX-License-Identifier: MIT */
/* verify_cluster.c - `urlweir verify` of a crawl in a cluster. */
#include "cli/verify/verify_cluster.h"

#include <inttypes.h>
#include <stdio.h>

#include "cli/command.h"
#include "frontier/cluster_check/cluster_verify.h"
#include "frontier/cluster_store/cluster_watch.h"
#include "frontier/reader.h"
#include "job/cluster_part.h"
#include "job/settings/cluster_settings.h"
#include "job/settings/settings.h"

#define ALIVE_MS 15000

static void see_worker(void *ctx, struct bytes name, int64_t heard_ms,
                       struct bytes words)
{
    uint64_t *alive = ctx;

    (void)name;
    (void)words;
    *alive += heard_ms <= ALIVE_MS;
}

static int print(const struct cluster_verdict *v, const char *url, bool repair)
{
    uint64_t left = 0, mended = 0;

    for (size_t i = 0; i < CLUSTER_FINDINGS; i++) {
        const char *text = cluster_finding_text((enum cluster_finding)i);

        if (v->found[i] == 0)
            continue;
        left += v->found[i] - v->mended[i];
        mended += v->mended[i];
        printf("BAD  %" PRIu64 " %s", v->found[i], text);
        if (repair)
            printf(": %" PRIu64 " mended", v->mended[i]);
        putchar('\n');
    }
    if (v->unchecked > 0)
        printf("ok   %" PRIu64 " shards have a host with too many URLs to look "
               "for repeats\n",
               v->unchecked);
    if (v->large > 0)
        printf("ok   %" PRIu64 " of %" PRIu64
               " buckets have more than 512 fingerprints and take more memory "
               "than need be\n",
               v->large, v->buckets);
    printf("%s%" PRIu64 " URLs seen: %" PRIu64 " done, %" PRIu64
           " wait, %" PRIu64 " leased\n",
           left == 0 ? "ok   " : "BAD  ", v->seen, v->done, v->waiting,
           v->leased);
    if (left == 0 && mended == 0)
        puts("all agree");
    else if (left == 0)
        puts("repaired; workers may go on");
    else if (repair)
        puts("damaged: not all can be mended");
    else
        printf("damaged; `urlweir verify --repair %s` mends it\n", url);
    return left == 0 ? EXIT_DONE : EXIT_DAMAGED;
}

static enum status check(struct cluster_store *store, bool repair,
                         struct cluster_verdict *v, struct buf *why)
{
    uint64_t alive = 0;
    enum status st = cluster_store_each_worker(store, see_worker, &alive);

    if (st == STATUS_OK && alive > 0) {
        buf_addf(why,
                 "%" PRIu64 " workers are at work; stop them first, and wait "
                 "%d seconds if they were killed",
                 alive, ALIVE_MS / 1000);
        return STATUS_BUSY;
    }
    if (st == STATUS_OK)
        st = cluster_verify(store, bytes_of_str(CRAWL_ID), repair, v);
    if (st == STATUS_ARG || st == STATUS_FORMAT)
        buf_add_str(why, "a key of the crawl has something that is not ours");
    else if (st != STATUS_OK)
        buf_addf(why, "the cluster: %s", status_text(st));
    return st;
}

int verify_cluster(const char *url, bool repair)
{
    struct cluster_store *store = NULL;
    struct cluster_verdict v;
    struct crawl_settings s;
    struct buf why, shown;
    enum status st;
    int code;

    settings_init(&s);
    buf_init(&why, 8192);
    buf_init(&shown, 4096);
    st = cluster_part_look(&store, url, &s, &why);
    if (st == STATUS_OK)
        st = check(store, repair, &v, &why);
    if (st == STATUS_OK) {
        cluster_url_show(url, &shown);
        code = print(&v, buf_str(&shown), repair);
    } else {
        code = command_failed("verify", buf_str(&why));
        code = st == STATUS_ARG && store == NULL ? EXIT_USAGE
               : store != NULL && (st == STATUS_ARG || st == STATUS_FORMAT)
                   ? EXIT_DAMAGED
                   : code;
    }
    cluster_store_close(store);
    buf_fini(&shown);
    buf_fini(&why);
    settings_fini(&s);
    return code;
}
