/*
 * settings_json.h - settings as JSON.
 *
 * Keys are long names; values are texts as in a file, except counts, fractions
 * and flags. Settings of a single run are left out. Any thread.
 */
#ifndef URLWEIR_JOB_SETTINGS_SETTINGS_JSON_H
#define URLWEIR_JOB_SETTINGS_SETTINGS_JSON_H

#include <jansson.h>

#include "job/settings/options.h"

/* An object with all settings but secrets. */
json_t *settings_json(const struct crawl_settings *s);
/* An array with the names of the secrets that are set. */
json_t *settings_secrets_json(const struct crawl_settings *s);
/* An array of the settings that differ: name, before, after; null for a
 * secret. */
json_t *settings_changed_json(const struct crawl_settings *a,
                              const struct crawl_settings *b);

#endif
