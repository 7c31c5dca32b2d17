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
    <Section title={isOwn ? "Signing secrets of its own" : "Signing secrets"}>
      <p>
        We sign with all active secrets. The partner may sign with any of them: the last use by the partner shows which.{" "}
        {isOwn
          ? "Those of the organization sign here only until the grace window of the first own one is over."
          : "They are for all endpoints of the organization without secrets of their own."}
      </p>
      {active.length === 0 && (
        <p class="problem">
          No secret is active: nothing can be delivered, and the partner’s webhooks are answered 401.
        </p>
      )}
      {old.map(({ id, lastVerifiedAt, expiresAt }) => (
        <p class="problem" key={id}>
          The partner still signs with the old secret <Id>{id}</Id>, last at <Time at={lastVerifiedAt} />. It ends at{" "}
          <Time at={expiresAt} />.
        </p>
      ))}
      <Table
        label="Signing secrets"
        rows={[...active, ...over.slice(0, MAX_OVER)]}
        empty="No secret yet. Rotate makes the first."
        columns={{
          Secret: ({ id }) => (
            <div id={id}>
              <Id>{id}</Id>
            </div>
          ),
          State: (secret) => (
            <StatusBadge tone={isActive(secret) ? "good" : "neutral"}>
              {isActive(secret) ? (secret.expiresAt === null ? "Active" : "Ending") : "Over"}
            </StatusBadge>
          ),
          Age: ({ createdAt }) => (
            <time dateTime={createdAt}>{formatDuration((now - toUnixMillis(createdAt)) / 1000)}</time>
          ),
          Ends: ({ expiresAt }) => <Time at={expiresAt} none="never" />,
          "Partner last signed with it": ({ lastVerifiedAt }) => <Time at={lastVerifiedAt} none="never" />,
          Revoke: (secret) =>
            isActive(secret) && (
              <ConfirmLink page={revokeSecret[0]} params={{ secret: secret.id }} label="Revoke" isDangerous />
            ),
        }}
      />
      {over.length > MAX_OVER && <p>{over.length - MAX_OVER} more are over: the command lists them.</p>}
      {!isOwn && (
        <ActionForm action={rotateSecretAction} params={{ organization: organization.id }} label="Rotate secret" />
      )}
      {endpoint !== undefined && (
        <ActionForm
          action={rotateOwnAction}
          params={{ endpoint: endpoint.id }}
          label={isOwn ? "Rotate secret" : "Give it a secret of its own"}
        />
      )}
    </Section>
  )
})

const rotation = {
  role: "admin",
  forPartners: true,
  inputs: {
    grace: field(Seconds, "The old ones stay active for", {
      value: "24h",
      hint: "Such as 24h or 7d; 0s ends them now. The new one is shown once.",
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
          We sign with it from now on. The older ones stay active for {formatDuration(grace)}: give the partner this
          one, and watch the page until nobody signs with the old one.
        </p>
        {ended > 0 && (
          <p>
            At most {MAX_ACTIVE_SECRETS} secrets are active at once: the grace of the oldest ({formatCount(ended)}) has
            ended now.
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
      many: `1 secret; ${formatCounted(activeOthers, "other is", "others are")} active`,
      whom: <IdLink id={organizationId}>{name}</IdLink>,
      when: "Immediately: it neither signs nor verifies any more.",
      facts: {
        Endpoint: endpointId && <IdLink id={endpointId} />,
        "Partner last signed with it": <Time at={lastVerifiedAt} none="never" />,
      },
      typed: {
        word: name,
        because: `A revoked secret is never active again.${isOnly ? " It is the only one: webhooks stop until there is another." : ""}`,
      },
      label: "Revoke it now",
    }
  }),
  run: Effect.fnUntraced(function* ({ secret: id }) {
    const { organizationId, endpointId } = yield* (yield* SigningSecretRepository).revoke(id)
    return {
      to: endpointId === null ? `/partners/${organizationId}` : `/endpoints/${endpointId}`,
      notice: `Revoked ${id}. It neither signs nor verifies any more.`,
    }
  }),
})

export const secretActions = [rotateSecretAction, rotateOwnAction, ...revokeSecret] as const
