import { EVENTS, type EventData, type EventTypeOf } from "@outreach/contract"
import { Result } from "effect"
import type { FunnelStage } from "../digest/Digest.ts"
import { parseInput } from "../parseInput.ts"
import { EmailAddress } from "../recipients/EmailAddress.ts"
import { Npi } from "../recipients/Npi.ts"

/** A command to count a clinician, and to withdraw the matching recipients. */
export interface InboundCommand {
  readonly stage: FunnelStage
  readonly programSlug: string
  readonly npi: Npi
  /** The address suppressed together with the NPI; null if the event suppresses no one. */
  readonly email: EmailAddress | null
  /** Token of the recipient to which the partner attributes the event. */
  readonly token: string | null
}

/** An event's command, undefined for an unknown type, or the reason why the event is invalid. */
export type ParseResult = Result.Result<InboundCommand | undefined, string>

const STAGES: Readonly<Record<EventTypeOf<"to_service">, FunnelStage>> = {
  "clinician.account_created": "account_created",
  "clinician.learner_qualified": "learner_qualified",
  "clinician.completer_qualified": "completer_qualified",
}

/** Event types that partners send; others are acknowledged and ignored. */
export const INBOUND_TYPES = Object.keys(STAGES) as ReadonlyArray<EventTypeOf<"to_service">>

const parseNpi = parseInput(Npi)
const parseEmail = parseInput(EmailAddress)

/** Creates the parser for a deployment's `livemode`. Its reasons name a field of the event without values. */
export const parseInboundEvent =
  (livemode: boolean) =>
  ({ type, body }: { readonly type: string; readonly body: string }): ParseResult => {
    const event = JSON.parse(body)
    if (event.livemode !== livemode) {
      return Result.fail(`livemode: the event is of ${livemode ? "a test" : "the production"} deployment`)
    }
    if (!isInbound(type)) return Result.succeed(undefined)
    const read = EVENTS[type].data.safeParse(event.data)
    if (!read.success) {
      const { path } = read.error.issues[0]!
      return Result.fail(`${["data", ...path].join(".")} is missing or not valid`)
    }
    const npi = parseNpi(read.data.npi)
    if (Result.isFailure(npi)) return Result.fail(`data.npi: ${npi.failure.reason}`)
    const account = type === "clinician.account_created" ? (read.data as EventData<typeof type>) : undefined
    const email = account === undefined ? null : parseEmail(account.email)
    if (email !== null && Result.isFailure(email)) return Result.fail(`data.email: ${email.failure.reason}`)
    return Result.succeed({
      stage: STAGES[type],
      programSlug: read.data.consumer_program_slug,
      npi: npi.success,
      email: email === null ? null : email.success,
      token: account?.attribution === "service_token" ? (account.token ?? null) : null,
    })
  }

const isInbound = (type: string): type is EventTypeOf<"to_service"> => Object.hasOwn(STAGES, type)
