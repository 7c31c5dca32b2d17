import { byStage, FunnelCounts, type FunnelStage } from "@outreach/domain/digest/Digest"
import { OUTGOING_EVENTS } from "@outreach/domain/events/outgoingEvents"
import { rowsOf } from "../rowsOf.ts"

/** A column of `digest_outreach` that counts events of one type. */
interface DigestColumn {
  readonly name: string
  readonly type: string
  /** Counts each recipient once per date. */
  readonly isUnique: boolean
  /** Excludes suspected bot hits. */
  readonly isUnsuspected: boolean
}

/** The columns that count events. The column `recipients_published` counts recipients. */
export const DIGEST_COLUMNS: ReadonlyArray<DigestColumn> = Object.entries(OUTGOING_EVENTS).flatMap(([type, event]) => {
  const { name, isInDigest, isHit } = event
  if (!isInDigest) return []
  return [
    { name, type, isUnique: false, isUnsuspected: false },
    ...(isHit
      ? [
          { name: `unique_${name}`, type, isUnique: true, isUnsuspected: false },
          { name: `unsuspected_${name}`, type, isUnique: false, isUnsuspected: true },
          { name: `unsuspected_unique_${name}`, type, isUnique: true, isUnsuspected: true },
        ]
      : []),
  ]
})

const fields = (isMeant: (column: DigestColumn) => boolean): string =>
  DIGEST_COLUMNS.filter(isMeant)
    .map(({ name }) => `'${name.replace("unsuspected_", "")}', coalesce(${name}, 0)`)
    .join(", ")

/** The columns of a program's row of `digest_outreach` as `OutreachCounts`; zeros if there is no row. */
export const OUTREACH_COUNTS = `
  jsonb_build_object(
    'recipients_published', coalesce(recipients_published, 0),
    ${fields(({ isUnsuspected }) => !isUnsuspected)},
    'without_suspected_bots', jsonb_build_object(${fields(({ isUnsuspected }) => isUnsuspected)}))`

/** Three columns of `digest_funnel` as `FunnelCounts`; zeros for null. `column` returns the expression of a stage. */
export const funnelCounts = (column: (stage: FunnelStage) => string): string =>
  rowsOf(
    FunnelCounts,
    byStage((stage) => `coalesce(${column(stage)}, 0)`),
  ).json
