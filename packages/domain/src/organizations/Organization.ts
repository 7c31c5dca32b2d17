import { Schema } from "effect"
import { OrganizationId } from "../Identifier.ts"
import { Timestamp } from "../Timestamp.ts"

/** A partner's account. It owns API keys, webhook endpoints, signing secrets and partner-bound programs. */
export const Organization = Schema.Struct({ id: OrganizationId, name: Schema.String, createdAt: Timestamp })
export type Organization = typeof Organization.Type

/** No organization has this id. */
export class OrganizationNotFound extends Schema.TaggedError<OrganizationNotFound>()("OrganizationNotFound", {
  organizationId: Schema.String,
}) {
  override get message(): string {
    return `No organization ${this.organizationId}.`
  }
}

/** A replay is under way that concerns the organization. */
export class ReplayUnderWay extends Schema.TaggedError<ReplayUnderWay>()("ReplayUnderWay", {
  replayId: Schema.String,
}) {
  override get message(): string {
    return `The replay ${this.replayId} may concern the organization, and does not move with it. Wait until it has finished, or cancel it.`
  }
}
