/*
 * config.h - settings in YAML, read and written against a table of options.
 *
 * A file is one mapping: the keys are the long names of the options, lists are
 * YAML lists, everything else is a plain value with its unit: `delay: 1.5s`.
 * Values are taken as text, as on the command line, so YAML's own rules for
 * numbers and `no` do not apply. Unknown keys, keys given twice, values of the
 * wrong shape, anchors, aliases, tags and second documents are refused; so is
 * what is not UTF-8 or longer than CONFIG_CEILING. The first error ends the
 * reading; options set before it stay set.
 *
 * Any thread; nothing is shared.
 */
#ifndef URLWEIR_CONFIG_CONFIG_H
#define URLWEIR_CONFIG_CONFIG_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/status.h"
#include "config/option.h"

#define CONFIG_CEILING ((size_t)1 << 20) /* bytes of a file */

/* Reads settings from the file `path`, with the source `from`.
 * STATUS_NOT_FOUND, STATUS_IO: it cannot be read. STATUS_LIMIT: too long.
 * STATUS_FORMAT: `error` gets "path:line:column: what is wrong", with the
 * nearest known key if a key is unknown; line and column count from 1. Every
 * failure fills `error`. */
MUST_CHECK enum status config_load(const struct option_table *t, void *settings,
                                   const char *path, enum option_source from,
                                   struct buf *error);

/* As above, from memory; `name` replaces the path in errors. */
MUST_CHECK enum status config_read(const struct option_table *t, void *settings,
                                   struct bytes yaml, const char *name,
                                   enum option_source from, struct buf *error);

/* As above, for callers that do not allow every option. `refuse` returns why
 * `o` must not be set to `text` ("what is wrong; what to do"), or NULL if it
 * may be. */
typedef const char *config_refuse(const struct option_spec *o,
                                  struct bytes text);
MUST_CHECK enum status config_read_but(const struct option_table *t,
                                       void *settings, struct bytes yaml,
                                       const char *name,
                                       enum option_source from,
                                       config_refuse *refuse,
                                       struct buf *error);

/* Writes all settings except those of one run (OPTION_OF_RUN,
 * OPTION_LINE_ONLY), defaults too, section by section: the secret ones
 * (OPTION_SECRET), or all others. config_read reads both back to equal
 * settings. */
void config_write(const struct option_table *t, const void *settings,
                  bool secret, struct buf *out);

#endif
