import { csvRow } from "@outreach/backoffice/csv/csvRow"
import { formatCount } from "@outreach/backoffice/format"
import type { Tone } from "@outreach/backoffice/lists/List"
import { ImportLog, type ImportRecord, MAX_KEPT } from "@outreach/backoffice/recipients/ImportLog"
import { type Campaign, IMPORTABLE } from "@outreach/domain/campaigns/Campaign"
import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import { ImportId } from "@outreach/domain/Identifier"
import { Effect } from "effect"
import { HttpServerResponse } from "effect/http"
import { Facts, LinkLine, Live, Page, Pager, Table } from "../../components/layout.tsx"
import { ops } from "../../components/ops.ts"
import { foreign, IdLink, StatusBadge, Time } from "../../components/values.tsx"
import { definePage, defineResource } from "../../http/Route.ts"
import { defineCursor, pageOf } from "../../view/inputs.ts"
import { useMay } from "../../view/View.ts"
import { RejectedLines } from "./RejectedLines.tsx"

const PAGE_SIZE = 50

const TONES: Readonly<Record<ImportRecord["status"], Tone>> = {
  running: "neutral",
  finished: "good",
  failed: "bad",
  interrupted: "warning",
}

const ImportStatus = ({ status }: Pick<ImportRecord, "status">) => (
  <StatusBadge tone={TONES[status]}>{status}</StatusBadge>
)

const cursor = defineCursor({ id: ImportId })

const importsPage = definePage("/campaigns/:campaign/imports", {
  inputs: { after: cursor.input },
  run: Effect.fnUntraced(function* ({ campaign: campaignId, after }) {
    const campaign = yield* (yield* CampaignRepository).find(campaignId)
    const found = yield* (yield* ImportLog).list(campaign, { limit: PAGE_SIZE + 1, before: after ?? null })
    const { rows, last } = pageOf(found, PAGE_SIZE)
    return (
      <Page
        title={foreign`Imports into ${campaign.name}`}
        commands={[
          ops("imports list", { campaign: campaignId }),
          ...(isOpen(campaign) ? [ops("recipients import", "list.csv", { campaign: campaignId, check: true })] : []),
        ]}
      >
        <ImportLink campaign={campaign} />
        <Table
          caption="Imports, newest first"
          rows={rows}
          empty={after ? "No more imports." : "No imports yet."}
          columns={{
            Started: ({ id, begunAt }) => (
              <a href={`/imports/${id}`}>
                <Time at={begunAt} />
              </a>
            ),
            By: ({ operator }) => operator,
            Status: ({ status }) => <ImportStatus status={status} />,
            Lines: { count: ({ lines }) => lines },
            Imported: { count: ({ imported }) => imported },
            Existing: { count: ({ alreadyThere, updated }) => alreadyThere + updated },
            Suppressed: { count: ({ suppressed }) => suppressed },
            Duplicates: { count: ({ repeated }) => repeated },
            Rejected: { count: ({ rejected }) => rejected },
          }}
        />
        <Pager next={last && { after: cursor.of(last) }} />
        <LinkLine to={`/campaigns/${campaignId}`}>Back to the campaign</LinkLine>
      </Page>
    )
  }),
})

const isOpen = ({ status }: Pick<Campaign, "status">): boolean => IMPORTABLE.includes(status)

const ImportLink = ({ campaign }: { readonly campaign: Campaign }) => {
  const may = useMay({ role: "operator" })
  if (!isOpen(campaign)) {
    return <p>Recipients can be added to drafts and paused campaigns. This one is {campaign.status}.</p>
  }
  return may ? <LinkLine to={`/campaigns/${campaign.id}/imports/new`}>Import a list</LinkLine> : null
}

const importPage = definePage("/imports/:import", {
  run: Effect.fnUntraced(function* ({ import: importId }) {
    const found = yield* (yield* ImportLog).find(importId)
    const { campaignId, rejects, rejected } = found
    const campaign = yield* (yield* CampaignRepository).find(campaignId)
    return (
      <Page
        title={foreign`Import into ${campaign.name}`}
        id={importId}
        commands={[ops("imports list", { campaign: campaignId }), ops("imports show", importId)]}
      >
        <Live id="import" seconds={found.status === "running" ? 2 : undefined}>
          <p>
            <ImportStatus status={found.status} />
          </p>
          {found.status === "running" && <Progress {...found} />}
          {found.status === "interrupted" && (
            <p class="problem">
              The import was interrupted. Import the same list again; existing lines aren't imported twice.
            </p>
          )}
          {found.fault !== null && <p class="problem">{foreign`${found.fault}`}</p>}
          <Facts
            facts={{
              Campaign: <IdLink id={campaignId}>{campaign.name}</IdLink>,
              By: found.operator,
              Started: <Time at={found.begunAt} />,
              Ended: found.endedAt && <Time at={found.endedAt} />,
              Lines: found.lines !== null && formatCount(found.lines),
              Imported: formatCount(found.imported),
              Existing: formatCount(found.alreadyThere),
              "Existing, fields updated": found.updated > 0 && formatCount(found.updated),
              Suppressed: formatCount(found.suppressed),
              Duplicates: formatCount(found.repeated),
              Rejected: formatCount(rejected),
            }}
          />
          <RejectedLines rejects={rejects} />
          {rejects.length > 0 && <DownloadLink id={importId} isWhole={rejected <= MAX_KEPT.rejects} />}
        </Live>
        <LinkLine to={`/campaigns/${campaignId}/imports`}>All imports into this campaign</LinkLine>
      </Page>
    )
  }),
})

const Progress = ({ lines, ...counts }: ImportRecord) => {
  const done =
    counts.imported + counts.updated + counts.alreadyThere + counts.suppressed + counts.repeated + counts.rejected
  return lines === null ? (
    <p>The lines are being checked.</p>
  ) : (
    <p>
      <progress max={lines} value={done} aria-label="Processed lines" /> {formatCount(done)} of {formatCount(lines)}{" "}
      lines
    </p>
  )
}

const DownloadLink = (props: { readonly id: ImportId; readonly isWhole: boolean }) =>
  useMay({ role: "operator" }) ? (
    <LinkLine to={`/imports/${props.id}/rejects`}>
      {props.isWhole ? "Download the rejected lines" : `Download the first ${formatCount(MAX_KEPT.rejects)}`} by number
      and reason
    </LinkLine>
  ) : null

const rejectsFile = defineResource("/imports/:import/rejects", {
  role: "operator",
  command: "imports show",
  run: Effect.fnUntraced(function* ({ import: importId }) {
    const { rejects } = yield* (yield* ImportLog).find(importId)
    const rows = [["line", "reason"], ...rejects.map(({ line, reason }) => [String(line), reason])]
    return HttpServerResponse.text(rows.map(csvRow).join(""), {
      contentType: "text/csv; charset=utf-8",
      headers: { "content-disposition": `attachment; filename="${importId}-rejects.csv"` },
    })
  }),
})

export const importRoutes = [importsPage, importPage, rejectsFile] as const
