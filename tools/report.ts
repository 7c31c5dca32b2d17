/** Ends a promise script: prints each breach and fails, or says what was looked at. */
export function report(breaches: readonly string[], kept: string): void {
  for (const breach of breaches) console.error(breach)
  if (breaches.length > 0) process.exitCode = 1
  else console.log(kept)
}
