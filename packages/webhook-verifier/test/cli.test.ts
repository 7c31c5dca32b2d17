import { spawn } from "node:child_process"
import { text } from "node:stream/consumers"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"
import type { WebhookEvent } from "../src/index.ts"
import { createWebhookVerifier } from "../src/index.ts"
import { webhookHandler } from "../src/node.ts"
import { serveHttp } from "./serveHttp.ts"
import { BODY, NOW, SECRET, signed } from "./signed.ts"

const cli = fileURLToPath(new URL("../src/cli.ts", import.meta.url))

async function run(args: readonly string[], { input = "", env = {} }: { input?: string; env?: object } = {}) {
  const child = spawn(process.execPath, [cli, ...args], { env: { ...process.env, ...env } })
  child.stdin.end(input)
  const exited = new Promise<number | null>((resolve) => child.on("close", resolve))
  const [out, err, code] = await Promise.all([text(child.stdout), text(child.stderr), exited])
  return { code, out, err }
}

const verifyArgs = (header: string) => ["verify", "--header", header, "--received-at", String(NOW + 10)]

describe("webhook-verifier verify", () => {
  it("says that a signature is good, and which secret made it", async () => {
    const { code, out } = await run([...verifyArgs(signed()), "--secret", "another", "--secret", SECRET], {
      input: BODY,
    })
    expect(out).toBe("The signature is good: secret 2 of 2 made it.\nIt was signed 10 s before it was received.\n")
    expect(code).toBe(0)
  })
  it("takes the secret from the environment, and fails with a reason", async () => {
    const { code, out } = await run(verifyArgs(signed()), { input: `${BODY}\n`, env: { WEBHOOK_SECRET: SECRET } })
    expect(out).toContain("a shell or an editor added a line break")
    expect(code).toBe(1)
  })
  it("says what is wrong with the call itself", async () => {
    const wrong = [
      [["verify"], "there is no secret"],
      [["vrfy", "--secret", "s"], "vrfy is not a command"],
      [["verify", "--secret", "s", "--received-at", "noon"], "neither Unix seconds nor ISO 8601"],
      [["verify", "--secrets", "s"], "--secrets"],
      [["send", "--secret", "s"], "give --url"],
      [["send", "--secret", "s", "--url", "http://127.0.0.1:9", "--type", "outreach.x"], "outreach.email_clicked"],
      [["send", "--secret", "s", "--url", "http://127.0.0.1:9"], "cannot be reached"],
    ] as const
    await Promise.all(
      wrong.map(async ([args, sentence]) => {
        const { code, err } = await run(args, { env: { WEBHOOK_SECRET: "" } })
        expect([code, err]).toEqual([2, expect.stringContaining(sentence)])
      }),
    )
    expect(await run([])).toMatchObject({
      code: 2,
      out: expect.stringContaining("npx @outreach/webhook-verifier send"),
    })
    expect(await run(["--help"])).toMatchObject({ code: 0 })
  })
})

describe("webhook-verifier send", () => {
  it("posts a signed sample that a receiver verifies, of each type, and says what was answered", async () => {
    const events: WebhookEvent[] = []
    const verifier = createWebhookVerifier({ secrets: [SECRET] })
    await using server = await serveHttp(webhookHandler(verifier, (event) => events.push(event)))
    const args = ["send", "--url", server.url, "--secret", SECRET]
    const { code, out } = await run([...args, "--type", "outreach.recipients_published", "--event-id", "evt_1"])
    expect(out).toMatch(/^outreach\.recipients_published evt_1: 200 after \d+ ms\n\{"received":true\}\n.*delivered/)
    expect(code).toBe(0)
    expect((await run(args)).code).toBe(0)
    expect(events).toMatchObject([{ event_id: "evt_1" }, { event_type: "outreach.email_sent" }])
  })
  it("says what the service would do about each answer that is not a success", async () => {
    const statuses = [308, 401, 503]
    await using server = await serveHttp((_, response) =>
      response.writeHead(statuses.shift() ?? 500, { location: "/" }).end(),
    )
    for (const sentence of ["follows no redirect", "would not try again", "would try again"]) {
      const { code, out } = await run(["send", "--url", server.url], { env: { WEBHOOK_SECRET: SECRET } })
      expect([code, out]).toEqual([1, expect.stringContaining(sentence)])
    }
  })
})
