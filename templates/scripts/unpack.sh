# Unpacks a tar archive that travels in environment variables: run as  sh -c TEXT tau-unpack DESTINATION COUNT
# TAU_CODE_0 to TAU_CODE_<COUNT-1>, joined, are the base64 text of the archive; one variable holds at most 128 KiB.
# The archive should list files only: directories are then made as needed, and the modes of mounted ones stay alone.
# It needs only sh, base64 and tar. Exit codes: 78 a variable is missing, else that of tar or base64.
set -eu
index=0
text=
while [ "$index" -lt "$2" ]; do
    eval "part=\${TAU_CODE_$index:-}" # only our own counter is evaluated, never a value
    if [ -z "$part" ]; then
        echo "tau: TAU_CODE_$index is missing" >&2
        exit 78
    fi
    text=$text$part
    index=$((index + 1))
done
if ! { printf %s "$text" | base64 -d >/dev/null; }; then
    echo "tau: the code archive is not valid base64" >&2
    exit 78
fi
printf %s "$text" | base64 -d | tar -x -o -f - -C "$1"
