import { Context, type Effect, type Redacted } from "effect"
import type { EndpointId, OrganizationId } from "../Identifier.ts"
import type { OrganizationNotFound } from "../organizations/OrganizationRepository.ts"
import type { ActiveSecret } from "./Delivery.ts"

/** How long a rotated signing secret stays active, unless said otherwise: 24 hours. */
export const DEFAULT_GRACE_SECONDS = 86_400

/** The secrets that an organization has active at once: as many as a signature is verified with. */
export const MAX_ACTIVE_SECRETS = 16

/** Keeps signing secrets, encrypted. */
export class SecretVault extends Context.Service<
  SecretVault,
  {
    /**
     * Adds a secret and lets the others end after the grace window.
     *
     * Past `MAX_ACTIVE_SECRETS` the oldest end at once; returns how many did.
     */
    rotate(
      organizationId: OrganizationId,
      secret: Redacted.Redacted,
      graceSeconds: number,
    ): Effect.Effect<number, OrganizationNotFound>
    /** Reads the secrets that are active now, newest first. */
    active(organizationId: OrganizationId): Effect.Effect<ReadonlyArray<Redacted.Redacted>>
    /** Reads whose endpoint it is, with the secrets that are active now; undefined when there is no such endpoint. */
    ofEndpoint(endpointId: EndpointId): Effect.Effect<
      | {
          readonly organizationId: OrganizationId
          readonly secrets: ReadonlyArray<ActiveSecret>
        }
      | undefined
    >
  }
>()("domain/deliveries/SecretVault") {}
