import { formatCounted } from "@outreach/backoffice/format"
import { required } from "@outreach/backoffice/operations/Field"
import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import { DomainName } from "@outreach/domain/DomainName"
import { LinkDomainNotFound, LinkDomainRepository } from "@outreach/domain/senders/LinkDomainRepository"
import { formatFrom } from "@outreach/domain/senders/Sender"
import { SenderRepository } from "@outreach/domain/senders/SenderRepository"
import { Effect } from "effect"
import { ops } from "../../components/ops.ts"
import { IdLink } from "../../components/values.tsx"
import { defineConfirmation } from "../../http/defineConfirmation.tsx"

const removeSenderRoutes = defineConfirmation("/senders/:sender/remove", "senders remove", {
  role: "admin",
  ask: Effect.fnUntraced(function* ({ sender: id }) {
    const { programId, organizationId, keys, ...sender } = yield* (yield* SenderRepository).find(id)
    const { name } = yield* (yield* OrganizationReader).find(organizationId)
    const fallback = programId === null ? "the deployment's sender" : "the organization's sender, or the deployment's"
    return {
      title: "Remove the sender?",
      label: "Remove permanently",
      commands: [ops("senders remove", id)],
      back: `/senders/${id}`,
      many: `The sender, and ${formatCounted(keys.length, "DKIM key")}`,
      whom: (
        <>
          <IdLink id={id}>{formatFrom(sender)}</IdLink> of <IdLink id={organizationId}>{name}</IdLink>
        </>
      ),
      when: `Within a minute, its e-mails are sent by ${fallback}.`,
      typed: { word: sender.fromAddress, because: "This can't be undone. Its keys are deleted, too." },
    }
  }),
  run: Effect.fnUntraced(function* ({ sender }) {
    yield* (yield* SenderRepository).remove(sender)
    return { to: "/senders", notice: "Removed with its DKIM keys. Keep their DNS records for a week." }
  }),
})

const removeLinkDomainRoutes = defineConfirmation("/senders/link-domain/remove", "link-domains remove", {
  role: "admin",
  chosen: { "link-domain": required(DomainName) },
  ask: Effect.fnUntraced(function* ({ "link-domain": domain }) {
    const found = (yield* (yield* LinkDomainRepository).list()).find((each) => each.domain === domain)
    if (found === undefined) return yield* new LinkDomainNotFound({ domain })
    const { name } = yield* (yield* OrganizationReader).find(found.organizationId)
    return {
      title: "Remove the link domain?",
      label: "Remove permanently",
      commands: [ops("link-domains remove", domain)],
      back: "/senders",
      many: "All links in e-mails sent with it",
      whom: <IdLink id={found.organizationId}>{name}</IdLink>,
      when: "When its certificate expires, the links stop working.",
      typed: { word: domain, because: "This can't be undone. Links in sent e-mails stop working." },
    }
  }),
  run: Effect.fnUntraced(function* ({ "link-domain": domain }) {
    yield* (yield* LinkDomainRepository).remove(domain)
    return { to: "/senders", notice: `Removed ${domain}.` }
  }),
})

export const [removeSenderPage] = removeSenderRoutes
export const [removeLinkDomainPage] = removeLinkDomainRoutes
export const removeSenderPages = [...removeLinkDomainRoutes, ...removeSenderRoutes] as const
