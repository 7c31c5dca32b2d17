import { Context, type Effect } from "effect"
import type { ChangedMeanwhile } from "../ChangedMeanwhile.ts"
import { DescribedError } from "../DescribedError.ts"
import type { EndpointId, OrganizationId } from "../Identifier.ts"
import type { OrganizationNotFound } from "../organizations/Organization.ts"
import type { Timestamp } from "../Timestamp.ts"
import type { Endpoint, EndpointStatus, EndpointUrl, SettingChanges } from "./Endpoint.ts"

export class EndpointNotFound extends DescribedError("EndpointNotFound", "No webhook endpoint {endpointId}.") {}

export class EndpointRemoved extends DescribedError(
  "EndpointRemoved",
  "The webhook endpoint {endpointId} was removed at {removedAt}, for good: only its history is left.",
) {}

/** Reason why an endpoint can't be used. */
export type EndpointUnavailable = EndpointNotFound | EndpointRemoved

export class InvalidEndpointUrl extends DescribedError(
  "InvalidEndpointUrl",
  "The endpoint's URL cannot be used: {reason}.",
) {}

export class EndpointRepository extends Context.Service<
  EndpointRepository,
  {
    /** Adds an endpoint. It receives events published from now on, or since `since`. Omitted settings have defaults. */
    create(
      endpoint: Pick<Endpoint, "organizationId" | "id"> &
        SettingChanges &
        Partial<Pick<Endpoint, "ownSecrets">> & {
          readonly url: EndpointUrl
          readonly since?: Timestamp | undefined
        },
    ): Effect.Effect<Endpoint, OrganizationNotFound>
    /** Lists endpoints of one organization or all, oldest first. Default: those that aren't removed. */
    list(organizationId?: OrganizationId, kind?: "present" | "removed"): Effect.Effect<ReadonlyArray<EndpointStatus>>
    /** Finds an endpoint, removed or not. */
    find(endpointId: EndpointId): Effect.Effect<EndpointStatus, EndpointNotFound>
    /** Returns an endpoint's complete URL, which may contain a secret of the partner. */
    address(endpointId: EndpointId): Effect.Effect<EndpointUrl, EndpointNotFound>
    /** Creates delivery rows for published, unread events, so that changed event types apply only to later events. Part of the changing transaction. */
    detachFromLog(endpointId: EndpointId): Effect.Effect<void>
    /** Changes the given fields. Failures at an earlier URL no longer count. With a `version`, only that version is changed. */
    update(
      endpointId: EndpointId,
      changes: SettingChanges & { readonly url?: EndpointUrl },
      version?: string,
    ): Effect.Effect<Endpoint, EndpointUnavailable | ChangedMeanwhile>
    /** Enables an endpoint. Earlier failures no longer count. */
    enable(endpointId: EndpointId): Effect.Effect<Endpoint, EndpointUnavailable>
    /** Disables an endpoint for an operator. If the service disabled it before, the time is kept, and it no longer counts as failing. */
    disable(endpointId: EndpointId): Effect.Effect<Endpoint, EndpointUnavailable>
    /** Removes an endpoint permanently: its own secrets are destroyed, and only the shown part of its URL is kept. Part of a transaction. */
    remove(endpointId: EndpointId): Effect.Effect<Endpoint, EndpointUnavailable>
    /** Cancels some waiting deliveries of removed endpoints. Returns their number, 0 when done. */
    readonly endRemoved: Effect.Effect<number>
    /** Deletes some removed endpoints without history. Returns their number, 0 when done. */
    forgetRemoved(historyDays: number): Effect.Effect<number>
  }
>()("domain/deliveries/EndpointRepository") {}
