/* SPDX-License-Identifier: MIT */
/* token_file.c - the token that a caller sends, from a file. */
#include "service/net/token_file.h"

#include <string.h>

#include "base/file/file.h"
#include "service/net/auth.h"

#define TOKEN_FILE_MOST ((size_t)1 << 20)

/* The rank of the role that `word` names; 0: not the name of a role. */
static int rank_of(struct bytes word)
{
    for (int r = AUTH_READ; r <= AUTH_ADMIN; r++)
        if (bytes_is(word, auth_role_name((enum auth_role)r)))
            return r;
    return 0;
}

static struct bytes next_line(struct bytes *text)
{
    const char *end = memchr(text->at, '\n', text->len);
    size_t n = end != NULL ? (size_t)(end - text->at) : text->len;
    struct bytes line = bytes_of(text->at, n);

    if (end != NULL)
        n++;
    *text = bytes_of(text->at + n, text->len - n);
    return bytes_trim(line);
}

/* Reads "ROLE TOKEN" or "TOKEN"; `token` keeps the one of the highest rank. */
static void take_token_line(struct bytes line, int *best, struct buf *token)
{
    size_t word = 0;
    int rank;

    if (line.len == 0 || line.at[0] == '#')
        return;
    while (word < line.len && line.at[word] != ' ' && line.at[word] != '\t')
        word++;
    rank = rank_of(bytes_of(line.at, word));
    if (rank > 0 && word < line.len)
        line = bytes_trim(bytes_of(line.at + word, line.len - word));
    if (rank <= *best)
        return;
    *best = rank;
    buf_clear(token);
    buf_add_bytes(token, line);
}

bool token_is_valid(const struct buf *token)
{
    bool ok = token->len > 0 && token->len <= AUTH_TOKEN_MOST;

    for (size_t i = 0; ok && i < token->len; i++)
        ok = token->at[i] > ' ' && token->at[i] < 0x7f;
    return ok;
}

void token_forget(struct buf *secret)
{
    if (secret->at != NULL)
        explicit_bzero(secret->at, secret->cap);
    buf_fini(secret);
}

enum status token_file_read(const char *path, struct buf *token)
{
    struct buf file;
    struct bytes rest;
    int best = -1;
    enum status st;

    buf_init(&file, TOKEN_FILE_MOST);
    st = file_read(path, &file);
    rest = buf_bytes(&file);
    while (st == STATUS_OK && rest.len > 0)
        take_token_line(next_line(&rest), &best, token);
    if (st == STATUS_OK && !token_is_valid(token))
        st = STATUS_FORMAT;
    token_forget(&file);
    return st;
}
