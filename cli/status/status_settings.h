/*
 * status_settings.h - the settings of a crawl, as `urlweir status` shows them.
 */
#ifndef URLWEIR_CLI_STATUS_STATUS_SETTINGS_H
#define URLWEIR_CLI_STATUS_STATUS_SETTINGS_H

#include <jansson.h>

#include "frontier/reader.h"

/* Sets `settings`, `secrets` and, if the last run had other settings,
 * `settings_of_run` (docs/formats/status.md); or `settings_error` if they
 * cannot be read. */
void status_set_settings(json_t *o, struct reader *r);
/* Prints for people the settings that are not the defaults. */
void status_print_settings(const json_t *o);

#endif
