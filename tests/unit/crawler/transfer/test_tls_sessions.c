/* SPDX-License-Identifier: MIT */
/* The cache of TLS sessions: one for each key, once, within its room. */
#include "crawler/transfer/multi.h"
#include "tests/unit/unit.h"

#include <stdio.h>
#include <string.h>

static void put(struct tls_sessions *s, const char *key, const char *session)
{
    tls_sessions_put(s, bytes_of_str(key), bytes_of_str(session));
}

/* Takes the key's session and compares it; NULL: there must be none. */
static void takes(struct tls_sessions *s, const char *key, const char *wanted)
{
    struct buf out;
    bool found;

    buf_init(&out, TLS_SESSION_MOST);
    found = tls_sessions_take(s, bytes_of_str(key), &out);
    ck_assert_int_eq(found, wanted != NULL);
    if (found)
        ck_assert_str_eq(buf_str(&out), wanted);
    buf_fini(&out);
}

TEST(a_key_has_its_latest_session_and_hands_it_out_once)
{
    struct tls_sessions *s = tls_sessions_new(1 << 20);

    takes(s, "https://a.test", NULL);
    put(s, "https://a.test", "one");
    put(s, "https://a.test", "two");
    put(s, "https://b.test", "three");
    takes(s, "https://a.test", "two");
    takes(s, "https://a.test", NULL);
    takes(s, "https://b.test", "three");
    put(s, "https://a.test", "four");
    takes(s, "https://a.test", "four");
    put(s, "https://a.test", ""); /* is none */
    takes(s, "https://a.test", NULL);
    put(s, "left", "behind");
    tls_sessions_free(s);
    tls_sessions_free(NULL);
}

TEST(without_room_the_oldest_go_first)
{
    struct tls_sessions *s = tls_sessions_new(64 << 10);
    char key[16], session[1001];
    struct buf out;
    unsigned kept = 0;

    memset(session, 'x', 1000);
    session[1000] = '\0';
    for (unsigned i = 0; i < 200; i++) {
        snprintf(key, sizeof key, "%u", i);
        put(s, key, session);
        put(s, "0", session); /* stays the newest but one */
    }
    takes(s, "0", session);
    takes(s, "199", session);
    takes(s, "100", NULL);
    buf_init(&out, TLS_SESSION_MOST);
    for (unsigned i = 1; i < 199; i++) {
        snprintf(key, sizeof key, "%u", i);
        kept += tls_sessions_take(s, bytes_of_str(key), &out);
        buf_clear(&out);
    }
    buf_fini(&out);
    ck_assert_uint_gt(kept, 40);
    ck_assert_uint_lt(kept, 64);
    tls_sessions_free(s);
}

Suite *suite_tls_sessions(void);
