import { CampaignReader, type CampaignWithTotals } from "@outreach/backoffice/campaigns/CampaignReader"
import { formatCount } from "@outreach/backoffice/format"
import { campaignFilters } from "@outreach/backoffice/lists/campaigns"
import { OrganizationReader } from "@outreach/backoffice/organizations/OrganizationReader"
import { CampaignId } from "@outreach/domain/Identifier"
import { ProgramRepository } from "@outreach/domain/programs/ProgramRepository"
import { Effect } from "effect"
import { ConfirmLink, FilterBar } from "../../components/forms.tsx"
import { Page, Pager, Table } from "../../components/layout.tsx"
import { ops } from "../../components/ops.ts"
import { IdLink, Noted } from "../../components/values.tsx"
import { definePage } from "../../http/Route.ts"
import { inputsOfFilters, pageOf, pickDefined, valuesOf } from "../../view/inputs.ts"
import { useView } from "../../view/View.ts"
import { newCampaignPage } from "../newPages.tsx"
import { CampaignStatusBadge } from "./CampaignReports.tsx"
import { ComplaintRate } from "./ComplaintRate.tsx"
import { SendingWindow } from "./SendingWindow.tsx"

const PAGE_SIZE = 50

const filters = inputsOfFilters(campaignFilters)

export const campaignsPage = definePage("/campaigns", {
  inputs: { ...filters, before: CampaignId },
  run: Effect.fnUntraced(function* ({ before, ...given }) {
    const filter = valuesOf(campaignFilters, given)
    const { organizationId, programId } = filter
    const found = yield* (yield* CampaignReader).list({ ...filter, ...pickDefined({ before }) }, PAGE_SIZE + 1)
    const { rows, last } = pageOf(found, PAGE_SIZE)
    return (
      <Page title="Campaigns" commands={[ops("campaigns list", given)]}>
        <ConfirmLink page={newCampaignPage} query={{ program: programId }} label="Create a campaign" isPrimary />
        <FilterBar
          inputs={filters}
          values={given}
          controls={{
            organization: { options: yield* (yield* OrganizationReader).list },
            program: { options: yield* (yield* ProgramRepository).list(organizationId) },
          }}
        />
        <CampaignTable
          caption="Campaigns, newest first. Suspected bots are counted separately."
          rows={rows}
          empty="No campaign matches. Clear the filters or create a campaign."
        />
        <Pager next={last && { before: last.id }} />
      </Page>
    )
  }),
})

/** Campaigns with their counts. */
export const CampaignTable = (props: {
  readonly title?: string
  readonly caption: string
  readonly rows: ReadonlyArray<CampaignWithTotals>
  readonly empty: string
}) => {
  const { operator } = useView()
  return (
    <Table
      {...props}
      columns={{
        Campaign: ({ id, name, kind }) => (
          <>
            <IdLink id={id}>{name}</IdLink>
            {kind === "survey" && <small> survey</small>}
          </>
        ),
        Program: ({ programId, programName, organizationName }) => (
          <Noted note={operator.organizationId === null ? organizationName : ""}>
            <IdLink id={programId}>{programName}</IdLink>
          </Noted>
        ),
        Status: ({ status }) => <CampaignStatusBadge status={status} />,
        Window: (row) => <SendingWindow {...row} />,
        Imported: { count: ({ totals }) => totals.recipients },
        Published: { count: ({ totals }) => totals.published },
        Sent: { count: ({ totals }) => totals.sent },
        Bounced: { count: ({ totals }) => totals.bounced },
        Opened: { number: ({ totals }) => withBots(totals.unsuspectedOpened, totals.opened) },
        Clicked: { number: ({ totals }) => withBots(totals.unsuspectedClicked, totals.clicked) },
        Complained: { number: ({ totals }) => <ComplaintRate {...totals} /> },
        Rate: {
          number: ({ perMinute }) => (perMinute === null ? "–" : `${formatCount(perMinute)} a minute`),
        },
      }}
    />
  )
}

const withBots = (unsuspected: number, all: number) => (
  <Noted note={all === unsuspected ? "" : `${formatCount(all)} with bots`}>{formatCount(unsuspected)}</Noted>
)
