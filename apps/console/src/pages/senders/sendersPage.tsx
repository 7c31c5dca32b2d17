import { nameIn } from "@outreach/backoffice/format"
import { organizationFilter } from "@outreach/backoffice/operations/fields"
import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import { ProgramRepository } from "@outreach/domain/programs/ProgramRepository"
import { LinkDomainRepository } from "@outreach/domain/senders/LinkDomainRepository"
import { describeRamp } from "@outreach/domain/senders/Ramp"
import { formatFrom, type Sender } from "@outreach/domain/senders/Sender"
import { SenderRepository } from "@outreach/domain/senders/SenderRepository"
import { Effect } from "effect"
import { ConfirmLink, FilterBar } from "../../components/forms.tsx"
import { Page, Table } from "../../components/layout.tsx"
import { ops } from "../../components/ops.ts"
import { IdLink, Noted, StatusBadge, Time } from "../../components/values.tsx"
import { definePage } from "../../http/Route.ts"
import { newSenderPage } from "../newPages.tsx"
import { removeLinkDomainPage } from "./removeSenderPages.tsx"

const filters = { organization: organizationFilter }

export const sendersPage = definePage("/senders", {
  inputs: filters,
  run: Effect.fnUntraced(function* ({ organization }, { operator }) {
    const organizations = yield* (yield* OrganizationReader).list
    const programs = yield* (yield* ProgramRepository).list(organization)
    const senders = yield* (yield* SenderRepository).list(organization)
    const domains = yield* (yield* LinkDomainRepository).list(organization)
    const nameOf = (id: string): string => nameIn([...organizations, ...programs], id)
    return (
      <Page title="Senders" commands={[ops("senders list", { organization })]}>
        <ConfirmLink page={newSenderPage} query={{ organization }} label="Add a sender" isPrimary />
        <FilterBar inputs={filters} values={{ organization }} controls={{ organization: { options: organizations } }} />
        <Table
          caption="Senders. A program without a sender uses the organization's or the deployment's."
          rows={senders}
          empty="No senders: all e-mails use the deployment's sender. Add one, publish its DNS records and verify it."
          columns={{
            Sender: ({ id, ...sender }) => <IdLink id={id}>{formatFrom(sender)}</IdLink>,
            "Sends for": ({ organizationId, programId }) => (
              <Noted note={programId === null ? "its programs without a separate sender" : nameOf(organizationId)}>
                <IdLink id={programId ?? organizationId}>{nameOf(programId ?? organizationId)}</IdLink>
              </Noted>
            ),
            State: (sender) => <SenderBadge {...sender} />,
            "Signs with": ({ keys }) =>
              keys.flatMap(({ isSigning, selector }) => (isSigning ? [selector] : [])).join(", ") || "–",
            "Link domain": ({ linkDomain }) => linkDomain ?? "–",
            Ramp: ({ ramp }) => describeRamp(ramp) ?? "–",
          }}
        />
        {domains.length > 0 && (
          <Table
            title="Link domains"
            label="Link domains, including those without a sender"
            rows={domains}
            columns={{
              Domain: ({ domain }) => domain,
              Organization: ({ organizationId }) => <IdLink id={organizationId}>{nameOf(organizationId)}</IdLink>,
              Verified: ({ verifiedAt }) => <Time at={verifiedAt} none="not yet" />,
              Remove:
                operator.organizationId === null &&
                (({ domain }) =>
                  senders.every(({ linkDomain }) => linkDomain !== domain) && (
                    <ConfirmLink page={removeLinkDomainPage} query={{ "link-domain": domain }} label="Remove" />
                  )),
            }}
          />
        )}
      </Page>
    )
  }),
})

/** The state of a sender and of its link domain. */
export const SenderBadge = (props: Pick<Sender, "liveSince" | "linkDomain" | "linkDomainVerifiedAt">) => {
  const { liveSince, linkDomain, linkDomainVerifiedAt } = props
  if (liveSince === null) return <StatusBadge tone="warning">Not verified</StatusBadge>
  if (linkDomain !== null && linkDomainVerifiedAt === null) {
    return <StatusBadge tone="warning">Live, links not verified</StatusBadge>
  }
  return <StatusBadge tone="good">Live</StatusBadge>
}
