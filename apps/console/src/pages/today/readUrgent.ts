import { explainUnsent, type SendingState } from "@outreach/backoffice/campaigns/explainUnsent"
import { FailureGroupReader } from "@outreach/backoffice/deliveries/FailureGroupReader"
import { formatCounted, formatShare } from "@outreach/backoffice/format"
import { URGENCY } from "@outreach/backoffice/operations/List"
import { TodayReader } from "@outreach/backoffice/today/TodayReader"
import { complaintLevel, shareOfSent } from "@outreach/domain/campaigns/Campaign"
import type { OrganizationId } from "@outreach/domain/Identifier"
import { type Finding, failed, warning } from "@outreach/domain/operators/Finding"
import type { Timestamp } from "@outreach/domain/Timestamp"
import { FactReader } from "@outreach/postgres/operators/FactReader"
import { Array as Arr, Effect, Order } from "effect"
import { FINDING_TONES, toFinding } from "../../components/Findings.tsx"
import { readObjects } from "../../http/listObjects.ts"
import { isDeploymentWide } from "../../view/paths.ts"

/** Maximum number of issues, endpoints and campaigns that are listed, each. */
const MAX_LISTED = 5

/** A problem with its remedy. */
interface UrgentItem extends Finding {
  readonly page: string
  readonly since?: Timestamp | null
}

/** Reads the problems of the deployment or of one organization, the most urgent first. An alert is omitted if its objects are listed. */
export const readUrgent = Effect.fnUntraced(function* (
  scope: OrganizationId | null,
  sending: ReadonlyArray<SendingState>,
  now: number,
) {
  const { readRefusingDomains, readComplained, readFailingEndpoints } = yield* TodayReader
  const { readAlerts } = yield* FactReader
  const { list } = yield* FailureGroupReader
  const [alerts, groups, failing, complained, domains, { nameOf }] = yield* Effect.all(
    [
      readAlerts(scope),
      list({ organizationId: scope ?? undefined, largest: true }, MAX_LISTED),
      Effect.map(readFailingEndpoints(scope), Arr.take(MAX_LISTED)),
      Effect.map(readComplained(scope), Arr.take(MAX_LISTED)),
      readRefusingDomains(scope),
      readObjects({ endpointId: true }, scope === null ? {} : { organizationId: scope }),
    ],
    { concurrency: "unbounded" },
  )
  const countComplained = (level: string) => complained.filter((counts) => complaintLevel(counts) === level).length
  const listed: Readonly<Record<string, number>> = {
    OutreachDeadLettersLeft: groups.reduce((sum, { open }) => sum + open, 0),
    OutreachEndpointFailing: failing.length,
    OutreachCampaignComplaintsHigh: countComplained("high"),
    OutreachCampaignComplaints: countComplained("raised"),
  }
  const items: ReadonlyArray<UrgentItem> = [
    ...alerts.flatMap((alert) => {
      const { name, value, page = "/system" } = alert
      // An operator of one organization can't open the page.
      const isShown = scope === null || !isDeploymentWide({ path: page })
      return isShown && value > (listed[name] ?? -1) ? [{ ...toFinding(alert, now), page }] : []
    }),
    ...groups.map(({ id, endpointId, cause, open, openedAt, closedAt }) => {
      const left = open > 0 ? `; ${formatCounted(open, "dead letter")}` : ""
      const isOver = closedAt !== null
      const found = `Calls to ${nameOf(endpointId) ?? endpointId} ${isOver ? "failed" : "fail"}: ${cause}${left}.`
      const finding = isOver
        ? warning(found, "Replay the dead letters, or remove them.")
        : failed(found, "Tell the partner. A test event shows whether it is fixed.")
      return { ...finding, page: `/issues/${id}`, since: openedAt }
    }),
    ...failing.map(({ id, url, organizationId, failingSince: since, disabledAt, hasContacts }) => {
      const found = `${url} ${disabledAt === null ? "has failed for a day" : "was disabled, because it failed for days"}.`
      const finding = hasContacts
        ? warning(found, "Its contacts are notified. Enabling it shows the missed events.")
        : failed(found, "No one is notified.", ["organizations", "update", organizationId])
      return { ...finding, page: `/endpoints/${id}`, since }
    }),
    ...complained.map(({ campaignId, campaign, status, ...counts }) => {
      const share = formatShare(shareOfSent(counts.complained, counts), 2)
      const found = `${campaign} (${status}) was reported as spam by ${share} of its recipients in the last seven days.`
      const finding =
        complaintLevel(counts) === "high"
          ? failed(found, "Pause it, before mailbox providers reject all your e-mails.")
          : warning(found, "Ask where its addresses come from.")
      return { ...finding, page: `/campaigns/${campaignId}` }
    }),
    ...sending.flatMap((state) => {
      const cause = explainUnsent(state, now)
      const page = `/campaigns/${state.id}`
      return cause === null ? [] : [{ ...cause, found: `${state.name}: ${cause.found}`, page, since: state.stoppedAt }]
    }),
    ...Object.values(Arr.groupBy(domains, ({ campaignId }) => campaignId)).map((all) => {
      const found = `${all.map(({ domain }) => domain).join(", ")}: rejects e-mails of ${all[0].campaign}.`
      const advice = "Sending resumes automatically. The campaign shows the replies."
      return { ...warning(found, advice), page: `/campaigns/${all[0].campaignId}#domains` }
    }),
  ]
  const problems = items.filter(({ status }) => status === "failed" || status === "warning")
  return Arr.sortWith(problems, ({ status }) => URGENCY[FINDING_TONES[status]], Order.Number)
})
