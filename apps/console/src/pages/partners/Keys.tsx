import { type HourlyRequests, totalOf, type WindowUse } from "@outreach/backoffice/organizations/PartnerActivityReader"
import { SCOPES } from "@outreach/contract/names"
import type { OrganizationId } from "@outreach/domain/Identifier"
import { type ApiKey, KEY_REQUESTS_PER_MINUTE } from "@outreach/domain/organizations/ApiKey"
import { toUnixMillis } from "@outreach/domain/Timestamp"
import { formatCount, formatShare } from "../../components/format.ts"
import { ActionForm, CheckBoxes, Field, Folded } from "../../components/forms.tsx"
import { Table } from "../../components/lists.tsx"
import { useView } from "../../components/View.ts"
import { foreign, isolated, Noted, StatusBadge, Time } from "../../components/values.tsx"
import { ConfirmField } from "./confirmByName.tsx"
import { issueKeyAction, revokeKeyAction, rotateKeyAction } from "./keyActions.tsx"

/** A partner's API keys: their last use, their end, how much of the limit they use, and what may be done. */
export const Keys = (props: {
  readonly organizationId: OrganizationId
  readonly keys: ReadonlyArray<ApiKey>
  /** Of the last 24 hours. */
  readonly requests: ReadonlyArray<HourlyRequests>
  readonly windowUse: ReadonlyArray<WindowUse>
}) => {
  const { now } = useView()
  const isValid = ({ revokedAt, expiresAt }: ApiKey) =>
    revokedAt === null && (expiresAt === null || toUnixMillis(expiresAt) > now)
  const totalFor = (key: ApiKey) => totalOf(props.requests.filter(({ callerId }) => callerId === key.id))
  const usedNow = (key: ApiKey) => props.windowUse.find(({ keyId }) => keyId === key.id)?.count ?? 0
  const keys = [...props.keys.filter(isValid), ...props.keys.filter((key) => !isValid(key))]
  return (
    <section>
      <h2>API keys</h2>
      <Table
        caption="API keys"
        hideCaption
        rows={keys}
        empty="No key yet: the partner cannot ask for anything."
        columns={{
          Key: ({ name, prefix, lastFour }) => <Noted note={`${prefix}…${lastFour}`}>{isolated(name)}</Noted>,
          State: (key) => <KeyBadge apiKey={key} isValid={isValid(key)} />,
          Scopes: ({ scopes }) => scopes.join(", "),
          "Last used": ({ lastUsedAt }) => <Time at={lastUsedAt} none="never" />,
          Ends: ({ revokedAt, expiresAt }) => <Time at={revokedAt ?? expiresAt} none="never" />,
          "This minute": { number: (key) => <Use count={usedNow(key)} /> },
          "Fullest minute, 24 h": { number: (key) => <Use count={Math.max(totalFor(key).peak, usedNow(key))} /> },
          "Requests, 24 h": { count: (key) => totalFor(key).requests },
          Errors: {
            number: (key) => {
              const { requests, errors } = totalFor(key)
              return requests === 0 ? "–" : formatShare(errors / requests)
            },
          },
        }}
      />
      <p>
        Each key may make {KEY_REQUESTS_PER_MINUTE} requests in a clock minute. Requests without a valid key are
        nobody’s, and are not counted here.
      </p>
      {keys.filter(isValid).map(({ id, name, lastFour }) => (
        <Folded key={id} action={rotateKeyAction} title={foreign`Rotate or revoke ${name} …${lastFour}`}>
          <ActionForm action={rotateKeyAction} params={{ key: id }} label="Rotate">
            <Field name="overlap" label="The old one stays valid for" value="24h" hint="Such as 24h or 0s" size={6} />
          </ActionForm>
          <ActionForm action={revokeKeyAction} params={{ key: id }} label="Revoke it now" isDangerous>
            <ConfirmField name={name} />
          </ActionForm>
        </Folded>
      ))}
      <ActionForm action={issueKeyAction} params={{ organization: props.organizationId }} label="Issue a key">
        <Field name="name" label="What the key is for" hint="Such as Nightly sync" required />
        <CheckBoxes name="scopes" legend="Scopes" values={SCOPES} />
        <Field name="expires" label="Expires" hint="Such as 2027-01-01T00:00:00Z; empty for never" />
      </ActionForm>
    </section>
  )
}

const KeyBadge = (props: { readonly apiKey: ApiKey; readonly isValid: boolean }) => {
  if (props.isValid) return <StatusBadge tone="good">Valid</StatusBadge>
  return <StatusBadge tone="neutral">{props.apiKey.revokedAt === null ? "Expired" : "Revoked"}</StatusBadge>
}

/** How much of a rate window is used. */
const Use = (props: { readonly count: number }) =>
  props.count >= KEY_REQUESTS_PER_MINUTE ? (
    <StatusBadge tone="warning">{`${formatCount(props.count)} of ${KEY_REQUESTS_PER_MINUTE}`}</StatusBadge>
  ) : (
    <>
      {formatCount(props.count)} of {KEY_REQUESTS_PER_MINUTE}
    </>
  )
