import { type HourlyRequests, totalOf, type WindowUse } from "@outreach/backoffice/organizations/PartnerActivityReader"
import type { OrganizationId } from "@outreach/domain/Identifier"
import { type ApiKey, KEY_REQUESTS_PER_MINUTE } from "@outreach/domain/organizations/ApiKey"
import { toUnixMillis } from "@outreach/domain/Timestamp"
import { formatCount, formatShare } from "../../components/format.ts"
import { ActionForm, Folded } from "../../components/forms.tsx"
import { Table } from "../../components/lists.tsx"
import { useView } from "../../components/View.ts"
import { foreign, isolated, Noted, StatusBadge, Time } from "../../components/values.tsx"
import { confirmBy } from "./confirmByName.tsx"
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
          State: (key) => (
            <StatusBadge tone={isValid(key) ? "good" : "neutral"}>
              {isValid(key) ? "Valid" : key.revokedAt === null ? "Expired" : "Revoked"}
            </StatusBadge>
          ),
          Scopes: ({ scopes }) => scopes.join(", "),
          "Last used": ({ lastUsedAt }) => <Time at={lastUsedAt} none="never" />,
          Ends: ({ revokedAt, expiresAt }) => <Time at={revokedAt ?? expiresAt} none="never" />,
          "This minute": { number: (key) => use(usedNow(key)) },
          "Fullest minute, 24 h": { number: (key) => use(Math.max(totalFor(key).peak, usedNow(key))) },
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
          <ActionForm action={rotateKeyAction} params={{ key: id }} label="Rotate" />
          <ActionForm
            action={revokeKeyAction}
            params={{ key: id }}
            label="Revoke it now"
            isDangerous
            controls={confirmBy(name)}
          />
        </Folded>
      ))}
      <ActionForm action={issueKeyAction} params={{ organization: props.organizationId }} label="Issue a key" />
    </section>
  )
}

/** How much of a rate window is used. */
const use = (count: number) => {
  const words = `${formatCount(count)} of ${KEY_REQUESTS_PER_MINUTE}`
  return count >= KEY_REQUESTS_PER_MINUTE ? <StatusBadge tone="warning">{words}</StatusBadge> : words
}
