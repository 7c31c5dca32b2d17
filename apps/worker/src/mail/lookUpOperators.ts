import { MailOperatorRepository } from "@outreach/domain/mail/MailOperatorRepository"
import { mailOperator } from "@outreach/domain/mail/mailOperator"
import type { PartnerNames } from "@outreach/webhooks/partnerNames"
import { Effect } from "effect"
import { retryForever } from "../loops/retryForever.ts"
import { workerLimits } from "../workerLimits.ts"

const { batchSize, concurrency, pauseMs } = workerLimits.operators

/** Looks up who runs the mail servers of the domains that are written to, until interrupted. A domain whose look-up fails stays as it is for now. */
export const lookUpOperators = Effect.fnUntraced(function* (names: Pick<PartnerNames, "exchanges">) {
  const operators = yield* MailOperatorRepository

  const lookUp = (domain: string) =>
    Effect.promise(() =>
      names.exchanges(domain).then(
        (exchanges) => [[domain, mailOperator(exchanges)] as const],
        () => [],
      ),
    )
  const lookUpNext = Effect.gen(function* () {
    const domains = yield* operators.take(batchSize)
    const found = yield* Effect.forEach(domains, lookUp, { concurrency })
    yield* operators.store(new Map(found.flat()))
    if (domains.length === batchSize) return
    yield* operators.forget
    yield* Effect.sleep(pauseMs)
  })
  return yield* retryForever("lookUpOperators", lookUpNext)
})
