import { IN_FLIGHT, type Publication } from "./Contender.ts"
import { postSigned } from "./postSigned.ts"

// The calls alone, with no database: what there is to gain.

process.on("message", async ({ url, publications }: { url: string; publications: readonly Publication[] }) => {
  let next = 0
  const worker = async () => {
    while (next < publications.length) {
      const { deliveryId, body } = publications[next++]!
      await postSigned(url, deliveryId, 1, body)
    }
  }
  await Promise.all(Array.from({ length: IN_FLIGHT }, worker))
  process.send!("done")
})
process.on("disconnect", () => process.exit(0))
