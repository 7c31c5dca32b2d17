import { draftSteps, type PreflightFacts, preflight, STEPS } from "@outreach/domain/campaigns/preflight"
import type { CampaignId, OrganizationId, ProgramId, SenderId } from "@outreach/domain/Identifier"
import { fromUnixMillis } from "@outreach/domain/Timestamp"
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import type { Ramp } from "../../src/senders/Sender.ts"

const NOW = Date.parse("2026-11-23T08:00:00Z")
const at = (minutes: number) => fromUnixMillis(NOW + minutes * 60_000)
const progress = {
  ...{ recipients: 1000, published: 0, queued: 0, deferred: 0, unknown: 0, quarantined: 0, withdrawn: 0, sent: 0 },
  ...{ sentInLastMinute: 0, bounced: 0, refusedLater: 0, complained: 0, unsubscribed: 0, answered: 0 },
}
const campaign: PreflightFacts["campaign"] = {
  id: "cmp_1" as CampaignId,
  organizationId: "org_1" as OrganizationId,
  programId: "pgm_1" as ProgramId,
  kind: "traffic",
  status: "draft",
  perMinute: 100,
  windowStart: at(60),
  windowEnd: at(120),
  testedAt: at(-1),
}
const sender = { id: "snd_1" as SenderId, fromAddress: "outreach@acme.test", ramp: null }
const READY: PreflightFacts = {
  campaign,
  program: { id: "pgm_1" as ProgramId, status: "active", learnerTarget: null, completerTarget: null },
  progress,
  livemode: true,
  publicBaseUrl: "https://outreach.test",
  invalid: undefined,
  unrendered: undefined,
  missing: [],
  sender,
  isSigned: true,
  waitingSenderId: null,
  completers: 0,
  endpoints: { enabled: 1, disabled: 0, failing: 0 },
  unsigned: 0,
  now: NOW,
}

/** Returns the failed checks with their status. Only these have advice, with a command. */
const troubles = (facts: Partial<PreflightFacts>) => {
  const failed = preflight({ ...READY, ...facts }).filter(({ status, advice, command }) => {
    expect([advice === null, command === undefined]).toEqual([status === "ok", status === "ok"])
    return status !== "ok"
  })
  return Object.fromEntries(failed.map(({ check, status }) => [check, status]))
}

describe("preflight", () => {
  it("finds all in order where it is, and names each check", () => {
    expect(troubles({})).toEqual({})
    expect(preflight(READY).map(({ check }) => check)).toEqual([
      ...["recipients", "suppressed", "window", "rate", "sender", "template", "fields", "unsubscribe"],
      ...["public_base_url", "postal_address", "test", "program", "quota", "endpoint", "signing_secret"],
    ])
  })

  it.each<readonly [string, Partial<PreflightFacts>, Record<string, string>]>([
    ["nobody is imported", { progress: { ...progress, recipients: 0 } }, { recipients: "failed" }],
    [
      "all recipients are withdrawn",
      { progress: { ...progress, withdrawn: 1000 } },
      { recipients: "failed", suppressed: "warning" },
    ],
    ["a few recipients are withdrawn", { progress: { ...progress, withdrawn: 20 } }, {}],
    ["a template doesn't render", { invalid: { part: "html", reason: "it names nobody" } }, { template: "failed" }],
    ["a recipient lacks a field", { unrendered: "the html lacks the field x" }, { fields: "failed" }],
    ["no test message was sent", { campaign: { ...campaign, testedAt: null } }, { test: "warning" }],
    [
      "the window of a paused campaign is over",
      { campaign: { ...campaign, status: "paused", perMinute: null, windowEnd: at(-1) } },
      { window: "failed" },
    ],
    ["the window is over", { campaign: { ...campaign, perMinute: null, windowEnd: at(-1) } }, { window: "failed" }],
    ["the window has begun", { campaign: { ...campaign, windowStart: at(-1) } }, { window: "warning" }],
    ["the campaign sends already", { campaign: { ...campaign, status: "sending", windowStart: at(-1) } }, {}],
    ["the campaign is over", { campaign: { ...campaign, status: "cancelled" } }, { window: "warning" }],
    ["the rate is too low for the window", { campaign: { ...campaign, perMinute: 16 } }, { rate: "failed" }],
    ["the rate barely suffices", { campaign: { ...campaign, perMinute: 17 } }, { rate: "warning" }],
    ["there is no rate", { campaign: { ...campaign, perMinute: null } }, {}],
    [
      "the sender's ramp allows less",
      { sender: { ...sender, ramp: { daily: "200,400" as Ramp, day: 1, sentToday: 0, allowedToday: 200 } } },
      { rate: "warning" },
    ],
    [
      "the sender's ramp ends within the window",
      {
        campaign: { ...campaign, windowEnd: at(60 + 2880) },
        sender: { ...sender, ramp: { daily: "200" as Ramp, day: 1, sentToday: 0, allowedToday: 200 } },
      },
      {},
    ],
    ["a sender is not live", { sender: null, waitingSenderId: "snd_2" }, { sender: "warning" }],
    ["no key signs", { isSigned: false }, { sender: "failed" }],
    ["the deployment's own sender signs nothing", { sender: null, isSigned: false }, { sender: "warning" }],
    ["the deployment's own sender is not known", { sender: null, isSigned: null }, { sender: "warning" }],
    ["the deployment's own sender signs", { sender: null }, {}],
    [
      "the e-mail lacks what the law asks for",
      { missing: ["unsubscribeUrl", "postalAddress"] },
      { unsubscribe: "failed", postal_address: "failed" },
    ],
    ["links do not lead to https", { publicBaseUrl: "http://outreach.test" }, { public_base_url: "failed" }],
    ["links do not lead to https in a test deployment", { livemode: false, publicBaseUrl: "http://x.test" }, {}],
    ["the process does not know where links lead", { publicBaseUrl: null }, { public_base_url: "warning" }],
    ["the program is archived", { program: { ...READY.program, status: "archived" } }, { program: "failed" }],
    ["the program is paused", { program: { ...READY.program, status: "paused" } }, { program: "warning" }],
    [
      "only the target of learners is reached",
      { program: { ...READY.program, learnerTarget: 500 }, completers: 600 },
      {},
    ],
    ["the quota is reached", { program: { ...READY.program, completerTarget: 5 }, completers: 5 }, { quota: "failed" }],
    [
      "the quota is nearly reached",
      { program: { ...READY.program, completerTarget: 500 }, completers: 490 },
      { quota: "warning" },
    ],
    [
      "there is no endpoint",
      { endpoints: { enabled: 0, disabled: 1, failing: 0 }, unsigned: 0 },
      { endpoint: "warning" },
    ],
    ["an endpoint fails", { endpoints: { enabled: 2, disabled: 0, failing: 1 } }, { endpoint: "warning" }],
    ["no secret signs for an endpoint", { unsigned: 1 }, { signing_secret: "failed" }],
    [
      "a survey forwards nothing",
      {
        campaign: { ...campaign, kind: "survey" },
        endpoints: { enabled: 0, disabled: 0, failing: 0 },
        unsigned: 0,
      },
      {},
    ],
  ])("says what is wrong when %s", (_, facts, expected) => {
    expect(troubles(facts)).toEqual(expected)
  })

  it.each<readonly [next: string, command: string, facts: Partial<PreflightFacts>]>([
    ["recipients", "recipients import list.csv --campaign cmp_1", { progress: { ...progress, recipients: 0 } }],
    ["email", "campaigns update cmp_1 --html mail.html", { missing: ["unsubscribeUrl"] }],
    [
      "email",
      "campaigns update cmp_1 --window-start … --window-end …",
      { campaign: { ...campaign, perMinute: null, windowEnd: at(-1) } },
    ],
    ["sender", "senders rotate-dkim snd_1", { isSigned: false, campaign: { ...campaign, testedAt: null } }],
    ["test", "campaigns test cmp_1 --to me@acme.example", { campaign: { ...campaign, testedAt: null } }],
    ["schedule", "secrets rotate --organization org_1", { unsigned: 1 }],
    ["schedule", "campaigns schedule cmp_1", {}],
  ])("leads a draft to the step %s by ops %s", (step, command, facts) => {
    const steps = draftSteps("cmp_1", preflight({ ...READY, ...facts }))
    const next = steps.filter(({ isNext }) => isNext)
    expect(next.map((each) => [each.step, each.command.join(" ")])).toEqual([[step, command]])
    expect(steps.flatMap(({ step }) => STEPS[step]).sort()).toEqual(
      preflight(READY)
        .map(({ check }) => check)
        .sort(),
    )
  })

  it("names a rate that suffices where the given one does not", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 2_000_000 }),
        fc.integer({ min: 1, max: 100_000 }),
        (recipients, perMinute) => {
          const facts = { ...READY, progress: { ...progress, recipients } }
          const rate = (per: number) =>
            preflight({ ...facts, campaign: { ...campaign, perMinute: per } }).find(({ check }) => check === "rate")!
          const named = /to ([\d,]+) a minute/.exec(rate(perMinute).advice ?? "")?.[1]
          if (named !== undefined) expect(rate(Number(named.replaceAll(",", ""))).status).not.toBe("failed")
          expect(rate(perMinute).status === "failed").toBe(recipients > perMinute * 60)
        },
      ),
    )
  })
})
