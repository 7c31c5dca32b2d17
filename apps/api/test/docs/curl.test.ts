import { execFile, spawnSync } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { type Operation, operations } from "@outreach/contract"
import { temporaryFolder } from "@outreach/testing/temporaryFolder"
import { Redacted, Struct } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { publishOutcomes } from "../handlers/publishOutcomes.ts"
import { startApi } from "../startApi.ts"
import { samplesOf } from "./samplesOf.ts"

const BASE = "http://api.outreach.test"
const api = startApi(undefined, { PUBLIC_BASE_URL: BASE })
const isInstalled = (program: string) => spawnSync(program, ["version"]).error === undefined

/** Code of a page under a label, as a reader copies it. */
const shown = async (page: string, label: string): Promise<string> => {
  const text = await (await fetch(api().url + page)).text()
  return samplesOf(text).get(label)!.trimEnd()
}

describe.skipIf(!["curl", "openssl"].every(isInstalled))("the commands of the pages", () => {
  const home = temporaryFolder("curl", afterAll)
  let values: Record<string, string>
  let events: ReadonlyArray<string>

  beforeAll(async () => {
    const { campaign, endpoint, secret, key } = await api().seed(3)
    events = await api().run(
      publishOutcomes(campaign, ["outreach.email_sent", "outreach.email_bounced", "outreach.email_clicked"]),
    )
    const list = await fetch(`${api().url}/v1/partners/consumer/tokens?since=2026-01-01T00:00:00Z`, {
      headers: { Authorization: `Bearer ${key}` },
    })
    const { data } = (await list.json()) as { data: ReadonlyArray<{ token: string }> }
    values = {
      OUTREACH_KEY: key,
      OUTREACH_TOKEN: data[0]!.token,
      OUTREACH_CAMPAIGN: campaign.id,
      OUTREACH_ENDPOINT: endpoint.id,
      OUTREACH_SECRET: Redacted.value(secret),
    }
    // The pages contain the deployment's URL: curl is configured to resolve it.
    const connect = `connect-to = "api.outreach.test:80:127.0.0.1:${new URL(api().url).port}"`
    writeFileSync(join(home, ".curlrc"), `${connect}\nwrite-out = "\\n%{http_code}\\n"\n`)
  })

  /** Runs a script. Returns its output lines. */
  const shell = async (script: string): Promise<ReadonlyArray<string>> => {
    const env = { PATH: process.env["PATH"], HOME: home }
    const { stdout } = await promisify(execFile)("sh", ["-euc", script], { cwd: home, env })
    return stdout.trimEnd().split("\n")
  }
  /** Runs a script with real values instead of placeholders. */
  const run = (script: string, more: Record<string, string> = {}): Promise<ReadonlyArray<string>> => {
    const own: Record<string, string> = { ...values, ...more }
    return shell(
      script.replaceAll(/^export (OUTREACH_\w+)=.*$/gm, (line, name) =>
        name in own ? `export ${name}='${own[name]}'` : line,
      ),
    )
  }
  const variables = () => shown("/docs/curl", "Variables")
  const answerOf = (lines: ReadonlyArray<string>) => ({ status: Number(lines.at(-1)), body: JSON.parse(lines.at(-2)!) })

  it.each(Struct.keys(operations))("call %s and receive a response that matches the contract", async (id) => {
    const { summary, responses, draft }: Operation = operations[id]
    const command = await shown("/docs/reference", `Request: ${summary}`)
    const { status, body } = answerOf(await run(`${await variables()}\n${command}`))
    if (draft) {
      expect([status, body.error.code]).toEqual([501, "NOT_IMPLEMENTED"])
      return
    }
    expect(status, JSON.stringify(body)).toBe(200)
    expect(responses[200]!.body!.parse(body)).toEqual(body)
    const counts: Partial<Record<typeof id, number>> = {
      listTokens: 3,
      listEvents: 2,
      listCampaignRecipients: 3,
      getDigest: 1,
    }
    if (id in counts) expect(body.data.length).toBe(counts[id])
    if (id === "getToken") expect([body.token, body.campaign.object]).toEqual([values["OUTREACH_TOKEN"], "campaign"])
  })

  it("on the first page work one after the other, with only a key", async () => {
    const [health, list] = [await shown("/docs", "First request"), await shown("/docs", "First request with a key")]
    expect(answerOf(await run(health))).toMatchObject({ status: 200, body: { status: "ok" } })
    expect(answerOf(await run(`${health}\n${list}`))).toMatchObject({ status: 200, body: { object: "list" } })
  })

  it("repeat a request under its idempotency key", async () => {
    const command = `${await variables()}\n${await shown("/docs/curl", "Idempotency")}`
    expect((await run(command)).join("\n")).not.toMatch(/^idempotent-replayed/im)
    expect((await run(command)).join("\n")).toMatch(/^idempotent-replayed: true/im)
  })

  it("request a recipient only if it has changed", async () => {
    const lines = await run(`${await variables()}\n${await shown("/docs/curl", "Conditional request")}`)
    expect(lines.filter((line) => /^\d{3}$/.test(line))).toEqual(["200", "304"])
  })

  it("show the headers of a rejected request", async () => {
    const lines = await run(`${await variables()}\n${await shown("/docs/curl", "Headers")}`)
    expect(lines.join("\n")).toMatch(/^x-ratelimit-remaining: \d+.*^x-request-id: req_.*MISSING_PARAMETER/ims)
  })

  it("follow the cursor from page to page, to every event once", async () => {
    const first = answerOf(await run(`${await variables()}\n${await shown("/docs/pagination", "First page")}`)).body
    expect([first.data.length, first.has_more]).toEqual([2, true])
    const next = await shown("/docs/pagination", "Next page")
    const last = answerOf(await run(`${await variables()}\n${next}`, { OUTREACH_CURSOR: first.next_cursor })).body
    expect([last.has_more, last.next_cursor]).toEqual([false, null])
    expect([...first.data, ...last.data].map(({ event_id }) => event_id)).toEqual(events)
  })

  it.each([
    ["/docs/webhooks", "npx @outreach/webhook-verifier", "http://localhost:3000/webhooks"],
    ["/docs/sandbox", "npm run --silent webhook --", "http://127.0.0.1:3000/webhooks"],
  ])("of %s follow the feed and forward it", async (page, command, receiver) => {
    const script = (await shown(page, "listen")).replace(command, "exec printf '%s\\n'")
    const args = (await run(`export OUTREACH_SECRET=\n${script}`)).filter((line) => line !== "")
    expect(args).toEqual(expect.arrayContaining(["listen", "--forward", receiver]))
  })

  it("of the sandbox read its addresses and keys from its file", async () => {
    mkdirSync(join(home, ".sandbox"))
    const file = {
      base_url: BASE,
      api_key: "orp_test_1",
      campaign_id: "cmp_1",
      endpoint_id: "whe_1",
      signing_secret: "whsec_1",
    }
    writeFileSync(join(home, ".sandbox/sandbox.json"), JSON.stringify(file))
    const script = await shown("/docs/sandbox", "Variables of the sandbox")
    const lines = await shell(`${script}\nenv`)
    for (const value of Object.values(file))
      expect(lines).toContainEqual(expect.stringMatching(`^OUTREACH_\\w+=${value}$`))
  })
})
