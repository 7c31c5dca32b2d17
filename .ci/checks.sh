# What `.ci/run`, `.ci/nightly` and `.ci/leg` have in common.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 2
exec </dev/null
export CI=true TURBO_TELEMETRY_DISABLED=1

passed=0
failed=0
failed_checks=
reports=()
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Runs a program with Node 24 and the pinned pnpm. With LEG_NODE, `.ci/leg` has fetched them already.
tools=${LEG_NODE:+$PATH}
tool() {
  # npx takes longer than most of the programs.
  [ -n "$tools" ] || tools=$(npx -y -p node@24 -p "$(node -p 'require("./package.json").packageManager')" printenv PATH)
  PATH=$tools "$@"
}

# Runs a command as one check.
check() {
  local name=$1 begun=$SECONDS
  shift
  took=
  printf '\n── %s\n' "$name"
  if "$@"; then
    passed=$((passed + 1))
    printf 'ok: %s (%d s)\n' "$name" "${took:-$((SECONDS - begun))}"
  else
    failed=$((failed + 1))
    failed_checks="$failed_checks
  $name"
    printf 'FAILED: %s\n' "$name"
  fi
}

# Runs tests and counts each. A runner that fails without a failed test, or reports nothing, counts as one failure.
tests() {
  local script=$1 report=$scratch/${#reports[@]}.json status
  shift
  reports+=("$report")
  printf '\n── npm run %s%s\n' "$script" "${*:+ -- $*}"
  npm run "$script" -- --reporter=default --reporter=json --outputFile.json="$report" "$@"
  status=$?
  read -r run_passed run_failed < <(node -e '
    let passed = 0, failed = 0
    try {
      const report = JSON.parse(require("node:fs").readFileSync(process.argv[1], "utf8"))
      passed = report.numPassedTests
      failed = report.numFailedTests + report.testResults.filter((it) => it.status === "failed" && !it.assertionResults.some((test) => test.status === "failed")).length
    } catch {}
    if (failed === 0 && (passed === 0 || process.argv[2] !== "0")) failed = 1
    console.log(passed, failed)' "$report" "$status")
  passed=$((passed + run_passed))
  failed=$((failed + run_failed))
  # A runner can fail although every test passes, for example on an unhandled error.
  [ "$status" -ne 0 ] && failed_checks="$failed_checks
  npm run $script ended with $status"
}

# Runs scripts of `tools/`, two at a time. Those that read test reports find them in TEST_REPORT.
promises() {
  local script promise
  TEST_REPORT=$(IFS=: && echo "${reports[*]}")
  export TEST_REPORT
  tool true
  printf '%s\0' "$@" | PATH=$tools xargs -0 -P 2 -I {} bash -c '
    log=$2/$(basename "$1" .ts)
    node "$1" >"$log.log" 2>&1
    echo $? $SECONDS >"$log.status"' promise {} "$scratch"
  for script in "$@"; do
    promise=$(basename "$script" .ts)
    check "${promise//-/ }" ended "$promise"
  done
}

# Prints what a script of `promises` printed, and ends as it did.
ended() {
  local status
  cat "$scratch/$1.log"
  read -r status took <"$scratch/$1.status"
  return "$status"
}

checks() {
  check lint tool pnpm lint
  check types tool pnpm check
  check boundaries tool pnpm boundaries
  check "no unused exports or dependencies" tool pnpm knip
}

# Lists the skipped tests, the failed tests with their first lines, and the failed checks.
finish() {
  node -e '
    const { readFileSync } = require("node:fs")
    const { relative } = require("node:path")
    const reports = process.argv.slice(1).flatMap((path) => {
      try { return JSON.parse(readFileSync(path, "utf8")).testResults } catch { return [] }
    })
    const list = (kept) => reports.flatMap(({ name, assertionResults }) => assertionResults.filter(kept).map((test) =>
      `  ${relative(process.cwd(), name)}: ${test.fullName}${(test.failureMessages ?? []).map((message) => `\n    ${message.split("\n", 6).join("\n    ").slice(0, 900)}`).join("")}`))
    const unopened = reports.filter(({ status, assertionResults }) => status === "failed" && !assertionResults.some((test) => test.status === "failed"))
      .map(({ name, message }) => `  ${relative(process.cwd(), name)}: ${(message ?? "").split("\n").slice(-6).join("\n    ").slice(-900)}`)
    const skipped = list(({ status }) => status !== "passed" && status !== "failed")
    const failed = [...list(({ status }) => status === "failed"), ...unopened]
    console.log([`\n${skipped.length} tests were skipped`, ...skipped, `\n${failed.length} tests failed`, ...failed].join("\n"))' "${reports[@]}"
  [ -n "$failed_checks" ] && printf '\nchecks failed:%s\n' "$failed_checks"
  printf '\n%d passed, %d failed\n' "$passed" "$failed"
  [ "$failed" -eq 0 ]
}
