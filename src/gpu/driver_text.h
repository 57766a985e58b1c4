/* What drivers say of themselves, made fit for terminals and files. */
#ifndef GPUBENCH_GPU_DRIVER_TEXT_H
#define GPUBENCH_GPU_DRIVER_TEXT_H

#include <stddef.h>

/* Copies `length` bytes, or up to a NUL, without blanks around them: UTF-8 of one line, cut between characters to
 * fit out[size]. Control characters become blanks, bytes that are not UTF-8 question marks. */
void driver_text(char *out, size_t size, const char *text, size_t length);

#endif
