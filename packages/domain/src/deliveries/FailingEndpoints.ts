import { Context, Effect, Schema } from "effect"
import { DescribedError } from "../DescribedError.ts"
import { EndpointId, OrganizationId } from "../Identifier.ts"
import { Transaction } from "../Transaction.ts"
import { type FailingEndpoint, type FailingHours, judgeFailing, NOTICES } from "./FailingEndpoint.ts"

/** A notice to an organization's contacts. Times are in Unix milliseconds. */
export const FailingNotice = Schema.Struct({
  endpointId: EndpointId,
  organizationId: OrganizationId,
  organization: Schema.String,
  /** The endpoint's shown URL. */
  url: Schema.String,
  /** Number of the notice in `NOTICES`, starting at 1. */
  notices: Schema.Int,
  since: Schema.Number,
  noticedAt: Schema.Number,
  /** Contacts still to be notified. */
  contacts: Schema.Array(Schema.String),
  /** Failed calls since then, by outcome. */
  clientErrors: Schema.Int,
  serverErrors: Schema.Int,
  otherStatuses: Schema.Int,
  noResponses: Schema.Int,
  /** Number of dead letters since then. */
  deadLetters: Schema.Int,
})
export type FailingNotice = typeof FailingNotice.Type

/** Stores since when endpoints fail, and their organizations' notices. */
export class FailingEndpointRepository extends Context.Service<
  FailingEndpointRepository,
  {
    /**
     * Reads some of the enabled endpoints that fail or did within the last minutes, in id order. While the database's clock
     * isn't trusted, there are none, and endpoints with notices are reset.
     */
    observe(after: EndpointId | null): Effect.Effect<ReadonlyArray<FailingEndpoint>>
    /** Stores since when endpoints fail; resets those with a null `since`. */
    note(
      endpoints: ReadonlyArray<Pick<FailingEndpoint, "endpointId"> & { readonly since: number | null }>,
    ): Effect.Effect<void>
    /**
     * Stores the notice of an organization, and with `isNotified` its contacts. Returns their number; undefined if the
     * endpoint no longer fails, or another worker stored it.
     */
    notice(
      endpoint: FailingEndpoint,
      given: { readonly notices: number; readonly isNotified: boolean },
    ): Effect.Effect<number | undefined>
    /** Disables an endpoint on behalf of the service, as shown in the audit log. Returns false if it changed in the meantime. */
    disable(endpoint: FailingEndpoint): Effect.Effect<boolean>
    /** Claims a waiting notice; after half an hour it can be claimed again. */
    readonly claim: Effect.Effect<FailingNotice | undefined>
    /** Records that a contact was notified, or can't be. */
    settle(notice: FailingNotice, contact: string): Effect.Effect<void>
  }
>()("domain/deliveries/FailingEndpointRepository") {}

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
