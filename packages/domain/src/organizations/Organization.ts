import { Schema } from "effect"
import type { OrganizationId } from "../Identifier.ts"
import type { Timestamp } from "../Timestamp.ts"

/** A partner's account. It owns API keys, webhook endpoints, signing secrets and partner-bound programs. */
export interface Organization {
  readonly id: OrganizationId
  readonly name: string
  readonly createdAt: Timestamp
}

/** No organization has this id. */
export class OrganizationNotFound extends Schema.TaggedError<OrganizationNotFound>()("OrganizationNotFound", {
  organizationId: Schema.String,
}) {
  override get message(): string {
    return `No organization ${this.organizationId}.`
  }
}
