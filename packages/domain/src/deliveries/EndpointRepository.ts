import { Context, type Effect } from "effect"
import type { ChangedMeanwhile } from "../ChangedMeanwhile.ts"
import { DescribedError } from "../DescribedError.ts"
import type { EndpointId, OrganizationId } from "../Identifier.ts"
import type { OrganizationNotFound } from "../organizations/Organization.ts"
import type { Timestamp } from "../Timestamp.ts"
import type { BreakerChange, Endpoint, EndpointSettings, EndpointStatus, EndpointUrl } from "./Endpoint.ts"

export class EndpointNotFound extends DescribedError("EndpointNotFound", "No webhook endpoint {endpointId}.") {}

export class EndpointRemoved extends DescribedError(
  "EndpointRemoved",
  "The webhook endpoint {endpointId} was removed at {removedAt}, for good: only its history is left.",
) {}

/** Why nothing can be done with an endpoint. */
export type EndpointUnavailable = EndpointNotFound | EndpointRemoved

export class InvalidEndpointUrl extends DescribedError(
  "InvalidEndpointUrl",
  "The endpoint's URL cannot be used: {reason}.",
) {}

export class EndpointRepository extends Context.Service<
  EndpointRepository,
  {
    /** Adds an endpoint. It receives what is published from now on, or what was published at `since` or later. Settings that are not given have their defaults. */
    create(
      endpoint: Pick<Endpoint, "organizationId" | "id"> &
        Partial<EndpointSettings & Pick<Endpoint, "ownSecrets">> & {
          readonly url: EndpointUrl
          readonly since?: Timestamp
        },
    ): Effect.Effect<Endpoint, OrganizationNotFound>
    /** Lists endpoints, oldest first; of one organization or of all. By default those that are not removed. */
    list(organizationId?: OrganizationId, kind?: "present" | "removed"): Effect.Effect<ReadonlyArray<EndpointStatus>>
    /** Finds an endpoint, removed or not. */
    find(endpointId: EndpointId): Effect.Effect<EndpointStatus, EndpointNotFound>
    /** Returns an endpoint's whole address, which may hold a secret of the partner. */
    address(endpointId: EndpointId): Effect.Effect<EndpointUrl, EndpointNotFound>
    /** Lists the newest hundred openings and closings of an endpoint's breaker, newest first. */
    breakerChanges(endpointId: EndpointId): Effect.Effect<ReadonlyArray<BreakerChange>>
    /** Gives the events that are published and not read yet rows of their own: new event types hold for later events alone. Part of the transaction that changes them. */
    leaveLog(endpointId: EndpointId): Effect.Effect<void>
    /** Changes the given fields. At a new address the failures at the old one no longer count. With a `version`, an endpoint of another version is not changed. */
    update(
      endpointId: EndpointId,
      changes: Partial<EndpointSettings & { readonly url: EndpointUrl }>,
      version?: string,
    ): Effect.Effect<Endpoint, EndpointUnavailable | ChangedMeanwhile>
    /** Lets an endpoint's deliveries go out. Its earlier failures no longer count. */
    enable(endpointId: EndpointId): Effect.Effect<Endpoint, EndpointUnavailable>
    /** Holds an endpoint's deliveries because an operator wants it. One that the service disabled keeps its time, and counts as failing no longer. */
    disable(endpointId: EndpointId): Effect.Effect<Endpoint, EndpointUnavailable>
    /** Removes an endpoint for good: its own secrets are destroyed, and its address is kept only as it is shown. Part of a transaction. */
    remove(endpointId: EndpointId): Effect.Effect<Endpoint, EndpointUnavailable>
    /** Ends some of what waits at removed endpoints; returns how many, 0 when all is done. */
    readonly endRemoved: Effect.Effect<number>
    /** Forgets some of the removed endpoints of whose history nothing is kept any more; returns how many, 0 when all is done. */
    forgetRemoved(historyDays: number): Effect.Effect<number>
  }
>()("domain/deliveries/EndpointRepository") {}
