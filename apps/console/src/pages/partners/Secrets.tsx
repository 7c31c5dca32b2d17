import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import {
  DEFAULT_GRACE_SECONDS,
  MAX_ACTIVE_SECRETS,
  type SecretSummary,
  SigningSecretRepository,
} from "@outreach/domain/deliveries/SigningSecretRepository"
import { rotateSecretWithinBound } from "@outreach/domain/deliveries/SigningSecrets"
import type { Organization } from "@outreach/domain/organizations/Organization"
import { Seconds } from "@outreach/domain/Seconds"
import { toUnixMillis } from "@outreach/domain/Timestamp"
import { Effect } from "effect"
import { formatCount, formatDuration } from "../../components/format.ts"
import { ActionForm, Folded } from "../../components/forms.tsx"
import { Page, Section, Table } from "../../components/layout.tsx"
import { IdLink, StatusBadge, Time } from "../../components/values.tsx"
import { field } from "../../http/inputs.ts"
import { defineAction } from "../../http/Route.ts"
import { assertTyped, confirmBy, confirmFields, ShownOnce } from "./credentialForms.tsx"

const MAX_OVER = 5

/** Reads an organization's signing secrets: their age, who still signs with which, and what may be done. */
export const readSecrets = Effect.fnUntraced(function* (organization: Organization, now: number) {
  const repository = yield* SigningSecretRepository
  const secrets = yield* repository.list(organization.id)
  const verifications = yield* repository.verifications(organization.id)
  const isActive = ({ expiresAt }: SecretSummary) => expiresAt === null || toUnixMillis(expiresAt) > now
  const active = secrets.filter(isActive)
  const over = secrets.filter((secret) => !isActive(secret))
  const signedWith = (id: string) => verifications.filter(({ secretId }) => secretId === id)
  const old = active.slice(1).filter(({ lastVerifiedAt }) => lastVerifiedAt !== null)
  return (
    <Section title="Signing secrets">
      <p>
        We sign with all active secrets. The partner may sign with any of them: the last use by the partner shows which.
      </p>
      {active.length === 0 && (
        <p class="problem">
          No secret is active: nothing can be delivered, and the partner’s webhooks are answered 401.
        </p>
      )}
      {old.map(({ id, lastVerifiedAt, expiresAt }) => (
        <p class="problem" key={id}>
          The partner still signs with the old secret <code>{id}</code>, last at <Time at={lastVerifiedAt} />. It ends
          at <Time at={expiresAt} />.
        </p>
      ))}
      <Table
        label="Signing secrets"
        rows={[...active, ...over.slice(0, MAX_OVER)]}
        empty="No secret yet. Rotate makes the first."
        columns={{
          Secret: ({ id }) => <code>{id}</code>,
          State: (secret) => (
            <StatusBadge tone={isActive(secret) ? "good" : "neutral"}>
              {isActive(secret) ? (secret.expiresAt === null ? "Active" : "Ending") : "Over"}
            </StatusBadge>
          ),
          Age: ({ createdAt }) => (
            <time dateTime={createdAt}>{formatDuration((now - toUnixMillis(createdAt)) / 1000)}</time>
          ),
          Ends: ({ expiresAt }) => <Time at={expiresAt} none="never" />,
          "Partner last signed with it": ({ id, lastVerifiedAt }) => (
            <>
              <Time at={lastVerifiedAt} none="never" />
              {signedWith(id).map(({ endpointId }) => (
                <div key={endpointId}>
                  <small>
                    to <IdLink id={endpointId} />
                  </small>
                </div>
              ))}
            </>
          ),
          "We last signed with it": ({ lastUsedAt }) => <Time at={lastUsedAt} />,
        }}
      />
      {over.length > MAX_OVER && <p>{over.length - MAX_OVER} more are over: the command lists them.</p>}
      {active.map(({ id }) => (
        <Folded key={id} action={revokeSecretAction} title={`Revoke ${id}`}>
          <ActionForm
            action={revokeSecretAction}
            params={{ secret: id }}
            label="Revoke it now"
            isDangerous
            controls={confirmBy(
              organization.name,
              active.length === 1 ? "It is the only one: webhooks stop until there is another." : undefined,
            )}
          />
        </Folded>
      ))}
      <ActionForm action={rotateSecretAction} params={{ organization: organization.id }} label="Rotate secret" />
    </Section>
  )
})

const rotateSecretAction = defineAction("/partners/:organization/secrets/rotate", "secrets rotate", {
  forPartners: true,
  role: "admin",
  inputs: {
    grace: field(Seconds, "The old ones stay active for", {
      value: "24h",
      hint: "Such as 24h or 7d; 0s ends them now. The new one is shown once.",
      size: 8,
    }),
  },
  run: Effect.fnUntraced(function* ({ organization, grace = DEFAULT_GRACE_SECONDS }) {
    const { secret, ended } = yield* rotateSecretWithinBound(organization, grace)
    return (
      <Page
        title="New signing secret"
        commands={[`ops secrets rotate --organization ${organization} --grace ${grace}s`]}
      >
        <ShownOnce text={secret} organizationId={organization}>
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
      </Page>
    )
  }),
})

const revokeSecretAction = defineAction("/secrets/:secret/revoke", "secrets revoke", {
  role: "admin",
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

export const secretActions = [rotateSecretAction, revokeSecretAction] as const
