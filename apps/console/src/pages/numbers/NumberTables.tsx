import { formatCount, formatShare } from "@outreach/backoffice/format"
import type {
  BouncedDomain,
  Grouping,
  NumberName,
  Numbers,
  NumbersFilter,
  NumbersGroup,
  Period,
} from "@outreach/backoffice/numbers/NumbersReader"
import { addDays } from "@outreach/domain/digest/DateRange"
import type { CampaignId } from "@outreach/domain/Identifier"
import type { ComponentChildren } from "preact"
import { Table, withQuery } from "../../components/layout.tsx"
import { IdLink, Noted, Time } from "../../components/values.tsx"
import { recipientsOf } from "../campaigns/campaignsPages.tsx"
import { describeBounces } from "../campaigns/DomainTable.tsx"

const EVENTS = "/events?type=outreach."
const APPLIED = "/inbox?applied=yes&type=clinician."

/** Label of each number, its list of a campaign's recipients, and its list for a period. */
const NUMBERS = {
  published: ["Published", "published", `${EVENTS}recipients_published`],
  sent: ["Sent", "sent", `${EVENTS}email_sent`],
  bounced: ["Bounced", "bounced", `${EVENTS}email_bounced`],
  unsuspectedOpened: ["Opened", "opened", `${EVENTS}email_opened`],
  opened: ["Opened, with suspected bots", "opened_with_bots", `${EVENTS}email_opened`],
  unsuspectedClicked: ["Clicked", "clicked", `${EVENTS}email_clicked`],
  clicked: ["Clicked, with suspected bots", "clicked_with_bots", `${EVENTS}email_clicked`],
  accounts: ["Accounts", "account_created", `${APPLIED}account_created`],
  learners: ["Learners", "learner_qualified", `${APPLIED}learner_qualified`],
  completers: ["Completers", "completer_qualified", `${APPLIED}completer_qualified`],
  complained: ["Complaints", "complained", "/suppressions?reason=complained"],
  unsubscribed: ["Unsubscribed", "unsubscribed", "/suppressions?reason=unsubscribed"],
} as const satisfies Readonly<Record<NumberName, readonly [title: string, outcome: string, list: string]>>

const SHOWN = Object.keys(NUMBERS) as ReadonlyArray<NumberName>
/** The numbers in brackets after another one, because separate columns would make the table too wide. */
const WITH_BOTS: Partial<Record<NumberName, NumberName>> = {
  unsuspectedOpened: "opened",
  unsuspectedClicked: "clicked",
}

/** The numbers that are also shown as a share of the sent e-mails. */
const RATES: ReadonlyArray<NumberName> = [
  "bounced",
  "unsuspectedOpened",
  "unsuspectedClicked",
  "complained",
  "unsubscribed",
]

interface Scope extends NumbersFilter {
  readonly campaignId?: CampaignId | null
}

/** A number with a link to its list. The log of events has no programs, so a program's number links to its campaigns. */
const NumberLink = (props: {
  readonly of: NumberName
  readonly count: number
  readonly period: Period
  readonly scope: Scope
}) => {
  const { count, period } = props
  if (count === 0) return <>0</>
  const [, outcome, list] = NUMBERS[props.of]
  const { campaignId, programId, organizationId } = props.scope
  const address =
    typeof campaignId === "string"
      ? recipientsOf(campaignId, outcome)
      : programId !== undefined && list.startsWith("/events")
        ? withQuery("/numbers", { organization: organizationId, program: programId, by: "campaign", ...period })
        : withQuery(list, {
            from: `${period.from}T00:00:00Z`,
            to: `${addDays(period.to, 1)}T00:00:00Z`,
            organization: organizationId,
            ...(list.startsWith("/supp") && { program: programId }),
          })
  return <a href={address}>{formatCount(count)}</a>
}

/** The numbers of a period in total, and by organization, program or campaign. */
export const GroupTable = (props: {
  readonly title: string
  readonly grouping: Grouping
  readonly period: Period
  readonly filter: NumbersFilter
  readonly total: Numbers
  readonly groups: ReadonlyArray<NumbersGroup>
}) => {
  const { grouping, period, filter, total } = props
  type Row = Numbers & Partial<NumbersGroup>
  const scopeOf = ({ organizationId, programId, campaignId }: Row): Scope =>
    organizationId === undefined
      ? filter
      : {
          organizationId: organizationId ?? undefined,
          programId: programId ?? undefined,
          campaignId: campaignId ?? null,
        }
  return (
    <Table
      label={props.title}
      rows={[total, ...props.groups]}
      columns={{
        [grouping === "organization" ? "Organization" : grouping === "program" ? "Program" : "Campaign"]: (row: Row) =>
          row.organizationId === undefined ? (
            "Total"
          ) : (
            <GroupName {...(row as NumbersGroup)} grouping={grouping} period={period} />
          ),
        ...Object.fromEntries(
          SHOWN.filter((name) => !Object.values(WITH_BOTS).includes(name)).map((name) => {
            const withBots = WITH_BOTS[name]
            const link = (of: NumberName, row: Row) => (
              <NumberLink of={of} count={row[of]} period={period} scope={scopeOf(row)} />
            )
            const number = (row: Row) => (
              <Noted
                note={RATES.includes(name) && row[name] > 0 && row.sent > 0 ? formatShare(row[name] / row.sent) : ""}
              >
                {link(name, row)}
                {withBots !== undefined && <> ({link(withBots, row)})</>}
              </Noted>
            )
            return [withBots === undefined ? NUMBERS[name][0] : `${NUMBERS[name][0]} (with bots)`, { number }]
          }),
        ),
      }}
    />
  )
}

/** The name of a group, with a link to its parts. */
const GroupName = (
  group: NumbersGroup & { readonly grouping: Grouping; readonly period: Period },
): ComponentChildren => {
  const { grouping, period, organizationId: organization, programId: program } = group
  if (grouping === "campaign") {
    return (
      <Noted note={`${group.program}, ${group.organization}`}>
        <IdLink id={group.campaignId!}>{group.campaign!}</IdLink>
      </Noted>
    )
  }
  const [name, by] = grouping === "organization" ? [group.organization!, "program"] : [group.program!, "campaign"]
  const address = withQuery("/numbers", { organization, ...period, by, ...(program !== null && { program }) })
  return (
    <Noted note={grouping === "program" ? group.organization! : ""}>
      <a href={address}>
        <bdi>{name}</bdi>
      </a>
    </Noted>
  )
}

/** The recipient domains with the most bounces in all campaigns. */
export const DomainsTable = (props: { readonly domains: ReadonlyArray<BouncedDomain> }) => (
  <Table
    label="Domains with the most bounces"
    rows={props.domains}
    empty="No bounces."
    columns={{
      Domain: ({ domain }) => domain,
      Bounced: {
        number: ({ bounced, campaignId }) => <a href={recipientsOf(campaignId, "bounced")}>{formatCount(bounced)}</a>,
      },
      "Share of e-mails": { number: ({ bounced, sent }) => formatShare(bounced / (bounced + sent)) },
      Reasons: describeBounces,
      "Last replies": ({ replies, lastReplyAt }) =>
        replies.length === 0 ? (
          "–"
        ) : (
          <>
            {[...new Set(replies)].map((reply) => (
              <div key={reply}>
                <bdi>{reply}</bdi>
              </div>
            ))}
            <Time at={lastReplyAt} />
          </>
        ),
      "Most in campaign": ({ campaignId, campaign, campaigns }) => (
        <Noted note={campaigns > 1 ? `of ${formatCount(campaigns)} campaigns` : ""}>
          <IdLink id={campaignId}>{campaign}</IdLink>
        </Noted>
      ),
    }}
  />
)
