import { type Command, countUnsent, type Scheduling, TRANSITIONS } from "@outreach/domain/campaigns/Campaign"
import { CampaignNotInStatus } from "@outreach/domain/campaigns/CampaignErrors"
import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import { commandCampaign, scheduleCampaign } from "@outreach/domain/campaigns/Campaigns"
import { FollowUpRepository } from "@outreach/domain/campaigns/FollowUpRepository"
import { checkCampaign } from "@outreach/domain/campaigns/Preflights"
import { ForcedChecks, failedChecks } from "@outreach/domain/campaigns/preflight"
import type { CampaignId } from "@outreach/domain/Identifier"
import type { StaffRole } from "@outreach/domain/operators/Operator"
import { toUnixMillis } from "@outreach/domain/Timestamp"
import { Effect } from "effect"
import { flagsOf, formatCount, formatCounted } from "../../components/format.ts"
import { foreign, IdLink, Time } from "../../components/values.tsx"
import { defineConfirmation } from "../../http/defineConfirmation.tsx"
import { reason } from "../suppressions/suppressionActions.ts"
import { PreflightList } from "./PreflightList.tsx"
import { WindowBar } from "./WindowBar.tsx"

const TITLES = { schedule: "Schedule", resume: "Resume", pause: "Pause", cancel: "Cancel" } as const

/** Reads what is asked before any command: how many recipients are without their e-mail, and whose they are. */
const askAbout = Effect.fnUntraced(function* (id: CampaignId, command: Command) {
  const repository = yield* CampaignRepository
  const campaign = yield* repository.find(id)
  const { status, organizationId, name } = campaign
  const question = {
    title: foreign`${TITLES[command]} ${name}?`,
    label: TITLES[command],
    back: `/campaigns/${id}`,
    commands: [`ops campaigns show ${id}`],
  }
  const { from: wanted } = TRANSITIONS[command]
  if (!wanted.some((each) => each === status)) {
    return { ...question, obstacle: new CampaignNotInStatus({ campaignId: id, status, wanted }).message }
  }
  const progress = yield* repository.progress(id)
  const { program } = (yield* repository.summaries(organizationId, [id])).get(id)!
  const isFollowUp = (yield* (yield* FollowUpRepository).find({ organizationId, campaignId: id })) !== undefined
  const recipients = `${formatCount(countUnsent(progress))} of ${formatCounted(progress.recipients, "recipient")}`
  return {
    ...question,
    campaign,
    many: isFollowUp && progress.recipients === 0 ? "Those who are drawn shortly before the window" : recipients,
    whom: (
      <>
        Recipients of <IdLink id={id}>{name}</IdLink>, in the program <IdLink id={program.id}>{program.name}</IdLink>
      </>
    ),
  }
})

const launching = (command: Scheduling, notice: string) =>
  defineConfirmation(`/campaigns/:campaign/${command}`, `campaigns ${command}`, {
    // Its checks ask name servers.
    isConsistent: false,
    role: "operator",
    inputs: { force: ForcedChecks },
    ask: Effect.fnUntraced(function* ({ campaign: id }, { now }) {
      const asked = yield* askAbout(id, command)
      if ("obstacle" in asked) return asked
      const { organizationId, name, subject, windowStart } = asked.campaign
      const checks = yield* checkCampaign(id)
      const failed = failedChecks(checks)
      const found = checks.filter(({ status }) => status === "failed").map(({ found }) => found)
      return {
        ...asked,
        commands: [`ops campaigns preflight ${id}`, `ops campaigns ${command} ${id}${flagsOf({ force: failed })}`],
        when: toUnixMillis(windowStart) <= now ? "Immediately" : <Time at={windowStart} />,
        facts: { "Window (UTC)": <WindowBar {...asked.campaign} />, Subject: subject },
        hidden: { force: failed },
        typed:
          failed.length === 0
            ? undefined
            : {
                word: name,
                because: foreign`It is not ready: ${found.join(" ")} Type its name to send it all the same.`,
              },
        children: <PreflightList checks={checks} organizationId={organizationId} />,
      }
    }),
    run: ({ campaign, force = [] }) => Effect.as(scheduleCampaign(campaign, { command, force }), notice),
  })

const stopping = (
  command: Exclude<Command, Scheduling>,
  role: StaffRole,
  words: { readonly notice: string; readonly label?: string; readonly because?: string },
) =>
  defineConfirmation(`/campaigns/:campaign/${command}`, `campaigns ${command}`, {
    role,
    inputs: { reason },
    ask: Effect.fnUntraced(function* ({ campaign: id }) {
      const asked = yield* askAbout(id, command)
      if ("obstacle" in asked) return asked
      const { because, label = asked.label } = words
      return {
        ...asked,
        label,
        commands: [`ops campaigns ${command} ${id} --reason "…"`],
        when: "Immediately. Messages in flight are still sent.",
        typed: because === undefined ? undefined : { word: asked.campaign.name, because },
      }
    }),
    run: ({ campaign, reason }, { operator }) =>
      Effect.as(commandCampaign(campaign, command, { stoppedBy: operator.name, stopReason: reason }), words.notice),
  })

export const scheduleRoutes = launching(
  "schedule",
  "Scheduled: its recipients are published, and sent to in the window.",
)
export const resumeRoutes = launching("resume", "Resumed: it sends again within seconds.")
export const pauseRoutes = stopping("pause", "operator", { notice: "Paused. Messages in flight are still sent." })
export const cancelRoutes = stopping("cancel", "admin", {
  notice: "Cancelled for good. What was sent stays sent.",
  label: "Cancel for good",
  because: "A cancelled campaign never goes on: these recipients never get their e-mail. What was sent stays sent.",
})
