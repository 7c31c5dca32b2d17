import { keys as keyList } from "@outreach/backoffice/lists/keys"
import { createKey, revokeKey, rotateKey } from "@outreach/backoffice/operations/keys"
import { type ApiKey, KEY_REQUESTS_PER_MINUTE } from "@outreach/domain/organizations/ApiKey"
import { Effect } from "effect"
import { ConsoleConfig } from "../../ConsoleConfig.ts"
import { ActionForm, ConfirmLink, Disclosure } from "../../components/forms.tsx"
import { LinkLine } from "../../components/layout.tsx"
import { foreign, isolated, Noted, Time } from "../../components/values.tsx"
import { ListTable } from "../../http/listPage.tsx"
import { operationAction, operationConfirmation } from "../../http/operationRoutes.tsx"
import type { Partner } from "./partnerPage.tsx"

export const Keys = ({ organization, keys }: Partner) => (
  <section>
    <ListTable title="API keys" list={keyList} rows={keys} cells={cells} />
    <p>Each key can make {KEY_REQUESTS_PER_MINUTE} requests per clock minute.</p>
    <ActionForm action={issueKeyAction} params={{ organization: organization.id }} />
  </section>
)

const cells = {
  name: ({ id, name, prefix, lastFour, state }: Partner["keys"][number]) => (
    <div id={id}>
      <Noted note={`${prefix}…${lastFour}`}>{isolated(name)}</Noted>
      {state === "valid" && (
        <Disclosure action={rotateKeyAction} title={foreign`Rotate or revoke ${name}`}>
          <ActionForm action={rotateKeyAction} params={{ key: id }} />
          <ConfirmLink page={revokeKeyRoutes[0]} params={{ key: id }} label="Revoke" isDangerous />
        </Disclosure>
      )}
    </div>
  ),
  expiresAt: ({ revokedAt, expiresAt }: ApiKey) => <Time at={revokedAt ?? expiresAt} none="never" />,
}

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
