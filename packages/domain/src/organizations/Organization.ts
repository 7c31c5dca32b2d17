import type { OrganizationId } from "../Identifier.ts"
import type { Timestamp } from "../Timestamp.ts"

/** A partner's account. It owns API keys, webhook endpoints, signing secrets and partner-bound programs. */
export interface Organization {
  readonly id: OrganizationId
  readonly name: string
  readonly createdAt: Timestamp
}

/** An organization, and how its clock stands. */
export interface OrganizationStatus extends Organization {
  /** How far its clock, from which its stamps go on, is ahead of the database's; 0 when it is not. */
  readonly clockAheadSeconds: number
}
