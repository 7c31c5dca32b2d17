import { writeFileSync } from "node:fs"
import { join } from "node:path"
import { afterTests } from "@outreach/testing/afterTests"
import { mailServer } from "@outreach/testing/mailServer"
import { temporaryFolder } from "@outreach/testing/temporaryFolder"
import { afterAll, beforeAll } from "vitest"

type MailServer = Awaited<ReturnType<typeof mailServer>>

/** Starts a mail server for a file's tests. Call it before `startConsole`, because the console reads a file that this writes. */
export const startMailServer = () => {
  const smtpUrl = join(temporaryFolder("console-mail", afterAll), "smtp-url")
  const atEnd = afterTests()
  let server: MailServer
  beforeAll(async () => {
    server = await mailServer({ atEnd })
    writeFileSync(smtpUrl, server.url)
  })
  return {
    settings: { SMTP_URL_FILE: smtpUrl, MAIL_FROM: "Acme Outreach <outreach@acme.test>" },
    server: (): MailServer => server,
  }
}
