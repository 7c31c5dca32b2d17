import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { RecipientId } from "@outreach/domain/Identifier"
import { ReturnPaths } from "@outreach/domain/mail/returned/ReturnPaths"
import { NodeTrackingSeal } from "@outreach/postgres/hits/NodeTrackingSeal"
import { SECRETS_RING } from "@outreach/testing/adaptersFor"
import { temporaryFolder } from "@outreach/testing/temporaryFolder"
import { Effect, Layer } from "effect"
import { afterAll, describe, expect, it } from "vitest"
import { commandLine } from "./commandLine.ts"

const { run, runJson, runFailing } = commandLine()

const SAMPLES = fileURLToPath(new URL("../../../packages/mail/test/bounces/", import.meta.url))
const RECIPIENT = RecipientId.make(`rcp_${"0a".repeat(16)}`)
const returnPath = Effect.runSync(
  ReturnPaths.pipe(Effect.provide(ReturnPaths.at("acme.test").pipe(Layer.provide(NodeTrackingSeal(SECRETS_RING))))),
).of(RECIPIENT)

const folder = temporaryFolder("ops-bounces", afterAll)

/** Writes a sample whose message is one of ours. */
const ourSample = (name: string): string => {
  const file = join(folder, `${name}.eml`)
  const sealed = returnPath.slice(0, returnPath.indexOf("@"))
  writeFileSync(file, readFileSync(join(SAMPLES, `${name}.eml`), "utf8").replaceAll(/bounce-[0-9a-f-]{51}/g, sealed))
  return file
}

describe("bounces explain", () => {
  it("shows the kind of a message, its recipient and its effect", async () => {
    const file = ourSample("qmail-remote")
    const { messages } = await runJson("bounces", "explain", file)
    expect(messages).toEqual([
      {
        ...{ file, kind: "bounce", verdict: "mailbox_not_found", status: "5.1.1", sureness: "likely" },
        ...{ rule: "qmail (QSBMF)", seal: "valid", recipient_id: RECIPIENT },
        effect: expect.stringMatching(/suppresses the address/),
      },
    ])
  })

  it.each([
    ["rfc3464-one-delayed", /^None: the server tries on/],
    ["postfix-timeout", /^Counts the message as refused later\. It marks no address/],
    ["gmail-blocked", /leave the domain alone for an hour/],
    ["unknown-bounce", /^Counts the message as refused later\. It marks no address/],
    ["complaint-arf", /^Counts a complaint/],
    ["human-reply", /counted as ignored/],
    ["auto-rfc3834", /counted as ignored/],
  ])("says what becomes of %s", async (name, effect) => {
    const { messages } = await runJson("bounces", "explain", ourSample(name))
    expect(messages).toMatchObject([{ effect: expect.stringMatching(effect) }])
  })

  it("recognizes our message by its headers, and reports no effect for a foreign one", async () => {
    const ours = await runJson("bounces", "explain", ourSample("forwarder-headers-only"))
    expect(ours.messages).toMatchObject([{ kind: "bounce", seal: "valid", recipient_id: RECIPIENT }])
    const { messages } = await runJson("bounces", "explain", join(SAMPLES, "qmail-remote.eml"))
    expect(messages).toMatchObject([{ seal: "not valid", recipient_id: null, effect: expect.stringMatching(/^None/) }])
  })

  it("needs neither a database nor keys", async () => {
    const settings = { DATABASE_URL: "postgres://nobody@127.0.0.1:1/none", SECRETS_KEY: "" }
    const { code, stdout } = await run(["bounces", "explain", join(SAMPLES, "domino.eml")], settings)
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringMatching(/rule +IBM Domino\nseal +not checked\n/),
    })
  })

  it("sums a folder up, and prints no address", async () => {
    const { messages, summary } = await runJson("bounces", "explain", SAMPLES)
    expect(messages).toHaveLength(readdirSync(SAMPLES).length)
    expect(summary.reduce((all: number, { messages }: { messages: number }) => all + messages, 0)).toBe(messages.length)
    const { stdout } = await run(["bounces", "explain", SAMPLES])
    expect(stdout).not.toMatch(/@|x@clinic/)
    expect(stdout).toMatch(/\nbounce +mailbox_not_found +likely +\d+\n/)
  })

  it("names files that are too large or can't be read", async () => {
    const file = join(folder, "large.eml")
    writeFileSync(file, "Subject: x\r\n\r\n".padEnd(5_000_000, "x"))
    const { messages } = await runJson("bounces", "explain", file, join(SAMPLES, "domino.eml"))
    expect(messages).toMatchObject([{ kind: "too_large", rule: null }, { kind: "bounce" }])
    const missing = join(folder, "missing.eml")
    expect(await runFailing("bounces", "explain", missing)).toMatchObject({ code: "unusable_file", file: missing })
    expect(await runFailing("bounces", "explain")).toMatchObject({ code: "no_messages" })
  })
})
