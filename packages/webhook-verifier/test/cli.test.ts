import { describe, expect, it } from "vitest"
import type { WebhookEvent } from "../src/index.ts"
import { createWebhookVerifier } from "../src/index.ts"
import { webhookHandler } from "../src/node.ts"
import { runCli } from "../src/runCli.ts"
import { serveHttp } from "./serveHttp.ts"
import { BODY, NOW, SECRET, signed } from "./signed.ts"

async function run(
  args: readonly string[],
  { input = "", env = {} }: { input?: string; env?: NodeJS.Dict<string> } = {},
) {
  const lines: string[] = []
  const print = (text: string) => void lines.push(text)
  const code = await runCli(args, { env, readInput: () => Buffer.from(input), print })
  return { code, out: lines.join("\n") }
}

const verifyArgs = (header: string) => ["verify", "--header", header, "--received-at", String(NOW + 10)]

describe("webhook-verifier verify", () => {
  it("reports a valid signature, and which secret made it", async () => {
    const args = [...verifyArgs(signed()), "--secret", "another", "--secret", SECRET]
    expect(await run(args, { input: BODY })).toEqual({
      code: 0,
      out: "The signature is good: secret 2 of 2 made it.\nIt was signed 10 s before it was received.",
    })
  })
  it("reads the secret from the environment, and fails with a reason", async () => {
    expect(await run(verifyArgs(signed()), { input: `${BODY}\n`, env: { WEBHOOK_SECRET: SECRET } })).toEqual({
      code: 1,
      out: expect.stringContaining("a shell or an editor added a line break"),
    })
  })
  it.each([
    [["verify"], "there is no secret"],
    [["vrfy", "--secret", "s"], "vrfy is not a command"],
    [["verify", "--secret", "s", "--received-at", "noon"], "neither Unix seconds nor ISO 8601"],
    [["verify", "--secrets", "s"], "--secrets"],
    [["send", "--secret", "s"], "give --url"],
    [["send", "--secret", "s", "--url", "http://127.0.0.1:1", "--type", "outreach.x"], "outreach.email_clicked"],
    [["send", "--secret", "s", "--url", "http://127.0.0.1:1"], "cannot be reached"],
  ])("rejects the command line %j", async (args, message) => {
    await expect(run(args)).rejects.toThrow(message)
  })
  it("prints the help", async () => {
    const out = expect.stringContaining("npx @outreach/webhook-verifier send")
    expect([await run([]), await run(["--help"])]).toEqual([
      { code: 2, out },
      { code: 0, out },
    ])
  })
})

describe("webhook-verifier send", () => {
  it("posts a signed sample of each type that a receiver verifies, and prints the response", async () => {
    const events: WebhookEvent[] = []
    const verifier = createWebhookVerifier({ secrets: [SECRET] })
    await using server = await serveHttp(webhookHandler(verifier, (event) => events.push(event)))
    const args = ["send", "--url", server.url, "--secret", SECRET]
    expect(await run([...args, "--type", "outreach.recipients_published", "--event-id", "evt_1"])).toEqual({
      code: 0,
      out: expect.stringMatching(
        /^outreach\.recipients_published evt_1: 200 after \d+ ms\n\{"received":true\}\n.*delivered/,
      ),
    })
    expect((await run(args)).code).toBe(0)
    expect(events).toMatchObject([{ event_id: "evt_1" }, { event_type: "outreach.email_sent" }])
  })
  it.each([
    [308, "follows no redirect"],
    [401, "would not try again"],
    [503, "would try again"],
  ])("explains what the service would do after the status %i", async (status, meaning) => {
    await using server = await serveHttp((_, response) => response.writeHead(status, { location: "/" }).end())
    const sent = await run(["send", "--url", server.url], { env: { WEBHOOK_SECRET: SECRET } })
    expect(sent).toEqual({ code: 1, out: expect.stringContaining(meaning) })
  })
})
