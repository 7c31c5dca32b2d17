import { Schema } from "effect"
import { DescribedError } from "../DescribedError.ts"
import { OrganizationId } from "../Identifier.ts"
import { Timestamp } from "../Timestamp.ts"

/** A partner's account. It owns API keys, webhook endpoints, signing secrets and partner-bound programs. */
export const Organization = Schema.Struct({ id: OrganizationId, name: Schema.String, createdAt: Timestamp })
export type Organization = typeof Organization.Type

/** No organization has this id. */
export class OrganizationNotFound extends DescribedError(
  "OrganizationNotFound",
  ({ organizationId }: { readonly organizationId: string }) => `No organization ${organizationId}.`,
) {}

/** A replay is under way that concerns the organization. */
export class ReplayUnderWay extends DescribedError(
  "ReplayUnderWay",
  ({ replayId }: { readonly replayId: string }) =>
    `The replay ${replayId} may concern the organization, and does not move with it. Wait until it has finished, or cancel it.`,
) {}
