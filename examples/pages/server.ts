/** Customers' invoices in pages that stay consistent while invoices are added or removed. */
import { DatabaseSync } from "node:sqlite"
import { serve } from "@hono/node-server"
import { CursorError, cursorCodec, paginate } from "@outreach/cursor"
import { keyset } from "@outreach/cursor/keyset"
import { Hono } from "hono"
import { HTTPException } from "hono/http-exception"
import * as z from "zod"

const key = process.env["CURSOR_KEY"]
if (!key) throw new Error("CURSOR_KEY must be set: at least 32 random bytes")

const database = new DatabaseSync(process.env["DATABASE"] ?? ":memory:")
database.exec(`
  create table if not exists invoices (
    id integer primary key autoincrement, customer text not null, due_on text, cents integer not null
  );
  create index if not exists invoices_by_due on invoices (customer, due_on, id desc)`)

interface Invoice {
  readonly id: number
  readonly due_on: string | null
  readonly cents: number
}

const Draft = z.object({ due_on: z.iso.date().nullable(), cents: z.int() })
const Query = z.object({
  after: z.string().optional(),
  before: z.string().optional(),
  limit: z.coerce.number().int().min(1).max(100).default(20),
  total: z.stringbool().default(false),
})
/** Position of an invoice in the list. */
const Position = z.object({ due_on: z.string().nullable(), id: z.number() })

const app = new Hono()

app.get("/", (c) => c.text("GET /customers/:customer/invoices"))

// By due date, undated invoices last; the newest of a day first. `before=end` is the last page. `total=true` adds the number of invoices.
app.get("/customers/:customer/invoices", (c) => {
  const { customer } = c.req.param()
  const { after, before, limit, total } = Query.parse(c.req.query())
  if (after && before) throw new HTTPException(400, { message: "give after or before, not both" })

  const codec = cursorCodec({
    schema: Position,
    key,
    scope: `invoices of ${customer}`,
    expiresAfter: "1d",
    now: Date.now,
  })
  const from = { after: codec.decode(after), before: before === "end" ? ("end" as const) : codec.decode(before) }
  const { where, orderBy, values } = keyset({ due_on: "asc nulls last", id: "desc" }, from, { placeholder: "?" })
  const rows = database
    .prepare(`select id, due_on, cents from invoices where customer = ? and ${where} order by ${orderBy} limit ?`)
    .all(customer, ...values, limit + 1) as unknown as ReadonlyArray<Invoice>
  // Only on request, because it reads the index entry of each of the customer's invoices. A page reads those of its rows.
  const count = database.prepare("select count(*) as total from invoices where customer = ?")
  return c.json({
    ...paginate({ rows, limit, codec, position: ({ due_on, id }) => ({ due_on, id }), from }),
    ...(total && count.get(customer)),
  })
})

app.post("/customers/:customer/invoices", async (c) => {
  const { due_on, cents } = Draft.parse(await c.req.json().catch(() => undefined))
  const insert = database.prepare("insert into invoices (customer, due_on, cents) values (?, ?, ?) returning id")
  return c.json(insert.get(c.req.param("customer"), due_on, cents), 201)
})

app.delete("/customers/:customer/invoices/:id", (c) => {
  const { customer, id } = c.req.param()
  database.prepare("delete from invoices where customer = ? and id = ?").run(customer, Number(id))
  return c.body(null, 204)
})

app.onError((error, c) => {
  if (error instanceof CursorError) return c.json({ error: error.code }, 400)
  if (error instanceof z.ZodError) return c.json({ error: z.prettifyError(error) }, 400)
  if (error instanceof HTTPException) return c.json({ error: error.message }, error.status)
  console.error(error)
  return c.json({ error: "internal" }, 500)
})

const { HOST = "127.0.0.1", PORT = "3000" } = process.env
serve({ fetch: app.fetch, hostname: HOST, port: Number(PORT) })
