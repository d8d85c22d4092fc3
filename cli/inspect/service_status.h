/*
 * service_status.h - `urlweir status` of a directory of `urlweir serve`.
 */
#ifndef URLWEIR_CLI_INSPECT_SERVICE_STATUS_H
#define URLWEIR_CLI_INSPECT_SERVICE_STATUS_H

#include <stdbool.h>

#include "frontier/reader.h"

/* To stdout, as docs/formats/status.md has it; an enum exit_code. `queues`:
 * each of them, too. */
int service_status(struct reader *r, bool json, bool queues);

#endif
