/*
 * settings_json.h - settings as JSON, for those who may read them.
 *
 * By their long names; values as one would write them in a file, counts,
 * fractions and flags as such. Without those of one run. Any thread.
 */
#ifndef URLWEIR_JOB_SETTINGS_JSON_H
#define URLWEIR_JOB_SETTINGS_JSON_H

#include <jansson.h>

#include "job/options.h"

/* An object with all but secrets. */
json_t *settings_json(const struct crawl_settings *s);
/* An array with the names of those secrets that are set. */
json_t *settings_secrets_json(const struct crawl_settings *s);
/* An array: name, before, after of those that differ; null for a secret. */
json_t *settings_changed_json(const struct crawl_settings *a,
                              const struct crawl_settings *b);

#endif
