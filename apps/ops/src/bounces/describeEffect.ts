import { suppressionFor } from "@outreach/domain/mail/Complaints"
import { isHardBounce } from "@outreach/domain/suppressions/Suppression"
import type { Returned } from "@outreach/mail/returned/readReturned"

/** Describes the effect of a returned message at one of the service's return paths. */
export const describeEffect = (returned: Returned): string => {
  switch (returned.kind) {
    case "bounce":
      if (returned.verdict._tag === "Refused") {
        return "Counts the message as refused later, and lets the campaign leave the domain alone for an hour. It marks no address."
      }
      return returned.verdict._tag === "Bounced" && isHardBounce(returned.verdict.reason)
        ? "Marks the recipient as bounced, suppresses the address in the organization, and publishes outreach.email_bounced."
        : "Counts the message as refused later. It marks no address, and publishes nothing."
    case "complaint": {
      const reason = suppressionFor(returned.feedbackType)
      if (reason === undefined) return "None: feedback of this type is not about a recipient who minds."
      return `${reason === "complained" ? "Counts a complaint, and suppresses" : "Suppresses"} the address in the organization.`
    }
    case "delay":
      return "None: the server tries on, and reports again if it gives up."
    case "delivered":
      return "None: the message was delivered, or passed on."
    case "message":
      return "None: it is counted as ignored."
  }
}

/** The effect of a message without a return path of the deployment. */
export const NOT_OURS = "None: no return path in it is of this deployment. The listener refuses mail to others."

/** Returns the details of a bounce or a complaint; null for other messages. */
export const verdictOf = (returned: Returned): string | null => {
  if (returned.kind === "complaint") return returned.feedbackType
  if (returned.kind !== "bounce") return null
  return returned.verdict._tag === "Bounced" ? returned.verdict.reason : returned.verdict._tag.toLowerCase()
}
