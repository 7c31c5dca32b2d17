import { npi } from "@outreach/testing/seedCampaign"

export interface SentEvent {
  readonly event_id: string
  readonly event_type: string
  readonly data: Readonly<Record<string, unknown>>
}

const STAGES = ["account_created", "learner_qualified", "completer_qualified"] as const

/** Creates distinct events about few clinicians, so that most are repetitions in content; some are invalid. `random` is below 1. */
export const inboundEvents = (
  count: number,
  slugs: ReadonlyArray<string>,
  random: () => number,
): ReadonlyArray<SentEvent> => {
  const one = <A>(from: ReadonlyArray<A>) => from[Math.floor(random() * from.length)]!
  return Array.from({ length: count }, (_, i) => {
    const n = Math.floor(random() * (count / 8))
    const stage = one(STAGES)
    const about = { npi: npi(n), consumer_program_slug: one(slugs) }
    const kind = random()
    return {
      event_id: `evt_${i.toString(16).padStart(32, "0")}`,
      event_type: kind < 0.02 ? "clinician.retired" : `clinician.${stage}`,
      data: {
        ...about,
        ...(kind > 0.98 && { consumer_program_slug: "nowhere" }),
        ...(stage === "account_created" && { email: `Clinician${n}@clinic.test`, attribution: "organic" }),
      },
    }
  })
}

/** Result of applying distinct events one after another: a reference model without a database. */
export const fold = (events: ReadonlyArray<SentEvent>, slugs: ReadonlyArray<string>) => {
  const reached = new Map(slugs.map((slug) => [slug, new Map(STAGES.map((stage) => [stage, new Set<string>()]))]))
  const suppressed = new Set<string>()
  const quarantined = new Set<string>()
  for (const { event_id, event_type, data } of events) {
    const stage = STAGES.find((known) => event_type === `clinician.${known}`)
    if (stage === undefined) continue
    const slug = String(data["consumer_program_slug"])
    const program = reached.get(slug)
    if (program === undefined) {
      quarantined.add(event_id)
      continue
    }
    program.get(stage)!.add(String(data["npi"]))
    if (stage === "account_created") {
      suppressed.add(`${slug} npi ${data["npi"]}`).add(`${slug} email ${String(data["email"]).toLowerCase()}`)
    }
  }
  const totals = slugs.map((slug) => ({
    slug,
    ...Object.fromEntries([...reached.get(slug)!].map(([stage, clinicians]) => [stage, clinicians.size])),
  }))
  return { totals, suppressed: [...suppressed].sort(), quarantined: [...quarantined].sort(), reached }
}
