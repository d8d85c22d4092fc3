/* SPDX-License-Identifier: MIT */
/* audit_cluster.c - `urlweir audit` of a crawl in a cluster. */
#include "cli/audit/audit_cluster.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/mem.h"
#include "cli/command.h"
#include "cli/open_crawl.h"
#include "frontier/audit/fingerprint_sample.h"
#include "frontier/cluster_store/cluster_watch.h"
#include "job/cluster_part.h"
#include "job/settings/settings.h"

struct cluster_audit {
    struct cluster_store *store;
    struct fingerprint_sample *sample;
    struct reader reader;
    bool full; /* further URLs are not in the sample */
};

static void take_url(void *ctx, const struct url_row *row)
{
    struct cluster_audit *a = ctx;
    struct bytes crawl, key;

    if (a->full)
        return;
    frontier_store_queue_name(a->reader.store, row->queue, &crawl, &key);
    a->full =
        !fingerprint_sample_add(a->sample, cluster_store_shard(a->store, key),
                                reader_digest(&a->reader, row));
}

static bool is_ours(const struct cluster_audit *a)
{
    const struct bytes text = bytes_of_str("one crawl");

    return digest_equal(digest_bytes(cluster_store_digest_key(a->store), text),
                        digest_bytes(&a->reader.key, text));
}

static int take_dir(struct cluster_audit *a, const char *dir)
{
    int code = EXIT_DONE;
    uint64_t last;
    enum status st = STATUS_OK;

    if (!open_crawl(&a->reader, "audit", dir, &code))
        return code;
    last = frontier_store_last_id(a->reader.store);
    if (!is_ours(a)) {
        fprintf(stderr,
                "urlweir audit: %s is not the directory of a worker of this "
                "crawl\n",
                dir);
        code = EXIT_USAGE;
    } else if (last > 0) {
        st = frontier_store_each(a->reader.store, 1, last, take_url, a);
    }
    if (st != STATUS_OK)
        code = cannot_read("audit", dir, st);
    reader_close(&a->reader);
    return code;
}

static enum status print_bound(struct cluster_store *store)
{
    unsigned n = cluster_store_shards(store);
    struct cluster_shard_row *rows = xcalloc(n, sizeof *rows);
    uint64_t *seen = xcalloc(n, sizeof *seen), sum = 0;
    enum status st = cluster_store_survey(store, rows);

    for (unsigned i = 0; i < n; i++) {
        seen[i] = rows[i].seen;
        sum += seen[i];
    }
    if (st == STATUS_OK)
        printf("%" PRIu64 " URLs seen, 63 bits of each in one of %u shards\n"
               "  lost to collisions so far  %.2g URLs (expected)\n"
               "  the next new URL is lost   with a chance of %.2g\n",
               sum, n, fingerprint_collisions_expected(seen, n),
               fingerprint_collision_chance(seen, n));
    free(seen);
    free(rows);
    return st;
}

static int print_sample(const struct cluster_audit *a)
{
    struct fingerprint_sample_result s;

    fingerprint_sample_finish(a->sample, &s);
    printf("sample of %" PRIu64 " URLs%s\n"
           "  pairs with equal 63 bits   %" PRIu64 "\n"
           "  pairs with equal %u bits   %" PRIu64 ", %.1f expected\n",
           s.urls, a->full ? ", as many as are looked at" : "", s.collisions,
           s.bits, s.pairs, s.expected);
    return s.collisions > 0 ? EXIT_SEEDS : EXIT_DONE;
}

static int audit_opened(struct cluster_store *store,
                        const struct option_list *operands)
{
    struct cluster_audit a = {.store = store};
    int code = EXIT_DONE;
    enum status st = print_bound(store);

    if (st != STATUS_OK)
        return command_failed("audit", status_text(st));
    if (operands->count == 1)
        return EXIT_DONE;
    a.sample = fingerprint_sample_new(cluster_store_shards(store));
    for (size_t i = 1; code == EXIT_DONE && i < operands->count; i++)
        code = take_dir(&a, operands->item[i]);
    if (code == EXIT_DONE)
        code = print_sample(&a);
    fingerprint_sample_free(a.sample);
    return code;
}

int audit_cluster(const struct option_list *operands)
{
    struct cluster_store *store = NULL;
    struct crawl_settings s;
    struct buf why;
    enum status st;
    int code;

    settings_init(&s);
    buf_init(&why, 8192);
    st = cluster_part_look(&store, operands->item[0], &s, &why);
    code = st == STATUS_OK ? audit_opened(store, operands)
                           : command_failed("audit", buf_str(&why));
    cluster_store_close(store);
    buf_fini(&why);
    settings_fini(&s);
    return st == STATUS_ARG ? EXIT_USAGE : code;
}
