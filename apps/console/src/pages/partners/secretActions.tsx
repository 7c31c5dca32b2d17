import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import {
  DEFAULT_GRACE_SECONDS,
  MAX_ACTIVE_SECRETS,
  SigningSecretRepository,
} from "@outreach/domain/deliveries/SigningSecretRepository"
import { rotateSecretWithinBound } from "@outreach/domain/deliveries/SigningSecrets"
import { Seconds } from "@outreach/domain/Seconds"
import { Effect, Redacted } from "effect"
import { formatCount, formatDuration } from "../../components/format.ts"
import { field } from "../../http/inputs.ts"
import { defineAction } from "../../http/Route.ts"
import { assertTyped, confirmFields } from "./confirmByName.tsx"
import { ShownOnce } from "./ShownOnce.tsx"

/** Creates an organization's first or next signing secret, and shows it once. */
export const rotateSecretAction = defineAction({
  path: "/partners/:organization/secrets/rotate",
  role: "admin",
  command: "secrets rotate",
  inputs: {
    grace: field(Seconds, "The old ones stay active for", {
      value: "24h",
      hint: "Such as 24h or 7d; 0s ends them now. The new one is shown once.",
      size: 8,
    }),
  },
  run: Effect.fnUntraced(function* ({ organization, grace = DEFAULT_GRACE_SECONDS }) {
    const { secret, ended } = yield* rotateSecretWithinBound(organization, grace)
    return {
      title: "New signing secret",
      commands: [`ops secrets rotate --organization ${organization} --grace ${grace}s`],
      body: (
        <ShownOnce text={Redacted.value(secret)} back={`/partners/${organization}`}>
          <p>
            We sign with it from now on. The older ones stay active for {formatDuration(grace)}: give the partner this
            one, and watch the partner page until nobody signs with the old one.
          </p>
          {ended > 0 && (
            <p>
              At most {MAX_ACTIVE_SECRETS} secrets are active at once: the grace of the oldest ({formatCount(ended)})
              has ended now.
            </p>
          )}
        </ShownOnce>
      ),
    }
  }),
})

export const revokeSecretAction = defineAction({
  path: "/secrets/:secret/revoke",
  role: "admin",
  command: "secrets revoke",
  inputs: confirmFields,
  run: Effect.fnUntraced(function* ({ secret: id, confirm }) {
    const secrets = yield* SigningSecretRepository
    const { secret } = yield* secrets.find(id)
    const { name } = yield* (yield* OrganizationReader).find(secret.organizationId)
    yield* assertTyped(confirm, name)
    yield* secrets.revoke(id)
    return {
      to: `/partners/${secret.organizationId}`,
      notice: `Revoked ${id}. It neither signs nor verifies any more.`,
    }
  }),
})
