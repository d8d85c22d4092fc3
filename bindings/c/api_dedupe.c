/* SPDX-License-Identifier: MIT */
/*
 * api_dedupe.c - exact dedupe in the C library.
 *
 * dedupe.h wants its caller to settle after each take, once new lines are
 * written out. Here the next call shows that they are, so each take settles the
 * one before.
 *
 * After a fork the child has copies of the set's memory, but neither its
 * threads nor its locks, and it shares the offsets of its files: a thread that
 * waited at the time of the fork is waited for for ever, and SQLite in two
 * processes over one connection damages the database. So the child leaves the
 * set as it is, until it ends.
 */
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "bindings/c/api.h"
#include "frontier/dedupe/dedupe.h"

#define COMMIT_FRESH UINT64_C(2000000) /* as cli/dedupe: 32 MiB of log */

_Static_assert(URLWEIR_DEDUPE_BATCH == DEDUPE_BATCH, "one batch, one call");

struct urlweir_dedupe {
    struct dedupe *set;
    pid_t owner; /* the process that opened it */
    struct url url;
    uint64_t fresh;     /* since the last commit */
    enum status failed; /* it takes no more */
    struct urlweir_dedupe_stats stats;
    struct digest digests[DEDUPE_BATCH];
    bool told[DEDUPE_BATCH];
};

/* The thread that a set on disk has takes none of the process's signals. */
static enum status open_quietly(struct dedupe **out,
                                const struct dedupe_options *o)
{
    struct dedupe_refusal why;
    sigset_t all, before;
    enum status st;

    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    st = dedupe_open(out, o, &why);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return st;
}

enum urlweir_status urlweir_dedupe_open(struct urlweir_dedupe **out,
                                        const struct urlweir_dedupe_options *o)
{
    struct urlweir_dedupe_options given;
    struct dedupe_options wanted = {0};
    struct urlweir_dedupe *d;
    enum status st;

    if (!api_take_options(&given, sizeof given, o))
        return URLWEIR_ARG;
    wanted.dir = given.dir;
    wanted.identity = given.octets ? DEDUPE_OCTETS : DEDUPE_CANONICAL;
    wanted.memory = given.memory != 0 ? given.memory : DEDUPE_MEMORY_DEFAULT;
    if (wanted.memory < DEDUPE_MEMORY_LEAST)
        return URLWEIR_ARG;
    api_begin();
    d = xcalloc(1, sizeof *d);
    st = open_quietly(&d->set, &wanted);
    if (st != STATUS_OK) {
        free(d);
        return api_status(st);
    }
    d->owner = getpid();
    url_init(&d->url);
    *out = d;
    return URLWEIR_OK;
}

static bool is_anothers(const struct urlweir_dedupe *d)
{
    return d->owner != getpid();
}

static enum status settle(struct urlweir_dedupe *d, bool commit)
{
    if (is_anothers(d))
        return STATUS_BUSY;
    if (d->failed == STATUS_OK)
        d->failed = dedupe_settle(d->set, commit);
    if (d->failed == STATUS_OK && commit)
        d->fresh = 0;
    return d->failed;
}

/* Marks lines that are no URLs, and returns the number of digests. */
static size_t take_digests(struct urlweir_dedupe *d,
                           const struct urlweir_bytes *lines, size_t n,
                           unsigned char *seen)
{
    size_t count = 0;

    for (size_t i = 0; i < n; i++) {
        bool valid = dedupe_digest(d->set, api_in(lines[i]), &d->url,
                                   &d->digests[count]) == URL_OK;

        seen[i] = valid ? URLWEIR_NEW : URLWEIR_NO_URL;
        count += valid;
    }
    return count;
}

enum urlweir_status urlweir_dedupe_take(struct urlweir_dedupe *d,
                                        const struct urlweir_bytes *lines,
                                        size_t n, unsigned char *seen)
{
    size_t count, k = 0;
    enum status st;

    if (n > DEDUPE_BATCH)
        return URLWEIR_ARG;
    st = settle(d, d->fresh >= COMMIT_FRESH);
    if (st != STATUS_OK)
        return api_status(st);
    count = take_digests(d, lines, n, seen);
    d->failed = dedupe_take(d->set, d->digests, count, d->told);
    if (d->failed != STATUS_OK)
        return api_status(d->failed);
    for (size_t i = 0; i < n; i++) {
        if (seen[i] == URLWEIR_NO_URL)
            continue;
        seen[i] = d->told[k] ? URLWEIR_NEW : URLWEIR_BEFORE;
        d->fresh += d->told[k++];
    }
    return URLWEIR_OK;
}

enum urlweir_status urlweir_dedupe_commit(struct urlweir_dedupe *d)
{
    return api_status(settle(d, true));
}

static struct urlweir_dedupe_stats stats_of(struct dedupe_stats s)
{
    return (struct urlweir_dedupe_stats){.count = s.count,
                                         .before = s.before,
                                         .disk = s.disk};
}

const struct urlweir_dedupe_stats *urlweir_dedupe_stats(
    struct urlweir_dedupe *d)
{
    if (!is_anothers(d))
        d->stats = stats_of(dedupe_stats(d->set));
    return &d->stats;
}

enum urlweir_status urlweir_dedupe_close(struct urlweir_dedupe *d, int commit)
{
    enum status failed, st = STATUS_OK;

    if (d == NULL)
        return URLWEIR_OK;
    failed = d->failed;
    if (!is_anothers(d))
        st = dedupe_close(d->set, commit != 0 && failed == STATUS_OK, NULL);
    url_fini(&d->url);
    free(d);
    return api_status(failed != STATUS_OK ? failed : st);
}
