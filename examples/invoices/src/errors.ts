import { defineCatalog } from "@outreach/error-catalog"
import { problemJson } from "@outreach/error-catalog/problem"
import * as z from "zod"

/** All errors of the invoices API. The server throws them, and the client parses them. */
export const errors = defineCatalog({
  docUrl: (code) => `https://invoices.example.com/errors#${code}`,
  envelope: problemJson,
  unknown: { 400: "INVALID_REQUEST", default: "INTERNAL" },
  checkDetails: process.env.NODE_ENV !== "production",
  types: {
    request: { retry: "no" },
    state: { retry: "no" },
    limit: { retry: "after" },
    service: { retry: "backoff" },
  },
  codes: {
    INVALID_REQUEST: { type: "request", status: 400, title: "The request is not valid." },
    INVALID_BODY: {
      type: "request",
      status: 400,
      title: "The body is not valid.",
      details: z.object({ issues: z.array(z.object({ path: z.string(), message: z.string() })) }),
      example: { issues: [{ path: "amount", message: "must be greater than 0" }] },
      advice: "Correct what `issues` names.",
    },
    NOT_FOUND: { type: "request", status: 404, title: "There is nothing at this path." },
    INVOICE_NOT_FOUND: {
      type: "request",
      status: 404,
      title: "There is no such invoice.",
      details: z.object({ invoice: z.string() }),
      example: { invoice: "inv_404" },
    },
    ALREADY_PAID: {
      type: "state",
      status: 409,
      title: "The invoice is paid.",
      details: z.object({ payment: z.object({ amount: z.number(), paidAt: z.iso.datetime() }) }),
      example: { payment: { amount: 250, paidAt: "2026-11-26T09:00:00Z" } },
      advice: "Show `payment` instead of paying again.",
    },
    TOO_MANY_PAYMENTS: {
      type: "limit",
      status: 429,
      title: "An invoice takes one attempt to pay in a second.",
      advice: "Wait for `Retry-After`.",
    },
    INTERNAL: { type: "service", status: 500, title: "Something went wrong on our side." },
  },
})
