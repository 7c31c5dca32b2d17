import {
  CampaignReader,
  type CampaignTotals,
  type CampaignWithTotals,
} from "@outreach/backoffice/campaigns/CampaignReader"
import { CAMPAIGN_STATUSES } from "@outreach/domain/campaigns/Campaign"
import { CampaignId, OrganizationId, ProgramId } from "@outreach/domain/Identifier"
import { Effect, Schema } from "effect"
import type { ComponentChildren } from "preact"
import { flagsOf, formatCount } from "../../components/format.ts"
import { Choice, Field, FilterBar } from "../../components/forms.tsx"
import { Pager, Table } from "../../components/lists.tsx"
import { IdLink, isolated, Noted } from "../../components/values.tsx"
import { oneOf, pageOf, pickDefined } from "../../http/inputs.ts"
import { definePage } from "../../http/Route.ts"
import { CampaignStatusBadge } from "./CampaignProgress.tsx"
import { WindowBar } from "./WindowBar.tsx"

const PAGE_SIZE = 50
const KINDS = ["traffic", "survey"] as const

export const campaignsPage = definePage({
  path: "/campaigns",
  query: {
    organization: OrganizationId,
    program: ProgramId,
    status: oneOf(CAMPAIGN_STATUSES),
    kind: oneOf(KINDS),
    text: Schema.String,
    before: CampaignId,
  },
  read: Effect.fnUntraced(function* ({ before, ...filters }, { operator }) {
    const { organization: organizationId, program: programId, status, kind, text } = filters
    const filter = pickDefined({ organizationId, programId, status, kind, text, before })
    const { rows, last } = pageOf(yield* (yield* CampaignReader).list(filter, PAGE_SIZE + 1), PAGE_SIZE)
    const isUnbound = operator.organizationId === null
    return {
      title: "Campaigns",
      commands: [`ops campaigns list${flagsOf({ ...filters, text: undefined })}`],
      body: (
        <>
          <FilterBar action="/campaigns" values={filters}>
            {isUnbound && <Field name="organization" label="Organization" placeholder="org_…" size={20} />}
            <Field name="program" label="Program" placeholder="pgm_…" size={20} />
            <Choice name="status" label="Status" all="any" options={CAMPAIGN_STATUSES} />
            <Choice name="kind" label="Kind" all="any" options={KINDS} />
            <Field name="text" label="Name contains" size={16} />
          </FilterBar>
          <CampaignTable rows={rows} hasOrganizations={isUnbound} />
          <Pager next={last && { before: last.id }} />
        </>
      ),
    }
  }),
})

const CampaignTable = (props: {
  readonly rows: ReadonlyArray<CampaignWithTotals>
  readonly hasOrganizations: boolean
}) => (
  <Table
    caption="Campaigns, newest first. A window's bar spans four weeks, with a line for now; suspected bots count apart."
    rows={props.rows}
    empty="No campaign fits. A new one is made with ops campaigns create."
    columns={{
      Campaign: ({ id, name, kind, followUpOf }) => (
        <>
          <IdLink id={id}>{name}</IdLink>
          {kind === "survey" && <small> survey</small>}
          {followUpOf !== null && <small> follow-up</small>}
        </>
      ),
      Program: ({ programName, organizationName }) =>
        props.hasOrganizations ? <Noted note={organizationName}>{isolated(programName)}</Noted> : programName,
      Status: ({ status }) => <CampaignStatusBadge status={status} />,
      "Window (UTC)": (row) => <WindowBar {...row} />,
      Imported: totals(({ recipients }) => formatCount(recipients)),
      Published: totals(({ published }) => formatCount(published)),
      Sent: totals(({ sent }) => formatCount(sent)),
      Bounced: totals(({ bounced }) => formatCount(bounced)),
      Opened: totals(({ unsuspectedOpened, opened }) => withBots(unsuspectedOpened, opened)),
      Clicked: totals(({ unsuspectedClicked, clicked }) => withBots(unsuspectedClicked, clicked)),
      Rate: {
        number: ({ perMinute }) => (perMinute === null ? "no bound" : `${formatCount(perMinute)} a minute`),
      },
    }}
  />
)

const totals = (cell: (totals: CampaignTotals) => ComponentChildren) => ({
  number: (campaign: CampaignWithTotals) => cell(campaign.totals),
})

const withBots = (unsuspected: number, all: number) => (
  <Noted note={`${formatCount(all)} with bots`}>{formatCount(unsuspected)}</Noted>
)
