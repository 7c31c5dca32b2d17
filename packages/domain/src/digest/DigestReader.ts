import { Context, type Effect, Schema } from "effect"
import type { OrganizationId, ProgramId } from "../Identifier.ts"
import type { CalendarDate, DigestRecord } from "./Digest.ts"

/** The date has not begun yet, by the database's clock and in UTC. */
export class DateInFuture extends Schema.TaggedError<DateInFuture>()("DateInFuture", { date: Schema.String }) {
  override get message(): string {
    return `${this.date} has not begun yet (UTC).`
  }
}

/** A count that is kept and differs from what its sources say. */
export interface Discrepancy {
  readonly organizationId: OrganizationId
  readonly programId: ProgramId
  readonly date: CalendarDate
  /** The name of the count, such as `unique_opened`. */
  readonly count: string
  readonly kept: number
  readonly counted: number
}

/** Offers the counts that every writing transaction keeps, by program and date. */
export class DigestReader extends Context.Service<
  DigestReader,
  {
    /** Reads a date of every program of an organization, oldest program first; its cost does not grow with what was counted. */
    read(organizationId: OrganizationId, date: CalendarDate): Effect.Effect<ReadonlyArray<DigestRecord>, DateInFuture>
    /** Counts a date anew, of one organization or of all, and answers where what is kept differs; reads every event of the date. */
    recount(date: CalendarDate, organizationId?: OrganizationId): Effect.Effect<ReadonlyArray<Discrepancy>>
  }
>()("domain/digest/DigestReader") {}
