import type { Campaign } from "@outreach/domain/campaigns/Campaign"
import { type SeedMessage, seedState } from "@outreach/domain/mail/SeedMessage"
import { SeedRepository } from "@outreach/domain/mail/SeedRepository"
import { parseInput } from "@outreach/domain/parseInput"
import type { TestMailSettings } from "@outreach/mail/sendTestMail"
import { NodeTrackingSeal } from "@outreach/postgres/hits/NodeTrackingSeal"
import { Effect, FileSystem, Layer, Result } from "effect"
import { emailAddress } from "../inputs/filters.ts"
import { refuse } from "../output/Output.ts"
import { secretCipher } from "../secretCipher.ts"
import { Target } from "../Target.ts"

export const SEED_COLUMNS = ["email", "state", "createdAt", "reply"] as const

export const withState = ({ organizationId: _, ...seed }: SeedMessage) => ({ ...seed, state: seedState(seed) })

/** The links of seeds are those of the deployment, so the key has to be its own. */
const trackingSeal = Layer.unwrap(
  Effect.flatMap(Target, ({ secretsKey }) => Effect.map(secretsKey, NodeTrackingSeal)),
).pipe(Layer.merge(secretCipher))

const MAX_SEEDS = 50
const MAX_BYTES = 65_536

/** Sends a campaign's message to seeds, which are named or stand in a file, and returns what the mail server answered to each. */
export const testWithSeeds = Effect.fnUntraced(function* (
  campaign: Campaign,
  listOrFile: string,
  settings: TestMailSettings,
) {
  const texts = (listOrFile.includes("@") ? listOrFile : yield* readList(listOrFile))
    .split(/[,\s]+/)
    .filter((text) => text !== "")
  const parse = parseInput(yield* emailAddress)
  const emails = [...new Set(texts)].map((text) => parse(text))
  const valid = emails.flatMap((email) => (Result.isSuccess(email) ? [email.success] : []))
  if (valid.length < emails.length || valid.length === 0 || valid.length > MAX_SEEDS) {
    return yield* refuse("InvalidSeeds", `--seeds must name 1 to ${MAX_SEEDS} e-mail addresses, or the file of a list.`)
  }
  const { sendSeeds } = yield* Effect.promise(() => import("@outreach/mail/sendSeeds"))
  const ids = new Set(yield* Effect.provide(sendSeeds(campaign, valid, settings), trackingSeal))
  const found = yield* SeedRepository.use(({ list }) => list(campaign.id, 2 * MAX_SEEDS))
  return found.filter(({ id }) => ids.has(id)).map(withState)
})

const readList = Effect.fnUntraced(function* (file: string) {
  const { stat, readFileString } = yield* FileSystem.FileSystem
  const size = yield* Effect.orElseSucceed(
    Effect.map(stat(file), ({ type, size }) => (type === "File" ? Number(size) : Number.POSITIVE_INFINITY)),
    () => Number.POSITIVE_INFINITY,
  )
  const text = size > MAX_BYTES ? undefined : yield* Effect.orElseSucceed(readFileString(file), () => undefined)
  return (
    text ??
    (yield* refuse("SeedsUnreadable", `The file ${file} does not exist, or is not a list of addresses.`, { file }))
  )
})
