/*
 * config.h - settings in YAML, read and written against a table of options.
 *
 * A file is one mapping: the keys are the long names of the options, lists are
 * YAML lists, everything else is a plain value with its unit: `delay: 1.5s`.
 * What stands there is taken as text, as on the command line, so YAML's own
 * ideas of numbers and of `no` do not matter. Unknown keys, keys given twice,
 * values of the wrong shape, anchors, aliases, tags and second documents are
 * refused; so is what is not UTF-8 or longer than CONFIG_CEILING. The first
 * mistake ends the reading, and what was set before it stays set.
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

/* Settings of the file `path`, said by `from`. STATUS_NOT_FOUND, STATUS_IO: it
 * cannot be read. STATUS_LIMIT: too long. STATUS_FORMAT: `error` gains
 * "path:line:column: what is wrong", with the nearest key where one is
 * unknown; line and column count from 1. `error` is filled in every case. */
MUST_CHECK enum status config_load(const struct option_table *t, void *settings,
                                   const char *path, enum option_source from,
                                   struct buf *error);

/* The same from memory; `name` stands for the path in errors. */
MUST_CHECK enum status config_read(const struct option_table *t, void *settings,
                                   struct bytes yaml, const char *name,
                                   enum option_source from, struct buf *error);

/* The same for who has no use for every option. `refuse` says why nobody may
 * set `o` to `text`, "what is wrong; what to do", or NULL: one may. */
typedef const char *config_refuse(const struct option_spec *o,
                                  struct bytes text);
MUST_CHECK enum status config_read_but(const struct option_table *t,
                                       void *settings, struct bytes yaml,
                                       const char *name,
                                       enum option_source from,
                                       config_refuse *refuse,
                                       struct buf *error);

/* All settings but those of one run (OPTION_OF_RUN, OPTION_LINE_ONLY), defaults
 * too, section by section: the secret ones (OPTION_SECRET), or all others.
 * config_read reads both back to equal settings. */
void config_write(const struct option_table *t, const void *settings,
                  bool secret, struct buf *out);

#endif
