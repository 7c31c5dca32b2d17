import { SCOPES } from "@outreach/contract/names"
import type { OrganizationId } from "@outreach/domain/Identifier"
import { type ApiKey, KEY_REQUESTS_PER_MINUTE } from "@outreach/domain/organizations/ApiKey"
import { toUnixMillis } from "@outreach/domain/Timestamp"
import { type HourlyRequests, totalOf, type WindowUse } from "@outreach/postgres/organizations/PartnerActivity"
import { ActionForm } from "../../components/ActionForm.tsx"
import { CheckBox, Field } from "../../components/Field.tsx"
import { ForeignText } from "../../components/ForeignText.tsx"
import { formatCount, formatShare } from "../../components/format.ts"
import { StatusBadge } from "../../components/StatusBadge.tsx"
import { Table } from "../../components/Table.tsx"
import { Time } from "../../components/Time.tsx"
import { useView } from "../../components/View.ts"
import { Folded } from "./Folded.tsx"
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
        columns={[
          {
            header: "Key",
            cell: ({ name, prefix, lastFour }) => (
              <>
                <ForeignText>{name}</ForeignText>
                <div>
                  <small>
                    {prefix}…{lastFour}
                  </small>
                </div>
              </>
            ),
          },
          { header: "State", cell: (key) => <KeyBadge apiKey={key} isValid={isValid(key)} /> },
          { header: "Scopes", cell: ({ scopes }) => scopes.join(", ") },
          { header: "Last used", cell: ({ lastUsedAt }) => (lastUsedAt === null ? "never" : <Time at={lastUsedAt} />) },
          {
            header: "Ends",
            cell: ({ revokedAt, expiresAt }) => <KeyEnd revokedAt={revokedAt} expiresAt={expiresAt} />,
          },
          { header: "This minute", numeric: true, cell: (key) => <Use count={usedNow(key)} /> },
          {
            header: "Fullest minute, 24 h",
            numeric: true,
            cell: (key) => <Use count={Math.max(totalFor(key).peak, usedNow(key))} />,
          },
          { header: "Requests, 24 h", numeric: true, cell: (key) => formatCount(totalFor(key).requests) },
          {
            header: "Errors",
            numeric: true,
            cell: (key) => {
              const { requests, errors } = totalFor(key)
              return requests === 0 ? "–" : formatShare(errors / requests)
            },
          },
        ]}
      />
      <p>
        Each key may make {KEY_REQUESTS_PER_MINUTE} requests in a clock minute. What comes without a valid key is
        nobody’s, and is not counted here.
      </p>
      {keys.filter(isValid).map(({ id, name, lastFour }) => (
        <Folded
          key={id}
          action={rotateKeyAction}
          title={
            <>
              Rotate or revoke <ForeignText>{name}</ForeignText> …{lastFour}
            </>
          }
        >
          <ActionForm action={rotateKeyAction} params={{ key: id }} label="Rotate">
            <Field name="overlap" label="The old one stays valid for" value="24h" hint="Such as 24h or 0s" size={6} />
          </ActionForm>
          <ActionForm action={revokeKeyAction} params={{ key: id }} label="Revoke it now" isDangerous>
            <Field
              name="confirm"
              label={
                <>
                  Type <ForeignText>{name}</ForeignText>
                </>
              }
              required
            />
          </ActionForm>
        </Folded>
      ))}
      <ActionForm action={issueKeyAction} params={{ organization: props.organizationId }} label="Issue a key">
        <Field name="name" label="What the key is for" hint="Such as Nightly sync" required />
        <fieldset>
          <legend>Scopes</legend>
          {SCOPES.map((scope) => (
            <CheckBox key={scope} name="scopes" label={scope} value={scope} />
          ))}
        </fieldset>
        <Field name="expires" label="Expires" hint="Such as 2027-01-01T00:00:00Z; empty for never" />
      </ActionForm>
    </section>
  )
}

const KeyBadge = (props: { readonly apiKey: ApiKey; readonly isValid: boolean }) => {
  if (props.isValid) return <StatusBadge tone="good">Valid</StatusBadge>
  return <StatusBadge tone="neutral">{props.apiKey.revokedAt === null ? "Expired" : "Revoked"}</StatusBadge>
}

const KeyEnd = ({ revokedAt, expiresAt }: Pick<ApiKey, "revokedAt" | "expiresAt">) =>
  revokedAt === null && expiresAt === null ? <>never</> : <Time at={revokedAt ?? expiresAt} />

/** How much of a rate window is used. */
const Use = (props: { readonly count: number }) =>
  props.count >= KEY_REQUESTS_PER_MINUTE ? (
    <StatusBadge tone="warning">{`${formatCount(props.count)} of ${KEY_REQUESTS_PER_MINUTE}`}</StatusBadge>
  ) : (
    <>
      {formatCount(props.count)} of {KEY_REQUESTS_PER_MINUTE}
    </>
  )
