/** An invoices API with Hono and problem+json errors: `npm start`. */
import { serve } from "@hono/node-server"
import { errorHandler } from "@outreach/error-catalog/hono"
import { markdown } from "@outreach/error-catalog/markdown"
import { openapi } from "@outreach/error-catalog/openapi"
import { Hono } from "hono"
import { requestId } from "hono/request-id"
import * as z from "zod"
import { errors } from "./errors.ts"

const Payment = z.object({ amount: z.number().positive() })

interface Invoice {
  readonly id: string
  payment?: { readonly amount: number; readonly paidAt: string }
  attemptedAt?: number
}

const invoices = new Map<string, Invoice>(["inv_1", "inv_2", "inv_3"].map((id) => [id, { id }]))

function find(id: string): Invoice {
  const invoice = invoices.get(id)
  if (invoice === undefined) throw errors.error("INVOICE_NOT_FOUND", { details: { invoice: id } })
  return invoice
}

const app = new Hono().use(requestId())

app.get("/", (c) => c.text("invoices\n"))

app.get("/invoices/:id", (c) => c.json(find(c.req.param("id"))))

app.post("/invoices/:id/payments", async (c) => {
  const invoice = find(c.req.param("id"))
  const parsed = Payment.safeParse(await c.req.json())
  if (!parsed.success) {
    const issues = parsed.error.issues.map(({ path, message }) => ({ path: path.join("."), message }))
    throw errors.error("INVALID_BODY", { details: { issues } })
  }
  if (invoice.payment) throw errors.error("ALREADY_PAID", { details: { payment: invoice.payment } })
  const now = Date.now()
  const nextAttempt = (invoice.attemptedAt ?? 0) + 1000
  if (now < nextAttempt) throw errors.error("TOO_MANY_PAYMENTS", { retryAfter: (nextAttempt - now) / 1000 })
  invoice.attemptedAt = now
  // Errors of the bank's library don't belong to the catalog: callers receive INTERNAL, and the log contains this error.
  if (parsed.data.amount > 1_000_000) throw new Error(`bank: account 4242 lacks ${parsed.data.amount}`)
  invoice.payment = { amount: parsed.data.amount, paidAt: new Date(now).toISOString() }
  return c.json(invoice.payment, 201)
})

app.notFound(() => {
  throw errors.error("NOT_FOUND")
})

app.onError(
  errorHandler(errors, {
    onError: (error, c) => void (error.status >= 500 && console.error(c.get("requestId"), error.cause)),
    context: (c) => ({ requestId: c.get("requestId"), instance: c.req.path }),
  }),
)

const { components, responses } = openapi(errors, {
  getInvoice: ["INVOICE_NOT_FOUND", "INTERNAL"],
  payInvoice: ["INVALID_REQUEST", "INVALID_BODY", "INVOICE_NOT_FOUND", "ALREADY_PAID", "TOO_MANY_PAYMENTS", "INTERNAL"],
})
const id = { name: "id", in: "path", required: true, schema: { type: "string" } }
const document = {
  openapi: "3.1.1",
  info: { title: "Invoices", version: "1" },
  paths: {
    "/invoices/{id}": {
      get: {
        operationId: "getInvoice",
        parameters: [id],
        responses: { 200: { description: "The invoice." }, ...responses.getInvoice },
      },
    },
    "/invoices/{id}/payments": {
      post: {
        operationId: "payInvoice",
        parameters: [id],
        responses: { 201: { description: "Paid." }, ...responses.payInvoice },
      },
    },
  },
  components,
}
app.get("/openapi.json", (c) => c.json(document))
app.get("/errors.md", (c) => c.text(`# Errors\n\n${markdown(errors)}`, 200, { "Content-Type": "text/markdown" }))

const { HOST = "127.0.0.1", PORT = "3000" } = process.env
serve({ fetch: app.fetch, hostname: HOST, port: Number(PORT) })
