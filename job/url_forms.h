/*
 * url_forms.h - the form of a crawl's URLs, from its settings.
 *
 * The text of the form (url_form_text) is noted in the store, as `url_form` in
 * its table meta: a rule in the file of --rewrite may change while the settings
 * stay the same, and readers of the store may not have that file.
 */
#ifndef URLWEIR_JOB_URL_FORMS_H
#define URLWEIR_JOB_URL_FORMS_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/status.h"
#include "frontier/frontier.h"
#include "frontier/reader.h"
#include "frontier/url/url_form.h"
#include "job/settings/options.h"

/* Reads the file of --rewrite too. STATUS_FORMAT, STATUS_LIMIT,
 * STATUS_NOT_FOUND, STATUS_IO: `why` names option and file. */
MUST_CHECK enum status url_forms_make(struct url_form **out,
                                      const struct crawl_settings *s,
                                      struct buf *why);
/* The same for a reader of a store, with the rules as noted there. On failure
 * *out is untouched. */
MUST_CHECK enum status url_forms_read(struct url_form **out,
                                      const struct crawl_settings *s,
                                      struct reader *r);

/* Notes the form of a crawl. *other: the note was another one, so queued URLs
 * may have a new form. */
MUST_CHECK enum status url_forms_note(struct frontier *f,
                                      const struct url_form *form, bool *other);

#endif
