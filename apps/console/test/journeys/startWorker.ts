import { SECRETS_KEY } from "@outreach/testing/adaptersFor"
import { type AtEnd, startProcess } from "@outreach/testing/startProcess"
import { asRole } from "@outreach/testing/testRoles"
import { until } from "@outreach/testing/until"

/** Starts a worker that sends e-mails and webhooks of a database, and retries webhooks at once. */
export const startWorker = async (databaseUrl: string, smtpUrl: string, atEnd: AtEnd): Promise<void> => {
  const settings = {
    DATABASE_URL: asRole(databaseUrl, "worker"),
    SECRETS_KEY: SECRETS_KEY.toString("base64"),
    ADMIN_PORT: "0",
    SMTP_URL: smtpUrl,
    MAIL_FROM: "Acme <outreach@acme.test>",
    DRAIN_SECONDS: "1",
    WEBHOOK_ALLOW_PRIVATE_ADDRESSES: "true",
    WEBHOOK_RETRY_DELAYS: "0s",
  }
  await until(startProcess(import.meta.resolve("@outreach/worker/main"), settings, { atEnd }), "worker started")
}
