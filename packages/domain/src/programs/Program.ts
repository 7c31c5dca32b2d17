import { Schema } from "effect"
import { OrganizationId, ProgramId } from "../Identifier.ts"
import { Timestamp } from "../Timestamp.ts"

/** Maximum target. */
export const MAX_TARGET = 2_147_483_647

export const ProgramSlug = Schema.String.check(Schema.isPattern(/^[\w.~-]{1,100}$/)).annotate({
  expected: "1 to 100 letters, digits and - _ . ~",
})

export const PROGRAM_STATUSES = ["draft", "active", "paused", "archived"] as const

/** A partner-bound program to which clinicians are invited. */
export const Program = Schema.Struct({
  organizationId: OrganizationId,
  id: ProgramId,
  /** Name on the wire; unique within the organization. */
  slug: Schema.String,
  name: Schema.String,
  /** Sender shown in the program's e-mails; null until it is set. Required for creating campaigns. */
  senderName: Schema.NullOr(Schema.String),
  /** The sender's postal address on one line; likewise. */
  postalAddress: Schema.NullOr(Schema.String),
  status: Schema.Literals(PROGRAM_STATUSES),
  /** Target numbers of learners and completers; null without a target. See `WHEN_REACHED` for the effect. */
  learnerTarget: Schema.NullOr(Schema.Int),
  completerTarget: Schema.NullOr(Schema.Int),
  createdAt: Timestamp,
  updatedAt: Timestamp,
})
export type Program = typeof Program.Type

/** Effect of reaching a target: only completers end the outreach. */
export const WHEN_REACHED = { learner_qualified: "outreach goes on", completer_qualified: "outreach ends" } as const
