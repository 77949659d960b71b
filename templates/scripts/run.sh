#!/bin/sh
# Runs the command of one container: prepares storage, decodes the command, profiles it if asked, passes signals
# on, and delivers what was promised (index.sh, publish.sh) after success. The order is the order of this file.
#
# Files, in $TAU_BIN (default /tau/bin):
#   argv               the command, one argument a line: backslash is written \\ and newline \n, nothing else is
#                      changed. It is never evaluated: every argument reaches the command byte for byte.
#   requirements.txt   optional; installed with pip when it is not empty
#   publish.sh, index.sh
# Exit codes: the command's own (128+n after signal n); pip's own; 73 no writable storage; 74 publishing failed or
# was refused; 76 the promised checkpoint is missing; 78 wrong configuration; 127 a tool or the command is missing.
set -u
TAU_BIN=${TAU_BIN:-/tau/bin}

say() { printf 'tau: %s\n' "$*" >&2; }
die() {
    code=$1
    shift
    say "$@"
    exit "$code"
}

# --- signals: passed on to the child, if there is one --------------------------------------------------------------
child=   # its process id
caught=  # a signal came and the child's end has not been seen since
stopped= # the number of the last signal
interrupt=INT
command -v python3 >/dev/null || interrupt=TERM # see $clean: INT would be ignored
on_signal() {
    caught=1
    stopped=$2
    [ -z "$child" ] || kill -s "$1" "$child" 2>/dev/null
}
trap 'on_signal TERM 15' TERM
trap 'on_signal "$interrupt" 2' INT

# --- the command -------------------------------------------------------------------------------------------------
[ -r "$TAU_BIN/argv" ] || die 78 "$TAU_BIN/argv cannot be read"
set --
while IFS= read -r line; do
    value=$(printf '%b.' "$line") # the dot keeps newlines at the end, which $(...) would strip
    set -- "$@" "${value%.}"
done <"$TAU_BIN/argv"
case ${1:-} in
    '') die 78 "no command: $TAU_BIN/argv is empty" ;;
    -*) die 78 "the command's name starts with a dash: $1" ;;
esac

# --- storage -----------------------------------------------------------------------------------------------------
writable() {
    [ -d "$1" ] && (: >"$1/.tau-probe-$$") 2>/dev/null && rm -f "$1/.tau-probe-$$"
}
# move PATH: $moved becomes PATH with the hot directory replaced by the data directory
move() {
    case $1 in
        "$hot" | "$hot"/*) moved=$TAU_DATA_DIR${1#"$hot"} ;;
        *) moved=$1 ;;
    esac
}
if [ -n "${TAU_HOT_DIR:-}" ] && ! writable "$TAU_HOT_DIR"; then
    if [ -z "${TAU_DATA_DIR:-}" ] || ! writable "$TAU_DATA_DIR"; then
        die 73 "no writable storage: neither $TAU_HOT_DIR nor ${TAU_DATA_DIR:-a data directory} can be written"
    fi
    hot=$TAU_HOT_DIR
    say "$hot cannot be written; using $TAU_DATA_DIR in its place"
    TAU_HOT_DIR=$TAU_DATA_DIR
    [ -z "${TAU_DATASETS_DIR:-}" ] || { move "$TAU_DATASETS_DIR" && TAU_DATASETS_DIR=$moved; }
    [ -z "${TAU_CHECKPOINTS_DIR:-}" ] || { move "$TAU_CHECKPOINTS_DIR" && TAU_CHECKPOINTS_DIR=$moved; }
    [ -z "${TAU_OUTPUT_STAGING_DIR:-}" ] || { move "$TAU_OUTPUT_STAGING_DIR" && TAU_OUTPUT_STAGING_DIR=$moved; }
fi
[ -z "${TAU_DATASETS_DIR:-}" ] || mkdir -p "$TAU_DATASETS_DIR" || die 73 "cannot create $TAU_DATASETS_DIR"
[ -z "${TAU_CHECKPOINTS_DIR:-}" ] || mkdir -p "$TAU_CHECKPOINTS_DIR" || die 73 "cannot create $TAU_CHECKPOINTS_DIR"

# --- what will be delivered: refuse now what would be refused after days of work -----------------------------------
if [ -n "${TAU_OUTPUT_STAGING_DIR:-}${TAU_CHECKPOINT:-}${TAU_PROFILE_MODE:-}" ]; then
    case ${TAU_RUN_ID:-} in
        '' | *[!A-Za-z0-9._-]*) die 78 "TAU_RUN_ID is not a run id: '${TAU_RUN_ID:-}'" ;;
    esac
fi
if [ -n "${TAU_OUTPUT_STAGING_DIR:-}" ]; then
    sh "$TAU_BIN/publish.sh" check || exit
    # What a failed attempt left behind must not be published with this one's results.
    rm -rf "$TAU_OUTPUT_STAGING_DIR"
    mkdir -p "$TAU_OUTPUT_STAGING_DIR" || die 73 "cannot create $TAU_OUTPUT_STAGING_DIR"
    case ${TAU_PROFILE_OUT_DIR:-} in
        "$TAU_OUTPUT_DIR"/*) TAU_PROFILE_OUT_DIR=$TAU_OUTPUT_STAGING_DIR${TAU_PROFILE_OUT_DIR#"$TAU_OUTPUT_DIR"} ;;
    esac
elif [ -n "${TAU_OUTPUT_DIR:-}" ]; then
    mkdir -p "$TAU_OUTPUT_DIR" || die 73 "cannot create $TAU_OUTPUT_DIR"
    writable "$TAU_OUTPUT_DIR" || die 73 "cannot write to $TAU_OUTPUT_DIR"
fi
# All nodes of a run share its output, so the first one writes the index.
[ "${JOB_COMPLETION_INDEX:-0}" = 0 ] || TAU_CHECKPOINT=
[ -z "${TAU_CHECKPOINT:-}" ] || sh "$TAU_BIN/index.sh" check || exit

# --- running -----------------------------------------------------------------------------------------------------
# A shell starts background commands with INT and QUIT ignored, and cannot undo that. Python can, where there is one;
# what Python itself changes (two more signals, and LC_CTYPE where no locale is set) must not reach the command.
clean='
import os, signal, sys
for name in ("SIGINT", "SIGQUIT", "SIGPIPE", "SIGXFSZ"):
    signal.signal(getattr(signal, name), signal.SIG_DFL)
if not sys.argv[1]:
    os.environ.pop("LC_CTYPE", None)
try:
    os.execvp(sys.argv[2], sys.argv[2:])
except OSError as error:
    print(f"tau: cannot run {sys.argv[2]}: {error.strerror}", file=sys.stderr)
    sys.exit(127 if isinstance(error, FileNotFoundError) else 126)
'
# run COMMAND...: runs it as a child that receives our signals; $code becomes its exit code
run() {
    [ -z "$stopped" ] || exit "$((128 + stopped))"
    if [ "$interrupt" = INT ]; then
        python3 -I -S -c "$clean" "${LC_CTYPE+set}" "$@" &
    else
        command -v "$1" >/dev/null || die 127 "cannot run $1: No such file or directory"
        (exec "$@") &
    fi
    child=$!
    [ -z "$caught" ] || kill -s TERM "$child" # it came before $child was known
    wait "$child" 2>/dev/null # the shell would note a death in words of its own
    code=$?
    # A trapped signal ends the wait early, with a code that is not the child's.
    while [ -n "$caught" ]; do
        caught=
        wait "$child" 2>/dev/null
        again=$?
        [ "$again" -eq 127 ] || code=$again
    done
    child=
    if [ "$code" -gt 128 ] && [ "$code" -le 192 ]; then
        say "exit code $code, as after signal $((code - 128))"
    fi
}

if [ -s "$TAU_BIN/requirements.txt" ]; then
    export PIP_NO_INPUT=1 PIP_DISABLE_PIP_VERSION_CHECK=1
    # The container is thrown away, so a distribution's own Python may be changed. (PEP 668)
    export PIP_BREAK_SYSTEM_PACKAGES=1
    writable "${HOME:-/nowhere}" || export PYTHONUSERBASE="${TMPDIR:-/tmp}/tau-python"
    run python3 -m pip install -r "$TAU_BIN/requirements.txt"
    if [ "$code" -ne 0 ] && [ -z "$stopped" ] && ! writable "$(python3 -c 'import sysconfig
print(sysconfig.get_path("purelib"))')"; then
        say "site-packages cannot be written; installing for the user"
        run python3 -m pip install --user -r "$TAU_BIN/requirements.txt"
    fi
    [ "$code" -eq 0 ] || die "$code" "pip could not install the requirements (exit code $code)"
    PATH=$(python3 -m site --user-base)/bin:$PATH
    unset PIP_NO_INPUT PIP_DISABLE_PIP_VERSION_CHECK PIP_BREAK_SYSTEM_PACKAGES
fi

if [ -n "${TAU_WORKDIR:-}" ]; then
    cd "$TAU_WORKDIR" 2>/dev/null || die 78 "cannot change to the working directory $TAU_WORKDIR"
fi

rank=${JOB_COMPLETION_INDEX:-0}
profile=
if [ -n "${TAU_PROFILE_MODE:-}" ]; then
    case ,${TAU_PROFILE_RANK:-0}, in
        *,all,* | *,"$rank",*) profile=$TAU_PROFILE_MODE ;;
        *) say "rank $rank is not profiled" ;;
    esac
fi
if [ -n "$profile" ]; then
    [ -n "${TAU_PROFILE_OUT_DIR:-}" ] || die 78 "TAU_PROFILE_OUT_DIR is not set"
    mkdir -p "$TAU_PROFILE_OUT_DIR" || die 73 "cannot create $TAU_PROFILE_OUT_DIR"
    report=$TAU_PROFILE_OUT_DIR/rank-$rank
    case $profile in
        nsys)
            extension=nsys-rep
            # kill=none: the end of the collection must not end the training.
            [ "${TAU_PROFILE_ACTIVE_SEC:-0}" = 0 ] || set -- "--duration=$TAU_PROFILE_ACTIVE_SEC" --kill=none "$@"
            [ "${TAU_PROFILE_WARMUP_SEC:-0}" = 0 ] || set -- "--delay=$TAU_PROFILE_WARMUP_SEC" "$@"
            set -- nsys profile "--output=$report" --force-overwrite=true --export=sqlite --wait=primary "$@"
            ;;
        ncu)
            extension=ncu-rep
            set -- ncu "--export=$report" --force-overwrite --target-processes=all "$@"
            ;;
        *) die 78 "unknown profiler: $profile" ;;
    esac
    command -v "$profile" >/dev/null || die 127 "the profiler $profile is not in this image"
fi

run "$@"

if [ -n "$profile" ]; then
    printf '{"version":1,"run":"%s","rank":%s,"tool":"%s","report":"%s","exit_code":%s}\n' \
        "$TAU_RUN_ID" "$rank" "$profile" "rank-$rank.$extension" "$code" >"$report.json" ||
        say "cannot write $report.json"
fi

# --- delivering --------------------------------------------------------------------------------------------------
[ "$code" -eq 0 ] || exit "$code"
[ -n "${TAU_OUTPUT_STAGING_DIR:-}${TAU_CHECKPOINT:-}" ] || exit 0
[ -z "$stopped" ] || die "$((128 + stopped))" "stopped by a signal: nothing is published"
if [ -n "${TAU_CHECKPOINT:-}" ]; then
    sh "$TAU_BIN/index.sh" "${TAU_OUTPUT_STAGING_DIR:-${TAU_OUTPUT_DIR:-}}" || exit
fi
if [ -n "${TAU_OUTPUT_STAGING_DIR:-}" ]; then
    sh "$TAU_BIN/publish.sh" || exit
fi
