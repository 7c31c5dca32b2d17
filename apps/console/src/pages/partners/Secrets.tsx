import {
  type SecretSummary,
  type SecretVerification,
  SigningSecretRepository,
} from "@outreach/domain/deliveries/SigningSecretRepository"
import type { Organization } from "@outreach/domain/organizations/Organization"
import { toUnixMillis } from "@outreach/domain/Timestamp"
import { Effect } from "effect"
import { formatDuration } from "../../components/format.ts"
import { ActionForm, Folded } from "../../components/forms.tsx"
import { Table } from "../../components/lists.tsx"
import { useView } from "../../components/View.ts"
import { IdLink, StatusBadge, Time } from "../../components/values.tsx"
import { confirmBy } from "./confirmByName.tsx"
import { revokeSecretAction, rotateSecretAction } from "./secretActions.tsx"

const MAX_OVER = 5

/** Reads an organization's signing secrets: their age, who still signs with which, and what may be done. */
export const readSecrets = Effect.fnUntraced(function* (organization: Organization) {
  const repository = yield* SigningSecretRepository
  const secrets = yield* repository.list(organization.id)
  const verifications = yield* repository.verifications(organization.id)
  return <Secrets organization={organization} secrets={secrets} verifications={verifications} />
})

const Secrets = (props: {
  readonly organization: Organization
  /** Newest first. */
  readonly secrets: ReadonlyArray<SecretSummary>
  readonly verifications: ReadonlyArray<SecretVerification>
}) => {
  const { now } = useView()
  const isActive = ({ expiresAt }: SecretSummary) => expiresAt === null || toUnixMillis(expiresAt) > now
  const active = props.secrets.filter(isActive)
  const over = props.secrets.filter((secret) => !isActive(secret))
  const signedWith = (id: string) => props.verifications.filter(({ secretId }) => secretId === id)
  const old = active.slice(1).filter(({ lastVerifiedAt }) => lastVerifiedAt !== null)
  return (
    <section>
      <h2>Signing secrets</h2>
      <p>
        We sign with all active secrets. The partner may sign with any of them: the last use by the partner tells which.
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
        caption="Signing secrets"
        hideCaption
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
            controls={confirmBy(props.organization.name, {
              hint: active.length === 1 ? "It is the only one: webhooks stop until there is another." : undefined,
            })}
          />
        </Folded>
      ))}
      <ActionForm action={rotateSecretAction} params={{ organization: props.organization.id }} label="Rotate secret" />
    </section>
  )
}
