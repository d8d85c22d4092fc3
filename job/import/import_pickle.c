/* SPDX-License-Identifier: MIT */
/*
 * import_pickle.c - reads a request of Scrapy out of a pickle.
 *
 * The table has what an operation has behind it, how many values it takes from
 * the stack, and whether it leaves one; what it would do is not known here.
 * Texts and the outermost dictionary are told from the rest, and marks, down to
 * which an operation may take.
 */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "job/import/import_request.h"

#define STACK_MOST 4096
#define MEMO_MOST  1024 /* what is memoized after that is a thing of no name */

enum kind { THING, TEXT, MARK, OUTERMOST };
struct value {
    enum kind kind;
    struct bytes text;
};

struct machine {
    struct bytes in;
    size_t at;
    size_t depth, memo_count;
    struct import_request *out;
    struct value stack[STACK_MOST], memo[MEMO_MOST];
};

enum argument {
    ARG_NONE,
    ARG_1,
    ARG_2,
    ARG_4,
    ARG_8,
    ARG_LEN1, /* a length of so many octets, little-endian, and the data */
    ARG_LEN4,
    ARG_LEN8,
    ARG_LINE,
    ARG_LINES /* two */
};
#define TO_MARK 255 /* takes all values down to the last mark, and the mark */

struct operation {
    bool known;
    unsigned char argument; /* enum argument */
    unsigned char takes;
    unsigned char leaves;
};

#define OP(argument, takes, leaves)                                            \
    {                                                                          \
        true, argument, takes, leaves                                          \
    }
static const struct operation operations[256] = {
    [0x80] = OP(ARG_1, 0, 0),          /* PROTO */
    [0x95] = OP(ARG_8, 0, 0),          /* FRAME */
    ['}'] = OP(ARG_NONE, 0, 1),        /* EMPTY_DICT */
    [']'] = OP(ARG_NONE, 0, 1),        /* EMPTY_LIST */
    [')'] = OP(ARG_NONE, 0, 1),        /* EMPTY_TUPLE */
    [0x8f] = OP(ARG_NONE, 0, 1),       /* EMPTY_SET */
    [0x8c] = OP(ARG_LEN1, 0, 1),       /* SHORT_BINUNICODE */
    ['X'] = OP(ARG_LEN4, 0, 1),        /* BINUNICODE */
    [0x8d] = OP(ARG_LEN8, 0, 1),       /* BINUNICODE8 */
    ['C'] = OP(ARG_LEN1, 0, 1),        /* SHORT_BINBYTES */
    ['B'] = OP(ARG_LEN4, 0, 1),        /* BINBYTES */
    [0x8e] = OP(ARG_LEN8, 0, 1),       /* BINBYTES8 */
    [0x96] = OP(ARG_LEN8, 0, 1),       /* BYTEARRAY8 */
    ['U'] = OP(ARG_LEN1, 0, 1),        /* SHORT_BINSTRING */
    ['T'] = OP(ARG_LEN4, 0, 1),        /* BINSTRING */
    ['S'] = OP(ARG_LINE, 0, 1),        /* STRING */
    ['V'] = OP(ARG_LINE, 0, 1),        /* UNICODE */
    ['N'] = OP(ARG_NONE, 0, 1),        /* NONE */
    [0x88] = OP(ARG_NONE, 0, 1),       /* NEWTRUE */
    [0x89] = OP(ARG_NONE, 0, 1),       /* NEWFALSE */
    ['K'] = OP(ARG_1, 0, 1),           /* BININT1 */
    ['M'] = OP(ARG_2, 0, 1),           /* BININT2 */
    ['J'] = OP(ARG_4, 0, 1),           /* BININT */
    ['G'] = OP(ARG_8, 0, 1),           /* BINFLOAT */
    [0x8a] = OP(ARG_LEN1, 0, 1),       /* LONG1 */
    [0x8b] = OP(ARG_LEN4, 0, 1),       /* LONG4 */
    ['I'] = OP(ARG_LINE, 0, 1),        /* INT */
    ['L'] = OP(ARG_LINE, 0, 1),        /* LONG */
    ['F'] = OP(ARG_LINE, 0, 1),        /* FLOAT */
    ['a'] = OP(ARG_NONE, 1, 0),        /* APPEND */
    ['e'] = OP(ARG_NONE, TO_MARK, 0),  /* APPENDS */
    [0x90] = OP(ARG_NONE, TO_MARK, 0), /* ADDITEMS */
    ['s'] = OP(ARG_NONE, 2, 0),        /* SETITEM */
    ['u'] = OP(ARG_NONE, TO_MARK, 0),  /* SETITEMS */
    ['t'] = OP(ARG_NONE, TO_MARK, 1),  /* TUPLE */
    ['l'] = OP(ARG_NONE, TO_MARK, 1),  /* LIST */
    ['d'] = OP(ARG_NONE, TO_MARK, 1),  /* DICT */
    [0x91] = OP(ARG_NONE, TO_MARK, 1), /* FROZENSET */
    [0x85] = OP(ARG_NONE, 1, 1),       /* TUPLE1 */
    [0x86] = OP(ARG_NONE, 2, 1),       /* TUPLE2 */
    [0x87] = OP(ARG_NONE, 3, 1),       /* TUPLE3 */
    ['0'] = OP(ARG_NONE, 1, 0),        /* POP */
    ['1'] = OP(ARG_NONE, TO_MARK, 0),  /* POP_MARK */
    ['c'] = OP(ARG_LINES, 0, 1),       /* GLOBAL */
    [0x93] = OP(ARG_NONE, 2, 1),       /* STACK_GLOBAL */
    ['R'] = OP(ARG_NONE, 2, 1),        /* REDUCE */
    ['b'] = OP(ARG_NONE, 1, 0),        /* BUILD */
    [0x81] = OP(ARG_NONE, 2, 1),       /* NEWOBJ */
    [0x92] = OP(ARG_NONE, 3, 1),       /* NEWOBJ_EX */
    ['o'] = OP(ARG_NONE, TO_MARK, 1),  /* OBJ */
    ['i'] = OP(ARG_LINES, TO_MARK, 1), /* INST */
    ['P'] = OP(ARG_LINE, 0, 1),        /* PERSID */
    ['Q'] = OP(ARG_NONE, 1, 1),        /* BINPERSID */
    [0x82] = OP(ARG_1, 0, 1),          /* EXT1 */
    [0x83] = OP(ARG_2, 0, 1),          /* EXT2 */
    [0x84] = OP(ARG_4, 0, 1),          /* EXT4 */
};

/* ---- arguments ---- */

static bool take_octets(struct machine *m, uint64_t n, struct bytes *out)
{
    if (n > m->in.len - m->at)
        return false;
    *out = bytes_of(m->in.at + m->at, (size_t)n);
    m->at += (size_t)n;
    return true;
}

static uint64_t number_of(struct bytes b)
{
    uint64_t n = 0;

    for (size_t i = b.len; i > 0; i--)
        n = n << 8 | (unsigned char)b.at[i - 1];
    return n;
}

static bool take_sized(struct machine *m, size_t size, struct bytes *out)
{
    return take_octets(m, size, out) && take_octets(m, number_of(*out), out);
}

static bool take_line(struct machine *m, struct bytes *out)
{
    struct bytes rest = bytes_skip(m->in, m->at);
    const char *lf = rest.len > 0 ? memchr(rest.at, '\n', rest.len) : NULL;

    if (lf == NULL)
        return false;
    *out = bytes_of(rest.at, (size_t)(lf - rest.at));
    m->at += out->len + 1;
    return true;
}

/* False: the pickle is cut short. */
static bool take_argument(struct machine *m, enum argument a, struct bytes *out)
{
    *out = bytes_of(m->in.at, 0);
    switch (a) {
    case ARG_NONE:
        return true;
    case ARG_1:
        return take_octets(m, 1, out);
    case ARG_2:
        return take_octets(m, 2, out);
    case ARG_4:
        return take_octets(m, 4, out);
    case ARG_8:
        return take_octets(m, 8, out);
    case ARG_LEN1:
        return take_sized(m, 1, out);
    case ARG_LEN4:
        return take_sized(m, 4, out);
    case ARG_LEN8:
        return take_sized(m, 8, out);
    case ARG_LINE:
        return take_line(m, out);
    case ARG_LINES:
        if (!take_line(m, out))
            return false;
        return take_line(m, out);
    }
    return false;
}

/* ---- the stack ---- */

static enum import_request_said push(struct machine *m, struct value v)
{
    if (m->depth == STACK_MOST)
        return IMPORT_REQUEST_BAD;
    m->stack[m->depth++] = v;
    return IMPORT_REQUEST_OK;
}

/* Where the values begin that an operation takes; SIZE_MAX: there are too
 * few. */
static size_t taken_from(const struct machine *m, unsigned takes)
{
    size_t at = m->depth;

    if (takes != TO_MARK)
        return m->depth >= takes ? m->depth - takes : SIZE_MAX;
    while (at > 0 && m->stack[at - 1].kind != MARK)
        at--;
    return at > 0 ? at : SIZE_MAX;
}

/* Pairs of the outermost dictionary. */
static void take_pairs(struct machine *m, size_t from)
{
    for (size_t i = from; i + 1 < m->depth; i += 2)
        if (m->stack[i].kind == TEXT && m->stack[i + 1].kind == TEXT)
            import_request_pair(m->out, m->stack[i].text, m->stack[i + 1].text);
}

static bool is_text(unsigned char code)
{
    return code == 0x8c || code == 0x8d || code == 'X';
}

static enum import_request_said run(struct machine *m, unsigned char code,
                                    const struct operation *o)
{
    struct value left = {.kind = THING};
    struct bytes arg;
    size_t from, below;

    if (!take_argument(m, (enum argument)o->argument, &arg))
        return IMPORT_REQUEST_CUT;
    from = taken_from(m, o->takes);
    if (from == SIZE_MAX)
        return IMPORT_REQUEST_BAD;
    below = o->takes == TO_MARK ? from - 1 : from; /* without the mark */
    if ((code == 'u' || code == 's') && below == 1 &&
        m->stack[0].kind == OUTERMOST)
        take_pairs(m, from);
    m->depth = below;
    if (o->leaves == 0)
        return IMPORT_REQUEST_OK;
    if (is_text(code))
        left = (struct value){TEXT, arg};
    if (code == '}' && m->depth == 0)
        left.kind = OUTERMOST;
    return push(m, left);
}

/* ---- the memo ---- */

static enum import_request_said store(struct machine *m, uint64_t index)
{
    const struct value *top;

    if (m->depth == 0)
        return IMPORT_REQUEST_BAD;
    top = &m->stack[m->depth - 1];
    if (index < MEMO_MOST) {
        m->memo[index] = *top;
        if (top->kind != TEXT)
            m->memo[index].kind = THING;
    }
    return IMPORT_REQUEST_OK;
}

static enum import_request_said recall(struct machine *m, uint64_t index)
{
    struct value v = {.kind = THING};

    if (index < MEMO_MOST)
        v = m->memo[index];
    return push(m, v);
}

/* BINPUT, LONG_BINPUT, BINGET, LONG_BINGET */
static enum import_request_said use_memo(struct machine *m, unsigned char code)
{
    const bool is_long = code == 'j' || code == 'r';
    struct bytes arg;

    if (!take_octets(m, is_long ? 4 : 1, &arg))
        return IMPORT_REQUEST_CUT;
    return code == 'q' || code == 'r' ? store(m, number_of(arg))
                                      : recall(m, number_of(arg));
}

static enum import_request_said step(struct machine *m, unsigned char code)
{
    switch (code) {
    case '(': /* MARK */
        return push(m, (struct value){.kind = MARK});
    case '2': /* DUP */
        return m->depth == 0 ? IMPORT_REQUEST_BAD
                             : push(m, (struct value){.kind = THING});
    case 0x94: /* MEMOIZE */
        return store(m, m->memo_count++);
    case 'q':
    case 'r':
    case 'h':
    case 'j':
        return use_memo(m, code);
    default:
        return operations[code].known ? run(m, code, &operations[code])
                                      : IMPORT_REQUEST_BAD;
    }
}

enum import_request_said import_request_pickled(struct bytes in,
                                                struct import_request *out)
{
    struct machine m;
    enum import_request_said said = IMPORT_REQUEST_OK;
    unsigned char code = 0;

    m.in = in;
    m.out = out;
    m.at = m.depth = m.memo_count = 0;
    memset(m.memo, 0, sizeof m.memo); /* things of no name */
    m.stack[0] = m.memo[0];
    while (said == IMPORT_REQUEST_OK && code != '.') {
        if (m.at == in.len)
            return IMPORT_REQUEST_CUT;
        code = (unsigned char)in.at[m.at++];
        if (code != '.')
            said = step(&m, code);
    }
    out->len = m.at;
    if (said == IMPORT_REQUEST_OK &&
        (m.depth != 1 || m.stack[0].kind != OUTERMOST))
        said = IMPORT_REQUEST_BAD;
    return said;
}
