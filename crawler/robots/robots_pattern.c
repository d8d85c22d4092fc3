/* SPDX-License-Identifier: MIT */
/*
 * robots_pattern.c - paths and path patterns of robots.txt, and their match.
 *
 * A pattern is cut at its stars into runs of plain octets. The first run must
 * match at the start of the path, the last at its end if there is a `$`, and
 * each run between is matched at the first place it occurs: a later place could
 * only leave less for the following runs, so nothing is tried twice. memmem()
 * is linear (two-way), and so is the whole. A matcher that goes back to the
 * last star is not: `*aaaab` on a long run of a's makes it quadratic.
 */
#include "crawler/robots/robots_pattern.h"

#include "base/ascii.h"
#include "frontier/url/percent.h"

/* RFC 3986 section 2.3. */
static bool is_unreserved(unsigned char c)
{
    return ascii_is_alnum((char)c) || c == '-' || c == '.' || c == '_' ||
           c == '~';
}

/* RFC 3986 section 2.2, without the two that are special in a pattern. */
static bool is_reserved(unsigned char c)
{
    return c != '\0' && strchr(":/?#[]@!&'()+,;=", c) != NULL;
}

static void add_encoded(struct buf *out, unsigned char c)
{
    static const char hex[] = "0123456789ABCDEF";
    const char three[3] = {'%', hex[c >> 4], hex[c & 15]};

    buf_add(out, three, sizeof three);
}

/* Appends the unit that starts at s.at[i]; returns how many octets it read. */
static size_t add_unit(struct buf *out, struct bytes s, size_t i)
{
    unsigned char c = (unsigned char)s.at[i];

    if (c == '%' && s.len - i >= 3 && ascii_hex(s.at[i + 1]) >= 0 &&
        ascii_hex(s.at[i + 2]) >= 0) {
        c = (unsigned char)(ascii_hex(s.at[i + 1]) * 16 +
                            ascii_hex(s.at[i + 2]));
        if (is_unreserved(c))
            buf_add_char(out, (char)c);
        else
            add_encoded(out, c);
        return 3;
    }
    if (c == '%' || is_unreserved(c) || is_reserved(c))
        buf_add_char(out, (char)c);
    else
        add_encoded(out, c);
    return 1;
}

void robots_path_normalise(struct bytes path, struct buf *out)
{
    for (size_t i = 0; i < path.len;)
        i += add_unit(out, path, i);
}

void robots_pattern_normalise(struct bytes pattern, struct buf *out)
{
    bool in_query = false;

    for (size_t i = 0; i < pattern.len;) {
        char c = pattern.at[i];

        if (c == '?')
            in_query = true;
        if (c == '*' || (c == '$' && i + 1 == pattern.len)) {
            buf_add_char(out, c);
            i++;
        } else if (c == '\'' && in_query) {
            /* As the URL Standard's parser writes it in a query. */
            add_encoded(out, '\'');
            i++;
        } else {
            i += add_unit(out, pattern, i);
        }
    }
}

/* Cuts the run before the next star off *rest, with the star; *last: there was
 * no further star. */
static struct bytes next_run(struct bytes *rest, bool *last)
{
    const char *star = rest->len > 0 ? memchr(rest->at, '*', rest->len) : NULL;
    struct bytes run = *rest;

    *last = star == NULL;
    if (star != NULL) {
        run.len = (size_t)(star - rest->at);
        *rest = bytes_of(star + 1, rest->len - run.len - 1);
    }
    return run;
}

static bool begins_with(struct bytes s, struct bytes run)
{
    return s.len >= run.len && bytes_equal(bytes_of(s.at, run.len), run);
}

static bool ends_with(struct bytes s, struct bytes run)
{
    return s.len >= run.len &&
           bytes_equal(bytes_of(s.at + (s.len - run.len), run.len), run);
}

/* Moves *s past the first occurrence of `run`. */
static bool skip_past(struct bytes *s, struct bytes run)
{
    const char *found;

    if (run.len == 0)
        return true;
    found = s->len > 0 ? memmem(s->at, s->len, run.at, run.len) : NULL;
    if (found == NULL)
        return false;
    found += run.len;
    *s = bytes_of(found, s->len - (size_t)(found - s->at));
    return true;
}

bool robots_pattern_matches(struct bytes pattern, struct bytes path)
{
    bool to_end = pattern.len > 0 && pattern.at[pattern.len - 1] == '$';
    bool last = false;
    struct bytes run;

    if (to_end)
        pattern.len--;
    run = next_run(&pattern, &last);
    if (!begins_with(path, run))
        return false;
    path = bytes_of(path.at + run.len, path.len - run.len);
    if (last)
        return !to_end || path.len == 0;
    for (;;) {
        run = next_run(&pattern, &last);
        if (last && to_end)
            return ends_with(path, run);
        if (!skip_past(&path, run))
            return false;
        if (last)
            return true;
    }
}
