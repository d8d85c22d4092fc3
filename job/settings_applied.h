/*
 * settings_applied.h - settings of a crawl that change during its life.
 *
 * The settings file says what a crawl is to do from its next start on; the
 * store remembers what was in force when it was written last, under `settings`
 * in its table meta (secrets aside). The two differ after a change by options
 * of a resume, over HTTP or in the file, and after a run with --once. Whoever
 * goes on with a crawl brings them together here:
 *
 *   1. what is to be kept is saved in the file (settings_save)
 *   2. what follows for the store is done, and then noted there
 *
 * What a crash cuts short is done again by the next start, as the note still
 * has the old settings. Called by the thread that has the engine.
 */
#ifndef URLWEIR_JOB_SETTINGS_APPLIED_H
#define URLWEIR_JOB_SETTINGS_APPLIED_H

#include <stdbool.h>

#include "base/bytes.h"
#include "base/status.h"
#include "job/crawl_setup.h"
#include "job/options.h"

/* *was: the settings that were in force when the store was written last, with
 * the secrets of `s`; made, to be freed. *known false: an older version wrote
 * the store, and *was is a copy of `s`. On failure there is nothing to free. */
MUST_CHECK enum status settings_applied(struct engine *e,
                                        const struct crawl_settings *s,
                                        struct crawl_settings *was,
                                        bool *known);
/* The same of the note itself, for those that only read the store: *was is made
 * either way; returns whether they are known. */
bool settings_of_note(struct bytes note, const struct crawl_settings *s,
                      struct crawl_settings *was);

/* Of a new crawl: notes `s`. */
MUST_CHECK enum status settings_note_first(struct engine *e,
                                           const struct crawl_settings *s);
/* Notes `s`, which are in force from now on; what they let in is judged again
 * from the next turn on, when the scope has to be theirs. *recheck: URLs may be
 * queued that an earlier one has admitted; they are asked again when they are
 * leased. */
MUST_CHECK enum status settings_note(struct engine *e,
                                     const struct crawl_settings *s,
                                     bool *recheck);
/* Puts `s` in force in a crawl that is open and does not run yet, on disk when
 * it returns: opens its
 * scope again, has queued URLs asked again if what drops them ever changed, and
 * lets drops in that they allow (engine_ops.rejudge). */
MUST_CHECK enum status settings_put_in_force(struct engine *e,
                                             struct crawl_setup *c,
                                             const struct crawl_settings *s);

#endif
