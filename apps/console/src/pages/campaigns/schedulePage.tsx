import { countUnsent, type Scheduling, TRANSITIONS } from "@outreach/domain/campaigns/Campaign"
import { CampaignNotInStatus } from "@outreach/domain/campaigns/CampaignErrors"
import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import { scheduleCampaign } from "@outreach/domain/campaigns/Campaigns"
import { FollowUpRepository } from "@outreach/domain/campaigns/FollowUpRepository"
import { checkCampaign } from "@outreach/domain/campaigns/Preflights"
import { ForcedChecks, failedChecks } from "@outreach/domain/campaigns/preflight"
import { toUnixMillis } from "@outreach/domain/Timestamp"
import { Effect } from "effect"
import { formatCount } from "../../components/format.ts"
import { ActionForm, CheckBox } from "../../components/forms.tsx"
import { Facts, LinkLine, Page } from "../../components/layout.tsx"
import { foreign, Time } from "../../components/values.tsx"
import { defineAction, definePage } from "../../http/Route.ts"
import { PreflightList } from "./PreflightList.tsx"
import { WindowBar } from "./WindowBar.tsx"

const WORDS = {
  schedule: { title: "Schedule", notice: "Scheduled: its recipients are published, and sent to in the window." },
  resume: { title: "Resume", notice: "Resumed: it sends again within seconds." },
} as const

const routesOf = (command: Scheduling) => {
  const action = defineAction(`/campaigns/:campaign/${command}`, `campaigns ${command}`, {
    role: "operator",
    inputs: { force: ForcedChecks },
    run: ({ campaign, force = [] }) => Effect.as(scheduleCampaign(campaign, { command, force }), WORDS[command].notice),
  })
  const page = definePage(`/campaigns/:campaign/${command}`, {
    role: "operator",
    run: Effect.fnUntraced(function* ({ campaign: campaignId }, { now }) {
      const repository = yield* CampaignRepository
      const campaign = yield* repository.find(campaignId)
      const { status, organizationId, subject, name, windowStart } = campaign
      const { from: wanted } = TRANSITIONS[command]
      const title = foreign`${WORDS[command].title} ${name}?`
      if (!wanted.some((each) => each === status)) {
        const { message } = new CampaignNotInStatus({ campaignId, status, wanted })
        return (
          <Page title={title} commands={[`ops campaigns show ${campaignId}`]}>
            <p class="empty">{message}</p>
          </Page>
        )
      }
      const { progress, followUp, checks } = yield* Effect.all({
        progress: repository.progress(campaignId),
        followUp: (yield* FollowUpRepository).find({ organizationId, campaignId }),
        checks: checkCampaign(campaignId),
      })
      const failed = failedChecks(checks)
      const force = failed.length === 0 ? "" : ` --force ${failed.join(",")}`
      const emails = `${formatCount(countUnsent(progress))} of ${formatCount(progress.recipients)} recipients`
      return (
        <Page
          title={title}
          commands={[`ops campaigns preflight ${campaignId}`, `ops campaigns ${command} ${campaignId}${force}`]}
        >
          <Facts
            facts={{
              "Is sent to": followUp === undefined ? emails : "recipients who are drawn shortly before the window",
              "Sending begins": toUnixMillis(windowStart) <= now ? "at once" : <Time at={windowStart} />,
              "Window (UTC)": <WindowBar {...campaign} />,
              Subject: subject,
            }}
          />
          <ActionForm
            action={action}
            params={{ campaign: campaignId }}
            label={WORDS[command].title}
            isDangerous={failed.length > 0}
          >
            {checks
              .filter(({ status }) => status === "failed")
              .map(({ check, found }) => (
                <CheckBox
                  key={check}
                  name="force"
                  value={check}
                  label={foreign`In spite of ${check.replaceAll("_", " ")}: ${found}`}
                />
              ))}
          </ActionForm>
          {failed.length > 0 && <p class="problem">Failed checks keep it from being sent, unless you tick each.</p>}
          <PreflightList checks={checks} organizationId={organizationId} />
          <LinkLine to={`/campaigns/${campaignId}`}>Back to the campaign</LinkLine>
        </Page>
      )
    }),
  })
  return [page, action] as const
}

/** Asks before a campaign is scheduled or resumed, with what preflight finds, and does it. */
export const scheduleRoutes = [...routesOf("schedule"), ...routesOf("resume")] as const
