import { randomBytes } from "node:crypto"
import { readFile, rename, writeFile } from "node:fs/promises"
import { join } from "node:path"
import type { CampaignId, EndpointId, OrganizationId, ProgramId } from "@outreach/domain/Identifier"

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
  readonly SECRETS_KEY: string
  readonly CURSOR_KEY: string
  /** Where the sample partner listens; its endpoint names this port. */
  readonly partner_port?: number
  readonly seeded?: Seeded
  readonly campaign?: { readonly id: CampaignId; readonly recipients: string }
}

/** Reads what an earlier run has kept, or makes the keys of a first one. */
export const readKeepsakes = async (folder: string): Promise<Keepsakes> => {
  const kept = await readFile(join(folder, "keys.json"), "utf8").catch(() => undefined)
  if (kept !== undefined) return JSON.parse(kept) as Keepsakes
  const keepsakes = {
    SECRETS_KEY: randomBytes(32).toString("base64"),
    CURSOR_KEY: randomBytes(32).toString("base64"),
  }
  await writePrivate(join(folder, "keys.json"), keepsakes)
  return keepsakes
}

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
