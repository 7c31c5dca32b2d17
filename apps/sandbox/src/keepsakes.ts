import { randomBytes } from "node:crypto"
import { readFile, rename, writeFile } from "node:fs/promises"
import { join } from "node:path"
import type { CampaignId, EndpointId, OrganizationId, ProgramId } from "@outreach/domain/Identifier"
import { Effect } from "effect"
import { SandboxError } from "./SandboxError.ts"

/** What a sandbox was seeded with. */
export interface Seeded {
  readonly api_key: string
  readonly signing_secret: string
  readonly organization_id: OrganizationId
  readonly program_id: ProgramId
  readonly endpoint_id: EndpointId
}

/** What the sandbox keeps from one run to the next, in `keys.json`. */
export interface Keepsakes {
  /** The database that all else here belongs to. */
  readonly database: string
  readonly SECRETS_KEY: string
  readonly CURSOR_KEY: string
  /** Where the sample partner listens; its endpoint names this port. */
  readonly partner_port?: number
  readonly seeded?: Seeded
  readonly campaign?: { readonly id: CampaignId; readonly recipients: string }
}

/** Reads what an earlier run has kept, or makes the keys of a first one. Refuses what belongs to another database. */
export const readKeepsakes = Effect.fnUntraced(function* (folder: string, database: string) {
  const file = join(folder, "keys.json")
  const kept = yield* Effect.promise(() => readFile(file, "utf8").catch(() => undefined))
  if (kept === undefined) {
    const key = () => randomBytes(32).toString("base64")
    const keepsakes: Keepsakes = { database, SECRETS_KEY: key(), CURSOR_KEY: key() }
    yield* Effect.promise(() => writePrivate(file, keepsakes))
    return keepsakes
  }
  const keepsakes = JSON.parse(kept) as Keepsakes
  if (keepsakes.database !== database) {
    return yield* new SandboxError({
      message: `${folder} was made with ${keepsakes.database}, not with ${database}; choose another folder with --folder.`,
    })
  }
  return keepsakes
})

/** Keeps more, and answers all that is kept. */
export const keep = async (folder: string, keepsakes: Keepsakes, more: Partial<Keepsakes>): Promise<Keepsakes> => {
  const all = { ...keepsakes, ...more }
  await writePrivate(join(folder, "keys.json"), all)
  return all
}

/** Writes JSON that only its owner may read, whole or not at all. */
export const writePrivate = async (file: string, value: object): Promise<void> => {
  await writeFile(`${file}.new`, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 })
  await rename(`${file}.new`, file)
}
