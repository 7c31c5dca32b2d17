import type { Outcome } from "./pollWhileWriting.ts"

/** Prints a run as a table. */
export function report({ verdicts, ...outcome }: Outcome): void {
  const { recipients, versions, events, beside, rolledBack, held, maxSeconds } = outcome
  const pages = verdicts.reduce((sum, { poller }) => sum + poller.pages, 0)
  console.log(
    `${versions + events} rows written: ${recipients} recipients in ${versions} versions, ${events} events; ` +
      `${beside} in the other organization; ${rolledBack} transactions rolled back; ` +
      `the longest took ${maxSeconds.toFixed(1)} s; while one was held back, ${held.outcome}. ${pages} pages read.`,
  )
  console.table(
    verdicts.map(({ poller: { list, habit, limit, walks, pages, seen }, lost }) => ({
      list,
      "goes on from": habit,
      limit,
      walks,
      pages,
      seen: seen.size,
      lost: lost.length,
    })),
  )
}
