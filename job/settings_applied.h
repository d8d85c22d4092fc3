/*
 * settings_applied.h - applies changed settings to a crawl.
 *
 * The settings file says what a crawl does from its next start on; the store
 * has the settings that were in force when it was written last, under
 * `settings` in its table meta (without secrets). The two differ after a change
 * by options of a resume, over HTTP or in the file, and after a run with
 * --once. Code that continues a crawl makes them agree:
 *
 *   1. it saves in the file what is to be kept (settings_save)
 *   2. it applies the settings to the store, and then notes them there
 *
 * After a crash in between, the next start does this again, as the note still
 * has the old settings. Called by the thread that owns the frontier.
 */
#ifndef URLWEIR_JOB_SETTINGS_APPLIED_H
#define URLWEIR_JOB_SETTINGS_APPLIED_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/status.h"
#include "job/crawl_setup.h"
#include "job/settings/options.h"

/* Sets *was to the settings that were in force when the store was written last,
 * with the secrets of `s`; the caller frees them. *known false: an older
 * version wrote the store, and *was is a copy of `s`. On failure there is
 * nothing to free. */
MUST_CHECK enum status settings_applied(struct frontier *f,
                                        const struct crawl_settings *s,
                                        struct crawl_settings *was,
                                        bool *known);
/* Like settings_applied, but from the note itself, for readers of the store.
 * Always initialises *was; returns whether the settings are known. */
bool settings_of_note(struct bytes note, const struct crawl_settings *s,
                      struct crawl_settings *was);

/* Appends the options that can lift this reason, "--mime, --warc", to `out`;
 * none if no setting can. */
void settings_that_lift(enum outcome_reason r, struct buf *out);

/* Notes `s` for a new crawl, and the form of its URLs. */
MUST_CHECK enum status settings_note_first(struct frontier *f,
                                           const struct crawl_settings *s,
                                           const struct url_form *form);
/* Notes `s`, which are in force from now on. Drops that they may admit are
 * judged again from the next turn on; until then the caller must install the
 * new scope. *recheck: the queue may have URLs that earlier settings admitted,
 * to be checked again when they are leased. */
MUST_CHECK enum status settings_note(struct frontier *f,
                                     const struct crawl_settings *s,
                                     const struct url_form *form,
                                     bool *recheck);
/* Puts `s` in force in an open crawl that does not run yet, durably: opens its
 * scope again, has queued URLs checked again if the settings that drop URLs
 * ever changed, and admits drops that `s` allows (frontier_rejudge). */
MUST_CHECK enum status settings_put_in_force(struct frontier *f,
                                             struct crawl_setup *c,
                                             const struct crawl_settings *s);

#endif
