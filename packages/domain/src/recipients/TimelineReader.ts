import { Context, type Effect } from "effect"
import type { OrganizationId } from "../Identifier.ts"
import type { Timeline } from "./Timeline.ts"

/** Which clinician is meant: by NPI, by e-mail address (whose case does not matter), or by a recipient's token or id. */
export interface ClinicianKey {
  readonly by: "npi" | "email" | "token" | "id"
  readonly value: string
  /** Default: every organization. */
  readonly organizationId?: OrganizationId
}

/** Reads what happened to one clinician. */
export class TimelineReader extends Context.Service<
  TimelineReader,
  {
    /** Reads at most `limit` recipients, and the newest `limit` entries. */
    find(key: ClinicianKey, limit: number): Effect.Effect<Timeline>
  }
>()("domain/recipients/TimelineReader") {}
