import type { CampaignWithTotals } from "@outreach/backoffice/campaigns/CampaignReader"
import { formatCount } from "@outreach/backoffice/format"
import { campaigns, toCampaignRow } from "@outreach/backoffice/lists/campaigns"
import { ConfirmLink } from "../../components/forms.tsx"
import { IdLink, Noted } from "../../components/values.tsx"
import { ListTable, listPage } from "../../http/listPage.tsx"
import { newCampaignPage } from "../newPages.tsx"
import { ComplaintRate } from "./ComplaintRate.tsx"
import { SendingWindow } from "./SendingWindow.tsx"

type Row = ReturnType<typeof toCampaignRow>

const withBots = (unsuspected: number, all: number) => (
  <Noted note={all === unsuspected ? "" : `${formatCount(all)} with bots`}>{formatCount(unsuspected)}</Noted>
)

const cells = {
  id: ({ id, name, kind }: Row) => (
    <>
      <IdLink id={id}>{name}</IdLink>
      {kind === "survey" && <small> survey</small>}
    </>
  ),
  opened: ({ totals }: Row) => withBots(totals.unsuspectedOpened, totals.opened),
  clicked: ({ totals }: Row) => withBots(totals.unsuspectedClicked, totals.clicked),
  complained: (row: Row) => <ComplaintRate {...row} />,
  windowStart: (row: Row) => <SendingWindow {...row} />,
  perMinute: ({ perMinute }: Row) => (perMinute === null ? "–" : `${formatCount(perMinute)} a minute`),
}

export const campaignsRoutes = listPage("/campaigns", campaigns, {
  cells,
  around: ({ filter: { programId: program } }) => ({
    above: <ConfirmLink page={newCampaignPage} query={{ program }} label="Create a campaign" isPrimary />,
  }),
})

/** Campaigns with their counts. */
export const CampaignTable = (props: {
  readonly title?: string
  readonly caption: string
  readonly rows: ReadonlyArray<CampaignWithTotals>
  readonly empty: string
}) => <ListTable {...props} list={campaigns} rows={props.rows.map(toCampaignRow)} cells={cells} />
