#!/bin/sh
# Writes ROOT/artifacts.json, atomically, about the checkpoint ROOT/$TAU_CHECKPOINT:
#   {"version":1,"run":ID,"artifacts":[{"name":"checkpoint","path":P,"bytes":B,"files":F,"sha256":H}]}
# P is relative to ROOT. For a single file H is the SHA-256 of its content. For a directory H is the SHA-256 of the
# following text: one line "CONTENT NAME BYTES" for each regular file in it, where CONTENT is the SHA-256 of the
# content, NAME that of the path relative to the directory (starting "./"), both in lower-case hexadecimal, and BYTES
# the size in decimal; the lines sorted as bytes. Links are followed. So names may hold any character, and neither
# dates nor the order of the directory matter.
#   index.sh check   only says whether the index could be written
#   index.sh ROOT
# Exit codes: 74 a read or write failed, 76 the checkpoint is missing, empty or incomplete, 78 wrong configuration.
set -u
LC_ALL=C
export LC_ALL

die() {
    code=$1
    shift
    printf 'tau: %s\n' "$*" >&2
    exit "$code"
}

# A control character would have to be escaped in JSON in a way that sed cannot; nobody needs one here.
case $TAU_CHECKPOINT in
    *[[:cntrl:]]*) die 78 "TAU_CHECKPOINT holds a control character" ;;
    /* | .. | ../* | */.. | */../*) die 78 "TAU_CHECKPOINT must be a path inside the output: $TAU_CHECKPOINT" ;;
esac
[ -n "${TAU_OUTPUT_DIR:-}" ] || die 78 "TAU_CHECKPOINT needs TAU_OUTPUT_DIR"
for tool in find sed sha256sum sort; do
    command -v "$tool" >/dev/null || die 78 "indexing the checkpoint needs $tool, which is not in this image"
done
[ "$1" != check ] || exit 0

root=$1
checkpoint=$root/$TAU_CHECKPOINT
[ -e "$checkpoint" ] || die 76 "the command succeeded but did not write its checkpoint $checkpoint"
list=$root/.tau-index-$TAU_RUN_ID
trap 'rm -f "$list" "$list.json"' EXIT

# shellcheck disable=SC2016 # expanded by the inner shell
describe='
    for file; do
        content=$(sha256sum <"$file") && name=$(printf %s "$file" | sha256sum) && bytes=$(wc -c <"$file") || exit
        echo "${content%% *} ${name%% *} $((bytes))"
    done'
if [ -d "$checkpoint" ]; then
    cd "$checkpoint" || die 74 "cannot read $checkpoint"
    dangling=$(find -L . -type l) || die 74 "cannot read all of $checkpoint"
    [ -z "$dangling" ] || die 76 "the checkpoint $checkpoint has links to nothing: $dangling"
    find -L . -type f -exec sh -c "$describe" sh {} + >"$list" || die 74 "cannot read all of $checkpoint"
    sort -o "$list" "$list" || die 74 "cannot write $list"
    digest=$(sha256sum <"$list")
else
    sh -c "$describe" sh "$checkpoint" >"$list" || die 74 "cannot read $checkpoint"
    digest=$(cat "$list")
fi

bytes=0
files=0
while read -r _ _ size; do
    bytes=$((bytes + size))
    files=$((files + 1))
done <"$list"
[ "$files" -gt 0 ] || die 76 "the command succeeded but its checkpoint $checkpoint is empty"

path=$(printf %s "$TAU_CHECKPOINT" | sed 's/["\\]/\\&/g')
if ! {
    printf '{"version":1,"run":"%s","artifacts":[{"name":"checkpoint","path":"%s",' "$TAU_RUN_ID" "$path" &&
        printf '"bytes":%s,"files":%s,"sha256":"%s"}]}\n' "$bytes" "$files" "${digest%% *}"
} >"$list.json" || ! mv "$list.json" "$root/artifacts.json"; then
    die 74 "cannot write $root/artifacts.json"
fi
