import { randomBytes } from "node:crypto"
import { readFile, rename, writeFile } from "node:fs/promises"
import { join } from "node:path"
import type { CampaignId } from "@outreach/domain/Identifier"
import { Effect } from "effect"
import { SandboxError } from "./SandboxError.ts"
import type { SeededPartner } from "./seed/seedPartner.ts"

/** The state that the sandbox keeps from one run to the next, in `keys.json`. */
export interface SandboxState {
  /** The name of the database that the rest of the state belongs to. */
  readonly database: string
  /** Keys as in the settings of these names: one, or several with ids. */
  readonly SECRETS_KEY: string
  readonly CURSOR_KEY: string
  /** The sample partner's port, which its endpoint's URL contains. */
  readonly partner_port?: number
  readonly seeded?: SeededPartner
  /** The tokens of the console's sign-in links, which stay the same: of an admin, and of the sample partner. */
  readonly sign_in_token?: string
  readonly partner_sign_in_token?: string
  readonly campaign?: { readonly id: CampaignId; readonly recipients: string }
}

/** Opens the state of an earlier run, or creates the keys of a first run, which `update` stores. Fails if the state belongs to another database. */
export const openSandboxState = Effect.fnUntraced(function* (folder: string, database: string) {
  const file = join(folder, "keys.json")
  const stored = yield* Effect.promise(() => readFile(file, "utf8").catch(() => undefined))
  const key = () => randomBytes(32).toString("base64")
  let state: SandboxState =
    stored === undefined ? { database, SECRETS_KEY: key(), CURSOR_KEY: key() } : JSON.parse(stored)
  if (state.database !== database) {
    return yield* new SandboxError({
      message: `${folder} was made with ${state.database}, not with ${database}; choose another folder with --folder.`,
    })
  }
  const update = (changes: Partial<SandboxState>) =>
    Effect.promise(() => {
      state = { ...state, ...changes }
      return writePrivate(file, state)
    })
  return { read: () => state, update }
})

/** Writes JSON atomically, to a file that only its owner may read. */
export const writePrivate = async (file: string, value: object): Promise<void> => {
  await writeFile(`${file}.new`, `${JSON.stringify(value, null, 2)}\n`, { mode: 0o600 })
  await rename(`${file}.new`, file)
}
