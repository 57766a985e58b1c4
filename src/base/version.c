/* The Makefile gives this file's object the GPUBENCH_* macros, so that a new revision rebuilds it alone. */
#include "base/version.h"

const char *version_number(void)
{
    return GPUBENCH_VERSION;
}

const char *version_revision(void)
{
    return GPUBENCH_REVISION;
}

const char *version_compiler(void)
{
#if defined(__clang__)
    return "Clang " __clang_version__;
#elif defined(__GNUC__)
    return "GCC " __VERSION__;
#else
    return "unknown";
#endif
}

const char *version_flags(void)
{
    return GPUBENCH_FLAGS;
}
