/*
 * status_settings.h - the settings of a crawl, as `urlweir status` shows them.
 */
#ifndef URLWEIR_CLI_INSPECT_STATUS_SETTINGS_H
#define URLWEIR_CLI_INSPECT_STATUS_SETTINGS_H

#include <jansson.h>

#include "frontier/reader.h"

/* Sets `settings`, `secrets`, and where they are others `settings_of_run`
 * (docs/formats/status.md). What cannot be read is said in `settings_error`. */
void status_set_settings(json_t *o, struct reader *r);
/* The same for people: those that are not the defaults. */
void status_print_settings(const json_t *o);

#endif
