import { writeFile } from "node:fs/promises"
import { join } from "node:path"
import { checkDigit } from "@outreach/domain/recipients/Npi"

const RECIPIENTS = 1000

/** Writes a CSV file with fictional recipients to a folder, and returns its path. The addresses are the same in each run, and so is the behavior. */
export const writeSampleRecipients = async (folder: string): Promise<string> => {
  const file = join(folder, "sample-recipients.csv")
  const lines = Array.from({ length: RECIPIENTS }, (_, index) => {
    const digits = String(100_004_999 + 4999 * index)
    return `${digits}${checkDigit(digits)},clinician${index + 1}@clinic.test\n`
  })
  await writeFile(file, `npi,email\n${lines.join("")}`)
  return file
}
