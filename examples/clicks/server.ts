/** Counts opens and clicks of a newsletter, separately for people and machines. */
import { createServer } from "node:http"
import { DatabaseSync } from "node:sqlite"
import { type Hit, suspect } from "@outreach/bot-suspicion"

const { DATABASE = "clicks.db", HOST = "127.0.0.1", PORT = "3000", SCANNERS = "", TRUST_PROXY } = process.env
/** Scanners that you found in your own logs, each by a part of its `User-Agent`. */
const agents = SCANNERS.split(",").flatMap((agent) => agent.trim() || [])
/** Links of the newsletter. A redirect to a URL in the request would be an open redirect. */
const LINKS: ReadonlyMap<string, string> = new Map([
  ["programme", "https://conference.example/programme"],
  ["tickets", "https://conference.example/tickets"],
  ["venue", "https://conference.example/venue"],
])
const PIXEL = Buffer.from("R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==", "base64")

const database = new DatabaseSync(DATABASE)
database.exec(`
  create table if not exists messages (id text primary key, accepted_at real not null);
  create table if not exists hits (
    message text not null, link text, at real not null, suspected integer not null, reasons text not null
  );
  create index if not exists hits_by_message on hits (message, at)`)
const accept = database.prepare("insert into messages values (?, ?) on conflict do nothing")
const accepted = database.prepare("select accepted_at from messages where id = ?")
const recent = database.prepare("select link, at from hits where message = ? and at >= ? order by at desc limit 100")
const store = database.prepare("insert into hits values (?, ?, ?, ?, ?)")
const counts = database.prepare(`
  select link, count(*) filter (where not suspected) people, count(*) filter (where suspected) machines
  from hits group by link order by link`)

/** Classifies and stores a hit. */
function record(message: string, hit: Hit): void {
  const found = accepted.get(message) as { accepted_at: number } | undefined
  const earlierHits = recent.all(message, hit.at - 2).map(({ link, at }) => ({
    link: link === null ? undefined : String(link),
    at: Number(at),
  }))
  const { suspected, reasons } = suspect(hit, { acceptedAt: found?.accepted_at, earlierHits, agents })
  store.run(message, hit.link ?? null, hit.at, Number(suspected), reasons.join(" "))
}

createServer((request, response) => {
  const at = Date.now() / 1000
  const { method = "GET", url = "/", headers, socket } = request
  // The last address was added by your own proxy; the client can set all earlier ones.
  const forwarded = TRUST_PROXY
    ? String(headers["x-forwarded-for"] ?? "")
        .split(",")
        .at(-1)
        ?.trim()
    : undefined
  const hit = { at, method, headers, address: forwarded ?? socket.remoteAddress }
  const [, kind, message = "", name = ""] = /^\/(messages|o|l)\/(\w{1,40})(?:\/(\w{1,40}))?$/.exec(url) ?? []

  // The newsletter's sender reports that a mailbox accepted a message. Don't expose this path.
  if (kind === "messages" && method === "PUT") {
    accept.run(message, at)
    return response.writeHead(204).end()
  }
  if (kind === "o") {
    record(message, hit)
    return response.writeHead(200, { "Content-Type": "image/gif", "Cache-Control": "no-store" }).end(PIXEL)
  }
  const target = kind === "l" ? LINKS.get(name) : undefined
  if (target !== undefined) {
    record(message, { ...hit, link: name })
    // A person who is classified as a machine is redirected too.
    return response.writeHead(302, { Location: target, "Cache-Control": "no-store" }).end()
  }
  if (url === "/counts") {
    return response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(counts.all()))
  }
  return response.writeHead(404).end()
}).listen(Number(PORT), HOST)
