import { SigningSecretRepository } from "@outreach/domain/deliveries/SigningSecrets"
import type { EndpointId, OrganizationId } from "@outreach/domain/Identifier"
import { Effect, Redacted } from "effect"
import { describe, expect, it } from "vitest"
import { commandLine } from "./commandLine.ts"

const { run, runJson, runFailing, meanwhile } = commandLine()

const NOBODY = "00000000000000000000000000000000"
const organization = async (): Promise<OrganizationId> =>
  (await runJson("organizations", "create", "--name", "Acme")).id

/** Returns what the audit log recorded of the newest command's arguments. */
const auditedArguments = async () => (await runJson("audit", "list", "--limit", "1")).data[0].arguments

describe("organizations", () => {
  it("are created, and listed as JSON and as an aligned table with times in UTC", async () => {
    const created = await runJson("organizations", "create", "--name", "  Łódź 医院 ")
    expect(created).toMatchObject({ id: expect.stringMatching(/^org_[0-9a-f]{32}$/), name: "Łódź 医院", contacts: [] })
    const row = { ...created, contacts: 0, clock_ahead_seconds: 0 }
    expect((await runJson("organizations", "list")).data).toContainEqual(row)
    const { stdout } = await run(["organizations", "list"])
    expect(stdout).toMatch(/^id +name +contacts +created_at +clock_ahead_seconds +self_service +max_endpoints$/m)
    expect(stdout).toContain(`${created.id}  Łódź 医院`)
    expect(stdout).toContain(created.created_at.replace("T", " ").replace(/\.\d{6}Z/, " UTC"))
  })

  it("have contacts, which are replaced and removed, and aren't recorded in the audit log", async () => {
    const org = await organization()
    const update = (...flags: ReadonlyArray<string>) => ["organizations", "update", org, ...flags]
    const to = (...contacts: ReadonlyArray<string>) => update(...contacts.flatMap((each) => ["--contact", each]))
    const twice = ["ann@acme.example", "bob@acme.example", "ann@acme.example"]
    expect((await runJson(...to(...twice))).contacts).toEqual(["ann@acme.example", "bob@acme.example"])
    expect(JSON.stringify(await auditedArguments())).not.toContain("acme.example")
    expect((await run(["organizations", "show", org])).stdout).toContain("ann@acme.example, bob@acme.example")
    expect((await runJson(...update("--no-contacts"))).contacts).toEqual([])
    const eleven = Array.from({ length: 11 }, (_, n) => `a${n}@acme.example`)
    expect(await runFailing(...to(...eleven))).toMatchObject({ code: "too_many_contacts" })
    for (const wrong of [update(), [...to("ann@acme.example"), "--no-contacts"]]) {
      expect(await runFailing(...wrong)).toMatchObject({ code: "unclear_contacts" })
    }
  })
})

it("keys are shown only when they are issued or rotated", async () => {
  const create = ["keys", "create", "--organization", await organization(), "--name", "x", "--scopes", "tokens:read"]
  const { api_key, ...shown } = await runJson(...create, "--expires", "2099-01-01T00:00:00+01:00")
  expect(api_key).toMatch(/^orp_test_/)
  expect(shown).toMatchObject({ scopes: ["tokens:read"], expires_at: "2098-12-31T23:00:00.000000Z" })
  expect((await runJson("keys", "list", "--organization", create[3]!)).data).toEqual([{ ...shown, state: "valid" }])
  expect((await runJson("keys", "rotate", shown.id)).api_key).not.toBe(api_key)
  const live = await run(create, { DEPLOYMENT: "production" })
  expect(live.stderr).toContain("shown only once")
  expect(live.stdout).toMatch(/^api_key +orp_live_/m)
})

const createEndpoint = (org: string, ...flags: ReadonlyArray<string>) =>
  runJson("endpoints", "create", "--organization", org, "--url", "https://hooks.partner.test/x", ...flags)

/** Returns the secrets that sign for an endpoint, in order. */
const signingFor = (endpointId: EndpointId) =>
  meanwhile(Effect.flatMap(SigningSecretRepository, (secrets) => secrets.ofEndpoint(endpointId))).then((owner) =>
    owner?.secrets.map(({ secret }) => Redacted.value(secret)),
  )

describe("secrets", () => {
  it("are shown only when they are rotated, and listed without the key that encrypts them", async () => {
    const org = await organization()
    const { signing_secret: first, ...rotated } = await runJson("secrets", "rotate", "--organization", org)
    expect(first).toMatch(/^whsec_[0-9A-Za-z]{44}$/)
    expect(rotated).toEqual({ organization_id: org, grace_seconds: 86_400, ended_secrets: 0 })
    const { signing_secret } = await runJson("secrets", "rotate", "--organization", org, "--grace", "1h")
    expect(await signingFor((await createEndpoint(org)).id)).toEqual([signing_secret, first])
    const withoutKey = { SECRETS_KEY: "" }
    const { stdout } = await run(["secrets", "list", "--organization", org, "--output", "json"], withoutKey)
    expect(JSON.parse(stdout).data).toMatchObject([{ expires_at: null }, { expires_at: expect.any(String) }])
    expect(stdout).not.toContain(signing_secret)
    expect(await run(["secrets", "rotate", "--organization", org], withoutKey)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^SECRETS_KEY is not set/),
    })
  })

  it("of one endpoint are created with it or later, and need exactly one owner", async () => {
    const org = await organization()
    const own = await createEndpoint(org, "--own-secret")
    expect(await signingFor(own.id)).toEqual([own.signing_secret])
    const other = await createEndpoint(org)
    expect(other).not.toHaveProperty("signing_secret")
    const first = await runJson("secrets", "rotate", "--endpoint", other.id, "--grace", "1h")
    expect(first).toMatchObject({ endpoint_id: other.id, grace_seconds: 3600, signing_secret: expect.any(String) })
    const { data } = await runJson("secrets", "list", "--endpoint", own.id)
    expect((await runFailing("secrets", "revoke", data[0].id)).message).toContain(
      `of ${own.id}: 1 secret, 0 active without it`,
    )
    for (const flags of [[], ["--organization", org, "--endpoint", own.id]]) {
      expect(await runFailing("secrets", "rotate", ...flags)).toMatchObject({ code: "unclear_owner" })
    }
  })
})

describe("endpoints", () => {
  it("print the rules of retries as they are typed, and record them in the audit log", async () => {
    const rules = ["--retry-statuses", "503,408,410=disable", "--retry-schedule", "10s,1m,24h"]
    const { id } = await createEndpoint(await organization(), ...rules)
    expect(await auditedArguments()).toMatchObject({
      "retry-statuses": ["503", "408", "410=disable"],
      "retry-schedule": ["10s", "1m", "24h"],
    })
    const { stdout } = await run(["endpoints", "show", id])
    expect(stdout).toMatch(/^retry_statuses +408,503,410=disable$/m)
    expect(stdout).toMatch(/^retry_schedule +4 attempts: 10s,1m,24h$/m)
  })

  it("accept http and private addresses only if the deployment allows them, and never repeat credentials", async () => {
    const create = ["endpoints", "create", "--organization", await organization(), "--url"]
    expect(await runFailing(...create, "http://10.0.0.1/")).toMatchObject({ code: "invalid_endpoint_url", exit: 1 })
    expect((await run([...create, "http://10.0.0.1/"], { WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true" })).code).toBe(0)
    const refused = await runFailing(...create, "https://me:hunter2@acme.test/")
    expect(refused.message).toMatch(/credentials/)
    expect(JSON.stringify(refused)).not.toContain("hunter2")
  })

  it("are only shown after their removal", async () => {
    const org = await organization()
    const { id } = await createEndpoint(org)
    await runJson("endpoints", "remove", id, "--yes")
    expect((await runJson("endpoints", "list", "--organization", org)).data).toEqual([])
    expect((await runJson("endpoints", "list", "--organization", org, "--removed")).data).toMatchObject([{ id }])
    expect(await runJson("endpoints", "show", id)).toMatchObject({ id, removed_at: expect.any(String) })
    const period = ["--from", "2026-01-01T00:00:00Z", "--to", "2099-01-01T00:00:00Z"]
    for (const command of [
      ["endpoints", "replay", id, ...period, "--dry-run"],
      ["dead-letters", "list", "--endpoint", id],
      ["dead-letters", "replay", "--endpoint", id, "--dry-run"],
    ]) {
      expect(await runFailing(...command)).toMatchObject({ code: "endpoint_removed" })
    }
  })
})

describe("a command line that is wrong", () => {
  const create = (subject: string) => [subject, "create", "--organization", `org_${NOBODY}`]
  const usage: ReadonlyArray<readonly [string, ReadonlyArray<string>]> = [
    ["an unknown command", ["organisations", "list"]],
    ["a group without its command", ["keys"]],
    ["nothing at all", []],
    ["a missing flag", ["organizations", "create"]],
    ["an unknown flag", ["organizations", "show", "--limit", "3"]],
    ["a surplus word", ["organizations", "list", "all"]],
    ["another kind's id", ["keys", "list", "--organization", `key_${NOBODY}`]],
    ["a rate beyond the maximum", ["dead-letters", "replay", "--all", "--rate", "10001"]],
    ["all event types and one of them", ["endpoints", "update", `whe_${NOBODY}`, "--types", "all,outreach.email_sent"]],
    ["a start in the future", [...create("endpoints"), "--url", "https://a.test/", "--since", "9999-12-31T00:00:00Z"]],
    ["a time without an offset", ["dead-letters", "list", "--from", "2026-11-21T00:00:00"]],
  ]
  it.each(usage)("exits with 2, one sentence and a pointer to the help: %s", async (_, args) => {
    const { code, stdout, stderr } = await run(args)
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" })
    expect(stderr).toMatch(/^[^\n]*[.?] See ops[ a-z-]* --help\.\n$/)
    const { stdout: json } = await run([...args, "--output", "json"])
    expect(JSON.parse(json).error).toEqual({ code: "usage", message: stderr.trimEnd() })
  })

  const misplaced: ReadonlyArray<readonly [string, (typed: string) => ReadonlyArray<string>]> = [
    ["a switch that is turned off", (typed) => ["dead-letters", "replay", `--no-all=${typed}`]],
    ["an unknown flag", (typed) => ["organizations", "list", `--key=${typed}`]],
    ["nothing", (typed) => ["organizations", "list", typed]],
    ["a command", (typed) => ["keys", typed]],
    ["a subject", (typed) => [typed]],
  ]
  it.each(misplaced)("never repeats a key, an address or an NPI that was typed in place of %s", async (_, args) => {
    for (const typed of ["orp_test_hunter2", "hunter2@clinic.test", "1234567893"]) {
      const { code, stdout, stderr } = await run(args(typed))
      // An NPI is a number, but too large for every flag that accepts a number.
      expect({ code, output: stdout + stderr }).toEqual({ code: 2, output: expect.not.stringContaining(typed) })
    }
  })

  it.each([
    [["organisations", "list"], "Unknown command after ops. Did you mean organizations? See ops --help."],
    [["keys", "lst"], "Unknown command after ops keys. Did you mean list? See ops keys --help."],
    [["keys", "create"], "ops keys create needs --organization, --name and --scopes. See ops keys create --help."],
    [
      ["keys", "create", "--name", "x", "--scopes=events:read"],
      "ops keys create needs --organization. See ops keys create --help.",
    ],
    [["inbox", "show"], "ops inbox show needs --organization and <event>. See ops inbox show --help."],
    [
      ["keys", "list", "--json"],
      "Unknown flag --json of ops keys list. Did you mean --output json? See ops keys list --help.",
    ],
    [
      ["keys", "list", "--ouput", "json"],
      "Unknown flag --ouput of ops keys list. Did you mean --output? See ops keys list --help.",
    ],
    [["--hepl"], "Unknown flag --hepl of ops. Did you mean --help? See ops --help."],
    [
      ["keys", "list", "--organisation=x"],
      "Unknown flag --organisation of ops keys list. Did you mean --organization? See ops keys list --help.",
    ],
    [
      ["endpoints", "update", `whe_${NOBODY}`, "--retry-schedule", "-1s"],
      'Invalid value for flag --retry-schedule. Expected: default, or 1 to 19 delays from 1s to 7d, such as 30s,2m,10m,1h,6h,24h; delay 1, "-1s", is not a whole number of ms, s, m, h or d, such as 30s, up to 366d. See ops endpoints update --help.',
    ],
  ])("says everything that is missing, or the closest word: %j", async (args, message) => {
    expect(await runFailing(...args)).toEqual({ code: "usage", message, exit: 2 })
  })

  it.each([
    ["unclear_selection", ["dead-letters", "replay"]],
    ["unclear_selection", ["dead-letters", "replay", "--all", "--reason", "rejected"]],
    ["unclear_selection", ["dead-letters", "replay", "--all", "--reason", "rejected", "--dry-run"]],
    ["unclear_selection", ["dead-letters", "replay", `dlv_${NOBODY}`, "--dry-run"]],
    ["unclear_selection", ["dead-letters", "replay", `dlv_${NOBODY}`, "--endpoint", `whe_${NOBODY}`]],
    ["age_missing", ["dead-letters", "remove", "--reason", "rejected", "--yes"]],
    ["nothing_to_update", ["endpoints", "update", `whe_${NOBODY}`]],
    ["id_not_found", ["deliveries", "list", "--endpoint", `whe_${NOBODY}`]],
    ["id_not_found", ["campaigns", "list", "--organization", `org_${NOBODY}`]],
    ["id_not_found", ["dead-letters", "replay", "--group", `fgr_${NOBODY}`]],
    ["nothing_to_update", ["programs", "update", `pgm_${NOBODY}`]],
    ["nothing_to_update", ["senders", "update", `snd_${NOBODY}`]],
    [
      "expiry_passed",
      [...create("keys"), "--name", "x", "--scopes", "tokens:read", "--expires", "2020-01-01T00:00:00Z"],
    ],
  ])("exits with 1 where flags contradict each other: %s %j", async (code, args) => {
    expect(await runFailing(...args)).toMatchObject({ code, exit: 1 })
    const { stdout, stderr } = await run(args)
    expect({ stdout, lines: stderr.trim().split("\n").length }).toEqual({ stdout: "", lines: 1 })
  })

  it("needs no database to report a missing command or to show the help", async () => {
    const nowhere = { DATABASE_URL: "postgres://x@127.0.0.1:1/x" }
    expect(await run([], nowhere)).toMatchObject({ code: 2, stderr: "ops needs a command. See ops --help.\n" })
    const { code, stdout } = await run(["help", "keys"], nowhere)
    expect({ code, stdout }).toEqual({ code: 0, stdout: (await run(["keys", "--help"])).stdout })
  })

  it("rejects a range that ends before it starts, by a microsecond and across offsets", async () => {
    const ranges = [
      ["2026-01-02T00:00:00Z", "2026-01-01T00:00:00Z"],
      ["2026-01-01T09:00:00.123457Z", "2026-01-01T09:00:00.123456Z"],
      ["2026-01-01T09:00:00Z", "2026-01-01T10:00:00.1+02:00"],
    ]
    for (const [from, to] of ranges) {
      const wrong = ["deliveries", "list", "--from", from!, "--to", to!]
      expect(await runFailing(...wrong)).toMatchObject({ code: "invalid_range", exit: 1 })
    }
    const inOrder = ["--from", "2026-01-01T09:00:00Z", "--to", "2026-01-01T09:00:00.5Z"]
    expect(await runJson("deliveries", "list", ...inOrder)).toMatchObject({ data: [] })
  })
})
