import { execFile, spawnSync } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { promisify } from "node:util"
import { type Operation, operations } from "@outreach/contract"
import { temporaryFolder } from "@outreach/testing/temporaryFolder"
import { Struct } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { startApi } from "../startApi.ts"
import { samplesOf } from "./samplesOf.ts"
import { type SampleValues, seedSamples } from "./seedSamples.ts"

const BASE = "http://api.outreach.test"
const api = startApi(undefined, { PUBLIC_BASE_URL: BASE })
const isInstalled = (program: string) => spawnSync(program, ["version"]).error === undefined

/** Code of a page under a label, as a reader copies it. */
const shown = async (page: string, label: string): Promise<string> => {
  const text = await (await fetch(api().url + page)).text()
  return samplesOf(text).get(label)!.trimEnd()
}

describe.skipIf(!["curl", "openssl"].every(isInstalled))("the curl samples of the pages", () => {
  const home = temporaryFolder("curl", afterAll)
  let values: SampleValues

  beforeAll(async () => {
    values = await seedSamples(api())
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
  const run = (sample: string): Promise<ReadonlyArray<string>> => shell(values.fill(sample))
  const answerOf = (lines: ReadonlyArray<string>) => ({ status: Number(lines.at(-1)), body: JSON.parse(lines.at(-2)!) })

  it.each(Struct.keys(operations))("call %s and receive a response that matches the contract", async (id) => {
    const { responses, draft }: Operation = operations[id]
    const { status, body } = answerOf(
      await run(await shown(id === "listTokens" ? "/docs" : "/docs/reference", `${id}.sh`)),
    )
    if (draft) return expect([status, body.error.code]).toEqual([501, "NOT_IMPLEMENTED"])
    expect(status, JSON.stringify(body)).toBe(200)
    expect(responses[200]!.body!.parse(body)).toEqual(body)
    if ("data" in body) expect(body.data.length).toBeGreaterThan(0)
    if (id === "getToken") expect([body.token, body.campaign.object]).toEqual([values.token, "campaign"])
  })

  it("repeat a request under its idempotency key", async () => {
    const command = (await shown("/docs/curl", "repeatedRequest.sh")).replace("-sS", "-sSi")
    expect((await run(command)).join("\n")).not.toMatch(/^idempotent-replayed/im)
    expect((await run(command)).join("\n")).toMatch(/^idempotent-replayed: true/im)
  })

  it("request a recipient only if it has changed", async () => {
    const sample = await shown("/docs/curl", "conditionalRequest.sh")
    expect((await run(sample)).at(-1)).toBe("304")
    expect((await run(sample.replace("5d41402abc4b2a76", "changed"))).at(-1)).toBe("200")
  })

  it("return the error that the page shows, for a rejected request", async () => {
    const { status, body } = answerOf(await run(await shown("/docs/errors", "rejectedRequest.sh")))
    const example = JSON.parse(await shown("/docs/errors", "Example of an error"))
    expect([status, { ...body.error, request_id: "" }]).toEqual([400, { ...example.error, request_id: "" }])
  })

  it("follow the cursor from page to page, to every event once", async () => {
    const first = answerOf(await run(await shown("/docs/pagination", "firstPage.sh"))).body
    expect([first.data.length, first.has_more]).toEqual([2, true])
    const last = answerOf(await run(await shown("/docs/pagination", "nextPage.sh"))).body
    expect([last.has_more, last.next_cursor]).toEqual([false, null])
    expect([...first.data, ...last.data].map(({ event_id }) => event_id)).toEqual(values.events)
  })

  it.each([
    ["/docs/webhooks", "npx @outreach/webhook-verifier", "http://localhost:3000/webhooks"],
    ["/docs/sandbox", "npx @outreach/webhook-verifier", "http://127.0.0.1:3000/webhooks"],
  ])("of %s follow the feed and forward it", async (page, command, receiver) => {
    const script = (await shown(page, "listen")).replace(command, "exec printf '%s\\n'")
    const args = (await run(`export OUTREACH_SECRET=\n${script}`)).filter((line) => line !== "")
    expect(args).toEqual(expect.arrayContaining(["listen", "--forward", receiver]))
  })

  it("of the sandbox read its addresses and keys from its file", async () => {
    mkdirSync(join(home, ".sandbox"))
    const file = { base_url: BASE, api_key: "orp_test_1", signing_secret: "whsec_1" }
    writeFileSync(join(home, ".sandbox/sandbox.json"), JSON.stringify(file))
    const script = await shown("/docs/sandbox", "Variables of the sandbox")
    const lines = await shell(`${script}\nenv`)
    for (const value of Object.values(file))
      expect(lines).toContainEqual(expect.stringMatching(`^OUTREACH_\\w+=${value}$`))
  })
})
