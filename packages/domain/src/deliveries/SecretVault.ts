import { Context, type Effect, type Redacted } from "effect"
import type { OrganizationNotFound } from "../callers/OrganizationRegistry.ts"
import type { OrganizationId } from "../Identifier.ts"

/** How long a rotated signing secret stays active, unless said otherwise: 24 hours. */
export const DEFAULT_GRACE_SECONDS = 86_400

/** Keeps signing secrets, encrypted. */
export class SecretVault extends Context.Service<
  SecretVault,
  {
    /** Adds a secret and lets the others end after the grace window. */
    rotate(
      organizationId: OrganizationId,
      secret: Redacted.Redacted,
      graceSeconds: number,
    ): Effect.Effect<void, OrganizationNotFound>
    /** Reads the secrets that are active now, newest first. */
    active(organizationId: OrganizationId): Effect.Effect<ReadonlyArray<Redacted.Redacted>>
  }
>()("domain/deliveries/SecretVault") {}
