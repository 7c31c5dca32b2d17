import * as z from "zod"
import { EMAIL } from "./emailPattern.ts"

/** Short-link token of a recipient: six base62 characters. */
export const Token = z
  .string()
  .regex(/^[0-9A-Za-z]{6}$/, "must be 6 characters of 0-9, A-Z and a-z")
  .meta({ id: "Token", description: "Short-link token, 6 base62 characters.", example: "aB3xY9" })

/** National provider identifier of a clinician: ten digits. */
export const Npi = z
  .string()
  .regex(/^\d{10}$/, "must be 10 digits")
  .meta({ id: "Npi", description: "National provider identifier, 10 digits.", example: "1234567893" })

/** An e-mail address. */
export const Email = z.email({ pattern: EMAIL }).meta({
  id: "Email",
  description:
    "E-mail address. Its local part may have non-ASCII letters (RFC 6531). The service writes domains in ASCII (RFC 5890).",
  example: "dana.reyes@clinic.test",
})

const hexId = (prefix: string, id: string, description: string) =>
  z
    .string()
    .regex(new RegExp(`^${prefix}_[0-9a-f]+$`), `must be ${prefix}_ followed by lowercase hex digits`)
    .meta({ id, description, example: `${prefix}_0199c2f27e1b7c3e8d5a4b6f90a1c2d3` })

export const RecipientId = hexId("rcp", "RecipientId", "Identifier of a recipient.")

export const CampaignId = hexId("cmp", "CampaignId", "Identifier of a campaign.")

export const ProgramId = hexId("pgm", "ProgramId", "Identifier of a program.")

export const EventId = hexId("evt", "EventId", "Identifier of an event: the deduplication key.")

/** Request id, `req_<hex>`; equals the `X-Request-Id` response header. */
export const RequestId = hexId("req", "RequestId", "Identifier of a request; equals the `X-Request-Id` header.")

export const WebhookEndpointId = hexId("whe", "WebhookEndpointId", "Identifier of a webhook endpoint.")
