/*
 * crawls_entry.h - of one crawl of the registry: its last command and its
 * removal, on disk; its hosts and recent answers, as JSON.
 *
 * For crawls.c alone. The registry's thread.
 */
#ifndef URLWEIR_JOB_REGISTRY_CRAWLS_ENTRY_H
#define URLWEIR_JOB_REGISTRY_CRAWLS_ENTRY_H

#include "job/registry/crawls.h"

/* The last command to a crawl. It survives restarts, unlike the crawl's state:
 * a crawl that a limit ended still has RUN. */
enum crawls_told {
    CRAWLS_TOLD_RUN,
    CRAWLS_TOLD_PAUSE,
    CRAWLS_TOLD_STOP,
    CRAWLS_TOLD_COUNT_
};

/* Saves the last command in the crawl's directory. */
MUST_CHECK enum status crawls_told_save(const char *dir, enum crawls_told told);
enum crawls_told crawls_told_load(const char *dir);
/* Removes the crawl's directory in `dir`, after renaming it. */
MUST_CHECK enum status crawls_remove(const char *dir, const char *name);
/* Removes a renamed directory that a crash left. */
void crawls_remove_rest(const char *dir, const char *file);

void crawls_fail(struct crawls_call *call, enum status st, const char *fmt, ...)
    PRINTF_LIKE(3, 4);
/* `crawl` is open. */
void crawls_call_hosts(struct crawl *crawl, struct crawls_call *call);
void crawls_call_recent(struct crawl *crawl, struct crawls_call *call);

#endif
