import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { describe, expect, it, vi } from "vitest"
import { projectServer, workspaceWith } from "./exampleProject.ts"

const CHROME =
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/126.0.0.0 Safari/537.36"
const MICROSOFT = "40.107.218.12"

const databaseIn = (project: string) => join(project, "clicks.db")
const server = projectServer(workspaceWith("bot-suspicion"), "clicks", {
  prepare: async (project) => ({ DATABASE: databaseIn(project), TRUST_PROXY: "yes", SCANNERS: "acme-scanner, " }),
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
/** Returns the reasons of a message's hits, in order. */
function reasonsOf(message: string): readonly unknown[] {
  using reader = new DatabaseSync(databaseIn(server.project), { readOnly: true })
  const rows = reader.prepare("select reasons from hits where message = ? order by at, rowid").all(message)
  return rows.map(({ reasons }) => reasons)
}

describe("examples/clicks", () => {
  it("counts the open and the click of a person, and redirects to the link", async () => {
    const open = await visit("/o/ann")
    expect([open.status, open.headers.get("content-type")]).toEqual([200, "image/gif"])
    const click = await visit("/l/ann/tickets")
    expect([click.status, click.headers.get("location")]).toEqual([302, "https://conference.example/tickets"])
    expect(reasonsOf("ann")).toEqual(["", ""])
    const rows: unknown = await (await fetch(`${server.url}/counts`)).json()
    expect(rows).toContainEqual({ link: "tickets", people: expect.any(Number), machines: expect.any(Number) })
  })

  it.each([
    ["teams", { headers: { "User-Agent": "Mozilla/5.0 SkypeUriPreview Preview/0.5" } }, "scanner"],
    ["acme", { headers: { "User-Agent": `${CHROME} Acme-Scanner/2.1` } }, "scanner"],
    ["defender", { headers: { "X-Forwarded-For": `198.51.100.7, ${MICROSOFT}` } }, "scanner_network"],
    ["head", { method: "HEAD" }, "head"],
    ["prefetch", { headers: { "Sec-Purpose": "prefetch;prerender" } }, "prefetch"],
    // Only the address added by the server's own proxy is trusted.
    ["liar", { headers: { "X-Forwarded-For": `${MICROSOFT}, 198.51.100.7` } }, ""],
  ] as const)("redirects %s to the link, with the reason why it may be a machine", async (message, visitor, reason) => {
    expect((await visit(`/l/${message}/venue`, visitor)).status).toBe(302)
    expect(reasonsOf(message)).toEqual([reason])
  })

  it("suspects a machine behind a hit that comes before the mailbox has accepted the message", async () => {
    expect((await visit("/messages/ben", { method: "PUT" })).status).toBe(204)
    const writer = new DatabaseSync(databaseIn(server.project))
    writer.exec("update messages set accepted_at = accepted_at + 3600 where id = 'ben'")
    writer.close()
    await visit("/o/ben")
    expect(reasonsOf("ben")).toEqual(["too_early"])
  })

  it("suspects a visitor who follows all links together, from the third on", async () => {
    let burst = 0
    // On a machine so slow that the three take two seconds, they are sent again.
    await vi.waitFor(
      async () => {
        const message = `burst${++burst}`
        for (const link of ["programme", "tickets", "venue"]) await visit(`/l/${message}/${link}`)
        expect(reasonsOf(message)).toEqual(["", "", "many_links"])
      },
      { timeout: 60_000 },
    )
  })

  it("returns 404 for unknown links, and counts nothing for them", async () => {
    for (const path of ["/l/eve/https:%2F%2Fevil.example", "/l/eve/constructor", "/l/eve/__proto__", "/l/eve", "/"]) {
      expect((await visit(path)).status, path).toBe(404)
    }
    expect(reasonsOf("eve")).toEqual([])
  })
})
