#!/bin/bash
# The order of the folders in src/: each includes only itself and those before it; cpu and gpu not each
# other, and nobody but cli includes those two. Libraries have one user each, and only cli prints and exits.
# Prints what breaks the rules; exit status 1 when something does.
set -eu
cd "$(dirname "$0")/.."

awk -f - src/*/*.[ch] <<'AWK' || exit 1
BEGIN {
    split("base model cpu gpu plan bench record report cli", order, " ")
    for (i in order)
        rank[order[i]] = i
}

function wrong(what) {
    print FILENAME ":" FNR ": " what
    bad = 1
}

# Where a library or a call belongs, as a pattern of file names.
function only(pattern, where, what) {
    if (code ~ pattern && FILENAME !~ where)
        wrong(what)
}

FNR == 1 {
    split(FILENAME, part, "/")
    folder = part[2]
    comment = 0
    if (!(folder in rank))
        wrong("src/" folder " has no place in the order")
}

{
    # Comments and the insides of strings are no code.
    code = $0
    if (comment) {
        if (!sub(/^.*\*\//, "", code))
            next
        comment = 0
    }
    if (code !~ /^[ \t]*#[ \t]*include/)
        gsub(/"([^"\\]|\\.)*"/, "\"\"", code)
    gsub(/\/\*([^*]|\*+[^*\/])*\*+\//, "", code)
    sub(/\/\/.*/, "", code)
    if (sub(/\/\*.*/, "", code))
        comment = 1
}

code ~ /^[ \t]*#[ \t]*include[ \t]*"/ {
    split(code, quoted, "\"")
    if (quoted[2] !~ /\//) {
        if (!(quoted[2] == "shared.h" && folder == "gpu"))
            wrong("\"" quoted[2] "\" is not written as folder/file")
        next
    }
    split(quoted[2], target, "/")
    if (!(target[1] in rank))
        wrong(target[1] "/ is not a folder of src/")
    else if (rank[target[1]] > rank[folder])
        wrong(folder " is below " target[1])
    else if ((target[1] == "cpu" || target[1] == "gpu") && folder != target[1] && folder != "cli")
        wrong("only cli includes " target[1])
}

{
    only("#[ \t]*include[ \t]*<cjson/", "^src/base/json\\.c$", "only base/json.c knows cJSON")
    only("#[ \t]*include[ \t]*<CL/", "^src/gpu/", "only gpu uses OpenCL")
    only("#[ \t]*include[ \t]*<hwloc", "^src/(cpu/|record/machine)", "only cpu and record/machine use hwloc")
    only("(^|[^A-Za-z0-9_.>])(exit|abort|quick_exit)[ \t]*\\(", "^src/cli/", "only cli ends the program")
    only("(^|[^A-Za-z0-9_])(printf|puts|putchar|perror|vprintf)[ \t]*\\(", "^src/cli/", "only cli prints")
    only("(^|[^A-Za-z0-9_])std(out|err)([^A-Za-z0-9_]|$)", "^src/cli/", "only cli has the standard streams")
}

END { exit bad }
AWK
