import { MAX_IN_FLIGHT, type Publication } from "./Candidate.ts"
import { postSigned } from "./postSigned.ts"

// Only the HTTP calls, without a database: the upper bound of every candidate.

process.on("message", async ({ url, publications }: { url: string; publications: readonly Publication[] }) => {
  let next = 0
  const worker = async () => {
    while (next < publications.length) {
      const { deliveryId, body } = publications[next++]!
      await postSigned(url, deliveryId, 1, body)
    }
  }
  await Promise.all(Array.from({ length: MAX_IN_FLIGHT }, worker))
  process.send!("done")
})
process.on("disconnect", () => process.exit(0))
