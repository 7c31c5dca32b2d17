import { formatDuration } from "@outreach/backoffice/format"
import { revokeSecret, rotateSecret } from "@outreach/backoffice/operations/secrets"
import type { Endpoint } from "@outreach/domain/deliveries/Endpoint"
import { type SecretSummary, SigningSecretRepository } from "@outreach/domain/deliveries/SigningSecretRepository"
import type { Organization } from "@outreach/domain/organizations/Organization"
import { toUnixMillis } from "@outreach/domain/Timestamp"
import { Effect } from "effect"
import { ActionForm, ConfirmLink } from "../../components/forms.tsx"
import { Section, Table } from "../../components/layout.tsx"
import { Id, StatusBadge, Time } from "../../components/values.tsx"
import { operationAction, operationConfirmation } from "../../http/operationRoutes.tsx"

const MAX_OVER = 5

/** Reads the signing secrets of an organization or an endpoint: age, users and possible actions. */
export const readSecrets = Effect.fnUntraced(function* (organization: Organization, now: number, endpoint?: Endpoint) {
  const repository = yield* SigningSecretRepository
  const isOwn = endpoint?.ownSecrets === true
  const owner = isOwn ? endpoint.id : null
  const secrets = (yield* repository.list(
    owner === null ? { organizationId: organization.id } : { endpointId: owner },
  )).filter(({ endpointId }) => endpointId === owner)
  const isActive = ({ expiresAt }: SecretSummary) => expiresAt === null || toUnixMillis(expiresAt) > now
  const active = secrets.filter(isActive)
  const over = secrets.filter((secret) => !isActive(secret))
  const old = active.slice(1).filter(({ lastVerifiedAt }) => lastVerifiedAt !== null)
  return (
    <Section title={isOwn ? "Separate signing secrets" : "Signing secrets"}>
      <p>
        We sign with all active secrets. The partner can sign with any of them; the table shows the partner's last use.{" "}
        {isOwn
          ? "The organization's secrets are used here until the grace period of the first separate one is over."
          : "They are used for all endpoints without separate secrets."}
      </p>
      {active.length === 0 && (
        <p class="problem">
          No active secret: deliveries stop, and the partner’s webhooks get 401. Rotate to create one.
        </p>
      )}
      {old.map(({ id, lastVerifiedAt, expiresAt }) => (
        <p class="problem" key={id}>
          The partner still signs with the old secret <Id>{id}</Id>, last at <Time at={lastVerifiedAt} />. It expires at{" "}
          <Time at={expiresAt} />.
        </p>
      ))}
      <Table
        label="Signing secrets"
        rows={[...active, ...over.slice(0, MAX_OVER)]}
        empty="No secrets. Rotate to create the first."
        columns={{
          Secret: ({ id }) => (
            <div id={id}>
              <Id>{id}</Id>
            </div>
          ),
          State: (secret) => (
            <StatusBadge tone={isActive(secret) ? "good" : "neutral"}>
              {isActive(secret) ? (secret.expiresAt === null ? "Active" : "Expiring") : "Expired"}
            </StatusBadge>
          ),
          Age: ({ createdAt }) => (
            <time dateTime={createdAt}>{formatDuration((now - toUnixMillis(createdAt)) / 1000)}</time>
          ),
          Expires: ({ expiresAt }) => <Time at={expiresAt} none="never" />,
          "Last used by partner": ({ lastVerifiedAt }) => <Time at={lastVerifiedAt} none="never" />,
          Revoke: (secret) =>
            isActive(secret) && (
              <ConfirmLink page={revokeSecretRoutes[0]} params={{ secret: secret.id }} label="Revoke" isDangerous />
            ),
        }}
      />
      {over.length > MAX_OVER && <p>{over.length - MAX_OVER} more are expired; the command lists them.</p>}
      {!isOwn && <ActionForm action={rotateSecretAction} params={{ organization: organization.id }} />}
      {endpoint !== undefined && (
        <ActionForm
          action={rotateOwnAction}
          params={{ endpoint: endpoint.id }}
          {...(!isOwn && { label: "Create a separate secret" })}
        />
      )}
    </Section>
  )
})

const rotateSecretAction = operationAction("/partners/:organization/secrets/rotate", rotateSecret, {
  omit: ["endpointId"],
})
const rotateOwnAction = operationAction("/endpoints/:endpoint/secrets/rotate", rotateSecret, {
  omit: ["organizationId"],
})
const revokeSecretRoutes = operationConfirmation("/secrets/:secret/revoke", revokeSecret)

export const secretActions = [rotateSecretAction, rotateOwnAction, ...revokeSecretRoutes] as const
