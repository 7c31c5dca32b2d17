/** Counts who opens a newsletter and follows its links, people apart from machines. */
import { createServer } from "node:http"
import { DatabaseSync } from "node:sqlite"
import { type Hit, suspect } from "@outreach/bot-suspicion"

const { DATABASE = "clicks.db", HOST = "127.0.0.1", PORT = "3000", TRUST_PROXY } = process.env
/** The links of the newsletter. A redirect to an address of the request would lead anywhere. */
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

/** Judges a hit by what is known of its message, and stores it. */
function record(message: string, hit: Hit): void {
  const found = accepted.get(message) as { accepted_at: number } | undefined
  const earlierHits = recent.all(message, hit.at - 2).map(({ link, at }) => ({
    link: link === null ? undefined : String(link),
    at: Number(at),
  }))
  const { suspected, reasons } = suspect(hit, { acceptedAt: found?.accepted_at, earlierHits })
  store.run(message, hit.link ?? null, hit.at, Number(suspected), reasons.join(" "))
}

createServer((request, response) => {
  const at = Date.now() / 1000
  const { method = "GET", url = "/", headers, socket } = request
  // The last address is the one that your own proxy added; the others are what the sender says.
  const forwarded = TRUST_PROXY
    ? String(headers["x-forwarded-for"] ?? "")
        .split(",")
        .at(-1)
        ?.trim()
    : undefined
  const hit = { at, method, headers, address: forwarded ?? socket.remoteAddress }
  const [, kind, message = "", name = ""] = /^\/(messages|o|l)\/(\w{1,40})(?:\/(\w{1,40}))?$/.exec(url) ?? []

  // The sender of the newsletter says that a mailbox took a message. Keep this path from others.
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
    // A person who is taken for a machine gets there as well.
    return response.writeHead(302, { Location: target, "Cache-Control": "no-store" }).end()
  }
  if (url === "/counts") {
    return response.writeHead(200, { "Content-Type": "application/json" }).end(JSON.stringify(counts.all()))
  }
  return response.writeHead(404).end()
}).listen(Number(PORT), HOST)
