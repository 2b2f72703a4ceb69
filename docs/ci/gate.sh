#!/bin/sh
# Is this branch worse, does it take more work, is it slower than where it left its target?
#
# Copy this into a project with solvers for orthobench, and call it in a clone of the project:
#
#     SUITE=my-suite sh gate.sh
#
# Exit code 0: no regression; 1: a regression; 2: no comparison was possible. Everything is in
# gate/: comparison.txt, comparison.md (for a comment), comparison.xml (JUnit). GitLab:
#
#     script: SUITE=my-suite sh gate.sh
#     artifacts: { when: always, paths: [gate/comparison.*], reports: { junit: gate/comparison.xml } }
#
# and Jenkins: sh 'SUITE=my-suite sh gate.sh', then junit 'gate/comparison.xml'. Both have to clone
# the history, not only the newest commit (GitLab: GIT_DEPTH: 0).
#
#   SUITE       which cells are compared: a suite of the plugin, or a file
#   TARGET      branch that the change goes into      [GitLab's or Jenkins' variable, else main]
#   BASE, HEAD  the revisions themselves              [where HEAD left origin/TARGET, HEAD]
#   ORTHOBENCH  what pip installs as orthobench       [orthobench]
#   PYTHON      interpreter                           [python3]
#   OUT         folder for what this writes           [gate]
#
# Arguments are passed on: sh gate.sh --tolerance time=5% --budget 300
set -eu

target=${TARGET:-${CI_MERGE_REQUEST_TARGET_BRANCH_NAME:-${CHANGE_TARGET:-main}}}
head=${HEAD:-HEAD}
out=${OUT:-gate}
base=${BASE:-$(git merge-base "origin/$target" "$head")} || {
    echo "gate.sh: $head and origin/$target have no commit in common; fetch the whole history" >&2
    exit 2
}

# the project is installed for its dependencies, which both sides then share
environment=$(mktemp -d) || exit 2
trap 'rm -rf "$environment"' EXIT
trap 'exit 130' INT TERM
"${PYTHON:-python3}" -m venv "$environment" || exit 2
"$environment/bin/python" -m pip install --quiet "${ORTHOBENCH:-orthobench}" . || exit 2

mkdir -p "$out" || exit 2
status=0
"$environment/bin/orthobench" compare "$base" "$head" ${SUITE:+--suite "$SUITE"} \
    --markdown "$out/comparison.md" --junit "$out/comparison.xml" "$@" \
    > "$out/comparison.txt" || status=$?
cat "$out/comparison.txt"
exit "$status"
