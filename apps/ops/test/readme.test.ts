import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { DeliveryReader } from "@outreach/backoffice/deliveries/DeliveryReader"
import { PrivateEndpointUrl } from "@outreach/domain/deliveries/Endpoint"
import { EndpointRepository } from "@outreach/domain/deliveries/Endpoints"
import type { DeliveryId, EndpointId, OrganizationId } from "@outreach/domain/Identifier"
import { mailServer } from "@outreach/testing/mailServer"
import { applyBatches, receiveEvent } from "@outreach/testing/receiveEvent"
import { npi } from "@outreach/testing/seedCampaign"
import { sql } from "@outreach/testing/sql"
import { temporaryFolder } from "@outreach/testing/temporaryFolder"
import { Context, Effect } from "effect"
import { afterAll, expect, it } from "vitest"
import { Access } from "../src/command.ts"
import { everyCommand } from "../src/everyCommand.ts"
import { loadGroups } from "../src/ops.ts"
import { commandLine } from "./commandLine.ts"
import { partnerServer } from "./partnerServer.ts"
import { publishRecords } from "./publishRecords.ts"
import { rejectDelivery } from "./rejectDelivery.ts"

const { url, run, runJson, meanwhile } = commandLine()

const folder = temporaryFolder("ops-readme", afterAll)

/** The codes of failures that no valid command has. */
const UNEXPECTED = /^(?:usage|internal_error|database_failure|configuration)$/

const readme = readFileSync(new URL("../README.md", import.meta.url), "utf8")
const fences = (language: string): ReadonlyArray<string> =>
  [...readme.matchAll(/^```(\w+)\n(.*?)^```$/gms)].flatMap(([, name, code]) => (name === language ? [code!] : []))
const commands = fences("sh").flatMap((code) => code.replaceAll("\\\n", " ").trim().split("\n"))

it("walks through commands that succeed one after the other, change nothing unconfirmed, and can be repeated", async () => {
  const settings = {
    SMTP_URL: (await mailServer()).url,
    MAIL_FROM: "Acme <outreach@acme.example>",
    WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true",
  }
  const written: Readonly<Record<string, string>> = {
    "headers.txt": "X-Api-Key: 123",
    ...{ "mail.html": fences("html")[0]!, "mail.log": fences("log")[0]!, "bounce.eml": fences("eml")[0]! },
    ...{ "clinicians.csv": fences("csv")[0]!, "accounts.csv": fences("csv")[0]!, "named.csv": fences("csv")[2]! },
  }
  for (const [name, text] of Object.entries(written)) writeFileSync(join(folder, name), text)
  writeFileSync(join(folder, "list.csv"), fences("csv")[1]!, "latin1")
  const names = ["previews", "rejects.csv", "dana.json", "outcomes.csv", "suppressions.csv", "list.csv"]
  const files = Object.fromEntries([...names, ...Object.keys(written)].map((name) => [name, join(folder, name)]))
  // The first printed id of each kind replaces every later `org_…` of that kind.
  const ids = new Map<string, string>()
  const changing = new Set(
    (await everyCommand())
      .filter(({ command }) => Context.getOrUndefined(command.annotations, Access) === "changes")
      .map(({ path }) => path.join(" ")),
  )
  for (const command of commands) {
    if (command.includes(" deliveries list --limit")) await meanwhile(rejectDelivery)
    if (command.includes(" endpoints test")) {
      const url = PrivateEndpointUrl.make((await partnerServer()).url)
      await meanwhile(Effect.flatMap(EndpointRepository, (book) => book.update(ids.get("whe_") as EndpointId, { url })))
    }
    // The event of a test is not stored.
    if (command.endsWith(" events list")) ids.delete("evt_")
    if (command.endsWith(" inbox list")) {
      await meanwhile(quarantineEvent(ids.get("org_") as OrganizationId, ids.get("whe_") as EndpointId))
      // From here on evt_… is a partner's event.
      ids.delete("evt_")
    }
    if (command.includes(" senders verify"))
      files["192.0.2.53"] = await publishRecords(await runJson("senders", "show", ids.get("snd_")!))
    if (command.includes(" link-domains remove")) await meanwhile(keepLinkDomain(ids.get("org_") as OrganizationId))
    const waiting = command.includes(" deliveries retry")
      ? await meanwhile(postponeDelivery(ids.get("dlv_") as DeliveryId))
      : undefined
    const [, ...args] = [...command.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain!)
    const idOf = (prefix: string) => (prefix === "dlv_" && waiting) || ids.get(prefix)
    const known = args.map((arg) => files[arg] ?? arg.replace(/^([a-z]{3}_)…$/, (_, prefix) => idOf(prefix) ?? arg))
    const role = known[0] === "migrate" ? { DATABASE_URL: url() } : {}
    // There are no dead letters to confirm.
    if (known.includes("--yes") && !command.includes(" dead-letters remove")) {
      const unconfirmed = known.filter((word) => word !== "--yes")
      expect({ command, ...(await run(unconfirmed, settings)) }).toEqual({
        ...{ command, code: 1, stdout: "" },
        stderr: expect.stringMatching(
          /^Nothing was done\. Confirm with (?:--confirm \d+, or )?--yes[a-z ]*\. [^\n]+\.\n$/,
        ),
      })
    }
    const { code, stdout, stderr } = await run(known, { ...settings, ...role })
    expect({ command, code, stderr: code === 0 ? "" : stderr }).toEqual({ command, code: 0, stderr: "" })
    const [noun, verb] = known
    if (verb !== "create" && changing.has(`${noun} ${verb}`)) {
      const again = await run([...known, "--output", "json"], settings)
      const failure = again.code === 0 ? undefined : JSON.parse(again.stdout).error
      expect({ command, code: failure?.code ?? "" }).toEqual({ command, code: expect.not.stringMatching(UNEXPECTED) })
      expect(failure?.message ?? "").not.toMatch(/@|\b\d{10}\b/)
    }
    // The recipient in the Message-ID of a test isn't stored either.
    for (const [id, prefix] of stdout.matchAll(/\b([a-z]{3}_)[0-9a-f]{32}\b(?!@)/g)) {
      if (!ids.has(prefix!)) ids.set(prefix!, id)
    }
  }
  expect([...ids.keys()].sort()).toEqual(
    ["aud_", "cmp_", "dlv_", "ers_", "key_", "opr_", "org_", "pgm_", "rcp_", "rpl_", "rst_", "sec_", "snd_", "whe_"]
      .concat("evt_", "fgr_", "imp_")
      .sort(),
  )
})

it("shows every command", async () => {
  const walked = new Set(commands.map((command) => command.split(/ +/).slice(1, 3).join(" ")))
  const missing = (await everyCommand()).filter(({ path }) => path.length > 1 && !walked.has(path.join(" ")))
  expect(missing.map(({ path }) => path.join(" "))).toEqual([])
})

/** Adds a link domain without a sender. */
const keepLinkDomain = (organizationId: OrganizationId) =>
  sql`
    insert into link_domains (organization_id, domain, verified_at)
    values (${organizationId}, 'old.acme.example', clock_timestamp())`

/** Adds a delivery of the same event that waits for its next attempt; returns its id. */
const postponeDelivery = Effect.fnUntraced(function* (deliveryId: DeliveryId) {
  const { delivery } = yield* (yield* DeliveryReader).find(deliveryId)
  const rows = yield* sql<{ id: string }>`
    insert into deliveries (organization_id, endpoint_id, event_id, attempts, due_at)
    values (${delivery.organizationId}, ${delivery.endpointId}, ${delivery.eventId}, 1, now() + interval '1 hour') returning id`
  return rows[0]!.id
})

/** Receives an event about an unknown program, which the service quarantines. */
const quarantineEvent = Effect.fnUntraced(function* (organizationId: OrganizationId, endpointId: EndpointId) {
  yield* receiveEvent(
    { organization: { id: organizationId }, endpoint: { id: endpointId } },
    `evt_${"5e7a51de".repeat(4)}`,
    "clinician.learner_qualified",
    { npi: npi(0), consumer_program_slug: "nowhere" },
  )
  while (yield* applyBatches) {}
})

it("names every command by the grammar of the README", async () => {
  const rows = [
    ...readme
      .split("## The grammar")[1]!
      .split("\n## ")[0]!
      .matchAll(/^\| (`.*?) \|/gm),
  ]
  const verbs = rows.flatMap(([, words]) => [...words!.matchAll(/`([a-z-]+)…?`/g)].map(([, verb]) => verb!))
  const isVerb = (word: string) => verbs.some((verb) => verb === word || (verb.endsWith("-") && word.startsWith(verb)))
  const groups = await loadGroups("")
  const used = groups.flatMap((group) => group.subcommands.flatMap(({ commands }) => commands.map(({ name }) => name)))
  expect(used.filter((word) => !isVerb(word))).toEqual([])
  expect(verbs.filter((verb) => !used.some((word) => word === verb || word.startsWith(verb)))).toEqual([])
  const nouns = groups.flatMap((group) => (group.subcommands.length > 0 ? [group.name] : []))
  expect(nouns.filter((noun) => !noun.endsWith("s") && noun !== "keys-at-rest")).toEqual(["inbox", "audit"])
})
