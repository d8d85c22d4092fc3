/*
 * settings.h - the settings of a crawl: where they come from, where they go,
 * and what follows from them.
 *
 * options.h has the settings themselves. Used at start, by one thread.
 */
#ifndef URLWEIR_JOB_SETTINGS_H
#define URLWEIR_JOB_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/status.h"
#include "job/options.h"

/* Defaults. All fields are overwritten; settings_fini() frees. */
void settings_init(struct crawl_settings *s);
void settings_fini(struct crawl_settings *s);

/* The number of an option that there is, in crawl_options. */
size_t settings_index(const char *name);

/* Bring settings that contradict each other to an end: a default gives way to
 * what was said (--delay 60s lifts --max-delay's default of 30s), two that were
 * said and cannot both hold are refused. STATUS_ARG: `error` says which and
 * what may have been meant. */
MUST_CHECK enum status settings_check(struct crawl_settings *s,
                                      struct buf *error);

/* In a crawl's directory: its settings. Older versions called it crawl.yaml. */
#define SETTINGS_FILE "urlweir-settings.yaml"
/* Beside it: the settings that are secrets (OPTION_SECRET), mode 0600. Missing
 * if there are none. */
#define SETTINGS_SECRETS "urlweir-secrets.yaml"

/* Are there settings of a crawl in `dir`, under that name or the older one? */
bool settings_are_in(const char *dir);
/* The path of the one that is there; else that of a new one. */
void settings_path(const char *dir, struct buf *out);
/* Writes both in DIR, which is s->output, each whole or not at all: all
 * settings of the crawl, defaults included. They take the place of a file with
 * the older name. STATUS_LIMIT: more text than can be read back
 * (CONFIG_CEILING). */
MUST_CHECK enum status settings_save(const struct crawl_settings *s);
/* Both files in `dir` into settings that hold the defaults; their output
 * becomes `dir`. STATUS_NOT_FOUND: there are none. Otherwise as config_load. */
MUST_CHECK enum status settings_load(struct crawl_settings *s, const char *dir,
                                     struct buf *error);
/* The secrets of the crawl in `dir` into settings that hold the others. A
 * missing file is fine. Otherwise as config_load. */
MUST_CHECK enum status settings_load_secrets(struct crawl_settings *s,
                                             const char *dir,
                                             struct buf *error);
void settings_to_yaml(const struct crawl_settings *s, struct buf *out);
/* Do any but those of a run differ? */
bool settings_differ(const struct crawl_settings *a,
                     const struct crawl_settings *b);
/* The name of one that is fixed when a crawl starts (OPTION_ON_START) and
 * differs; NULL: there is none. */
const char *settings_fixed_change(const struct crawl_settings *before,
                                  const struct crawl_settings *after);
/* One line for each setting of the crawl that differs, "depth: 3 -> 5", or
 * "cookie: changed" where the value is a secret; how many. */
unsigned settings_diff(FILE *to, const struct crawl_settings *before,
                       const struct crawl_settings *after);

/* Is any of the values one that others should not read (OPTION_SECRET)? */
bool settings_has_secrets(const struct crawl_settings *s);

/* ---- what follows from settings ---- */

/* --follow and --assets without --ignore, as LINK_BIT set; --sitemap may take
 * sitemaps out, or all but them. LINK_REDIRECT is always in. */
uint32_t settings_link_kinds(const struct crawl_settings *s);
/* The name of --filter, as filter/filter.h has it; NULL: none. */
const char *settings_filter_kind(const struct crawl_settings *s);
/* Value of the User-Agent header: as given, else "urlweir/VERSION", with
 * " (+CONTACT)" behind it where there is a contact. */
void settings_user_agent(const struct crawl_settings *s, struct buf *out);
/* The part of it that robots.txt is asked for (RFC 9309 section 2.2.1), in
 * lower case: "urlweir". */
void settings_product_token(const struct crawl_settings *s, struct buf *out);

#endif
