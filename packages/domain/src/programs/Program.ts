import type { OrganizationId, ProgramId } from "../Identifier.ts"
import type { Timestamp } from "../Timestamp.ts"

export const PROGRAM_STATUSES = ["draft", "active", "paused", "archived"] as const

export type ProgramStatus = (typeof PROGRAM_STATUSES)[number]

/** A partner-bound program: what clinicians are invited to. */
export interface Program {
  readonly organizationId: OrganizationId
  readonly id: ProgramId
  /** The name that the partner uses on the wire; unique within the organization. */
  readonly slug: string
  readonly name: string
  /** Who sends the program's e-mails, as each of them says; null until it is set. No campaign is created without it. */
  readonly senderName: string | null
  /** The sender's postal address on one line, likewise. */
  readonly postalAddress: string | null
  readonly status: ProgramStatus
  /** How many learners or completers are wanted; null without a target. `WHEN_REACHED` says what reaching it does. */
  readonly learnerTarget: number | null
  readonly completerTarget: number | null
  readonly createdAt: Timestamp
  readonly updatedAt: Timestamp
}

/** What happens when a program reaches a target: only its completers end its outreach. */
export const WHEN_REACHED = { learner_qualified: "outreach goes on", completer_qualified: "outreach ends" } as const
