import { assertSecrets } from "@outreach/signature/node"

/** A finished run of a cron job, as sent to the server. */
export interface Run {
  /** Identifies the run, so that the server stores a repeated report once. */
  readonly event_id: string
  readonly job: string
  readonly exit_code: number
  /** Start in Unix seconds. */
  readonly started_at: number
  readonly seconds: number
}

export const SIGNATURE_HEADER = "x-run-signature"

/** Reads the secrets from `RUN_SECRETS`, separated by spaces. During a rotation there are two: the new one first. */
export function readSecrets(): readonly string[] {
  const secrets = (process.env.RUN_SECRETS ?? "").split(" ").filter((secret) => secret !== "")
  if (secrets.length === 0) throw new Error("RUN_SECRETS is not set")
  assertSecrets(secrets)
  return secrets
}

export const nowInSeconds = (): number => Math.floor(Date.now() / 1000)
