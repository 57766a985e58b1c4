#include "cli/version.h"

#include "base/version.h"

void version_print(bool verbose, FILE *out)
{
    fprintf(out, "gpubench %s (%s)\n", version_number(), version_revision());
    if (verbose)
        fprintf(out, "built with %s, %s\n", version_compiler(), version_flags());
}
