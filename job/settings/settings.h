/*
 * settings.h - reads, checks, saves and compares the settings of a crawl.
 *
 * options.h declares the settings. Used at start, by one thread.
 */
#ifndef URLWEIR_JOB_SETTINGS_SETTINGS_H
#define URLWEIR_JOB_SETTINGS_SETTINGS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/status.h"
#include "frontier/crawl/frontier_open.h"
#include "frontier/seen/seen_store.h"
#include "job/settings/options.h"

/* Sets all fields to their defaults; settings_fini() frees them. */
void settings_init(struct crawl_settings *s);
void settings_fini(struct crawl_settings *s);

/* Reads an item of --trap, RULE=N or RULE=off (threshold 0). False: it is not
 * one. */
bool settings_trap(const char *text, enum trap_rule *rule, uint32_t *threshold);
/* What --traps and --trap say. */
struct frontier_traps settings_traps(const struct crawl_settings *s);

/* The index of an existing option in crawl_options. */
size_t settings_index(const char *name);

/* Resolves contradictions between settings: a default gives way to a given
 * value (--delay 60s raises --max-delay's default of 30s); two given values
 * that contradict each other are refused. STATUS_ARG: `error` names them and
 * suggests what to do. */
MUST_CHECK enum status settings_check(struct crawl_settings *s,
                                      struct buf *error);

/* In a crawl's directory: its settings. */
#define SETTINGS_FILE "urlweir-settings.yaml"
/* Beside it, with mode 0600, the settings that are secrets (OPTION_SECRET).
 * Missing if there are none. */
#define SETTINGS_SECRETS "urlweir-secrets.yaml"

/* Does `dir` have settings of a crawl? */
bool settings_are_in(const char *dir);
/* The path of their file. */
void settings_path(const char *dir, struct buf *out);
/* Writes both files in s->output, each atomically, with all settings of the
 * crawl, defaults included.
 * STATUS_LIMIT: more text than can be read back (CONFIG_CEILING). */
MUST_CHECK enum status settings_save(const struct crawl_settings *s);
/* Reads both files in `dir` into `s`, which holds the defaults; its output
 * becomes `dir`. STATUS_NOT_FOUND: there are no settings. Otherwise like
 * config_load. */
MUST_CHECK enum status settings_load(struct crawl_settings *s, const char *dir,
                                     struct buf *error);
/* Reads the secrets of the crawl in `dir` into `s`, which holds the other
 * settings. A missing file is fine. Otherwise like config_load. */
MUST_CHECK enum status settings_load_secrets(struct crawl_settings *s,
                                             const char *dir,
                                             struct buf *error);
void settings_to_yaml(const struct crawl_settings *s, struct buf *out);
/* Do any settings differ, except those of a single run? */
bool settings_differ(const struct crawl_settings *a,
                     const struct crawl_settings *b);
/* The name of a setting that differs although it is fixed when a crawl starts
 * (OPTION_ON_START), or NULL. */
const char *settings_fixed_change(const struct crawl_settings *before,
                                  const struct crawl_settings *after);
/* Prints a line for each setting of the crawl that differs, "depth: 3 -> 5", or
 * "cookie: changed" for a secret. Returns their number. */
unsigned settings_diff(FILE *to, const struct crawl_settings *before,
                       const struct crawl_settings *after);

/* Is any secret set (OPTION_SECRET)? */
bool settings_has_secrets(const struct crawl_settings *s);

/* ---- what follows from settings ---- */

/* --follow and --assets without --ignore, as a set of LINK_BIT; --sitemap may
 * remove sitemaps, or all but them. LINK_REDIRECT is always in the set. */
uint32_t settings_link_kinds(const struct crawl_settings *s);
/* --max-body, octets. */
uint64_t settings_max_body(const struct crawl_settings *s);
/* The kind of --filter, named as in filter/filter.h; NULL: no filter. */
const char *settings_filter_kind(const struct crawl_settings *s);
/* The value of the User-Agent header: the given one, or "urlweir/VERSION", with
 * " (+CONTACT)" after it if there is a contact. */
void settings_user_agent(const struct crawl_settings *s, struct buf *out);
/* The part of it that robots.txt names (RFC 9309 section 2.2.1), in lower case:
 * "urlweir". */
void settings_product_token(const struct crawl_settings *s, struct buf *out);

/*
 * Settings as JSON.
 *
 * Keys are long names; values are texts as in a file, except counts, fractions
 * and flags. Settings of a single run are left out. Any thread.
 */

/* An object with all settings but secrets. */
json_t *settings_json(const struct crawl_settings *s);
/* An array with the names of the secrets that are set. */
json_t *settings_secrets_json(const struct crawl_settings *s);
/* An array of the settings that differ: name, before, after; null for a
 * secret. */
json_t *settings_changed_json(const struct crawl_settings *a,
                              const struct crawl_settings *b);

/*
 * How --memory is divided.
 *
 * Five eighths for the frontier (filter, hot cache, exact set, SQLite's cache,
 * queues), a quarter for bodies in flight; the rest, an eighth but at least 24
 * MiB, is for code, stacks and parsers. Connections use what the frontier does
 * not use yet (limits.h).
 */

/* Octets. */
struct memory_plan {
    uint64_t limit; /* all of it */
    uint64_t frontier, bodies, rest;
    uint64_t connections;           /* that they have in any case */
    struct seen_store_shares store; /* of the frontier's part */
};

/* `filter`: is one used? */
struct memory_plan memory_plan(uint64_t limit, bool filter);

/* The least --memory with which a body of `body` octets can be read. */
uint64_t memory_plan_least(uint64_t body);

/* ---- the settings of a crawl in a cluster ----
 *
 * One set of settings is stored in the cluster; all but those with
 * OPTION_OF_WORKER, OPTION_OF_RUN or OPTION_LINE_ONLY are the same for all
 * workers.
 */

/* Reads settings as config_write() writes them for a cluster into `s`; those of
 * a worker stay. STATUS_FORMAT: they are not valid; `why` says what. */
MUST_CHECK enum status cluster_settings_take(struct bytes text,
                                             struct crawl_settings *s,
                                             struct buf *why);
/* Does each worker have its own value? */
bool cluster_settings_are_own(const struct option_spec *o);
/* The names of the settings that are set and that each worker has to be given,
 * since they are secrets or files; a space after each. */
void cluster_settings_kept(const struct crawl_settings *s, struct buf *names);
/* Appends the options of such `names` that are not set here. */
void cluster_settings_lack(const struct crawl_settings *s, struct bytes names,
                           struct buf *lacking);
/* Checks the URL of a crawl with s->cluster, and that it has only settings that
 * work there. STATUS_ARG: `error` says what does not. */
MUST_CHECK enum status cluster_settings_check(const struct crawl_settings *s,
                                              struct buf *error);
/* The name of an option that was given for this run, although it is the
 * crawl's; NULL: there is none. */
const char *cluster_settings_foreign(const struct crawl_settings *s);
/* The name of a setting of the crawl that differs; NULL: there is none. */
const char *cluster_settings_changed(const struct crawl_settings *before,
                                     const struct crawl_settings *after);

#endif
