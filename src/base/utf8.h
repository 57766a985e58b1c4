/* UTF-8 as RFC 3629 has it: no overlong forms, no surrogates, nothing over U+10FFFF. */
#ifndef GPUBENCH_BASE_UTF8_H
#define GPUBENCH_BASE_UTF8_H

#include <stddef.h>

/* Bytes (1 to 4) of the valid sequence that s starts with; 0 when it is not one, or len is 0. */
size_t utf8_sequence(const char *s, size_t len);

/* Code points in a string; an invalid byte counts as one. */
size_t utf8_length(const char *s);

#endif
