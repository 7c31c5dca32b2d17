import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from "vitest"
import { installProject, missingRegistry, type ProjectServer, packTarball, startServer } from "./exampleProject.ts"

const CHROME =
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36"
const MICROSOFT = "40.107.218.12"

let folder: string
let missing: string | undefined
let server: ProjectServer
let database: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "outreach-clicks-"))
  missing = await missingRegistry(folder)
  if (missing !== undefined) return
  await packTarball(folder, "bot-suspicion")
  database = join(folder, "clicks.db")
  server = await startServer(await installProject(folder, "clicks"), { DATABASE: database, TRUST_PROXY: "yes" })
})
afterAll(async () => {
  await server?.stop()
  await rm(folder, { recursive: true, force: true, maxRetries: 10 })
})
beforeEach(({ skip }) => {
  if (missing !== undefined) skip(missing)
})

interface Visit {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
}
const visit = (path: string, { method = "GET", headers = {} }: Visit = {}) =>
  fetch(server.url + path, {
    method,
    redirect: "manual",
    headers: { "User-Agent": CHROME, "X-Forwarded-For": "198.51.100.7", ...headers },
  })
const visitAll = async (paths: readonly string[]): Promise<void> => {
  for (const path of paths) await visit(path)
}
/** Lists the reasons of the hits of a message, in their order. */
function reasonsOf(message: string): readonly unknown[] {
  const reader = new DatabaseSync(database, { readOnly: true })
  const rows = reader.prepare("select reasons from hits where message = ? order by at, rowid").all(message)
  reader.close()
  return rows.map(({ reasons }) => reasons)
}

describe("examples/clicks", () => {
  it("counts the open and the click of a person, and leads to the link", async () => {
    const open = await visit("/o/ann")
    expect([open.status, open.headers.get("content-type")]).toEqual([200, "image/gif"])
    const click = await visit("/l/ann/tickets")
    expect([click.status, click.headers.get("location")]).toEqual([302, "https://conference.example/tickets"])
    expect(reasonsOf("ann")).toEqual(["", ""])
  })

  it.each([
    ["teams", { headers: { "User-Agent": "Mozilla/5.0 SkypeUriPreview Preview/0.5" } }, "scanner"],
    ["defender", { headers: { "X-Forwarded-For": `198.51.100.7, ${MICROSOFT}` } }, "scanner_network"],
    ["probe", { method: "HEAD" }, "head"],
    ["prefetch", { headers: { "Sec-Purpose": "prefetch;prerender" } }, "prefetch"],
  ] as const)("takes %s for a machine, which gets to the link all the same", async (message, visitor, reason) => {
    expect((await visit(`/l/${message}/venue`, visitor)).status).toBe(302)
    expect(reasonsOf(message)).toEqual([reason])
  })

  it("believes of the addresses only the one that its own proxy added", async () => {
    await visit("/l/liar/venue", { headers: { "X-Forwarded-For": `${MICROSOFT}, 198.51.100.7` } })
    expect(reasonsOf("liar")).toEqual([""])
  })

  it("takes a hit for a machine's that comes before the mailbox has taken the message", async () => {
    expect((await visit("/messages/ben", { method: "PUT" })).status).toBe(204)
    const writer = new DatabaseSync(database)
    writer.exec("update messages set accepted_at = accepted_at + 3600 where id = 'ben'")
    writer.close()
    await visit("/o/ben")
    expect(reasonsOf("ben")).toEqual(["too_early"])
  })

  it("takes a visitor who follows all links together for a machine from the third on", async () => {
    let burst = 0
    // Where this machine is so slow that the three take two seconds, they are sent anew.
    await vi.waitFor(
      async () => {
        const message = `burst${++burst}`
        await visitAll([`/l/${message}/programme`, `/l/${message}/tickets`, `/l/${message}/venue`])
        expect(reasonsOf(message)).toEqual(["", "", "many_links"])
      },
      { timeout: 60_000 },
    )
  })

  it("leads nowhere else, and counts nothing for a link that is none", async () => {
    for (const path of ["/l/eve/https:%2F%2Fevil.example", "/l/eve/constructor", "/l/eve/__proto__", "/l/eve", "/"]) {
      expect((await visit(path)).status, path).toBe(404)
    }
    expect(reasonsOf("eve")).toEqual([])
  })

  it("shows people and machines of each link", async () => {
    await visitAll(["/o/cleo", "/l/cleo/programme"])
    const response = await fetch(`${server.url}/counts`)
    const rows = (await response.json()) as readonly { link: string | null; people: number; machines: number }[]
    const venue = rows.find(({ link }) => link === "venue")!
    expect(venue.machines).toBeGreaterThanOrEqual(4)
    expect(rows.find(({ link }) => link === "programme")!.people).toBeGreaterThanOrEqual(1)
  })
})
