#!/bin/bash
# Checks that no compiler makes, one TAP line each: layers, stand-alone headers, globals, file lengths,
# scripts, manual pages.
#
# OBJECTS is the folder with the built objects, CC the compiler (make lint sets both).
set -eu
cd "$(dirname "$0")/.."

count=0
# result NAME WRONG: nothing wrong is a pass
result() {
    count=$((count + 1))
    if [ -z "$2" ]; then
        echo "ok $count - $1"
    else
        echo "not ok $count - $1"
        while IFS= read -r line; do echo "# $line"; done <<<"$2"
    fi
}

# with TOOL NAME COMMAND...: a check that needs a tool
with() {
    local tool=$1 name=$2
    shift 2
    if command -v "$tool" >/dev/null; then
        result "$name" "$("$@" 2>&1 || true)"
    else
        count=$((count + 1))
        echo "ok $count - $name # SKIP there is no $tool"
    fi
}

headers_alone() {
    local header
    for header in src/*/*.h; do
        # a body that is included several times between macros is no header
        [[ $header != *_body.h ]] || continue
        printf '#include "%s"\ntypedef int not_empty;\n' "${header#src/}" |
            "$@" -std=c11 -D_GNU_SOURCE -DCL_TARGET_OPENCL_VERSION=300 -Wall -Wextra -Werror -Isrc -Ikernels \
                -fsyntax-only -x c - 2>&1 || echo "$header"
    done
}

# Writable data in objects: .data and .bss, not .data.rel.ro. cli may have what a signal handler
# needs.
globals() {
    local object
    find "$OBJECTS/src" -name '*.o' ! -path '*/cli/*' | sort | while read -r object; do
        objdump -t "$object" | awk -v o="${object#"$OBJECTS"/}" \
            '/ (\.t?bss|\.t?data|\*COM\*)(\.[a-z_0-9.]*)?\t/ && !/ d +\.|\.data\.rel\.ro/ { print o ": " $NF }'
    done
}

long_files() {
    find src tests scripts kernels .ci -type f \( -name '*.[ch]' -o -name '*.cl' -o -name '*.sh' -o -name '*.py' \) \
        -exec awk 'END { if (NR > 500) print FILENAME ": " NR " lines" }' {} \;
}

manual_pages() {
    # Pages that name each other are not installed yet, and the index of those that are may be old.
    mandoc -T lint man/*.[1-9] 2>&1 | grep -v -e 'referenced manual not found' -e 'outdated mandoc.db' || true
}

white_space() {
    [ -e .git ] || return 0
    git grep -nIE '[[:blank:]]+$' -- ':!*.f32' ':!*.ppm' ':!*.svg' || true
    git grep -nIP '\t' -- 'src/*.[ch]' 'kernels/*' 'tests/*.[ch]' 'tests/*.py' || true
}

result "folders include only what is below them" "$(scripts/check-layers.sh 2>&1)"
result "headers compile alone" "$(headers_alone "$CC")"
with clang "headers compile alone with clang" headers_alone clang
result "no writable globals" "$(globals 2>&1)"
result "no file over 500 lines" "$(long_files)"
with git "no tabs and trailing blanks" white_space
with shellcheck "shellcheck" shellcheck scripts/*.sh tests/*.sh .ci/run
with mandoc "manual pages" manual_pages
echo "1..$count"
