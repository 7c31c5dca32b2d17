# The legs of CI: `.ci/run` runs them all in turn, and `.ci/leg` runs one.
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

# Packages of which only a few tests need a database.
WITHOUT_DATABASE="bot-suspicion client contract cursor debian-packages domain error-catalog mail process rate-limit retry-policy signature webhook-verifier"
# What somebody who installs a published package relies on.
PROMISES_OF_PACKAGES="every-quick-start-works-from-tarballs-and-from-a-registry leaves-are-pure packages-install-and-type-check-from-their-tarballs
  public-surface-is-committed tarballs-hold-what-their-readers-need-and-no-more the-webhook-verifier-weighs-under-3-KB-and-stands-alone"

# With LEG_NODE, `.ci/leg` has fetched these tools already.
tool() { if [ -n "${LEG_NODE-}" ]; then "$@"; else npx -y -p node@24 -p "$(node -p 'require("./package.json").packageManager')" "$@"; fi; }

# A check counts as one, whatever it looked at.
check() {
  local name=$1
  shift
  printf '\n── %s\n' "$name"
  if "$@"; then
    passed=$((passed + 1))
    printf 'ok: %s\n' "$name"
  else
    failed=$((failed + 1))
    failed_checks="$failed_checks
  $name"
    printf 'FAILED: %s\n' "$name"
  fi
}

# Tests count one by one. A runner that fails without naming a failed test counts as one failure, as does one that reports nothing.
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
  # A runner can fail while every test passes, for an error that belongs to none of them.
  [ "$status" -ne 0 ] && failed_checks="$failed_checks
  npm run $script ended with $status"
}

promises() {
  for script in "$@"; do
    promise=$(basename "$script" .ts)
    check "${promise//-/ }" tool node "$script"
  done
}

checks() {
  check lint tool pnpm lint
  check types tool pnpm check
  check boundaries tool pnpm boundaries
  check "no unused exports or dependencies" tool pnpm knip
}

# A test that was skipped shows nothing, so each is named; so is each that failed, with its first lines, and each check.
finish() {
  node -e '
    const { readFileSync } = require("node:fs")
    const { relative } = require("node:path")
    const reports = process.argv.slice(1).flatMap((path) => {
      try { return JSON.parse(readFileSync(path, "utf8")).testResults } catch { return [] }
    })
    const told = (kept) => reports.flatMap(({ name, assertionResults }) => assertionResults.filter(kept).map((test) =>
      `  ${relative(process.cwd(), name)}: ${test.fullName}${(test.failureMessages ?? []).map((message) => `\n    ${message.split("\n", 6).join("\n    ").slice(0, 900)}`).join("")}`))
    const unopened = reports.filter(({ status, assertionResults }) => status === "failed" && !assertionResults.some((test) => test.status === "failed"))
      .map(({ name, message }) => `  ${relative(process.cwd(), name)}: ${(message ?? "").split("\n").slice(-6).join("\n    ").slice(-900)}`)
    const skipped = told(({ status }) => status !== "passed" && status !== "failed")
    const failed = [...told(({ status }) => status === "failed"), ...unopened]
    console.log([`\n${skipped.length} tests were skipped`, ...skipped, `\n${failed.length} tests failed`, ...failed].join("\n"))' "${reports[@]}"
  [ -n "$failed_checks" ] && printf '\nchecks failed:%s\n' "$failed_checks"
  printf '\n%d passed, %d failed\n' "$passed" "$failed"
  [ "$failed" -eq 0 ]
}
