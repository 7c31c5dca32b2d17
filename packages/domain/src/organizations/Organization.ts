import { Schema } from "effect"
import { DescribedError } from "../DescribedError.ts"
import { OrganizationId } from "../Identifier.ts"
import { Timestamp } from "../Timestamp.ts"

/** A partner's account. It owns API keys, webhook endpoints, signing secrets and partner-bound programs. */
export const Organization = Schema.Struct({
  id: OrganizationId,
  name: Schema.String,
  /** E-mail addresses notified when an endpoint fails; at most `MAX_CONTACTS`. */
  contacts: Schema.Array(Schema.String),
  /** Whether the partner's admins may manage endpoints, contacts, secrets and keys. */
  selfService: Schema.Boolean,
  /** Maximum number of endpoints that aren't removed. */
  maxEndpoints: Schema.Int,
  createdAt: Timestamp,
})
export type Organization = typeof Organization.Type

export const MAX_CONTACTS = 10

/** Maximum of the endpoint limit of an organization. */
export const MAX_ENDPOINTS = 10_000

export class OrganizationNotFound extends DescribedError("OrganizationNotFound", "No organization {organizationId}.") {}

export class TooManyEndpoints extends DescribedError(
  "TooManyEndpoints",
  "The organization has {maxEndpoints} endpoints, which is its limit. Remove one, or ask an operator to raise the limit.",
) {}

export class TooManyContacts extends DescribedError(
  "TooManyContacts",
  "An organization can have at most {most} contacts.",
) {}
