import { formatCount } from "@outreach/backoffice/format"
import { IMPORT_TONES, imports } from "@outreach/backoffice/operations/imports"
import { ImportLog, type ImportRecord, MAX_KEPT, type Reject } from "@outreach/backoffice/recipients/ImportLog"
import { IMPORTABLE } from "@outreach/domain/campaigns/Campaign"
import { CampaignRepository } from "@outreach/domain/campaigns/CampaignRepository"
import { mayActAs } from "@outreach/domain/operators/Operator"
import { Array as Arr, Effect } from "effect"
import { Facts, LinkLine, Live, Page, Table } from "../../components/layout.tsx"
import { foreign, StatusBadge } from "../../components/values.tsx"
import { csvFile, listPage } from "../../http/listPage.tsx"
import { definePage, defineResource } from "../../http/Route.ts"

const importsRoutes = listPage("/campaigns/:campaign/imports", imports, {
  *around({ filter: { campaignId }, context: { operator } }) {
    const { name, status } = yield* (yield* CampaignRepository).find(campaignId)
    const isOpen = IMPORTABLE.includes(status)
    return {
      title: foreign`Imports into ${name}`,
      commands: [isOpen && ["recipients import", "list.csv", { campaign: campaignId, check: true }]],
      above: isOpen ? (
        mayActAs(operator.role, "operator") && (
          <LinkLine to={`/campaigns/${campaignId}/imports/new`}>Import a list</LinkLine>
        )
      ) : (
        <p>Recipients can be added to drafts and paused campaigns. This one is {status}.</p>
      ),
      below: <LinkLine to={`/campaigns/${campaignId}`}>Back to the campaign</LinkLine>,
    }
  },
})

const importPage = definePage("/imports/:import", {
  run: Effect.fnUntraced(function* ({ import: importId }, { operator }) {
    const found = yield* (yield* ImportLog).find(importId)
    const { campaignId } = found
    const campaign = yield* (yield* CampaignRepository).find(campaignId)
    return (
      <Page
        title={foreign`Import into ${campaign.name}`}
        id={importId}
        commands={[
          ["imports list", { campaign: campaignId }],
          ["imports show", importId],
        ]}
      >
        <Live id="import" seconds={found.status === "running" ? 2 : undefined}>
          <p>
            <StatusBadge tone={IMPORT_TONES[found.status]}>{found.status}</StatusBadge>
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
              Campaign: campaign,
              By: found.operator,
              Started: { at: found.begunAt },
              Ended: found.endedAt && { at: found.endedAt },
              Lines: found.lines,
              Imported: found.imported,
              Existing: found.alreadyThere,
              "Existing, fields updated": found.updated > 0 && found.updated,
              Suppressed: found.suppressed,
              Duplicates: found.repeated,
              Rejected: found.rejected,
            }}
          />
          <RejectedLines {...found} />
          {found.rejects.length > 0 && mayActAs(operator.role, "operator") && (
            <LinkLine to={`/imports/${importId}/rejects`}>
              Download the{" "}
              {found.rejected > MAX_KEPT.rejects ? `first ${formatCount(MAX_KEPT.rejects)}` : "rejected lines"} by
              number and reason
            </LinkLine>
          )}
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

const rejectsFile = defineResource("/imports/:import/rejects", {
  role: "operator",
  command: "imports show",
  run: Effect.fnUntraced(function* ({ import: importId }) {
    const { rejects } = yield* (yield* ImportLog).find(importId)
    return csvFile(`${importId}-rejects.csv`, { columns: ["line", "reason"], rows: rejects })
  }),
})

export const importRoutes = [...importsRoutes, importPage, rejectsFile] as const

const MAX_REASONS = 50
const MAX_LINES = 10

/** The reasons for rejected lines, the most frequent first, each with its first lines. */
export const RejectedLines = ({ rejects }: { readonly rejects: ReadonlyArray<Reject> }) => {
  // Reasons that only differ in the named lines are one.
  const groups = Arr.groupBy(rejects, ({ reason }) => reason.replace(/\bline \d+/, "line …"))
  const rows = Object.entries(groups).sort(([, one], [, other]) => other.length - one.length)
  return (
    <Table
      title="Rejected lines"
      rows={rows.slice(0, MAX_REASONS)}
      columns={{
        Reason: ([reason]) => reason,
        Count: { number: ([, lines]) => lines.length },
        Lines: ([, lines]) => {
          const numbers = lines.slice(0, MAX_LINES).map(({ line }) => formatCount(line))
          return `${numbers.join("; ")}${lines.length > MAX_LINES ? " …" : ""}`
        },
      }}
    />
  )
}
