#!/bin/sh
# Builds the newest commit of a branch and pushes what came out.
#
#     sh ci/build-and-push.sh BRANCH [BASE]
#
# Runs whose records are at BASE count as launched; without BASE, those on the branch itself.
#
# The push is accepted only while the branch stands where this build began. When somebody else was faster, their commit
# is fetched and everything is made again from there, so that no run is launched from an old state.
#
# For CI jobs only: it throws away what is not committed.
set -eu
cd "$(dirname -- "$0")/.."

main() {
    branch=$1
    for try in 1 2 3 4 5; do
        git fetch --quiet origin "+refs/heads/$branch:refs/remotes/origin/$branch"
        tip=$(git rev-parse --verify --quiet "refs/remotes/origin/$branch^{commit}")
        git checkout --quiet --force --detach "$tip"
        git clean --quiet --force -d -- runs rendered

        said=$(tau-compile build --base "${2:-$tip}" --as-of "$(date -u +%F)")
        printf '%s\n' "$said"
        for folder in runs rendered; do
            if [ -n "$(git status --porcelain -- "$folder")" ]; then git add --all -- "$folder"; fi
        done
        if git diff --cached --quiet; then
            return 0
        fi
        printf 'tau-compile: %s\n\n%s\n' "$(printf '%s\n' "$said" | tail -n 1)" "$said" |
            git -c user.name=tau-compile -c user.email=tau-compile@localhost commit --quiet --file=-

        if git push --quiet --force-with-lease="refs/heads/$branch:$tip" origin "HEAD:refs/heads/$branch"; then
            return 0
        fi
        if [ "$(git ls-remote origin "refs/heads/$branch" | cut -f 1)" = "$tip" ]; then
            echo "The push was refused, and nobody else was faster: may this job push to $branch?" >&2
            return 1
        fi
        echo "Somebody else pushed to $branch (attempt $try); once more from there." >&2
        sleep "$try"
    done
    echo "Gave up: $branch moved on during each of $try builds. The next job makes up for it." >&2
    return 1
}

main "$@"
