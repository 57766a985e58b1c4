/* cmocka with the headers that it forgets to include. */
#ifndef GPUBENCH_TESTS_UNIT_CHECK_H
#define GPUBENCH_TESTS_UNIT_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif
