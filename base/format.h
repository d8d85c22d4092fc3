/*
 * format.h - numbers, sizes and times for people; JSON, CSV, HTML and terminal
 * text for untrusted bytes.
 *
 * Every function appends to a buffer and has no other effect; no locale is
 * used. Any thread.
 */
#ifndef URLWEIR_BASE_FORMAT_H
#define URLWEIR_BASE_FORMAT_H

#include <stdint.h>

#include "base/buf.h"
#include "base/bytes.h"

/* "1,234,567" */
void format_count(struct buf *out, uint64_t n);
/* "512 B", "1.5 KiB", "20 MiB"; three digits or so, powers of 1024. */
void format_size(struct buf *out, uint64_t bytes);
/* "850ms", "12.3s", "3m12s", "1h03m", "2d04h"; rounded down, below 0 as 0. */
void format_duration(struct buf *out, int64_t ms);
/* "0.42", "9.7", "98", "12,345": a rate, three digits or so. */
void format_rate(struct buf *out, double n);
/* The same as arguments of printf: COUNT(n) is a text that lives as long as the
 * block it stands in. */
#define FORMAT_ROOM  32
#define COUNT(n)     format_count_in((char[FORMAT_ROOM]){0}, n)
#define SIZE(bytes)  format_size_in((char[FORMAT_ROOM]){0}, bytes)
#define DURATION(ms) format_duration_in((char[FORMAT_ROOM]){0}, ms)
#define RATE(n)      format_rate_in((char[FORMAT_ROOM]){0}, n)
const char *format_count_in(char room[FORMAT_ROOM], uint64_t n);
const char *format_size_in(char room[FORMAT_ROOM], uint64_t bytes);
const char *format_duration_in(char room[FORMAT_ROOM], int64_t ms);
const char *format_rate_in(char room[FORMAT_ROOM], double n);
/* Seconds with milliseconds for programs: "12.345". */
void format_seconds(struct buf *out, int64_t ms);

/* A JSON string, quotes included (RFC 8259 section 7). Bytes that are not UTF-8
 * become U+FFFD; C0, DEL and C1 are escaped, so it is safe on a terminal too.
 */
void format_json(struct buf *out, struct bytes s);
/* A CSV field (RFC 4180), quoted if necessary; octets are unchanged. */
void format_csv(struct buf *out, struct bytes s);
/* For a terminal: control characters, bidirectional controls, and bytes that
 * are not UTF-8 become \xNN, octet by octet. */
void format_terminal(struct buf *out, struct bytes s);
/* For text and quoted attributes of HTML and SVG: escapes what format_terminal
 * escapes, and writes & < > " ' as entities. */
void format_html(struct buf *out, struct bytes s);

#endif
