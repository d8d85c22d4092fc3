/*
 * service_status.h - `urlweir status` of a directory of `urlweir serve`.
 */
#ifndef URLWEIR_CLI_STATUS_SERVICE_STATUS_H
#define URLWEIR_CLI_STATUS_SERVICE_STATUS_H

#include <stdbool.h>

#include "frontier/reader.h"

/* Prints the status as docs/formats/status.md describes, with `queues` that of
 * each queue, too. Returns an enum exit_code. */
int service_status(struct reader *r, bool json, bool queues);

#endif
