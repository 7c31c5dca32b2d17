import { scheduleCampaign } from "@outreach/domain/campaigns/Campaigns"
import { DeliveryLeases } from "@outreach/domain/deliveries/DeliveryLeases"
import { MAX_ACTIVE_SECRETS, SigningSecretRepository } from "@outreach/domain/deliveries/SigningSecretRepository"
import { rotateSecret } from "@outreach/domain/deliveries/SigningSecrets"
import type { Timestamp } from "@outreach/domain/Timestamp"
import { publishSent } from "@outreach/testing/publishTogether"
import { seedCampaign } from "@outreach/testing/seedCampaign"
import { workerOn } from "@outreach/testing/workerOn"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { beforeEach, describe, expect, it } from "vitest"
import { commandLine } from "./commandLine.ts"
import { rejectDelivery } from "./rejectDelivery.ts"

const { run, runJson, runFailing, meanwhile } = commandLine()

const reject = Effect.gen(function* () {
  const { campaign } = yield* seedCampaign({ recipients: 1 })
  yield* scheduleCampaign(campaign.id)
  return { ...(yield* rejectDelivery), campaignId: campaign.id }
})

let first: { deliveryId: string; endpointId: string; campaignId: string }
let second: typeof first
// Each test begins with these two alone: it may list all that there are, and replay them.
beforeEach(async () => {
  await meanwhile(
    Effect.flatMap(SqlClient.SqlClient, (sql) =>
      Effect.forEach(["dead_letters", "deliveries", "delivered", "events"], (table) => sql`delete from ${sql(table)}`),
    ),
  )
  first = await meanwhile(reject)
  second = await meanwhile(reject)
})

describe("deliveries", () => {
  it("are listed newest first, page by page and by endpoint and state", async () => {
    const ids = async (...flags: ReadonlyArray<string>) => {
      const { data, has_more } = await runJson("deliveries", "list", ...flags)
      return { ids: data.map(({ id }: { id: string }) => id), has_more }
    }
    expect(await ids()).toEqual({ ids: [second.deliveryId, first.deliveryId], has_more: false })
    expect(await ids("--limit", "1")).toEqual({ ids: [second.deliveryId], has_more: true })
    expect(await ids("--endpoint", first.endpointId)).toEqual({ ids: [first.deliveryId], has_more: false })
    expect(await ids("--state", "pending")).toEqual({ ids: [], has_more: false })
    expect((await run(["deliveries", "list", "--limit", "1"])).stderr).toContain("There are more")
    expect((await run(["deliveries", "list", "--state", "pending"])).stdout).toBe("None.\n")
  })

  it("are listed by event, type, campaign and time, all of which must hold", async () => {
    const ids = async (...flags: ReadonlyArray<string>) =>
      (await runJson("deliveries", "list", ...flags)).data.map(({ id }: { id: string }) => id)
    const [newest, oldest] = (await runJson("deliveries", "list")).data
    expect(await ids("--event", oldest.event_id)).toEqual([first.deliveryId])
    expect(await ids("--type", "outreach.recipients_published")).toEqual([second.deliveryId, first.deliveryId])
    expect(await ids("--type", "outreach.email_sent")).toEqual([])
    expect(await ids("--campaign", first.campaignId)).toEqual([first.deliveryId])
    expect(await ids("--campaign", first.campaignId, "--event", newest.event_id)).toEqual([])
    expect(await ids("--from", newest.created_at)).toEqual([second.deliveryId])
    expect(await ids("--to", newest.created_at)).toEqual([first.deliveryId])
    expect(await ids("--from", oldest.created_at, "--to", oldest.created_at)).toEqual([])
  })

  it("show their last attempt, by which they are filtered and ordered", async () => {
    const ids = async (...flags: ReadonlyArray<string>) =>
      (await runJson("deliveries", "list", ...flags)).data.map(({ id }: { id: string }) => id)
    const [newest] = (await runJson("deliveries", "list")).data
    expect(newest).toMatchObject({
      last_status: 410,
      last_outcome: "client_error",
      last_latency_ms: expect.any(Number),
    })
    const both = [second.deliveryId, first.deliveryId]
    expect(await ids("--status", "410")).toEqual(both)
    expect(await ids("--status", "500")).toEqual([])
    expect(await ids("--outcome", "tls")).toEqual([])
    expect(await ids("--outcome", "client_error", "--state", "dead")).toEqual(both)
    expect(await ids("--slower-than", "1h")).toEqual([])
    expect((await ids("--slowest")).toSorted()).toEqual(both.toSorted())
    expect(await runFailing("deliveries", "list", "--slower-than", "fast")).toMatchObject({ exit: 2 })
  })

  it("are shown with their attempts", async () => {
    const { delivery, attempts } = await runJson("deliveries", "show", first.deliveryId)
    expect(delivery).toMatchObject({
      id: first.deliveryId,
      event_type: "outreach.recipients_published",
      state: "rejected",
      attempts: 1,
      max_attempts: null,
      due_at: null,
    })
    await run(["endpoints", "update", first.endpointId, "--retry-schedule", "1h,1h"])
    await run(["dead-letters", "replay", first.deliveryId])
    const { replayed_as } = (await runJson("dead-letters", "show", first.deliveryId)).delivery
    expect((await runJson("deliveries", "show", replayed_as)).delivery).toMatchObject({ attempts: 0, max_attempts: 3 })
    expect(attempts).toEqual([expect.objectContaining({ number: 1, status: 410, outcome: "client_error" })])
  })

  it("say which secrets signed each attempt: the organization's, the endpoint's own, or both within the grace window", async () => {
    const token = crypto.randomUUID()
    const seeded = await meanwhile(
      Effect.tap(seedCampaign({ recipients: 0 }), ({ campaign }) => publishSent(campaign, 1)),
    )
    const [org, endpoint] = [seeded.organization.id, seeded.endpoint.id]
    const expected: Array<ReadonlyArray<string>> = []
    let deliveryId = ""
    /** A call that fails now, and is due again at once. */
    const call = Effect.gen(function* () {
      const delivery = (yield* (yield* workerOn(token)).take()).find(({ endpointId }) => endpointId === endpoint)!
      deliveryId = delivery.id
      const owner = yield* (yield* SigningSecretRepository).ofEndpoint(endpoint)
      expected.push(owner!.secrets.map(({ id }) => id))
      const sql = yield* SqlClient.SqlClient
      const [now] = yield* sql<{ at: Timestamp }>`select clock_timestamp() as at`
      const failed = { startedAt: now!.at, latencyMs: 1, status: 500, outcome: "server_error", response: "" }
      const outcome = {
        ...{ delivery, version: delivery.version, attempt: { number: delivery.attempt, ...failed } },
        settlement: { state: "retry", delaySeconds: 0 },
      } as const
      const progress = { open: delivery.isRow ? undefined : [], intent: undefined, breaker: undefined }
      const { write } = yield* DeliveryLeases
      yield* write(token, [{ endpointId: endpoint, ...progress, outcomes: [outcome] }])
    })
    const rotate = (...owner: ReadonlyArray<string>) => runJson("secrets", "rotate", ...owner)
    await meanwhile(call)
    await rotate("--organization", org, "--grace", "1h")
    await meanwhile(call)
    await rotate("--endpoint", endpoint, "--grace", "1h")
    await meanwhile(call)
    // More of the organization's than a signature may have: its own stay, as they come first.
    await meanwhile(Effect.replicateEffect(rotateSecret(org, 3600), MAX_ACTIVE_SECRETS))
    await meanwhile(call)
    await rotate("--endpoint", endpoint, "--grace", "0s")
    await meanwhile(call)
    expect(expected.map(({ length }) => length)).toEqual([1, 2, 3, MAX_ACTIVE_SECRETS, 1])
    const signed = async () =>
      (await runJson("deliveries", "show", deliveryId)).attempts.map(
        ({ signed_with }: { signed_with: ReadonlyArray<string> }) => signed_with,
      )
    expect(await signed()).toEqual(expected)
    const { stdout } = await run(["deliveries", "show", deliveryId])
    for (const ids of expected) for (const id of ids) expect(stdout).toContain(id)
    await run(["endpoints", "remove", endpoint, "--yes"])
    expect(await signed()).toEqual(expected)
  })

  it("never let a partner's response steer the terminal", async () => {
    const { stdout } = await run(["deliveries", "show", first.deliveryId])
    expect(stdout).toContain("gone\uFFFD[2J")
    expect(stdout).not.toContain("\u001b")
  })
})

describe("issues", () => {
  it("name the cause of failed calls with its count and share, and are muted with a reason and unmuted", async () => {
    const list = async (...flags: ReadonlyArray<string>) => (await runJson("issues", "list", ...flags)).data
    const [issue, ...others] = await list("--endpoint", first.endpointId)
    expect(others).toEqual([])
    expect(issue).toMatchObject({
      ...{ status: 410, outcome: "client_error", failures: 1, calls: 1, share: "100 %", closed_at: null, open: 1 },
      cause: expect.stringMatching(/^410 gone/),
    })
    expect(await list("--state", "lasting", "--status", "503")).toEqual([])
    expect(await runFailing("issues", "mute", issue.id, "--reason", "ask dana@clinic.test")).toMatchObject({ exit: 2 })
    await runJson("issues", "mute", issue.id, "--reason", "known, ticket 4711")
    expect(await list("--endpoint", first.endpointId)).toEqual([])
    expect(await list("--state", "muted")).toMatchObject([{ id: issue.id, muted_reason: "known, ticket 4711" }])
    await runJson("issues", "unmute", issue.id)
    expect(await runJson("issues", "show", issue.id)).toMatchObject({
      id: issue.id,
      muted_at: null,
      muted_reason: null,
    })
    const none = `fgr_${"0".repeat(32)}`
    expect(await runFailing("issues", "mute", none, "--reason", "none")).toMatchObject({
      code: "failure_group_not_found",
    })
  })
})

describe("dead letters", () => {
  it("are listed by filters, shown, and replayed once", async () => {
    const count = async (...flags: ReadonlyArray<string>) =>
      (await runJson("dead-letters", "list", ...flags)).data.length
    expect(await count()).toBe(2)
    expect(await count("--endpoint", first.endpointId, "--reason", "rejected")).toBe(1)
    expect(await count("--reason", "exhausted")).toBe(0)
    expect(await count("--type", "outreach.email_sent")).toBe(0)
    expect(await count("--from", "2099-01-01T00:00:00Z")).toBe(0)
    expect(await count("--to", "2000-01-01T00:00:00Z")).toBe(0)
    expect((await runJson("dead-letters", "show", first.deliveryId)).delivery.id).toBe(first.deliveryId)

    expect(await runJson("dead-letters", "replay", "--reason", "poison")).toMatchObject({
      state: "finished",
      total: 0,
      replayed: 0,
    })
    expect(await runJson("dead-letters", "replay", first.deliveryId, first.deliveryId)).toEqual({ replayed: 1 })
    const { replayed_as } = (await runJson("dead-letters", "show", first.deliveryId)).delivery
    expect((await runJson("deliveries", "show", replayed_as)).delivery).toMatchObject({ state: "pending", attempts: 0 })
    expect(await runFailing("dead-letters", "show", replayed_as)).toMatchObject({ code: "not_dead_letter", exit: 1 })

    expect(await runFailing("dead-letters", "replay", first.deliveryId, second.deliveryId)).toMatchObject({
      code: "not_dead_letter",
      delivery_ids: [first.deliveryId],
      replayed: 1,
      exit: 1,
    })
    expect(await count()).toBe(0)
    expect((await run(["dead-letters", "replay", "--all"])).stdout).toBe("Replayed 0 dead letters.\n")
  })

  it("are not replayed by ids and filters together", async () => {
    expect(await runFailing("dead-letters", "replay", first.deliveryId, "--endpoint", first.endpointId)).toMatchObject({
      code: "unclear_selection",
      exit: 1,
    })
  })
})
