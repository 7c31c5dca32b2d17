import { removeLinkDomain, removeSender } from "@outreach/backoffice/operations/senders"
import { operationConfirmation } from "../../http/operationRoutes.tsx"

const to = "/senders"

const removeSenderRoutes = operationConfirmation("/senders/:sender/remove", removeSender, { to })

const removeLinkDomainRoutes = operationConfirmation("/senders/link-domain/remove", removeLinkDomain, {
  chosen: ["linkDomain"],
  to,
})

export const [removeSenderPage] = removeSenderRoutes
export const [removeLinkDomainPage] = removeLinkDomainRoutes
export const removeSenderPages = [...removeLinkDomainRoutes, ...removeSenderRoutes] as const
