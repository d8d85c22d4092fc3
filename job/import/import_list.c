/* SPDX-License-Identifier: MIT */
/*
 * import_list.c - a list of URLs, each with its state.
 *
 *     URL                          it waits
 *     URL TAB STATE                waiting, done, failed or known
 *     URL TAB STATE TAB STATUS     done or failed, with this HTTP status
 *
 * Blank lines are skipped, and lines that begin with #. White space around a
 * field does not count.
 */
#include "job/import/import_format_impl.h"

static const struct {
    const char *word;
    enum outcome_status status;
} states[] = {
    {"waiting", OUTCOME_QUEUED},
    {"done", OUTCOME_FETCHED},
    {"failed", OUTCOME_FAILED},
    {"known", OUTCOME_SKIPPED},
};

static bool find_state(struct bytes word, struct import_record *out)
{
    for (size_t i = 0; i < sizeof states / sizeof *states; i++)
        if (bytes_is(word, states[i].word)) {
            out->status = states[i].status;
            out->word = states[i].word;
            return true;
        }
    return false;
}

static enum import_said read_line(struct import_reader *r, struct bytes line,
                                  struct import_record *out)
{
    struct bytes rest = bytes_trim(line), state, http;

    if (rest.len == 0 || rest.at[0] == '#')
        return IMPORT_NOTHING;
    out->url = bytes_trim(import_cut(&rest, '\t'));
    state = bytes_trim(import_cut(&rest, '\t'));
    http = bytes_trim(rest);
    if (state.len == 0)
        state = bytes_of_str("waiting");
    if (!find_state(state, out))
        return import_refuse(r,
                             "its state is not waiting, done, failed or known");
    if (http.len == 0)
        return IMPORT_RECORD;
    if (!import_http_status(http, &out->http_status))
        return import_refuse(r, "its HTTP status is not 100 to 599");
    if (out->status == OUTCOME_FETCHED)
        out->status = import_status_of(out->http_status);
    return IMPORT_RECORD;
}

const struct import_format import_list = {"list", read_line, NULL};
