import { Effect } from "effect"
import { DescribedError } from "../DescribedError.ts"
import type { EndpointId, OrganizationId } from "../Identifier.ts"
import { Transaction } from "../Transaction.ts"
import { type FailingEndpoint, type FailingHours, judgeFailing, NOTICES } from "./FailingEndpoint.ts"
import { FailingEndpointRepository } from "./FailingEndpointRepository.ts"

class NoLongerFailing extends DescribedError("NoLongerFailing", "The endpoint no longer fails.") {}

/** A notice to send, and its number of contacts. */
export interface GivenNotice {
  readonly endpointId: EndpointId
  readonly organizationId: OrganizationId
  readonly notice: (typeof NOTICES)[number]
  readonly contacts: number
}

/** Checks failing endpoints, and disables those that failed too long. Returns the notices to send. */
export const judgeFailingEndpoints = Effect.fnUntraced(function* (hours: FailingHours) {
  const repository = yield* FailingEndpointRepository
  const transaction = yield* Transaction
  const given: Array<GivenNotice> = []

  const noticeOf = Effect.fnUntraced(function* (
    endpoint: FailingEndpoint,
    verdict: { readonly notices: number; readonly isNotified: boolean },
  ) {
    const { endpointId, organizationId } = endpoint
    const notice = NOTICES[verdict.notices - 1]!
    const noted = Effect.gen(function* () {
      const isCurrent = notice !== "disable" || (yield* repository.disable(endpoint))
      const contacts = isCurrent ? yield* repository.notice(endpoint, verdict) : undefined
      return contacts ?? (yield* new NoLongerFailing())
    })
    const contacts = yield* transaction.run(noted)
    if (verdict.isNotified) given.push({ endpointId, organizationId, notice, contacts })
  })

  let after: EndpointId | null = null
  while (true) {
    const page: ReadonlyArray<FailingEndpoint> = yield* repository.observe(after)
    const judged = page.map((endpoint) => ({ endpoint, verdict: judgeFailing(endpoint, hours) }))
    yield* repository.note(
      judged.flatMap(({ endpoint: { endpointId }, verdict }) => {
        if (verdict?._tag === "Began") return { endpointId, since: verdict.at }
        return verdict?._tag === "Recovered" ? { endpointId, since: null } : []
      }),
    )
    for (const { endpoint, verdict } of judged) {
      // Skips an endpoint that recovered or was removed in the meantime.
      if (verdict?._tag === "Noticed") yield* Effect.ignore(noticeOf(endpoint, verdict))
    }
    const last = page.at(-1)
    if (last === undefined) return given
    after = last.endpointId
  }
})
