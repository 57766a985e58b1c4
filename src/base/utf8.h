/* UTF-8 as RFC 3629 has it: no overlong forms, no surrogates, nothing over U+10FFFF. */
#ifndef GPUBENCH_BASE_UTF8_H
#define GPUBENCH_BASE_UTF8_H

#include <stddef.h>

/* Bytes (1 to 4) of the valid sequence that s starts with; 0 when it is not one, or len is 0. */
size_t utf8_sequence(const char *s, size_t len);

/* Copies `length` bytes, or up to a NUL, as UTF-8 that commands no terminal, cut between characters to fit
 * out[size]: control characters (C0, DEL, C1) become blanks, bytes that are not UTF-8 question marks. out may
 * be text. */
void utf8_plain(char *out, size_t size, const char *text, size_t length);

/* Code points in a string; an invalid byte counts as one. */
size_t utf8_length(const char *s);

#endif
