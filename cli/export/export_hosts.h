/*
 * export_hosts.h - `urlweir export --what hosts`: each host, and what came of
 * its URLs.
 */
#ifndef URLWEIR_CLI_EXPORT_EXPORT_HOSTS_H
#define URLWEIR_CLI_EXPORT_EXPORT_HOSTS_H

#include "base/record.h"
#include "base/status.h"
#include "frontier/reader.h"

/* Prints the rows of docs/formats/hosts.md. Holds four octets for each URL of
 * the crawl while it reads. STATUS_IO: stdout is gone. */
MUST_CHECK enum status export_hosts(struct reader *r, struct record *out);

#endif
