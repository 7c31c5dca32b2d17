import { readAll } from "@outreach/backoffice/operations/List"
import { revokeSecret, rotateSecret, secrets as secretList } from "@outreach/backoffice/operations/secrets"
import type { Endpoint } from "@outreach/domain/deliveries/Endpoint"
import type { OrganizationId } from "@outreach/domain/Identifier"
import { Effect } from "effect"
import { ActionForm, ConfirmLink } from "../../components/forms.tsx"
import { Section } from "../../components/layout.tsx"
import { Addressed, Id, Time } from "../../components/values.tsx"
import { ListTable } from "../../http/listPage.tsx"
import { operationAction, operationConfirmation } from "../../http/operationRoutes.tsx"

const MAX_OVER = 5

/** Reads the signing secrets of an organization or an endpoint: age, users and possible actions. */
export const readSecrets = Effect.fnUntraced(function* (organizationId: OrganizationId, endpoint?: Endpoint) {
  const isOwn = endpoint?.ownSecrets === true
  const owner = isOwn ? { endpointId: endpoint.id } : { organizationId }
  const secrets = (yield* readAll(secretList, owner)).filter(({ endpointId }) => isOwn || endpointId === null)
  const active = secrets.filter(({ state }) => state !== "expired")
  const over = secrets.filter(({ state }) => state === "expired")
  const old = active.slice(1).filter(({ lastVerifiedAt }) => lastVerifiedAt !== null)
  return (
    <Section title={isOwn ? "Separate signing secrets" : "Signing secrets"} id="secrets">
      <p>
        We sign with all active secrets. <Addressed you="You" partner="The partner" /> can sign with any of them; the
        table shows the last webhook to us that each verified.{" "}
        {isOwn
          ? "The organization's secrets are used here until the grace period of the first separate one is over."
          : "They are used for all endpoints without separate secrets."}
      </p>
      {active.length === 0 && (
        <p class="problem">No active secret: deliveries stop, and webhooks to us get 401. Rotate to create one.</p>
      )}
      {old.map(({ id, lastVerifiedAt, expiresAt }) => (
        <p class="problem" key={id}>
          <Addressed you="You still sign" partner="The partner still signs" /> with the old secret <Id>{id}</Id>, last
          at <Time at={lastVerifiedAt} />. It expires at <Time at={expiresAt} />.
        </p>
      ))}
      <ListTable
        label="Signing secrets"
        list={secretList}
        rows={[...active, ...over.slice(0, MAX_OVER)]}
        cells={{
          id: ({ id }) => (
            <div id={id}>
              <Id>{id}</Id>
            </div>
          ),
        }}
        actions={{
          Revoke: ({ id, state }) =>
            state !== "expired" && <ConfirmLink page={revokeSecretRoutes[0]} params={{ secret: id }} isDangerous />,
        }}
      />
      {over.length > MAX_OVER && <p>{over.length - MAX_OVER} more are expired; the command lists them.</p>}
      {!isOwn && <ActionForm action={rotateSecretAction} params={{ organization: organizationId }} />}
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
  to: ({ endpointId }) => `/endpoints/${endpointId}/secrets`,
})
const revokeSecretRoutes = operationConfirmation("/secrets/:secret/revoke", revokeSecret)

export const secretActions = [rotateSecretAction, rotateOwnAction, ...revokeSecretRoutes] as const
