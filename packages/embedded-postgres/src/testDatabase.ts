import { createHash } from "node:crypto"
import { readdir, readFile, stat } from "node:fs/promises"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll } from "vitest"
import { postgresUrl } from "./postgresUrl.ts"
import { type Clone, cloneDatabase, createTemplate } from "./templateDatabase.ts"

export interface TestSchema {
  /** At most 20 lowercase letters, digits and `_`. */
  readonly name: string
  /** The files and folders that define the schema. When their content changes, the template is created anew. */
  readonly sources: readonly URL[]
  /** Migrates an empty database to the schema, and closes every connection that it opened. */
  readonly migrate: (url: string) => Promise<void>
}

/** The names of the templates that this process has created. They exist until the run ends, so each is created once. */
const templates = new Map<string, Promise<string>>()

const templateOf = (server: string, { name, sources, migrate }: TestSchema): Promise<string> => {
  const key = [server, name, ...sources].join(" ")
  const create = async () => {
    const template = `${name}_${await digest(sources)}`
    await createTemplate(server, template, migrate)
    return template
  }
  templates.set(key, templates.get(key) ?? create())
  return templates.get(key)!
}

/**
 * Gives a test file its own migrated database, cloned before its tests and dropped after them. The file fails if it leaves
 * a connection open. The project's `globalSetup` must name `@outreach/embedded-postgres/vitestServer`.
 *
 * @returns a function that returns the database's address inside tests and hooks
 */
export function testDatabase(schema: TestSchema): () => string {
  let clone: Clone | undefined
  beforeAll(async () => {
    const server = await postgresUrl()
    clone = await cloneDatabase(server, await templateOf(server, schema))
  }, 60_000)
  afterAll(async () => {
    await clone?.drop()
  }, 60_000)
  return () => {
    if (!clone) throw new Error("The test database is available only inside tests and hooks.")
    return clone.url
  }
}

async function digest(sources: readonly URL[]): Promise<string> {
  const hash = createHash("sha256")
  for (const source of sources) await addTo(hash, fileURLToPath(source), "")
  return hash.digest("hex").slice(0, 16)
}

async function addTo(hash: ReturnType<typeof createHash>, path: string, name: string): Promise<void> {
  if ((await stat(path)).isDirectory()) {
    for (const entry of (await readdir(path)).sort()) await addTo(hash, join(path, entry), `${name}/${entry}`)
  } else {
    const content = await readFile(path)
    hash.update(`${name}\0${content.length}\0`).update(content)
  }
}
