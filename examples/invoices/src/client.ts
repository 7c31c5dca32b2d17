/** Pays an invoice, and prints the result: `node src/client.ts inv_1 250`. */
import { setTimeout as sleep } from "node:timers/promises"
import { errors } from "./errors.ts"

const base = process.env.INVOICES_URL ?? "http://127.0.0.1:3000"

async function pay(invoice: string, amount: number): Promise<string> {
  for (let attempt = 1; ; attempt++) {
    const response = await fetch(`${base}/invoices/${encodeURIComponent(invoice)}/payments`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ amount }),
    })
    if (response.ok) return "paid"
    // Text rather than JSON, because a proxy may return HTML.
    const error = errors.parse(await response.text(), response)
    if (error.retry === "after" && attempt < 3) {
      console.log(`${error.code ?? error.unknownCode}: waits ${error.retryAfter} s`)
      await sleep(error.retryAfter * 1000)
      continue
    }
    switch (error.code) {
      case "ALREADY_PAID":
        return `paid already: ${error.details.payment.amount} at ${error.details.payment.paidAt}`
      case "INVALID_BODY":
        return error.details.issues.map(({ path, message }) => `${path}: ${message}`).join("\n")
      case "INVOICE_NOT_FOUND":
        return `no invoice ${error.details.invoice}`
      case null:
        return error.unknownCode === null ? `no error of this API: ${error.status}` : `a new code: ${error.unknownCode}`
      default:
        return `${error.code}: ${error.message} Request ${error.requestId}`
    }
  }
}

const [invoice = "inv_1", amount = "250"] = process.argv.slice(2)
console.log(await pay(invoice, Number(amount)))
