import { spawn, spawnSync } from "node:child_process"
import { createServer, type IncomingHttpHeaders, type RequestListener } from "node:http"
import { text } from "node:stream/consumers"
import { fileURLToPath } from "node:url"
import { FEED_EVENT_TYPES, SCOPES } from "@outreach/contract"
import { CLOSED_ADDRESS, listen } from "@outreach/testing/listen"
import { loopbackAddress } from "@outreach/testing/loopbackAddress"
import { column } from "@outreach/testing/sql"
import { compileCache, TestProcess } from "@outreach/testing/startProcess"
import { Changes, until } from "@outreach/testing/until"
import { createWebhookVerifier, type WebhookEvent } from "@outreach/webhook-verifier"
import { Webhook } from "standardwebhooks"
import { describe, expect, type TestContext, test } from "vitest"
import { publishOutcomes } from "../handlers/publishOutcomes.ts"
import { startApi } from "../startApi.ts"

const CLI = fileURLToPath(new URL("cli.ts", import.meta.resolve("@outreach/webhook-verifier")))
const SECRET = "whsec_4283fefc63f0cd0e873a0000c6d07ef7b77e90d3593ad699"

const api = startApi()
/** A separate organization for each test, because a feed starts with the current second; and cleanup for the end of the test. */
const setUp = async ({ onTestFinished }: Pick<TestContext, "onTestFinished">) => {
  const seed = await api().seed(1)
  const publish = (types: Parameters<typeof publishOutcomes>[1]) => api().run(publishOutcomes(seed.campaign, types))

  /** Runs the command until the test is finished, on a terminal if `terminal` is true. */
  const start = (
    args: ReadonlyArray<string>,
    options: { readonly env?: NodeJS.ProcessEnv; readonly terminal?: true } = {},
  ) => {
    const command = [process.execPath, CLI, "listen", ...args]
    const [program, ...rest] = options.terminal ? ["script", "-qec", command.join(" "), "/dev/null"] : command
    const environment = { PATH: process.env["PATH"], OUTREACH_KEY: seed.key, OUTREACH_URL: api().url }
    const started = new TestProcess(spawn(program!, rest, { env: { ...compileCache, ...environment, ...options.env } }))
    onTestFinished(async () => void (await started.kill()))
    return {
      ended: started.ended,
      kill: (signal: NodeJS.Signals) => started.child.kill(signal),
      type: (keys: string) => started.child.stdin!.write(keys),
      /** Waits until the output matches. Returns it. */
      shown: (pattern: RegExp) => until(started, ({ text, errors }) => pattern.test(text + errors) && text + errors),
    }
  }

  /** A receiver that verifies and stores webhooks. */
  const startReceiver = async (secret = () => SECRET) => {
    const changes = new Changes()
    const events: Array<WebhookEvent> = []
    const requests: Array<{ readonly headers: IncomingHttpHeaders; readonly body: string }> = []
    const url = await answering(async (request, response) => {
      const { headers } = request
      const body = await text(request)
      requests.push({ headers, body })
      const verified = createWebhookVerifier({ secrets: [secret()] }).verify({ headers, body })
      await verified.then(
        (event) => {
          events.push(event)
          response.end()
        },
        (error) => response.writeHead(error.status).end(error.code),
      )
      changes.announce()
    })
    return {
      url,
      events,
      requests,
      changes,
      received: (count: number) => until({ changes }, () => events.length === count),
    }
  }
  const answering = async (listener: RequestListener) =>
    `http://127.0.0.1:${await listen(createServer(listener), onTestFinished)}/`

  return { seed, publish, start, startReceiver, answering }
}
const generatedSecret = (output: string) => /^ {2}(whsec_[0-9A-Za-z]{44})$/m.exec(output)![1]!

/** The command polls every two seconds, so the tests run concurrently. */
const it = test.extend<{ readonly own: Awaited<ReturnType<typeof setUp>> }>({
  own: async ({ onTestFinished }, use) => use(await setUp({ onTestFinished })),
})

describe.concurrent("listen", () => {
  it("forwards each event with the service's headers and bytes, signed with the secret that it prints", async ({
    own: { publish, start, startReceiver },
  }) => {
    let secret = ""
    const receiver = await startReceiver(() => secret)
    const command = start(["--forward", receiver.url])
    secret = generatedSecret(await command.shown(/^Events of/m))
    const ids = await publish(FEED_EVENT_TYPES)
    await receiver.received(ids.length)
    expect(receiver.events.map(({ event_id }) => event_id).sort()).toEqual(ids)

    const stored = column<string>`select body from events where id = any(${ids}) order by emitted_at, id`
    expect(receiver.requests.map(({ body }) => body)).toEqual(await api().run(stored))
    for (const { headers, body } of receiver.requests) {
      const { host: _, "x-signature": signature, "x-delivery-id": id, ...rest } = headers
      expect(signature).toMatch(/^t=\d{10},v1=[0-9a-f]{64}$/)
      expect(id).toMatch(/^dlv_[0-9a-f]{32}$/)
      expect(rest).toEqual({
        connection: "keep-alive",
        "content-type": "application/json",
        "content-length": String(Buffer.byteLength(body)),
        "x-delivery-attempt": "1",
        "user-agent": "outreach-partner-api/listen",
        "accept-encoding": "identity",
      })
    }
    const output = await command.shown(new RegExp(`200 +\\d+ ms {2}outreach\\.\\w+ {2}${ids.at(-1)}`))
    for (const id of ids)
      expect(output).toMatch(new RegExp(`^\\d\\d:\\d\\d:\\d\\d {2}200 +\\d+ ms {2}\\S+ {2}${id}$`, "m"))
    command.kill("SIGINT")
    expect(await command.ended).toBe(0)
  })

  it("starts at a time, forwards only some types, and sends headers that the Standard Webhooks library verifies", async ({
    own: { publish, start, startReceiver },
  }) => {
    const [id] = await publish(["outreach.email_bounced"])
    await publish(["outreach.email_opened"])
    const receiver = await startReceiver()
    const types = ["--type", "outreach.email_bounced", "--type", "outreach.email_clicked"]
    const options = ["--secret", SECRET, "--standard-webhooks", "--since", "1h"]
    const command = start(["--forward", receiver.url, ...options, ...types])
    await command.shown(new RegExp(`200 .* ${id}`))
    await publish(["outreach.email_sent", "outreach.email_clicked"])
    await command.shown(/email_clicked/)
    expect(new Set(receiver.events.map(({ event_type }) => String(event_type)))).toEqual(
      new Set(["outreach.email_bounced", "outreach.email_clicked"]),
    )
    const [{ headers, body }] = receiver.requests as [(typeof receiver.requests)[0]]
    expect(headers["webhook-id"]).toBe(id)
    expect(headers["x-signature"]).toMatch(new RegExp(`^t=${headers["webhook-timestamp"]},`))
    expect(new Webhook(SECRET).verify(body, headers as Record<string, string>)).toEqual(JSON.parse(body))
  })

  it("repeats the last event and one by its id, as further attempts of one delivery", async ({
    own: { publish, start, startReceiver },
  }) => {
    const receiver = await startReceiver()
    const command = start(["--forward", receiver.url, "--secret", SECRET])
    await command.shown(/^Events of/m)
    command.type("r\nr evt_0\n")
    await command.shown(/No event has come yet\.\nNo event evt_0 was forwarded\./)
    const [first] = await publish(["outreach.email_sent"])
    await command.shown(new RegExp(`200 .* ${first}`))
    const [last] = await publish(["outreach.email_clicked"])
    await command.shown(new RegExp(`200 .* ${last}`))
    command.type("r\n")
    await command.shown(new RegExp(`${last}\\n.*200 .* ${last}`))
    command.type(`r ${first}\n`)
    await receiver.received(4)
    expect(receiver.events.map(({ event_id }) => event_id)).toEqual([first, last, last, first])
    const attempts = receiver.requests.map(({ headers }) => headers["x-delivery-attempt"])
    expect(attempts).toEqual(["1", "1", "2", "2"])
    const ids = receiver.requests.map(({ headers }) => headers["x-delivery-id"])
    expect(ids).toEqual([ids[0], ids[1], ids[1], ids[0]])
  })

  // util-linux's script provides a terminal.
  it.skipIf(spawnSync("script", ["--version"]).status !== 0)(
    "repeats with a key, and ends with Ctrl-C, on a terminal",
    async ({ own: { publish, start, startReceiver } }) => {
      const receiver = await startReceiver()
      const command = start(["--forward", receiver.url, "--secret", SECRET], { terminal: true })
      await command.shown(/Events of/)
      const [id] = await publish(["outreach.email_sent"])
      await command.shown(new RegExp(`200 .* ${id}`))
      command.type("r")
      await receiver.received(2)
      command.type(`${id}\r`)
      await receiver.received(3)
      command.type("\u0003")
      expect(await command.ended).toBe(0)
    },
  )

  it("continues if a receiver is down, rejects, fails, redirects or disconnects, and shows whether the service would retry", async ({
    own: { answering, publish, start },
  }) => {
    const answers: Array<RequestListener> = [
      (_, response) => response.writeHead(400).end('{"error":\n"not_an_event"}'),
      (_, response) => response.writeHead(503).end(),
      (_, response) => response.writeHead(308, { location: "/elsewhere" }).end(),
      (request) => request.socket.destroy(),
      (_, response) => response.end(),
    ]
    const url = await answering((request, response) => answers.shift()!(request, response))
    const command = start(["--forward", url, "--secret", SECRET])
    await command.shown(/^Events of/m)
    const expected = [
      /400 .*the service would not try again\n +\{"error": "not_an_event"\}/,
      /503 .*the service would try again/,
      /308 .*the service would try again/,
      /--- .*closed the connection without an answer \(ECONNRESET\) {2}the service would try again/,
      /200 .*evt_/,
    ]
    for (const _ of expected) await publish(["outreach.email_sent"])
    for (const line of expected) await command.shown(line)
    expect(answers).toEqual([])

    const down = start(["--forward", `http://${CLOSED_ADDRESS}/`, "--secret", SECRET, "--since", "1h"])
    await down.shown(/--- .*nothing listens there \(ECONNREFUSED\)[\s\S]*nothing listens there/)
  })

  it("shows why the API rejects requests or is unreachable, and exits", async ({ own: { seed, start } }) => {
    const narrow = await api().issue(seed.organization.id, ["tokens:read"])
    const refused: ReadonlyArray<readonly [NodeJS.ProcessEnv, RegExp]> = [
      [{ OUTREACH_KEY: "orp_test_none" }, /does not accept the API key \(401 UNAUTHORIZED, req_\w+\)/],
      [{ OUTREACH_KEY: narrow.text }, /may not read events \(403 INSUFFICIENT_SCOPE, req_\w+\).*events:read/],
      [{ OUTREACH_URL: `http://${loopbackAddress()}:8080` }, /could not be reached.*\(ECONNREFUSED\)/],
    ]
    for (const [env, sentence] of refused) {
      const command = start(["--forward", "http://127.0.0.1:9/"], { env })
      await command.shown(sentence)
      expect(await command.ended).toBe(2)
    }
  })

  it("waits when the key is over its limit, and loses no event while the API is unreachable", async ({
    own: { answering, publish, seed, start, startReceiver },
  }) => {
    const busy = await api().issue(seed.organization.id, SCOPES)
    let failure: ((...args: Parameters<RequestListener>) => void) | undefined
    const proxy = await answering(async (request, response) => {
      if (failure) return failure(request, response)
      const { authorization = "" } = request.headers
      const answer = await fetch(new URL(request.url!, api().url), { headers: { authorization } })
      response.writeHead(answer.status, { "retry-after": "1" }).end(await answer.text())
    })
    const receiver = await startReceiver()
    const env = { OUTREACH_KEY: busy.text, OUTREACH_URL: proxy }
    const command = start(["--forward", receiver.url, "--secret", SECRET], { env })
    await command.shown(/^Events of/m)
    failure = (_, response) => response.writeHead(429, { "retry-after": "1" }).end()
    await command.shown(/over its limit of requests \(429\)\. It asks to wait 1 s\. It is asked again\./)
    failure = (request) => request.socket.destroy()
    await command.shown(/could not be reached.*It is asked again\./)
    const [id] = await publish(["outreach.email_sent"])
    failure = undefined
    await command.shown(new RegExp(`200 .* ${id}`))
  })
})
