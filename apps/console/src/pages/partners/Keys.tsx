import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import { SCOPES } from "@outreach/contract/names"
import { DisplayName } from "@outreach/domain/DisplayName"
import { Instant } from "@outreach/domain/Instant"
import { type ApiKey, KEY_REQUESTS_PER_MINUTE } from "@outreach/domain/organizations/ApiKey"
import { ApiKeyRepository } from "@outreach/domain/organizations/ApiKeyRepository"
import { DEFAULT_OVERLAP_SECONDS, issueKey, rotateKey } from "@outreach/domain/organizations/ApiKeys"
import { Seconds } from "@outreach/domain/Seconds"
import { toUnixMillis } from "@outreach/domain/Timestamp"
import { Effect, Redacted } from "effect"
import { ConsoleConfig } from "../../ConsoleConfig.ts"
import { formatDuration } from "../../components/format.ts"
import { ActionForm, ConfirmLink, Folded } from "../../components/forms.tsx"
import { LinkLine, Page, Table } from "../../components/layout.tsx"
import { ops } from "../../components/ops.ts"
import { foreign, Id, IdLink, isolated, Noted, StatusBadge, Time } from "../../components/values.tsx"
import { defineConfirmation } from "../../http/defineConfirmation.tsx"
import { checkBoxes, field, required } from "../../http/inputs.ts"
import { defineAction } from "../../http/Route.ts"
import type { Partner } from "./partnerPage.tsx"
import { ShownOnce } from "./ShownOnce.tsx"

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
      <ActionForm action={issueKeyAction} params={{ organization: organization.id }} label="Issue a key" />
    </section>
  )
}

const Acts = ({ id, name }: ApiKey) => (
  <Folded action={rotateKeyAction} title={foreign`Rotate or revoke ${name}`}>
    <ActionForm action={rotateKeyAction} params={{ key: id }} label="Rotate" />
    <ConfirmLink page={revokeKey[0]} params={{ key: id }} label="Revoke" isDangerous />
  </Folded>
)

/** Links to the documents with a key in the fragment, which browsers don't send. A script fills it into the commands. */
const readDocumentsLink = (text: Redacted.Redacted) =>
  Effect.map(ConsoleConfig, ({ publicBaseUrl }) => (
    <LinkLine to={`${publicBaseUrl}/docs#key=${Redacted.value(text)}`}>Open the API documents with this key</LinkLine>
  ))

const issueKeyAction = defineAction("/partners/:organization/keys", "keys create", {
  forPartners: true,
  role: "admin",
  inputs: {
    name: required(field(DisplayName, "Key name", { hint: "Such as Nightly sync" })),
    scopes: required(checkBoxes("Scopes", SCOPES)),
    expires: field(Instant, "Expires", { kind: "instant", hint: "Empty for never" }),
  },
  run: Effect.fnUntraced(function* ({ organization, name, scopes, expires = null }) {
    const { key, text } = yield* issueKey({ organizationId: organization, name, scopes, expiresAt: expires })
    const documents = yield* readDocumentsLink(text)
    return (
      <Page title="New API key" commands={[ops("keys create", { organization, name, scopes: scopes.join(",") })]}>
        <ShownOnce text={text} back={`/partners/${organization}`}>
          <p>
            {foreign`“${name}” has the scopes ${scopes.join(", ")}.`} Its id is <Id>{key.id}</Id>.
          </p>
          {documents}
        </ShownOnce>
      </Page>
    )
  }),
})

const rotateKeyAction = defineAction("/keys/:key/rotate", "keys rotate", {
  forPartners: true,
  role: "admin",
  inputs: {
    overlap: field(Seconds, "Old key valid for", { value: "24h", hint: "Such as 24h or 0s", size: 6 }),
  },
  run: Effect.fnUntraced(function* ({ key: id, overlap = DEFAULT_OVERLAP_SECONDS }) {
    const { key, text } = yield* rotateKey(id, overlap)
    const documents = yield* readDocumentsLink(text)
    return (
      <Page title="New API key" commands={[ops("keys rotate", id, { overlap: `${overlap}s` })]}>
        <ShownOnce text={text} back={`/partners/${key.organizationId}`}>
          <p>
            It replaces <Id>{id}</Id>, which is valid for at most {formatDuration(overlap)}. Its id is <Id>{key.id}</Id>
            .
          </p>
          {documents}
        </ShownOnce>
      </Page>
    )
  }),
})

export const revokeKey = defineConfirmation("/keys/:key/revoke", "keys revoke", {
  forPartners: true,
  role: "admin",
  ask: Effect.fnUntraced(function* ({ key: id }) {
    const { name, organizationId, lastFour, lastUsedAt } = yield* (yield* ApiKeyRepository).find(id)
    const organization = yield* (yield* OrganizationReader).find(organizationId)
    return {
      title: foreign`Revoke ${name} …${lastFour}?`,
      commands: [ops("keys revoke", id)],
      back: `/partners/${organizationId}`,
      many: "1 key",
      whom: <IdLink id={organizationId}>{organization.name}</IdLink>,
      when: "Immediately. Requests with it return 401.",
      facts: { "Last used": <Time at={lastUsedAt} none="never" /> },
      typed: { word: name, because: "This can't be undone." },
      label: "Revoke now",
      children: (
        <>
          <h2>Or rotate it</h2>
          <p>The partner gets a new key first, and this one expires later.</p>
          <ActionForm action={rotateKeyAction} params={{ key: id }} label="Rotate" />
          <LinkLine to={`/partners/${organizationId}#${id}`}>Back to the key</LinkLine>
        </>
      ),
    }
  }),
  run: Effect.fnUntraced(function* ({ key: id }) {
    const { name, organizationId } = yield* (yield* ApiKeyRepository).revoke(id)
    return { to: `/partners/${organizationId}`, notice: `Revoked “${name}”. Requests with it return 401.` }
  }),
})

export const keyActions = [issueKeyAction, rotateKeyAction, ...revokeKey] as const
