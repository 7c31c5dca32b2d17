import { once } from "node:events"
import { createServer, type Socket } from "node:net"
import { setImmediate } from "node:timers/promises"
import type { MailOutcome } from "@outreach/domain/mail/Transport"
import { SmtpTransport } from "@outreach/mail/SmtpTransport"
import { listen } from "@outreach/testing/listen"
import { Effect, Redacted } from "effect"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { mailTo, sendMail } from "./testMail.ts"

/** A server's fault in one command. Bytes are sent unchanged. */
type Fault =
  /** Unsolicited replies before or after the correct one, in the same packet or separately. */
  | { readonly kind: "stray"; readonly bytes: string; readonly place: "before" | "after"; readonly isApart: boolean }
  /** Other bytes instead of the reply; `isDone` is whether the command was executed. */
  | { readonly kind: "instead"; readonly bytes: string; readonly isDone: boolean }
  | { readonly kind: "split" }
  | { readonly kind: "drop"; readonly isDone: boolean }
  /** After DATA was accepted, in the middle of the message; otherwise like `drop`. */
  | { readonly kind: "dropInData" }

const hangsUp = (fault: Fault) => ("bytes" in fault ? fault.bytes.startsWith("421") : fault.kind !== "split")
const isBad = (address: string) => address.startsWith("bad")

/** A server that follows RFC 5321, except for one fault per command, and counts copies. */
const faultyServer = async (script: ReadonlyArray<Fault | null>, offersPipelining: boolean) => {
  const faults = [...script]
  const delivered: string[] = []
  const commands: string[] = []
  const serve = async (socket: Socket) => {
    let sender = false
    let recipient: string | undefined
    let data: string | undefined
    let hasStrayRefusal = false
    const write = async (bytes: string) => {
      if (!socket.destroyed) await new Promise<void>((resolve) => void socket.write(bytes, () => resolve()))
    }
    const isDropped = () => socket.destroyed || socket.writableEnded

    const obey = (line: string): { reply: string; act: () => void } => {
      const act = (reply: string, act = () => {}) => ({ reply: `${reply}\r\n`, act })
      if (line === "connected") return act("220 mx.clinic.test ready")
      if (line.startsWith("EHLO")) {
        const extensions = offersPipelining ? "250-PIPELINING\r\n250 SIZE 1000000" : "250 SIZE 1000000"
        return act(`250-mx.clinic.test greets you\r\n${extensions}`, () => {
          sender = false
          recipient = undefined
        })
      }
      if (line.startsWith("MAIL")) return act("250 2.1.0 Sender fine", () => (sender = true))
      if (line.startsWith("RCPT")) {
        const to = /<(.*?)>/.exec(line)![1]!
        if (!sender) return act("503 5.5.1 MAIL first")
        return isBad(to) ? act("550 5.1.1 No such user") : act("250 2.1.5 Recipient fine", () => (recipient = to))
      }
      if (line === "DATA") {
        return recipient === undefined ? act("503 5.5.1 RCPT first") : act("354 Go on", () => (data = ""))
      }
      if (line === "." && data !== undefined) {
        return act("250 2.0.0 Taken", () => {
          delivered.push(recipient!)
          sender = false
          recipient = undefined
        })
      }
      return act(line === "QUIT" ? "221 Bye" : "500 5.5.2 What?")
    }

    const answer = async (line: string) => {
      commands.push(line)
      const next = line === "QUIT" ? null : (faults.shift() ?? null)
      // A rejection followed by a closed connection can't be distinguished from an intended one.
      const fault = hasStrayRefusal && next !== null && hangsUp(next) ? null : next
      if (fault !== null && "bytes" in fault && /^[45]/m.test(fault.bytes)) hasStrayRefusal = true
      const { reply, act } = obey(line)
      if (line === ".") data = undefined
      if (fault === null) {
        act()
        return await write(reply)
      }
      if (fault.kind === "split") {
        act()
        for (const byte of reply) {
          await write(byte)
          await setImmediate()
        }
        return
      }
      if (fault.kind === "stray") {
        // A server that confirms the message first after the dot has accepted it.
        act()
        const [first, second] = fault.place === "before" ? [fault.bytes, reply] : [reply, fault.bytes]
        // A 250 or 421 after the dot can't be distinguished from its reply.
        const isTheDots = line === "DATA" ? /^(2|421)/.test(second) : line === "." && first.startsWith("421")
        const isApart = fault.isApart && !isTheDots
        if (!isApart) return await write(first + second)
        await write(first)
        await setImmediate()
        await setImmediate()
        return await write(second)
      }
      if (fault.kind === "instead") {
        // A server that rejects hasn't executed the command.
        const isRefused = /^[45]\d\d[ -]/.test(fault.bytes)
        if ((fault.isDone && !isRefused) || (reply.startsWith("250 2.0.0") && /^2\d\d[ -]/.test(fault.bytes))) act()
        await write(fault.bytes)
        // The client would wait for the rest of half a reply.
        if (!fault.bytes.endsWith("\n")) socket.destroy()
        return
      }
      if (fault.kind === "dropInData" && line === "DATA" && recipient !== undefined) {
        await write(reply)
        await once(socket, "data").catch(() => {})
      } else if (fault.kind === "drop" && fault.isDone) act()
      socket.destroy()
    }

    let rest = ""
    let isBusy = Promise.resolve(answer("connected"))
    socket.on("data", (chunk) => {
      rest += chunk.toString("latin1")
      const lines = rest.split("\r\n")
      rest = lines.pop()!
      isBusy = isBusy.then(async () => {
        for (const line of lines) {
          if (isDropped()) return
          if (data !== undefined && line !== ".") data += line
          else await answer(line)
        }
      })
    })
  }
  const port = await listen(
    createServer({ noDelay: true }, (socket) => {
      socket.on("error", () => {})
      void serve(socket)
    }),
    (end) => ends.push(end),
  )
  return { url: `smtp://127.0.0.1:${port}`, delivered, commands }
}

const ends: Array<() => Promise<void>> = []

/** Sends to each address in turn until its outcome is known. Returns each attempt with the copies that the server accepted in the meantime. */
const sendAll = async (
  server: Awaited<ReturnType<typeof faultyServer>>,
  addresses: ReadonlyArray<string>,
  html = "<p>Your link</p>",
) => {
  const attempts: Array<{ readonly to: string; readonly outcome: MailOutcome; readonly copies: number }> = []
  const sending = Effect.gen(function* () {
    for (const to of addresses) {
      // A server has a finite number of faults.
      for (let i = 0; i < 50; i++) {
        const before = server.delivered.length
        const outcome = yield* sendMail(mailTo(to, { html }))
        attempts.push({ to, outcome, copies: server.delivered.slice(before).filter((each) => each === to).length })
        if (outcome._tag === "Accepted" || outcome._tag === "Bounced") break
      }
    }
  })
  await sending.pipe(Effect.provide(SmtpTransport(Redacted.make(server.url))), Effect.runPromise)
  await Promise.all(ends.splice(0).map((end) => end()))
  return attempts
}

/** Content of a stray reply: a complete one, several, a part of one, or garbage. */
const STRAYS = [
  "250 ok\r\n",
  "250 ok\r\n250 ok\r\n",
  "250-two\r\n250 lines\r\n",
  "250-two\r\n550 codes\r\n",
  "550 5.1.1 No such user\r\n",
  "250 ok\r\n550 5.1.1 No such user\r\n",
  "451 4.3.0 Local error\r\n",
  "421 4.3.2 Shutting down\r\n",
  "220 hello\r\n",
  "\r\n",
  "what?\r\n",
]
const bytes = fc.constantFrom(...STRAYS)
const fault: fc.Arbitrary<Fault> = fc.oneof(
  fc.record({
    kind: fc.constant("stray" as const),
    bytes: bytes,
    place: fc.constantFrom("before" as const, "after" as const),
    isApart: fc.boolean(),
  }),
  fc.record({
    kind: fc.constant("instead" as const),
    // A rejection instead of a reply is a normal rejection.
    bytes: fc.oneof(
      bytes.filter((text) => !text.startsWith("550")),
      fc.constantFrom("354 go on\r\n", "334 \r\n", "250ok\r\n", "999 x\r\n", "2500 x\r\n"),
    ),
    isDone: fc.boolean(),
  }),
  fc.constant({ kind: "split" as const }),
  fc.record({ kind: fc.constant("drop" as const), isDone: fc.boolean() }),
  fc.constant({ kind: "dropInData" as const }),
)

/** Commands of a session until the reply to its first message. */
const UNTIL_DOT = Array.from({ length: 5 }, () => null)
const good = (count: number) => Array.from({ length: count }, (_, i) => `good${i}@clinic.test`)

describe.each([
  ["one at a time", false],
  ["together", true],
])("with commands sent %s, whatever a server replies and nobody asked for", (_, offersPipelining) => {
  it("sends no second copy that is not an unknown outcome's, hides no refusal, and gives none to another", async () => {
    const scripts = fc.array(fc.option(fault, { freq: 2 }), { maxLength: 30 })
    const recipients = fc.array(fc.constantFrom("good", "bad"), { minLength: 1, maxLength: 5 })
    const property = fc.asyncProperty(scripts, recipients, async (script, kinds) => {
      const server = await faultyServer(script, offersPipelining)
      const addresses = kinds.map((kind, i) => `${kind}${i}@clinic.test`)
      const attempts = await sendAll(server, addresses)
      for (const to of addresses) {
        const outcomes = attempts.flatMap((attempt) => (attempt.to === to ? [attempt.outcome._tag] : []))
        const copies = server.delivered.filter((each) => each === to).length
        const unknown = outcomes.filter((each) => each === "Unknown").length
        expect({ to, last: outcomes.at(-1) }).toEqual({ to, last: isBad(to) ? "Bounced" : "Accepted" })
        expect(copies).toBeGreaterThanOrEqual(isBad(to) ? 0 : 1)
        expect(copies).toBeLessThanOrEqual(isBad(to) ? 0 : 1 + unknown)
      }
    })
    await fc.assert(property)
  }, 300_000)

  it.each(["in its packet", "in a packet of its own"])(
    "gives each of twenty recipients one attempt, when it is a second 250 to the first message, %s",
    async (where) => {
      const second = { kind: "stray", bytes: "250 ok\r\n", place: "after", isApart: where !== "in its packet" } as const
      const addresses = good(20).with(1, "bad1@clinic.test")
      const attempts = await sendAll(await faultyServer([...UNTIL_DOT, second], offersPipelining), addresses)
      expect(attempts.map(({ to }) => to)).toEqual(addresses)
      for (const { to, outcome, copies } of attempts) {
        expect([outcome._tag, copies]).toEqual(isBad(to) ? ["Bounced", 0] : ["Accepted", 1])
      }
    },
  )

  it("costs the next message no attempt, when it is a 421 between two", async () => {
    const closing = { kind: "stray", bytes: "421 4.3.2 Shutting down\r\n", place: "after", isApart: true } as const
    const attempts = await sendAll(await faultyServer([...UNTIL_DOT, closing], offersPipelining), good(3))
    expect(attempts.map(({ outcome, copies }) => [outcome._tag, copies])).toEqual(good(3).map(() => ["Accepted", 1]))
  })

  it("leaves the outcome unknown after the final dot, and the next message is sent on another connection", async () => {
    for (const bytes of ["354 Go on\r\n", "250ok\r\n", "250-a\r\n550 b\r\n", "250 ok\r\n550 no\r\n"]) {
      const odd = { kind: "instead", bytes, isDone: true } as const
      const server = await faultyServer([...UNTIL_DOT, odd], offersPipelining)
      const attempts = await sendAll(server, good(2))
      expect(attempts.map(({ to, outcome, copies }) => [to, outcome._tag, copies])).toEqual([
        ["good0@clinic.test", "Unknown", 1],
        ["good0@clinic.test", "Accepted", 1],
        ["good1@clinic.test", "Accepted", 1],
      ])
      expect(attempts[0]!.outcome).toMatchObject({ failure: { class: "protocol" } })
      expect(server.commands.filter((line) => line === "connected")).toHaveLength(2)
    }
  })

  it("delivers no message after a wrong reply before the final dot, and sends no final dot", async () => {
    const places = ["connected", "EHLO", "MAIL", "RCPT", "DATA"]
    for (const [i, place] of places.entries()) {
      const odd = ["299 ok\r\n", "399 go on\r\n", "250ok\r\n", "199 x\r\n", "250-a\r\n251 b\r\n", "\r\n"]
      for (const bytes of [...odd, ...(place === "DATA" ? ["250 ok\r\n"] : ["354 Go on\r\n"])]) {
        const script = [...UNTIL_DOT.slice(0, i), { kind: "instead", bytes, isDone: true } as const]
        const server = await faultyServer(script, offersPipelining)
        const [first, ...others] = await sendAll(server, good(1))
        expect(first).toMatchObject({ outcome: { _tag: "Unreachable", failure: { class: "protocol" } }, copies: 0 })
        expect(others.map(({ outcome }) => outcome._tag)).toEqual(["Accepted"])
        expect(server.commands.filter((line) => line === ".")).toHaveLength(1)
      }
    }
  })
})

it("an end in the middle of the message is no unknown outcome", async () => {
  const script = [...UNTIL_DOT.slice(1), { kind: "dropInData" } as const]
  // Larger than the socket buffers of both sides.
  const attempts = await sendAll(await faultyServer(script, true), good(1), "x".repeat(8_000_000))
  expect(attempts.map(({ outcome, copies }) => [outcome._tag, copies])).toEqual([
    ["Unreachable", 0],
    ["Accepted", 1],
  ])
})
