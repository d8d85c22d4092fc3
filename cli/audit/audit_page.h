/*
 * audit_page.h - an audit as one HTML page with plots (docs/formats/audit.md).
 *
 * Every number stands in a <data value="..."> with the digits of --json.
 */
#ifndef URLWEIR_CLI_AUDIT_AUDIT_PAGE_H
#define URLWEIR_CLI_AUDIT_AUDIT_PAGE_H

#include "base/buf.h"
#include "frontier/audit/audit.h"

#define AUDIT_PAGE_LOST 1000 /* most lost URLs that it lists */

/* `what`: the directory or file that was audited. `lost`: the first lost URLs,
 * each followed by LF. */
void audit_page(struct buf *out, const struct audit *a, const char *what,
                const struct buf *lost);

#endif
