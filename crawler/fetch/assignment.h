/*
 * assignment.h - a leased URL on its way from the frontier thread to a fetcher.
 *
 * The bytes of a frontier's lease belong to the frontier thread; these are a
 * copy for the fetcher.
 */
#ifndef URLWEIR_CRAWLER_FETCH_ASSIGNMENT_H
#define URLWEIR_CRAWLER_FETCH_ASSIGNMENT_H

#include "base/bytes.h"
#include "frontier/frontier.h"

/* How a URL was found, for records: the URL of the page that has it, and a
 * letter for each step from a seed (hop_path.h). Both may be empty.
 */
struct found_by {
    struct bytes via, path;
};

/* The last owner frees it with assignment_free. Its bytes point into it. */
struct assignment {
    struct url_lease lease;
    struct found_by found_by;
    char text[];
};
/* `by` may be NULL. */
struct assignment *assignment_of(const struct url_lease *lease,
                                 const struct found_by *by);
static inline struct assignment *assignment_new(const struct url_lease *lease)
{
    return assignment_of(lease, NULL);
}
void assignment_free(struct assignment *a);

#endif
