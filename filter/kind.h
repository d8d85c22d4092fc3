/*
 * kind.h - what a back end gives to filter/filter.h; private to filter/.
 *
 * A kind embeds struct filter as its first member and fills one table of
 * functions. Saving sees a filter as its shape (a few numbers that fix the
 * layout) and a run of units, each of them saved, checked and, where the kind
 * can, rebuilt alone.
 */
#ifndef URLWEIR_FILTER_KIND_H
#define URLWEIR_FILTER_KIND_H

#include "base/buf.h"
#include "filter/filter.h"

#define FILTER_SHAPE 8 /* numbers a kind may need to describe its layout */
#define FILTER_META  3 /* numbers a unit may need beside its octets */

struct filter_ops {
    struct filter_traits traits;
    /* Options are checked and complete. */
    enum status (*make)(struct filter **out, const struct filter_options *o);
    void (*free)(struct filter *f);
    enum status (*add)(struct filter *f, const uint64_t *keys, size_t n,
                       bool *fresh); /* fresh may be NULL */
    void (*check)(const struct filter *f, const uint64_t *keys, size_t n,
                  bool *maybe);
    enum status (*remove)(struct filter *f, const uint64_t *keys, size_t n,
                          bool *removed); /* NULL: cannot; removed may be */
    enum status (*merge)(struct filter *into,
                         const struct filter *from); /* NULL: cannot */
    void (*stats)(const struct filter *f, struct filter_stats *out);
    uint64_t (*unsure)(const struct filter *f); /* NULL: always asked */

    /* ---- saving; on the saving thread; NULL, as all below, where the kind
     * is remote ---- */
    /* The shape as it is now; how many units a filter of that shape has. */
    uint64_t (*shape)(const struct filter *f, uint64_t shape[FILTER_SHAPE]);
    /* Append unit i to `to`. */
    enum status (*get_unit)(struct filter *f, uint64_t i, struct buf *to,
                            uint64_t meta[FILTER_META]);
    /* Around a saving where the kind cannot be copied while it changes. */
    void (*hold)(struct filter *f, bool on); /* NULL: it can */

    /* ---- loading; shape, meta and octets are a stranger's ---- */
    /* An empty filter of that shape, which takes at most `most` bytes. */
    enum status (*make_shaped)(struct filter **out,
                               const struct filter_options *o,
                               const uint64_t shape[FILTER_SHAPE],
                               uint64_t units, uint64_t most);
    /* STATUS_DAMAGED: the octets contradict the shape; nothing changed. */
    enum status (*put_unit)(struct filter *f, uint64_t i, struct bytes from,
                            const uint64_t meta[FILTER_META]);
    /* After all units that could be put: build unit i from keys, or make all
     * it stands for "maybe" and answer STATUS_NOT_FOUND. */
    enum status (*mend_unit)(struct filter *f, uint64_t i);
    /* All units are there: derive what is not saved. */
    enum status (*loaded)(struct filter *f);
};

struct filter {
    const struct filter_ops *ops;
    struct filter_options opt;
    bool told_overfull; /* logged already */
};

extern const struct filter_ops bloom_ops, scalable_ops, stacked_ops,
    counting_ops, cuckoo_ops, redis_ops;

const struct filter_ops *filter_ops_named(const char *name);
/* STATUS_ARG where an option is out of range; else defaults filled in. */
MUST_CHECK enum status filter_complete_options(struct filter_options *o);
/* What filter_stats calls overfull. */
bool filter_is_past_promise(const struct filter_stats *s);
/* STATUS_LIMIT, with one line in the log the first time. */
enum status filter_say_overfull(struct filter *f, const char *why);

#endif
