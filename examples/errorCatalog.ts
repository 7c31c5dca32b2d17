/** Returns errors from the catalog of another team, with codes of its own: `node errorCatalog.ts`. */
import { createServer } from "node:http"
import { defineCatalog } from "@outreach/error-catalog"

const payments = defineCatalog({
  types: {
    payment_error: { retryable: "no" },
    gateway_error: { retryable: "backoff" },
  },
  codes: {
    CARD_DECLINED: {
      type: "payment_error",
      status: 402,
      condition: "the issuer refused the card",
      details: { reason: "string" },
    },
    GATEWAY_DOWN: { type: "gateway_error", status: 502, condition: "the gateway does not answer" },
  },
})

let requests = 0
const server = createServer((_request, response) => {
  requests += 1
  // The compiler requires `details` with a `reason`, because the catalog declares it.
  const body = payments.envelope("CARD_DECLINED", {
    message: "The card has expired.",
    details: { reason: "expired" },
    requestId: `req_${requests}`,
    docsUrl: "https://pay.example.com/docs",
  })
  const retry = payments.retryability(body.error.type)
  console.log(`${body.error.code}, retry: ${retry}`)
  response.writeHead(payments.httpStatus("CARD_DECLINED"), { "content-type": "application/json" })
  response.end(JSON.stringify(body))
})

server.listen(Number(process.env["PORT"] ?? 3000), () => console.log("listening on", server.address()))
