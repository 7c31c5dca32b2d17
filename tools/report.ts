/** Reports the result of a script: prints the violations and sets a failing exit code, or prints a summary. */
export function report(violations: readonly string[], summary: string): void {
  for (const violation of violations) console.error(violation)
  if (violations.length > 0) process.exitCode = 1
  else console.log(summary)
}
