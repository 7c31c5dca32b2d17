import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { SigningSecretRepository } from "@outreach/domain/deliveries/SigningSecretRepository"
import type { EndpointId, OrganizationId } from "@outreach/domain/Identifier"
import { ApiKeyRepository } from "@outreach/domain/organizations/ApiKeyRepository"
import { PartnerActivity } from "@outreach/postgres/organizations/PartnerActivity"
import { publishSent } from "@outreach/testing/publishTogether"
import { FOOTER, seedCampaign } from "@outreach/testing/seedCampaign"
import { Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { describe, expect, it, onTestFinished } from "vitest"
import { commandLine } from "./commandLine.ts"

const { run, runJson, runFailing, meanwhile } = commandLine()

const NOBODY = "00000000000000000000000000000000"
const organization = async (): Promise<OrganizationId> =>
  (await runJson("organizations", "create", "--name", "Acme")).id

describe("organizations", () => {
  it("are listed as they were created", async () => {
    const created = await runJson("organizations", "create", "--name", "  Acme Health ")
    expect(created).toEqual({
      id: expect.stringMatching(/^org_[0-9a-f]{32}$/),
      name: "Acme Health",
      contacts: [],
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/),
    })
    expect((await runJson("organizations", "list")).data).toContainEqual({
      ...{ ...created, contacts: 0, clock_ahead_seconds: 0, frozen_at: null },
    })
  })

  it("are shown to people as an aligned table with times in UTC", async () => {
    const { id, created_at } = await runJson("organizations", "create", "--name", "Łódź 医院")
    const { stdout } = await run(["organizations", "list"])
    expect(stdout).toMatch(/^id +name +contacts +created_at +clock_ahead_seconds +frozen_at$/m)
    expect(stdout).toContain(`${id}  Łódź 医院`)
    expect(stdout).toContain(created_at.replace("T", " ").replace(/\.\d{6}Z/, " UTC"))
  })

  it("have contacts, which are replaced and taken away, and are in no log", async () => {
    const org = await organization()
    const update = (...flags: ReadonlyArray<string>) => ["organizations", "update", org, ...flags]
    const to = (...contacts: ReadonlyArray<string>) => update(...contacts.flatMap((each) => ["--contact", each]))
    const twice = ["ann@acme.example", "bob@acme.example", "ann@acme.example"]
    expect((await runJson(...to(...twice))).contacts).toEqual(["ann@acme.example", "bob@acme.example"])
    expect((await run(["organizations", "show", org])).stdout).toContain("bob@acme.example")
    expect((await runJson("organizations", "list")).data).toContainEqual(
      expect.objectContaining({ id: org, contacts: 2 }),
    )
    expect((await runJson(...to("o'hara@acme.example"))).contacts).toEqual(["o'hara@acme.example"])
    const moved = await run(["organizations", "plan-move", org])
    expect(moved.stdout).toContain("array['o''hara@acme.example']::text[]")
    expect((await runJson(...update("--no-contacts"))).contacts).toEqual([])
    const eleven = Array.from({ length: 11 }, (_, n) => `a${n}@acme.example`)
    for (const wrong of [update(), to(...eleven), [...to("ann@acme.example"), "--no-contacts"]]) {
      expect(await runFailing(...wrong)).toMatchObject({ code: "unclear_contacts" })
    }
    expect((await run(to("ann at acme"))).code).toBe(2)
    const audited = await run(["audit", "list", "--organization", org, "--output", "json"])
    expect(audited.stdout).toContain("organizations update")
    expect(audited.stdout).not.toContain("acme.example")
  })

  it("are frozen, which says where the WAL ends, and served again once that is confirmed", async () => {
    const org = await organization()
    const frozen = await runJson("organizations", "freeze", org)
    expect(frozen).toEqual({
      id: org,
      frozen_at: expect.stringMatching(/Z$/),
      wal_position: expect.stringMatching(/^[0-9A-F]+\/[0-9A-F]+$/),
    })
    const frozenAt = async () =>
      (await runJson("organizations", "list")).data.find(({ id }: { id: string }) => id === org).frozen_at
    expect(await frozenAt()).toBe(frozen.frozen_at)
    expect(await runFailing("organizations", "unfreeze", org)).toMatchObject({
      code: "not_confirmed",
    })
    await runJson("organizations", "unfreeze", org, "--yes")
    expect(await frozenAt()).toBeNull()
    expect(await runFailing("organizations", "freeze", `org_${NOBODY}`)).toMatchObject({
      code: "organization_not_found",
    })
  })

  it("have statements that move them, of which each table is one that the organization has rows in", async () => {
    const org = (await runJson("organizations", "create", "--name", "O'Hara")).id
    // Secrets name the endpoint that they are of, and a removed endpoint stays with them.
    await createEndpoint(org, "--own-secret")
    await runJson("endpoints", "remove", (await createEndpoint(org, "--own-secret")).id, "--yes")
    const { steps } = await runJson("organizations", "plan-move", org)
    const { stdout } = await run(["organizations", "plan-move", org])
    for (const { statements } of steps) for (const statement of statements) expect(stdout).toContain(`${statement};`)
    expect(stdout).toContain("'O''Hara'")
    const statements: ReadonlyArray<string> = steps.flatMap((step: { statements: string[] }) => step.statements)
    const deleted = statements.flatMap((statement) => /^delete from (\w+)/.exec(statement)?.[1] ?? [])
    expect(deleted.indexOf("signing_secrets")).toBeLessThan(deleted.indexOf("webhook_endpoints"))
    expect(deleted.indexOf("recipients")).toBeLessThan(deleted.indexOf("campaigns"))
    expect(deleted.indexOf("campaigns")).toBeLessThan(deleted.indexOf("programs"))
    // What a server that takes part in no replication can run: it changes nothing, and is taken back.
    const runnable = statements.filter((statement) => !/subscription|^insert|keep_one_unsub/.test(statement))
    await meanwhile(
      Effect.flatMap(SqlClient.SqlClient, (sql) =>
        Effect.flip(
          sql.withTransaction(
            Effect.andThen(
              Effect.forEach(runnable, (statement) => sql.unsafe(statement)),
              Effect.fail("taken back" as const),
            ),
          ),
        ),
      ),
    )
  })
})

describe("keys", () => {
  it("are shown at their issue, and never again", async () => {
    const org = await organization()
    const issued = await runJson(
      ...["keys", "create", "--organization", org, "--name", "Nightly", "--scopes", "events:read, digest:read"],
      ...["--expires", "2099-01-01T00:00:00+01:00"],
    )
    expect(issued).toMatchObject({
      scopes: ["events:read", "digest:read"],
      expires_at: "2098-12-31T23:00:00.000000Z",
      api_key: expect.stringMatching(/^orp_test_/),
    })
    const { api_key, ...shown } = issued
    expect((await runJson("keys", "list", "--organization", org)).data).toEqual([shown])
    expect((await run(["keys", "list", "--organization", org])).stdout).not.toContain(api_key)
    const admission = await meanwhile(Effect.flatMap(ApiKeyRepository, (keys) => keys.authenticateKey(api_key)))
    expect(admission?.caller).toMatchObject({ organizationId: org, scopes: ["events:read", "digest:read"] })
  })

  it("are live where the deployment is production", async () => {
    const args = ["keys", "create", "--organization", await organization(), "--name", "x", "--scopes", "tokens:read"]
    const { stdout } = await run([...args, "--output", "json"], { DEPLOYMENT: "production" })
    expect(JSON.parse(stdout).api_key).toMatch(/^orp_live_/)
  })

  it("say to people that they are shown once", async () => {
    const args = ["keys", "create", "--organization", await organization(), "--name", "x", "--scopes", "tokens:read"]
    expect((await run(args)).stderr).toContain("shown this once")
  })

  it("are rotated with an overlap, and revoked at once", async () => {
    const org = await organization()
    const args = ["keys", "create", "--organization", org, "--name", "x", "--scopes", "tokens:read"]
    const first = await runJson(...args)
    const second = await runJson("keys", "rotate", first.id, "--overlap", "2h")
    expect(second).toMatchObject({ name: "x", scopes: ["tokens:read"], expires_at: null })
    expect(second.api_key).not.toBe(first.api_key)
    const [old] = (await runJson("keys", "list", "--organization", org)).data
    expect(Date.parse(old.expires_at) - Date.parse(second.created_at)).toBeCloseTo(7_200_000, -4)
    expect((await runJson("keys", "revoke", first.id, "--yes")).revoked_at).not.toBeNull()
    const authenticateKey = (text: string) =>
      meanwhile(Effect.flatMap(ApiKeyRepository, (keys) => keys.authenticateKey(text)))
    expect([await authenticateKey(first.api_key), (await authenticateKey(second.api_key))?.count]).toEqual([
      undefined,
      1,
    ])
  })
})

const createEndpoint = (org: string, ...flags: ReadonlyArray<string>) =>
  runJson("endpoints", "create", "--organization", org, "--url", "https://hooks.partner.test/x", ...flags)
/** The texts of the secrets that sign for an endpoint, in order. */
const signingFor = (endpointId: EndpointId) =>
  meanwhile(Effect.flatMap(SigningSecretRepository, (secrets) => secrets.ofEndpoint(endpointId))).then((owner) =>
    owner?.secrets.map(({ secret }) => Redacted.value(secret)),
  )

describe("secrets", () => {
  it("are shown at their rotation, and the ones before them live on for the grace", async () => {
    const org = await organization()
    const first = await runJson("secrets", "rotate", "--organization", org)
    expect(first).toEqual({
      organization_id: org,
      grace_seconds: 86_400,
      signing_secret: expect.stringMatching(/^whsec_[0-9A-Za-z]{43}$/),
    })
    const { id: endpointId } = await createEndpoint(org)
    const active = () => signingFor(endpointId)
    const second = await runJson("secrets", "rotate", "--organization", org, "--grace", "1h")
    expect(await active()).toEqual([second.signing_secret, first.signing_secret])
    const third = await runJson("secrets", "rotate", "--organization", org, "--grace", "0s")
    expect(await active()).toEqual([third.signing_secret])
  })

  it("are revoked before their grace is over, and say how many others stay active", async () => {
    const org = await organization()
    await runJson("secrets", "rotate", "--organization", org)
    const { signing_secret } = await runJson("secrets", "rotate", "--organization", org)
    const [, old] = (await runJson("secrets", "list", "--organization", org)).data
    expect((await runFailing("secrets", "revoke", old.id)).message).toContain("which leaves 1 active")
    const revoked = await runJson("secrets", "revoke", old.id, "--yes")
    expect(revoked.expires_at < old.expires_at).toBe(true)
    expect(await signingFor((await createEndpoint(org)).id)).toEqual([signing_secret])
    expect(await runJson("secrets", "revoke", old.id)).toEqual(revoked)
  })

  it("are listed without themselves, and without the key that encrypts them", async () => {
    const org = await organization()
    const { signing_secret } = await runJson("secrets", "rotate", "--organization", org)
    await runJson("secrets", "rotate", "--organization", org)
    const { code, stdout } = await run(["secrets", "list", "--organization", org, "--output", "json"], {
      SECRETS_KEY: "",
    })
    const { data } = JSON.parse(stdout)
    const secret = {
      organization_id: org,
      id: expect.stringMatching(/^sec_/),
      endpoint_id: null,
      created_at: expect.any(String),
      last_used_at: null,
      last_verified_at: null,
    }
    expect({ code, data }).toEqual({
      code: 0,
      data: [
        { ...secret, expires_at: null },
        { ...secret, expires_at: expect.any(String) },
      ],
    })
    expect(stdout).not.toContain(signing_secret)
  })

  it("alone need the key that encrypts them", async () => {
    const args = ["secrets", "rotate", "--organization", await organization()]
    expect(await run(args, { SECRETS_KEY: "" })).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^SECRETS_KEY is not set/),
    })
    expect((await run(["organizations", "list"], { SECRETS_KEY: "" })).code).toBe(0)
  })
})

describe("secrets of an endpoint's own", () => {
  it("are shown when the endpoint is created with one, or gets its first, and are rotated and revoked apart", async () => {
    const org = await organization()
    const { signing_secret: shared } = await runJson("secrets", "rotate", "--organization", org)
    const own = await createEndpoint(org, "--own-secret")
    expect(own).toMatchObject({ own_secrets: true, signing_secret: expect.stringMatching(/^whsec_/) })
    expect(await signingFor(own.id)).toEqual([own.signing_secret])
    const other = await createEndpoint(org)
    expect(other).not.toHaveProperty("signing_secret")
    const first = await runJson("secrets", "rotate", "--endpoint", other.id, "--grace", "1h")
    expect(first).toEqual({ endpoint_id: other.id, grace_seconds: 3600, signing_secret: expect.any(String) })
    expect(await signingFor(other.id)).toEqual([first.signing_secret, shared])
    const { data } = await runJson("secrets", "list", "--endpoint", own.id)
    expect(data).toMatchObject([{ endpoint_id: own.id }])
    expect((await runJson("secrets", "list", "--organization", org)).data).toHaveLength(3)
    expect((await runFailing("secrets", "revoke", data[0].id)).message).toContain(
      `of ${own.id}, so that its webhooks wait`,
    )
  })

  it("need one owner to be named", async () => {
    const org = await organization()
    const { id } = await createEndpoint(org)
    for (const flags of [[], ["--organization", org, "--endpoint", id]]) {
      expect(await runFailing("secrets", "rotate", ...flags)).toMatchObject({ code: "unclear_owner" })
    }
  })
})

describe("endpoints remove", () => {
  it("says what would end, does nothing without --yes, and then removes it for good", async () => {
    const org = await organization()
    const { id } = await createEndpoint(org)
    const refused = await runFailing("endpoints", "remove", id)
    expect(refused.message).toContain(
      `remove the endpoint ${id} at https://hooks.partner.test/x for good. Nothing waits for it.`,
    )
    expect((await runJson("endpoints", "list", "--organization", org)).data).toHaveLength(1)
    expect(await runJson("endpoints", "remove", id, "--yes")).toMatchObject({
      enabled: false,
      removed_at: expect.any(String),
    })
    expect((await runJson("endpoints", "list", "--organization", org)).data).toEqual([])
    expect((await runJson("endpoints", "list", "--organization", org, "--removed")).data).toMatchObject([{ id }])
    expect(await runJson("endpoints", "show", id)).toMatchObject({ id, removed_at: expect.any(String) })
    for (const command of [["enable"], ["disable"], ["test"], ["remove", "--yes"], ["update", "--in-flight", "3"]]) {
      const [name, ...flags] = command
      expect(await runFailing("endpoints", name!, id, ...flags)).toMatchObject({ code: "endpoint_removed" })
    }
  })
})

describe("endpoints", () => {
  it("receive all event types by default, and are disabled and enabled", async () => {
    const org = await organization()
    const all = await runJson("endpoints", "create", "--organization", org, "--url", "https://acme.test/hooks")
    const version = expect.any(Number)
    expect(all).toMatchObject({ url: "https://acme.test/hooks", enabled: true, event_types: null })
    const some = await runJson(
      ...["endpoints", "create", "--organization", org, "--url", "https://acme.test/sent"],
      ...["--types", "outreach.email_sent"],
    )
    expect(some.event_types).toEqual(["outreach.email_sent"])
    const disabled = { enabled: false, disabled_at: expect.any(String), disabled_reason: "operator", version }
    expect(await runJson("endpoints", "disable", all.id)).toEqual({ ...all, ...disabled })
    const atRest = {
      breaker: "closed",
      failures: 0,
      failing_since: null,
      notices: 0,
      next_probe_at: null,
      waiting: 0,
      waiting_replays: 0,
      in_flight: 0,
      oldest_due_at: null,
      position: expect.any(String),
      lag_events: 0,
      lag_seconds: 0,
      owner: null,
    }
    expect((await runJson("endpoints", "list", "--organization", org)).data).toEqual([
      { ...all, ...atRest, ...disabled },
      { ...some, ...atRest },
    ])
    expect(await runJson("endpoints", "enable", all.id)).toEqual({ ...all, version, missed_events: 0 })
    const kept = await runJson("endpoints", "update", all.id, "--no-disable-when-failing")
    expect(kept).toEqual({ ...all, disable_when_failing: false, version })
    await runJson("endpoints", "update", all.id, "--disable-when-failing")
    const retry_schedule = "7 attempts: 30s,2m,10m,1h,6h,24h (default)"
    expect(await runJson("endpoints", "show", all.id)).toEqual({ ...all, ...atRest, version, retry_schedule })
  })

  it("are updated: the address, which forgets the failures at the old one, and the event types", async () => {
    const org = await organization()
    const created = await runJson("endpoints", "create", "--organization", org, "--url", "https://acme.test/hooks")
    await meanwhile(
      SqlClient.SqlClient.use(
        (sql) => sql`
          update endpoint_readers set failures = 5, allowance = 1, probe_at = clock_timestamp() + interval '1 hour'
          where endpoint_id = ${created.id}`,
      ),
    )
    const types = ["outreach.email_sent", "outreach.email_bounced"]
    const narrowed = await runJson("endpoints", "update", created.id, "--types", types.join(","))
    expect(narrowed).toEqual({ ...created, event_types: types, version: expect.any(Number) })
    expect(await runJson("endpoints", "show", created.id)).toMatchObject({ breaker: "open", event_types: types })
    const moved = await runJson("endpoints", "update", created.id, "--url", "https://acme.test/new", "--types", "all")
    expect(moved).toEqual({ ...created, url: "https://acme.test/new", version: expect.any(Number) })
    expect(await runJson("endpoints", "show", created.id)).toMatchObject({ breaker: "closed", event_types: null })
    expect(await runFailing("endpoints", "update", created.id, "--url", "https://10.0.0.1/")).toMatchObject({
      code: "invalid_endpoint_url",
    })
    expect(await runJson("endpoints", "update", created.id, "--in-flight", "3")).toMatchObject({ max_in_flight: 3 })
    expect(await runJson("endpoints", "update", created.id, "--in-flight", "none")).toEqual({
      ...moved,
      version: expect.any(Number),
    })
    expect(await runFailing("endpoints", "update", created.id)).toMatchObject({ code: "nothing_to_update" })
  })

  it("have limits of calls a second and in flight from their beginning or from a change on, within bounds", async () => {
    const org = await organization()
    const create = ["endpoints", "create", "--organization", org, "--url", "https://acme.test/hooks"]
    const created = await runJson(...create, "--per-second", "10", "--in-flight", "2")
    expect(created).toMatchObject({ per_second: 10, max_in_flight: 2 })
    const update = (...args: ReadonlyArray<string>) => runJson("endpoints", "update", created.id, ...args)
    expect(await update("--per-second", "10000")).toMatchObject({ per_second: 10_000, max_in_flight: 2 })
    expect(await update("--per-second", "none", "--in-flight", "1000")).toMatchObject({
      ...{ per_second: null, max_in_flight: 1000 },
    })
    const [listed] = (await runJson("endpoints", "list", "--organization", org)).data
    expect(listed).toMatchObject({ per_second: null, max_in_flight: 1000 })
    for (const [flag, most] of [
      ["--per-second", 10_000],
      ["--in-flight", 1000],
    ] as const) {
      for (const given of ["0", "-1", "1.5", String(most + 1), "9".repeat(30), "many", ""]) {
        for (const command of [create, ["endpoints", "update", created.id]]) {
          const { code, stderr } = await run([...command, `${flag}=${given}`])
          expect([given, code === 0]).toEqual([given, false])
          expect(stderr).toContain(`a whole number from 1 to ${most}, or none`)
        }
      }
    }
    const logged = (await runJson("audit", "list", "--limit", "60")).data
    expect(logged.map(({ arguments: given }: { arguments: unknown }) => given)).toContainEqual({
      ...{ endpoint: created.id, "per-second": null, "in-flight": 1000 },
    })
  })

  it("carry the headers of Standard Webhooks from their beginning or from a change on, until a change leaves them out", async () => {
    const org = await organization()
    const create = (...args: ReadonlyArray<string>) =>
      runJson("endpoints", "create", "--organization", org, "--url", "https://acme.test/hooks", ...args)
    const asked = await create("--standard-webhooks")
    const other = await create()
    expect([asked, other]).toMatchObject([{ standard_webhooks: true }, { standard_webhooks: false }])
    const update = (flag: string) => runJson("endpoints", "update", other.id, flag)
    expect(await update("--standard-webhooks")).toEqual({
      ...other,
      standard_webhooks: true,
      version: expect.any(Number),
    })
    expect(await runJson("endpoints", "show", other.id)).toMatchObject({ standard_webhooks: true })
    expect(await runJson("endpoints", "update", other.id, "--in-flight", "none")).toMatchObject({
      standard_webhooks: true,
    })
    expect(await update("--no-standard-webhooks")).toEqual({ ...other, version: expect.any(Number) })
    expect((await runJson("endpoints", "list", "--organization", org)).data).toMatchObject([
      { id: asked.id, standard_webhooks: true },
      { id: other.id, standard_webhooks: false },
    ])
    const logged = (await runJson("audit", "list", "--limit", "3")).data
    expect(logged.map(({ arguments: given }: { arguments: unknown }) => given)).toContainEqual({
      endpoint: other.id,
      "standard-webhooks": false,
    })
  })

  it("choose which 4xx are final, and when a delivery is tried again", async () => {
    const org = await organization()
    const asked = ["--retry-statuses", "503,408,410=disable", "--retry-schedule", "10s,1m,24h"]
    const create = ["endpoints", "create", "--organization", org, "--url", "https://acme.test/hooks"]
    const created = await runJson(...create, ...asked)
    const rules = { retry_statuses: [408, 503], disable_on_gone: true, retry_delays: [10, 60, 86_400] }
    expect(created).toMatchObject(rules)
    expect(await runJson("endpoints", "show", created.id)).toMatchObject({
      ...rules,
      retry_schedule: "4 attempts: 10s,1m,24h",
    })
    const { stdout } = await run(["endpoints", "show", created.id])
    expect(stdout).toMatch(/^retry_statuses +408,503,410=disable$/m)
    expect(stdout).toMatch(/^retry_schedule +4 attempts: 10s,1m,24h$/m)
    const update = (...args: ReadonlyArray<string>) => runJson("endpoints", "update", created.id, ...args)
    expect(await update("--in-flight", "3")).toMatchObject(rules)
    expect(await update("--retry-schedule", "default")).toMatchObject({ ...rules, retry_delays: null })
    const specified = { retry_statuses: [], disable_on_gone: false, retry_delays: null }
    expect(await update("--retry-statuses", "none")).toMatchObject(specified)
    expect(await runJson(...create)).toMatchObject(specified)
    for (const [flag, value, reason] of [
      ["--retry-statuses", "301", "301 is always tried again"],
      ["--retry-statuses", "200", "200 is a success"],
      ["--retry-statuses", "404=disable", "only 410 can disable the endpoint"],
      ["--retry-schedule", Array(20).fill("10s").join(), "a schedule has at most 20 attempts, so 19 delays"],
      ["--retry-schedule", "10s,8d", "delay 2 is longer than 7d"],
    ] as const) {
      const { code, stderr } = await run(["endpoints", "update", created.id, flag, value])
      expect([code, stderr]).toEqual([2, expect.stringContaining(reason)])
    }
    const logged = (await runJson("audit", "list", "--limit", "30")).data
    expect(logged.map(({ arguments: given }: { arguments: unknown }) => given)).toContainEqual(
      expect.objectContaining({
        "retry-statuses": ["503", "408", "410=disable"],
        "retry-schedule": ["10s", "1m", "24h"],
      }),
    )
  })

  it("begin where they are told to, and show how far they have read", async () => {
    const { organization, all, some } = await meanwhile(
      Effect.gen(function* () {
        const { organization, endpoint, campaign } = yield* seedCampaign({ recipients: 0 })
        const events = yield* publishSent(campaign, 3)
        const sql = yield* SqlClient.SqlClient
        const [second] = yield* sql<{ at: string }>`select emitted_at as at from events where id = ${events[1]!}`
        return { organization: organization.id, all: endpoint.id, some: second!.at }
      }),
    )
    const create = (...since: ReadonlyArray<string>) =>
      runJson("endpoints", "create", "--organization", organization, "--url", "https://acme.test/late", ...since)
    const late = await create()
    const back = await create("--since", some)
    expect((await runJson("endpoints", "list", "--organization", organization)).data).toMatchObject([
      { id: all, lag_events: 3, waiting: 3 },
      { id: late.id, lag_events: 0, waiting: 0 },
      { id: back.id, lag_events: 2, waiting: 2, position: some, owner: null },
    ])
  })

  it("take http only where private addresses are allowed", async () => {
    const args = ["endpoints", "create", "--organization", await organization(), "--url", "http://10.0.0.1/"]
    expect(await runFailing(...args)).toMatchObject({ code: "invalid_endpoint_url", exit: 1 })
    expect((await run(args, { WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true" })).code).toBe(0)
  })

  it.each([
    "10.0.0.1",
    "0x7f.1",
    "0300.0250.1",
    "2130706433",
    "127.0.0.1.",
    "[::1]",
    "[::ffff:a9fe:a9fe]",
    "[fd00::1]",
  ])("never lead to %s, which is not public", async (host) => {
    const args = ["endpoints", "create", "--organization", await organization(), "--url", `https://${host}/hooks`]
    expect(await runFailing(...args)).toMatchObject({
      code: "invalid_endpoint_url",
      reason: "its address is not a public one",
    })
  })

  it("never repeat the credentials of an address", async () => {
    const args = [
      "endpoints",
      "create",
      "--organization",
      await organization(),
      "--url",
      "https://me:hunter2@acme.test/",
    ]
    const { code, stdout, stderr } = await run(args)
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" })
    expect(stderr).toMatch(/credentials/)
    expect(stderr).not.toContain("hunter2")
  })
})

describe("programs", () => {
  it("have a slug of their own within the organization, and targets", async () => {
    const org = await organization()
    const create = ["programs", "create", "--organization", org, "--slug", "heart-failure", "--name", "Heart failure"]
    const program = await runJson(...create, "--learner-target", "100")
    expect(program).toMatchObject({ slug: "heart-failure", learner_target: 100, completer_target: null })
    const counts = { sent: 0, refused_later: 0, complained: 0, unsubscribed: 0, complaint_level: "low" }
    expect((await runJson("programs", "list", "--organization", org)).data).toEqual([{ ...program, ...counts }])
    expect((await runFailing(...create)).code).toBe("program_slug_taken")
  })

  it("are updated, and archived once none of their campaigns is under way", async () => {
    const { program, campaign } = await meanwhile(seedCampaign({ recipients: 1 }))
    const update = (...flags: ReadonlyArray<string>) => runJson("programs", "update", program.id, ...flags)
    expect(await update("--name", "Hearts", "--learner-target", "5")).toMatchObject({
      name: "Hearts",
      slug: "heart-failure",
      learner_target: 5,
      completer_target: null,
      status: "active",
    })
    expect(await update("--learner-target", "none")).toMatchObject({ name: "Hearts", learner_target: null })
    expect(await runFailing("programs", "update", program.id)).toMatchObject({ code: "nothing_to_update" })

    await runJson("campaigns", "schedule", campaign.id)
    expect(await runFailing("programs", "archive", program.id)).toMatchObject({
      code: "program_in_use",
      campaign_ids: [campaign.id],
    })
    await runJson("campaigns", "pause", campaign.id)
    expect(await runJson("programs", "archive", program.id)).toMatchObject({ status: "archived" })
    expect(await runFailing("campaigns", "resume", campaign.id)).toMatchObject({
      code: "campaign_not_ready",
      failed: ["program"],
    })
    const folder = mkdtempSync(join(tmpdir(), "ops-programs-"))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    const file = join(folder, "mail.html")
    writeFileSync(file, FOOTER)
    const create = [
      ...["campaigns", "create", "--program", program.id, "--name", "x", "--subject", "x", "--html", file],
      ...["--window-start", "2099-01-01T00:00:00Z", "--window-end", "2099-01-02T00:00:00Z"],
    ]
    expect(await runFailing(...create)).toMatchObject({ code: "program_archived" })
    await update("--status", "active")
    expect(await runJson("campaigns", "resume", campaign.id)).toMatchObject({ status: "scheduled" })
    expect((await runJson(...create)).status).toBe("draft")
  })
})

describe("a command that is wrong or refused", () => {
  it.each([
    ["organization", ["organizations", "create", "--name", "Acme \u202Eevil"]],
    ["program", ["programs", "update", `pgm_${NOBODY}`, "--name", "\u2067Acme"]],
    ["sender", ["senders", "create", "--organization", `org_${NOBODY}`, "--from", "Acme\u200F <outreach@acme.test>"]],
    ["key", ["keys", "create", "--organization", `org_${NOBODY}`, "--name", "a\u061Cb", "--scopes", "events:read"]],
    ["campaign", ["campaigns", "create", "--program", `pgm_${NOBODY}`, "--name", "Spring\u202A"]],
    ["operator", ["operators", "create", "--name", "a\u2069b", "--role", "viewer"]],
  ])("names the mark of writing direction in the name of the %s, and not the name", async (_, args) => {
    const { code, message } = await runFailing(...args)
    expect(code).toBe("usage")
    expect(message).toMatch(/mark of writing direction \(U\+[\dA-F]{4}\)/)
    expect(message).not.toMatch(/[\u202A-\u202E\u2066-\u2069\u200F\u061C]/)
  })

  const usage: ReadonlyArray<readonly [string, ReadonlyArray<string>]> = [
    ["an unknown command", ["organisations", "list"]],
    ["a group without its command", ["keys"]],
    ["nothing at all", []],
    ["a missing flag", ["organizations", "create"]],
    ["an unknown flag", ["organizations", "show", "--limit", "3"]],
    ["a surplus word", ["organizations", "list", "all"]],
    ["a blank name", ["organizations", "create", "--name", " "]],
    ["another kind's id", ["keys", "list", "--organization", `key_${NOBODY}`]],
    ["a shortened id", ["keys", "revoke", "key_00"]],
    [
      "an unknown scope",
      ["keys", "create", "--organization", `org_${NOBODY}`, "--name", "x", "--scopes", "tokens:write"],
    ],
    ["an overlap without a unit", ["keys", "rotate", `key_${NOBODY}`, "--overlap", "24"]],
    ["a grace of more than a year", ["secrets", "rotate", "--organization", `org_${NOBODY}`, "--grace", "366d"]],
    ["a limit of nothing", ["deliveries", "list", "--limit", "0"]],
    ["a rate of nothing", ["dead-letters", "replay", "--all", "--rate", "0"]],
    ["a rate beyond the most", ["dead-letters", "replay", "--all", "--rate", "10001"]],
    ["an age without a unit", ["dead-letters", "remove", "--older-than", "90"]],
    ["an unknown state", ["deliveries", "list", "--state", "lost"]],
    ["a time without an offset", ["dead-letters", "list", "--from", "2026-11-21T00:00:00"]],
    [
      "a target of nothing",
      ["programs", "create", "--organization", `org_${NOBODY}`, "--slug", "x", "--name", "x", "--learner-target", "0"],
    ],
    ["a slug with a space", ["programs", "create", "--organization", `org_${NOBODY}`, "--slug", "a b", "--name", "x"]],
  ]
  it.each(usage)("exits with 2, one sentence and where the help is on %s", async (_, args) => {
    const { code, stdout, stderr } = await run(args)
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" })
    expect(stderr).toMatch(/^[^\n]*[.?] See ops[ a-z-]* --help\.\n$/)
    expect(await runFailing(...args)).toMatchObject({ code: "usage", exit: 2, message: expect.stringMatching(/\S/) })
  })

  const misplaced: ReadonlyArray<readonly [string, (typed: string) => ReadonlyArray<string>]> = [
    ["an id", (typed) => ["keys", "revoke", typed]],
    ["a flag's id", (typed) => ["recipients", "import", "--campaign", typed, "x.csv"]],
    ["a number", (typed) => ["deliveries", "list", "--limit", typed]],
    ["one of some words", (typed) => ["deliveries", "list", "--state", typed]],
    ["words of a list", (typed) => ["endpoints", "create", "--url", "https://a.test/", "--types", typed]],
    ["a time", (typed) => ["dead-letters", "list", "--from", typed]],
    ["a length of time", (typed) => ["keys", "rotate", `key_${NOBODY}`, "--overlap", typed]],
    ["a switch", (typed) => ["dead-letters", "replay", `--all=${typed}`]],
    ["a switch that is turned off", (typed) => ["dead-letters", "replay", `--no-all=${typed}`]],
    ["an unknown flag", (typed) => ["organizations", "list", `--key=${typed}`]],
    ["nothing", (typed) => ["organizations", "list", typed]],
    ["a command", (typed) => ["keys", typed]],
    ["a subject", (typed) => [typed]],
  ]
  it.each(misplaced)("never repeats what was typed in place of %s", async (_, args) => {
    for (const typed of ["orp_test_hunter2", "hunter2@clinic.test", "1234567893"]) {
      const { code, stdout, stderr } = await run(args(typed))
      // An NPI is a number, but too large for every flag that takes a number.
      expect({ code, output: stdout + stderr }).toEqual({ code: 2, output: expect.not.stringContaining(typed) })
      const { stdout: json } = await run([...args(typed), "--output", "json"])
      expect(JSON.parse(json).error.message).not.toContain(typed)
    }
  })

  it("points to the command that was perhaps meant", async () => {
    expect((await runFailing("organisations", "list")).message).toBe(
      "Unknown command after ops. Did you mean organizations? See ops --help.",
    )
  })

  const refused: ReadonlyArray<readonly [string, ReadonlyArray<string>]> = [
    [
      "organization_not_found",
      ["keys", "create", "--organization", `org_${NOBODY}`, "--name", "x", "--scopes", "tokens:read"],
    ],
    ["organization_not_found", ["endpoints", "create", "--organization", `org_${NOBODY}`, "--url", "https://a.test/"]],
    ["organization_not_found", ["secrets", "rotate", "--organization", `org_${NOBODY}`]],
    ["organization_not_found", ["programs", "create", "--organization", `org_${NOBODY}`, "--slug", "x", "--name", "x"]],
    ["key_not_found", ["keys", "rotate", `key_${NOBODY}`]],
    ["key_not_found", ["keys", "revoke", `key_${NOBODY}`]],
    ["endpoint_not_found", ["endpoints", "disable", `whe_${NOBODY}`]],
    ["endpoint_not_found", ["endpoints", "enable", `whe_${NOBODY}`]],
    ["endpoint_not_found", ["endpoints", "show", `whe_${NOBODY}`]],
    ["endpoint_not_found", ["endpoints", "update", `whe_${NOBODY}`, "--types", "all"]],
    ["secret_not_found", ["secrets", "revoke", `sec_${NOBODY}`]],
    ["program_not_found", ["programs", "update", `pgm_${NOBODY}`, "--name", "x"]],
    ["program_not_found", ["programs", "archive", `pgm_${NOBODY}`]],
    ["campaign_not_found", ["campaigns", "show", `cmp_${NOBODY}`]],
    ["campaign_not_found", ["campaigns", "schedule", `cmp_${NOBODY}`]],
    ["campaign_not_found", ["recipients", "import", "--campaign", `cmp_${NOBODY}`, "none.csv"]],
    ["delivery_not_found", ["deliveries", "show", `dlv_${NOBODY}`]],
    ["delivery_not_found", ["dead-letters", "show", `dlv_${NOBODY}`]],
    ["not_dead_letter", ["dead-letters", "replay", `dlv_${NOBODY}`]],
    ["unclear_selection", ["dead-letters", "replay"]],
    ["unclear_selection", ["dead-letters", "replay", "--all", "--reason", "rejected"]],
    ["unclear_selection", ["dead-letters", "replay", `dlv_${NOBODY}`, "--dry-run"]],
    ["unclear_selection", ["dead-letters", "replay", `dlv_${NOBODY}`, "--detach"]],
    ["age_missing", ["dead-letters", "remove", "--reason", "rejected", "--yes"]],
    ["replay_not_found", ["replays", "show", `rpl_${NOBODY}`]],
    ["replay_not_found", ["replays", "show", `rpl_${NOBODY}`, "--follow"]],
    ["replay_not_found", ["replays", "cancel", `rpl_${NOBODY}`]],
    [
      "expiry_passed",
      [
        ...["keys", "create", "--organization", `org_${NOBODY}`, "--name", "x", "--scopes", "tokens:read"],
        ...["--expires", "2020-01-01T00:00:00Z"],
      ],
    ],
  ]
  it.each(refused)("exits with 1 and one sentence: %s", async (code, args) => {
    expect(await runFailing(...args)).toMatchObject({ code, exit: 1 })
    const { stdout, stderr } = await run(args)
    expect({ stdout, lines: stderr.trim().split("\n").length }).toEqual({ stdout: "", lines: 1 })
  })

  it("names a setting that is malformed without repeating it", async () => {
    const { code, stderr } = await run(["organizations", "list"], { DATABASE_URL: "mysql://me:hunter2@db" })
    expect({ code, stderr }).toEqual({
      code: 1,
      stderr: "DATABASE_URL is malformed. It must be a postgres:// address.\n",
    })
  })
})

describe("organizations show", () => {
  it("tells how a partner uses the API: its limit, its errors, its pollers, and the secrets that it signs with", async () => {
    const org = await organization()
    const { id: keyId } = await runJson(
      ...["keys", "create", "--organization", org, "--name", "Sync", "--scopes", "events:read"],
    )
    await runJson("secrets", "rotate", "--organization", org)
    const [secret] = (await runJson("secrets", "list", "--organization", org)).data
    const endpoint = await runJson("endpoints", "create", "--organization", org, "--url", "https://partner.example/")
    await meanwhile(
      Effect.gen(function* () {
        const activity = yield* PartnerActivity
        const count = { organizationId: org, callerId: keyId, requests: 3, peak: 7 }
        yield* activity.countRequests([
          { ...count, code: "" },
          { ...count, code: "RATE_LIMITED", peak: 100 },
        ])
        yield* activity.noteVerifications([{ organizationId: org, secretId: secret.id, endpointId: endpoint.id }])
      }),
    )
    expect(await runJson("organizations", "show", org)).toMatchObject({
      organization: { id: org },
      keys: [{ id: keyId, requests: 6, errors: 3, peak: 100, this_minute: 0 }],
      errors: [{ caller_id: keyId, code: "RATE_LIMITED", requests: 3 }],
      pollers: [],
      verifications: [{ secret_id: secret.id, endpoint_id: endpoint.id }],
    })
    expect((await run(["organizations", "show", org])).stdout).toContain("RATE_LIMITED")
    expect((await runJson("breaker-changes", "list", "--endpoint", endpoint.id)).data).toEqual([])
    expect(await runJson("deliveries", "count-outcomes", "--endpoint", endpoint.id)).toMatchObject({
      delivered: 0,
      p50_ms: null,
    })
  })
})
