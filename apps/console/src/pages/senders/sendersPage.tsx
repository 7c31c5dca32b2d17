import { senders } from "@outreach/backoffice/lists/senders"
import { LinkDomainRepository } from "@outreach/domain/senders/LinkDomainRepository"
import type { Sender } from "@outreach/domain/senders/Sender"
import { Effect } from "effect"
import { ConfirmLink } from "../../components/forms.tsx"
import { Table } from "../../components/layout.tsx"
import { IdLink, StatusBadge, Time } from "../../components/values.tsx"
import { listPage } from "../../http/listPage.tsx"
import { newSenderPage } from "../newPages.tsx"
import { removeLinkDomainPage } from "./removeSenderPages.tsx"

export const sendersRoutes = listPage("/senders", senders, {
  cells: { state: (sender) => <SenderBadge {...sender} /> },
  read: ({ filter: { organizationId } }) =>
    Effect.map(
      LinkDomainRepository.use(({ list }) => list(organizationId)),
      (domains) => ({ domains }),
    ),
  around: ({ filter: { organizationId: organization }, domains, rows, objects, context }) => ({
    above: <ConfirmLink page={newSenderPage} query={{ organization }} label="Add a sender" isPrimary />,
    below: domains.length > 0 && (
      <Table
        title="Link domains"
        label="Link domains, including those without a sender"
        rows={domains}
        columns={{
          Domain: ({ domain }) => domain,
          Organization: ({ organizationId: id }) => <IdLink id={id}>{objects.nameOf(id) ?? id}</IdLink>,
          Verified: ({ verifiedAt }) => <Time at={verifiedAt} none="not yet" />,
          Remove:
            context.operator.organizationId === null &&
            (({ domain }) =>
              rows.every(({ linkDomain }) => linkDomain !== domain) && (
                <ConfirmLink page={removeLinkDomainPage} query={{ "link-domain": domain }} label="Remove" />
              )),
        }}
      />
    ),
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
