import { Struct } from "effect"
import type { SenderDetail } from "../mail/templates/findHiddenDetails.ts"
import type { TemplatePart } from "../mail/templates/Template.ts"
import { type Finding, failed, ok, warning } from "../operators/Finding.ts"
import { type Program, WHEN_REACHED } from "../programs/Program.ts"
import type { Sender } from "../senders/Sender.ts"
import { minuteOf, toUnixMillis } from "../Timestamp.ts"
import { commaSeparated } from "../textSchema.ts"
import { type Campaign, type CampaignProgress, CLOSED, countUnsent } from "./Campaign.ts"

/** Facts about a campaign before it is sent. */
export interface PreflightFacts {
  readonly campaign: Pick<
    Campaign,
    | ("id" | "kind" | "status" | "programId" | "organizationId")
    | ("perMinute" | "windowStart" | "windowEnd" | "testedAt")
  >
  readonly program: Pick<Program, "id" | "status" | "learnerTarget" | "completerTarget">
  readonly progress: CampaignProgress
  readonly livemode: boolean
  /** Base URL of the links in e-mails; null if unknown. */
  readonly publicBaseUrl: string | null
  /** The first template that doesn't render; undefined if all do. */
  readonly invalid: { readonly part: TemplatePart; readonly reason: string } | undefined
  /** Why the e-mail to one of the first imported recipients doesn't render; undefined if all do. */
  readonly unrendered: string | undefined
  /** Details that the e-mail doesn't show. */
  readonly missing: ReadonlyArray<SenderDetail>
  /** The sender with verified DNS records; null for the deployment's own. */
  readonly sender: Pick<Sender, "id" | "fromAddress" | "ramp"> | null
  /** Whether the sender's messages are signed; null if unknown, for the deployment's own. */
  readonly isSigned: boolean | null
  /** A sender that isn't live yet, so that another one is used; null if there is none. */
  readonly waitingSenderId: string | null
  readonly completers: number
  readonly endpoints: Readonly<Record<"enabled" | "disabled" | "failing", number>>
  /** Number of enabled endpoints without a signing secret. */
  readonly unsigned: number
  /** Unix milliseconds. */
  readonly now: number
}

/** Commands of the steps from a draft to a scheduled campaign. */
const COMMANDS = {
  recipients: (id) => ["recipients", "import", "list.csv", "--campaign", id],
  email: (id) => ["campaigns", "update", id, "--html", "mail.html"],
  sender: () => ["senders", "list"],
  test: (id) => ["campaigns", "test", id, "--to", "me@acme.example"],
  schedule: (id) => ["campaigns", "schedule", id],
} satisfies Readonly<Record<string, (id: string) => ReadonlyArray<string>>>
type StepName = keyof typeof COMMANDS

const commandOf = (step: StepName, id: string) => COMMANDS[step](id)

/** Checks before a campaign is sent, in display order. */
const CHECKS = {
  recipients: ({ campaign: { id, programId }, progress: { recipients, withdrawn } }) => {
    if (recipients === 0) return failed("No recipient is imported.", "Import recipients.", commandOf("recipients", id))
    return withdrawn === recipients
      ? failed(
          `All ${countNoun(recipients, "recipient")} are withdrawn, so no e-mails are sent.`,
          "Check the suppressions.",
          ["suppressions", "list", "--program", programId],
        )
      : ok(`${countNoun(recipients, "recipient")}.`)
  },

  suppressed: ({ campaign, progress: { recipients, withdrawn } }) => {
    if (withdrawn === 0) return ok("No recipient is withdrawn.")
    const found = `${countNoun(withdrawn, "recipient")} withdrawn: suppressed, qualified already, or erased.`
    return withdrawn * 2 < recipients
      ? ok(found)
      : warning(found, "More than half of the list is left out. Check that it is the right list.", [
          ...["suppressions", "list", "--program", campaign.programId],
        ])
  },

  window: ({ campaign: { id, status, windowStart, windowEnd }, now }) => {
    const duplicate = ["campaigns", "duplicate", id]
    if (CLOSED.includes(status)) return warning(`The campaign is ${status}.`, "Duplicate it.", duplicate)
    if (toUnixMillis(windowEnd) <= now) {
      const found = `The window ended at ${minuteOf(windowEnd)}.`
      return status === "draft"
        ? failed(found, "Choose a later window.", [
            "campaigns",
            "update",
            id,
            "--window-start",
            "…",
            "--window-end",
            "…",
          ])
        : failed(found, "Duplicate the campaign, and choose a later window.", duplicate)
    }
    if (status === "sending") return ok(`The window is open until ${minuteOf(windowEnd)}.`)
    return toUnixMillis(windowStart) <= now
      ? warning(
          `The window started at ${minuteOf(windowStart)}.`,
          "Sending starts when the campaign is published.",
          commandOf("schedule", id),
        )
      : ok(`The window starts at ${minuteOf(windowStart)}.`)
  },

  rate: ({ campaign, progress, sender, now }) => {
    const unsent = countUnsent(progress)
    const minutes = minutesToSend(campaign, now)
    const ramp = sender?.ramp ?? null
    const days = Math.max(1, Math.ceil(minutes / 1440))
    const allowedByRamp =
      ramp === null || ramp.allowedToday === null ? Number.POSITIVE_INFINITY : rampAllows(ramp, days)
    if (allowedByRamp < unsent) {
      return warning(
        `The ramp of the sender allows about ${numbers.format(allowedByRamp)} of ${countNoun(unsent, "e-mail")} in the window.`,
        "Give the campaign a longer window, or the sender another ramp.",
        sender === null ? undefined : ["senders", "update", sender.id, "--ramp", "…"],
      )
    }
    const { perMinute } = campaign
    if (perMinute === null) return ok("No rate limit for this campaign.")
    const needed = Math.ceil(unsent / perMinute)
    const found = `${numbers.format(perMinute)} a minute: ${countNoun(unsent, "e-mail")} take ${duration(needed)} of ${duration(minutes)}.`
    const enough = Math.ceil(unsent / Math.max(1, minutes))
    const advice = `Raise the rate to ${numbers.format(enough)} a minute, or give the campaign a longer window.`
    const command = ["campaigns", "update", campaign.id, "--per-minute", String(enough)]
    if (minutes > 0 && needed > minutes) return failed(found, advice, command)
    return needed > minutes * 0.8 ? warning(found, advice, command) : ok(found)
  },

  sender: ({ campaign: { organizationId }, sender, isSigned, waitingSenderId }) => {
    if (waitingSenderId !== null) {
      return warning(
        `The sender ${waitingSenderId} is not live: its DNS records were not found yet. E-mails are sent by another sender until then.`,
        "Publish its records, then verify it.",
        ["senders", "verify", waitingSenderId],
      )
    }
    if (sender !== null) {
      const advice = "Create a key, publish its record, then verify the sender."
      return isSigned === true
        ? ok(`Sent as ${sender.fromAddress} of ${sender.id}, signed; its DNS records were found.`)
        : failed(`No key signs for ${sender.id}.`, advice, ["senders", "rotate-dkim", sender.id])
    }
    if (isSigned === null) {
      return warning(
        "Sent as the deployment's own sender, MAIL_FROM, with a key that this process doesn't know.",
        "Check the settings of the worker on its machine.",
        ["doctor"],
      )
    }
    return isSigned
      ? ok(
          "Sent as the deployment's own sender, MAIL_FROM, signed. The checks of the deployment look up its DNS records.",
        )
      : warning(
          "Sent as the deployment's own sender, MAIL_FROM, without a DKIM signature.",
          "Set DKIM_KEY or add a sender. Large receivers reject unsigned bulk mail.",
          ["senders", "create", "--organization", organizationId, "--from", "…"],
        )
  },

  template: ({ campaign: { id }, invalid }) =>
    invalid === undefined
      ? ok("The templates render.")
      : failed(
          `The ${invalid.part} is not a valid template: ${invalid.reason}.`,
          "Correct it.",
          commandOf("email", id),
        ),

  fields: ({ campaign: { id }, unrendered }) =>
    unrendered === undefined
      ? ok("The e-mail renders with the fields of the recipients.")
      : failed(
          `The e-mail does not render for some recipients: ${unrendered}.`,
          "Import their lines again with the fields of the e-mail, or edit it.",
          commandOf("recipients", id),
        ),

  unsubscribe: ({ campaign: { id }, missing }) =>
    missing.includes("unsubscribeUrl")
      ? failed(
          "The e-mail does not show a link to unsubscribe.",
          "Add {{ unsubscribe_url }} to it.",
          commandOf("email", id),
        )
      : ok("The e-mail shows a link to unsubscribe."),

  public_base_url: (facts) => checkPublicBaseUrl(facts),

  postal_address: ({ missing, program }) => {
    const names = missing.flatMap((detail) =>
      detail === "senderName" ? ["the sender's name"] : detail === "postalAddress" ? ["the postal address"] : [],
    )
    return names.length > 0
      ? failed(
          `The e-mail does not show ${names.join(" and ")}.`,
          "Set both in the program, and name them in the template.",
          ["programs", "update", program.id, "--sender-name", "…", "--postal-address", "…"],
        )
      : ok("The e-mail shows the sender's name and postal address.")
  },

  test: ({ campaign: { id, status, testedAt } }) => {
    if (testedAt !== null) return ok(`A test message was sent at ${minuteOf(testedAt)}.`)
    return status === "draft"
      ? warning("No test message was sent since the last change.", "Send one to yourself.", commandOf("test", id))
      : ok("No test message was sent.")
  },

  program: ({ program: { id, status } }) => {
    const command = ["programs", "update", id, "--status", "active"]
    if (status === "active") return ok("The program is active.")
    return status === "archived"
      ? failed(
          `The program ${id} is archived: the campaign cannot be scheduled.`,
          "Make the program active again.",
          command,
        )
      : warning(`The program ${id} is ${status}.`, "Make it active if e-mails should be sent.", command)
  },

  quota: ({ program: { id, learnerTarget, completerTarget }, completers, progress }) => {
    if (completerTarget === null) {
      return ok(
        learnerTarget === null
          ? "The program has no target, so outreach doesn't stop automatically."
          : `The program has no completer target, so outreach doesn't stop automatically. When its target of ${countNoun(learnerTarget, "learner")} is reached, ${WHEN_REACHED.learner_qualified}.`,
      )
    }
    const left = completerTarget - completers
    const found = `${numbers.format(completers)} of ${countNoun(completerTarget, "completer")}.`
    if (left <= 0)
      return failed(
        `${found} The target is reached: ${WHEN_REACHED.completer_qualified}, and no e-mails are sent.`,
        "Raise the program's target, or leave it.",
        ["programs", "update", id, "--completer-target", "…"],
      )
    return countUnsent(progress) > 0 && left < completerTarget * 0.05
      ? warning(
          `${found} When the target is reached, ${WHEN_REACHED.completer_qualified}.`,
          "Some recipients will probably get no e-mail.",
          ["programs", "update", id, "--completer-target", "…"],
        )
      : ok(found)
  },

  endpoint: ({ campaign: { kind, organizationId }, endpoints: { enabled, disabled, failing } }) => {
    if (kind === "survey") return ok("A survey isn't sent to the partner.")
    if (enabled === 0) {
      return warning(
        disabled > 0
          ? `No webhook endpoint is enabled; ${disabled} disabled.`
          : "The organization has no webhook endpoint.",
        `${disabled > 0 ? "Enable one" : "Add one"}; until then the partner reads events from the feed.`,
        disabled > 0
          ? ["endpoints", "list", "--organization", organizationId]
          : ["endpoints", "create", "--organization", organizationId, "--url", "https://…"],
      )
    }
    return failing > 0
      ? warning(
          `${failing} of ${countNoun(enabled, "enabled endpoint")} failed recently and ${failing === 1 ? "is" : "are"} only probed.`,
          "Check the endpoint's latest failures before you start a campaign.",
          ["endpoints", "list", "--organization", organizationId],
        )
      : ok(`${countNoun(enabled, "endpoint")} enabled, without recent failures.`)
  },

  signing_secret: ({ campaign: { kind, organizationId }, unsigned, endpoints }) => {
    if (kind === "survey" || endpoints.enabled === 0) return ok("No webhooks to sign.")
    return unsigned === 0
      ? ok("A signing secret is active for every enabled endpoint.")
      : failed(
          `No signing secret is active for ${countNoun(unsigned, "enabled endpoint")}.`,
          "Create a secret for the organization, or for the endpoint if it has separate secrets.",
          ["secrets", "rotate", "--organization", organizationId],
        )
  },
} satisfies Readonly<Record<string, (facts: PreflightFacts) => Finding>>

/** Names of overridden checks, separated by commas. */
export const ForcedChecks = commaSeparated(Struct.keys(CHECKS))

/** Result of a check. A failed check means that the campaign couldn't be sent or wouldn't be lawful, and prevents scheduling. */
export interface PreflightCheck extends Finding {
  readonly check: keyof typeof CHECKS
}

export const preflight = (facts: PreflightFacts): ReadonlyArray<PreflightCheck> =>
  Struct.keys(CHECKS).map((check) => ({ check, ...CHECKS[check](facts) }))

/** The checks of each step. */
export const STEPS: Readonly<Record<StepName, ReadonlyArray<keyof typeof CHECKS>>> = {
  recipients: ["recipients", "suppressed", "fields"],
  email: ["template", "unsubscribe", "postal_address", "window", "rate"],
  sender: ["sender", "public_base_url"],
  test: ["test"],
  schedule: ["program", "quota", "endpoint", "signing_secret"],
}

/** A step from a draft to a scheduled campaign, with its most urgent check. */
export interface DraftStep extends Finding {
  readonly step: StepName
  readonly command: ReadonlyArray<string>
  /** A step with a warning is done, except the test message. */
  readonly isDone: boolean
  /** Whether it is the first step that isn't done. */
  readonly isNext: boolean
}

export const draftSteps = (campaignId: string, checks: ReadonlyArray<PreflightCheck>): ReadonlyArray<DraftStep> => {
  let isOpen = true
  return Struct.keys(STEPS).map((step) => {
    const own = checks.filter(({ check }) => STEPS[step].includes(check))
    const urgent = own.find(({ status }) => status === "failed") ?? own.find(({ status }) => status === "warning")
    const { status, found, advice } =
      urgent ?? (step === "schedule" ? ok("Nothing is sent before it is scheduled.") : own[0]!)
    const isDone = step === "test" ? status === "ok" : step !== "schedule" && status !== "failed"
    const isNext = isOpen && !isDone
    isOpen &&= isDone
    return { step, status, found, advice, command: urgent?.command ?? commandOf(step, campaignId), isDone, isNext }
  })
}

export const failedChecks = (checks: ReadonlyArray<PreflightCheck>): ReadonlyArray<PreflightCheck["check"]> =>
  checks.filter(({ status }) => status === "failed").map(({ check }) => check)

/** Checks that links of production e-mails use https, which RFC 8058 (3.1) requires for one-click unsubscription. */
export const checkPublicBaseUrl = (facts: Pick<PreflightFacts, "livemode" | "publicBaseUrl">): Finding => {
  const { livemode, publicBaseUrl } = facts
  if (publicBaseUrl === null) {
    return livemode
      ? warning("PUBLIC_BASE_URL is not set for this process.", "Check the settings of the worker on its machine.", [
          "doctor",
        ])
      : ok("Only production needs an https address in PUBLIC_BASE_URL.")
  }
  if (publicBaseUrl.startsWith("https://")) return ok("Links in e-mails use https.")
  return livemode
    ? failed(
        "PUBLIC_BASE_URL is not an https address, so one-click unsubscription does not work (RFC 8058).",
        "Serve the API over https, and set PUBLIC_BASE_URL to that address in every process.",
        ["doctor"],
      )
    : ok("Links in e-mails use http, which production doesn't allow.")
}

/** Returns the number of minutes in which a campaign can send. */
const minutesToSend = ({ windowStart, windowEnd }: Pick<Campaign, "windowStart" | "windowEnd">, now: number): number =>
  Math.max(0, (toUnixMillis(windowEnd) - Math.max(now, toUnixMillis(windowStart))) / 60_000)

/** Returns the number of messages that a ramp allows in a number of days from today; unlimited after it has ended. */
const rampAllows = ({ daily, day, sentToday }: NonNullable<Sender["ramp"]>, days: number): number => {
  const allowed = daily
    .split(",")
    .map(Number)
    .slice(day - 1)
  if (days > allowed.length) return Number.POSITIVE_INFINITY
  return allowed.slice(0, days).reduce((sum, allowance) => sum + allowance, 0) - (sentToday ?? 0)
}

const duration = (minutes: number): string => {
  if (minutes < 120) return countNoun(Math.ceil(minutes), "minute")
  return minutes < 2880 ? `${Math.ceil(minutes / 60)} hours` : `${Math.ceil(minutes / 1440)} days`
}

const numbers = new Intl.NumberFormat("en-US")

/** Formats a number with its noun, such as `1,200 recipients`. */
const countNoun = (n: number, noun: string): string => `${numbers.format(n)} ${n === 1 ? noun : `${noun}s`}`
