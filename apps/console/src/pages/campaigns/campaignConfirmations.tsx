import { formatCount, formatCounted } from "@outreach/backoffice/format"
import { type Command, countUnsent, type Scheduling, TRANSITIONS } from "@outreach/domain/campaigns/Campaign"
import { CampaignNotInStatus } from "@outreach/domain/campaigns/CampaignErrors"
import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import { commandCampaign, scheduleCampaign } from "@outreach/domain/campaigns/Campaigns"
import { checkCampaign } from "@outreach/domain/campaigns/Preflights"
import { ForcedChecks, failedChecks } from "@outreach/domain/campaigns/preflight"
import type { CampaignId } from "@outreach/domain/Identifier"
import { toUnixMillis } from "@outreach/domain/Timestamp"
import { Effect } from "effect"
import { ops } from "../../components/ops.ts"
import { foreign, IdLink, Time } from "../../components/values.tsx"
import { defineConfirmation } from "../../http/defineConfirmation.tsx"
import { defineAction } from "../../http/Route.ts"
import { reason } from "../suppressions/suppressionActions.ts"
import { PreflightList } from "./PreflightList.tsx"
import { SendingWindow } from "./SendingWindow.tsx"

const TITLES = { schedule: "Schedule", resume: "Resume", pause: "Pause", cancel: "Cancel" } as const

/** Reads the counts for each confirmation: the recipients without an e-mail, and their organization. */
const askAbout = Effect.fnUntraced(function* (id: CampaignId, command: Command) {
  const repository = yield* CampaignRepository
  const campaign = yield* repository.find(id)
  const { status, organizationId, name } = campaign
  const question = {
    title: foreign`${TITLES[command]} ${name}?`,
    label: TITLES[command],
    back: `/campaigns/${id}`,
    commands: [ops("campaigns show", id)],
  }
  const { from: wanted } = TRANSITIONS[command]
  if (!wanted.some((each) => each === status)) {
    return { ...question, obstacle: new CampaignNotInStatus({ campaignId: id, status, wanted }).message }
  }
  const progress = yield* repository.progress(id)
  const { program } = (yield* repository.summaries(organizationId, [id])).get(id)!
  return {
    ...question,
    campaign,
    many: `${formatCount(countUnsent(progress))} of ${formatCounted(progress.recipients, "recipient")}`,
    whom: (
      <>
        Recipients of <IdLink id={id}>{name}</IdLink>, in the program <IdLink id={program.id}>{program.name}</IdLink>
      </>
    ),
  }
})

const launching = (command: Scheduling, notice: string) =>
  defineConfirmation(`/campaigns/:campaign/${command}`, `campaigns ${command}`, {
    // Its checks query name servers.
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
        commands: [ops("campaigns preflight", id), ops(`campaigns ${command}`, id, { force: failed })],
        when: toUnixMillis(windowStart) <= now ? "Immediately" : <Time at={windowStart} />,
        facts: { Window: <SendingWindow {...asked.campaign} />, Subject: subject },
        hidden: { force: failed },
        typed:
          failed.length === 0
            ? undefined
            : {
                word: name,
                because: foreign`Preflight checks failed: ${found.join(" ")} Type the campaign's name to send it anyway.`,
              },
        children: <PreflightList checks={checks} organizationId={organizationId} />,
      }
    }),
    run: ({ campaign, force = [] }) => Effect.as(scheduleCampaign(campaign, { command, force }), notice),
  })

export const scheduleRoutes = launching(
  "schedule",
  "Scheduled. Its recipients are published and get the e-mail in the window.",
)
export const resumeRoutes = launching("resume", "Resumed. Sending continues within seconds.")

/** Pausing can be undone, so its form is on the campaign's page. */
export const pauseCampaign = defineAction("/campaigns/:campaign/pause", "campaigns pause", {
  role: "operator",
  inputs: { reason },
  run: ({ campaign, reason }, { operator }) =>
    Effect.as(
      commandCampaign(campaign, "pause", { stoppedBy: operator.name, stopReason: reason }),
      "Paused. Messages in progress are still sent.",
    ),
})

export const cancelRoutes = defineConfirmation("/campaigns/:campaign/cancel", "campaigns cancel", {
  role: "admin",
  inputs: { reason },
  ask: Effect.fnUntraced(function* ({ campaign: id }) {
    const asked = yield* askAbout(id, "cancel")
    if ("obstacle" in asked) return asked
    return {
      ...asked,
      label: "Cancel permanently",
      commands: [ops("campaigns cancel", id, { reason: "…" })],
      when: "Immediately. Messages in progress are still sent.",
      typed: {
        word: asked.campaign.name,
        because: "You can't resume a cancelled campaign. These recipients don't get the e-mail.",
      },
    }
  }),
  run: ({ campaign, reason }, { operator }) =>
    Effect.as(
      commandCampaign(campaign, "cancel", { stoppedBy: operator.name, stopReason: reason }),
      "Cancelled. The remaining recipients don't get the e-mail.",
    ),
})
