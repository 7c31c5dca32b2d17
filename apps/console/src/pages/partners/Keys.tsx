import { createKey, revokeKey, rotateKey } from "@outreach/backoffice/operations/keys"
import { type ApiKey, KEY_REQUESTS_PER_MINUTE } from "@outreach/domain/organizations/ApiKey"
import { toUnixMillis } from "@outreach/domain/Timestamp"
import { Effect } from "effect"
import { ConsoleConfig } from "../../ConsoleConfig.ts"
import { ActionForm, ConfirmLink, Disclosure } from "../../components/forms.tsx"
import { LinkLine, Table } from "../../components/layout.tsx"
import { foreign, isolated, Noted, StatusBadge, Time } from "../../components/values.tsx"
import { operationAction, operationConfirmation } from "../../http/operationRoutes.tsx"
import type { Partner } from "./partnerPage.tsx"

export const Keys = ({ organization, keys, now }: Partner) => {
  const isValid = ({ revokedAt, expiresAt }: ApiKey) =>
    revokedAt === null && (expiresAt === null || toUnixMillis(expiresAt) > now)
  const valid = keys.filter(isValid)
  return (
    <section>
      <Table
        title="API keys"
        rows={[...valid, ...keys.filter((key) => !isValid(key))]}
        empty="No keys, so the partner can't use the API. Issue one."
        columns={{
          Key: (key) => (
            <div id={key.id}>
              <Noted note={`${key.prefix}…${key.lastFour}`}>{isolated(key.name)}</Noted>
              {isValid(key) && <Acts {...key} />}
            </div>
          ),
          State: (key) => (
            <StatusBadge tone={isValid(key) ? "good" : "neutral"}>
              {isValid(key) ? "Valid" : key.revokedAt === null ? "Expired" : "Revoked"}
            </StatusBadge>
          ),
          Scopes: ({ scopes }) => scopes.join(", "),
          "Last used": ({ lastUsedAt }) => <Time at={lastUsedAt} none="never" />,
          Expires: ({ revokedAt, expiresAt }) => <Time at={revokedAt ?? expiresAt} none="never" />,
        }}
      />
      <p>Each key can make {KEY_REQUESTS_PER_MINUTE} requests per clock minute.</p>
      <ActionForm action={issueKeyAction} params={{ organization: organization.id }} />
    </section>
  )
}

const Acts = ({ id, name }: ApiKey) => (
  <Disclosure action={rotateKeyAction} title={foreign`Rotate or revoke ${name}`}>
    <ActionForm action={rotateKeyAction} params={{ key: id }} />
    <ConfirmLink page={revokeKeyRoutes[0]} params={{ key: id }} label="Revoke" isDangerous />
  </Disclosure>
)

/** Links to the documents with a key in the fragment, which browsers don't send. A script fills it into the commands. */
const documentsLink = ({ apiKey }: { readonly apiKey: string }) =>
  Effect.map(ConsoleConfig, ({ publicBaseUrl }) => (
    <LinkLine to={`${publicBaseUrl}/docs#key=${apiKey}`}>Open the API documents with this key</LinkLine>
  ))

const issueKeyAction = operationAction("/partners/:organization/keys", createKey, { below: documentsLink })
const rotateKeyAction = operationAction("/keys/:key/rotate", rotateKey, { below: documentsLink })

export const revokeKeyRoutes = operationConfirmation("/keys/:key/revoke", revokeKey, {
  children: <p>Or rotate it: the partner gets a new key first, and this one expires later.</p>,
})

export const keyActions = [issueKeyAction, rotateKeyAction, ...revokeKeyRoutes] as const
