/*
 * hosted.h - crawls that a process runs for others to see and steer: the maker
 * behind job/crawls.h.
 *
 * A hosted crawl is a directory as `urlweir crawl` makes it, with a lock of its
 * own, its crawl.yaml, and threads and memory of its own; it stays when nothing
 * is left. What all of them share is the limit of connections to one address:
 * the least that any of them asks for.
 *
 * Settings come from a file of the operator (`serve --crawl FILE.yaml`), who
 * may name any path, or from a client, whose paths are relative and stay inside
 * the service's directory, with no symbolic link on the way.
 */
#ifndef URLWEIR_JOB_HOSTED_H
#define URLWEIR_JOB_HOSTED_H

#include "base/buf.h"
#include "base/status.h"
#include "job/confine.h"
#include "job/crawl_setup.h"
#include "job/crawls.h"
#include "job/options.h"

#define HOSTED_MEMORY ((uint64_t)256 << 20) /* of each, unless it says more */

struct hosted;

struct hosted_options {
    const char *dir;  /* the service's; NULL: none, and no crawls are made */
    bool quiet;       /* what becomes of crawls is not said on stderr */
    int64_t patience; /* see crawls_maker */
};

struct hosted *hosted_new(const struct hosted_options *o);
/* After crawls_close. NULL is fine. */
void hosted_free(struct hosted *h);
/* Lives as long as `h`. */
struct crawls_maker hosted_maker(struct hosted *h);

/* Before all else: the paths that these files, and the crawls in DIR/crawls,
 * name. */
void hosted_confine(struct confine *c, const char *dir,
                    const struct option_list *files);

/* Before crawls_open: the crawl of a YAML file, named as the file without its
 * directory and ".yaml". STATUS_ARG: `why`. */
MUST_CHECK enum status hosted_add_file(struct hosted *h, const char *path,
                                       struct buf *why);
/* After crawls_open: makes the crawls of files that are not there yet. Those
 * that cannot be made are named in `why`, one a line, and STATUS_ARG. */
MUST_CHECK enum status hosted_start_files(struct hosted *h, struct crawls *c,
                                          struct buf *why);

/* The one that `urlweir crawl` or `resume` runs, for crawls_adopt; all of it is
 * the caller's, and outlives it. Freed after crawls_close. */
struct crawls_member *hosted_adopt(struct crawl_setup *setup,
                                   const struct crawl_settings *s,
                                   struct engine *engine, struct crawl *crawl);
void hosted_release(struct crawls_member *m); /* NULL is fine */

/* The report of crawls_report, by this process: it starts a program. */
MUST_CHECK enum status hosted_report_run(const char *dir,
                                         const struct crawls_report *r, int fd);

#endif
