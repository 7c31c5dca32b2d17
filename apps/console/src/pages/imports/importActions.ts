import { type ColumnMap, contentOf } from "@outreach/backoffice/csv/ColumnMap"
import { oneOf, required } from "@outreach/backoffice/operations/Field"
import { importRecipients } from "@outreach/backoffice/operations/recipients"
import { type Campaign, IMPORTABLE } from "@outreach/domain/campaigns/Campaign"
import { findInStatus } from "@outreach/domain/campaigns/Campaigns"
import type { CampaignId } from "@outreach/domain/Identifier"
import type { Operator } from "@outreach/domain/operators/Operator"
import { textSchema } from "@outreach/domain/textSchema"
import { Effect, FileSystem, Stream } from "effect"
import { HttpServerResponse } from "effect/http"
import { PageError, reject } from "../../http/PageError.ts"
import { defineAction } from "../../http/Route.ts"
import { checkList, GONE, importList, type PendingList, PendingLists } from "./PendingLists.ts"

const { input } = importRecipients

export const ListId = textSchema("the id of an uploaded list", (text) =>
  /^[0-9a-f-]{36}$/.test(text) ? text : undefined,
)
const list = required(ListId)

/** The required columns of a list. */
export const wantedOf = ({ fields }: Campaign): ReadonlyArray<string> => [...new Set(["npi", "email", ...fields])]

/** Returns the required columns that a list names. The first of several columns with a name counts. */
export const recognize = ({ columns }: PendingList, campaign: Campaign): ColumnMap =>
  new Map(
    wantedOf(campaign).flatMap((content) => {
      const i = columns.findIndex(({ name }) => contentOf(name) === content)
      return i === -1 ? [] : [[`column ${i + 1}`, content] as const]
    }),
  )

export const wordsFor = (content: string): string =>
  content === "npi" ? "NPI" : content === "email" ? "e-mail address" : content

/** Describes the required columns that a map lacks; undefined if it lacks none. */
export const describeLack = (map: ColumnMap, campaign: Campaign): string | undefined => {
  const missing = wantedOf(campaign).filter((content) => ![...map.values()].includes(content))
  return missing.length === 0 ? undefined : `Choose a column for: ${missing.map(wordsFor).join(", ")}.`
}

const addressOf = ({ campaignId, id }: PendingList): string => `/campaigns/${campaignId}/imports/new?list=${id}`

/** The fault of a file, without its path in the console. */
export const messageOf = (error: { readonly message: string }): string =>
  "file" in error && "reason" in error ? `The file can't be imported: ${error.reason}.` : error.message

export const uploadList = defineAction("/campaigns/:campaign/imports/upload", importRecipients, {
  inputs: { check: input.check, file: input.file },
  faults: { UnusableFile: "file" },
  run: Effect.fnUntraced(function* ({ campaign: campaignId }, { operator, file }) {
    if (file === undefined) return yield* reject("NoFile", "The form contains no file. Choose one.")
    const campaign = yield* findInStatus(campaignId, IMPORTABLE)
    const { hold } = yield* PendingLists
    const list = yield* Effect.mapError(hold(operator, campaignId, file), (error) =>
      error instanceof PageError ? error : { _tag: error._tag, message: messageOf(error) },
    )
    const map = recognize(list, campaign)
    if (describeLack(map, campaign) === undefined) yield* checkList(list, map, operator)
    return { to: addressOf(list), notice: "Uploaded, not imported yet. Check the preview." }
  }),
})

const findList = Effect.fnUntraced(function* (operator: Operator, campaignId: CampaignId, id: string) {
  return (yield* PendingLists).find(operator, campaignId, id) ?? (yield* reject("ListGone", GONE))
})

/** Imports a list, or checks it with other contents of its columns. */
export const importAction = defineAction("/campaigns/:campaign/imports/import", importRecipients, {
  inputs: { list, map: required(input.map), check: input.check, "skip-bad": input.skipBad },
  run: Effect.fnUntraced(function* ({ campaign: campaignId, list: id, map, check }, { operator }) {
    const list = yield* findList(operator, campaignId, id)
    const campaign = yield* findInStatus(campaignId, IMPORTABLE)
    const lack = describeLack(map, campaign)
    if (lack !== undefined) return yield* reject("UnclearColumns", lack)
    if (check) {
      yield* checkList(list, map, operator)
      return { to: addressOf(list), notice: "Checked again, not imported yet." }
    }
    const importId = yield* importList(list, map, operator)
    if (importId === undefined) {
      const notice = "Other imports are running. This one starts after them and then appears here."
      return { to: `/campaigns/${campaignId}/imports`, notice }
    }
    return { to: `/imports/${importId}`, notice: "The import was started. You can leave this page." }
  }),
})

export const downloadRejects = defineAction("/campaigns/:campaign/imports/rejects", importRecipients, {
  isRepeatable: true,
  inputs: { list, check: input.check, rejects: oneOf(["rejects.csv"]) },
  run: Effect.fnUntraced(function* ({ campaign: campaignId, list: id }, { operator }) {
    const { check } = yield* findList(operator, campaignId, id)
    const files = yield* FileSystem.FileSystem
    if (check?.fiber.pollUnsafe() === undefined)
      return yield* reject("NotChecked", "The check is still running. Try again later.")
    return HttpServerResponse.stream(Stream.orDie(files.stream(check.rejects)), {
      contentType: "text/csv; charset=utf-8",
      headers: { "content-disposition": `attachment; filename="rejects.csv"` },
    })
  }),
})
