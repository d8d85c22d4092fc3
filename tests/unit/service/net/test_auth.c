/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <unistd.h>

#include "base/file/file.h"
#include "base/logger.h"
#include "service/net/auth.h"
#include "tests/unit/unit.h"

#define READER "reader-0123456789"
#define WRITER "writer-0123456789"
#define ADMIN  "admin-0123456789a"

static char path[64];

static void write_file(const char *text)
{
    snprintf(path, sizeof path, "/tmp/urlweir-auth-%ld", (long)getpid());
    ck_ok(file_replace(path, bytes_of_str(text)));
    logger_set_level(LOG_LEVEL_ERROR);
}

static enum auth_role role(struct auth *a, const char *token)
{
    return auth_role_of(a, bytes_of_str(token));
}

TEST(each_token_has_its_role_and_others_none)
{
    struct auth *a = NULL;

    write_file("# who may what\n\nread " READER "\n  write\t" WRITER
               "  \r\nadmin " ADMIN);
    ck_ok(auth_new(&a, path));
    unlink(path);
    ck_assert_int_eq(role(a, READER), AUTH_READ);
    ck_assert_int_eq(role(a, WRITER), AUTH_WRITE);
    ck_assert_int_eq(role(a, ADMIN), AUTH_ADMIN);
    ck_assert_int_eq(role(a, ""), AUTH_NONE);
    ck_assert_int_eq(role(a, READER "x"), AUTH_NONE);
    ck_assert_int_eq(role(a, "reader-012345678"), AUTH_NONE);
    ck_assert_int_eq(role(a, "read " READER), AUTH_NONE);
    auth_free(a);
}

TEST(a_file_that_is_wrong_is_refused)
{
    static const char *const wrong[] = {
        "",
        "# nothing\n",
        "root " ADMIN "\n",
        "admin\n",
        ADMIN "\n",
        "admin two words-two words\n",
        "admin caf\xc3\xa9-caf\xc3\xa9-caf\xc3\xa9\n",
    };
    struct auth *a = NULL;

    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        write_file(wrong[i]);
        logger_set_level(LOG_LEVEL_ERROR);
        ck_assert_msg(auth_new(&a, path) == STATUS_FORMAT, "%s", wrong[i]);
    }
    unlink(path);
    ck_assert_int_eq(auth_new(&a, path), STATUS_NOT_FOUND);
}

TEST(short_tokens_are_taken)
{
    struct auth *a = NULL;

    write_file("admin x\n");
    ck_ok(auth_new(&a, path)); /* with a warning */
    unlink(path);
    ck_assert_int_eq(role(a, "x"), AUTH_ADMIN);
    auth_free(a);
}

TEST(a_reload_takes_the_new_tokens_or_keeps_the_old_ones)
{
    struct auth *a = NULL;

    write_file("read " READER "\n");
    ck_ok(auth_new(&a, path));
    write_file("write " WRITER "\n");
    ck_ok(auth_reload(a));
    ck_assert_int_eq(role(a, READER), AUTH_NONE);
    ck_assert_int_eq(role(a, WRITER), AUTH_WRITE);
    write_file("nonsense\n");
    ck_assert_int_eq(auth_reload(a), STATUS_FORMAT);
    unlink(path);
    ck_assert_int_eq(auth_reload(a), STATUS_NOT_FOUND);
    ck_assert_int_eq(role(a, WRITER), AUTH_WRITE);
    auth_free(a);
}

static bool bearer_is(const char *header, const char *token)
{
    return bytes_is(auth_bearer(bytes_of_str(header)), token);
}

TEST(rfc6750_2_1_the_token_stands_behind_the_scheme)
{
    ck_assert(bearer_is("Bearer abc", "abc"));
    ck_assert(bearer_is("bearer abc", "abc"));
    ck_assert(bearer_is("BEARER  abc ", "abc"));
    ck_assert(bearer_is("Basic abc", ""));
    ck_assert(bearer_is("Bearer", ""));
    ck_assert(bearer_is("Bearer ", ""));
    ck_assert(bearer_is("", ""));
    ck_assert_uint_eq(auth_bearer(bytes_of(NULL, 0)).len, 0);
}
