import { Schema } from "effect"
import { OrganizationId, ProgramId } from "../Identifier.ts"
import { Timestamp } from "../Timestamp.ts"

/** The most learners or completers that a target may be. */
export const MAX_TARGET = 2_147_483_647

export const ProgramSlug = Schema.String.check(Schema.isPattern(/^[\w.~-]{1,100}$/)).annotate({
  expected: "1 to 100 letters, digits and - _ . ~",
})

export const PROGRAM_STATUSES = ["draft", "active", "paused", "archived"] as const

/** A partner-bound program: what clinicians are invited to. */
export const Program = Schema.Struct({
  organizationId: OrganizationId,
  id: ProgramId,
  /** The name that the partner uses on the wire; unique within the organization. */
  slug: Schema.String,
  name: Schema.String,
  /** Who sends the program's e-mails, as each of them says; null until it is set. No campaign is created without it. */
  senderName: Schema.NullOr(Schema.String),
  /** The sender's postal address on one line, likewise. */
  postalAddress: Schema.NullOr(Schema.String),
  status: Schema.Literals(PROGRAM_STATUSES),
  /** How many learners or completers are wanted; null without a target. `WHEN_REACHED` says what reaching it does. */
  learnerTarget: Schema.NullOr(Schema.Int),
  completerTarget: Schema.NullOr(Schema.Int),
  createdAt: Timestamp,
  updatedAt: Timestamp,
})
export type Program = typeof Program.Type

/** What happens when a program reaches a target: only its completers end its outreach. */
export const WHEN_REACHED = { learner_qualified: "outreach goes on", completer_qualified: "outreach ends" } as const
