import { Context, type Effect, Schema } from "effect"
import { EndpointId, OrganizationId } from "../Identifier.ts"
import type { FailingEndpoint } from "./FailingEndpoint.ts"

/** A notice that is sent to some contacts of an organization. Times are in Unix milliseconds. */
export const FailingNotice = Schema.Struct({
  endpointId: EndpointId,
  organizationId: OrganizationId,
  organization: Schema.String,
  /** The endpoint's address as it may be shown. */
  url: Schema.String,
  /** Which of `NOTICES` it is, from 1 on. */
  notices: Schema.Int,
  since: Schema.Number,
  noticedAt: Schema.Number,
  /** Who is still to be notified. */
  contacts: Schema.Array(Schema.String),
  /** The failed calls since then, by their outcomes. */
  clientErrors: Schema.Int,
  serverErrors: Schema.Int,
  otherStatuses: Schema.Int,
  noResponses: Schema.Int,
  /** The deliveries that became dead letters since then. */
  deadLetters: Schema.Int,
})
export type FailingNotice = typeof FailingNotice.Type

/** Keeps since when endpoints fail, and which notices their organizations had. */
export class FailingEndpointRepository extends Context.Service<
  FailingEndpointRepository,
  {
    /**
     * Reads some of the enabled endpoints that fail, or did within the last minutes, in the order of their ids. While the database's clock
     * is not believed there are none, and all are forgotten whose organization has had its notices.
     */
    observe(after: EndpointId | null): Effect.Effect<ReadonlyArray<FailingEndpoint>>
    /** Notes since when endpoints fail, and forgets which of them fail no longer, where `since` is null. */
    note(
      endpoints: ReadonlyArray<Pick<FailingEndpoint, "endpointId"> & { readonly since: number | null }>,
    ): Effect.Effect<void>
    /**
     * Notes which notice an organization is given, and with `isNotified` whom of its contacts. Returns how many they are; undefined if the
     * endpoint does not fail any longer, or another worker noted it.
     */
    notice(
      endpoint: FailingEndpoint,
      given: { readonly notices: number; readonly isNotified: boolean },
    ): Effect.Effect<number | undefined>
    /** Disables an endpoint in the name of the service, as the audit log says; false if it changed in the meantime. */
    disable(endpoint: FailingEndpoint): Effect.Effect<boolean>
    /** Takes a notice that waits to be sent; after half an hour it is taken again. */
    readonly claim: Effect.Effect<FailingNotice | undefined>
    /** Notes that a contact was notified, or cannot be. */
    settle(notice: FailingNotice, contact: string): Effect.Effect<void>
  }
>()("domain/deliveries/FailingEndpointRepository") {}
