import { scheduleCampaign } from "@outreach/domain/campaigns/Campaigns"
import { receiveEvent } from "@outreach/testing/receiveEvent"
import { npi, seedCampaign } from "@outreach/testing/seedCampaign"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { beforeAll, describe, expect, it } from "vitest"
import { commandLine } from "./commandLine.ts"
import { rejectDelivery } from "./rejectDelivery.ts"

const { run, runJson, runFailing, meanwhile } = commandLine()

const reject = Effect.gen(function* () {
  const seeded = yield* seedCampaign({ recipients: 1 })
  yield* scheduleCampaign(seeded.campaign.id)
  return { ...seeded, ...(yield* rejectDelivery) }
})

let first: Effect.Success<typeof reject>
let second: typeof first
/** Starts with only these two, because a command may list all deliveries, and replay them. */
const startWithTwo = async () => {
  await meanwhile(
    SqlClient.SqlClient.use((sql) =>
      Effect.forEach(["dead_letters", "deliveries", "delivered", "events"], (table) => sql`delete from ${sql(table)}`),
    ),
  )
  first = await meanwhile(reject)
  second = await meanwhile(reject)
}

const idsOf = async (...args: ReadonlyArray<string>) =>
  (await runJson(...args)).data.map(({ id }: { id: string }) => id)

describe("deliveries", () => {
  beforeAll(startWithTwo)

  it("are listed newest first, by each filter, with their last attempt", async () => {
    const [newest, oldest] = (await runJson("deliveries", "list")).data
    const last = { last_status: 410, last_outcome: "client_error", last_latency_ms: expect.any(Number) }
    expect([newest, oldest]).toMatchObject([{ id: second.deliveryId, ...last }, { id: first.deliveryId }])
    const filters = ["--state", "dead", "--endpoint", first.endpointId, "--status", "410", "--slowest"]
    expect(await idsOf("deliveries", "list", ...filters)).toEqual([first.deliveryId])
    expect(await idsOf("deliveries", "list", ...filters, "--slower-than", "1h")).toEqual([])
    expect((await run(["deliveries", "list", "--limit", "1"])).stderr).toContain("There are more")
    expect((await run(["deliveries", "list", "--state", "pending"])).stdout).toBe("None.\n")
  })

  it("are shown with their attempts, and without the control characters of a response", async () => {
    const { delivery, attempts } = await runJson("deliveries", "show", first.deliveryId)
    expect(delivery).toMatchObject({
      ...{ id: first.deliveryId, event_type: "outreach.recipients_published", state: "rejected" },
      ...{ attempts: 1, max_attempts: null, due_at: null },
    })
    expect(attempts).toEqual([expect.objectContaining({ number: 1, status: 410, outcome: "client_error" })])
    const { stdout } = await run(["deliveries", "show", first.deliveryId])
    expect(stdout).toContain("gone\uFFFD[2J\uFFFDlive")
    const json = await run(["deliveries", "show", first.deliveryId, "--output", "json"])
    expect(json.stdout).toContain("gone\\u001b[2J\\u202elive")
    expect(stdout + json.stdout).not.toMatch(/\p{Cf}/u)
    expect(json.stdout).not.toContain('"request"')
    expect((await runJson("deliveries", "show", first.deliveryId, "--reveal")).request.body).toContain('"token"')
  })

  it("have issues that name the cause of failed calls with its share", async () => {
    const { data } = await runJson("issues", "list", "--endpoint", first.endpointId)
    expect(data).toMatchObject([{ cause: expect.stringMatching(/^410 gone/), failures: 1, calls: 1, share: "100 %" }])
  })
})

it("dead letters are listed by filters, and replayed once", async () => {
  await startWithTwo()
  const ids = (...flags: ReadonlyArray<string>) => idsOf("dead-letters", "list", ...flags)
  expect(await ids("--endpoint", first.endpointId, "--reason", "rejected")).toEqual([first.deliveryId])
  expect(await ids()).toHaveLength(2)
  expect(await ids("--type", "outreach.email_sent", "--to", "2099-01-01T00:00:00Z")).toEqual([])
  await runJson("endpoints", "update", first.endpointId, "--retry-schedule", "1h,1h")
  const replay = ["dead-letters", "replay", first.deliveryId]
  expect(await runJson(...replay, first.deliveryId)).toEqual({ replayed: 1 })
  const { replayed_as } = (await runJson("deliveries", "show", first.deliveryId)).delivery
  const replayed = { state: "pending", attempts: 0, max_attempts: 3 }
  expect((await runJson("deliveries", "show", replayed_as)).delivery).toMatchObject(replayed)
  expect(await runFailing(...replay, second.deliveryId)).toMatchObject({
    ...{ code: "not_dead_letter", delivery_ids: [first.deliveryId], replayed: 1, exit: 1 },
  })
  expect(await ids()).toEqual([])
  expect((await run(["dead-letters", "replay", "--all"])).stdout).toBe("Replayed 0 dead letters.\n")
})

it("data that is no longer stored is explained: the event of a delivery, a partner's event, and the log", async () => {
  await startWithTwo()
  await meanwhile(function* () {
    yield* receiveEvent(first, "evt_a", "clinician.learner_qualified", { npi: npi(0) })
    const sql = yield* SqlClient.SqlClient
    yield* sql`select add_partitions('events', '2050-01-15Z')`
    yield* sql`truncate events_earlier, inbox_later`
  })
  expect((await runJson("deliveries", "show", first.deliveryId)).delivery.event_type).toBe(null)
  const { stdout } = await run(["deliveries", "show", first.deliveryId])
  expect(stdout).toContain("Its event is no longer stored (EVENTS_MONTHS)")
  for (const command of ["show", "replay"]) {
    const error = await runFailing("inbox", command, "--organization", first.organization.id, "evt_a")
    expect(error.code).toBe("inbox_entry_dropped")
    expect(error.message).toMatch(/^The event evt_a of org_[0-9a-f]{32} was received at .* no longer stored/)
  }
  const replay = ["endpoints", "replay", first.endpointId, "--dry-run"]
  const early = await run([...replay, "--from", "2026-01-01T00:00:00Z", "--to", "2026-02-01T00:00:00Z"])
  const note = "Events before 2050-01-01 are deleted (EVENTS_MONTHS)."
  expect(early).toEqual({ code: 0, stdout: `No events were published in this period. ${note}\n`, stderr: "" })
})
