import { once } from "node:events"
import { checkDigit } from "@outreach/domain/recipients/Npi"

// Writes a CSV file of fictitious recipients to standard output: `node writeRecipients.ts 1000 > recipients.csv`.
// The addresses end in .test, a top-level domain that no mail server has (RFC 2606).
const count = Number(process.argv[2])
if (!Number.isInteger(count) || count < 1 || count > 10_000_000) {
  process.stderr.write(
    "Give the number of recipients, from 1 to 10000000: node writeRecipients.ts 1000 > recipients.csv\n",
  )
  process.exit(1)
}
process.stdout.write("npi,email\n")
for (let i = 1; i <= count; i++) {
  // 4,999 and 10⁸ are coprime, so the NPIs are scattered and unique.
  const nine = `1${String((i * 4999) % 100_000_000).padStart(8, "0")}`
  const line = `${nine}${checkDigit(nine)},clinician${i}@clinic.test\n`
  if (!process.stdout.write(line)) await once(process.stdout, "drain")
}
