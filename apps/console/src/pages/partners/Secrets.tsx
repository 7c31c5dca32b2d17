import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import type { Endpoint } from "@outreach/domain/deliveries/Endpoint"
import {
  DEFAULT_GRACE_SECONDS,
  MAX_ACTIVE_SECRETS,
  type SecretOwner,
  type SecretSummary,
  SigningSecretRepository,
} from "@outreach/domain/deliveries/SigningSecretRepository"
import { rotateSecretWithinBound } from "@outreach/domain/deliveries/SigningSecrets"
import type { Organization } from "@outreach/domain/organizations/Organization"
import { Seconds } from "@outreach/domain/Seconds"
import { toUnixMillis } from "@outreach/domain/Timestamp"
import { Effect } from "effect"
import { formatCount, formatCounted, formatDuration } from "../../components/format.ts"
import { ActionForm, ConfirmLink } from "../../components/forms.tsx"
import { Page, Section, Table } from "../../components/layout.tsx"
import { ops } from "../../components/ops.ts"
import { Id, IdLink, StatusBadge, Time } from "../../components/values.tsx"
import { defineConfirmation } from "../../http/defineConfirmation.tsx"
import { field } from "../../http/inputs.ts"
import { defineAction } from "../../http/Route.ts"
import { ShownOnce } from "./ShownOnce.tsx"

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
              <ConfirmLink page={revokeSecret[0]} params={{ secret: secret.id }} label="Revoke" isDangerous />
            ),
        }}
      />
      {over.length > MAX_OVER && <p>{over.length - MAX_OVER} more are expired; the command lists them.</p>}
      {!isOwn && (
        <ActionForm action={rotateSecretAction} params={{ organization: organization.id }} label="Rotate secret" />
      )}
      {endpoint !== undefined && (
        <ActionForm
          action={rotateOwnAction}
          params={{ endpoint: endpoint.id }}
          label={isOwn ? "Rotate secret" : "Create a separate secret"}
        />
      )}
    </Section>
  )
})

const rotation = {
  role: "admin",
  forPartners: true,
  inputs: {
    grace: field(Seconds, "Old secrets active for", {
      value: "24h",
      hint: "Such as 24h or 7d; 0s deactivates them now. The new secret is shown once.",
      size: 8,
    }),
  },
} as const

/** Creates a secret and shows it. */
const rotate = Effect.fnUntraced(function* (
  owner: SecretOwner,
  grace: number,
  page: { readonly owner: Readonly<Record<string, string>>; readonly back: string },
) {
  const { secret, ended } = yield* rotateSecretWithinBound(owner, grace)
  return (
    <Page title="New signing secret" commands={[ops("secrets rotate", page.owner, { grace: `${grace}s` })]}>
      <ShownOnce text={secret} back={page.back}>
        <p>
          We sign with it from now on. The old secrets stay active for {formatDuration(grace)}. Give the partner this
          one and check here that the partner no longer uses the old one.
        </p>
        {ended > 0 && (
          <p>
            At most {MAX_ACTIVE_SECRETS} secrets can be active, so the oldest ({formatCount(ended)}) are expired now.
          </p>
        )}
      </ShownOnce>
    </Page>
  )
})

const rotateSecretAction = defineAction("/partners/:organization/secrets/rotate", "secrets rotate", {
  ...rotation,
  run: ({ organization: organizationId, grace = DEFAULT_GRACE_SECONDS }) =>
    rotate({ organizationId }, grace, {
      owner: { organization: organizationId },
      back: `/partners/${organizationId}`,
    }),
})

const rotateOwnAction = defineAction("/endpoints/:endpoint/secrets/rotate", "secrets rotate", {
  ...rotation,
  run: ({ endpoint: endpointId, grace = DEFAULT_GRACE_SECONDS }) =>
    rotate({ endpointId }, grace, { owner: { endpoint: endpointId }, back: `/endpoints/${endpointId}` }),
})

const revokeSecret = defineConfirmation("/secrets/:secret/revoke", "secrets revoke", {
  role: "admin",
  ask: Effect.fnUntraced(function* ({ secret: id }) {
    const { secret, isActive, activeOthers } = yield* (yield* SigningSecretRepository).find(id)
    const { organizationId, endpointId, lastVerifiedAt } = secret
    const { name } = yield* (yield* OrganizationReader).find(organizationId)
    const isOnly = isActive && activeOthers === 0
    return {
      title: `Revoke ${id}?`,
      commands: [ops("secrets revoke", id)],
      back: endpointId === null ? `/partners/${organizationId}` : `/endpoints/${endpointId}`,
      many: `1 secret; ${formatCounted(activeOthers, "secret remains", "secrets remain")} active`,
      whom: <IdLink id={organizationId}>{name}</IdLink>,
      when: "Immediately. It no longer signs or verifies webhooks.",
      facts: {
        Endpoint: endpointId && <IdLink id={endpointId} />,
        "Last used by partner": <Time at={lastVerifiedAt} none="never" />,
      },
      typed: {
        word: name,
        because: `This can't be undone.${isOnly ? " It is the only active secret: webhooks stop until you create one." : ""}`,
      },
      label: "Revoke now",
    }
  }),
  run: Effect.fnUntraced(function* ({ secret: id }) {
    const { organizationId, endpointId } = yield* (yield* SigningSecretRepository).revoke(id)
    return {
      to: endpointId === null ? `/partners/${organizationId}` : `/endpoints/${endpointId}`,
      notice: `Revoked ${id}. It no longer signs or verifies webhooks.`,
    }
  }),
})

export const secretActions = [rotateSecretAction, rotateOwnAction, ...revokeSecret] as const
