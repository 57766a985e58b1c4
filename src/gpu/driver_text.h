/* What drivers say of themselves, made fit for terminals and files. */
#ifndef GPUBENCH_GPU_DRIVER_TEXT_H
#define GPUBENCH_GPU_DRIVER_TEXT_H

#include <stddef.h>

/* utf8_plain without blanks around it. */
void driver_text(char *out, size_t size, const char *text, size_t length);

#endif
