/*
 * verify_store.h - does the store agree with itself and its manifest? Each
 * check prints its lines and counts them.
 */
#ifndef URLWEIR_CLI_VERIFY_VERIFY_STORE_H
#define URLWEIR_CLI_VERIFY_VERIFY_STORE_H

#include <stdbool.h>

#include "base/status.h"
#include "frontier/reader.h"

struct verdicts {
    bool service; /* of a service, not of a crawl */
    unsigned bad, mend;
    unsigned records; /* of bad, those about WARC files */
    unsigned derived; /* of bad, those about what follows from other rows */
};

/* Prints a line; `word`: "ok", "mend" or "BAD". */
void verify_says(struct verdicts *v, const char *word, const char *fmt, ...)
    PRINTF_LIKE(3, 4);

void verify_manifest(struct verdicts *v, struct reader *r);
void verify_store(struct verdicts *v, struct reader *r);
void verify_service(struct verdicts *v, struct reader *r);
void verify_links(struct verdicts *v, struct reader *r);
void verify_digests(struct verdicts *v, struct reader *r);

#endif
