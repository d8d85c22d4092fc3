/*
 * audit_replay.h - the URLs of an audit through another filter.
 *
 * Each key is checked and added to a filter in order of arrival: what it calls
 * "maybe seen" is a URL that a crawler with that filter and no exact set would
 * have lost. One thread.
 */
#ifndef URLWEIR_FRONTIER_AUDIT_AUDIT_REPLAY_H
#define URLWEIR_FRONTIER_AUDIT_AUDIT_REPLAY_H

#include "frontier/audit/audit_tally.h"

/* ---- one filter, key by key or batch by batch ---- */

struct audit_run {
    struct filter *filter;
    struct audit_tally tally;
    int64_t (*now)(void); /* NULL: cost is not measured */
    int64_t added_in;     /* total ns of adding */
};

/* STATUS_ARG, STATUS_NOMEM: as filter_new; nothing to finish then. */
MUST_CHECK enum status audit_run_init(struct audit_run *run,
                                      struct audit_series *out,
                                      const char *name,
                                      const struct filter_options *o,
                                      int64_t (*now)(void));
/* Checks and adds the next keys. A step may end with the last of them, but not
 * before. fresh[i]: the filter called key i certainly new. */
MUST_CHECK enum status audit_run_ask(struct audit_run *run,
                                     const uint64_t *keys, size_t n,
                                     bool *fresh);
/* Sums up and frees the filter. */
void audit_run_finish(struct audit_run *run);

/* ---- all filters ---- */

/* Keys in order of arrival, none twice. */
struct audit_keys {
    uint64_t *at;
    uint64_t count, room;
};

MUST_CHECK enum status audit_keys_add(struct audit_keys *k, uint64_t key);
void audit_keys_fini(struct audit_keys *k);

/* Does `o` ask for any replay, which needs the keys? */
bool audit_replay_wanted(const struct audit_options *o);
/* Appends to out->what_if one series for each filter and rate of `o`; `fpr` is
 * the rate if `o` has none. One filter is in memory at a time. */
MUST_CHECK enum status audit_replay(struct audit *out,
                                    const struct audit_keys *keys,
                                    const struct audit_options *o, double fpr);

#endif
