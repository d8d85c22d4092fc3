/*
 * kind.h - the table that each kind of filter fills for filter/filter.h;
 * private to filter/.
 *
 * A kind embeds struct filter as its first member and fills one table of
 * functions. To the code that saves, a filter is a shape (a few numbers that
 * fix the layout) and a run of units. Each unit is saved and checked alone and,
 * if the kind can, rebuilt alone.
 */
#ifndef URLWEIR_FILTER_KIND_H
#define URLWEIR_FILTER_KIND_H

#include "base/buf.h"
#include "filter/filter.h"

#define FILTER_SHAPE 8 /* numbers that describe a kind's layout, at most */
#define FILTER_META  3 /* numbers saved with a unit's octets, at most */

struct filter_ops {
    struct filter_traits traits;
    /* The caller has checked and completed the options. */
    enum status (*make)(struct filter **out, const struct filter_options *o);
    void (*free)(struct filter *f);
    enum status (*add)(struct filter *f, const uint64_t *keys, size_t n,
                       bool *fresh); /* fresh may be NULL */
    void (*check)(const struct filter *f, const uint64_t *keys, size_t n,
                  bool *maybe);
    enum status (*remove)(struct filter *f, const uint64_t *keys, size_t n,
                          bool *removed); /* NULL: cannot; `removed` may be
                                           * NULL */
    enum status (*merge)(struct filter *into,
                         const struct filter *from); /* NULL: cannot */
    void (*stats)(const struct filter *f, struct filter_stats *out);
    uint64_t (*unsure)(const struct filter *f); /* NULL: never unsure */

    /* ---- saving, on the saving thread; remote kinds have NULL from here on
     * ---- */
    uint32_t file_version; /* of checkpoint.c, that has its units */
    /* The shape as it is now. Returns how many units a filter of that shape
     * has. */
    uint64_t (*shape)(const struct filter *f, uint64_t shape[FILTER_SHAPE]);
    /* Append unit i to `to`. */
    enum status (*get_unit)(struct filter *f, uint64_t i, struct buf *to,
                            uint64_t meta[FILTER_META]);
    /* Called with true before saving and false after it, for a kind that cannot
     * be copied while it changes. */
    void (*hold)(struct filter *f, bool on); /* NULL: copied live */

    /* ---- loading; shape, meta and octets are untrusted ---- */
    /* Make an empty filter of that shape, of at most `most` bytes. */
    enum status (*make_shaped)(struct filter **out,
                               const struct filter_options *o,
                               const uint64_t shape[FILTER_SHAPE],
                               uint64_t units, uint64_t most);
    /* Fill unit i. STATUS_DAMAGED: the octets contradict the shape; nothing
     * changed. */
    enum status (*put_unit)(struct filter *f, uint64_t i, struct bytes from,
                            const uint64_t meta[FILTER_META]);
    /* Called after all readable units were put: rebuild unit i from keys, or
     * make the filter answer "maybe" for all its keys and return
     * STATUS_NOT_FOUND. */
    enum status (*mend_unit)(struct filter *f, uint64_t i);
    /* Called once all units are there: compute what is not saved. */
    enum status (*loaded)(struct filter *f); /* NULL: all is saved */
};

struct filter {
    const struct filter_ops *ops;
    struct filter_options opt;
    bool told_overfull; /* logged already */
};

extern const struct filter_ops bloom_ops, scalable_ops, stacked_ops,
    counting_ops, cuckoo_ops, redis_ops;
extern const struct filter_ops aged_ops; /* of options with a ttl_s */

const struct filter_ops *filter_ops_named(const char *name);
/* Fill in defaults. STATUS_ARG: an option is out of range. */
MUST_CHECK enum status filter_complete_options(struct filter_options *o);
/* Is the filter overfull, as struct filter_stats defines it? */
bool filter_is_past_promise(const struct filter_stats *s);
/* Add all keys of `from` to `into`. */
MUST_CHECK enum status filter_add_from(struct filter *into,
                                       const struct filter_source *from);
/* Returns STATUS_LIMIT, and logs one line the first time. */
enum status filter_say_overfull(struct filter *f, const char *why);

#endif
