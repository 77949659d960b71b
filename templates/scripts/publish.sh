#!/bin/sh
# Staged publishing: moves what a run wrote to $TAU_OUTPUT_STAGING_DIR into $TAU_OUTPUT_DIR, all of it or nothing.
# The files are first copied next to the output (<output>.tau-partial-<run id>, so on its file system) and flushed,
# then renamed into place. A file .tau-run in the output names the run that published it.
#   publish.sh check   only says whether publishing would be refused
# An output that this run has already published is kept as it is. An output with anything else in it is refused.
# Symbolic links are copied as links, unless one points into the staging directory by its absolute path: then links
# are replaced by what they point to. Exit codes: 74 refused or failed (the staging is kept), 78 wrong configuration.
set -u
staging=${TAU_OUTPUT_STAGING_DIR%/}
output=${TAU_OUTPUT_DIR:-}
output=${output%/}
partial=$output.tau-partial-$TAU_RUN_ID

die() {
    code=$1
    shift
    printf 'tau: %s\n' "$*" >&2
    exit "$code"
}
published() { [ "$(cat "$output/.tau-run" 2>/dev/null)" = "$TAU_RUN_ID" ]; }

[ -n "$output" ] || die 78 "staged publishing needs TAU_OUTPUT_DIR"
case $output/ in
    "$staging"/*) die 78 "the output $output is inside the staging directory $staging" ;;
esac
case $staging/ in
    "$output"/*) die 78 "the staging directory $staging is inside the output $output" ;;
esac

if published; then
    [ "${1:-}" = check ] || printf 'tau: %s\n' "$output is already published by this run; keeping it" >&2
    exit 0
fi
if [ -L "$output" ] || { [ -e "$output" ] && [ ! -d "$output" ]; }; then
    die 74 "$output is not a directory"
fi
# A volume's root cannot be renamed away.
place=$(cd "$output" 2>/dev/null && pwd -P)
if [ -n "$place" ] && [ -r /proc/self/mountinfo ]; then
    while read -r _ _ _ _ point _; do # a space in it is written \040
        case $point in *\\*) point=$(printf '%b' "$point") ;; esac
        [ "$point" != "$place" ] || die 74 "$output is the root of a volume; choose a folder below it"
    done </proc/self/mountinfo
fi
if [ -d "$output" ] && [ -n "$(ls -A "$output")" ]; then
    die 74 "$output is not empty and was not written by this run; choose another output, or move it away"
fi
mkdir -p "${output%/*}/" || die 74 "cannot create the folder of $output"
[ "${1:-}" != check ] || exit 0

links=-P
# shellcheck disable=SC2016 # expanded by the inner shell
find "$staging" -type l -exec sh -c '
    for link; do
        case $(readlink "$link") in "$0"/*) exit 1 ;; esac
    done' "$staging" {} + || links=-L

rm -rf "$partial" # left behind by an attempt that was killed
mkdir "$partial" || die 74 "cannot create $partial"
if ! { cp -R "$links" "$staging/." "$partial/" && printf '%s\n' "$TAU_RUN_ID" >"$partial/.tau-run"; }; then
    rm -rf "$partial"
    die 74 "copying to $partial failed; nothing is published, the staging directory $staging is kept"
fi
sync -f "$partial" 2>/dev/null || sync

if [ -d "$output" ]; then
    rmdir "$output" || die 74 "$output cannot be replaced"
fi
if ! mv "$partial" "$output" || ! published; then
    die 74 "$partial cannot be renamed to $output"
fi
sync -f "$output" 2>/dev/null || sync
rm -rf "$staging" || printf 'tau: %s\n' "cannot remove $staging" >&2
