/*
 * ledger.h - the truth, read from its file, and the requests.
 */
#ifndef URLWEIR_TESTS_SUPPORT_WEB_LEDGER_H
#define URLWEIR_TESTS_SUPPORT_WEB_LEDGER_H

#include <stdint.h>

#include "base/bytes.h"
#include "base/status.h"
#include "tests/support/web/web.h"

struct row {
    struct bytes url; /* lives as long as the ledger */
    enum fate fate;
    uint32_t least, most;
    uint32_t asked; /* requests */
    uint32_t good;  /* of these, answered with 2xx or 304 */
};

struct ledger;

/* STATUS_FORMAT: reported on stderr with its line number. */
MUST_CHECK enum status ledger_read(struct ledger **out, const char *path);
void ledger_free(struct ledger *l); /* NULL is fine */

size_t ledger_count(const struct ledger *l);
struct row *ledger_row(struct ledger *l, size_t i);
/* NULL: it is not in the truth. */
struct row *ledger_find(struct ledger *l, struct bytes url);
/* The port of its URLs. */
uint16_t ledger_port(const struct ledger *l);
/* Does the URL begin like a trap's? */
bool ledger_in_trap(const struct ledger *l, struct bytes url);
/* Seconds the host asks for; 0: none. */
double ledger_delay(const struct ledger *l, struct bytes address);

#endif
