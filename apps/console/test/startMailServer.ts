import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { mailServer } from "@outreach/testing/mailServer"
import { afterAll, beforeAll } from "vitest"

type MailServer = Awaited<ReturnType<typeof mailServer>>

/** Starts a mail server for a file's tests. Call it before `startConsole`, because the console reads a file that this writes. */
export const startMailServer = () => {
  const folder = mkdtempSync(join(tmpdir(), "console-mail-"))
  const smtpUrl = join(folder, "smtp-url")
  const ends: Array<() => Promise<void>> = []
  let server: MailServer
  beforeAll(async () => {
    server = await mailServer(undefined, undefined, (end) => ends.push(end))
    writeFileSync(smtpUrl, server.url)
  })
  afterAll(async () => {
    for (const end of ends) await end()
    rmSync(folder, { recursive: true })
  })
  return {
    settings: { SMTP_URL_FILE: smtpUrl, MAIL_FROM: "Acme Outreach <outreach@acme.test>" },
    server: (): MailServer => server,
  }
}
