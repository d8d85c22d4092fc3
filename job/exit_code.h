/*
 * exit_code.h - exit statuses.
 */
#ifndef URLWEIR_JOB_EXIT_CODE_H
#define URLWEIR_JOB_EXIT_CODE_H

/* Exit statuses, the same for every command (docs/man/urlweir.1). */
enum exit_code {
    EXIT_DONE = 0,
    EXIT_USAGE = 1,  /* usage or configuration */
    EXIT_CANNOT = 2, /* cannot start: no crawl, unexpected crawl, or locked */
    EXIT_LIMIT = 3,  /* stopped by a limit; resumable */
    EXIT_INTERRUPTED = 4, /* checkpoint written; resumable */
    EXIT_SEEDS = 5,       /* finished, some seeds failed */
    EXIT_DAMAGED = 6,     /* state damaged; the message says what to do */
    EXIT_STUCK = 7 /* checkpoint written; a fetcher hung, and the next start
                      fails its URL and continues */
};

#endif
